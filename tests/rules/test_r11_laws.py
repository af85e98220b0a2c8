"""R11: what always holds, an example for each sentence; ``tests/env/test_laws.py`` tries the laws on many hands.

That renaming the suits and turning the table commute with play has tests of its own.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gunzi_env import engine, observe
from gunzi_env.cards import FACE_NAMES, FACE_POINTS
from gunzi_env.engine import IllegalAction
from gunzi_env.planes import to_counts
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NUM_HOLDERS, PENDING, PLAYED, STOCK, Tables
from tests.rules.game import Game, dealt, placed

PRESETS = Rules.presets()
WORTH = dict(zip(FACE_NAMES, map(int, FACE_POINTS), strict=True))


def started(preset: str, seed: int) -> Game:
    """A later hand from a shuffled deck, both teams on 5; seat 1 deals and is owed three cards. No pot is dry, so
    that every chapter of the hand comes up."""
    t = Tables(dataclasses.replace(Rules.preset(preset), dry_pot=None), 1)
    engine.reset(t, seed, begin=False)
    state = {"levels": np.array([[5, 5]]), "dealer": np.array([1]), "blood": np.array([3])}
    engine.begin_hand(t, np.zeros(1, np.intp), **state)
    return Game(t)


def moments(game: Game, seed: int) -> Iterator[Game]:
    """The game at each of its decisions and at its end, every action drawn from the legal ones."""
    rng = np.random.default_rng(seed)
    while game.phase != "over":
        yield game
        engine.step(game.t, [rng.choice(np.flatnonzero(engine.legal(game.t)[0]))])
    yield game


def in_play(game: Game, holder: int) -> int:
    """How many cards a holder has."""
    return int(to_counts(game.t.planes[:, 0, holder]).sum())


def in_hand(game: Game, seat: int) -> int:
    """A hand's cards, with those set aside in a choice half made."""
    return in_play(game, HAND + seat) + (in_play(game, PENDING) if game.seat == seat else 0)


def points(text: str) -> int:
    """R1.4."""
    return sum(WORTH[card] for card in text.split())


# Cards -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_r11_every_face_has_a_copy_a_deck_at_every_moment(preset: str) -> None:
    """R11: among stock, hands, kitty, played cards (the table's are among them) and those set aside."""
    decks = Rules.preset(preset).decks
    phases = set()
    for game in moments(started(preset, 1), 1):
        everywhere = " ".join(game.text(game.t.planes[:, 0, holder]) for holder in range(NUM_HOLDERS))
        assert Counter(everywhere.split()) == dict.fromkeys(FACE_NAMES, decks)
        on_table = Counter(" ".join(game.text(game.t.trick[:, 0, seat]) for seat in range(4)).split())
        assert on_table <= Counter(" ".join(game.played(seat) for seat in range(4)).split())
        phases.add(game.phase)
    assert {"bid", "bury", "lead", "follow", "over"} <= phases


@pytest.mark.parametrize("preset", PRESETS)
def test_r11_the_stock_is_what_has_not_been_dealt(preset: str) -> None:
    """R11, R4.1: while dealing, all cards but those drawn; afterwards none."""
    rules = Rules.preset(preset)
    stock = set()
    for game in moments(started(preset, 2), 2):
        if game.phase != "bid":
            assert in_play(game, STOCK) == 0
        elif game.t.drawn[0] < rules.num_dealt:
            stock.add(in_play(game, STOCK))
            assert in_play(game, STOCK) == rules.num_cards - sum(in_play(game, HAND + seat) for seat in range(4))
    assert len(stock) > 3


@pytest.mark.parametrize("preset", PRESETS)
def test_r11_after_the_return_every_hand_has_its_size(preset: str) -> None:
    """R11: a dry kitty stays where it is, so that the hands are seen as the return leaves them."""
    rules = Rules.preset(preset)
    kitty = "H4 H6 C7 D9 DT DQ H7 H8"[: 3 * rules.kitty_size - 1]
    game = dealt(rules, dealer=0, blood=4, draws={0: "S3 S3 S3"}, kitty=kitty, spare=2)
    game.play("0 bid S x1").decline()
    sizes = set()
    while game.phase != "lead":
        sizes.add((game.phase, tuple(in_hand(game, seat) for seat in range(4))))
        game.play(f"{game.seat} {game.legal[0]}")
    n = rules.hand_size
    assert sizes <= {("tribute", (n, n, n, n)), ("return", (n + 4, n, n, n - 4))} and sizes
    assert (game.t.tribute[0, 0] != 0, in_play(game, KITTY)) == (True, rules.kitty_size)
    assert [in_play(game, HAND + seat) for seat in range(4)] == [n] * 4


@pytest.mark.parametrize("preset", PRESETS)
def test_r11_after_burying_too_and_the_kitty_has_its_own(preset: str) -> None:
    """R11: the dealer (1) buries as many as he took; the others change no size when they have picked up."""
    rules = Rules.preset(preset)
    taken = {seat: rules.kitty_size if seat == 1 else 0 for seat in range(4)}
    seen = set()
    for game in moments(started(preset, 3), 3):
        sizes = [in_hand(game, seat) - rules.hand_size for seat in range(4)]
        if game.phase == "bury":
            assert (sizes, in_play(game, KITTY)) == (list(taken.values()), 0)
        elif game.phase in ("jokers", "lead") and not in_play(game, PLAYED):
            assert (sizes, in_play(game, KITTY)) == ([0, 0, 0, 0], rules.kitty_size)
            seen.add(game.phase)
            if game.phase == "lead":
                break
    assert seen == {"jokers", "lead"}


