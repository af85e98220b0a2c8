"""The plan of a run: the resolved settings that all its processes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gunzi_env.rules import Rules
from gunzi_train import config as configuration
from gunzi_train.config import Config

CONFIG = "config.json"
"""File name of the plan in a run folder."""


@dataclass(frozen=True)
class Plan:
    """The resolved settings that all processes of a run share; stored as config.json."""

    config: Config
    rules: Rules
    bf16: bool
    resume: str = ""
    """Path of the checkpoint to resume, "" for a new run."""

    def to_json(self) -> dict[str, Any]:
        """Convert the plan into plain JSON types."""
        return {
            "config": configuration.as_dict(self.config),
            "rules": self.rules.as_dict(),
            "rules_name": self.rules.name,
            "rules_digest": self.rules.digest,
            "bf16": self.bf16,
            "resume": self.resume,
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Plan:
        """Read a plan, the inverse of :meth:`to_json`."""
        made = configuration.from_dict(values["config"], CONFIG)
        return cls(made, Rules.from_dict(values["rules"]), bool(values["bf16"]), str(values["resume"]))
