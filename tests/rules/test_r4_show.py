"""R4.1-3: the deal, racing to show a big joker, flipping the kitty."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gunzi_env import engine
from gunzi_env.cards import format_cards
from gunzi_env.order import to_faces
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from tests.rules.game import Game, dealt

DALIAN = Rules.preset("dalian")
FLIP_LOW = dataclasses.replace(DALIAN, first_flip="low")
# With a kitty of 4 jokers and a joker in hand the show can find no suited card: three decks cannot bring that about.
SMALL_KITTY = dataclasses.replace(Rules.preset("four_deck"), hand_size=53, kitty_size=4)


def sizes(game: Game) -> list[int]:
    return [len(game.hand(seat).split()) for seat in range(4)]


# R4.1 ------------------------------------------------------------------------------------------------


def test_r4_1_first_seat_of_a_match_is_random() -> None:
    """R4.1: each seat about a quarter of 4,000 matches (beyond 110 of 1,000 once in ten thousand)."""
    t = Tables(DALIAN, 4000)
    engine.reset(t, 3)
    counts = np.bincount(t.first, minlength=4)
    assert counts.sum() == 4000 and (abs(counts - 1000) < 110).all()


def test_r4_1_later_hands_are_dealt_from_the_dealer_one_card_at_a_time() -> None:
    """R4.1: seat 2 deals; when seat 0 draws its second card, 2 and 3 have two cards and 1 has one."""
    game = dealt(dealer=2, draws={2: "S4 S5", 3: "C4 C5", 0: "D4 H3", 1: "H4"})
    assert (game.phase, game.seat) == ("bid", 0)
    assert [game.hand(s) for s in range(4)] == ["H3 D4", "H4", "S4 S5", "C4 C5"]


def test_r4_1_first_hand_is_dealt_from_the_first_seat() -> None:
    game = dealt(first=3, draws={3: "S4", 0: "S5", 1: "BJ"})
    assert (game.seat, sizes(game)) == (1, [1, 1, 0, 1])


def test_r4_1_the_rest_is_the_kitty() -> None:
    """R4.1: when all hands are full, six cards are left."""
    game = dealt(dealer=0, last={0: "H3"}, kitty="C4 C5 C6 C7 C8 C9", spare=0)
    while game.t.drawn[0] < 156:
        game.play(f"{game.seat} pass")
    assert sizes(game) == [39, 39, 39, 39] and game.kitty == "C4 C5 C6 C7 C8 C9"


# R4.2 ------------------------------------------------------------------------------------------------


def test_r4_2_show_makes_dealer_and_next_suited_card_trump() -> None:
    """R4.2: seat 3 shows its third card; its fourth is a heart. One joker is enough."""
    game = dealt(first=1, draws={3: ". . BJ H9"})
    assert (game.phase, game.seat, game.legal) == ("show", 3, ["pass", "show"])
    assert game.hand(3).endswith("BJ") and len(game.hand(3).split()) == 3
    game.play("3 show")
    assert (game.dealer, game.trump) == (3, "H")


def test_r4_2_the_3_of_that_suit_is_the_trump_level_card() -> None:
    """R4.2: the strongest suited card is the 3 of hearts."""
    game = dealt(draws={0: "BJ H9"}).play("0 show")
    assert format_cards(to_faces(game.t.layout, 3, int(game.t.trump[0]), [51])) == "H3"


def test_r4_2_jokers_are_skipped() -> None:
    game = dealt(first=1, draws={3: "BJ LJ BJ C9"}).play("3 show")
    assert (game.dealer, game.trump) == (3, "C")


def test_r4_2_only_his_own_cards_count() -> None:
    """R4.2: hearts and diamonds drawn by others in between do not matter."""
    game = dealt(first=1, draws={3: "BJ C9", 0: "H4 H5", 1: "D4 D5", 2: "H6 H7"}).play("3 show")
    assert game.trump == "C"


def test_r4_2_nobody_can_overturn_it() -> None:
    """R4.2: the other big jokers come later, and nobody is asked again."""
    game = dealt(draws={0: "BJ H9", 1: ". BJ", 2: ". BJ"}).play("0 show")
    assert (game.phase not in ("show", "bid"), game.dealer, game.trump) == (True, 0, "H")


def test_r4_2_all_see_the_joker_that_was_shown() -> None:
    game = dealt(draws={0: "BJ H9"}).play("0 show")
    assert [game.sees_shown(seat, of=0) for seat in (1, 2, 3)] == ["BJ", "BJ", "BJ"]


def test_r4_2_he_who_declined_may_show_at_a_later_one() -> None:
    game = dealt(draws={2: "BJ . BJ D9"}).play("2 pass")
    assert (game.phase, game.seat, len(game.hand(2).split())) == ("show", 2, 3)
    game.play("2 show")
    assert (game.dealer, game.trump) == (2, "D")


def test_r4_2_when_one_declines_the_next_to_draw_one_is_asked() -> None:
    game = dealt(draws={2: "BJ", 1: ". BJ C4"}).play("2 pass", "1 show")
    assert (game.dealer, game.trump) == (1, "C")


def test_r4_2_a_small_joker_drawn_after_declining_asks_nothing() -> None:
    """R4.2: he is asked at his first card, and then at his fifth, the next big joker."""
    game = dealt(draws={2: "BJ . LJ LJ BJ D9"}).play("2 pass")
    assert (game.phase, game.seat, len(game.hand(2).split())) == ("show", 2, 5)


def test_r4_2_a_small_joker_is_not_shown() -> None:
    """R4.2: small jokers to 0 and 1 ask nobody; the first question is 3's, with his second card, a big joker."""
    game = dealt(draws={0: "LJ LJ", 1: "LJ S4", 3: "S5 BJ"})
    assert (game.seat, game.legal, game.hand(3)) == (3, ["pass", "show"], "S5 BJ")


