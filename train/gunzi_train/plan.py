"""The plan of a run: what its processes agree on before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gunzi_env.rules import Rules
from gunzi_train import config as configuration
from gunzi_train.config import Config

CONFIG = "config.json"
"""The file of a run folder that holds its plan."""


@dataclass(frozen=True)
class Plan:
    """What all processes of a run agree on before it starts; stored as config.json."""

    config: Config
    rules: Rules
    bf16: bool
    resume: str = ""
    """The checkpoint to go on from, "" for a new run."""

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types."""
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
        """The opposite of :meth:`to_json`."""
        made = configuration.from_dict(values["config"], CONFIG)
        return cls(made, Rules.from_dict(values["rules"]), bool(values["bf16"]), str(values["resume"]))
