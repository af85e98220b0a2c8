"""R4.4-6, R4.8 at the table: when a draw asks, the whole ladder of bids, how the passes are counted, the redeal."""

from __future__ import annotations

import pytest

from gunzi_env.chapters.deal import deck_of_draw
from gunzi_env.engine import IllegalAction
from gunzi_env.rules import Rules
from tests.rules.game import Game, dealt, placed

SMALL = ["bid LJ:S", "bid LJ:H", "bid LJ:C", "bid LJ:D"]
BIG = ["bid BJ:S", "bid BJ:H", "bid BJ:C", "bid BJ:D"]
ALL_JOKERS = "BJ LJ BJ LJ BJ LJ"


def closing(*hands: str, rules: str | Rules = "dalian") -> Game:
    """The closing window at level 3 with these short hands, dealer 0, seat 0 to speak."""
    return placed(rules, hands=hands, phase="bid")


def asked(game: Game) -> tuple[int, list[str]]:
    """Who is asked for a bid, and what he may say."""
    assert game.phase == "bid"
    return game.seat, game.legal


def drawn_when_asked(game: Game, seat: int) -> list[int]:
    """How many cards the seat holds at each of its questions while cards are dealt; it declines them all."""
    numbers = []
    while game.t.passes[0] < 0 and game.seat == seat:
        numbers.append(len(game.hand(seat).split()))
        game.play(f"{seat} pass")
    return numbers


# R4.4: when a draw asks ------------------------------------------------------------------------------


def test_r4_4_each_level_card_or_joker_drawn_asks_and_no_other_card() -> None:
    """R4.4: one heart in hand beats no bid: a small joker, another level card and a big joker ask, spades do not."""
    game = dealt(dealer=0, draws={0: "H3 S4 LJ S5 D3 S6 S2 BJ S7"})
    assert drawn_when_asked(game, 0) == [1, 3, 5, 8]


def test_r4_4_a_joker_drawn_asks_nothing_of_one_who_holds_no_bid() -> None:
    """R4.4: two jokers without a level card, then the level card, then a joker again."""
    game = dealt(dealer=0, draws={0: "LJ BJ S4 H3 S5 LJ"})
    assert drawn_when_asked(game, 0) == [4, 6]


def test_r4_4_nor_of_one_whose_bids_do_not_beat_the_standing_one() -> None:
    """R4.4: over one heart neither a joker nor one diamond asks him; the second diamond does."""
    game = dealt(dealer=0, draws={0: "H3 LJ D3 S4 D3"}).play("0 bid H x1")
    assert (asked(game), len(game.hand(0).split())) == ((0, ["pass", "bid D x2"]), 5)


def test_r4_4_a_bid_declined_is_offered_again_at_the_next_joker() -> None:
    """R4.4: 0 holds two diamonds over 1's heart: asked at the second diamond, not at the S4, again at the joker."""
    game = dealt(dealer=0, draws={0: "D3 D3 S4 BJ", 1: "H3"}).play("0 pass", "1 bid H x1")
    assert (asked(game), game.hand(0)) == ((0, ["pass", "bid D x2"]), "D3 D3")
    game.play("0 pass")
    assert (asked(game), game.hand(0)) == ((0, ["pass", "bid D x2"]), "S4 D3 D3 BJ")


def test_r4_4_one_bid_a_draw() -> None:
    """R4.4: he bids one of three hearts and cannot reinforce at the same draw: the next to be asked is 3, late."""
    game = dealt(dealer=0, draws={0: "H3 H3 H3 S4"}).play("0 pass", "0 pass", "0 bid H x1")
    assert (game.phase, game.seat) == ("bid", 3)
    assert len(game.hand(0).split()) > 4


# R4.5: the ladder ------------------------------------------------------------------------------------


