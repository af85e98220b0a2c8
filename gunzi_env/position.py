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
from gunzi_env.cards import FACE_NAMES, SUITS, parse_cards, parse_hand, parse_suit, rank_name
from gunzi_env.rulebook import ONE_TABLE, Source, cards_planes, cards_text, parse_bid, parse_level
from gunzi_env.rules import RulesError, load_rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, STOCK, Phase, Tables

PHASES = ("show", "bid", "tribute", "bury", "jokers", "lead", "follow")
"""Where a position can stand, about to ask a question of that phase; ``follow`` is ``lead`` with a trick begun."""


_OUT_OF_PLAY = 255
"""In ``draw``: later than all cards."""


class PositionError(ValueError):
    """A position that cannot be; the message names the field."""

    exit_code = 2


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
    kitty_public: bool = False,
    dry: bool = False,
    played: Sequence[str] = ("", "", "", ""),
    void: str = "",
    score: int = 0,
    blood: int = 0,
    bid: str | None = None,
    bidder: int = 0,
    first: int | None = None,
    passes: int = 0,
) -> Tables:
    """One table in this position; :class:`PositionError` names what does not fit.

    ``hands`` are those of seats 0 to 3. ``trick`` holds the plays of a trick begun, from the leader on; its
    cards stand besides the hands. ``seat`` is who is asked in the phases show, bid and jokers. For ``bury`` the
    kitty is what the dealer is about to take, later what lies buried. ``void`` lists proven voids as seat and
    suit (``T`` for trumps): ``"1H 3T"``. ``bid`` is the standing bid as in :func:`gunzi_env.rulebook.bid_beats`.
    """
    rules = load_rules(rules)
    t = Tables(rules, 1)
    _check_phase(phase, trick)
    _check_seats(dealer=dealer, bidder=bidder, leader=leader, seat=seat, first=first, passes=passes)
    level = parse_level(rules, level)
    both = [level, level] if levels is None else [parse_level(rules, x) for x in levels]
    starts.check(rules, tuple(both), dealer, blood)
    if both[dealer & 1] != level:
        raise PositionError(f"level is {level}, but the dealer's team is on {both[dealer & 1]} (R2.1)")
    if isinstance(score, bool) or score % 5 or not 0 <= score <= rules.max_score:
        raise PositionError(f"score is {score!r}: it must be a multiple of 5 within 0..{rules.max_score} (R8.4)")
    engine.clear(t, ONE_TABLE)
    t.dealer[0], t.level[0], t.trump[0], t.levels[0] = dealer, level, parse_suit(trump), both
    t.score[0], t.blood[0], t.first[0] = score, blood, dealer if first is None else first
    t.drawn[0] = rules.num_dealt
    t.kitty_shown[0] = True
    _lay_out(t, phase, hands, kitty_cards, played, trick)
    _mark_voids(t, void)
    t.dry[0], t.kitty_public[0] = dry, kitty_public or dry
    if phase in ("tribute", "bury", "jokers"):
        t.held[0] = _equal_hands(t)
    if phase in ("show", "bid"):
        _stand_in_bidding(t, phase, int(t.first[0]) if seat is None else seat, bid, bidder, passes)
    elif phase in ("tribute", "bury"):
        engine.enter_chapters(t, ONE_TABLE, Phase.TRIBUTE if phase == "tribute" else Phase.BURY)
    elif phase == "jokers":
        _stand_at_jokers(t, (dealer + 1) % 4 if seat is None else seat)
    else:
        _stand_in_play(t, dealer if leader is None else leader, trick)
    engine.refresh(t, ONE_TABLE)
    return t


def _check_phase(phase: str, trick: Sequence[str]) -> None:
    if phase not in PHASES:
        raise PositionError(f"phase is {phase!r}: it must be one of {', '.join(PHASES)}")
    if (phase == "follow") != bool(trick) and phase != "lead":
        raise PositionError(f"phase is {phase!r} and the trick has {len(trick)} plays: only in follow it has some")


def _check_seats(**seats: int | None) -> None:
    for name, number in seats.items():
        if number is not None and (isinstance(number, bool) or number not in range(4)):
            raise PositionError(f"{name} is {number!r}: it must be within 0..3")


