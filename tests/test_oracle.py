"""The engine against the oracle, a second implementation written from RULES.md alone: every field at every ply."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gunzi_env import engine, starts
from gunzi_env.deal import deck_of_draw, shuffle, start_keys
from gunzi_env.order import PROVISIONAL_TRUMP, to_faces
from gunzi_env.planes import Words, bits, minus, to_counts
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, PENDING, PLAYED, STOCK, Phase, Tables
from tests.oracle import Oracle

BIDDING = (Phase.SHOW, Phase.BID)


def faces(t: Tables, words: Words, n: int) -> list[int]:
    """The faces of planes ``uint64[D]`` at table ``n``, sorted."""
    slots = [int(s) for s in np.repeat(np.arange(54), to_counts(words))]
    return sorted(to_faces(t.layout, int(t.level[n]), max(int(t.trump[n]), PROVISIONAL_TRUMP), slots))


def engine_fields(t: Tables, n: int) -> dict[str, Any]:
    """Table ``n`` in the oracle's terms."""
    phase = Phase(t.phase[n])
    planes = t.planes[:, n]
    suits = [*(s for s in range(4) if s != t.trump[n]), "T"]
    over = phase == Phase.OVER
    plays = [] if over else [((int(t.leader[n]) + k) % 4) for k in range(4) if t.leader[n] >= 0]
    named = [t.actions.name(int(a), int(t.level[n]), max(int(t.trump[n]), 0)) for a in legal_actions(t, n)]
    out = {
        "phase": phase.name,
        "legal": sorted(named),
        "hands": [faces(t, planes[:, HAND + s], n) for s in range(4)],
        "pending": faces(t, planes[:, PENDING], n),
        "stock": faces(t, planes[:, STOCK], n),
        "kitty": faces(t, planes[:, KITTY], n),
        "played": [faces(t, planes[:, PLAYED + s], n) for s in range(4)],
        "trick": [(s, faces(t, t.trick[:, n, s], n)) for s in plays if t.trick[0, n, s]],
        "turned": faces(t, t.turned[:, n], n),
        "shown": [faces(t, np.array(left), n) for left in shown_left(t, n)],
        "score": int(t.score[n]) if not over else None,
        "dry": bool(t.dry[n]),
        "void": {(s, suits[c]) for s in range(4) for c in range(4) if t.void[n, s, c]},
    }
    if not over:
        out["seat"] = int(t.seat[n])
    if phase not in BIDDING:
        out |= {"trump": int(t.trump[n]), "dealer": int(t.dealer[n]), "level": int(t.level[n])}
    if phase >= Phase.JOKERS:
        out |= {"kitty_public": bool(t.kitty_public[n]), "pickable": int(t.pickable[n])}
    if phase == Phase.BID:
        bid = None if not t.bid_strength[n] else (int(t.bid_seat[n]), int(t.bid_strength[n]), int(t.bid_suit[n]))
        out["standing"] = bid
    if over:
        ended = bool(t.match_winner[n] >= 0)
        out["result"] = {
            "score": int(t.score[n]),
            "dug": bool(t.dug[n]),
            "gain": tuple(t.gain[n].tolist()),
            "match_winner": int(t.match_winner[n]) if ended else None,
            "next_dealer": None if ended else int(t.next_dealer[n]),
            "blood": None if ended else int(t.next_blood[n]),
            "levels": None if ended else tuple(t.next_levels[n].tolist()),
        }
    return out


def shown_left(t: Tables, n: int) -> list[Words]:
    """What each seat has shown, less what it has played since."""
    return [minus(t.shown[:, n, s], t.planes[:, n, PLAYED + s]) for s in range(4)]


def legal_actions(t: Tables, n: int) -> list[int]:
    """The legal actions of table ``n``."""
    return [int(a) for a in np.flatnonzero(t.actions.unpack(t.legal[n : n + 1])[0])]


def oracle_fields(o: Oracle, like: dict[str, Any]) -> dict[str, Any]:
    """The same fields of the oracle."""
    over = o.phase == "OVER"
    out: dict[str, Any] = {
        "phase": o.phase,
        "legal": [] if over else sorted(o.legal()),
        "hands": [sorted(h) for h in o.hands],
        "pending": sorted(o.pending),
        "stock": sorted(o.stock),
        "kitty": sorted(o.kitty),
        "played": [sorted(p) for p in o.played],
        "trick": [(s, sorted(cards)) for s, cards in o.trick],
        "turned": sorted(o.turned),
        "shown": [sorted(s) for s in o.shown],
        "score": None if over else o.score,
        "dry": o.dry,
        "void": set(o.void),
        "seat": o.seat,
        "trump": o.trump,
        "dealer": o.dealer,
        "level": o.level,
        "kitty_public": o.kitty_public,
        "pickable": o.pickable,
        "standing": o.standing,
    }
    if o.result is not None:
        ended = o.result["match_winner"] is not None
        keys = ("score", "dug", "gain", "match_winner", "next_dealer", "blood", "levels")
        out["result"] = {
            k: None if ended and k in ("levels", "blood", "next_dealer") else o.result[k] for k in keys
        }
    return {key: out[key] for key in like}


