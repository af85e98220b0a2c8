"""The invariants of the game (R11) as functions, for testing rule changes and agents.

``check_tables`` checks the state of tables, ``check_views`` the observations of all seats, and ``check_actions`` tries
every action of one table. ``random_hands`` plays random hands with all three checks and returns statistics. A violation
raises :class:`LawBroken`, whose ``case`` is a line of text that replays the hand up to that decision:

>>> from gunzi_env import Rules
>>> random_hands(Rules.preset("dalian"), 4, seed=1).hands
4
>>> case = Case.parse('{"rules": {"preset": "classic"}, "key": [1, 0, 0, 0], "levels": [3, 3], "dealer": -1, '
...                   '"blood": 0, "actions": []}')
>>> replay(case).phase
array([4], dtype=int8)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gunzi_env import engine, observe, planes
from gunzi_env.chapters.deal import start_keys
from gunzi_env.engine import IllegalAction
from gunzi_env.keys import mix
from gunzi_env.planes import FULL, U64, bits
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NUM_HOLDERS, PENDING, PLAYED, STOCK, Phase, Tables
from gunzi_env.testing.case import Case, LawBroken
from gunzi_env.testing.coverage import BranchCounts, count_branches


def replay(case: Case, every: int = 1) -> Tables:
    """Replay a case with all checks at every step; return the final table.

    ``check_actions`` runs at one step in ``every``.

    Raises:
        LawBroken: a check failed.
        IllegalAction: an action is illegal under the present rules.
    """
    t = case.start()
    _check_alone(t, (), True)
    for ply, action in enumerate(case.actions, start=1):
        engine.step(t, [action])
        _check_alone(t, case.actions[:ply], ply % every == 0)
    return t


def _check_alone(t: Tables, actions: Sequence[int], tried: bool) -> None:
    """Run all checks on a single table that is the result of ``actions``."""
    try:
        check_tables(t)
        check_views(t)
        if tried:
            check_actions(t, 0)
    except LawBroken as broken:
        raise LawBroken(broken.law, 0, Case.of(t, 0, actions)) from None


def _demand(t: Tables, good: npt.NDArray[np.bool_], law: str) -> None:
    if not good.all():
        n = int(np.argmin(good))
        where = f"table {n} in phase {Phase(t.phase[n]).name}, seat {t.seat[n]}, rules {t.rules.name}"
        raise LawBroken(f"{law}: {where}", n)


def check_tables(t: Tables) -> None:
    """Check cards, sizes, score and legal actions of every table (R11); raises :class:`LawBroken`."""
    check_cards(t)
    check_sizes(t)
    check_score(t)
    check_legal(t)


def check_cards(t: Tables) -> None:
    """Check that every face has ``decks`` copies among stock, hands, kitty, played and set-aside cards."""
    nested = (t.planes[1:] & ~t.planes[:-1] == 0).all(axis=(0, 2))
    _demand(t, nested, "a plane must lie within the one before")
    total = t.planes[:, :, STOCK]
    for holder in range(1, NUM_HOLDERS):
        total = planes.add(total, t.planes[:, :, holder])
    everything = (total == FULL).all(axis=0) & (bits(t.planes).sum(axis=(0, 2)) == t.rules.num_cards)
    _demand(t, everything, "each face must have one copy a deck")
    _demand(t, (planes.minus(t.trick, t.planes[:, :, PLAYED:PENDING]) == 0).all(axis=(0, 2)), "the trick was played")


def check_sizes(t: Tables) -> None:
    """Check the number of cards of each holder by phase."""
    size = bits(t.planes).sum(axis=0, dtype=np.int16)
    hands, kitty, pending = size[:, HAND:KITTY], size[:, KITTY], size[:, PENDING]
    rules, phase = t.rules, t.phase
    everyone = np.arange(t.num)
    mover = np.zeros((t.num, 4), np.int16)
    mover[everyone, t.seat] = pending
    full = rules.hand_size

    dealing = phase <= Phase.BID
    _demand(t, ~dealing | (size[:, STOCK] == np.where(kitty > 0, 0, rules.num_cards - t.drawn)), "dealt cards")
    _demand(t, dealing | (size[:, STOCK] == 0), "after the deal the stock is empty")
    given = bits(t.tribute).sum(axis=0, dtype=np.int16)
    tribute = (phase == Phase.TRIBUTE) & ((hands + mover) == full).all(axis=1)
    _demand(t, (phase != Phase.TRIBUTE) | tribute, "hands before the tribute")
    at_return = hands + mover
    at_return[everyone, t.giver & 3] += given
    at_return[everyone, t.receiver & 3] -= given
    _demand(t, (phase != Phase.RETURN) | (at_return == full).all(axis=1), "hands before the return")
    burying = hands + mover
    burying[everyone, t.dealer & 3] -= rules.kitty_size
    _demand(t, (phase != Phase.BURY) | ((burying == full).all(axis=1) & (kitty == 0)), "hands before the burial")
    others = (phase == Phase.JOKERS) & ((hands + mover) == full).all(axis=1) & (kitty == rules.kitty_size)
    _demand(t, (phase != Phase.JOKERS) | others, "hands while jokers are named")
    owed = hands.copy()
    owed[everyone, t.seat] += pending + t.need
    picking = (owed == full).all(axis=1) & (kitty + pending == rules.kitty_size + pending + t.need)
    _demand(t, (phase != Phase.PICKUP) | picking, "hands while cards are picked up")
    play = phase >= Phase.LEAD
    played = bits(t.trick).sum(axis=0, dtype=np.int16)
    in_trick = hands + mover + np.where((phase == Phase.OVER)[:, None], 0, played)
    _demand(t, ~play | (kitty == rules.kitty_size), "the kitty in play")
    _demand(t, ~play | (in_trick == t.held[:, None]).all(axis=1), "hands in play are equal but for the trick")


def check_score(t: Tables) -> None:
    """Check that S is a multiple of 5 within its bounds, and the total of played and buried points (R8.4, R11)."""
    _demand(t, (t.score % 5 == 0) & (t.score >= 0) & (t.score <= t.rules.max_score), "S within R8.4")
    played = t.planes[:, :, PLAYED:PENDING]
    level = t.level
    points = 5 * bits(played & t.layout.fives[level][:, None]).sum(axis=(0, 2), dtype=np.int16)
    points += 10 * bits(played & t.layout.tens[level][:, None]).sum(axis=(0, 2), dtype=np.int16)
    over = t.phase == Phase.OVER
    _demand(t, over | (t.score + t.trick_points <= points), "no more is counted than was played")
    kitty = t.planes[:, :, KITTY]
    buried = 5 * bits(kitty & t.layout.fives[level]).sum(axis=0) + 10 * bits(kitty & t.layout.tens[level]).sum(axis=0)
    _demand(t, ~over | (points + buried == t.rules.total_points), "points at the end")


def check_legal(t: Tables) -> None:
    """Check that only actions of the phase are legal, and at least one unless the hand is over."""
    space = t.actions
    legal = space.unpack(t.legal)
    _demand(t, legal.any(axis=1) == (t.phase != Phase.OVER), "an action is legal until the hand is over")
    ids = np.arange(space.n)
    cards, single = ids < space.PASS, ids < 54
    bids = (ids >= space.BIDS) | (ids == space.PASS)
    allowed = np.zeros((len(Phase), space.n), np.bool_)
    allowed[Phase.SHOW] = (ids == space.PASS) | (ids == space.SHOW)
    allowed[Phase.BID] = bids
    for phase in (Phase.TRIBUTE, Phase.RETURN, Phase.BURY, Phase.PICKUP):
        allowed[phase] = single
    allowed[Phase.JOKERS] = (ids == space.PASS) | (ids == 52) | (ids == 53)
    allowed[Phase.LEAD] = allowed[Phase.FOLLOW] = cards
    foreign = np.asarray((legal & ~allowed[t.phase]).any(axis=1))
    _demand(t, ~foreign, "only actions of the phase are legal")


def check_views(t: Tables) -> None:
    """Check the knowledge in all Views against the hands: known cards and voids (R4.4, R5.1, R6.4, R7.3)."""
    rows, nothing = np.arange(t.num), U64(0)
    play = t.phase != Phase.OVER
    pending = t.planes[:, :, PENDING]
    held = [planes.add(t.planes[:, :, HAND + s], np.where(t.seat == s, pending, nothing)) for s in range(4)]
    dealer = t.dealer & 3
    with_dealer = planes.add(t.planes[:, rows, HAND + dealer], t.planes[:, :, KITTY])
    with_dealer = planes.add(with_dealer, np.where(t.seat == dealer, pending, nothing))
    for viewer in range(4):
        view = observe.view(t, None, np.full(t.num, viewer, np.int8))
        for other in range(4):
            wrong = planes.minus(view.known[:, :, (other - viewer) & 3], held[other])
            _demand(t, (wrong[0] == 0) | ~play, f"seat {viewer} is told of cards that seat {other} does not hold")
        wrong = planes.minus(view.known[:, :, observe.DEALER_OR_KITTY], with_dealer)
        _demand(t, (wrong[0] == 0) | ~play, f"seat {viewer} is told of cards that are not with the dealer")
    masks = t.layout.suit_mask[t.level]
    for seat in range(4):
        none_left = (held[seat][0, :, None] & masks) == 0
        _demand(t, (none_left | ~t.void[:, seat]).all(axis=1), f"seat {seat} is void of what it holds")


def check_actions(t: Tables, n: int) -> None:
    """Check that every legal action of table ``n`` is accepted on a copy, and that every other one is rejected without
    changing the table. No action is legal after the end of the hand."""
    row = np.array([n])
    legal = t.actions.unpack(t.legal[row])[0]
    good = np.flatnonzero(legal)
    if len(good):
        _check_accepted(t, n, good)
    one = t.select(row)
    before = one.save()
    for action in np.flatnonzero(~legal):
        try:
            engine.step(one, [action])
        except IllegalAction:
            continue
        name = t.actions.name(int(action), int(t.level[n]), t.trump_or_provisional(n))
        raise LawBroken(f"action {name} is not legal, but was accepted", n)
    if one.save() != before:
        raise LawBroken("a refused action changed the table", n)


def _check_accepted(t: Tables, n: int, actions: npt.NDArray[np.intp]) -> None:
    """Apply each action to a copy of table ``n`` and check the results."""
    copies = t.select(np.repeat(n, len(actions)))
    try:
        engine.step(copies, actions)
        check_tables(copies)
    except Exception as error:
        name = "one of its legal actions"
        if isinstance(error, LawBroken):
            name = t.actions.name(int(actions[error.table]), int(t.level[n]), t.trump_or_provisional(n))
        raise LawBroken(f"{error} after {name}", n) from error


@dataclass
class Met:
    """Statistics of a run of random hands."""

    rules: Rules
    hands: int = 0
    decisions: int = 0
    tried: int = 0
    """Number of tables at which every action was tried."""
    phases: Counter[str] = field(default_factory=Counter)
    branches: BranchCounts = field(default_factory=Counter)


class _Trail:
    """The actions of every table since the start of its hand."""

    def __init__(self, tables: int) -> None:
        self.steps: list[npt.NDArray[np.uint16]] = []
        self.since = np.zeros(tables, np.intp)

    def add(self, actions: npt.NDArray[np.int32]) -> None:
        self.steps.append(actions.astype(np.uint16))
        old = int(self.since.min())
        if old > 1000:  # bounds the memory of a long run
            del self.steps[:old]
            self.since -= old

    def restart(self, rows: npt.NDArray[np.intp]) -> None:
        self.since[rows] = len(self.steps)

    def case(self, t: Tables, n: int) -> Case:
        return Case.of(t, n, [int(actions[n]) for actions in self.steps[self.since[n] :]])


def random_hands(
    rules: Rules, hands: int, *, seed: int = 0, pass_probability: float = 0.0, tables: int = 256, every: int = 500
) -> Met:
    """Play ``hands`` random hands from the published start states with all checks; return statistics.

    ``check_tables`` runs at every step, ``check_views`` at one step in 50, ``check_actions`` at one decision in
    ``every``. ``pass_probability`` is the probability of passing in the bidding before a random action is drawn.

    Raises:
        LawBroken: a check failed.
    """
    met = Met(rules)
    t = Tables(rules, min(tables, hands))
    engine.reset(t, seed, begin=False)
    _start(t, np.arange(t.num))
    trail = _Trail(t.num)
    started = t.num
    step = 0
    playing = np.ones(t.num, np.bool_)
    while playing.any():
        step += 1
        key = mix(U64(seed), t.table_id, t.match, t.hand, np.uint64(step))
        tried = np.flatnonzero(playing & (key % U64(every) == 0))
        _check_all(t, trail, tried, views=step % 50 == 0)
        met.tried += len(tried)
        _count(met, t, playing)
        actions = random_actions(t, key, pass_probability)
        before = t.clone()
        _step(t, trail, before, actions)
        met.branches.update(count_branches(before, t, actions, playing))
        over = np.flatnonzero(playing & (t.phase == Phase.OVER))
        if len(over):
            _check_all(t, trail, over[:0], views=False)
            met.hands += len(over)
            again = over[: max(0, hands - started)]
            started += len(again)
            playing[over[len(again) :]] = False
            if len(again):
                t.hand[again] += 1
                _start(t, again)
            trail.restart(over)
    return met


def _check_all(t: Tables, trail: _Trail, tried: npt.NDArray[np.intp], views: bool) -> None:
    try:
        check_tables(t)
        if views:
            check_views(t)
        for n in tried:
            check_actions(t, int(n))
    except LawBroken as broken:
        raise LawBroken(broken.law, broken.table, trail.case(t, broken.table)) from None


def _step(t: Tables, trail: _Trail, before: Tables, actions: npt.NDArray[np.int32]) -> None:
    """Apply one step; convert an exception of the engine to :class:`LawBroken` of the table that causes it."""
    try:
        engine.step(t, actions)
    except Exception as error:
        trail.add(actions)
        law = f"{type(error).__name__}: {error}"
        for n in np.flatnonzero(before.phase != Phase.OVER):
            if _raises(before.select(np.array([n])), actions[n : n + 1]):
                raise LawBroken(law, int(n), trail.case(before, int(n))) from error
        raise LawBroken(f"{law}; no table alone raises it") from error
    trail.add(actions)


def _raises(t: Tables, actions: npt.NDArray[np.int32]) -> bool:
    try:
        engine.step(t, actions)
    except Exception:
        return True
    return False


def random_actions(t: Tables, keys: npt.NDArray[np.uint64], pass_probability: float) -> npt.NDArray[np.int32]:
    """Draw a uniform legal action per table from ``keys uint64[N]``; the bidding passes with ``pass_probability``."""
    number = np.maximum(t.actions.count(t.legal), 1).astype(U64)
    actions = t.actions.pick(t.legal, (mix(keys, 1) % number).astype(np.uint8))
    passes = (t.phase <= Phase.BID) & (mix(keys, 2) % U64(1000) < U64(round(pass_probability * 1000)))
    return np.where(passes, t.actions.PASS, actions).astype(np.int32)


def _start(t: Tables, g: npt.NDArray[np.intp]) -> None:
    levels, dealer, blood = starts.sample(t.rules, start_keys(t, g))
    engine.begin_hand(t, g, levels=levels, dealer=dealer, blood=blood)


def _count(met: Met, t: Tables, playing: npt.NDArray[np.bool_]) -> None:
    met.decisions += int(playing.sum())
    for phase, number in zip(*np.unique(t.phase[playing], return_counts=True), strict=True):
        met.phases[Phase(phase).name] += int(number)
