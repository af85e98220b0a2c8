"""R4.4-8: bidding with level cards, the closing window, redeals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from gunzi_env import observe
from gunzi_env.chapters.deal import deck_of_draw
from gunzi_env.rulebook import bid_beats
from gunzi_env.rules import Rules
from tests.rules.game import Game, dealt, placed

SMALL = ["bid LJ:S", "bid LJ:H", "bid LJ:C", "bid LJ:D"]
BIG = ["bid BJ:S", "bid BJ:H", "bid BJ:C", "bid BJ:D"]


def closing(*hands: str, rules: str | Rules = "dalian", **fields: Any) -> Game:
    """The closing window at level 3 with these short hands, dealer 0, seat 0 to speak."""
    return placed(rules, hands=hands, phase="bid", **fields)


# R4.4 ------------------------------------------------------------------------------------------------


def test_r4_4_a_level_card_drawn_may_be_bid_and_names_its_suit() -> None:
    game = dealt(dealer=0, draws={0: "S4 S5", 1: "C4 H3"})
    assert (game.phase, game.seat, game.legal) == ("bid", 1, ["pass", "bid H x1"])
    assert len(game.hand(1).split()) == 2  # asked as he draws it; other cards ask nothing
    assert game.play("1 bid H x1").decline().trump == "H"


def test_r4_4_at_a_higher_level_the_level_cards_are_others() -> None:
    """R4.4: dealers on 7: a 3 is no bid, a 7 is."""
    game = dealt(dealer=0, levels=(7, 3), draws={0: "D3 D7"})
    assert (game.seat, game.legal) == (0, ["pass", "bid D x1"])


def test_r4_4_the_dealer_stays_whoever_bids() -> None:
    game = dealt(dealer=0, draws={1: "H3"}).play("1 bid H x1").decline()
    assert (game.dealer, game.trump) == (0, "H")


def test_r4_4_once_per_draw() -> None:
    """R4.4: after his bid the deal goes on to his next level card."""
    game = dealt(dealer=0, draws={0: "H3 S4 H3"}).play("0 bid H x1")
    assert (game.seat, game.legal, len(game.hand(0).split())) == (0, ["pass", "bid H x2"], 3)


def test_r4_4_any_number_up_to_what_he_holds() -> None:
    game = dealt(dealer=0, draws={0: "H3 H3 H3"}).play("0 pass", "0 pass")
    assert game.legal == ["pass", "bid H x1", "bid H x2", "bid H x3"]


def test_r4_4_the_drawn_card_need_not_be_among_them() -> None:
    """R4.4: drawing the 3 of diamonds he may bid two hearts, drawing a joker one or two."""
    game = dealt(dealer=0, draws={0: "H3 H3 D3 BJ"}).play("0 pass", "0 pass")
    assert game.legal == ["pass", "bid H x1", "bid H x2", "bid D x1"]
    game.play("0 pass")
    assert game.hand(0) == "H3 H3 D3 BJ"
    assert game.legal == ["pass", "bid H x1", "bid H x2", "bid D x1"]


def test_r4_4_a_single_joker_is_no_bid() -> None:
    """R4.4: two big and two small jokers after one heart: only level cards can be bid."""
    game = dealt(dealer=0, draws={0: "H3 BJ LJ BJ LJ H3"}).play("0 bid H x1")
    assert (game.legal, game.hand(0)) == (["pass", "bid H x2"], "H3 H3 LJ LJ BJ BJ")


def test_r4_4_all_small_jokers_name_any_suit() -> None:
    game = dealt(dealer=0, draws={0: "H3 LJ LJ LJ"}).play("0 bid H x1")
    assert (game.legal, game.hand(0)) == (["pass", *SMALL], "H3 LJ LJ LJ")
    assert game.play("0 bid LJ:D").decline().trump == "D"


def test_r4_4_all_big_jokers_name_any_suit() -> None:
    game = dealt(dealer=0, draws={0: "H3 BJ BJ BJ"}).play("0 bid H x1")
    assert (game.legal, game.hand(0)) == (["pass", *BIG], "H3 BJ BJ BJ")
    assert game.play("0 bid BJ:C").decline().trump == "C"


def test_r4_4_the_first_bid_must_be_level_cards() -> None:
    """R4.4, jokers_may_open=False: all small jokers ask nothing; with a level card, that alone may open."""
    game = dealt(dealer=0, draws={0: "LJ LJ LJ S4 H3"})
    assert (game.hand(0), game.legal) == ("S4 H3 LJ LJ LJ", ["pass", "bid H x1"])


def test_r4_4_jokers_may_open() -> None:
    """R4.4, jokers_may_open=True."""
    game = dealt("classic", dealer=0, draws={0: "LJ LJ LJ S4 H3"})
    assert (game.hand(0), game.legal) == ("LJ LJ LJ", ["pass", *SMALL])
    assert game.play("0 bid LJ:C").decline().trump == "C"


def test_r4_4_four_decks() -> None:
    """R4.4: one to four level cards, four jokers of a kind."""
    game = closing("H3 H3 H3 H3 LJ LJ LJ LJ", "BJ BJ BJ", "", "", rules="four_deck")
    assert game.legal == ["pass", "bid H x1", "bid H x2", "bid H x3", "bid H x4"]
    game.play("0 bid H x4")
    assert (game.seat, game.legal) == (0, ["pass", *SMALL])  # three of four big jokers are no bid


def test_r4_4_the_cards_shown_are_known_to_all_until_played() -> None:
    game = dealt(dealer=0, draws={0: "H3 H3"}).play("0 pass", "0 bid H x2")
    assert [game.sees_shown(seat, of=0) for seat in range(4)] == ["H3 H3"] * 4
    assert [game.sees(seat, of=0) for seat in (1, 2, 3)] == ["H3 H3"] * 3
    game.hurry("lead").play("0 H3")
    assert [game.sees_shown(seat, of=0) for seat in range(4)] == ["H3"] * 4


# R4.5 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "ladder"),
    [
        ("dalian", ["1xH", "2xD", "3xS", "3xLJ:C", "3xBJ:H"]),
        ("classic", ["1xD", "2xS", "3xC", "3xLJ:H", "3xBJ:D"]),
        ("four_deck", ["1xH", "2xC", "3xS", "4xD", "4xLJ:S", "4xBJ:S"]),
    ],
)
def test_r4_5_order_of_bids(rules: str, ladder: list[str]) -> None:
    """R4.5: 1 < 2 < ... < all level cards < all small jokers < all big jokers, strictly."""
    for weaker, stronger in pairwise(ladder):
        assert bid_beats(rules, stronger, weaker) and not bid_beats(rules, weaker, stronger)
    assert not any(bid_beats(rules, bid, bid) for bid in ladder)


def test_r4_5_equal_strength_in_another_suit_does_not_beat() -> None:
    assert not bid_beats("dalian", "2xS", "2xH")
    assert not bid_beats("dalian", "3xLJ:S", "3xLJ:H")


def test_r4_5_opening() -> None:
    """R4.5 with R4.4: against no bid, level cards; jokers where they may open."""
    assert bid_beats("dalian", "1xH", None) and not bid_beats("dalian", "3xBJ:H", None)
    assert bid_beats("classic", "3xLJ:H", None)


def test_r4_5_any_player_may_overturn() -> None:
    game = dealt(dealer=0, draws={0: "H3", 3: ". D3 D3"}).play("0 bid H x1")
    assert (game.seat, game.legal) == (3, ["pass", "bid D x2"])
    assert game.play("3 bid D x2").decline().trump == "D"


def test_r4_5_one_level_card_does_not_beat_one() -> None:
    """R4.5: seat 3 draws a single diamond and is not asked."""
    game = dealt(dealer=0, draws={0: "H3", 3: "D3 . D3"}).play("0 bid H x1")
    assert (game.seat, len(game.hand(3).split())) == (3, 3)


def test_r4_5_the_bidder_may_reinforce() -> None:
    game = dealt(dealer=0, draws={0: "H3 H3 H3"}).play("0 bid H x1", "0 bid H x2", "0 bid H x3")
    assert int(game.t.bid_strength[0]) == 3
    assert game.decline().trump == "H"


def test_r4_5_the_bidder_may_change_suit_by_a_stronger_bid() -> None:
    game = dealt(dealer=0, draws={0: "H3 D3 D3"}).play("0 bid H x1")
    assert (game.seat, game.legal) == (0, ["pass", "bid D x2"])
    game.play("0 bid D x2")
    assert game.sees_shown(1, of=0) == "H3 D3 D3"  # what was shown before is still known
    assert game.decline().trump == "D"


# R4.6 ------------------------------------------------------------------------------------------------


def asked_in_window(game: Game) -> list[int]:
    """Decline everything; who is asked after the last card?"""
    seats = []
    while game.phase in ("show", "bid"):
        if game.t.passes[0] >= 0:
            seats.append(game.seat)
        game.play(f"{game.seat} pass")
    return seats


def test_r4_6_the_window_begins_with_the_dealer() -> None:
    game = dealt(dealer=2, draws={1: "H3", 2: "D3", 3: "C3"}, spare=3)
    assert asked_in_window(game) == [2, 3, 1]


def test_r4_6_in_a_first_hand_with_the_first_seat() -> None:
    game = dealt(first=3, draws={0: "BJ", 2: "BJ", 3: "BJ"})
    assert asked_in_window(game) == [3, 0, 2]


def test_r4_6_four_passes_in_a_row_end_it() -> None:
    game = closing("H3", "D3", "C3", "S3")
    game.play("0 pass", "1 pass", "2 pass")
    assert (game.phase, game.seat) == ("bid", 3)
    assert game.play("3 bid S x1").trump == "S"  # nobody can beat it: four silent passes


def test_r4_6_players_without_a_bid_pass_silently() -> None:
    """R4.6: 1 and 2 hold nothing; after 0 it is 3 who is asked."""
    game = closing("H3", "D4", "C4", "S3").play("0 pass")
    assert (game.phase, game.seat) == ("bid", 3)


def test_r4_6_the_last_bidders_own_pass_is_among_the_four() -> None:
    """R4.6: 0 bids one heart of two; 1 could overturn and passes; 0 could reinforce, is asked, and passes."""
    game = closing("H3 H3", "D3 D3", "C4", "S4").play("0 bid H x1", "1 pass")
    assert (game.phase, game.seat, game.legal) == ("bid", 0, ["pass", "bid H x2"])
    assert game.play("0 pass").trump == "H"


def test_r4_6_he_may_also_reinforce_then() -> None:
    game = closing("H3 H3", "D3 D3 D3", "C4", "S4").play("0 bid H x1", "1 pass", "0 bid H x2")
    assert (game.phase, game.seat, game.legal) == ("bid", 1, ["pass", "bid D x3"])
    assert game.play("1 bid D x3").trump == "D"


def test_r4_6_a_bid_begins_the_count_anew() -> None:
    """R4.6: 0 passed first, but after 3's bid is asked again, and so is 1."""
    game = closing("H3 H3", "D3 D3", "C4", "S3").play("0 pass", "1 pass", "3 bid S x1")
    assert game.seat == 0
    game.play("0 pass")
    assert game.seat == 1
    assert game.play("1 pass").trump == "S"


