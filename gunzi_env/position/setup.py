"""Set up positions from arguments or text.

A position has only the cards that it names, so hands may be short. All other cards are in the stock, out of play.

>>> table = setup(hands=["SA", "H9", "S4", "D8"], trump="S", leader=1)
>>> print(format_position(table))
rules: dalian
phase: lead
level: 3
trump: S
levels: 3 3
dealer: 0
seat: 1
score: 0
hand 0: SA
hand 1: H9
hand 2: S4
hand 3: D8
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gunzi_env import engine, order, planes
from gunzi_env.cards import parse_cards, parse_suit
from gunzi_env.chapters import bidding, kitty
from gunzi_env.position import checks as checks
from gunzi_env.position.checks import BIDDING, EXCHANGED, PHASES, PLAYING
from gunzi_env.position.knowledge import mark_bid, mark_lacks, mark_shown
from gunzi_env.position.text import KEYS, PositionError, format_position
from gunzi_env.published import starts
from gunzi_env.rulebook import ONE_TABLE, Source, cards_planes, cards_text, parse_level
from gunzi_env.rules import RulesError, load_rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, STOCK, Phase, Tables

_OUT_OF_PLAY = 255
"""A position in ``draw`` after all cards."""


@contextmanager
def _position_errors() -> Iterator[None]:
    """Convert the ``ValueError`` of a bad card, level or play to :class:`PositionError`."""
    try:
        yield
    except (PositionError, RulesError):
        raise
    except ValueError as error:
        raise PositionError(str(error)) from None


@_position_errors()
def setup(
    rules: Source = "dalian",
    *,
    hands: Sequence[str],
    phase: str = "lead",
    level: int | str = 3,
    trump: str = "S",
    levels: tuple[int, int] | None = None,
    dealer: int = 0,
    leader: int | None = None,
    seat: int | None = None,
    trick: Sequence[str] = (),
    kitty_cards: str = "",
    kitty_shown: bool | None = None,
    kitty_public: bool = False,
    dry: bool = False,
    played: Sequence[str] = ("", "", "", ""),
    void: str = "",
    no_pair: str = "",
    no_triple: str = "",
    score: int = 0,
    blood: int = 0,
    bid: str | None = None,
    bidder: int = 0,
    shown: Sequence[str] = ("", "", "", ""),
    first: int | None = None,
    passes: int = 0,
) -> Tables:
    """Set up one table; the text form of a position has the same fields (:func:`parse`).

    Args:
        rules: a preset's name, the path of a TOML file, or rules.
        hands: the cards of seats 0 to 3.
        phase: one of :data:`PHASES`.
        level, trump: level and trump suit of the hand.
        levels: of the teams {0, 2} and {1, 3}; by default ``level`` for both.
        dealer: in phase show only the default of ``first``, because there is no dealer yet (R4.2).
        leader: of the trick; by default the dealer.
        seat: the seat to move in the phases up to jokers.
        trick: the plays of an open trick, starting with the leader's. Their cards are not in ``hands``. The following
            seats without a choice play at once (R7.3).
        kitty_cards: up to phase bury as dealt, top card first, later as buried. A buried joker makes it public (R6.4).
        kitty_shown: after the bidding, whether the kitty was shown (R6.1); by default it was.
        kitty_public, dry: the kitty is public (R6.4), or was dry (R6.6).
        played: earlier plays by seat.
        void: proven voids as seat and suit (``T`` for trumps): ``"1H 3T"``.
        no_pair, no_triple: likewise, shapes that seats lack in dead following (R7.5).
        score, blood: S so far, and cards owed.
        bid, bidder: the standing or final bid, as in :func:`gunzi_env.rulebook.bid_beats`, and its seat.
        shown: cards shown by seat (R4.4, R5.5), in addition to those of ``bid``.
        first: the seat dealt the first card; by default the dealer.
        passes: passes in a row in the closing window (R4.6).

    A position has no deal, and no information about a match's first hand (except in phase show), cards turned up (R4.3,
    R4.7), the tribute and its return. Knowledge of hands from tribute, return, pick-up and a shown kitty is lost, so
    players know less than in the game.

    Raises:
        PositionError: a field is invalid or does not fit the others; the message names it.
    """
    rules = load_rules(rules)
    t = Tables(rules, 1)
    given = {"kitty shown": kitty_shown is not None, "leader": leader is not None, "seat": seat is not None}
    given |= {"kitty public": kitty_public, "dry": dry, "played": any(played), "passes": passes != 0}
    given |= {"void": void != "", "no pair": no_pair != "", "no triple": no_triple != ""}
    checks.check_seats(dealer=dealer, bidder=bidder, leader=leader, seat=seat, first=first, passes=passes)
    checks.check_phase(phase, given)
    leader, kitty_shown = dealer if leader is None else leader, kitty_shown in (None, True) and phase not in BIDDING
    checks.check_trick(phase, trick, leader)
    checks.check_numbers(rules, score, blood)
    checks.check_kitty(phase, dry, kitty_shown, bid)
    plays = {(leader + k) % 4: play for k, play in enumerate(trick)}
    checks.check_cards(rules, hands, kitty_cards, played, plays)
    _begin(t, phase, parse_level(rules, level), levels, dealer, blood)
    t.score[0], t.first[0] = score, dealer if first is None else first
    suit = parse_suit(trump)
    t.trump[0] = order.PROVISIONAL_TRUMP if phase in BIDDING else suit
    _lay_out(t, phase, hands, kitty_cards, played, plays)
    t.kitty_shown[0], t.dry[0] = kitty_shown, dry
    _judge_kitty(t, phase, kitty_public)
    mark_bid(t, phase, bid, bidder)
    mark_shown(t, phase, shown)
    mark_lacks(t, void, no_pair, no_triple, plays)
    if phase in BIDDING:
        _enter_bidding(t, phase, int(t.first[0]) if seat is None else seat, passes)
    elif phase in ("tribute", "bury"):
        _enter_exchange(t, Phase.TRIBUTE if phase == "tribute" else Phase.BURY, seat)
    elif phase == "jokers":
        _enter_jokers(t, (dealer + 1) % 4 if seat is None else seat)
    else:
        _enter_play(t, leader, trick)
    engine.refresh(t, ONE_TABLE)
    return t


def _begin(t: Tables, phase: str, level: int, levels: Sequence[int | str] | None, dealer: int, blood: int) -> None:
    """Clear the table and set levels, dealer and blood."""
    both = (level, level) if levels is None else tuple(parse_level(t.rules, x) for x in levels)
    # R4.2: phase show belongs to the first hand of a match, which has no dealer yet.
    starts.check(t.rules, both, NOBODY if phase == "show" else dealer, blood)
    if both[dealer & 1] != level:
        raise PositionError(f"level is {level}, but the dealer's team is on {both[dealer & 1]} (R2.1)")
    engine.clear(t, ONE_TABLE)
    t.dealer[0], t.level[0], t.levels[0], t.blood[0] = dealer, level, both, blood
    t.drawn[0] = t.rules.num_dealt


def _lay_out(
    t: Tables, phase: str, hands: Sequence[str], kitty_cards: str, played: Sequence[str], plays: Mapping[int, str]
) -> None:
    """Put every named card in its place and the rest in the stock; the plays of a trick go to the hands first."""
    texts = {HAND + s: f"{hands[s]} {plays.get(s, '')}" for s in range(4)} | {KITTY: kitty_cards}
    texts |= {PLAYED + s: played[s] for s in range(4)}
    rest = np.full((t.rules.decks, 1), planes.FULL)
    for holder, text in texts.items():
        cards = cards_planes(t, text)
        t.put(ONE_TABLE, holder, cards)
        rest = planes.minus(rest, cards)
    t.put(ONE_TABLE, STOCK, rest)
    if phase not in EXCHANGED:
        _prescribe_deal(t, hands, kitty_cards)


def _prescribe_deal(t: Tables, hands: Sequence[str], kitty_cards: str) -> None:
    """Set ``draw`` so that it deals these hands and this kitty, top card first; the end of the bidding reads it."""
    t.draw[0] = _OUT_OF_PLAY
    copies: Counter[int] = Counter()
    places = [(f, 4 * k + (s - int(t.first[0])) % 4) for s in range(4) for k, f in enumerate(parse_cards(hands[s]))]
    places += [(f, t.rules.num_dealt + k) for k, f in enumerate(parse_cards(kitty_cards))]
    for face, place in sorted(places, key=lambda pair: pair[1]):
        t.draw[0, copies[face], face] = place
        copies[face] += 1


def _judge_kitty(t: Tables, phase: str, public: bool) -> None:
    """Set whether the kitty is public (R6.4, R6.6) and how many of its cards may be picked up (R6.5)."""
    if phase not in EXCHANGED:
        return
    buried = t.holder(ONE_TABLE, KITTY)
    if not t.dry[0]:
        t.kitty_public[0] = public
        kitty.open_window(t, ONE_TABLE)
    elif kitty.is_dry(t.rules, t.layout, t.level, buried)[0]:
        t.kitty_public[0] = True
    else:
        raise PositionError(f"dry is yes, but a kitty of {cards_text(t, buried[:, 0]) or 'no cards'} is not (R6.6)")


def _enter_bidding(t: Tables, phase: str, seat: int, passes: int) -> None:
    """Set the table to the closing window (R4.6) with ``seat`` to move."""
    if phase == "show" and t.rules.first_bid == "auto":
        raise PositionError("phase is 'show', but with first_bid auto no seat is asked to show (R4.2)")
    t.phase[0] = Phase.SHOW if phase == "show" else Phase.BID
    t.first_hand[0] = phase == "show"
    t.passes[0] = passes
    t.seat[0] = seat
    t.held[0] = _hand_size(t) or t.rules.hand_size
    t.trump[0] = NOBODY
    if phase == "show":
        t.dealer[0] = NOBODY
    if not bidding.can_decide(t, ONE_TABLE)[0]:
        raise PositionError(f"seat {seat} has nothing to decide in phase {phase}")


def _enter_exchange(t: Tables, phase: Phase, seat: int | None) -> None:
    """Set the table to the tribute or the burial, or to the next decision after it if it has none."""
    t.held[0] = _equal_hands(t)
    engine.enter_chapters(t, {phase: ONE_TABLE})
    if seat is not None and seat != t.seat[0]:
        raise PositionError(f"seat is {seat}, but seat {t.seat[0]} is to move")


def _enter_jokers(t: Tables, seat: int) -> None:
    """Set the table to the burial of jokers with ``seat`` to move."""
    t.held[0] = _equal_hands(t)
    t.phase[0] = Phase.JOKERS
    t.seat[0] = seat
    if len(kitty.ask_in_turn(t, ONE_TABLE)) or t.seat[0] != seat:
        raise PositionError(f"seat {seat} has no joker to bury")


def _hand_size(t: Tables) -> int:
    """Return the number of cards of every hand, including the trick's; 0 if hands differ."""
    sizes = planes.count(t.planes[:, 0, HAND : HAND + 4])
    return int(sizes[0]) if (sizes == sizes[0]).all() else 0


