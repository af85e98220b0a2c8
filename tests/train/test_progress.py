"""What a run shows: a table on a terminal, few lines elsewhere; names are text wherever they stand."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from gunzi_train.logs import progress
from gunzi_train.logs.progress import Progress, Status
from gunzi_train.run import session
from tests.support import tiny_runs

STATUS = Status(
    update=12,
    total=300,
    hands=1234567,
    gone=187.0,
    left=61.0,
    hands_per_s=412.4,
    decisions_per_s=58000.0,
    learning={"policy_loss": -0.0123, "value_loss": 0.41, "entropy": 0.52, "kl": 0.0125, "explained_variance": 0.63},
    matches={"greedy": tiny_runs.found(-0.5), "runs/[red]x[/red]": tiny_runs.found(0.25)},
    matches_at=120000,
)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "80"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    return Terminal()


def _lines(terminal: Terminal) -> list[str]:
    """What stands there in the end, without colours: all after the last time that the table was taken away."""
    text = terminal.getvalue().rpartition("\x1b[2K")[2]
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).splitlines()]


def test_a_terminal_gets_a_table_with_all_of_it(terminal: Terminal) -> None:
    shown = Progress(terminal)
    shown.show(STATUS)
    shown.say("a line with [bold]brackets[/bold]")
    shown.close()
    shown.close()
    assert "a line with [bold]brackets[/bold]" in terminal.getvalue()
    lines = _lines(terminal)
    text = "\n".join(lines)
    assert "75 %  3:07 gone, 1:01 left" in lines[0]
    assert lines[2].split() == ["12", "of", "300", "1,234,567", "412", "58,000"]
    for heading in ("hands/s", "decisions/s", "policy", "value", "entropy", "kl", "explained", "at 120,000 hands"):
        assert heading in text
    assert ["-0.0123", "0.41", "0.52", "0.0125", "0.63"] in [line.split() for line in lines]
    assert re.search(r"^greedy +-0\.50 \[-1\.50, \+0\.50\] +-20 \[-29, -11\] +50 \[25, 75\]$", text, re.M), text
    assert "runs/[red]x[/red] " in text and max(map(len, lines)) <= 80


def test_a_terminal_that_cannot_go_back_gets_lines(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    shown = Progress(terminal)
    shown.show(STATUS)
    shown.close()
    assert terminal.getvalue() == STATUS.line() + "\n"


def test_the_table_is_not_drawn_too_often(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = Progress(terminal)
    before = len(terminal.getvalue())
    shown.show(STATUS)
    once = len(terminal.getvalue())
    shown.show(STATUS)
    assert before < once == len(terminal.getvalue())
    now[0] += progress.LIVE_SECONDS
    shown.show(STATUS)
    assert len(terminal.getvalue()) > once
    shown.close()


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now, stream = [100.0], io.StringIO()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    shown = Progress(stream)
    for _ in range(40):
        shown.show(STATUS)
        now[0] += progress.PLAIN_SECONDS / 10
    assert stream.getvalue().count("\n") == 4 and "\x1b" not in stream.getvalue()
    shown.show(STATUS, force=True)
    assert stream.getvalue().count("\n") == 5
    assert stream.getvalue().splitlines()[0] == (
        " 75 %  3:07 gone, 1:01 left; 1,234,567 hands, 412 hands/s, 58,000 decisions/s; "
        "against greedy: -0.50 [-1.50, +0.50] levels, -20 [-29, -11] points, 50 % of hands"
    )


def test_a_run_on_a_terminal_ends_with_its_table(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "Progress", lambda: Progress(terminal))
    more = tiny_runs.match_after_every_update(monkeypatch)
    assert tiny_runs.train(tmp_path / "run", save__records=0, **more) == 0
    text = "\n".join(_lines(terminal))
    assert "100 %" in text and "3 of 3" in text and "explained" in text
    assert re.search(r"^uniform +[+-]\d", text, re.M)
