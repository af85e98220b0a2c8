"""Positions: what all have seen of the cards, in bids (R4.4), of the kitty (R6.1), and what was turned up."""

from __future__ import annotations

from typing import Any

import pytest

from gunzi_env.position import PositionError, format_position, parse, setup
from tests.rules.game import Game
from tests.test_position import assert_same


def test_a_bid_shows_its_cards() -> None:
    """R4.4: the standing bid's cards are known, overturned ones too; whoever lacks them cannot have bid."""
    hands = ["H3 H3 H4", "D3 S4", "LJ LJ LJ", "C3 C4"]
    game = Game(setup(hands=hands, phase="bid", bid="2xH", bidder=0, seat=2, shown=["", "D3", "", ""]))
    assert [game.sees_shown(3, s) for s in range(4)] == ["H3 H3", "D3", "", ""]
    assert [game.sees(3, s) for s in (0, 1, 2)] == ["H3 H3", "D3", ""]
    text = format_position(game.t)
    assert "bid: 2xH\nbidder: 0\n" in text and text.endswith("\nshown 0: H3 H3\nshown 1: D3")
    assert_same(game.t, parse(text))
    game.play("2 bid LJ:D")
    assert game.sees_shown(3, 2) == game.sees(3, 2) == "LJ LJ LJ"
    for bid, bidder in (("2xH", 1), ("3xH", 0), ("2xD", 1), ("3xBJ:H", 2)):
        with pytest.raises(PositionError, match=f"seat {bidder} has shown"):
            setup(hands=hands, phase="bid", bid=bid, bidder=bidder, seat=2)


def test_what_was_shown_stays_known_after_the_bidding() -> None:
    """R4.4: until it is played, also where the dealer may have buried it, and not where a tribute may have moved it."""
    hands = ["S3 H3", "H3 C4", "D4 BJ", "S5 S6"]
    fields: dict[str, Any] = {"hands": hands, "bid": "1xS", "bidder": 0, "shown": ["", "H3", "", ""]}
    game = Game(setup(**fields, dealer=2, leader=1))
    assert (game.sees_shown(3, 0), game.sees_shown(3, 1)) == (game.sees(3, 0), game.sees(3, 1)) == ("S3", "H3")
    assert (game.view(3).bid_strength[0], game.view(3).bid_seat[0]) == (1, 1)
    text = format_position(game.t)
    assert "bid: 1xS\nbidder: 0\n" in text and text.endswith("\nshown 0: S3\nshown 1: H3")
    assert_same(game.t, parse(text))
    game.play("1 H3")
    assert (game.sees_shown(3, 1), game.sees(3, 1)) == ("", "")
    assert "shown 1: H3" in format_position(game.t)
    dealer = Game(setup(**fields, dealer=0))
    assert (dealer.sees(3, 0), dealer.sees(3, None), dealer.sees_shown(3, 0)) == ("", "S3", "S3")
    buried = Game(setup(**fields | {"hands": ["S4 H4", *hands[1:]]}, kitty_cards="S3", dealer=0))
    assert (buried.sees(3, 0), buried.sees(3, None)) == ("", "S3")
    owing = Game(setup(**fields, dealer=2, blood=1))
    assert (owing.sees(3, 0), owing.sees_shown(3, 0)) == ("", "S3")
    assert_same(owing.t, parse(format_position(owing.t)))


def test_what_was_shown_at_the_tribute_and_the_burial() -> None:
    """The engine goes on from what was shown: it is given, or goes with the kitty into the dealer's hand."""
    hands = ["C7 H4", "H6 C4", "D4 H9", "S3 S6"]
    fields: dict[str, Any] = {"hands": hands, "bid": "1xS", "bidder": 3, "kitty_cards": "H5 S5"}
    tribute = Game(setup(**fields, phase="tribute", blood=1))
    assert (tribute.phase, tribute.tribute, tribute.sees(1, 0), tribute.sees(1, 3)) == ("return", "S3", "S3", "")
    bury = Game(setup(**fields | {"bidder": 0, "hands": ["S3 H4", *hands[1:3], "S7 S6"]}, phase="bury"))
    assert (bury.sees(1, 0), bury.sees(1, None)) == ("S3", "S5 H5")
    bury.play("0 S5", "0 H5")
    assert (bury.sees(1, 0), bury.sees(1, None)) == ("", "S3 S5 H5")
    dry = Game(setup(hands=["S3 H4", *hands[1:3], "S7 S6"], bid="1xS", dry=True, kitty_cards="H5 H6"))
    assert (dry.sees(1, 0), dry.sees(1, None)) == ("S3", "")


