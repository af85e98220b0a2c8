"""Parsing a person's answers: a whole play as text becomes actions, checked on a copy of the table."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gunzi_env import engine, planes
from gunzi_env.cards import BIG_JOKER, FACE_NAMES, SMALL_JOKER, SUITS, format_cards, parse_hand
from gunzi_env.order import TRUMP, to_faces, to_slots
from gunzi_env.position import play_actions
from gunzi_env.rulebook import cards_planes
from gunzi_env.tables import HAND, PENDING, Phase, Tables
from gunzi_eval.table.narrator import SUIT_WORDS

CHOICES = (Phase.TRIBUTE, Phase.RETURN, Phase.BURY, Phase.PICKUP)
"""Phases in which a set of cards is chosen one card at a time."""


class InvalidMove(ValueError):
    """An answer that cannot be played; the message gives the reason and the legal answers."""


def legal_names(tables: Tables) -> list[str]:
    """Return the names of the legal actions at table 0."""
    level = int(tables.level[0])
    legal = np.flatnonzero(tables.actions.unpack(tables.legal)[0])
    return [tables.actions.name(int(action), level, tables.trump_or_provisional(0)) for action in legal]


def aside(tables: Tables) -> list[int]:
    """Return the faces that are forced and already set aside, strongest first."""
    return _faces(tables, tables.planes[:, 0, PENDING])


def _faces(tables: Tables, cards: planes.Words) -> list[int]:
    copies = planes.to_counts(cards)
    slots = [slot for slot in range(len(copies) - 1, -1, -1) for _ in range(int(copies[slot]))]
    return to_faces(tables.layout, int(tables.level[0]), tables.trump_or_provisional(0), slots)


def actions_of(tables: Tables, text: str) -> list[int]:
    """Parse an answer into actions in the engine's order; a play of several units is several actions.

    Raises:
        InvalidMove: the answer cannot be parsed, or the rules do not allow it.
    """
    phase = Phase(int(tables.phase[0]))
    if phase <= Phase.BID or text.lower() == "pass":
        return [_word(tables, text)]
    try:
        faces = parse_hand(text, tables.rules.decks)
    except ValueError as error:
        raise InvalidMove(str(error)) from None
    if not faces:
        raise InvalidMove("name the cards to play, such as H9 H9")
    actions = _units(tables, phase, _own(tables, phase, faces))
    return _tried(tables, phase, actions)


def _word(tables: Tables, text: str) -> int:
    """Parse a bid, show or pass."""
    allowed = f"answer {' or '.join(legal_names(tables))}"
    words = text if text.lower() in ("pass", "show") or text.lower().startswith("bid") else f"bid {text}"
    try:
        action = tables.actions.parse(
            words.lower() if words.lower() in ("pass", "show") else words, int(tables.level[0])
        )
    except ValueError:
        raise InvalidMove(f"{text!r} is not a bid; {allowed}") from None
    if not tables.actions.unpack(tables.legal)[0, action]:
        if tables.phase[0] > Phase.BID:
            raise InvalidMove("you cannot pass here")
        raise InvalidMove(f"{words!r} is not possible: {engine.REFUSALS[Phase(int(tables.phase[0]))]}; {allowed}")
    return action


def _own(tables: Tables, phase: Phase, faces: list[int]) -> list[int]:
    """Return the faces to play, after checking number and possession; cards set aside may be repeated or omitted."""
    forced, named = Counter(aside(tables)), Counter(faces)
    need = int(tables.need[0])
    if phase == Phase.JOKERS:
        jokers = sum(face in (SMALL_JOKER, BIG_JOKER) for face in faces)
        most = int(tables.pickable[0]) - len(aside(tables))
        if jokers > most:
            raise InvalidMove(f"the kitty takes only {most} joker{'s' * (most != 1)} (R6.5), you named {jokers}")
    if phase in (Phase.LEAD, Phase.JOKERS):
        forced = Counter()
    elif len(faces) == need + forced.total() and forced <= named:
        named -= forced
    elif len(faces) != need:
        whole = f" (or all {need + forced.total()} with {format_cards(aside(tables))})" if forced else ""
        raise InvalidMove(f"name {need} card{'s' * (need != 1)}{whole}, not {len(faces)}")
    source = HAND + int(tables.seat[0]) if phase not in CHOICES else int(tables.source[0])
    held = Counter(_faces(tables, tables.planes[:, 0, source]))
    for face, copies in named.items():
        if held[face] < copies:
            there = f"there is {held[face] or 'none'}" if phase == Phase.PICKUP else f"you hold {held[face] or 'none'}"
            raise InvalidMove(f"{FACE_NAMES[face]}: {there}, you named {copies}")
    return list(named.elements())


def _units(tables: Tables, phase: Phase, faces: list[int]) -> list[int]:
    """Convert faces to units, in the order that the engine expects."""
    slots = Counter(to_slots(tables.layout, int(tables.level[0]), tables.trump_or_provisional(0), faces))
    if phase not in (Phase.LEAD, Phase.FOLLOW):
        return sorted(slots.elements(), reverse=True)
    if phase == Phase.LEAD and len(slots) > 1:
        raise InvalidMove(engine.REFUSALS[phase])
    whole = cards_planes(tables, format_cards([*faces, *(aside(tables) if phase == Phase.FOLLOW else [])]))
    return play_actions(tables, whole[:, 0])


def _tried(tables: Tables, phase: Phase, actions: list[int]) -> list[int]:
    """Try the actions on a copy of the table; a choice of jokers is completed with a pass."""
    trial, asked = tables.clone(), (phase, int(tables.seat[0]))
    for action in actions:
        # Once the question is answered, the next action would answer another question, perhaps of another seat.
        if (trial.phase[0], trial.seat[0]) != asked or not trial.actions.unpack(trial.legal)[0, action]:
            raise InvalidMove(_reason(tables, phase))
        engine.step(trial, np.array([action]))
    if phase == Phase.JOKERS and (trial.phase[0], trial.seat[0]) == asked:
        actions = [*actions, tables.actions.PASS]
    return actions


def _reason(tables: Tables, phase: Phase) -> str:
    """Explain why the rules do not allow cards that are held and of the right number."""
    reason = engine.REFUSALS[phase]
    if phase in (Phase.TRIBUTE, Phase.RETURN, Phase.PICKUP):
        return f"{reason}: one of {', '.join(legal_names(tables))}"
    if phase != Phase.FOLLOW:
        return reason
    suit = suit_word(tables, int(tables.led_suit[0]))
    hand = tables.planes[:, 0, HAND + int(tables.seat[0])]
    number, of_suit = int(tables.led_count[0]), int(planes.count((hand & tables.led_mask[0])[:, None])[0])
    return f"{suit} was led and you hold {of_suit}: play {min(number, of_suit)} of them; {reason}"


def suit_word(tables: Tables, suit: int) -> str:
    """Name the led suit 0..3: trump, or the name of the side suit."""
    if suit == TRUMP:
        return "trump"
    return SUIT_WORDS[SUITS[[s for s in range(4) if s != tables.trump_or_provisional(0)][suit]]]
