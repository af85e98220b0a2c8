"""Two charts as self-contained SVG: bars for counts, whiskers for means with intervals."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from gunzi_env.cli.text import printable
from gunzi_eval.stats.intervals import Interval

WIDTH, LINE, FIGURE = 640, 20, 160
"""In pixels: width of the chart, height of a line of text, width of the text before the whiskers."""


def shown(text: str) -> str:
    """Escape a text for HTML; unprintable characters are written as escapes.

    >>> shown("<b>\\x07")
    '&lt;b&gt;\\\\x07'
    """
    return html.escape(printable(text))


def _svg(height: int, title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
    name = f'<text class="title" x="0" y="{LINE - 6}">{shown(title)}</text>'
    return f'{head} role="img"><title>{shown(title)}</title>{name}{"".join(parts)}</svg>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{shown(text)}</text>'


def bars(title: str, counts: Mapping[str, int], step: int = 1) -> str:
    """Draw a bar for each multiple of ``step`` between the smallest and the largest value, given as text."""
    values = sorted(map(int, counts))
    every = range(values[0], values[-1] + step, step)
    most, height = max(counts.values()), 120
    wide = WIDTH / len(every)
    parts = []
    stride = -(-36 // max(int(wide), 1))  # labels must not overlap
    for number, value in enumerate(every):
        count = counts.get(str(value), 0)
        tall = height * count / most
        x, y = number * wide, LINE + height - tall
        tip = f"<title>{value}: {count}</title>"
        parts.append(
            f'<rect x="{x + 0.5:.1f}" y="{y:.1f}" width="{max(wide - 1, 0.5):.1f}" height="{tall:.1f}">{tip}</rect>'
        )
        if number % stride == 0:
            parts.append(_text(x + wide / 2, LINE + height + LINE - 5, str(value), "middle"))
    return _svg(height + 2 * LINE, title, parts)


def whiskers(title: str, rows: Sequence[tuple[str, Interval, str]], middle: float | None = None) -> str:
    """Draw a row per (label, interval, text): the text, and beside it mean and interval as a dot with whiskers.

    ``middle`` is the neutral value (0 levels, half of the hands), drawn as a vertical line.
    """
    ends = [end for _, found, _ in rows for end in (found.low, found.mean, found.high) if end is not None]
    ends += [] if middle is None else [middle]
    low, high = min(ends), max(ends)
    room = (high - low) or 1.0

    def at(value: float) -> float:
        return FIGURE + 10 + (WIDTH - FIGURE - 20) * (value - low) / room

    bottom = LINE + 2 * LINE * len(rows)
    parts = []
    if middle is not None:
        parts.append(f'<line class="middle" x1="{at(middle):.1f}" x2="{at(middle):.1f}" y1="{LINE}" y2="{bottom}"/>')
    for number, (label, found, figure) in enumerate(rows):
        y = LINE + 2 * LINE * number + 28
        parts += [_text(0, y - 14, label), _text(0, y + 4, figure)]
        if found.low is not None and found.high is not None:
            parts.append(f'<line x1="{at(found.low):.1f}" x2="{at(found.high):.1f}" y1="{y}" y2="{y}"/>')
        parts.append(f'<circle cx="{at(found.mean):.1f}" cy="{y}" r="4"/>')
    return _svg(bottom + 4, title, parts)