def _lay_out(
    t: Tables, phase: str, hands: Sequence[str], kitty_cards: str, played: Sequence[str], trick: Sequence[str]
) -> None:
    """Every named card to its place, the rest to the stock."""
    if len(hands) != 4 or len(played) != 4:
        raise PositionError("hands (and played) must be those of four seats")
    decks = t.rules.decks
    texts = {HAND + s: hands[s] for s in range(4)} | {KITTY: kitty_cards} | {PLAYED + s: played[s] for s in range(4)}
    named = Counter(f for text in [*texts.values(), *trick] for f in parse_cards(text))
    for face, number in named.items():
        if number > decks:
            raise PositionError(f"{number} copies of {FACE_NAMES[face]} in all: there are {decks}")
    trump = order.PROVISIONAL_TRUMP if phase in ("show", "bid") else int(t.trump[0])
    rest = np.full(54, decks)
    for holder, text in texts.items():
        counts = np.zeros((1, 54), int)
        np.add.at(counts[0], order.to_slots(t.layout, int(t.level[0]), trump, parse_hand(text, decks)), 1)
        t.put(ONE_TABLE, holder, planes.from_counts(counts, decks))
        rest -= counts[0]
    t.put(ONE_TABLE, STOCK, planes.from_counts(rest[None], decks))
    if phase in ("show", "bid"):
        t.trump[0] = NOBODY
        _prescribe_deal(t, hands, kitty_cards)


def _prescribe_deal(t: Tables, hands: Sequence[str], kitty_cards: str) -> None:
    """Positions in the deal that give these hands and this kitty: the end of the bidding lays them out anew."""
    t.draw[0] = _OUT_OF_PLAY
    copies: Counter[int] = Counter()
    places = [(f, 4 * k + (s - int(t.first[0])) % 4) for s in range(4) for k, f in enumerate(parse_cards(hands[s]))]
    places += [(f, t.rules.num_dealt + k) for k, f in enumerate(parse_cards(kitty_cards))]
    for face, place in sorted(places, key=lambda pair: pair[1]):
        t.draw[0, copies[face], face] = place
        copies[face] += 1


def _mark_voids(t: Tables, void: str) -> None:
    blocks = [SUITS[s] for s in range(4) if s != t.trump[0]] + ["T"]
    for token in void.split():
        if len(token) != 2 or token[0] not in "0123" or token[1] not in blocks:
            raise PositionError(
                f"void names {token!r}: write a seat and a suit of {' '.join(blocks)}, as in 1{blocks[0]}"
            )
        t.void[0, int(token[0]), blocks.index(token[1])] = True


def _stand_in_bidding(t: Tables, phase: str, seat: int, bid: str | None, bidder: int, passes: int) -> None:
    """In the closing window (R4.6), ``seat`` to decide."""
    t.phase[0] = Phase.SHOW if phase == "show" else Phase.BID
    t.first_hand[0] = phase == "show"
    t.passes[0] = passes
    t.seat[0] = seat
    if phase == "show":
        t.dealer[0] = NOBODY
    t.bid_suit[0] = t.bid_seat[0] = NOBODY
    if bid is not None:
        t.bid_strength[0], t.bid_suit[0], t.bid_seat[0] = parse_bid(t.rules, bid), parse_suit(bid[-1]), bidder
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
    for k, play in enumerate(plays):
        seat = (leader + k) % 4
        t.put(ONE_TABLE, HAND + seat, planes.add(t.holder(ONE_TABLE, np.array([HAND + seat])), play))
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


