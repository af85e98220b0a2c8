"""Show the content of a checkpoint, a run or a record, and verify it.

example: gunzi inspect runs/mine
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from gunzi_agents import checkpoint
from gunzi_agents.checkpoint import Checkpoint, CheckpointError
from gunzi_env import record
from gunzi_env.cli.options import UsageError, check_writable, parse, say_next, write_whole
from gunzi_env.cli.text import printable
from gunzi_env.record import RecordError
from gunzi_eval.stats.intervals import Interval, format_interval
from gunzi_eval.table import records
from gunzi_train import config as configuration
from gunzi_train.config import Config

_RECORD = record.MAGIC.rstrip("0123456789").encode()
"""First bytes of a record of any version."""


@dataclass(frozen=True)
class Inspect:
    """Options of ``gunzi inspect``."""

    file: Positional[Path]
    """A checkpoint, a run folder (its newest usable checkpoint) or a record."""
    json: Path | None = None
    """Write the content to this file as JSON."""


def main(argv: list[str]) -> int:
    """``gunzi inspect``.

    Raises:
        CheckpointError, RecordError: the file cannot be read, is damaged or is of another kind.
    """
    if "" in argv:  # as a path it would mean the current folder
        raise UsageError("the file name is empty")
    config = parse(Inspect, argv, "inspect")
    check_writable(config.json, "--json")
    if _is_record(config.file):
        content = of_record(config.file)
        following = f"gunzi replay {shlex.quote(str(config.file))}"
    else:
        found, damaged = checkpoint.load(config.file)
        content = of_checkpoint(found, damaged)
        following = f"gunzi arena {shlex.quote(str(config.file))} greedy"
    print("\n".join(map(printable, lines(content))), flush=True)
    if config.json is not None:
        write_whole(config.json, json.dumps(content, indent=2) + "\n")
        print(f"written to {config.json}")
    say_next(following)
    return 0


def _is_record(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(64).removeprefix(b"\xef\xbb\xbf").startswith(_RECORD)
    except (OSError, ValueError):
        return False  # checkpoint.load reports the reason


def of_checkpoint(found: Checkpoint, damaged: list[CheckpointError]) -> dict[str, Any]:
    """Return the content of a verified checkpoint as plain JSON types, with the settings that are not the default."""
    meta, rules = found.meta, found.rules
    now = checkpoint.observation_version(rules)
    was = str(meta.get("observation"))
    settings = meta.get("config")
    content: dict[str, Any] = {
        "file": str(found.path),
        "kind": "checkpoint",
        "bytes": found.path.stat().st_size,
        "checksum": f"good, {found.digest}",
        "format": meta["format"],
        "rules": f"{rules.name}, {rules.digest}",
        "observation": was if was == now else f"{was}; this version plays with {now}",
        "passed over": [str(error) for error in damaged],
    }
    known = ("rules", "rules_digest", "config", *content)
    content |= {name: value for name, value in meta.items() if name not in known and value != ""}
    if isinstance(settings, dict):
        defaults = configuration.flat(configuration.as_dict(Config()))
        changed = {key: value for key, value in configuration.flat(settings).items() if defaults.get(key) != value}
        content["settings"] = changed
    return content | {
        "tensors": {name: f"{array.dtype}{list(array.shape)}" for name, array in sorted(found.tensors.items())}
    }


def of_record(path: Path) -> dict[str, Any]:
    """Return the content of a record as plain JSON types; it is replayed, which checks every decision."""
    game = records.read(path)
    try:
        if game.hands:
            record.replay(game)
    except RecordError as error:
        raise RecordError(f"{path}: {error}") from None
    return {
        "file": str(path),
        "kind": "record",
        "bytes": path.stat().st_size,
        "rules": f"{game.rules.name}, {game.rules.digest}",
        "players": ", ".join(game.players),
        "replay": "good: the rules allow every decision",
        "hands": [
            {"levels": list(hand.levels), "blood": hand.blood, "decisions": len(hand.moves), "result": hand.result}
            for hand in game.hands
        ],
    }


def lines(content: dict[str, Any]) -> list[str]:
    """Format the content as text, one or more lines per entry.

    >>> content = {"format": 1, "counters": {"updates": 9, "hands": 1234}, "settings": {"ppo.lr": 0.1}}
    >>> print(*lines(content), sep="\\n")
    format    1
    counters  updates 9, hands 1,234
    settings  ppo.lr = 0.1
    """
    shown = {name: value for name, value in content.items() if value not in ([], {}, None)}
    width = max(map(len, shown))
    out = []
    for name, value in shown.items():
        parts = value if isinstance(value, list) else [value]
        if name == "settings":
            parts = [f"{key} = {json.dumps(part)}" for key, part in value.items()]
        if name == "tensors":
            parts = [f"{tensor}  {shape}" for tensor, shape in value.items()]
        out += [f"{name if n == 0 else '':<{width}}  {_text(part)}" for n, part in enumerate(parts)]
    return out


def _text(value: Any) -> str:
    if isinstance(value, dict) and value.keys() == {"mean", "low", "high"}:
        return format_interval(Interval(**value), 2)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if type(value) is int else str(value)
