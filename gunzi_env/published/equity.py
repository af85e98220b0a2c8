"""Match equity: the chance to win the match from its state between two hands.

That state is the two levels, the dealer and the blood owed. ``data/equity/PRESET.json`` has the chance of the side that
deals next, between equal sides; ``gunzi equity --make`` makes it from hands of ``greedy``. The first hand of a match
has no dealer yet; its chance is 1/2 by symmetry. Rules that are no preset have a table of their own, ``DIGEST.json`` in
the folder that the environment variable ``GUNZI_EQUITY`` names.

>>> rules = Rules.preset("dalian")
>>> levels = np.array([[10, 3], [3, 10], [3, 3]], np.int8)
>>> win_chance(rules, levels, np.array([0, 1, -1], np.int8), np.array([0, 0, 0], np.int16)).round(2)
array([0.88, 0.12, 0.5 ])
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env.published import header
from gunzi_env.rules import Rules, RulesError
from gunzi_env.tables import NOBODY, Index, Int8, Int16, Tables

VERSION = 1
FOLDER = "GUNZI_EQUITY"
"""The environment variable that names the folder of tables for rules that are no preset."""
FIRST_HAND = 0.5
_DIGITS = 4
_FIELDS = ["level_dealers", "level_attackers", "win_chance_by_blood"]

Chances = npt.NDArray[np.float64]


def shape(rules: Rules) -> tuple[int, int, int]:
    """The shape of a table: level of the dealers, level of the attackers (0 for the first level), blood owed."""
    levels = rules.last_level - rules.first_level + 1
    return levels, levels, rules.max_blood + 1


def file_name(rules: Rules) -> str:
    """The name of the file of these rules: the preset's, or the digest."""
    return f"{rules.digest if rules.name == 'custom' else rules.name}.json"


def _text(rules: Rules) -> str:
    if rules.name != "custom":
        return files("gunzi_env").joinpath(f"data/equity/{file_name(rules)}").read_text("utf-8")
    folder = os.environ.get(FOLDER, "")
    try:
        return Path(folder or ".", file_name(rules)).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        where = f"{FOLDER}={folder}: {error}" if folder else f"{FOLDER} is not set"
        raise RulesError(
            f"no match-equity table of these rules (digest {rules.digest}): make one with "
            f"'gunzi equity --make --rules FILE.toml --folder FOLDER' and set {FOLDER}=FOLDER ({where})"
        ) from None


@cache
def table(rules: Rules) -> Chances:
    """The chance of the side that deals next to win the match, ``float64`` of :func:`shape`, read-only.

    Raises:
        RulesError: There is no table for these rules; the message says how to make one.
    """
    chances = read(rules, _text(rules))
    chances.flags.writeable = False
    return chances


def read(rules: Rules, text: str) -> Chances:
    """Read the table in a file's text; :class:`RulesError` unless it is one for these rules and of this version."""
    name = file_name(rules)
    try:
        document = json.loads(text)
        found = {key: document[key] for key in ("version", "fields", "preset", "rules")}
        rows = document["rows"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RulesError(f"{name} is no match-equity table") from None
    expected = {"version": VERSION, "fields": _FIELDS, "preset": rules.name}
    if rules.name == "custom":  # a preset is known by its name: a new option changes its digest
        expected["rules"] = rules.digest
    for key, value in expected.items():
        if found[key] != value:
            raise RulesError(f"match-equity table {name}: {key} is {found[key]!r}, not {value!r}")
    first, (levels, _, _) = rules.first_level, shape(rules)
    pairs = [[first + k // levels, first + k % levels] for k in range(levels**2)]
    try:
        chances = np.array([row[2] for row in rows], np.float64).reshape(shape(rules))
        fine = [row[:2] for row in rows] == pairs and bool(((chances >= 0) & (chances <= 1)).all())
    except (ValueError, TypeError, IndexError, KeyError):
        fine = False
    if not fine:
        raise RulesError(f"match-equity table {name}: the rows are not chances for each two levels and blood owed")
    return chances


def document(rules: Rules, source: str, chances: Chances) -> dict[str, Any]:
    """The contents of a file, from a table of :func:`shape`."""
    first = rules.first_level
    rows = [
        [first + mine, first + theirs, chances[mine, theirs].round(_DIGITS).tolist()]
        for mine in range(len(chances))
        for theirs in range(len(chances))
    ]
    return header(VERSION, rules, source, _FIELDS) | {"rows": rows}


def win_chance(rules: Rules, levels: Int8, dealer: Int8, blood: Int16) -> Chances:
    """The chance of team {0, 2} to win the match before a hand, ``float64[n]``.

    Args:
        rules: See :func:`table` for rules without a table.
        levels: ``int8[n, 2]`` of the teams {0, 2} and {1, 3}.
        dealer: ``int8[n]``, -1 before the first hand of a match.
        blood: ``int16[n]`` owed to the dealer.
    """
    rows, dealers = np.arange(len(dealer)), dealer & 1
    step = levels.astype(np.intp) - rules.first_level
    chance = table(rules)[step[rows, dealers], step[rows, 1 - dealers], blood]
    return np.where(dealer == NOBODY, FIRST_HAND, np.where(dealers == 0, chance, 1 - chance))


def gained(t: Tables, g: Index) -> Chances:
    """The change of team {0, 2}'s chance by the finished hands at the tables ``g``, ``float64[n]``.

    The changes of a match add up to its result, 1 or 0, minus the initial 1/2.
    """
    begun_by = np.where(t.first_hand[g], NOBODY, t.dealer[g])
    before = win_chance(t.rules, t.levels[g], begun_by, t.blood[g])
    winner = t.match_winner[g]
    after = win_chance(t.rules, t.next_levels[g], t.next_dealer[g], t.next_blood[g])
    return np.where(winner == NOBODY, after, winner == 0) - before