@pytest.mark.parametrize(("suited", "trump"), [("C2", "C"), ("H3", "H"), ("S3", "S"), ("D2", "D")])
def test_r4_2_a_2_or_a_level_card_is_a_suited_card(suited: str, trump: str) -> None:
    """R4.2: trumps though they will be, they name the suit: drawn by him, or first in the kitty."""
    assert dealt(draws={0: f"BJ {suited} S9"}).play("0 show").trump == trump
    kitty = f"LJ {suited} S9 H4 C5 D6"
    game = dealt(last={3: "BJ"}, kitty=kitty, draws={0: "BJ BJ"}, spare=0).play("0 pass", "0 pass", "3 show")
    assert (game.dealer, game.trump) == (3, trump)


def test_r4_2_no_further_suited_card_then_the_kitty() -> None:
    """R4.2: the joker is the last card drawn; the first suited card of the kitty, top first, is a diamond."""
    game = dealt(last={3: "BJ"}, kitty="LJ D9 H4 H5 H6 H7", draws={0: "BJ BJ"}, spare=0)
    game.play("0 pass", "0 pass", "3 show")
    assert (game.dealer, game.trump) == (3, "D")
    # "This does not change who sees the kitty": a joker was shown, so all do (R6.1).
    assert [game.sees(seat, of=None) for seat in range(4)] == ["H4 H5 H6 H7 D9 LJ"] * 4


def test_r4_2_no_suited_card_in_the_kitty_either_then_deal_again() -> None:
    """R4.2, R4.8: one joker shown in the window, a kitty of four jokers."""
    game = dealt(SMALL_KITTY, first=2, last={3: "BJ"}, kitty="BJ BJ BJ LJ")
    assert (game.phase, game.seat, game.t.attempt[0]) == ("show", 3, 0)
    game.play("3 show")
    assert game.t.attempt[0] == 1 and game.t.first[0] == 2
    assert (game.phase, game.dealer) == ("show", -1)  # the new deal's first question


def window(game: Game) -> Game:
    """Decline until the closing window."""
    while game.t.drawn[0] < game.t.rules.num_dealt:
        game.play(f"{game.seat} pass")
    while game.t.passes[0] < 0:
        game.play(f"{game.seat} pass")
    return game


def test_r4_2_the_closing_window_begins_with_the_first_seat_and_ends_at_once() -> None:
    """R4.2, R4.6: 1, 2 and 3 hold a big joker, 2 is the first seat. When 3 shows, 1 is not asked."""
    game = window(dealt(first=2, draws={1: "BJ", 2: "BJ", 3: "BJ"}))
    assert (game.phase, game.seat) == ("show", 2)
    game.play("2 pass")
    assert (game.phase, game.seat) == ("show", 3)
    game.play("3 show")
    assert (game.phase != "show", game.dealer) == (True, 3)


def test_r4_2_a_show_in_the_window_takes_the_suit_from_the_kitty() -> None:
    game = window(dealt(first=2, draws={1: "BJ", 2: "BJ", 3: "BJ"}, kitty="C9 H4 H5 H6 H7 H8"))
    game.play("2 show")
    assert (game.dealer, game.trump) == (2, "C")


@pytest.mark.parametrize("first", range(4))
def test_r4_2_in_the_window_every_holder_is_asked_from_the_first_seat_on(first: int) -> None:
    """R4.2, R4.6: the first seat, its partner and its previous hold a big joker each; then nobody has shown."""
    holders = [(first + k) % 4 for k in (0, 2, 3)]
    game = window(dealt(first=first, draws=dict.fromkeys(holders, "BJ"), kitty="C9 H8 H7 H6 H5 H4"))
    for seat in holders:
        assert (game.phase, game.seat, game.legal) == ("show", seat, ["pass", "show"])
        game.play(f"{seat} pass")
    assert (game.phase != "show", game.dealer, game.trump) == (True, first, "C")  # R4.3: the nine is the largest


