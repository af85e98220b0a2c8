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


def trump_of(tables: Tables) -> int:
    """Return the trump suit, or spades until it is known; card slots are labelled by it."""
    return max(int(tables.trump[0]), 0)


def legal_names(tables: Tables) -> list[str]:
    """Return the names of the legal actions at table 0."""
    level = int(tables.level[0])
    legal = np.flatnonzero(tables.actions.unpack(tables.legal)[0])
    return [tables.actions.name(int(action), level, trump_of(tables)) for action in legal]


def aside(tables: Tables) -> list[int]:
    """Return the faces that are forced and already set aside, strongest first."""
    return _faces(tables, tables.planes[:, 0, PENDING])


def _faces(tables: Tables, cards: planes.Words) -> list[int]:
    copies = planes.to_counts(cards)
    slots = [slot for slot in range(len(copies) - 1, -1, -1) for _ in range(int(copies[slot]))]
    return to_faces(tables.layout, int(tables.level[0]), trump_of(tables), slots)


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
        raise InvalidMove(
            f"{words!r} is not possible: you must hold it, and it must beat the standing bid (R4.4, R4.5); {allowed}"
        )
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
    slots = Counter(to_slots(tables.layout, int(tables.level[0]), trump_of(tables), faces))
    if phase not in (Phase.LEAD, Phase.FOLLOW):
        return sorted(slots.elements(), reverse=True)
    if phase == Phase.LEAD and len(slots) > 1:
        raise InvalidMove("a lead is one card or several identical ones (R3.1, R7.2)")
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
    if phase == Phase.FOLLOW:
        return _follow_reason(tables)
    choices = "one of: " + ", ".join(legal_names(tables))
    return {
        Phase.TRIBUTE: f"give the largest cards; choose only between equal ones (R5.1), {choices}",
        Phase.RETURN: f"side cards without points go back first, then other cards without points (R5.4), {choices}",
        Phase.BURY: "a small joker may be buried only when all your big jokers are (R6.3)",
        Phase.JOKERS: "only jokers go into the kitty, big ones first (R6.3, R6.5)",
        Phase.PICKUP: f"pick up the smallest cards; choose only between equal ones (R6.5), {choices}",
    }[phase]


def _follow_reason(tables: Tables) -> str:
    suit = suit_word(tables, int(tables.led_suit[0]))
    hand = tables.planes[:, 0, HAND + int(tables.seat[0])]
    number, held = int(tables.led_count[0]), int(planes.count((hand & tables.led_mask[0])[:, None])[0])
    duty = f"{suit} was led and you hold {held}: play {number} of them (R7.3)"
    return duty if tables.rules.follow == "live" else f"{duty}, and in dead following the shape binds too (R7.5)"


def suit_word(tables: Tables, suit: int) -> str:
    """Name the led suit 0..3: trump, or the name of the side suit."""
    if suit == TRUMP:
        return "trump"
    return SUIT_WORDS[SUITS[[s for s in range(4) if s != trump_of(tables)][suit]]]
