"""The published distribution of the states that single hands start from.

A hand within a match starts from the levels, the dealer and the blood owed. Training and benchmarks that play single
hands draw these from ``data/starts/PRESET.json``, made from whole matches of ``greedy`` by
``python -m gunzi_eval.commands.starts``. Rules that are no preset use the file of the preset with as many decks,
without the states that they cannot reach.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.planes import U64, Words
from gunzi_env.published import header
from gunzi_env.rules import Rules, RulesError
from gunzi_env.tables import NOBODY, Int8, Int16

VERSION = 1
_SEAT_BITS = U64(3)
_FIELDS = ["first_hand", "level_dealers", "level_attackers", "blood", "count"]


def _file_name(rules: Rules) -> str:
    if rules.name != "custom":
        return rules.name
    return "four_deck" if rules.decks == 4 else "dalian"


@cache
def table(rules: Rules) -> npt.NDArray[np.int64]:
    """Rows (first hand?, level of the dealers, of the attackers, blood, count), ``int64[k, 5]``.

    Raises:
        RulesError: The file is of another version.
    """
    text = files("gunzi_env").joinpath(f"data/starts/{_file_name(rules)}.json").read_text("utf-8")
    document = json.loads(text)
    if document["version"] != VERSION or document["fields"] != _FIELDS:
        raise RulesError(f"start states of {_file_name(rules)}: version {document['version']} is not {VERSION}")
    rows = np.array(document["rows"], np.int64)
    levels = rows[:, 1:3]
    fits = ((levels >= rules.first_level) & (levels <= rules.last_level)).all(axis=1) | (rows[:, 0] == 1)
    fits &= rows[:, 3] <= rules.max_blood
    rows = np.asarray(rows[fits], np.int64)
    rows[rows[:, 0] == 1, 1:3] = rules.first_level
    return rows


def sample(rules: Rules, keys: Words) -> tuple[Int8, Int8, Int16]:
    """Draw start states by uniform random words ``keys[n]``.

    Returns levels ``int8[n, 2]`` of the teams, dealer ``int8[n]`` (-1: first hand of a match), blood ``int16[n]``."""
    rows = table(rules)
    ends = rows[:, 4].cumsum()
    dealer = (keys & _SEAT_BITS).astype(np.int8)
    row = rows[np.searchsorted(ends, ((keys >> U64(2)) % U64(ends[-1])).astype(np.int64), side="right")]
    mine = row[:, 1:3].astype(np.int8)
    levels = np.where((dealer & 1)[:, None] == 0, mine, mine[:, ::-1])
    return levels, np.where(row[:, 0] == 1, np.int8(NOBODY), dealer), row[:, 3].astype(np.int16)


def check(rules: Rules, levels: tuple[int, ...], dealer: int, blood: int) -> None:
    """Raise ``ValueError`` if no hand begins with these levels, dealer (-1: first hand of a match) and blood owed."""
    if len(levels) != 2 or any(not rules.first_level <= level <= rules.last_level for level in levels):
        shown = "-".join(map(str, levels))
        raise ValueError(f"levels {shown} are not two levels within {rules.first_level}..{rules.last_level}")
    if isinstance(dealer, bool) or dealer not in range(NOBODY, 4):
        raise ValueError(f"dealer is {dealer!r}: it must be a seat 0..3, or -1 for a first hand")
    if isinstance(blood, bool) or blood not in range(rules.max_blood + 1):
        raise ValueError(f"blood is {blood!r}: it must be within 0..{rules.max_blood} (R9.6)")
    if dealer == NOBODY and (blood or any(level != rules.first_level for level in levels)):
        raise ValueError("levels and blood need a dealer: the first hand of a match has none (R4.2, R5.1)")


def document(rules: Rules, source: str, rows: dict[tuple[int, int, int, int], int]) -> dict[str, Any]:
    """The contents of a file; ``rows`` maps (first hand?, level of dealers, of attackers, blood) to its count."""
    ordered = [[*state, count] for state, count in sorted(rows.items())]
    return header(VERSION, rules, source, _FIELDS) | {"rows": ordered}