def format_position(t: Tables, n: int = 0) -> str:
    """Table ``n`` as text for :func:`parse`; ``PositionError`` in the middle of a choice, where a record is needed."""
    here = t.select(np.array([n]))
    phase = Phase(here.phase[0])
    # In a trick, what a player short of the suit has set aside returns to his hand: it is set aside again.
    hands = here.planes[:, 0, HAND : HAND + 4].copy()
    if phase == Phase.FOLLOW:
        pending = here.planes[:, 0, PENDING]
        # Only a player who is out of the led suit has cards set aside before he is asked (R7.3): all that he had of it.
        left = hands[0, here.seat[0]] & here.led_mask[0]
        if (pending[0] & ~here.led_mask[0]) or (pending[0] and left):
            raise PositionError("a play is half made: write a record instead")
        hands[:, here.seat[0]] = planes.add(hands[:, here.seat[0]], pending)
    elif phase not in (Phase.LEAD, Phase.JOKERS, Phase.SHOW, Phase.BID) or here.planes[0, 0, PENDING]:
        raise PositionError(f"phase {phase.name.lower()} is in the middle of a choice: write a record instead")
    if phase <= Phase.BID and here.passes[0] < 0:
        raise PositionError("cards are still being dealt: write a record instead")
    return "\n".join(f"{key}: {value}".rstrip() for key, value in _fields(here, phase, hands).items())


def _fields(t: Tables, phase: Phase, hands: planes.Words) -> dict[str, Any]:
    name = t.rules.name
    if name == "custom":
        raise PositionError("rules that are no preset cannot be named in a position: write a record instead")
    out: dict[str, Any] = {"rules": name, "phase": phase.name.lower(), "level": rank_name(int(t.level[0]))}
    if t.trump[0] != NOBODY:
        out["trump"] = SUITS[t.trump[0]]
    out["levels"] = " ".join(rank_name(int(level)) for level in t.levels[0])
    if t.dealer[0] != NOBODY:
        out["dealer"] = t.dealer[0]
    out["seat"] = t.leader[0] if phase == Phase.FOLLOW else t.seat[0]
    if phase >= Phase.LEAD:
        out["score"] = t.score[0]
    out |= {"blood": t.blood[0]} if t.blood[0] else {}
    if phase <= Phase.BID:
        out |= {"first": t.first[0], "passes": t.passes[0]}
    if phase == Phase.BID and t.bid_strength[0]:
        strength, decks = int(t.bid_strength[0]), t.rules.decks
        kind = "" if strength <= decks else "LJ:" if strength == decks + 1 else "BJ:"
        out |= {"bid": f"{min(strength, decks)}x{kind}{SUITS[t.bid_suit[0]]}", "bidder": t.bid_seat[0]}
    out |= {f"hand {s}": cards_text(t, hands[:, s]) for s in range(4)}
    if t.planes[0, 0, KITTY]:
        out["kitty"] = cards_text(t, t.planes[:, 0, KITTY])
    out |= {"kitty public": "yes"} if t.kitty_public[0] and not t.dry[0] else {}
    out |= {"dry": "yes"} if t.dry[0] else {}
    seats = [(int(t.leader[0]) + k) % 4 for k in range(4)]
    plays = [cards_text(t, t.trick[:, 0, s]) for s in seats if t.trick[0, 0, s]]
    out |= {"trick": " / ".join(plays)} if plays else {}
    for s in range(4):
        before = planes.minus(t.planes[:, 0, PLAYED + s], t.trick[:, 0, s])
        out |= {f"played {s}": cards_text(t, before)} if before[0] else {}
    blocks = [SUITS[s] for s in range(4) if s != t.trump[0]] + ["T"]
    voids = [f"{s}{blocks[c]}" for s in range(4) for c in range(4) if t.void[0, s, c]]
    out |= {"void": " ".join(voids)} if voids else {}
    return out


_KEYS = (
    [
        "rules",
        "phase",
        "level",
        "trump",
        "levels",
        "dealer",
        "seat",
        "score",
        "blood",
        "bid",
        "bidder",
        "first",
        "passes",
        "kitty",
        "dry",
        "trick",
        "void",
    ]
    + ["kitty public"]
    + [f"{name} {s}" for name in ("hand", "played") for s in range(4)]
)


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
        if not colon or key not in _KEYS:
            raise PositionError(f"unknown line {line.strip()!r}: the keys are {', '.join(sorted(_KEYS))}")
        if key in fields:
            raise PositionError(f"{key!r} is given twice")
        fields[key] = value.strip()
    phase = fields.get("phase", "lead")
    values: dict[str, Any] = {
        "hands": [fields.get(f"hand {s}", "") for s in range(4)],
        "played": [fields.get(f"played {s}", "") for s in range(4)],
        "phase": phase,
        "kitty_cards": fields.get("kitty", ""),
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
