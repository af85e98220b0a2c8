"""The oracle played: bidding, tribute, kitty, and random hands (R4-R6, R11)."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import pytest

from tests.support.oracle import Oracle
from tests.support.oracle_hands import PRESETS, deck_of, decline, rules_of, start, words
from tests.support.oracle_rules import (
    BJ,
    LJ,
    face,
    faces,
    legal_plays,
    points,
    sub_multisets,
    text,
)

# ---- R4


def test_racing_to_show() -> None:
    def begin() -> Oracle:
        return start(rules_of(), {2: "BJ LJ D3 HA", 3: "S9 BJ"}, "LJ C9 S9 BJ S8 S7", first_seat=1)

    hand = begin()
    assert (hand.phase, hand.seat, hand.legal(), len(hand.stock)) == ("SHOW", 2, ["pass", "show"], 162 - 2)
    hand.apply("show")  # R4.2: the suit of his next suited card
    assert (hand.dealer, hand.trump, hand.seat, hand.shown[2], hand.turned) == (2, 3, 2, [BJ], [])
    hand = begin()
    hand.apply("pass")
    assert (hand.phase, hand.seat) == ("SHOW", 3)
    hand.apply("pass")
    assert (hand.seat, len(hand.stock), len(hand.kitty)) == (2, 0, 6)  # window from the first seat, 1, who has none
    hand.apply("pass")
    hand.apply("show")
    assert (hand.dealer, hand.trump) == (3, 2)  # from the kitty
    assert hand.kitty_known_to == {0, 1, 2, 3}


def test_flipping_the_kitty() -> None:
    kitty = "LJ H9 S4 BJ DK CK"
    hands = {0: "BJ BJ"}
    hand = start(rules_of(), hands, kitty, first_seat=1)
    decline(hand, "SHOW")
    assert (hand.dealer, hand.trump, words(hand.turned)) == (3, 3, kitty)  # of equals the first
    assert (hand.phase, hand.kitty_public, hand.kitty_known_to, hand.standing) == ("BURY", False, {3}, None)
    low = start(rules_of(first_flip="low"), hands, kitty, first_seat=1)
    decline(low, "SHOW")
    assert (low.dealer, low.trump) == (2, 0)
    auto = start(rules_of("classic"), {}, "S4 BJ BJ BJ HA LJ", first_seat=2)
    assert (auto.dealer, auto.trump) == (2, 0)  # two flipped a suited card
    auto = start(rules_of("classic"), {3: "BJ H4"}, first_seat=2, seed=3)
    assert auto.dealer == 3 and auto.trump == 1 and auto.phase != "SHOW"


def test_bidding() -> None:
    # The other level cards are with seat 2 (drawn last) and the kitty, so that nobody else interferes.
    hands = {0: "H3 H3 S4", 1: "LJ LJ LJ BJ BJ BJ", 2: " ".join(["C9"] + ["C3"] * 3 + ["D3"] * 3 + ["H4"])}
    hand = start(rules_of(), hands, "S3 S3 S3 H3 C5 D6", dealer=0, levels=(3, 7))
    assert (hand.phase, hand.seat, len(hand.stock)) == ("BID", 0, 161)
    assert hand.legal() == ["bid H x1", "pass"]
    hand.apply("pass")
    assert (hand.seat, hand.legal()) == (0, ["bid H x1", "bid H x2", "pass"])  # small jokers do not open
    hand.apply("bid H x1")
    assert hand.shown[0] == [face("H3")] and hand.standing == (0, 1, 1)
    assert (hand.seat, len(hand.stock), hand.hands[1]) == (1, 162 - 10, [LJ] * 3)
    assert hand.legal() == ["bid LJ:C", "bid LJ:D", "bid LJ:H", "bid LJ:S", "pass"]
    hand.apply("pass")
    assert (hand.seat, len(hand.stock), hand.legal()) == (2, 162 - 11, ["bid C x2", "pass"])  # at his second C3
    hand.apply("bid C x2")
    hand.apply("pass")  # seat 1 at his first BJ
    assert (hand.seat, hand.legal()) == (2, ["bid C x3", "pass"])  # reinforcing
    with pytest.raises(ValueError, match="not legal"):
        hand.apply("bid C x2")
    hand.apply("pass")
    hand.apply("pass")  # seat 1 at his second BJ
    assert (hand.seat, hand.hands[2][-1], hand.legal()) == (2, face("D3"), ["bid C x3", "pass"])  # any of his bids
    hand.apply("pass")
    assert (hand.seat, len(hand.legal())) == (1, 9)  # at his third BJ all small or all big ones
    while hand.stock:
        hand.apply("pass")
    assert (hand.seat, len(hand.kitty)) == (1, 6)  # the window (R4.6): seat 0 has nothing stronger
    hand.apply("pass")
    hand.apply("bid C x3")
    hand.apply("bid LJ:S")  # seat 1 again, by way of two silent seats
    assert (hand.seat, hand.legal()[0], hand.standing) == (1, "bid BJ:C", (1, 4, 0))  # his own is the fourth pass
    hand.apply("pass")
    assert hand.phase not in ("BID", "SHOW") and (hand.trump, hand.level, hand.dealer) == (0, 3, 0)
    assert hand.shown == [faces("H3"), [LJ] * 3, faces("C3 C3 C3"), []]


def test_window_goes_on_from_the_bidder() -> None:
    hands = {0: "H3", 1: "LJ LJ LJ", 2: "BJ BJ BJ", 3: "C9 C3 C3 C3 D3 D3 D3"}
    hand = start(rules_of(), hands, "H9 S3 S3 S3 H3 H3", dealer=0)
    while hand.stock:
        hand.apply("pass")
    hand.apply("bid H x1")
    assert hand.seat == 1
    hand.apply("bid LJ:S")
    assert hand.seat == 2
    hand.apply("pass")
    assert hand.trump == 0 and hand.phase != "BID"  # nobody else has anything stronger


def test_nobody_bids_and_redeal() -> None:
    hidden = start(rules_of(), {}, "LJ BJ C9 S4", dealer=3, levels=(3, 6))
    decline(hidden, "BID")
    assert (hidden.trump, hidden.level, hidden.dealer, words(hidden.turned)) == (2, 6, 3, "LJ BJ C9")  # R4.7
    assert (hidden.kitty_public, hidden.kitty_known_to, hidden.dry, len(hidden.hands[3])) == (False, {3}, False, 45)
    jokers = deck_of(rules_of(), 3, {}, "LJ LJ LJ BJ BJ BJ")
    again = Oracle(rules_of(), dealer=3, blood=2, deck=[jokers, deck_of(rules_of(), 3, {}, "H4")].__getitem__)
    decline(again, "BID")
    assert (again.attempt, again.dealer, again.blood, again.trump) == (1, 3, 2, 1)  # R4.8
    assert len(again.hands[3]) + len(again.pending) == (39 if again.phase == "TRIBUTE" else 41)
    first = Oracle(rules_of("classic"), first_seat=2, deck=[jokers, deck_of(rules_of(), 2, {3: "BJ H4"})].__getitem__)
    assert (first.attempt, first.dealer, first.trump) == (1, 3, 1)


# ---- R5, R6


def outcomes(hand: Oracle, seat: int) -> Counter[tuple[int, ...]]:
    """All ways through the choice that `hand` asks now, each as the cards named in it, forced ones included."""
    found: Counter[tuple[int, ...]] = Counter()
    phase = hand.phase
    assert hand.legal(), "a dead end"
    for decision in hand.legal():
        after, need = copy.deepcopy(hand), hand._need
        after.apply(decision)
        if need == len(decision.split()):
            found[tuple(sorted(hand.pending + faces(decision)))] += 1
        else:
            assert (after.phase, after.seat) == (phase, seat)
            found += outcomes(after, seat)
    return found


def largest(hand: Oracle, cards: list[int], n: int, sign: int = 1) -> set[tuple[int, ...]]:
    """Every choice of n cards such that no card left over is stronger (sign -1: weaker) than one that was chosen."""
    power, found = hand.order.power, set()
    for chosen in sub_multisets(cards, n):
        left = (Counter(cards) - Counter(chosen)).elements()
        if max((sign * power[c] for c in left), default=-999) <= min(sign * power[c] for c in chosen):
            found.add(chosen)
    return found


@pytest.mark.parametrize("blood", [1, 2, 3])
def test_tribute_and_return(blood: int) -> None:
    rng = random.Random(blood)
    for seed, level in ((1, 10), (2, 5), (3, 4), (4, 10), (5, 7)):
        for kept in (True, False):
            r = rules_of(tribute_level_points=kept)
            hand = start(r, {0: "D2 C2 C2 H2 D2"}, "S9", dealer=1, blood=blood, levels=(3, level), seed=seed)
            decline(hand, "BID")
            if hand.phase == "TRIBUTE":
                may = [c for c in hand.hands[0] + hand.pending if not points(c) or (kept and c % 13 == level - 2)]
                assert outcomes(hand, 0) == dict.fromkeys(largest(hand, may, blood), 1)
            while hand.phase == "TRIBUTE":
                hand.apply(rng.choice(hand.legal()))
            assert (hand.phase, hand.seat, len(hand.hands[1])) == ("RETURN", 1, 39 + blood)
            if blood < 3:
                side = [c for c in hand.hands[1] if hand.order.suit[c] != "T" and not points(c)]
                assert outcomes(hand, 1) == dict.fromkeys(sub_multisets(side, blood), 1)
            while hand.phase == "RETURN":
                hand.apply(hand.legal()[0])
            assert [len(cards) for cards in hand.hands] == [39, 45, 39, 39]


def test_tribute_in_the_partial_group_only() -> None:
    hands = {3: "BJ LJ LJ S3 H3 D3 D3 S4", 1: "BJ BJ LJ S3 S3 H3 H3 C3 C3 C3 D3"}
    hand = start(rules_of(), hands, "S9 S4", dealer=0, blood=6)
    decline(hand, "BID")
    assert (hand.phase, hand.seat, words(hand.pending)) == ("TRIBUTE", 3, "S3 LJ LJ BJ")
    assert hand.legal() == ["D3"]  # the higher slot of the two is named first, and an H3 alone would be too few
    assert outcomes(hand, 3) == {tuple(faces("BJ LJ LJ S3 " + two)): 1 for two in ("D3 D3", "H3 D3")}
    whole = start(rules_of(), hands, "S9 S4", dealer=0, blood=7)
    decline(whole, "BID")
    assert (whole.phase, whole.seat, len(whole.hands[0])) == ("RETURN", 0, 46)


@pytest.mark.parametrize(("holder", "giver"), [(2, 3), (0, None), (1, 2), (3, 2)])
def test_exemption(holder: int, giver: int | None) -> None:
    hand = start(rules_of("four_deck"), {holder: "BJ BJ BJ BJ"}, "S9 H4", dealer=3, blood=4, seed=5)
    decline(hand, "BID")
    seen = [cards.count(BJ) for cards in hand.shown]
    assert seen[holder] == (4 if holder in (0, 2) else 0)  # R5.5: the giver is 2, his partner 0
    while hand.phase == "TRIBUTE":
        assert hand.seat == giver
        hand.apply(hand.legal()[0])
    assert (hand.phase == "RETURN") == (giver is not None)
    if giver is not None:
        assert hand.seat == (2 if giver == 3 else 3) and len(hand.hands[giver]) == 48
    while hand.phase == "RETURN":
        hand.apply(hand.legal()[0])
    assert [len(cards) for cards in hand.hands] == [52, 52, 52, 60]


def buried(rules: Any, bury: str, hands: dict[int, str], kitty: str) -> Oracle:
    """Dealer 0 has buried `bury`; nobody bid."""
    hand = start(rules, {0: bury, **hands}, kitty, dealer=0)
    decline(hand, "BID")
    slot = hand.order.slot
    for card in sorted(faces(bury), key=lambda c: -slot[c]):
        hand.apply(text(card))
    return hand


def test_others_bury_jokers() -> None:
    hands = {1: "BJ LJ LJ", 2: "BJ", 3: "S9"}
    hand = buried(rules_of(), "H4 C4 D4 D4 SK S2", hands, "S9 LJ BJ")
    assert (hand.phase, hand.seat, hand.pickable, hand.kitty_known_to) == ("JOKERS", 1, 5, {0})
    assert hand.legal() == ["BJ", "pass"]  # R6.3
    hand.apply("BJ")
    assert (hand.legal(), hand.pending, hand.kitty_public) == (["LJ", "pass"], [BJ], False)
    hand.apply("pass")
    assert (hand.phase, hand.seat, hand.legal()) == ("PICKUP", 1, ["C4", "D4", "H4"])  # side cards before trumps
    assert hand.kitty_public and len(hand.kitty) == 7
    assert outcomes(hand, 1) == dict.fromkeys(largest(hand, faces("C4 D4 D4 H4 S2"), 1, -1), 1)
    hand.apply("D4")
    assert (hand.phase, hand.seat, hand.pickable, words(hand.kitty)) == ("JOKERS", 2, 4, "S2 SK H4 C4 D4 BJ")
    hand.apply("BJ")  # he has no other: the choice ends by itself
    assert (hand.phase, hand.seat) == ("PICKUP", 2)
    two = buried(rules_of(), "H4 C4 D5 DK SK S2", {1: "BJ LJ LJ"}, "S9 LJ BJ BJ")
    assert two.pickable == 3
    two.apply("BJ")
    two.apply("LJ")
    two.apply("LJ")  # all three picked up unasked, the trump as well
    assert (two.phase, two.seat, two.pickable, words(two.kitty)) == ("LEAD", 0, 0, "SK D5 DK LJ LJ BJ")
    assert [len(cards) for cards in two.hands] == [39] * 4


def test_burials_that_are_closed() -> None:
    hands = {1: "BJ LJ"}
    assert buried(rules_of(), "H5 CT DK SK ST S5", hands, "S9").phase == "LEAD"  # nothing to pick up
    assert buried(rules_of(others_bury=False), "H4 C4 D5 DK SK S2", hands, "S9").phase == "LEAD"
    strict = rules_of(others_bury_block="any_points")
    assert buried(strict, "H4 C4 D6 D7 SK S2", hands, "S9").phase == "LEAD"
    assert buried(strict, "H4 C4 D6 D7 S4 S2", hands, "S9").phase == "JOKERS"
    own = buried(rules_of(), "BJ LJ C4 D6 D7 S4", {1: "BJ BJ"}, "S9")
    assert own.kitty_public and own.kitty_known_to == {0, 1, 2, 3}  # R6.4


def test_dealer_buries_big_before_small() -> None:
    hand = start(rules_of(), {0: "BJ BJ LJ"}, "S9 BJ S4 LJ", dealer=0)
    decline(hand, "BID")
    for _ in range(3):
        assert "LJ" not in hand.legal() and "BJ" in hand.legal()
        hand.apply("BJ")
    assert "LJ" in hand.legal()


def test_dry_kitty_stays_where_it_is() -> None:
    kitty = "C4 LJ D7 D8 S9 S4"
    hand = start(rules_of(), {0: "H3 BJ", 1: "BJ"}, kitty, dealer=0)
    hand.apply("bid H x1")
    decline(hand, "BID")
    assert (hand.phase, hand.seat, hand.dry, hand.pickable) == ("LEAD", 0, True, 0)
    assert hand.kitty == faces(kitty) and hand.kitty_known_to == {0, 1, 2, 3}
    hidden = start(rules_of(), {0: "H3"}, "H9 S2 LJ BJ H4 H3", dealer=0)
    decline(hidden, "BID")
    assert (hidden.phase, hidden.dry, hidden.kitty_public) == ("BURY", False, False)


# ---- random play (R11)


def check_laws(hand: Oracle) -> None:
    everything = [*hand.hands, *hand.played, hand.kitty, hand.stock, hand.pending]
    assert sorted(card for cards in everything for card in cards) == sorted(list(range(54)) * hand.rules.decks)
    assert all(cards == sorted(cards) for cards in [*hand.hands, hand.pending])
    assert hand.score % 5 == 0
    for seat, suit in hand.void:
        assert not any(hand.order.suit[card] == suit for card in hand.hands[seat])
    if hand.phase in ("JOKERS", "LEAD", "OVER"):
        assert len(hand.kitty) == hand.rules.kitty_size
        done = len(hand.played[0])
        assert [len(cards) for cards in hand.hands] == [
            hand.rules.hand_size - done - (s == hand.seat) * len(hand.pending) for s in range(4)
        ]


def check_refusal(hand: Oracle, rng: random.Random) -> None:
    wrong = rng.choice(["", "pass", "show", "bid H x1", "BJ BJ", "XX", text(rng.randrange(54)), "H4 S4"])
    if wrong not in hand.legal():
        before = {k: copy.deepcopy(v) for k, v in vars(hand).items() if k not in ("rules", "_deck")}
        with pytest.raises(ValueError, match="not legal"):
            hand.apply(wrong)
        assert before == {k: v for k, v in vars(hand).items() if k in before}


def check_follow(hand: Oracle) -> None:
    """At the first question of a play: the sequences of units are the legal plays, each exactly once (DESIGN 5)."""
    whole, lead = hand.hands[hand.seat] + hand.pending, hand.trick[0][1]
    plays = legal_plays(hand.rules, hand.level, hand.order.trump, whole, lead)
    if len(plays) <= 300:
        assert outcomes(hand, hand.seat) == dict.fromkeys(plays, 1)
    else:
        first = {max((n, hand.order.slot[c]) for c, n in (Counter(p) - Counter(hand.pending)).items()) for p in plays}
        cards = {slot: text(card) for card, slot in hand.order.slot.items()}
        assert hand.legal() == sorted(" ".join([cards[slot]] * n) for n, slot in first)


def play_hand(hand: Oracle, rng: random.Random) -> None:
    decisions, shown = 0, hand.shown
    proven: set[Any] = set()
    while hand.phase != "OVER":
        decisions += 1
        legal = hand.legal()
        assert legal and len(set(legal)) == len(legal), "a dead end"
        if rng.random() < 0.25:
            check_laws(hand)
        if rng.random() < 0.03:
            check_refusal(hand, rng)
        if hand.phase == "FOLLOW" and not hand._units and rng.random() < (0.3 if len(hand.trick[0][1]) > 1 else 0.1):
            check_follow(hand)
        hand.apply(rng.choice(legal))
        shown = shown if any(hand.played) else hand.shown
        for seat, cards in hand.trick:
            led = hand.order.suit[hand.trick[0][1][0]]
            proven |= {(seat, led) for card in cards if hand.order.suit[card] != led}
    check_laws(hand)
    assert hand.result is not None and decisions < 400
    trick_points = sum(points(card) for cards in hand.played for card in cards)
    assert trick_points + sum(map(points, hand.kitty)) == 100 * hand.rules.decks
    assert 0 <= hand.result["score"] <= 120 * hand.rules.decks and hand.result["score"] % 5 == 0
    kitty_points = sum(map(points, hand.kitty))
    assert hand.result["score"] == hand.score + (2 * kitty_points if hand.result["dug"] else 0)  # R8.2-3
    for before, after, played in zip(shown, hand.shown, hand.played):
        assert Counter(before) - Counter(played) == Counter(after)  # R4.4
    assert hand.score <= trick_points and not hand.pending and not hand.trick and hand.kitty_public
    assert proven <= hand.void


@pytest.mark.parametrize("preset", PRESETS)
def test_random_matches(preset: str) -> None:
    rules, rng = rules_of(preset), random.Random(f"self play {preset}")
    state: dict[str, Any] = {"dealer": None, "first_seat": 2}
    matches = 0
    for _ in range(30):
        deals: dict[int, list[int]] = {}

        def deck(attempt: int, deals: dict[int, list[int]] = deals) -> list[int]:
            return deals.setdefault(attempt, rng.sample(list(range(54)) * rules.decks, 54 * rules.decks))

        hand = Oracle(rules, deck=deck, **state)
        assert hand.blood == state.get("blood", 0)
        play_hand(hand, rng)
        result = hand.result
        assert result is not None and hand.dealer is not None
        if result["match_winner"] is not None:
            matches += 1
            state = {"dealer": None, "first_seat": rng.randrange(4)}
            continue
        step = 2 if result["winner"] == "dealers" else 1
        assert result["next_dealer"] == (hand.dealer + step) % 4 and result["blood"] >= 0
        assert all(level <= rules.last_level for level in result["levels"])
        state = {"dealer": result["next_dealer"], "blood": result["blood"], "levels": result["levels"]}
    assert matches
