"""Set up a position from cards in text, and write one down.

A position has the cards it names and no others: hands may be as short as a question needs. What is not
named lies in the stock, out of play.

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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gunzi_env import bidding, engine, kitty, order, planes, starts
from gunzi_env.cards import FACE_NAMES, SUITS, parse_cards, parse_suit
from gunzi_env.position_text import KEYS, PositionError, format_position
from gunzi_env.rulebook import ONE_TABLE, Source, cards_planes, cards_text, parse_bid, parse_level
from gunzi_env.rules import Rules, RulesError, load_rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, STOCK, Phase, Tables

PHASES = ("show", "bid", "tribute", "bury", "jokers", "lead", "follow")
"""Where a position can stand, about to ask a question of that phase; ``follow`` is ``lead`` with a trick begun."""

_BIDDING = ("show", "bid")

_OUT_OF_PLAY = 255
"""In ``draw``: later than all cards."""


@contextmanager
def _position_errors() -> Iterator[None]:
    """A wrong card, level, play: whatever text was wrong, it is the position that cannot be."""
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
    kitty_shown: bool = True,
    kitty_public: bool = False,
    dry: bool = False,
    played: Sequence[str] = ("", "", "", ""),
    void: str = "",
    score: int = 0,
    blood: int = 0,
    bid: str | None = None,
    bidder: int = 0,
    shown: Sequence[str] = ("", "", "", ""),
    first: int | None = None,
    passes: int = 0,
) -> Tables:
    """One table in this position; :class:`PositionError` names what does not fit.

    ``hands`` are those of seats 0 to 3. ``trick`` holds the plays of a trick begun, from the leader on; its
    cards stand besides the hands. ``seat`` is who is asked in the phases show, bid and jokers. For ``bury`` the
    kitty is what the dealer is about to take, later what lies buried. ``void`` lists proven voids as seat and
    suit (``T`` for trumps): ``"1H 3T"``. ``bid`` is the standing bid as in :func:`gunzi_env.rulebook.bid_beats`;
    ``shown`` is what each seat has shown (R4.4, R5.5), the standing bid's cards in any case. ``kitty_shown`` is
    R6.1's question, settled once the bidding is over.
    """
    rules = load_rules(rules)
    t = Tables(rules, 1)
    _check_phase(phase, trick)
    _check_seats(dealer=dealer, bidder=bidder, leader=leader, seat=seat, first=first, passes=passes)
    _check_score(rules, score)
    level = parse_level(rules, level)
    both = (level, level) if levels is None else tuple(parse_level(rules, x) for x in levels)
    starts.check(rules, both, dealer, blood)
    if both[dealer & 1] != level:
        raise PositionError(f"level is {level}, but the dealer's team is on {both[dealer & 1]} (R2.1)")
    _check_seen(phase, dry, kitty_shown, bid)
    engine.clear(t, ONE_TABLE)
    t.dealer[0], t.level[0], t.trump[0], t.levels[0] = dealer, level, parse_suit(trump), both
    t.score[0], t.blood[0], t.first[0] = score, blood, dealer if first is None else first
    t.drawn[0] = rules.num_dealt
    t.dry[0], t.kitty_public[0] = dry, kitty_public or dry
    t.kitty_shown[0] = kitty_shown and phase not in _BIDDING
    leader = dealer if leader is None else leader
    _lay_out(t, phase, hands, kitty_cards, played, {(leader + k) % 4: play for k, play in enumerate(trick)})
    _mark_bid(t, phase, bid, bidder)
    _mark_shown(t, phase, shown)
    _mark_voids(t, void)
    if phase in ("tribute", "bury", "jokers"):
        t.held[0] = _equal_hands(t)
    if phase in _BIDDING:
        _stand_in_bidding(t, phase, int(t.first[0]) if seat is None else seat, passes)
    elif phase in ("tribute", "bury"):
        engine.enter_chapters(t, ONE_TABLE, Phase.TRIBUTE if phase == "tribute" else Phase.BURY)
    elif phase == "jokers":
        _stand_at_jokers(t, (dealer + 1) % 4 if seat is None else seat)
    else:
        _stand_in_play(t, leader, trick)
    engine.refresh(t, ONE_TABLE)
    return t


def _check_phase(phase: str, trick: Sequence[str]) -> None:
    if phase not in PHASES:
        raise PositionError(f"phase is {phase!r}: it must be one of {', '.join(PHASES)}")
    if (phase == "follow") != bool(trick) and phase != "lead":
        raise PositionError(f"phase is {phase!r} and the trick has {len(trick)} plays: only in follow it has some")


def _check_score(rules: Rules, score: int) -> None:
    if isinstance(score, bool) or score % 5 or not 0 <= score <= rules.max_score:
        raise PositionError(f"score is {score!r}: it must be a multiple of 5 within 0..{rules.max_score} (R8.4)")


def _check_seats(**seats: int | None) -> None:
    for name, number in seats.items():
        if number is not None and (isinstance(number, bool) or number not in range(4)):
            raise PositionError(f"{name} is {number!r}: it must be within 0..3")


def _check_seen(phase: str, dry: bool, kitty_shown: bool, bid: str | None) -> None:
    if dry and not kitty_shown:
        raise PositionError("dry is yes, but the kitty was not shown: only a shown one is dry (R6.6)")
    if bid is not None and phase == "show":
        raise PositionError(f"bid is {bid!r}, but in phase show nobody bids (R4.2)")
    if bid is not None and phase != "bid" and not kitty_shown:
        raise PositionError(f"bid is {bid!r}, and so the kitty was shown (R6.1)")


def _lay_out(
    t: Tables, phase: str, hands: Sequence[str], kitty_cards: str, played: Sequence[str], trick: dict[int, str]
) -> None:
    """Every named card to its place, the rest to the stock; the plays of a trick lie in the hands they come from."""
    if len(hands) != 4 or len(played) != 4:
        raise PositionError("hands (and played) must be those of four seats")
    decks = t.rules.decks
    texts = {HAND + s: f"{hands[s]} {trick.get(s, '')}" for s in range(4)} | {KITTY: kitty_cards}
    texts |= {PLAYED + s: played[s] for s in range(4)}
    named = Counter(f for text in texts.values() for f in parse_cards(text))
    for face, number in named.items():
        if number > decks:
            raise PositionError(f"{number} copies of {FACE_NAMES[face]} in all: there are {decks}")
    if phase in _BIDDING:
        t.trump[0] = order.PROVISIONAL_TRUMP
    rest = np.full((decks, 1), planes.FULL)
    for holder, text in texts.items():
        cards = cards_planes(t, text)
        t.put(ONE_TABLE, holder, cards)
        rest = planes.minus(rest, cards)
    t.put(ONE_TABLE, STOCK, rest)
    if phase in (*_BIDDING, "tribute", "bury"):
        _prescribe_deal(t, hands, kitty_cards)


def _prescribe_deal(t: Tables, hands: Sequence[str], kitty_cards: str) -> None:
    """Positions in the deal that give these hands and this kitty, top first: the end of the bidding uses them."""
    t.draw[0] = _OUT_OF_PLAY
    copies: Counter[int] = Counter()
    places = [(f, 4 * k + (s - int(t.first[0])) % 4) for s in range(4) for k, f in enumerate(parse_cards(hands[s]))]
    places += [(f, t.rules.num_dealt + k) for k, f in enumerate(parse_cards(kitty_cards))]
    for face, place in sorted(places, key=lambda pair: pair[1]):
        t.draw[0, copies[face], face] = place
        copies[face] += 1


def _mark_bid(t: Tables, phase: str, bid: str | None, bidder: int) -> None:
    """The standing bid, after the bidding the last one, and the cards it showed (R4.4)."""
    t.bid_suit[0] = t.bid_seat[0] = NOBODY
    if bid is None:
        return
    strength, suit = parse_bid(t.rules, bid), parse_suit(str(bid).strip()[-1])
    if phase != "bid" and suit != t.trump[0]:
        raise PositionError(f"bid is {bid!r}, but trump is {SUITS[t.trump[0]]}")
    t.bid_strength[0], t.bid_suit[0], t.bid_seat[0] = strength, suit, bidder
    cards = bidding.bid_cards(t, ONE_TABLE, t.bid_strength, t.bid_suit)
    t.shown[:, :, bidder] = order.relabel(t.layout, cards.T, t.level, t.trump).T


def _mark_shown(t: Tables, phase: str, shown: Sequence[str]) -> None:
    """What the seats have shown, and what of it they certainly still have (``known`` and ``loose``, see kitty.py)."""
    if len(shown) != 4:
        raise PositionError("shown must be that of four seats")
    for s in range(4):  # the bid's cards are among them
        t.shown[:, :, s] |= cards_planes(t, shown[s])
    _check_shown(t, phase)
    dealer, sure = int(t.dealer[0]), t.shown[:, 0].copy()
    own = planes.add(t.planes[:, 0, HAND : HAND + 4], t.planes[:, 0, PLAYED : PLAYED + 4])
    exchanged = phase in ("jokers", "lead", "follow") and not t.dry[0]
    if t.blood[0] and phase not in (*_BIDDING, "tribute"):
        sure[:] = 0  # R5: they may have been given, and given back unseen
    elif exchanged:
        own[:, dealer] = planes.add(own[:, dealer], t.planes[:, 0, KITTY])  # R6.2: he may have buried them
        if t.kitty_public[0]:  # R6.5: others' jokers may lie buried, the dealer's cards be picked up
            sure &= ~order.JOKERS
            sure[:, dealer] = 0
    for s in np.flatnonzero(planes.minus(sure, own)[0]).tolist():
        raise PositionError(f"seat {s} has shown {cards_text(t, sure[:, s])}, but does not have so many (R4.4)")
    copies = planes.to_counts(t.shown[:, 0]).sum(axis=0) + planes.to_counts(t.planes[:, 0, STOCK])
    if (copies > t.rules.decks).any():
        raise PositionError("shown has cards that are not in play, or the same card of two seats")
    if exchanged:
        t.loose[:, 0] = sure[:, dealer]
        sure[:, dealer] = 0
    if phase not in _BIDDING:
        t.known[:, 0] = sure


def _check_shown(t: Tables, phase: str) -> None:
    """Could these cards have been shown?"""
    some = t.shown[0, 0]
    if (some & ~(order.JOKERS | t.layout.level_cards[t.level])).any():
        raise PositionError("shown has cards that nobody shows: level cards and jokers are shown (R4.2, R4.4, R5.5)")
    if phase == "show" and some.any():
        raise PositionError("shown has cards, but who shows one in phase show ends it (R4.2)")
    exempt = planes.BIT[order.BIG_JOKER_SLOT] if t.rules.anti_tribute and t.blood[0] else planes.ZERO  # R5.5
    if phase not in _BIDDING and not t.kitty_shown[0] and (some & ~exempt).any():
        raise PositionError("shown has cards of a bid or a show, and so the kitty was shown (R6.1)")


def _mark_voids(t: Tables, void: str) -> None:
    blocks = [SUITS[s] for s in range(4) if s != t.trump[0]] + ["T"]
    for token in void.split():
        if len(token) != 2 or token[0] not in "0123" or token[1] not in blocks:
            raise PositionError(
                f"void names {token!r}: write a seat and a suit of {' '.join(blocks)}, as in 1{blocks[0]}"
            )
        t.void[0, int(token[0]), blocks.index(token[1])] = True


def _stand_in_bidding(t: Tables, phase: str, seat: int, passes: int) -> None:
    """In the closing window (R4.6), ``seat`` to decide."""
    t.phase[0] = Phase.SHOW if phase == "show" else Phase.BID
    t.first_hand[0] = phase == "show"
    t.passes[0] = passes
    t.seat[0] = seat
    t.trump[0] = NOBODY
    if phase == "show":
        t.dealer[0] = NOBODY
    if not bidding.can_decide(t, ONE_TABLE)[0]:
        raise PositionError(f"seat {seat} has nothing to decide in phase {phase}")


def _stand_at_jokers(t: Tables, seat: int) -> None:
    t.phase[0] = Phase.JOKERS
    t.seat[0] = seat
    if not t.dry[0]:  # R6.6: nobody adds to a dry kitty
        kitty.open_window(t, ONE_TABLE)
    if len(kitty.ask_in_turn(t, ONE_TABLE)) or t.seat[0] != seat:
        raise PositionError(f"seat {seat} has no joker it could bury")


def _equal_hands(t: Tables) -> int:
    """The cards each hand has, the trick's included: play could not go on from hands that differ."""
    sizes = planes.count(t.planes[:, 0, HAND : HAND + 4])
    if not sizes[0] or (sizes != sizes[0]).any():
        numbers = ", ".join(map(str, sizes))
        raise PositionError(f"hands have {numbers} cards with the trick: all must be equal and not empty")
    return int(sizes[0])