# Points, blood, tricks -------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(4))
def test_r11_trick_points_and_kitty_are_100_a_deck(preset: str, seed: int) -> None:
    """R11, R8.1-2: the tricks of either team, added up as they are won; seat 1 deals, so 0 and 2 attack."""
    won, counted = [0, 0], 0
    for game in moments(started(preset, seed), seed):
        if game.phase in ("lead", "over"):  # a trick is complete: its winner leads, or led no more
            played = sum(points(game.played(seat)) for seat in range(4))
            winner = game.seat if game.phase == "lead" else int(game.t.leader[0])
            won[winner % 2] += played - counted
            counted = played
    kitty = points(game.kitty)
    assert sum(won) + kitty == 100 * game.t.rules.decks
    assert game.score == won[0] + (2 * kitty if game.t.dug[0] else 0)


@pytest.mark.parametrize(("score", "dealing", "giver"), [(60, 2, 1), (200, 1, 0)])
def test_r11_the_side_that_owes_blood_does_not_deal(score: int, dealing: int, giver: int) -> None:
    """R11, R9.6: dealer 0. S = 60: 1 and 3 owe two, 2 deals, 1 gives. S = 200: 0 and 2 owe five, 1 deals, 0 gives."""
    hands = ["HA", "H8", "H7", "H6"]
    game = placed(hands=hands, kitty_cards="C4 C6 D7 D8 D9 DJ", score=score, levels=(4, 4), level=4).play("0 HA")
    t = game.next_hand().decline().t
    assert (t.blood[0], game.dealer) == (2 if score == 60 else 5, dealing)
    assert (t.giver[0], t.receiver[0]) == (giver, dealing)
    assert giver % 2 != game.dealer % 2


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("copies", [1, 2])
def test_r11_a_hand_has_at_most_hand_size_tricks(preset: str, copies: int) -> None:
    """R11: as many when all leads are single cards, fewer when a pair is led wherever there is one."""
    game, tricks = started(preset, 5).hurry("lead"), 0
    size = game.t.rules.hand_size
    while game.phase != "over":
        tricks += game.phase == "lead"
        leads = [lead for lead in game.legal if len(lead.split()) <= copies]
        game.play(f"{game.seat} {leads[-1] if game.phase == 'lead' else game.legal[0]}")
    assert tricks == size if copies == 1 else tricks < size
    assert sum(in_play(game, PLAYED + seat) for seat in range(4)) == 4 * size


# Actions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_r11_there_is_always_a_legal_action_until_the_hand_ends(preset: str) -> None:
    for game in moments(started(preset, 6), 6):
        assert bool(engine.legal(game.t).any()) == (game.phase != "over")


@pytest.mark.parametrize("preset", PRESETS)
def test_r11_legal_actions_are_accepted_and_all_others_refused_without_a_change(preset: str) -> None:
    """R11: every action there is, at the first two decisions of every phase of a hand."""
    tried: Counter[str] = Counter()
    for game in moments(started(preset, 7), 7):
        if game.phase == "over" or tried[game.phase] == 2:
            continue
        tried[game.phase] += 1
        allowed = engine.legal(game.t)[0]
        for action in np.flatnonzero(allowed):
            engine.step(game.t.clone(), [action])
        refusing = game.t.clone()
        for action in np.flatnonzero(~allowed):
            with pytest.raises(IllegalAction):
                engine.step(refusing, [action])
        unchanged = refusing.save() == game.t.save()
        assert unchanged
    assert {"bid", "return", "bury", "lead", "follow"} <= set(tried)


# What a player observes ------------------------------------------------------------------------------


def observed(game: Game, seat: int) -> bytes:
    return observe.encode(game.view(seat)).tobytes()


HIDDEN: dict[str, tuple[dict[str, Any], dict[str, Any], list[str], set[int]]] = {
    # Two positions, the moves made in both, and who cannot tell them apart.
    "1 and 2 have changed hands": (
        {"hands": ["HA C4", "H8 S4", "H7 D4", "H6 D6"]},
        {"hands": ["HA C4", "H8 D4", "H7 S4", "H6 D6"]},
        ["0 HA"],
        {0, 3},
    ),
    "the dealer has buried other cards": (
        {"hands": ["HA C4", "H8 S4", "H7 D4", "H6 D6"], "kitty_cards": "C9 CJ D7 D8 D9 DJ"},
        {"hands": ["HA CJ", "H8 S4", "H7 D4", "H6 D6"], "kitty_cards": "C9 C4 D7 D8 D9 DJ"},
        ["0 HA"],
        {1, 2, 3},
    ),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_r11_what_a_player_observes_does_not_depend_on_what_he_cannot_have_seen(name: str) -> None:
    one, other, moves, blind = HIDDEN[name]
    games = [placed(dealer=0, leader=0, **position).play(*moves) for position in (one, other)]
    same = {seat for seat in range(4) if observed(games[0], seat) == observed(games[1], seat)}
    assert same == blind
