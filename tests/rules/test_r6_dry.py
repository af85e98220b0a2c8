"""R6.6: the dry pot."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gunzi_env import engine
from gunzi_env.chapters import kitty
from gunzi_env.order import layout
from gunzi_env.planes import pack
from gunzi_env.rulebook import is_dry, settle
from gunzi_env.rules import Rules
from gunzi_env.tables import Tables
from tests.rules.game import Game, dealt, placed

DALIAN = Rules.preset("dalian")
NEVER = dataclasses.replace(DALIAN, dry_pot=None)
NOT_IN_FIRST = dataclasses.replace(DALIAN, dry_pot_first_hand=False)


@pytest.mark.parametrize(
    ("cards", "ordinary", "neutral"),
    [
        ("H4 H6 C7 D9 DT SQ", False, False),  # side cards and an ordinary trump
        ("H4 H6 C7 D9 DT DQ", True, True),  # side cards alone
        ("S4 S6 S7 S9 ST SQ", True, True),  # ordinary trumps alone
        ("S4 S6 H3 C2 BJ LJ", True, True),  # trumps of every kind
        ("H3 C3 S3 D2 BJ LJ", True, True),  # trumps, none ordinary
        ("H4 H6 C7 D9 H2 S2", True, True),  # side cards and 2s: neutral in both readings
        ("H4 H6 C7 D9 BJ LJ", True, True),  # side cards and jokers
        ("H4 H6 C7 D9 DT H3", True, False),  # an off-suit level card: a trump, not permanent
        ("H4 H6 C7 D9 DT S3", True, False),  # the level card of the trump suit, too
        ("H4 H6 C7 D9 S4 H3", False, False),
    ],
)
def test_r6_6_which_kitty_is_dry(cards: str, ordinary: bool, neutral: bool) -> None:
    """R6.6 at level 3, spades trump: dry_pot ordinary_trump (dalian), permanent_neutral (classic, four_deck), None."""
    assert is_dry("dalian", 3, "S", cards) is ordinary
    assert is_dry("classic", 3, "S", cards) is neutral
    assert is_dry("four_deck", 3, "S", cards) is neutral
    assert not is_dry(NEVER, 3, "S", cards)


@pytest.mark.parametrize(
    ("level", "cards", "ordinary", "neutral"),
    [
        (3, "H4 H6 C8 D9 H7 S7", True, True),  # side cards and mixed trumps, the trump suit's among them
        (3, "H4 H6 C8 D9 C7 H2", True, True),
        (3, "S4 S6 H7 S7 D2 BJ", True, True),  # trumps alone
        (3, "H4 H6 C8 D9 S7 S4", False, False),  # an ordinary trump besides
        (3, "H4 H6 C8 D9 S7 D3", True, False),  # a level card besides
        (7, "H4 H6 C8 D9 DJ H7", True, False),  # where 7 is the level its cards are level cards, and not permanent
        (7, "H4 H6 C8 D9 DJ S7", True, False),
        (7, "S4 S6 S9 H7 S7 BJ", True, True),
    ],
)
def test_r6_6_mixed_trumps_are_permanent(level: int, cards: str, ordinary: bool, neutral: bool) -> None:
    """R6.6, R2.6 with mixed sevens, spades trump: ordinary_trump and permanent_neutral."""
    rules = dataclasses.replace(DALIAN, mixed_trump_rank=7)
    assert is_dry(rules, level, "S", cards) is ordinary
    assert is_dry(dataclasses.replace(rules, dry_pot="permanent_neutral"), level, "S", cards) is neutral


DRY = "H4 H6 C7 D9 DT DQ"


def bid(rules: Rules = DALIAN, kitty: str = DRY) -> Game:
    """Dealer 0's spades are trumps by his bid; the kitty is shown."""
    return dealt(rules, dealer=0, draws={0: "S3 S3 S3"}, kitty=kitty).play("0 bid S x1").decline()


def test_r6_6_a_dry_kitty_is_neither_exchanged_nor_added_to() -> None:
    """R6.6: play begins at once; seat 3 holds jokers and is not asked."""
    game = bid()
    assert (game.phase, game.seat, game.kitty) == ("lead", 0, DRY)
    assert "BJ" in game.hand(3).split()
    assert [len(game.hand(s).split()) for s in range(4)] == [39] * 4


def test_r6_6_all_have_seen_it() -> None:
    game = bid()
    assert [game.sees_kitty(seat) for seat in range(4)] == [DRY] * 4
    assert all(game.view(seat).dry[0] for seat in range(4))


def test_r6_6_switched_off() -> None:
    assert bid(NEVER).phase == "bury"


def test_r6_6_no_level_cards_in_the_way() -> None:
    """R6.6: a level card breaks the dryness under permanent_neutral alone."""
    cards = "H4 H6 C7 D9 DT H3"
    assert bid(kitty=cards).phase == "lead"
    assert bid(dataclasses.replace(DALIAN, dry_pot="permanent_neutral"), kitty=cards).phase == "bury"


@pytest.mark.parametrize(("rules", "phase"), [(DALIAN, "lead"), (NOT_IN_FIRST, "bury")])
def test_r6_6_in_the_first_hand(rules: Rules, phase: str) -> None:
    """R6.6, dry_pot_first_hand True and False: a joker is shown, spades are trumps."""
    assert dealt(rules, draws={0: "BJ S4"}, kitty=DRY).play("0 show").phase == phase


