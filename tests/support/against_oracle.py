"""Engine and oracle side by side: the fields they share, and a hand played on both."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import actions, engine
from gunzi_env.chapters.deal import deck_of_draw, shuffle
from gunzi_env.planes import U64, minus, to_counts
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NUM_HOLDERS, PENDING, PLAYED, STOCK, Phase, Tables
from gunzi_env.testing import Case, LawBroken, random_actions
from tests.support.oracle import Oracle

BIDDING = (Phase.SHOW, Phase.BID)
TRICK = NUM_HOLDERS
SHOWN = TRICK + 4
TURNED = SHOWN + 4
"""Places of cards in a :class:`Snapshot` after the holders of ``planes``."""


@cache
def names(rules: Rules, level: int, trump: int) -> list[str]:
    """The name of every action."""
    space = actions.space(rules)
    return [space.name(action, level, trump) for action in range(space.n)]


class Snapshot:
    """All tables in the oracle's terms. What costs most, cards as lists of faces, is worked out for all at once."""

    def __init__(self, t: Tables) -> None:
        self.t = t
        shown = minus(t.shown, t.planes[:, :, PLAYED:PENDING])  # less what the seat has played since
        words = np.concatenate([t.planes, t.trick, shown, t.turned[:, :, None]], axis=2)
        trump = t.trump_or_provisional(np.arange(t.num))
        slots = t.layout.slot_of_face[t.level, trump].astype(np.intp)
        counts = np.take_along_axis(to_counts(words), slots[:, None, :], axis=2)  # [table, holder, face]
        faces = np.broadcast_to(np.arange(54, dtype=np.uint8), counts.shape)
        self._cards = np.repeat(faces.reshape(-1), counts.reshape(-1)).tobytes()
        self._ends = [0, *counts.sum(axis=2).reshape(-1).cumsum().tolist()]
        self._holders = words.shape[2]
        row, self._legal = np.nonzero(t.actions.unpack(t.legal))
        self._first = np.searchsorted(row, np.arange(t.num + 1)).tolist()

    def cards(self, n: int, holder: int) -> list[int]:
        """The faces of a holder (those of ``planes``, then trick, shown and turned) at table ``n``, sorted."""
        at = n * self._holders + holder
        return list(self._cards[self._ends[at] : self._ends[at + 1]])

    def legal(self, n: int) -> list[str]:
        """The names of the legal actions of table ``n``, sorted."""
        name = names(self.t.rules, int(self.t.level[n]), self.t.trump_or_provisional(n))
        return sorted(name[action] for action in self._legal[self._first[n] : self._first[n + 1]].tolist())

    def fields(self, n: int) -> dict[str, Any]:
        """Table ``n`` in the oracle's terms."""
        t, cards = self.t, self.cards
        phase = Phase(t.phase[n])
        over = phase == Phase.OVER
        leader = int(t.leader[n])
        plays = [] if over or leader < 0 else [(leader + k) % 4 for k in range(4)]
        suits = [*(s for s in range(4) if s != t.trump[n]), "T"]
        out: dict[str, Any] = {
            "phase": phase.name,
            "legal": self.legal(n),
            "hands": [cards(n, HAND + s) for s in range(4)],
            "pending": cards(n, PENDING),
            "stock": cards(n, STOCK),
            "kitty": cards(n, KITTY),
            "played": [cards(n, PLAYED + s) for s in range(4)],
            "trick": [(s, cards(n, TRICK + s)) for s in plays if t.trick[0, n, s]],
            "turned": cards(n, TURNED),
            "shown": [cards(n, SHOWN + s) for s in range(4)],
            "score": None if over else int(t.score[n]),
            "dry": bool(t.dry[n]),
            "void": {(s, suits[c]) for s, c in zip(*(x.tolist() for x in np.nonzero(t.void[n])), strict=True)},
        }
        if not over:
            out["seat"] = int(t.seat[n])
        if phase not in BIDDING:
            out |= {"trump": int(t.trump[n]), "dealer": int(t.dealer[n]), "level": int(t.level[n])}
        if phase >= Phase.JOKERS:
            out |= {"kitty_public": bool(t.kitty_public[n]), "pickable": int(t.pickable[n])}
        if phase == Phase.BID:
            bid = (int(t.bid_seat[n]), int(t.bid_strength[n]), int(t.bid_suit[n]))
            out["standing"] = bid if t.bid_strength[n] else None
        if over:
            out["result"] = result_fields(t, n)
        return out


