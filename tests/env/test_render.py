"""The picture of a table from a seat: how many cards the others are known to hold (what it hides: test_hidden.py)."""

from __future__ import annotations

import pytest

from gunzi_env import render
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from tests.rules.game import Game, dealt, placed

HANDS = ["HA D6 H7 S7", "D4 H4 D7 D8", "D9 C6 C7 C8", "HA DA H6 H8"]


def sizes(game: Game, viewer: int) -> list[int | None]:
    """How many cards each seat has in the picture of ``viewer``, None for its own line."""
    lines = render.ansi(game.t, seat=viewer).splitlines()[1:5]
    return [None if s == viewer else int(line[3:].split(" cards")[0]) for s, line in enumerate(lines)]


def test_the_return_and_the_burial() -> None:
    """R5.1, R5.4, R6.2: seat 3 has given a card, the dealer has it; then the dealer has the kitty too."""
    game = placed(hands=HANDS, phase="tribute", blood=1, kitty_cards="H4 S4 S5")
    assert (game.phase, sizes(game, 2), sizes(game, 3)) == ("tribute", [4, 4, None, 4], [4, 4, 4, None])
    game.play("3 HA")
    assert (game.phase, sizes(game, 2), sizes(game, 0)) == ("return", [5, 4, None, 3], [None, 4, 4, 3])
    assert [len(game.hand(s).split()) for s in range(4)] == [5, 4, 4, 3]
    game.play("0 H7")
    assert (game.phase, sizes(game, 2), sizes(game, 3)) == ("bury", [7, 4, None, 4], [7, 4, 4, None])
    game.play("0 S7", "0 S5")  # what is named already is nobody else's business
    assert (game.phase, sizes(game, 2)) == ("bury", [7, 4, None, 4])
    game.play("0 S4")
    assert sizes(game, 2) == [4, 4, None, 4]


def test_a_reversed_tribute() -> None:
    """R5.5: the dealer has given, the previous player returns."""
    hands = ["HA DA C6 C7 CQ", *("D4 H4 D7 D8 D9", "C8 C9 D6 S6 S7"), "BJ BJ BJ BJ H6"]
    game = placed("four_deck", hands=hands, phase="tribute", blood=2, kitty_cards="H4 S4 S5 C5")
    assert (game.phase, game.seat, sizes(game, 1)) == ("return", 3, [3, None, 5, 7])


def test_jokers_for_the_kitty() -> None:
    """R6.5: until he has picked up as many, the jokers are missing from a hand; those only named are not."""
    hands = ["H6 S6 S7", "LJ LJ D4", "C6 C7 C8", "D9 H9 S9"]
    game = placed(hands=hands, phase="jokers", kitty_cards="D7 C7 H7 HT")
    assert sizes(game, 2) == [3, 3, None, 3]
    game.play("1 LJ")
    assert (game.phase, sizes(game, 2)) == ("jokers", [3, 3, None, 3])
    game.play("1 LJ")
    assert (game.phase, sizes(game, 2)) == ("pickup", [3, 1, None, 3])
    game.play(f"1 {game.legal[-1]}")
    assert (game.phase, sizes(game, 2)) == ("pickup", [3, 1, None, 3])
    game.play(f"1 {game.legal[-1]}")
    assert (game.phase, sizes(game, 2)) == ("lead", [3, 3, None, 3])


@pytest.mark.parametrize("preset", Rules.presets())
def test_between_choices_the_sizes_are_those_of_the_hands(preset: str) -> None:
    """At every decision of a dealt hand before the play, where no choice is half made."""
    game = dealt(preset, dealer=1, levels=(4, 3), blood=2, kitty="S6 H6 C7 D7")
    phases, last = set(), None
    while game.phase != "follow":
        now = (game.phase, game.seat)
        if now != last and not game.pending:
            for viewer in range(4):
                hands = [len(game.hand(s).split()) for s in range(4)]
                hands[viewer] = -1
                assert [-1 if size is None else size for size in sizes(game, viewer)] == hands, now
            phases.add(game.t.phase[0])
        last = now
        game.play(f"{game.seat} {game.legal[-1 if game.phase in ('bid', 'jokers') else 0]}")
    assert phases >= {Phase.BID, Phase.RETURN, Phase.BURY, Phase.LEAD}


@pytest.mark.parametrize("preset", Rules.presets())
def test_nobody_has_cards_once_the_hand_is_over(preset: str) -> None:
    for game in (placed(preset, hands=HANDS, kitty_cards="H9 S4"), dealt(preset, dealer=1)):
        game.hurry("over")
        for viewer in range(4):
            assert [size for size in sizes(game, viewer) if size is not None] == [0, 0, 0]


def test_short_hands_in_the_bidding() -> None:
    """The hands of a position are as long as they are there, and so is the dealer's with the kitty."""
    hands = ["H3 BJ SA", "H9 H8 D3", "S4 S6 LJ", "D8 D9 C4"]
    for phase in ("show", "bid"):
        game = placed(hands=hands, phase=phase, kitty_cards="H6 S7")
        assert sizes(game, 1) == [3, None, 3, 3]
        game.decline()
        assert game.phase == "bury"
        assert sizes(game, (game.dealer + 1) % 4) == [
            None if s == (game.dealer + 1) % 4 else 5 if s == game.dealer else 3 for s in range(4)
        ]


def test_hands_of_a_deal_grow_card_by_card() -> None:
    """R4.1: what everybody has been dealt; how long a hand will be, a View says from the start."""
    game = dealt(dealer=1, draws={2: ". . . . . S3"})
    assert (game.phase, int(game.t.drawn[0])) == ("bid", 22)
    assert (sizes(game, 0), int(game.view(0).held[0])) == ([None, 6, 6, 5], 39)
    while game.t.passes[0] < 0:
        game.play(f"{game.seat} pass")
    assert (game.phase, sizes(game, 0), int(game.view(0).held[0])) == ("bid", [None, 39, 39, 39], 39)