def test_r6_6_later_hands_are_judged_all_the_same() -> None:
    assert bid(NOT_IN_FIRST).phase == "lead"


def test_r6_6_a_hidden_kitty_is_never_dry() -> None:
    """R6.6: nobody bid; six diamonds would be dry."""
    game = dealt(dealer=0, kitty="D4 D6 D7 D9 DT DQ").decline()
    assert (game.phase, game.trump) == ("bury", "D")


def test_r6_6_nor_when_a_joker_makes_it_public_later() -> None:
    """R6.6: judged once. The dealer buries a joker and five side cards: public, not dry, its joker counts."""
    game = dealt(dealer=3, kitty="D4 D6 D7 D9 DT DQ", spare=3).decline()
    game.play("3 BJ")
    game.play(*(f"3 {card}" for card in burial_of_side_cards(game)))
    assert (game.view(0).kitty_public[0], game.view(0).dry[0]) == (True, False)


def burial_of_side_cards(game: Game) -> list[str]:
    """Five clubs, hearts or spades, highest slot first."""
    sides = [a for a in game.legal if a[0] in "SHC" and a[1] not in "23"]
    assert len(sides) >= 5
    return sides[4::-1]


def test_r6_6_level_changes_for_winning_still_happen() -> None:
    assert settle("dalian", 100, dug=False, dry=True).gain == (1, 0)
    assert settle("dalian", 130, dug=True, dry=True).gain == (0, 1)


def test_r6_6_its_jokers_give_neither_levels_nor_blood_and_end_no_match() -> None:
    wet, dry = settle("dalian", 100, False, big=3), settle("dalian", 100, False, big=3, dry=True)
    assert (wet.gain, wet.match_winner) == ((7, 0), 0)
    assert (dry.gain, dry.blood, dry.match_winner) == ((1, 0), 0, None)


@pytest.mark.parametrize(
    ("dry", "gain", "levels", "blood", "match_winner"),
    [(True, [1, 0], [4, 3], 0, -1), (False, [8, 0], None, 0, 0)],
)
def test_r6_6_nor_at_the_end_of_a_hand_that_was_played(
    dry: bool, gain: list[int], levels: list[int] | None, blood: int, match_winner: int
) -> None:
    """R6.6: three big jokers and a small one guarded at S = 100; not dry they give seven levels and end the match."""
    game = placed(hands=["HA", "H8", "H7", "H6"], kitty_cards="S4 S6 BJ BJ BJ LJ", dry=dry, score=100).play("0 HA")
    t = game.t
    assert (game.phase, bool(t.dug[0]), t.gain[0].tolist()) == ("over", False, gain)
    assert levels is None or t.next_levels[0].tolist() == levels  # void once the match has ended (R9.3)
    assert (t.next_blood[0], t.match_winner[0]) == (blood, match_winner)


@pytest.mark.parametrize(("dry", "gain", "blood", "match_winner"), [(True, [0, 1], 0, -1), (False, [0, 8], 0, 1)])
def test_r6_6_nor_when_it_is_dug(dry: bool, gain: list[int], blood: int, match_winner: int) -> None:
    """R6.6: the same kitty dug at S = 130."""
    game = placed(hands=["H8", "HA", "H7", "H6"], kitty_cards="S4 S6 BJ BJ BJ LJ", dry=dry, score=130).play("0 H8")
    t = game.t
    assert (game.phase, bool(t.dug[0]), t.gain[0].tolist()) == ("over", True, gain)
    assert (t.next_blood[0], t.match_winner[0]) == (blood, match_winner)


def test_r6_6_a_dealt_kitty_of_trumps_with_all_big_jokers() -> None:
    """R6.6: all six are trumps, so it is dry; the hand is played to its end and the match goes on, J = 0."""
    game = bid(dataclasses.replace(DALIAN, sweep_ends_match=False), kitty="S4 S6 BJ BJ BJ LJ")
    assert (game.phase, bool(game.t.dry[0])) == ("lead", True)
    t = game.hurry("over").t
    low, high = max(0, 80 - game.score), max(0, game.score - 150)
    assert (t.match_winner[0], t.next_blood[0]) == (-1, -(-low // 10) + high // 10)  # R9.6, the score part alone
    assert t.gain[0].sum() == ((game.score >= 120) == bool(t.dug[0]))  # R9: one level, or none


def test_r6_6_its_points_count_as_usual() -> None:
    """R6.6, R8.2: the attackers take the last trick (10) and dig 10 points twice."""
    game = placed(hands=["H4", "HK", "H6", "H7"], kitty_cards=DRY, dry=True).play("0 H4")
    assert (game.phase, game.score) == ("over", 30)


@pytest.mark.parametrize(("preset", "share"), [("dalian", 0.252), ("classic", 0.14)])
def test_r6_6_how_often_a_random_kitty_is_dry(preset: str, share: float) -> None:
    """R6.6: 25.2 % and about 14 % of three-deck kitties; 8,000 deals, four standard deviations are 2 %."""
    t = Tables(Rules.preset(preset), 8_000)
    engine.reset(t, 5)
    slots = t.layout.slot_of_face[3, 0]
    held = np.zeros((t.num, 54), np.bool_)
    held[:, slots] = (t.draw >= t.rules.num_dealt).any(axis=1)
    dry = kitty.is_dry(t.rules, layout(None), np.full(t.num, 3, np.int8), pack(held)[None])
    assert abs(dry.mean() - share) < 0.02