def _stand_in_play(t: Tables, leader: int, trick: Sequence[str]) -> None:
    """A trick about to be led, or led and answered by the plays in ``trick``."""
    plays = [cards_planes(t, text) for text in trick]
    t.held[0] = _equal_hands(t)
    t.leader[0] = t.seat[0] = leader
    t.phase[0] = Phase.LEAD
    engine.refresh(t, ONE_TABLE)
    for k, play in enumerate(plays):
        if t.seat[0] != (leader + k) % 4:
            # R7.3: a play without a choice has been made already; it must be the one that is named.
            made = t.trick[:, 0, (leader + k) % 4]
            if not np.array_equal(made, play[:, 0]):
                raise PositionError(f"{trick[k]!r} is not the play that seat {(leader + k) % 4} must make (R7.3)")
            continue
        for action in play_actions(t, play[:, 0]):
            engine.step(t, [action])


def play_actions(t: Tables, play: planes.Words, n: int = 0) -> list[int]:
    """The actions that make a whole play ``uint64[D]`` at table ``n``: its units, most copies first, then from the
    highest down, less what the rules have set aside already (R7.3)."""
    rest = planes.minus(play, t.planes[:, n, PENDING])
    counts = planes.to_counts(rest)
    slots = sorted(np.flatnonzero(counts), key=lambda s: (-int(counts[s]), -int(s)))
    return [t.actions.card(int(s), int(counts[s])) for s in slots]


