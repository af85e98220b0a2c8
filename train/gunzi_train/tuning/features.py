"""The features of each play, one for each weight of ``expert``, from which its weights are tuned.

The bot itself (:mod:`gunzi_agents.expert_play`) needs only the weighted sums and adds them up directly; a test compares
the two. Arrays have the axes of that module: ``[D, 54, B]``, slots before decisions.
"""

from __future__ import annotations

import numpy as np

from gunzi_agents.expert_play import ExpertPlayer
from gunzi_agents.expert_weights import FOLLOW, LEAD
from gunzi_agents.reading import NEXT, PARTNER, PREVIOUS, Floats, Slots, pick
from gunzi_env import planes
from gunzi_env.order import TRUMP
from gunzi_env.planes import NUM_SLOTS

Features = dict[str, Floats]


def _stack(found: Features, names: list[str], shape: tuple[int, ...]) -> Floats:
    """Stack features in the order of the weights, 0 for those that do not apply: ``float32[C, *shape]``."""
    out = np.zeros((len(names), *shape), np.float32)
    for row, name in zip(out, names, strict=True):
        if name in found:
            row[...] = found[name]
    assert found.keys() <= set(names)
    return out


def lead(p: ExpertPlayer) -> Floats:
    """Compute the features of leading m copies of a slot, ``float32[C, D, 54, B]``, in the order of ``LEAD``."""
    r = p.r
    run, left, _ = p._endings()
    holds = r.holds
    lost = (1 - holds) * (1 - p._partner_takes())
    number = np.arange(1, r.decks + 1, dtype=np.float32)[:, None, None]
    tens = number * r.points / 10
    trump, side = r.trump * np.float32(1), ~r.trump * np.float32(1)
    length = r.by_slot(r.length.astype(np.float32))
    trumps = r.length[TRUMP].astype(np.float32)
    partner, either = r.by_slot(r.out[PARTNER]), r.by_slot(np.maximum(r.out[NEXT], r.out[PREVIOUS]))
    found = {
        "single": holds * (number == 1),
        "pair": holds * (number == 2),
        "triple": holds * (number > 2),
        "our_points": tens * (1 - lost),
        "points": tens,
        "lose": lost * number,
        "cost": -p._spend,
        "control": holds * np.maximum(run, left) + (1 - holds) * left,
        "trump": trump,
        "trump_holds": trump * holds,
        "partner_void": side * partner,
        "they_void": side * either,
        "empties": side * (length == number),
        "length": side * length / 10,
        "rank": p._rank,
        "long_trumps": trump * np.maximum(trumps - planes.count(p.v.hand) * np.float32(0.39) - 2, 0) / 5,
        "partner_ruffs": side * partner * (1 - holds),
        "whole": r.mine == number,
        "hold_rich": holds * number * p._rich,
        "lose_rich": lost * number * p._rich,
        "trumps_out": trump * planes.count(r.unseen & r.masks[TRUMP]) / np.float32(20),
    }
    return _stack(found, [*LEAD], (r.decks, NUM_SLOTS, len(r.row)))


def follow(p: ExpertPlayer) -> tuple[Floats, Floats, Floats]:
    """Compute the features of winning with a slot ``float32[C, 54, B]``, of the cost of throwing m copies
    ``float32[C, D, 54, B]``, and of staying out ``float32[C, B]``, in the order of ``FOLLOW``."""
    v, names = p.v, [*FOLLOW]
    decks, rows = p.r.decks, len(p.r.row)
    owed = v.led_count.astype(np.intp) - 1
    safe = p._safe(owed)
    ours = p._ours(owed, safe)
    run, left, top = p._endings()
    trick = v.trick_points.astype(np.float32) / 10
    stay: Features = {"ours": ours, "our_trick": (ours * trick).astype(np.float32), "keep_control": top}
    win = _win(p, owed, safe, pick(run, owed), pick(left, owed))
    return (
        _stack(win, names, (NUM_SLOTS, rows)),
        _stack(_price(p, ours, left - top), names, (decks, NUM_SLOTS, rows)),
        _stack(stay, names, (rows,)),
    )


def _win(p: ExpertPlayer, owed: Slots, safe: Floats, run: Floats, left: Floats) -> Features:
    r, v = p.r, p.v
    number = owed.astype(np.float32) + 1
    trick = v.trick_points / np.float32(10)
    feeds = number * p._after_me(PARTNER)
    partner = v.best == PARTNER
    ruff = r.trump & (v.led_suit != TRUMP)
    points = r.points * (number / 10)
    return {
        "safe": safe,
        "safe_points": safe * trick,
        "win": np.ones_like(trick),
        "own_safe": points * safe,
        "own": points,
        "win_cost": -pick(p._spend, owed),
        "win_control": safe * np.maximum(run, left) + (1 - safe) * left,
        "feed": safe * feeds,
        "feed_rich": safe * feeds * p._unseen_points[v.led_suit, r.row],
        "over_partner": partner,
        "over_points": partner * trick,
        "ruff": ruff,
        "ruff_points": ruff * trick,
        "win_rank": p._rank,
        "win_last": v.leader == NEXT,
    }


def _price(p: ExpertPlayer, ours: Floats, lost_control: Floats) -> Features:
    r, v = p.r, p.v
    number = np.arange(1, r.decks + 1, dtype=np.float32)[:, None, None]
    need = np.maximum(v.need, 1).astype(np.float32)
    tens = number * r.points / 10
    discard = r.suit != v.led_suit
    length = r.by_slot(r.length.astype(np.float32))
    shared = number / need * (discard & ~r.trump)
    return {
        "throw_cost": p._spend,
        "throw_own": -tens * ours,
        "throw_points": -tens,
        "throw_length": -shared * length / 10,
        "throw_empties": -shared * (length <= v.need),
        "throw_shortens": -shared * (length - v.need == 1),
        "throw_rank": -np.where(r.trump, 0, p._rank),
        "throw_trump": np.where(r.trump & discard, np.float32(-1), 0),
        "keep_control": -lost_control * (v.need == number),
    }
