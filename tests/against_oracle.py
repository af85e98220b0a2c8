"""Engine and oracle side by side: the fields they share, and a hand played on both."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import engine, starts
from gunzi_env.deal import deck_of_draw, shuffle, start_keys
from gunzi_env.order import PROVISIONAL_TRUMP, to_faces
from gunzi_env.planes import U64, Words, minus, to_counts
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, PENDING, PLAYED, STOCK, Phase, Tables
from gunzi_env.testing import Case, LawBroken, random_actions
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


class Difference(LawBroken):
    """Engine and oracle are not at one; ``case`` plays the hand again up to there."""


def check(t: Tables, n: int, oracle: Oracle, actions: list[int]) -> None:
    """Equal in every field, or fail with what it takes to see the difference again."""
    ours = engine_fields(t, n)
    theirs = oracle_fields(oracle, ours)
    if ours != theirs:
        different = {k: (ours[k], theirs[k]) for k in ours if ours[k] != theirs[k]}
        raise Difference(f"engine and oracle differ: {different}", n, Case.of(t, n, actions))


class Pair:
    """One table of the engine and the oracle that follows it."""

    def __init__(self, t: Tables, n: int) -> None:
        self.t, self.n, self.actions = t, n, list[int]()
        self.oracle = oracle_of_start(t, n)
        check(t, n, self.oracle, [])

    @property
    def over(self) -> bool:
        return bool(self.t.phase[self.n] == Phase.OVER)

    def tell(self, action: int) -> None:
        """The engine is about to take this action; now the oracle does."""
        name = self.t.actions.name(action, int(self.t.level[self.n]), max(int(self.t.trump[self.n]), 0))
        try:
            self.oracle.apply(name)
        except ValueError as error:
            raise Difference(str(error), self.n, Case.of(self.t, self.n, self.actions)) from error
        self.actions.append(action)

    def compare(self) -> None:
        check(self.t, self.n, self.oracle, self.actions)


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
        playing = [Pair(t, n) for n in range(tables)]
        while playing:
            keys: npt.NDArray[np.uint64] = rng.integers(2**63, size=tables).astype(U64)
            actions = random_actions(t, keys, pass_probability)
            for pair in playing:
                pair.tell(int(actions[pair.n]))
            engine.step(t, actions)
            for pair in playing:
                pair.compare()
            plies += len(playing)
            playing = [pair for pair in playing if not pair.over]
    return plies


def replay_against_oracle(case: Case) -> None:
    """Play a case again on both."""
    t = case.start()
    pair = Pair(t, 0)
    for action in case.actions:
        pair.tell(action)
        engine.step(t, [action])
        pair.compare()


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
