"""Records: a game as text that is written, read and played again.

::

    gunzi record 1
    rules dalian 6f0c4a0b9d1e2f33          a preset, or custom and the options as JSON, and the rules' digest
    players greedy, greedy, uniform, uniform
    hand 0 3-3 - 0                         number, levels of the teams, dealer (- in a match's first hand), blood owed
    key 7 0 0 0                            seed, table, match and hand that redeals come from (R4.8)
    deal SA H9 ...                         every card in dealing order
    0 show                                 seat and action, one decision a line
    result 125 dug 0-2                     S, dug or guard, levels gained by the teams

Blank lines and lines that begin with ``#`` are skipped. What the rules refuse is refused on replay.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gunzi_env import engine
from gunzi_env.cards import format_cards, parse_cards
from gunzi_env.chapters.deal import deck_of_draw, draw_of_deck, shuffle
from gunzi_env.planes import U64
from gunzi_env.published import starts
from gunzi_env.rules import Rules, RulesError
from gunzi_env.tables import NOBODY, Phase, Tables

MAGIC = "gunzi record 1"
"""The first line; its number is that of the format."""
_ONE = np.zeros(1, np.intp)
_MAX_LENGTH = 4_000_000
"""Characters; a match of 50 hands has about 300,000."""
_MAX_KEY = 2**64


class RecordError(ValueError):
    """A record that cannot be read or played; the message names the line."""

    exit_code = 3


@dataclass
class HandRecord:
    """One hand: the state it started from, its cards, and every decision as (seat, action in words)."""

    levels: tuple[int, int]
    dealer: int
    """-1 in the first hand of a match (R4.2)."""
    blood: int
    key: tuple[int, int, int, int]
    """Seed, table, match and hand: what redeals come from."""
    deck: list[int]
    """Faces in dealing order."""
    moves: list[tuple[int, str]] = field(default_factory=list)
    result: str = ""


@dataclass
class Record:
    """A game: rules, who played, and its hands."""

    rules: Rules
    players: tuple[str, ...] = ()
    hands: list[HandRecord] = field(default_factory=list)


def begin(t: Tables, n: int = 0, draw: npt.NDArray[np.uint8] | None = None) -> HandRecord:
    """The record of a hand just dealt at table ``n``.

    ``draw[1, D, 54]`` is the prescribed first deal, where :func:`gunzi_env.engine.begin_hand` was given one: a hand
    that was dealt again (R4.8) before its first decision no longer has it.
    """
    here = t.select(np.array([n]))
    if draw is not None:
        here.draw[:] = draw
    elif here.attempt[0]:
        here.attempt[0] = 0
        here.draw[:] = shuffle(here, _ONE)
    return HandRecord(
        levels=(int(t.levels[n, 0]), int(t.levels[n, 1])),
        dealer=NOBODY if t.first_hand[n] else int(t.dealer[n]),
        blood=int(t.blood[n]),
        key=(int(t.seed[n]), int(t.table_id[n]), int(t.match[n]), int(t.hand[n])),
        deck=deck_of_draw(here.draw[0]),
    )


def name_action(t: Tables, action: int, n: int = 0) -> str:
    """An action of table ``n`` in words."""
    return t.actions.name(action, int(t.level[n]), t.trump_or_provisional(n))


def parse_action(t: Tables, text: str, n: int = 0) -> int:
    """The opposite of :func:`name_action`; ``ValueError`` names what is wrong."""
    return t.actions.parse(text, int(t.level[n]), t.trump_or_provisional(n))


def note(hand: HandRecord, t: Tables, action: int, n: int = 0) -> None:
    """Write down a decision that is about to be carried out at table ``n``."""
    hand.moves.append((int(t.seat[n]), name_action(t, action, n)))


def result_text(t: Tables, n: int = 0) -> str:
    """The result of a finished hand in a record's words."""
    gain = f"{t.gain[n, 0]}-{t.gain[n, 1]}"
    return f"{t.score[n]} {'dug' if t.dug[n] else 'guard'} {gain}"


