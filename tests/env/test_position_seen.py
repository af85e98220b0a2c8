"""Positions: what all have seen of the cards, in bids (R4.4), of the kitty (R6.1), and what was turned up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gunzi_env import engine
from gunzi_env.position import PositionError, format_position, parse, setup
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables
from tests.env.test_position import RESULT, assert_same, random_action, random_hand
from tests.rules.game import Game


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


@pytest.mark.parametrize(
    ("hand", "phase", "kitty", "dealer", "trump"),
    [
        ("H3 SA", "bid", "H4 S4 C6 C7 C8 C9", 0, "H"),  # R4.7: the top card
        ("BJ SA", "show", "H4 S4 C6 C9 D6 D7", 3, "C"),  # R4.3: the fourth flips the highest card, a club
        ("BJ SA", "show", "D9 H9 C6 C7", 0, "D"),  # R4.3: of equals, who flipped first
    ],
)
def test_the_kitty_is_written_in_its_order(hand: str, phase: str, kitty: str, dealer: int, trump: str) -> None:
    t = setup(hands=[hand, "H9 H8", "S4 S6", "D8 D9"], phase=phase, kitty_cards=kitty)
    text = format_position(t)
    assert f"kitty: {kitty}" in text
    for table in (t, parse(text)):
        game = Game(table).play("0 pass")
        assert (game.dealer, game.trump) == (dealer, trump)


@pytest.mark.parametrize("preset", [name for name in Rules.presets() if Rules.preset(name).first_bid == "show"])
@pytest.mark.parametrize("first_hand", [True, False])
def test_what_is_read_in_the_closing_window_goes_on_like_the_original(preset: str, first_hand: bool) -> None:
    """R4.2, R4.3, R4.6, R4.7: the same actions give the same dealer, suit, kitty and result."""
    rules, rng = Rules.preset(preset), np.random.default_rng(5)
    phases, trumps = set(), set()
    for seed in range(20):
        t = Tables(rules, 1)
        engine.reset(t, seed, begin=False)
        engine.begin_hand(t, ONE_TABLE, dealer=np.array([-1 if first_hand else seed % 4]))
        while t.phase[0] <= Phase.BID and t.passes[0] < 0:
            engine.step(t, [t.actions.PASS])
        if t.phase[0] > Phase.BID:
            continue
        phases.add(Phase(t.phase[0]))
        again, attempt = parse(format_position(t)), int(t.attempt[0])
        while t.phase[0] != Phase.OVER and t.attempt[0] == attempt:  # R4.8: of another deal a position says nothing
            early = t.phase[0] <= Phase.BID and rng.random() < 0.8
            action = t.actions.PASS if early else random_action(t, rng)
            engine.step(t, [action])
            engine.step(again, [action])
            if t.attempt[0] == attempt and t.phase[0] <= Phase.LEAD:
                assert_same(t, again)
        trumps.add(int(t.trump[0]))
        for name in RESULT if t.attempt[0] == attempt else ():
            np.testing.assert_array_equal(getattr(t, name), getattr(again, name), name)
    assert phases == {Phase.SHOW if first_hand else Phase.BID} and trumps == {0, 1, 2, 3}


@pytest.mark.parametrize("phase", [Phase.TRIBUTE, Phase.BURY])
@pytest.mark.parametrize("preset", Rules.presets())
def test_the_tribute_and_the_burial_go_on_like_the_original(preset: str, phase: Phase) -> None:
    """R5.1, R6.2: with the kitty as dealt, which the dealer has in hand already."""
    seen = 0
    for seed in range(40):
        t = next((t.clone() for t, written in random_hand(preset, seed) if written and t.phase[0] == phase), None)
        if t is None or seen == 4:
            continue
        seen += 1
        again, rng = parse(format_position(t)), np.random.default_rng(seed)
        while t.phase[0] != Phase.OVER:
            action = random_action(t, rng)
            engine.step(t, [action])
            engine.step(again, [action])
            if t.phase[0] <= Phase.LEAD:
                assert_same(t, again)
        for name in RESULT:
            np.testing.assert_array_equal(getattr(t, name), getattr(again, name), name)
    assert seen == 4


def test_a_reversed_tribute_is_read_back() -> None:
    """R5.5: the jokers that were shown are with him who gets the tribute, and the dealer is asked."""
    hands = ["HA DA C6 C7 CQ", *("D4 H4 D7 D8 D9", "C8 C9 D6 S6 S7"), "BJ BJ BJ BJ H6"]
    game = Game(setup("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards="H4 S4", kitty_shown=False))
    assert (game.phase, game.seat, game.legal) == ("tribute", 0, ["HA", "DA"])
    text = format_position(game.t)
    assert "shown 3: BJ BJ BJ BJ" in text and "kitty shown: no" in text
    assert_same(game.t, parse(text))


def test_shapes_that_were_lacking_are_read_back() -> None:
    """R7.5: as public as a void."""
    hands = ["HK HK HA HA HA", "H6 H7 H8 H8 H8", "H9 H9 HT D4 C8", "D9 DT HJ H4 H5"]
    game = Game(setup("dalian_dead", hands=hands, leader=0)).play("0 HA HA HA", "1 H8 H8 H8")
    text = format_position(game.t)
    assert text.endswith("\nno pair: 3H\nno triple: 2H 3H")
    assert_same(game.t, parse(text))
    view = Game(setup("dalian_dead", hands=hands, no_pair="1H 3T", no_triple="2C", leader=2)).view(0)
    assert np.argwhere(view.no_pair[0]).tolist() == [[1, 0], [3, 3]]
    assert np.argwhere(view.no_triple[0]).tolist() == [[2, 1]]


def test_hands_shorter_than_the_rules_in_the_bidding() -> None:
    """Everybody knows how many cards he holds, and so how many the others do."""
    hands = ["H3 BJ SA", "H9 H8 D3", "S4 S6 LJ", "D8 D9 C4"]
    for phase in ("show", "bid"):
        game = Game(setup(hands=hands, phase=phase, kitty_cards="H6 S7"))
        assert game.view(1).held[0] == 3
        assert_same(game.t, parse(format_position(game.t)))
        assert game.decline().view(1).held[0] == 3
    # Hands that differ are nobody's knowledge; full ones are those of the game.
    assert Game(setup(hands=["H3", "", "", ""], phase="bid")).view(1).held[0] == 39