def result_fields(t: Tables, n: int) -> dict[str, Any]:
    """What a finished hand came to, in the oracle's terms."""
    ended = bool(t.match_winner[n] >= 0)
    return {
        "score": int(t.score[n]),
        "dug": bool(t.dug[n]),
        "gain": tuple(t.gain[n].tolist()),
        "match_winner": int(t.match_winner[n]) if ended else None,
        "next_dealer": None if ended else int(t.next_dealer[n]),
        "blood": None if ended else int(t.next_blood[n]),
        "levels": None if ended else tuple(t.next_levels[n].tolist()),
    }


def oracle_fields(o: Oracle, like: dict[str, Any]) -> dict[str, Any]:
    """The same fields of the oracle."""
    over = o.phase == "OVER"
    out: dict[str, Any] = {
        "phase": o.phase,
        "legal": [] if over else sorted(o.legal()),
        "hands": o.hands,
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
        out["result"] = {k: None if ended and k in ("levels", "blood", "next_dealer") else o.result[k] for k in keys}
    return {key: out[key] for key in like}


class Difference(LawBroken):
    """Engine and oracle are not at one; ``case`` plays the hand again up to there."""


class Pair:
    """One table of the engine and the oracle that follows it."""

    def __init__(self, t: Tables, n: int) -> None:
        self.t, self.n, self.actions = t, n, list[int]()
        self.oracle = oracle_of_start(t, n)

    @property
    def over(self) -> bool:
        return bool(self.t.phase[self.n] == Phase.OVER)

    def tell(self, action: int) -> None:
        """The engine is about to take this action; now the oracle does."""
        level, trump = int(self.t.level[self.n]), self.t.trump_or_provisional(self.n)
        try:
            self.oracle.apply(names(self.t.rules, level, trump)[action])
        except ValueError as error:
            raise Difference(str(error), self.n, Case.of(self.t, self.n, self.actions)) from error
        self.actions.append(action)

    def compare(self, snapshot: Snapshot) -> None:
        """Equal in every field, or fail with what it takes to see the difference again."""
        ours = snapshot.fields(self.n)
        theirs = oracle_fields(self.oracle, ours)
        if ours != theirs:
            different = {k: (ours[k], theirs[k]) for k in ours if ours[k] != theirs[k]}
            case = Case.of(self.t, self.n, self.actions)
            raise Difference(f"engine and oracle differ: {different}", self.n, case)


def play_against_oracle(rules: Rules, tables: int, hands: int, seed: int, pass_probability: float) -> int:
    """Play random hands from published start states on engine and oracle; returns the number of plies compared."""
    t = Tables(rules, tables)
    rng = np.random.default_rng(seed)
    plies = 0
    for hand in range(hands):
        engine.deal_hands(t, seed, hand=hand)
        playing = [Pair(t, n) for n in range(tables)]
        compare_all(t, playing)
        while playing:
            keys: npt.NDArray[np.uint64] = rng.integers(2**63, size=tables).astype(U64)
            actions = random_actions(t, keys, pass_probability)
            for pair in playing:
                pair.tell(int(actions[pair.n]))
            engine.step(t, actions)
            compare_all(t, playing)
            plies += len(playing)
            playing = [pair for pair in playing if not pair.over]
    return plies


def compare_all(t: Tables, pairs: Iterable[Pair]) -> None:
    """Every pair of these tables."""
    snapshot = Snapshot(t)
    for pair in pairs:
        pair.compare(snapshot)


def replay_against_oracle(case: Case) -> None:
    """Play a case again on both."""
    t = case.start()
    pair = Pair(t, 0)
    compare_all(t, [pair])
    for action in case.actions:
        pair.tell(action)
        engine.step(t, [action])
        compare_all(t, [pair])


def oracle_of_start(t: Tables, n: int) -> Oracle:
    """An oracle at the start of the hand of table ``n``, whose deal may already have been repeated (R4.8)."""
    here = t.select(np.array([n]))

    def deck(attempt: int) -> list[int]:
        here.attempt[0] = attempt
        return deck_of_draw(shuffle(here, np.zeros(1, np.intp))[0])

    first_hand = bool(t.first_hand[n])
    return Oracle(
        t.rules,
        levels=(int(t.levels[n, 0]), int(t.levels[n, 1])),
        dealer=None if first_hand else int(t.dealer[n]),
        blood=int(t.blood[n]),
        first_seat=int(t.first[n]),
        deck=deck,
    )
