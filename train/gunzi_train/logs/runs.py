"""Training runs as their folders describe them: settings, log and state."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gunzi_agents import checkpoint
from gunzi_agents.checkpoint import CheckpointError
from gunzi_train import config as configuration
from gunzi_train import folder as folders
from gunzi_train.errors import RunFolderError
from gunzi_train.logs.history import History


@dataclass(frozen=True)
class Run:
    """A run as its folder describes it."""

    folder: Path
    rules: str
    settings: dict[str, Any]
    """The values in config.json by dotted name, and the digest of the rules."""
    history: History

    @classmethod
    def of(cls, folder: Path) -> Run:
        """Read a run; :class:`~gunzi_train.errors.RunFolderError` if the folder contains none."""
        values = folders.stored(folder)
        settings = configuration.flat(values["config"]) | {"rules digest": values["rules_digest"]}
        figures = configuration.shown_figures(str(settings.get("algorithm", "ppo")))
        return cls(folder, str(values["rules_name"]), settings, History(folder, figures).read())

    def state(self) -> tuple[str, str]:
        """Return "running", "finished" or "stopped", and the name of the newest usable checkpoint ("-" without one)."""
        try:
            found, _ = checkpoint.load(self.folder)
        except CheckpointError:
            return ("running" if folders.in_use(self.folder) else "stopped"), "-"
        if folders.in_use(self.folder):
            return "running", found.path.name
        counters = found.meta.get("counters")
        finished = isinstance(counters, dict) and counters.get("finished") is True
        return ("finished" if finished else "stopped"), found.path.name


def find(folder: Path) -> list[Run]:
    """List the runs in a folder by name; folders without a run are skipped."""
    found = []
    for path in sorted(folder.iterdir()):
        try:
            found.append(Run.of(path))
        except RunFolderError:
            continue
    return found


def count(number: float) -> str:
    """Format a whole number; "-" for NaN.

    >>> count(1234.0), count(float("nan"))
    ('1,234', '-')
    """
    return "-" if math.isnan(number) else f"{number:,.0f}"