def same_for(seats: Sequence[int], a: Game, b: Game) -> bool:
    """Do these seats observe the same in both games?"""
    return all(np.array_equal(observe.encode(a.view(s)), observe.encode(b.view(s))) for s in seats)


def test_r4_6_declining_is_no_event_in_the_window() -> None:
    """R4.6: whether 1 was asked (D3) or not (D4) shows nowhere."""
    asked = closing("H3", "D3", "C3", "S4").play("0 pass", "1 pass")
    silent = closing("H3", "D4", "C3", "S4").play("0 pass")
    assert asked.seat == silent.seat == 2
    assert same_for((0, 2, 3), asked, silent)
    assert not same_for((1,), asked, silent)  # his own hand differs


def test_r4_6_declining_is_no_event_at_a_draw() -> None:
    rest = {0: "S4 S5", 2: "C4 C3", 3: "C5"}
    asked = dealt(dealer=0, draws={1: "H3 H6", **rest}).play("1 pass")
    silent = dealt(dealer=0, draws={1: "H4 H6", **rest})
    assert asked.seat == silent.seat == 2
    assert same_for((0, 2, 3), asked, silent)


def test_r4_6_declining_to_show_is_no_event() -> None:
    """R4.6 with R4.2."""
    rest = {0: "S4 S5", 2: "C4 BJ", 3: "C5"}
    asked = dealt(draws={1: "BJ H6", **rest}).play("1 pass")
    silent = dealt(draws={1: "H4 H6", **rest})
    assert asked.seat == silent.seat == 2
    assert same_for((0, 2, 3), asked, silent)


