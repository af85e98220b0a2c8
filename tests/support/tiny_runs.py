"""Trainings that take a second or two."""

from __future__ import annotations

from pathlib import Path

import pytest

from gunzi_eval.stats.intervals import Interval
from gunzi_train.commands import train as train_command
from gunzi_train.run import evaluate, session

SETTINGS = {
    "net.width": "8",
    "net.depth": "1",
    "collect.tables": "8",
    "collect.steps": "16",
    "ppo.minibatch": "32",
    "schedule.updates": "3",
    "save.every-seconds": "1e6",
    "precision": "fp32",
    "evaluate.every-seconds": "0",
    "save.curve-seconds": "0",
}


def argv(tensorboard: bool = False, **changed: object) -> list[str]:
    """Options of ``gunzi train``: SETTINGS, changed by name (``save__records=1``). A repeated option counts last."""
    settings = SETTINGS | {name.replace("__", ".").replace("_", "-"): str(value) for name, value in changed.items()}
    options = [word for name, value in settings.items() for word in (f"--{name}", *value.split())]
    return options if tensorboard else ["--save.no-tensorboard", *options]


def train(folder: Path, **changed: object) -> int:
    """Run ``gunzi train`` in a folder, settings changed as in :func:`argv`; returns the exit code."""
    return train_command.main(["--out", str(folder), *argv(**changed)])


def match_after_every_update(patch: pytest.MonkeyPatch) -> dict[str, object]:
    """From the first update on; returns the settings for it."""
    patch.setattr(session, "FIRST_MATCH", -1.0)
    return {"evaluate__every_seconds": "1e-9", "evaluate__deals": 2, "evaluate__opponents": "uniform"}


def found(levels: float) -> dict[str, Interval]:
    """The result of a match with so many levels a hand."""
    points, won = Interval(40 * levels, 40 * levels - 9, 40 * levels + 9), Interval(0.5, 0.25, 0.75)
    return dict(zip(evaluate.FIGURES, (Interval(levels, levels - 1, levels + 1), points, won), strict=True))
