"""The flat numbering of decisions: names, words of legal actions, and the choice among them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gunzi_env import actions, order
from gunzi_env.actions import ActionSpace
from gunzi_env.cards import FACE_NAMES
from gunzi_env.planes import U64, Words, pack
from gunzi_env.rules import Rules

THREE = actions.space(Rules.preset("dalian"))
FOUR = actions.space(Rules.preset("four_deck"))
SPACES = pytest.mark.parametrize("space", [THREE, FOUR], ids=["three decks", "four decks"])


@SPACES
def test_numbering(space: ActionSpace) -> None:
    """The table on top of actions.py."""
    d = space.decks
    assert space.n == 58 * d + 10
    assert [space.card(0), space.card(53), space.card(0, 2), space.card(53, d)] == [0, 53, 54, 54 * d - 1]
    others = [space.PASS, space.SHOW]
    assert others == [54 * d, 54 * d + 1]
    bids = [space.bid(m, suit) for suit in range(4) for m in range(1, d + 1)]
    bids += [space.bid(strength, suit) for strength in (d + 1, d + 2) for suit in range(4)]
    assert bids == list(range(54 * d + 2, 58 * d + 10))


@SPACES
def test_strength_and_suit_of_bids(space: ActionSpace) -> None:
    for b, (strength, suit) in enumerate(zip(space.bid_strength.tolist(), space.bid_suit.tolist())):
        assert space.bid(strength, suit) == space.BIDS + b
    assert len(space.bid_strength) == space.n - space.BIDS


def test_names_at_level_3_hearts_trump() -> None:
    """Slot 0 is S4, 43 HA, 47 H2, 51 H3."""
    named = {
        0: "S4", 54: "S4 S4", 108: "S4 S4 S4", 43: "HA", 47: "H2", 51: "H3", 161: "BJ BJ BJ",
        162: "pass", 163: "show", 164: "bid S x1", 169: "bid H x3", 175: "bid D x3",
        176: "bid LJ:S", 179: "bid LJ:D", 180: "bid BJ:S", 183: "bid BJ:D",
    }  # fmt: skip
    assert {action: THREE.name(action, 3, 1) for action in named} == named


@SPACES
def test_names_are_read_back(space: ActionSpace) -> None:
    """All actions, levels and trump suits; and every name is different."""
    for level in range(3, 15):
        for trump in range(4):
            names = [space.name(action, level, trump) for action in range(space.n)]
            assert len(set(names)) == space.n
            assert [space.parse(name, level, trump) for name in names] == list(range(space.n))


def test_mixed_trumps_have_other_slots() -> None:
    """R2.6: the same name is another action."""
    mixed = actions.space(dataclasses.replace(Rules.preset("dalian"), mixed_trump_rank=7))
    for name in FACE_NAMES:
        action = mixed.parse(name, 3, 0)
        assert mixed.name(action, 3, 0) == name
        assert action == order.layout(7).slot_of_face[3, 0, FACE_NAMES.index(name)]
    assert mixed.parse("H7", 3, 0) != THREE.parse("H7", 3, 0)


def test_text_is_read_freely() -> None:
    assert THREE.parse("  s4   s4 ", 3, 1) == 54
    assert THREE.parse("bid  h x2", 3, 1) == THREE.bid(2, 1)


@SPACES
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no action"),
        ("S4 S5", "'S4 S5'"),
        ("S4 S4 S4 S4 S4", "'S4 S4 S4 S4 S4'"),
        ("SX", "'SX'"),
        ("pass pass", "'pass'"),
        ("bid", "'bid'"),
        ("bid H", "'bid H'"),
        ("bid H x0", "'bid H x0'"),
        ("bid H x5", "'bid H x5'"),
        ("bid H 2", "'bid H 2'"),
        ("bid X x2", "'X'"),
        ("bid LJ:X", "'X'"),
        ("bid LJ", "'bid LJ'"),
        ("bid AJ:S", "'bid AJ:S'"),
        ("bid LJ:", "''"),
    ],
)
def test_bad_text_is_named(space: ActionSpace, text: str, named: str) -> None:
    with pytest.raises(ValueError) as error:
        space.parse(text, 3, 1)
    assert named in str(error.value)


def test_as_many_copies_as_decks() -> None:
    assert FOUR.parse("S4 S4 S4 S4", 3, 1) == FOUR.card(0, 4)
    assert FOUR.parse("bid H x4", 3) == FOUR.bid(4, 1)
    for text in ("S4 S4 S4 S4", "bid H x4"):
        with pytest.raises(ValueError, match=text):
            THREE.parse(text, 3, 1)


@pytest.mark.parametrize("action", [-1, 184, 10**6])
def test_no_name_outside(action: int) -> None:
    with pytest.raises(ValueError, match=f"{action} is outside 0..183"):
        THREE.name(action, 3, 1)


def random_flags(space: ActionSpace, rows: int, seed: int) -> np.ndarray:
    """Legal sets of all sizes, none among them empty but the first."""
    rng = np.random.default_rng(seed)
    flags = rng.random((rows, space.n)) < rng.random((rows, 1)) ** 3
    flags[np.arange(rows), rng.integers(0, space.n, rows)] = True
    flags[0] = False
    return flags


def words_of(space: ActionSpace, flags: np.ndarray) -> Words:
    """The words by their definition: slots of m copies, then one bit for each action from pass on."""
    cards = [pack(flags[:, 54 * m : 54 * (m + 1)]) for m in range(space.decks)]
    return np.stack([*cards, pack(flags[:, space.PASS :])], axis=1)


@SPACES
def test_unpack(space: ActionSpace) -> None:
    flags = random_flags(space, 300, 1)
    words = words_of(space, flags)
    np.testing.assert_array_equal(space.unpack(words), flags)
    out = np.ones_like(flags)
    assert space.unpack(words, out) is out
    np.testing.assert_array_equal(out, flags)


@SPACES
def test_is_legal(space: ActionSpace) -> None:
    flags = random_flags(space, 100, 2)
    words = words_of(space, flags)
    for action in range(space.n):
        found = space.is_legal(words, np.full(100, action))
        np.testing.assert_array_equal(found, flags[:, action])


@SPACES
def test_pick_is_the_legal_action_of_that_number(space: ActionSpace) -> None:
    """In the order of the numbering; pass where none is legal."""
    flags = random_flags(space, 200, 3)
    words = words_of(space, flags)
    numbers = [np.flatnonzero(row) for row in flags]
    for index in range(max(map(len, numbers))):
        expected = [n[min(index, len(n) - 1)] if len(n) else space.PASS for n in numbers]
        chosen = np.array([min(index, max(len(n) - 1, 0)) for n in numbers])
        picked = space.pick(words, chosen)
        assert picked.dtype == np.int32 and picked.tolist() == expected


def test_a_space_for_each_rules_made_once() -> None:
    assert actions.space(Rules.preset("dalian")) is THREE
    assert THREE.n == 184 and FOUR.n == 242
    assert words_of(THREE, random_flags(THREE, 2, 4)).dtype == U64
