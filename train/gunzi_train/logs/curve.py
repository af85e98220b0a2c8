"""curve.png: strength, speed and figures of learning over the hands of a run. A failed drawing never ends the run."""

from __future__ import annotations

import gc
import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gunzi_train.folder import CURVE, write
from gunzi_train.logs.history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 1000
"""Maximum number of points of a line: of a longer run every k-th update is drawn."""


class Curve:
    """Draws the file of one run repeatedly.

    Args:
        run: the folder.
        figures: figures of an update to draw, those that the algorithm declares.
    """

    def __init__(self, run: Path, figures: Sequence[str]) -> None:
        self._path = run / CURVE
        self._figures = tuple(figures)
        self._history = History(run, figures)
        self._gave_up = False

    def draw(self) -> str:
        """Draw the log so far; returns the reason of the first failure, else ""."""
        if self._gave_up:
            return ""
        try:
            write(self._path, png(self._history.read(), self._figures))
        except ImportError:
            reason = "matplotlib is not installed: no curve.png is drawn"
        except Exception as error:  # the run is worth more than its picture
            reason = f"no curve.png is drawn any more ({type(error).__name__}: {error})"
        else:
            # A figure is a reference cycle: dozens of them would pile up, 30 MB in all.
            gc.collect()
            return ""
        self._gave_up = True
        return reason


def png(history: History, figures: Sequence[str]) -> bytes:
    """Draw levels and points against each agent with their 95 % intervals, speed and ``figures``, over hands."""
    import matplotlib
    from matplotlib.figure import Figure

    # Names are plain text: no formulas, and no warning about a sign that the font lacks.
    with matplotlib.rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = Figure(figsize=(10, 7), layout="constrained")
        (levels, points), (speed, losses) = figure.subplots(2, 2, sharex=True)
        _strength(levels, "levels", "levels a hand", history)
        _strength(points, "points", "points a hand", history)
        _lines(speed, {"hands_per_s": ""}, "hands a second", history)
        speed.set_ylim(bottom=0)
        _lines(losses, {name: name.replace("_", " ") for name in figures}, "learning", history)
        for axis in (speed, losses):
            axis.set_xlabel("hands")
        out = io.BytesIO()
        figure.savefig(out, format="png", dpi=100)
    return out.getvalue()


def _strength(axis: Axes, name: str, title: str, history: History) -> None:
    """Draw a line with a band for each opponent."""
    axis.axhline(0, color="gray", linewidth=0.8)
    for agent, matches in history.matches.items():
        hands = [match.hands for match in matches]
        found = [getattr(match, name) for match in matches]
        axis.plot(hands, [each.mean for each in found], marker=".", label=f"against {agent}")
        low = [each.mean if each.low is None else each.low for each in found]
        high = [each.mean if each.high is None else each.high for each in found]
        axis.fill_between(hands, low, high, alpha=0.2)
    _finish(axis, title)


def _lines(axis: Axes, labels: dict[str, str], title: str, history: History) -> None:
    """Draw a line for each column."""
    every = max(1, len(history.columns["hands"]) // MOST)
    for name, label in labels.items():
        axis.plot(history.columns["hands"][::every], history.columns[name][::every], label=label)
    _finish(axis, title)


def _finish(axis: Axes, title: str) -> None:
    from matplotlib.ticker import EngFormatter

    axis.set_title(title)
    axis.xaxis.set_major_formatter(EngFormatter())
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(fontsize="small")