# R4.7, R4.8 ------------------------------------------------------------------------------------------


def test_r4_7_nobody_bids_then_the_top_suited_card_of_the_kitty() -> None:
    """R4.7: jokers are skipped; the dealer does not change."""
    game = dealt(dealer=1, kitty="LJ D9 H4 H5 H6 H7").decline()
    assert (game.dealer, game.trump) == (1, "D")
    assert [game.text(game.view(seat).turned[:, 0]) for seat in range(4)] == ["D9 LJ"] * 4


def test_r4_7_the_kitty_stays_hidden() -> None:
    """R4.7, R6.1: the others know of it no more than what was turned up."""
    game = dealt(dealer=1, kitty="LJ D9 H4 H5 H6 H7").decline()
    assert [game.sees(seat, of=None) for seat in (0, 2, 3)] == ["D9 LJ"] * 3
    assert not game.view(0).kitty_shown[0]


def test_r4_7_all_jokers_then_deal_again() -> None:
    game = dealt(dealer=1, kitty="BJ LJ BJ LJ BJ LJ").decline()
    assert (game.t.attempt[0], game.phase) == (1, "bid")


def test_r4_8_a_redeal_changes_nothing_but_the_cards() -> None:
    """R4.8: same dealer, same levels, blood kept."""
    game = dealt(dealer=1, levels=(4, 6), blood=5, kitty="BJ LJ BJ LJ BJ LJ")
    before = deck_of_draw(game.t.draw[0])
    game.decline()
    assert (game.dealer, game.t.first[0], game.t.levels[0].tolist(), game.t.level[0]) == (1, 1, [4, 6], 6)
    assert game.t.blood[0] == 5
    assert deck_of_draw(game.t.draw[0]) != before
    assert game.phase == "bid"
    game.decline()
    assert game.phase in ("tribute", "return")  # the blood is paid in the new deal


def test_r4_8_a_first_hand_keeps_its_first_seat() -> None:
    for first in range(4):
        game = dealt(first=first, kitty="BJ LJ BJ LJ BJ LJ")
        assert (game.t.attempt[0], game.t.first[0]) == (1, first)
