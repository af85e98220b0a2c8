"""A person's answers as actions: whole plays in text, checked on a copy, refused with a reason."""

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
"""Phases in which a set of cards is named one by one."""


class Refused(ValueError):
    """An answer that cannot be played; the message says why and what can."""


def legal_names(tables: Tables) -> list[str]:
    """The next legal actions of table 0 by name."""
    level = int(tables.level[0])
    legal = np.flatnonzero(tables.actions.unpack(tables.legal)[0])
    return [tables.actions.name(int(action), level, tables.trump_or_provisional(0)) for action in legal]


def aside(tables: Tables) -> list[int]:
    """The faces that are forced and set aside already, strongest first."""
    return _faces(tables, tables.planes[:, 0, PENDING])


def _faces(tables: Tables, cards: planes.Words) -> list[int]:
    copies = planes.to_counts(cards)
    slots = [slot for slot in range(len(copies) - 1, -1, -1) for _ in range(int(copies[slot]))]
    return to_faces(tables.layout, int(tables.level[0]), tables.trump_or_provisional(0), slots)


def actions_of(tables: Tables, text: str) -> list[int]:
    """The actions that an answer stands for, in the engine's order: a play of several units is several actions.

    Raises:
        Refused: it cannot be read, or the rules do not allow it.
    """
    phase = Phase(int(tables.phase[0]))
    if phase <= Phase.BID or text.lower() == "pass":
        return [_word(tables, text)]
    try:
        faces = parse_hand(text, tables.rules.decks)
    except ValueError as error:
        raise Refused(str(error)) from None
    if not faces:
        raise Refused("name the cards to play, such as H9 H9")
    actions = _units(tables, phase, _own(tables, phase, faces))
    return _tried(tables, phase, actions)


def _word(tables: Tables, text: str) -> int:
    """A bid, show or pass."""
    allowed = f"answer {' or '.join(legal_names(tables))}"
    words = text if text.lower() in ("pass", "show") or text.lower().startswith("bid") else f"bid {text}"
    try:
        action = tables.actions.parse(
            words.lower() if words.lower() in ("pass", "show") else words, int(tables.level[0])
        )
    except ValueError:
        raise Refused(f"{text!r} is no bid; {allowed}") from None
    if not tables.actions.unpack(tables.legal)[0, action]:
        if tables.phase[0] > Phase.BID:
            raise Refused("you cannot pass here")
        raise Refused(f"{words!r} is not possible: {engine.REFUSALS[Phase(int(tables.phase[0]))]}; {allowed}")
    return action


def _own(tables: Tables, phase: Phase, faces: list[int]) -> list[int]:
    """The faces still to be named, after checking number and possession; cards set aside may be named again or not."""
    forced, named = Counter(aside(tables)), Counter(faces)
    need = int(tables.need[0])
    if phase == Phase.JOKERS:
        jokers = sum(face in (SMALL_JOKER, BIG_JOKER) for face in faces)
        most = int(tables.pickable[0]) - len(aside(tables))
        if jokers > most:
            raise Refused(f"the kitty takes only {most} joker{'s' * (most != 1)} (R6.5), you named {jokers}")
    if phase in (Phase.LEAD, Phase.JOKERS):
        forced = Counter()
    elif len(faces) == need + forced.total() and forced <= named:
        named -= forced
    elif len(faces) != need:
        whole = f" (or all {need + forced.total()} with {format_cards(aside(tables))})" if forced else ""
        raise Refused(f"name {need} card{'s' * (need != 1)}{whole}, not {len(faces)}")
    source = HAND + int(tables.seat[0]) if phase not in CHOICES else int(tables.source[0])
    held = Counter(_faces(tables, tables.planes[:, 0, source]))
    for face, copies in named.items():
        if held[face] < copies:
            there = f"there is {held[face] or 'none'}" if phase == Phase.PICKUP else f"you hold {held[face] or 'none'}"
            raise Refused(f"{FACE_NAMES[face]}: {there}, you named {copies}")
    return list(named.elements())


def _units(tables: Tables, phase: Phase, faces: list[int]) -> list[int]:
    """Faces as units, in the order in which the engine wants them."""
    slots = Counter(to_slots(tables.layout, int(tables.level[0]), tables.trump_or_provisional(0), faces))
    if phase not in (Phase.LEAD, Phase.FOLLOW):
        return sorted(slots.elements(), reverse=True)
    if phase == Phase.LEAD and len(slots) > 1:
        raise Refused(engine.REFUSALS[phase])
    whole = cards_planes(tables, format_cards([*faces, *(aside(tables) if phase == Phase.FOLLOW else [])]))
    return play_actions(tables, whole[:, 0])


def _tried(tables: Tables, phase: Phase, actions: list[int]) -> list[int]:
    """The actions, after they were carried out on a copy; a choice of jokers is closed with a pass."""
    trial, asked = tables.clone(), (phase, int(tables.seat[0]))
    for action in actions:
        # Once the question is answered, the next action would answer another one, perhaps another seat's.
        if (trial.phase[0], trial.seat[0]) != asked or not trial.actions.unpack(trial.legal)[0, action]:
            raise Refused(_reason(tables, phase))
        engine.step(trial, np.array([action]))
    if phase == Phase.JOKERS and (trial.phase[0], trial.seat[0]) == asked:
        actions = [*actions, tables.actions.PASS]
    return actions


def _reason(tables: Tables, phase: Phase) -> str:
    """Why the rules refuse cards that are held and of the right number."""
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
    """A led suit 0..3 in words: trump, or the side suit's name."""
    if suit == TRUMP:
        return "trump"
    return SUIT_WORDS[SUITS[[s for s in range(4) if s != tables.trump_or_provisional(0)][suit]]]