def test_r4_5_n_plus_one_level_cards_over_n() -> None:
    """R4.5: one, two, three; 0 and 1 then hold three of a kind too, which do not beat three."""
    game = closing("H3 H3 H3", "D3 D3 D3", "C3 C3 C3", "S3").play("0 bid H x1")
    assert asked(game) == (1, ["pass", "bid D x2", "bid D x3"])
    game.play("1 bid D x2")
    assert asked(game) == (2, ["pass", "bid C x3"])
    game.play("2 bid C x3")
    assert (game.phase != "bid", game.trump) == (True, "C")


def test_r4_5_another_suit_of_equal_strength_is_refused() -> None:
    """R4.5: over one heart of his own two diamonds may be bid, one may not."""
    game = closing("H3 D3 D3", "S4", "C4", "D4").play("0 bid H x1")
    assert asked(game) == (0, ["pass", "bid D x2"])
    for refused in ("bid D x1", "bid H x1"):
        with pytest.raises(IllegalAction):
            game.play(f"0 {refused}")
    assert asked(game) == (0, ["pass", "bid D x2"])


@pytest.mark.parametrize(("rules", "decks"), [("dalian", 3), ("four_deck", 4)])
def test_r4_5_all_small_jokers_over_all_level_cards(rules: str, decks: int) -> None:
    game = closing(" ".join(["H3"] * decks), " ".join(["LJ"] * decks), "", "", rules=rules)
    game.play(f"0 bid H x{decks}")
    assert asked(game) == (1, ["pass", *SMALL])
    assert game.play("1 bid LJ:D").trump == "D"  # 0's level cards do not beat them: he is not asked again


def test_r4_5_big_jokers_over_all_level_cards_too() -> None:
    game = closing("H3 H3 H3", "BJ BJ BJ", "", "").play("0 bid H x3")
    assert asked(game) == (1, ["pass", *BIG])
    assert game.play("1 bid BJ:S").trump == "S"


@pytest.mark.parametrize(("rules", "decks"), [("dalian", 3), ("four_deck", 4)])
def test_r4_5_all_big_jokers_over_all_small_ones(rules: str, decks: int) -> None:
    """R4.5: 0 opens with a heart, 1's small jokers overturn it, 0's big ones overturn these."""
    game = closing("H3 " + " ".join(["BJ"] * decks), " ".join(["LJ"] * decks), "", "", rules=rules)
    game.play("0 bid H x1", "1 bid LJ:C")
    assert asked(game) == (0, ["pass", *BIG])
    assert game.play("0 bid BJ:D").trump == "D"


def test_r4_5_small_jokers_do_not_overturn_big_ones() -> None:
    """R4.5: 1 could have bid over the heart; over 0's big jokers he is not asked."""
    game = closing("H3 BJ BJ BJ", "LJ LJ LJ", "", "").play("0 bid H x1", "1 pass")
    assert asked(game) == (0, ["pass", *BIG])
    assert game.play("0 bid BJ:H").trump == "H"


def test_r4_5_the_bidder_may_overturn_his_own_small_jokers_with_big_ones() -> None:
    """R4.5: he holds both kinds; LJ:H does not beat his LJ:S, BJ:H does."""
    game = closing("H3 LJ LJ LJ BJ BJ BJ", "", "", "").play("0 bid H x1")
    assert asked(game) == (0, ["pass", *SMALL, *BIG])
    game.play("0 bid LJ:S")
    assert asked(game) == (0, ["pass", *BIG])
    with pytest.raises(IllegalAction):
        game.play("0 bid LJ:H")
    assert game.play("0 bid BJ:H").trump == "H"


# R4.6: counting the passes ---------------------------------------------------------------------------


def test_r4_6_silent_passes_count_and_the_last_bidders_own_is_the_fourth() -> None:
    """R4.6: after 0's heart 1 and 2 pass silently, 3 passes: three, so 0 is asked; his own pass ends it."""
    game = closing("H3 H3", "C4 C6", "C7 C8", "D3 D3 D3").play("0 bid H x1")
    assert asked(game) == (3, ["pass", "bid D x2", "bid D x3"])
    game.play("3 pass")
    assert asked(game) == (0, ["pass", "bid H x2"])
    assert (game.play("0 pass").phase != "bid", game.trump) == (True, "H")


