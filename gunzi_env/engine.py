"""The engine: N tables advance together from decision to decision.

A hand runs through the chapters of the rules in the order of R5.0. Each phase has a pair of functions in
:data:`HANDLERS`: ``legal(t, g)`` writes the legal actions of the tables ``g`` as words, ``apply(t, g, action)``
carries the actions out and returns the tables whose chapter is finished; :data:`CHAPTERS` leads these to
their next decision. ``t.legal`` is always up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from gunzi_env import compiled
from gunzi_env.actions import ActionSpace
from gunzi_env.chapters import bidding, kitty, selection, settlement, tribute, tricks
from gunzi_env.chapters.deal import first_seats, shuffle, start_keys
from gunzi_env.planes import NUM_SLOTS, U64, Ints, Words, put_planes
from gunzi_env.published import starts
from gunzi_env.tables import HAND, NOBODY, Index, Int8, Phase, Tables

__all__ = [
    "HANDLERS", "REFUSALS", "IllegalAction", "Phase", "advance", "begin_hand", "carry_out", "checked", "deal_hands",
    "legal",
    "next_hand", "play_forced", "reset", "step",
]  # fmt: skip

Legal = Callable[[Tables, Index], Words]
Apply = Callable[[Tables, Index, Ints], Index]

HANDLERS: dict[Phase, tuple[Legal, Apply]] = {
    Phase.SHOW: (bidding.show_legal, bidding.show_apply),
    Phase.BID: (bidding.bid_legal, bidding.bid_apply),
    Phase.TRIBUTE: (selection.legal, tribute.apply),
    Phase.RETURN: (selection.legal, tribute.apply_return),
    Phase.BURY: (selection.bury_legal, kitty.bury_apply),
    Phase.JOKERS: (kitty.jokers_legal, kitty.jokers_apply),
    Phase.PICKUP: (selection.legal, kitty.pickup_apply),
    Phase.LEAD: (tricks.lead_legal, tricks.lead_apply),
    Phase.FOLLOW: (tricks.follow_legal, tricks.follow_apply),
}
if compiled.available():
    HANDLERS[Phase.LEAD] = (compiled.lead_legal, compiled.lead_apply)
    HANDLERS[Phase.FOLLOW] = (compiled.follow_legal, compiled.follow_apply)


_PHASES = tuple(Phase)  # members of an enumeration are slow to look up and to make
_LEAD, _OVER = int(Phase.LEAD), int(Phase.OVER)

_ONE_PLACE: Index = np.zeros(1, np.intp)
_NO_TABLES: Index = np.empty(0, np.intp)


class IllegalAction(ValueError):
    """An action that the rules refuse; no table was changed. Names table, phase, seat, action and reason."""

    exit_code = 2

    def __init__(self, action: Any, reason: str, *, table: int = 0, phase: str = "", seat: int = NOBODY) -> None:
        self.action, self.reason, self.table, self.phase, self.seat = action, reason, table, phase, seat
        where = f" of seat {seat} in phase {phase} at table {table}" if phase else ""
        super().__init__(f"illegal action {action!r}{where}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.action, self.reason, self.table, self.phase, self.seat)


def _rebuild(action: Any, reason: str, table: int, phase: str, seat: int) -> IllegalAction:
    return IllegalAction(action, reason, table=table, phase=phase, seat=seat)


def reset(
    t: Tables, seed: int | Words, *, table_ids: Words | None = None, match: int = 0, hand: int = 0, begin: bool = True
) -> None:
    """Set which deals all tables play, and begin the first hand of a match at each.

    ``seed`` and ``table_ids`` (default 0, 1, ...), ``uint64``, with ``match`` and ``hand`` determine every card.
    ``begin=False`` leaves the start of the hands to :func:`begin_hand`.
    """
    t.seed[:] = np.asarray(seed, U64) if not isinstance(seed, int) else U64(seed % 2**64)
    t.table_id[:] = np.arange(t.num, dtype=U64) if table_ids is None else table_ids
    t.match[:] = match
    t.hand[:] = hand
    if begin:
        begin_hand(t, np.arange(t.num))


def deal_hands(
    t: Tables,
    seed: int,
    *,
    table_ids: Words | None = None,
    hand: int = 0,
    draw: Callable[[Tables], npt.NDArray[np.uint8]] | None = None,
) -> None:
    """Deal a single hand from a published start state at every table.

    Args:
        t: N tables.
        seed: names the deals and the start states.
        table_ids: ``uint64[N]``, 0, 1, ... by default.
        hand: number of the hand, see :func:`reset`.
        draw: prescribes the first deal ``uint8[N, D, 54]`` of the tables, see :func:`begin_hand`.
    """
    everyone = np.arange(t.num)
    reset(t, seed, table_ids=table_ids, hand=hand, begin=False)
    levels, dealer, blood = starts.sample(t.rules, start_keys(t, everyone))
    cards = None if draw is None else draw(t)
    begin_hand(t, everyone, levels=levels, dealer=dealer, blood=blood, draw=cards)


def begin_hand(
    t: Tables,
    g: Index,
    *,
    levels: npt.NDArray[Any] | None = None,
    dealer: npt.NDArray[Any] | None = None,
    blood: npt.NDArray[Any] | None = None,
    draw: npt.NDArray[np.uint8] | None = None,
) -> None:
    """Deal a hand at the tables ``g`` and go to its first decision.

    ``levels[n, 2]``, ``dealer[n]`` (-1: the first hand of a match, R4.2) and ``blood[n]`` are the start state, by
    default that of a new match. ``draw[n, D, 54]`` prescribes the cards of the first deal (see
    :func:`gunzi_env.chapters.deal.draw_of_deck`); redeals come from the seed.
    """
    rules = t.rules
    t.levels[g] = rules.first_level if levels is None else levels
    t.dealer[g] = NOBODY if dealer is None else dealer
    t.blood[g] = 0 if blood is None else blood
    t.first_hand[g] = first = t.dealer[g] == NOBODY
    t.attempt[g] = 0
    t.first[g] = np.where(first, first_seats(t, g), t.dealer[g])
    t.level[g] = np.where(first, rules.first_level, t.levels[g, t.dealer[g] & 1])
    t.draw[g] = shuffle(t, g) if draw is None else draw
    _open_deal(t, g)


def _open_deal(t: Tables, g: Index) -> None:
    """Clear the tables and enter the bidding; deal again where the bidding ends without a suit (R4.8)."""
    started = g
    while len(g):
        clear(t, g)
        closed, g = _close_bidding(t, bidding.enter(t, g))
        enter_chapters(t, {Phase.TRIBUTE: closed})
    refresh(t, started)


def clear(t: Tables, g: Index) -> None:
    """Write the state before the first decision of a hand: nothing shown, known or played."""
    t.reset(g)
    t.next_levels[g] = t.levels[g]
    t.held[g] = t.rules.hand_size
    t.dealer[g[t.first_hand[g]]] = NOBODY
    t.phase[g] = np.where(t.first_hand[g], Phase.SHOW, Phase.BID)


def _close_bidding(t: Tables, g: Index) -> tuple[Index, Index]:
    """Close the bidding: returns the tables that go on, and those to be dealt again, already shuffled."""
    if not len(g):
        return g, g
    redealt = bidding.close(t, g)
    closed, again = g[(~redealt).nonzero()[0]], g[redealt.nonzero()[0]]
    if len(again):
        t.attempt[again] += 1
        t.draw[again] = shuffle(t, again)
    return closed, again


CHAPTERS: tuple[tuple[Phase, Callable[[Tables, Index], Index]], ...] = (
    (Phase.TRIBUTE, tribute.enter),
    (Phase.RETURN, tribute.enter_return),
    (Phase.BURY, kitty.enter),
    (Phase.JOKERS, kitty.enter_jokers),
    (Phase.LEAD, tricks.enter),
)
"""R5.0: the order of a hand after the bidding; each entry returns the tables where its chapter needs no decision."""

_BEFORE = {
    Phase.RETURN: (Phase.TRIBUTE,),
    Phase.BURY: (Phase.RETURN,),
    Phase.JOKERS: (Phase.BURY,),
    Phase.LEAD: (Phase.JOKERS, Phase.PICKUP),
}
"""The phases that lead on to a chapter."""


def enter_chapters(t: Tables, arriving: dict[Phase, Index]) -> None:
    """Enter chapters until every table waits for a decision; ``arriving`` has the tables that come to each chapter.

    Each chapter is entered once, by these tables and those that passed through the one before."""
    g = _NO_TABLES
    for chapter, enter in CHAPTERS:
        g = _together(g, arriving.get(chapter, _NO_TABLES))
        if len(g):
            t.phase[g] = chapter
            g = enter(t, g)


def _together(*parts: Index) -> Index:
    some = [part for part in parts if len(part)]
    return np.concatenate(some) if len(some) > 1 else some[0] if some else _NO_TABLES


def _go_on(t: Tables, finished: dict[Phase, Index]) -> None:
    """Lead tables whose chapter is finished, keyed by the phase they were in, to their next decision or to the end."""

    def after(*phases: Phase) -> Index:
        return _together(*(finished.get(phase, _NO_TABLES) for phase in phases))

    closed, again = _close_bidding(t, after(Phase.SHOW, Phase.BID))
    enter_chapters(t, {Phase.TRIBUTE: closed} | {chapter: after(*phases) for chapter, phases in _BEFORE.items()})
    over = after(Phase.LEAD, Phase.FOLLOW)
    if len(over):
        t.phase[over] = Phase.OVER
        settlement.enter(t, over)
    if len(again):
        _open_deal(t, again)


def _by_phase(t: Tables, g: Index) -> Iterator[tuple[Phase, Index]]:
    """Yield each phase met at the tables ``g`` and the places in ``g``; most tables are in play, so the others are
    looked for separately."""
    phase = t.phase[g]
    if len(g) == 1:
        yield _PHASES[phase[0]], _ONE_PLACE
        return
    early = (phase < _LEAD).nonzero()[0]
    early_phase = phase[early]
    for p in _PHASES[:_LEAD] if len(early) else ():
        places = early[(early_phase == p).nonzero()[0]]
        if len(places):
            yield p, places
    for p in _PHASES[_LEAD:]:
        places = (phase == p).nonzero()[0]
        if len(places):
            yield p, places


def refresh(t: Tables, g: Index) -> None:
    """Bring ``t.legal`` up to date."""
    for phase, places in _by_phase(t, g):
        rows = g[places]
        if phase == _OVER:
            t.legal[rows] = U64(0)
        else:
            put_planes(t.rows_of("legal"), rows, HANDLERS[phase][0](t, rows))


def legal(t: Tables) -> npt.NDArray[np.bool_]:
    """The legal actions of every table, ``bool[N, A]``; none where the hand is over."""
    return t.actions.unpack(t.legal)


def step(t: Tables, actions: npt.ArrayLike, *, skip_forced: bool = False) -> None:
    """Carry out one action a table, ``int[N]``; tables whose hand is over stay as they are.

    ``skip_forced`` also plays the following decisions that have a single legal action.

    Raises:
        IllegalAction: An action is illegal; no table was changed.
    """
    advance(t, checked(t, actions), skip_forced=skip_forced)


def advance(t: Tables, chosen: Index, *, skip_forced: bool) -> None:
    """:func:`step` without the check of the actions."""
    g = (t.phase != _OVER).nonzero()[0]
    carry_out(t, g, chosen[g])
    if skip_forced:
        play_forced(t, g)


def play_forced(t: Tables, g: Index) -> None:
    """Play the decisions of the tables ``g`` while they have a single legal action."""
    while len(g):
        g = g[t.actions.count(t.legal[g]) == 1]
        if len(g):
            carry_out(t, g, t.actions.pick(t.legal[g], np.zeros(len(g), np.uint8)).astype(np.intp))


def carry_out(t: Tables, g: Index, actions: Index) -> None:
    """:func:`step` at the tables ``g`` alone, ``actions[n]``, without the check of the actions."""
    finished = {}
    for phase, places in list(_by_phase(t, g)):
        done = HANDLERS[phase][1](t, g[places], actions[places])
        if len(done):
            finished[phase] = done
    if finished:
        _go_on(t, finished)
    refresh(t, g)


def next_hand(t: Tables, g: Index) -> None:
    """Deal the next hand of the match (R9.1), or the first of the next match (R9.3), where a hand is over."""
    new_match = t.match_winner[g] != NOBODY
    t.match[g] += new_match
    t.hand[g] = np.where(new_match, 0, t.hand[g] + 1)
    levels = np.where(new_match[:, None], t.rules.first_level, t.next_levels[g])
    begin_hand(t, g, levels=levels, dealer=t.next_dealer[g], blood=t.next_blood[g])


def checked(t: Tables, actions: npt.ArrayLike) -> Index:
    """Validate one action per table and return them as indices ``int[N]``.

    Raises:
        IllegalAction: The action of an unfinished table is illegal.
    """
    return checked_by(t.actions, t.legal, t.phase, actions, lambda n, action: illegal(t, n, action))


def checked_by(
    space: ActionSpace,
    legal: Words,
    phase: Int8,
    actions: npt.ArrayLike,
    explain: Callable[[int, int], IllegalAction],
) -> Index:
    """:func:`checked` for tables of another process, from their legal actions ``uint64[N, D + 1]`` and phases.

    ``explain(n, action)`` makes the error for an action that is illegal at table ``n``."""
    num = len(phase)
    try:
        array = np.asarray(actions)
    except (TypeError, ValueError, OverflowError):
        array = np.asarray(None)
    if array.dtype.kind not in "iu" or array.shape != (num,):
        given = f"{array.dtype}{list(array.shape)}"
        raise IllegalAction(actions, f"give whole numbers of shape [{num}], one a table, not {given}")
    waiting = phase != _OVER
    if not waiting.any():
        raise IllegalAction(actions, "the hand is over at every table")
    inside = (array >= 0) & (array < space.n)
    chosen = (array * inside).astype(np.intp)
    good = inside & space.is_legal(legal, chosen) | ~waiting
    if not good.all():
        n = int(np.argmin(good))
        raise explain(n, array[n].item())
    return chosen


def illegal(t: Tables, n: int, action: int, *, name: int | None = None) -> IllegalAction:
    """The error for an action that is illegal at table ``n``; the message calls the table ``name`` if given."""
    phase = Phase(t.phase[n])
    table = n if name is None else name
    return IllegalAction(action, _reason(t, n, phase, action), table=table, phase=phase.name, seat=int(t.seat[n]))


REFUSALS: dict[Phase, str] = {
    Phase.SHOW: "the question is whether to show a big joker, or to pass (R4.2)",
    Phase.BID: "a bid needs its cards in the hand and must beat the standing bid (R4.4, R4.5)",
    Phase.TRIBUTE: "the largest cards are given; the choice is only between equal ones (R5.1)",
    Phase.RETURN: "side cards without points go back first, then trumps without points (R5.4)",
    Phase.BURY: "a small joker is buried only after all big ones (R6.3)",
    Phase.JOKERS: "only jokers go into the kitty, big ones first (R6.3, R6.5)",
    Phase.PICKUP: "the smallest cards are picked up; the choice is only between equal ones (R6.5)",
    Phase.LEAD: "a lead is one card or several identical ones (R3.1, R7.2)",
    Phase.FOLLOW: "the led suit comes first (R7.3), and in dead following the shape binds too (R7.5)",
}
"""Why the rules refuse an action, by phase."""

_ORDER = dict.fromkeys(
    (Phase.TRIBUTE, Phase.RETURN, Phase.BURY, Phase.PICKUP), ", and cards are named from the highest down"
) | {Phase.FOLLOW: ", and units are named most copies first, then from the highest down"}
"""The order in which one choice is spread over several actions."""


def _reason(t: Tables, n: int, phase: Phase, action: int) -> str:
    space = t.actions
    if not 0 <= action < space.n:
        return f"actions are 0..{space.n - 1}"
    level, trump = int(t.level[n]), t.trump_or_provisional(n)
    name = repr(space.name(action, level, trump))
    allowed = [space.name(int(a), level, trump) for a in np.flatnonzero(space.unpack(t.legal[n : n + 1])[0])]
    choices = f"legal are {', '.join(allowed)}" if len(allowed) <= 12 else f"{len(allowed)} others are legal"
    if action >= space.PASS or phase <= Phase.BID:
        return f"{name} is no choice here{f': {REFUSALS[phase]}' if phase <= Phase.BID else ''}; {choices}"
    number, slot = action // NUM_SLOTS + 1, action % NUM_SLOTS
    source = t.source[n] if Phase.TRIBUTE <= phase <= Phase.PICKUP and phase != Phase.JOKERS else HAND + t.seat[n]
    available = int(((t.planes[:, n, source] >> U64(slot)) & U64(1)).sum())
    if available < number:
        return f"{name} asks for {number}, there are {available} to choose from; {choices}"
    return f"{name} is not allowed: {REFUSALS[phase]}{_ORDER.get(phase, '')}; {choices}"