def _equal_hands(t: Tables) -> int:
    """Return :func:`_hand_size`; ``PositionError`` if hands differ or are empty."""
    size = _hand_size(t)
    if not size:
        numbers = ", ".join(map(str, planes.count(t.planes[:, 0, HAND : HAND + 4])))
        raise PositionError(f"hands have {numbers} cards including the trick: they must be equal and not empty")
    return size


def _enter_play(t: Tables, leader: int, trick: Sequence[str]) -> None:
    """Set the table to the lead, and play the plays of ``trick``."""
    t.held[0] = _equal_hands(t)
    t.leader[0] = t.seat[0] = leader
    t.phase[0] = Phase.LEAD
    engine.refresh(t, ONE_TABLE)
    before = t.planes[:, 0, PLAYED : PLAYED + 4].copy()
    for k, text in enumerate(trick):
        seat = (leader + k) % 4
        play = cards_planes(t, text)[:, 0]
        made = planes.minus(t.planes[:, 0, PLAYED + seat], before[:, seat])
        if not made[0]:
            _make_play(t, seat, text, play)
        elif not np.array_equal(made, play):
            # R7.3: the engine has made a forced play already; it must be the named one.
            raise PositionError(f"{text!r} is not the play that seat {seat} must make (R7.3)")


def _make_play(t: Tables, seat: int, text: str, play: planes.Words) -> None:
    """Make a play of the seat to move; it has the right number of cards, all of them in the hand."""
    must = t.planes[:, 0, PENDING]
    if planes.minus(must, play)[0]:
        raise PositionError(f"seat {seat} cannot play {text!r}: it must play {cards_text(t, must)} (R7.3)")
    try:
        for action in play_actions(t, play):
            engine.step(t, [action])
    except engine.IllegalAction as error:
        raise PositionError(f"seat {seat} cannot play {text!r}: {error.reason}") from None