def test_r4_2_auto_shows_the_first_big_joker_by_itself() -> None:
    """R4.2, first_bid="auto": nobody is asked."""
    game = dealt("classic", first=1, draws={3: ". BJ LJ C9", 2: ". . . BJ", 1: ". . . BJ"})
    assert (game.phase != "show", game.dealer, game.trump) == (True, 3, "C")
    assert game.sees_shown(0, of=3) == "BJ"


def test_r4_2_auto_takes_the_kitty_when_no_suited_card_follows() -> None:
    game = dealt("classic", last={3: "BJ"}, kitty="BJ BJ D9 H4 H5 H6")
    assert (game.phase, game.dealer, game.trump) == ("bury", 3, "D")


def test_r4_2_auto_with_all_big_jokers_in_the_kitty_is_flipped() -> None:
    """R4.2, R4.3: nobody drew one; classic takes the smallest."""
    game = dealt("classic", first=1, kitty="BJ BJ BJ H9 D4 C8")
    assert (game.phase, game.dealer, game.trump) == ("bury", 2, "D")


# R4.3 ------------------------------------------------------------------------------------------------


def flipped(kitty: str, rules: Rules | str = DALIAN) -> Game:
    """The first seat is 2; nobody shows."""
    return dealt(rules, first=2, kitty=kitty).decline()


def test_r4_3_high_the_largest_card_makes_dealer_and_suit() -> None:
    """R4.3, first_flip="high": 2, 3, 0 and 1 flip; 3 has the ace."""
    game = flipped("H4 DA C9 SK H5 H6")
    assert (game.dealer, game.trump) == (3, "D")


def test_r4_3_low_the_smallest_card_makes_dealer_and_suit() -> None:
    """R4.3, first_flip="low"."""
    game = flipped("H7 DA C4 SK H5 H6", FLIP_LOW)
    assert (game.dealer, game.trump) == (0, "C")


@pytest.mark.parametrize(("rules", "dealer", "trump"), [(DALIAN, 0, "C"), (FLIP_LOW, 2, "S")])
def test_r4_3_by_face_alone(rules: Rules, dealer: int, trump: str) -> None:
    """R4.3: 2 low, A high, though 2s and 3s will be trumps."""
    game = flipped("S2 H3 CA D4 H5 H6", rules)
    assert (game.dealer, game.trump) == (dealer, trump)


@pytest.mark.parametrize(
    ("rules", "kitty", "dealer", "trump"),
    [
        (DALIAN, "H9 D9 C4 S9 H5 H6", 2, "H"),
        (DALIAN, "H4 D9 C9 S9 H5 H6", 3, "D"),
        (FLIP_LOW, "H9 D4 C4 S9 H5 H6", 3, "D"),
        (FLIP_LOW, "H9 DT C4 S4 H2 H6", 0, "C"),
    ],
)
def test_r4_3_a_tie_goes_to_the_first(rules: Rules, kitty: str, dealer: int, trump: str) -> None:
    game = flipped(kitty, rules)
    assert (game.dealer, game.trump) == (dealer, trump)


def test_r4_3_a_joker_is_skipped_and_the_same_player_flips_again() -> None:
    """R4.3: 2 flips BJ and H4, 3 flips LJ and D9, 0 C8, 1 S7."""
    game = flipped("BJ H4 LJ D9 C8 S7")
    assert (game.dealer, game.trump) == (3, "D")


def test_r4_3_when_the_cards_run_out_those_decide_who_flipped_a_suited_one() -> None:
    """R4.3: only 2 (H4) and 3 (C9) flip suited cards."""
    assert (flipped("BJ LJ H4 LJ BJ C9").dealer, flipped("BJ LJ H4 LJ BJ C9").trump) == (3, "C")
    assert (flipped("BJ LJ H4 LJ BJ C9", FLIP_LOW).dealer, flipped("BJ LJ H4 LJ BJ C9", FLIP_LOW).trump) == (2, "H")


def test_r4_3_when_nobody_flips_a_suited_card_the_hand_is_dealt_again() -> None:
    game = dealt(first=2, kitty="BJ LJ BJ LJ BJ LJ")  # nobody has a big joker: nobody is asked
    assert game.t.attempt[0] == 1 and game.t.first[0] == 2
    assert game.kitty != "LJ LJ LJ BJ BJ BJ"


def test_r4_3_the_flipped_cards_were_seen_by_all_and_no_others() -> None:
    """R4.3, R6.1: four suited cards and the jokers among them; what lies below stays face down."""
    game = flipped("H4 LJ DA C9 SK H5")
    turned = [game.text(game.view(seat).turned[:, 0]) for seat in range(4)]
    assert turned == ["SK H4 C9 DA LJ"] * 4
