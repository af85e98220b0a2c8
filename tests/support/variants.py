"""Rules that no preset has, so that every option is met at another value, on three decks and on four."""

from __future__ import annotations

import dataclasses
from typing import Any

from gunzi_env.rules import Rules

_CHANGES: dict[str, dict[str, Any]] = {
    "mixed 7": {"mixed_trump_rank": 7},
    "mixed K": {"mixed_trump_rank": 13, "follow": "dead"},
    "any points": {"others_bury_block": "any_points", "tribute_level_points": False},
    "no dry, nobody else": {"dry_pot": None, "others_bury": False, "score_blood_when_dug": False},
    "first hand never dry": {"dry_pot_first_hand": False, "jokers_may_open": True, "level_at_high": True},
    "jack": {"last_level": 11, "must_play": (3, 10, 11), "j_reset": True, "sweep_ends_match": False},
    "exemption": {"anti_tribute": True, "first_flip": "low"},
    "short hands": {"hand_size": 35, "kitty_size": 22, "follow": "dead"},
}


def _variants() -> dict[str, Rules]:
    found = {}
    for name, changes in _CHANGES.items():
        found[name] = dataclasses.replace(Rules.preset("dalian"), **changes)
        sizes = {"hand_size": 49, "kitty_size": 20} if "hand_size" in changes else {}
        found[f"{name}, four decks"] = dataclasses.replace(Rules.preset("four_deck"), **(changes | sizes))
    return found


VARIANTS = _variants()