def test_a_public_kitty_leaves_less_known() -> None:
    """R6.5: jokers that were shown may have been put in, and the dealer's level card may have been picked up."""
    hands = ["S4 H4", "S3 C4", "D4 H6", "S5 S6"]
    game = Game(
        setup(
            hands=hands, dealer=0, kitty_cards="BJ BJ BJ H5", kitty_public=True, bid="3xBJ:S", bidder=2,
            shown=["S3", "", "", ""],
        )
    )  # fmt: skip
    assert [game.sees(3, s) for s in (0, 1, 2, None)] == ["", "", "", ""]
    assert_same(game.t, parse(format_position(game.t)))


def test_a_hidden_kitty() -> None:
    """R6.1, R6.6: nobody bid; a kitty that was not shown is not dry, and stays the dealer's secret."""
    hands, kitty = ["S4 H4", "S3 C4", "D4 H6", "S5 S6"], "H8 H9"
    shown = Game(setup(hands=hands, phase="bury", kitty_cards=kitty))
    assert (shown.phase, bool(shown.t.dry[0]), shown.sees_kitty(1)) == ("lead", True, "H8 H9")
    hidden = Game(setup(hands=hands, phase="bury", kitty_cards=kitty, kitty_shown=False))
    assert (hidden.phase, bool(hidden.t.dry[0]), hidden.sees(1, None)) == ("bury", False, "")
    assert not hidden.view(1).kitty_shown[0] and shown.view(1).kitty_shown[0]
    hidden.play("0 H9", "0 H8")
    text = format_position(hidden.t)
    assert "kitty shown: no" in text and "kitty shown" not in format_position(shown.t)
    again = Game(parse(text))
    assert_same(hidden.t, again.t)
    assert [again.sees_kitty(s) for s in range(4)] == ["H8 H9", None, None, None]
    assert parse(text.replace("shown: no", "shown: yes")).kitty_shown[0]


def test_a_hidden_kitty_after_an_exemption() -> None:
    """R5.5: nobody bid, and yet jokers were shown."""
    hands, jokers = ["S4 H4 H5 H6", "S3 C4 C6 C7", "D4 D6 H7 H8", "BJ BJ BJ BJ"], ["", "", "", "BJ BJ BJ BJ"]
    t = setup("four_deck", hands=hands, blood=2, shown=jokers, kitty_shown=False)
    assert Game(t).sees_shown(0, 3) == "BJ BJ BJ BJ"
    assert_same(t, parse(format_position(t)))
    with pytest.raises(PositionError, match="so the kitty was shown"):
        setup("four_deck", hands=hands, shown=jokers, kitty_shown=False)


def test_a_kitty_shorter_than_the_rules_is_flipped_as_it_is() -> None:
    """R4.3, R6.1: the cards that are there were seen by all, and no others."""
    hands = ["BJ S4", "H4 H5", "D4 D5", "C4 C5"]
    game = Game(setup(hands=hands, phase="show", kitty_cards="H6 D9")).play("0 pass")
    assert (game.dealer, game.trump, game.text(game.view(0).turned[:, 0])) == (1, "D", "H6 D9")
    game = Game(setup(hands=hands, phase="show", kitty_cards="LJ H6")).play("0 pass")
    assert (game.dealer, game.trump, game.text(game.view(0).turned[:, 0])) == (0, "H", "H6 LJ")
    game = Game(setup(hands=["D3 S4", *hands[1:]], phase="bid", kitty_cards="LJ H6 H7")).play("0 pass")
    assert (game.trump, game.text(game.view(0).turned[:, 0])) == ("H", "H6 LJ")
