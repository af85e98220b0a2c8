"""Worlds that a seat cannot tell apart, all that is sent to a seat, and tables turned by some seats."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gunzi_env import Rules, engine, observe, planes, render
from gunzi_env.aec import AGENTS, raw_env
from gunzi_env.chapters.deal import deck_of_draw, draw_of_deck, reveal
from gunzi_env.chapters.tribute import giveable_mask
from gunzi_env.order import JOKERS, PROVISIONAL_TRUMP
from gunzi_env.planes import U64
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, STOCK, Phase, Tables
from gunzi_env.testing import random_actions
from gunzi_env.views import View

ONE = np.zeros(1, np.intp)
VIEW_FIELDS = list(View.schema_of(3).fields)


def deal(rules: Rules, tables: int, seed: int) -> Tables:
    """Hands from the published start states."""
    t = Tables(rules, tables)
    engine.deal_hands(t, seed)
    return t


def random_steps(t: Tables, seed: int, pass_probability: float = 0.5) -> None:
    """Advance each table by one random action."""
    keys = np.random.default_rng(seed).integers(2**63, size=t.num).astype(U64)
    engine.step(t, random_actions(t, keys, pass_probability))


@cache
def _environment(rules: Rules) -> raw_env:
    return raw_env(rules)


def sent(t: Tables, viewer: int, *, aec: bool = True) -> dict[str, bytes]:
    """All that is sent to a seat of table 0, by name: View, encoding, picture and what the AEC environment tells."""
    view = observe.view(t, ONE, np.array([viewer], np.int8))
    out = {f"View.{name}": np.ascontiguousarray(getattr(view, name)).tobytes() for name in VIEW_FIELDS}
    out["encode"] = observe.encode(view).tobytes()
    out["ansi"] = render.ansi(t, 0, seat=viewer).encode()
    if not aec:
        return out
    env, agent = _environment(t.rules), AGENTS[viewer]
    env.reset(seed=0, options={"position": t})
    out |= {f"aec.observe {key}": value.tobytes() for key, value in env.observe(agent).items()}
    out["aec.infos"] = env.infos[agent]["action_mask"].tobytes()
    out["aec.view"] = observe.encode(env.view(agent)).tobytes()
    if env.agent_selection == agent:
        observation, *rest = env.last()
        info = rest.pop()
        out |= {f"aec.last {key}": value.tobytes() for key, value in observation.items()}
        out["aec.last"] = repr(rest).encode() + info["action_mask"].tobytes()
    return out


def differences(a: dict[str, bytes], b: dict[str, bytes]) -> list[str]:
    """The names of what differs."""
    return [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]


class Leak(AssertionError):
    """A seat was sent something that depends on what it cannot know."""


def check_hidden(t: Tables, viewer: int, rng: np.random.Generator, *, consistent: bool) -> bool:
    """Compare what ``viewer`` is sent in two worlds; :class:`Leak` names what differs. Did cards change places?"""
    other = other_world(t, viewer, rng, consistent=consistent)
    found = differences(sent(t, viewer), sent(other, viewer))
    if found:
        raise Leak(
            f"seat {viewer} is sent {found} of what it cannot know: phase {Phase(t.phase[0]).name}, seat to move "
            f"{t.seat[0]}, dealer {t.dealer[0]}, rules {t.rules.name}, seed {t.seed[0]}, table {t.table_id[0]}"
        )
    return not np.array_equal(t.planes, other.planes)


def other_world(t: Tables, viewer: int, rng: np.random.Generator, *, consistent: bool) -> Tables:
    """Table 0 with all that ``viewer`` cannot know changed.

    ``consistent`` keeps to the worlds that fit everything he knows (voids, cards known to be with a seat, the
    largest cards given); else hidden cards may lie anywhere, which asks more of the code.
    """
    out = t.clone()
    if t.phase[0] <= Phase.BID:
        _deal_otherwise(out, viewer, rng)
    else:
        _lay_otherwise(out, viewer, rng, consistent)
        deck = rng.permutation(deck_of_draw(t.draw[0]))
        out.draw[:] = draw_of_deck(t.rules, [int(f) for f in deck])
    if t.returned[0, 0] and viewer not in (t.giver[0], t.receiver[0]):  # R5.4: seen by the two alone
        cards = np.repeat(np.arange(54), planes.to_counts(out.planes[:, 0, HAND + int(t.giver[0])]))
        back = rng.permutation(cards)[: int(planes.count(t.returned[:, 0]))]
        out.returned[:, 0] = planes.from_counts(np.bincount(back, minlength=54), t.rules.decks)
    out.seed[0], out.table_id[0] = rng.integers(2**63, size=2, dtype=np.uint64)
    if t.phase[0] == Phase.OVER:
        return out
    if t.seat[0] == viewer:
        engine.refresh(out, ONE)  # his choices follow from his own cards
    else:
        _scramble_decision(out, viewer, rng, int(t.need[0] + planes.count(t.planes[:, 0, PENDING])))
    return out


def _deal_otherwise(t: Tables, viewer: int, rng: np.random.Generator) -> None:
    """While dealing: other cards for the others and for all to come; what has been shown stays (R4.4)."""
    deck = deck_of_draw(t.draw[0])
    drawn, face = int(t.drawn[0]), t.layout.face_of_slot[t.level[0], PROVISIONAL_TRUMP]
    shown = {s: np.repeat(face, planes.to_counts(t.shown[:, 0, s])).tolist() for s in range(4)}
    free = []
    for position, card in enumerate(deck):
        owner = (position + int(t.first[0])) % 4 if position < t.rules.num_dealt else NOBODY
        if position < drawn and owner == viewer:
            continue
        if position < drawn and owner != NOBODY and card in shown[owner]:
            shown[owner].remove(card)
            continue
        free.append(position)
    for position, card in zip(free, rng.permutation([deck[p] for p in free]), strict=True):
        deck[position] = int(card)
    t.draw[:] = draw_of_deck(t.rules, deck)
    reveal(t, ONE)


def _lay_otherwise(t: Tables, viewer: int, rng: np.random.Generator, consistent: bool) -> None:
    """After the deal: other cards in the hands and in the kitty, where he does not know them."""
    if t.seat[0] != viewer and t.phase[0] not in (Phase.PICKUP, Phase.OVER):
        mover = HAND + int(t.seat[0])  # what the mover has set aside is his own affair
        t.planes[:, 0, mover] = planes.add(t.planes[:, 0, mover], t.planes[:, 0, PENDING])
        t.planes[:, 0, PENDING] = U64(0)
    knows_kitty = t.kitty_public[0] or (viewer == t.dealer[0] and t.phase[0] >= Phase.JOKERS)
    places = [HAND + s for s in range(4) if s != viewer] + [STOCK] + ([] if knows_kitty else [KITTY])
    held = {place: planes.to_counts(t.planes[:, 0, place]).astype(int) for place in places}
    loose = np.zeros(54, int)
    forbidden = dict.fromkeys(places, 0)
    fixed = {place: np.zeros(54, int) for place in places}
    if consistent:
        loose = planes.to_counts(t.loose[:, 0]).astype(int)
        fixed, forbidden = _fixed(t, viewer, places), {place: _forbidden(t, place, viewer) for place in places}
    fixed = {place: np.minimum(held[place], fixed[place]) for place in places}
    cards: list[list[Any]] = []  # [slot, place, is it known to be with the dealer or in the kitty?]
    for place in places:
        for slot in np.repeat(np.arange(54), held[place] - fixed[place]):
            if forbidden[place] >> int(slot) & 1:
                fixed[place][slot] += 1
                continue
            tied = place in (HAND + int(t.dealer[0]), KITTY) and loose[slot] > 0
            loose[slot] -= tied
            cards.append([int(slot), place, bool(tied)])
    _swap(t, cards, forbidden, rng, consistent)
    for place in places:
        counts = fixed[place].copy()
        np.add.at(counts, [slot for slot, where, _ in cards if where == place], 1)
        t.planes[:, 0, place] = planes.from_counts(counts, t.rules.decks)


def _swap(t: Tables, cards: list[list[Any]], forbidden: dict[int, int], rng: np.random.Generator, strict: bool) -> None:
    """Exchange cards between places as long as all that is public allows it."""
    if not cards:
        return
    both = (HAND + int(t.dealer[0]), KITTY)
    points = int(t.layout.point_cards[t.level[0]])
    buried = strict and t.phase[0] >= Phase.JOKERS
    for i, j in rng.integers(len(cards), size=(3 * len(cards), 2)).tolist():
        (one, here, tied), (two, there, held) = cards[i], cards[j]
        if here == there or (tied and there not in both) or (held and here not in both):
            continue
        if forbidden[there] >> one & 1 or forbidden[here] >> two & 1:
            continue
        # R6.5: the dealer has said how many cards can be picked up.
        if buried and KITTY in (here, there) and (points >> one & 1) != (points >> two & 1):
            continue
        cards[i][1], cards[j][1] = there, here


def _fixed(t: Tables, viewer: int, places: list[int]) -> dict[int, Any]:
    """Cards that ``viewer`` knows to be in a place: shown, given, returned to or by him, picked up, turned up."""
    out = {}
    for place in places:
        counts = np.zeros(54, int)
        if HAND <= place < KITTY:
            seat = place - HAND
            counts += planes.to_counts(planes.minus(t.known[:, 0, seat], t.planes[:, 0, PLAYED + seat]))
            if viewer == t.receiver[0] and seat == t.giver[0]:
                counts += planes.to_counts(t.returned[:, 0])
            if seat == t.dealer[0] and t.first_hand[0]:
                # R4.2: the suit came from a card that the dealer drew.
                suit = t.layout.face_of_slot[t.level[0], t.trump[0]] // 13 == t.trump[0]
                mine = np.flatnonzero(suit & (planes.to_counts(t.planes[:, 0, place]) > counts))
                counts[mine[:1]] += 1
        if place == KITTY and t.phase[0] < Phase.BURY:
            counts += planes.to_counts(t.turned[:, 0])
        out[place] = counts
    return out


def _forbidden(t: Tables, place: int, viewer: int) -> int:
    """Slots that nobody who has seen what happened would look for in a place, as bits."""
    level = int(t.level[0])
    if place == KITTY:  # R6.4: with a joker it would be public
        return int(JOKERS) if t.phase[0] >= Phase.JOKERS else 0
    if not HAND <= place < KITTY:
        return 0
    seat, mask = place - HAND, 0
    for suit in range(4):
        if t.void[0, seat, suit] or t.no_pair[0, seat, suit] or t.no_triple[0, seat, suit]:
            mask |= int(t.layout.suit_mask[level, suit])
    if seat == t.giver[0] and t.tribute[0, 0]:  # R5.1: he gave the largest he had
        groups = [int(group) for group in t.layout.rising[level]]
        least = min(k for k, group in enumerate(groups) if group & int(t.tribute[0, 0]))
        for group in groups[least + 1 :]:
            mask |= group & int(giveable_mask(t, ONE)[0])
    return mask


def _scramble_decision(t: Tables, viewer: int, rng: np.random.Generator, choosing: int) -> None:
    """Another decision of another seat: what is chosen from, how far it is (of ``choosing`` cards in all, which is
    public), who was asked where none can tell."""
    phase, decks = Phase(t.phase[0]), t.rules.decks
    if phase in (Phase.SHOW, Phase.BID, Phase.JOKERS):  # R4.6: nobody can see who is asked
        t.seat[0] = rng.choice([s for s in range(4) if s != viewer and (phase != Phase.JOKERS or s != t.dealer[0])])
        t.passes[0] = t.passes[0] if t.passes[0] < 0 else rng.integers(4)
    if phase not in (Phase.SHOW, Phase.BID, Phase.LEAD, Phase.PICKUP):
        place = HAND + int(t.seat[0])
        cards = np.repeat(np.arange(54), planes.to_counts(t.planes[:, 0, place]))
        number = int(rng.integers(3 if phase == Phase.JOKERS else choosing))
        words = planes.from_counts(np.bincount(rng.permutation(cards)[:number], minlength=54), decks)
        t.planes[:, 0, place] = planes.minus(t.planes[:, 0, place], words)
        t.planes[:, 0, PENDING] = words
        t.need[0] = choosing - number if phase != Phase.JOKERS else rng.integers(8)
    t.last[0], t.last_copies[0] = rng.integers(54), rng.integers(1, decks + 1)
    t.floor[0], t.choice[0] = rng.integers(1, 6), rng.integers(2**54, dtype=np.uint64)
    t.legal[0, :-1] = rng.integers(1, 2**54, size=decks, dtype=np.uint64)


def turned(t: Tables, k: int) -> Tables:
    """The same tables with everybody moved on by k seats (R11)."""
    out = t.clone()
    seats = np.arange(4)
    to = (seats + k) % 4
    for base in (HAND, PLAYED):
        out.planes[:, :, base + to] = t.planes[:, :, base + seats]
    for name in ("trick", "shown", "known"):
        getattr(out, name)[:, :, to] = getattr(t, name)
    for name in ("void", "no_pair", "no_triple"):
        getattr(out, name)[:, to] = getattr(t, name)
    for name in ("seat", "dealer", "first", "bid_seat", "giver", "receiver", "leader", "best", "next_dealer"):
        before = getattr(t, name)
        getattr(out, name)[:] = np.where(before == NOBODY, NOBODY, (before + k) % 4)
    hand = (t.source >= HAND) & (t.source < KITTY)
    out.source[:] = np.where(hand, HAND + (t.source - HAND + k) % 4, t.source)
    if k % 2:
        for name in ("levels", "gain", "next_levels"):
            getattr(out, name)[:] = getattr(t, name)[:, ::-1]
        out.match_winner[:] = np.where(t.match_winner == NOBODY, NOBODY, 1 - t.match_winner)
    return out