def parse(text: str) -> Tables:
    """The position of a text of lines ``key: value`` (:func:`format_position`); ``PositionError`` names a bad one."""
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
        "kitty_shown": _yes(fields, "kitty shown", "yes"),
        "kitty_public": _yes(fields, "kitty public"),
        "dry": _yes(fields, "dry"),
    }
    for key in ("level", "trump", "bid", "void"):
        if key in fields:
            values[key] = fields[key]
    for key in ("dealer", "score", "blood", "bidder", "first", "passes"):
        if key in fields:
            values[key] = _number(fields, key)
    if "seat" in fields:
        values["leader" if phase in ("lead", "follow") else "seat"] = _number(fields, "seat")
    if "levels" in fields:
        values["levels"] = tuple(fields["levels"].split())
    if "trick" in fields:
        values["trick"] = [play.strip() for play in fields["trick"].split("/")]
    return setup(fields.get("rules", "dalian"), **values)


def _yes(fields: dict[str, str], key: str, default: str = "no") -> bool:
    value = fields.get(key, default).lower()
    if value not in ("yes", "no"):
        raise PositionError(f"{key} is {value!r}: write yes or no")
    return value == "yes"


def _number(fields: dict[str, str], key: str) -> int:
    try:
        return int(fields[key])
    except ValueError:
        raise PositionError(f"{key} is {fields[key]!r}: write a whole number") from None


__all__ = ["PHASES", "PositionError", "format_position", "parse", "play_actions", "setup"]