def write(record: Record) -> str:
    """A record as text."""
    rules = record.rules
    name = rules.name if rules.name != "custom" else "custom " + json.dumps(rules.as_dict(), sort_keys=True)
    lines = [MAGIC, f"rules {name} {rules.digest}"]
    if record.players:
        lines.append("players " + ", ".join(_one_line(p) for p in record.players))
    for number, hand in enumerate(record.hands):
        dealer = "-" if hand.dealer == NOBODY else hand.dealer
        lines.append(f"hand {number} {hand.levels[0]}-{hand.levels[1]} {dealer} {hand.blood}")
        lines.append("key " + " ".join(map(str, hand.key)))
        lines.append("deal " + format_cards(hand.deck))
        lines += [f"{seat} {action}" for seat, action in hand.moves]
        lines += [f"result {hand.result}"] if hand.result else []
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """A name that cannot break the format: printable, without separators."""
    return "".join(c if c.isprintable() and c != "," else "?" for c in text) or "?"


def parse(text: str) -> Record:
    """The record of a text; :class:`RecordError` names the first bad line. Actions are checked by :func:`replay`."""
    if not isinstance(text, str):
        raise RecordError(f"a record is text, not {type(text).__name__}")
    text = text.removeprefix("\ufeff")
    if len(text) > _MAX_LENGTH:
        raise RecordError(f"the record has {len(text)} characters, at most {_MAX_LENGTH} are read")
    lines = [
        (number, line.strip())
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines or lines[0][1] != MAGIC:
        raise RecordError(f"no record: the first line must be {MAGIC!r}")
    record: Record | None = None
    for number, line in lines[1:]:
        try:
            word, _, rest = line.partition(" ")
            if record is None:
                if word != "rules":
                    raise ValueError("the rules must come first")
                record = Record(_parse_rules(rest))
            else:
                _parse_line(record, word, rest.strip())
        except RecursionError:
            raise RecordError(f"line {number}: too deeply nested") from None
        except ValueError as error:
            raise RecordError(f"line {number}: {error}") from None
    if record is None:
        raise RecordError("no record: the rules are missing")
    return record


def _parse_rules(rest: str) -> Rules:
    name, _, digest = rest.rpartition(" ")
    if name.startswith("custom "):
        try:
            values = json.loads(name[len("custom ") :])
        except json.JSONDecodeError as error:
            raise ValueError(f"rules are no JSON: {error}") from None
        if not isinstance(values, dict):
            raise ValueError("rules are no JSON object")
        rules = Rules.from_dict(values)
    else:
        rules = Rules.preset(name)
    if rules.digest != digest:
        raise RulesError(f"the rules {name!r} have changed since: their digest is {rules.digest}, not {digest!r}")
    return rules


def _parse_line(record: Record, word: str, rest: str) -> None:
    if word == "players" and not record.hands:
        record.players = tuple(name.strip() for name in rest.split(","))
        return
    if word == "hand":
        record.hands.append(_parse_hand(rest))
        return
    if not record.hands:
        raise ValueError(f"{word!r} before the first hand")
    hand = record.hands[-1]
    if word == "key":
        numbers = [_whole(x, _MAX_KEY) for x in rest.split()]
        if len(numbers) != 4:
            raise ValueError("a key has four numbers: seed, table, match, hand")
        hand.key = (numbers[0], numbers[1], numbers[2] % 2**31, numbers[3] % 2**31)
    elif word == "deal":
        hand.deck = parse_cards(rest)
        draw_of_deck(record.rules, hand.deck)
    elif word == "result":
        hand.result = rest
    elif word in ("0", "1", "2", "3") and not hand.result:
        hand.moves.append((int(word), rest))
    else:
        raise ValueError(f"{word!r} is no keyword here and no seat")


def _parse_hand(rest: str) -> HandRecord:
    words = rest.split()
    levels = words[1].split("-") if len(words) == 4 else []
    if len(levels) != 2:
        raise ValueError("a hand has a number, levels such as 3-3, the dealer or -, and the blood owed")
    _whole(words[0], 10**6)
    dealer = NOBODY if words[2] == "-" else _whole(words[2], 4)
    return HandRecord(
        (_whole(levels[0], 128), _whole(levels[1], 128)), dealer, _whole(words[3], 1000), (0, 0, 0, 0), []
    )


def _whole(text: str, bound: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 20 and int(text) < bound):
        raise ValueError(f"{text[:40]!r} is no whole number below {bound}")
    return int(text)


def start(rules: Rules, hand: HandRecord) -> Tables:
    """One table at the first decision of a recorded hand; :class:`RecordError` if it could not begin so."""
    t = Tables(rules, 1)
    if not hand.deck:
        raise RecordError("the hand has no deal")
    try:
        starts.check(rules, hand.levels, hand.dealer, hand.blood)
    except ValueError as error:
        raise RecordError(str(error)) from None
    engine.reset(t, hand.key[0], begin=False)
    t.table_id[0], t.match[0], t.hand[0] = U64(hand.key[1]), hand.key[2], hand.key[3]
    engine.begin_hand(
        t,
        _ONE,
        levels=np.array([hand.levels]),
        dealer=np.array([hand.dealer]),
        blood=np.array([hand.blood]),
        draw=draw_of_deck(rules, hand.deck),
    )
    return t


def replay_hand(rules: Rules, hand: HandRecord) -> Iterator[tuple[Tables, str]]:
    """Play a recorded hand again: the table before each decision with the decision, at last the table and ``""``.

    The same table is yielded and advanced each time; :class:`RecordError` names the ply that the rules refuse.
    """
    t = start(rules, hand)
    for ply, (seat, text) in enumerate(hand.moves):
        if t.phase[0] == Phase.OVER:
            raise RecordError(f"ply {ply}: {text!r} after the end of the hand")
        if seat != t.seat[0]:
            raise RecordError(f"ply {ply}: seat {seat} plays {text[:40]!r}, but seat {t.seat[0]} is to move")
        yield t, text
        try:
            engine.step(t, [parse_action(t, text)])
        except ValueError as error:
            raise RecordError(f"ply {ply}: {error}") from None
    if hand.result and hand.result != (result_text(t) if t.phase[0] == Phase.OVER else ""):
        raise RecordError(f"the hand is recorded as {hand.result!r}, played again it is not")
    yield t, ""


def replay(record: Record | str) -> Tables:
    """Play a whole record (or its text) again; the table as it stands after the last decision of the last hand."""
    record = parse(record) if isinstance(record, str) else record
    if not record.hands:
        raise RecordError("the record has no hands")
    last = None
    for hand in record.hands:
        for t, _ in replay_hand(record.rules, hand):
            last = t
    assert last is not None
    return last


class Recorder:
    """Keeps the record of the games at one table."""

    def __init__(self, rules: Rules, players: Sequence[str] = ()) -> None:
        self.record = Record(rules, tuple(players))

    def begin(self, t: Tables, n: int = 0, draw: npt.NDArray[np.uint8] | None = None) -> None:
        """A hand was dealt at table ``n``, from the prescribed first deal ``draw[1, D, 54]`` if there was one."""
        self.record.hands.append(begin(t, n, draw))

    def note(self, t: Tables, action: int, n: int = 0) -> None:
        """A decision is about to be carried out."""
        note(self.record.hands[-1], t, action, n)

    def end(self, t: Tables, n: int = 0) -> None:
        """The hand is over."""
        self.record.hands[-1].result = result_text(t, n)

    def text(self) -> str:
        """What was recorded so far."""
        return write(self.record)