def play_actions(t: Tables, play: planes.Words, n: int = 0) -> list[int]:
    """Return the actions of a whole play ``uint64[D]`` at table ``n``, without the cards that are set aside (R7.3).

    These are its units by falling multiplicity and then by falling slot.
    """
    rest = planes.minus(play, t.planes[:, n, PENDING])
    counts = planes.to_counts(rest)
    slots = sorted(np.flatnonzero(counts), key=lambda s: (-int(counts[s]), -int(s)))
    return [t.actions.card(int(s), int(counts[s])) for s in slots]


def parse(text: str) -> Tables:
    """Set up the position of text ``key: value``, one per line (:func:`format_position`); see :func:`setup`."""
    if not isinstance(text, str):
        raise PositionError(f"a position is text of lines such as 'trump: S', not {type(text).__name__}")
    fields: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        key, colon, value = line.partition(":")
        key = " ".join(key.split())
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not colon or key not in KEYS:
            raise PositionError(f"unknown line {line.strip()!r}: the keys are {', '.join(sorted(KEYS))}")
        if key in fields:
            raise PositionError(f"{key!r} is given twice")
        fields[key] = value.strip()
    phase = fields.get("phase", "lead")
    values: dict[str, Any] = {
        "hands": [fields.get(f"hand {s}", "") for s in range(4)],
        "shown": [fields.get(f"shown {s}", "") for s in range(4)],
        "played": [fields.get(f"played {s}", "") for s in range(4)],
        "phase": phase,
        "kitty_cards": fields.get("kitty", ""),
        "kitty_public": _yes(fields, "kitty public"),
        "dry": _yes(fields, "dry"),
    }
    for key in ("level", "trump", "bid", "void", "no pair", "no triple"):
        if key in fields:
            values[key.replace(" ", "_")] = fields[key]
    if "kitty shown" in fields:
        values["kitty_shown"] = _yes(fields, "kitty shown")
    for key in ("dealer", "score", "blood", "bidder", "first", "passes"):
        if key in fields:
            values[key] = _number(fields, key)
    if "seat" in fields:
        values["leader" if phase in PLAYING else "seat"] = _number(fields, "seat")
    if "levels" in fields:
        values["levels"] = tuple(fields["levels"].split())
    if fields.get("trick"):
        values["trick"] = [play.strip() for play in fields["trick"].split("/")]
    return setup(fields.get("rules", "dalian"), **values)


def _yes(fields: dict[str, str], key: str) -> bool:
    value = fields.get(key, "no").lower()
    if value not in ("yes", "no"):
        raise PositionError(f"{key} is {value!r}: write yes or no")
    return value == "yes"


def _number(fields: dict[str, str], key: str) -> int:
    try:
        return int(fields[key])
    except ValueError:
        raise PositionError(f"{key} is {fields[key]!r}: write a whole number") from None


__all__ = ["PHASES", "PositionError", "format_position", "parse", "play_actions", "setup"]