def test_r4_6_a_bid_in_place_of_the_fourth_pass_starts_the_count_anew() -> None:
    """R4.6: 0 reinforces instead, and 3 is asked once more."""
    game = closing("H3 H3", "C4 C6", "C7 C8", "D3 D3 D3").play("0 bid H x1", "3 pass", "0 bid H x2")
    assert asked(game) == (3, ["pass", "bid D x3"])
    assert game.play("3 pass").trump == "H"  # 1, 2, 3 and 0, who has no bid left


def test_r4_6_a_bid_after_three_passes_asks_all_the_others_again() -> None:
    """R4.6: 0, 1 and 2 passed; over 3's spade 1 may speak again, and over 1's diamonds 2."""
    game = closing("H3", "D3 D3", "C3 C3 C3", "S3").play("0 pass", "1 pass", "2 pass", "3 bid S x1")
    assert asked(game) == (1, ["pass", "bid D x2"])
    game.play("1 bid D x2")
    assert asked(game) == (2, ["pass", "bid C x3"])
    assert game.play("2 pass").trump == "D"


def test_r4_6_without_a_bid_four_passes_from_the_dealer_on() -> None:
    """R4.6: 0 and 2 can bid and decline, 1 and 3 pass silently; 0 is not asked twice, and R4.7 gives the suit."""
    game = placed(hands=["H3", "C4", "D3", "S4"], phase="bid", kitty_cards="C9 C8 C7 D7 D8 D9").play("0 pass")
    assert asked(game) == (2, ["pass", "bid D x1"])
    assert (game.play("2 pass").phase != "bid", game.trump) == (True, "C")


# R4.8 ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", range(4))
def test_r4_8_dealer_levels_and_blood_are_those_of_before(dealer: int) -> None:
    """R4.8 in a later hand: other cards, and all else as it was; the new cards are dealt from the dealer too."""
    game = dealt(dealer=dealer, levels=(6, 9), blood=4, kitty=ALL_JOKERS)
    cards = deck_of_draw(game.t.draw[0])
    t = game.decline().t
    assert (t.attempt[0], sorted(deck_of_draw(t.draw[0])) == sorted(cards)) == (1, True)
    assert deck_of_draw(t.draw[0]) != cards
    assert (game.dealer, t.first[0], t.level[0]) == (dealer, dealer, (6, 9)[dealer % 2])
    assert (t.levels[0].tolist(), t.blood[0], bool(t.first_hand[0])) == ([6, 9], 4, False)
    assert [len(game.hand(seat).split()) for seat in range(4)] == dealt_so_far(game, dealer)


@pytest.mark.parametrize("first", range(4))
def test_r4_8_in_a_first_hand_the_race_begins_again_from_the_same_seat(first: int) -> None:
    """R4.8: the kitty names no suit (R4.3): still a first hand without a dealer, both on 3, nothing owed."""
    game = dealt(first=first, kitty=ALL_JOKERS)
    t = game.t
    assert (t.attempt[0], game.phase, game.dealer) == (1, "show", -1)
    assert (t.first[0], bool(t.first_hand[0]), t.levels[0].tolist(), t.blood[0]) == (first, True, [3, 3], 0)
    assert [len(game.hand(seat).split()) for seat in range(4)] == dealt_so_far(game, first)


def dealt_so_far(game: Game, first: int) -> list[int]:
    """R4.1: the size of each hand after so many cards from this seat on; whoever was dealt the last one is asked."""
    drawn = int(game.t.drawn[0])
    assert game.seat == (first + drawn - 1) % 4
    return [(drawn + 3 - (seat - first) % 4) // 4 for seat in range(4)]