def check(t: Tables, n: int, oracle: Oracle, trail: list[str]) -> None:
    """Equal in every field, or fail with what it takes to see the difference again."""
    ours = engine_fields(t, n)
    theirs = oracle_fields(oracle, ours)
    if ours != theirs:
        different = {k: (ours[k], theirs[k]) for k in ours if ours[k] != theirs[k]}
        raise AssertionError(
            f"engine and oracle differ at ply {len(trail)} under {t.rules.name}: {different}\n"
            f"seed {t.seed[n]} table {t.table_id[n]} match {t.match[n]} hand {t.hand[n]} actions {trail}"
        )


def play_against_oracle(rules: Rules, tables: int, hands: int, seed: int, pass_probability: float) -> int:
    """Play random hands from published start states on engine and oracle; returns the number of plies compared."""
    t = Tables(rules, tables)
    rng = np.random.default_rng(seed)
    everyone = np.arange(tables)
    plies = 0
    for hand in range(hands):
        engine.reset(t, seed, hand=hand, begin=False)
        levels, dealer, blood = starts.sample(rules, start_keys(t, everyone))
        engine.begin_hand(t, everyone, levels=levels, dealer=dealer, blood=blood)
        oracles = [oracle_of_start(t, n, levels, dealer, blood) for n in range(tables)]
        trails: list[list[str]] = [[] for _ in range(tables)]
        while (t.phase != Phase.OVER).any():
            for n in np.flatnonzero(t.phase != Phase.OVER):
                check(t, n, oracles[n], trails[n])
                plies += 1
            total = bits(t.legal).sum(axis=1)
            actions = t.actions.pick(t.legal, (rng.random(tables) * total).astype(np.uint8))
            bidding = (t.phase <= Phase.BID) & (rng.random(tables) < pass_probability)
            actions = np.where(bidding, t.actions.PASS, actions)
            for n in np.flatnonzero(t.phase != Phase.OVER):
                name = t.actions.name(int(actions[n]), int(t.level[n]), max(int(t.trump[n]), 0))
                trails[n].append(f"{t.seat[n]}:{name}")
                oracles[n].apply(name)
            engine.step(t, actions)
        for n in range(tables):
            check(t, n, oracles[n], trails[n])
    return plies


def oracle_of_start(t: Tables, n: int, levels: Any, dealer: Any, blood: Any) -> Oracle:
    """An oracle at the start of a hand whose deal may already have been repeated (R4.8)."""
    here = t.select(np.array([n]))
    here.attempt[0] = 0

    def deck(attempt: int) -> list[int]:
        here.attempt[0] = attempt
        return deck_of_draw(shuffle(here, np.zeros(1, np.intp))[0])

    first_hand = bool(dealer[n] < 0)
    return Oracle(
        t.rules,
        levels=(3, 3) if first_hand else (int(levels[n, 0]), int(levels[n, 1])),
        dealer=None if first_hand else int(dealer[n]),
        blood=int(blood[n]),
        first_seat=int(t.first[n]),
        deck=deck,
    )


VARIANTS: dict[str, dict[str, Any]] = {
    "mixed 7": {"mixed_trump_rank": 7},
    "mixed K": {"mixed_trump_rank": 13, "follow": "dead"},
    "any points": {"others_bury_block": "any_points", "tribute_level_points": False},
    "no dry, nobody else": {"dry_pot": None, "others_bury": False, "score_blood_when_dug": False},
    "first hand never dry": {"dry_pot_first_hand": False, "jokers_may_open": True, "level_at_high": True},
    "jack": {"last_level": 11, "must_play": (3, 10, 11), "j_reset": True, "sweep_ends_match": False},
    "exemption": {"anti_tribute": True, "first_flip": "low"},
    "short hands": {"hand_size": 35, "kitty_size": 22, "follow": "dead"},
}


@pytest.mark.parametrize("preset", Rules.presets())
@pytest.mark.parametrize("pass_probability", [0.0, 0.9])
def test_presets(preset: str, pass_probability: float) -> None:
    assert play_against_oracle(Rules.preset(preset), 12, 1, 11, pass_probability) > 1500


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("base", ["dalian", "four_deck"])
def test_variants(name: str, base: str) -> None:
    changes = VARIANTS[name]
    if base == "four_deck" and "hand_size" in changes:
        changes = {**changes, "hand_size": 49, "kitty_size": 20}
    rules = dataclasses.replace(Rules.preset(base), **changes)
    assert play_against_oracle(rules, 6, 1, 5, 0.5) > 700
