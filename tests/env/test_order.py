"""Slots: the bijection with faces, masks, strengths and points for every level, trump suit and mixed rank (R2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from gunzi_env import cards, order, planes

MIXED = [None, *range(4, 14)]
LEVELS = range(3, 15)


def key(face: int, level: int, trump: int, mixed: int | None) -> tuple[int, int]:
    """Led suit and strength, written from R2.2-3 and R2.6: equal keys are equal cards."""
    suit, rank = cards.suit_of(face), cards.rank_of(face)
    if rank == 0:
        return 3, 1000 + face
    off_suit = 1 if suit == trump else 0
    if rank == level:
        return 3, 800 + off_suit
    if rank == mixed:
        return 3, 700 + off_suit
    if rank == 2:
        return 3, 600 + off_suit
    if suit == trump:
        return 3, rank
    return [s for s in range(4) if s != trump].index(suit), rank


@pytest.mark.parametrize("mixed", MIXED)
def test_faces_and_slots_are_a_bijection(mixed: int | None) -> None:
    table = order.layout(mixed)
    for level in LEVELS:
        for trump in range(4):
            faces, slots = table.face_of_slot[level, trump], table.slot_of_face[level, trump]
            assert sorted(faces) == list(range(54))
            np.testing.assert_array_equal(faces[slots], np.arange(54))


@pytest.mark.parametrize("mixed", MIXED)
def test_order_suits_and_strengths(mixed: int | None) -> None:
    """Slots rise with the key; equal strength exactly where the keys are equal; the led suit is the key's."""
    table = order.layout(mixed)
    for level in LEVELS:
        for trump in range(4):
            keys = [key(int(face), level, trump, mixed) for face in table.face_of_slot[level, trump]]
            assert keys == sorted(keys)
            assert table.suit_of_slot[level].tolist() == [suit for suit, _ in keys]
            equal = [a == b for a, b in pairwise(keys)]
            assert (np.diff(table.strength[level].astype(int)) == 0).tolist() == equal
            assert (np.diff(table.strength[level].astype(int)) >= 0).all()


@pytest.mark.parametrize("mixed", MIXED)
def test_masks_and_points(mixed: int | None) -> None:
    table = order.layout(mixed)
    for level in LEVELS:
        for trump in range(4):
            faces = table.face_of_slot[level, trump]
            ranks = np.array([cards.rank_of(int(f)) for f in faces])
            suits = np.array([cards.suit_of(int(f)) for f in faces])
            led = [key(int(f), level, trump, mixed)[0] for f in faces]
            for suit in range(4):
                np.testing.assert_array_equal(planes.unpack(table.suit_mask[level, suit]), np.array(led) == suit)
            points = np.select([ranks == 5, (ranks == 10) | (ranks == 13)], [5, 10], 0)
            np.testing.assert_array_equal(table.points[level], points)
            np.testing.assert_array_equal(planes.unpack(table.fives[level]), points == 5)
            np.testing.assert_array_equal(planes.unpack(table.tens[level]), points == 10)
            np.testing.assert_array_equal(planes.unpack(table.point_cards[level]), points > 0)
            np.testing.assert_array_equal(planes.unpack(table.level_cards[level]), ranks == level)
            permanent = (ranks == 0) | (ranks == 2) | ((ranks == mixed) & (level != mixed))
            np.testing.assert_array_equal(planes.unpack(table.permanent_trumps[level]), permanent)
            ordinary = (suits == trump) & ~permanent & (ranks != level)
            np.testing.assert_array_equal(planes.unpack(table.ordinary_trumps[level]), ordinary)


@pytest.mark.parametrize("mixed", MIXED)
def test_groups_of_equals_for_tribute_and_pick_up(mixed: int | None) -> None:
    """``rising``: side cards by rank over the suits, then trumps by strength; each slot in exactly one group (R5.1)."""
    table = order.layout(mixed)
    for level in LEVELS:
        groups = [np.flatnonzero(group).tolist() for group in planes.unpack(table.rising[level])]
        assert sorted(slot for group in groups for slot in group) == list(range(54))
        faces = table.face_of_slot[level, 0]
        found = [{key(int(faces[slot]), level, 0, mixed) for slot in group} for group in groups]
        side = [keys for keys in found if {suit for suit, _ in keys} != {3}]
        assert found[: len(side)] == side
        assert all(len({rank for _, rank in keys}) == 1 and len(keys) == 3 for keys in side)
        trumps = [keys for keys in found if {suit for suit, _ in keys} == {3}]
        assert all(len(keys) == 1 for keys in trumps)
        ranks = [min(rank for _, rank in keys) for keys in trumps]
        assert ranks == sorted(ranks)
        assert [min(keys)[1] for keys in side] == sorted(min(keys)[1] for keys in side)


def test_drawing_of_the_standard_layout() -> None:
    """The comment on top of order.py: level 3, hearts trump."""
    table = order.layout(None)
    faces = [cards.FACE_NAMES[f] for f in table.face_of_slot[3, 1]]
    assert " ".join(faces[0:11]) == "S4 S5 S6 S7 S8 S9 ST SJ SQ SK SA"
    assert " ".join(faces[11:22]) == "C4 C5 C6 C7 C8 C9 CT CJ CQ CK CA"
    assert " ".join(faces[22:33]) == "D4 D5 D6 D7 D8 D9 DT DJ DQ DK DA"
    assert " ".join(faces[33:44]) == "H4 H5 H6 H7 H8 H9 HT HJ HQ HK HA"
    assert " ".join(faces[44:]) == "S2 C2 D2 H2 S3 C3 D3 H3 LJ BJ"


@pytest.mark.parametrize("depth", [3, 4])
def test_value_of_cards(depth: int) -> None:
    """R1.4, card by card, at random levels."""
    table = order.layout(None)
    rng = np.random.default_rng(4)
    counts = rng.integers(0, depth + 1, (50, 54))
    level = rng.integers(3, 15, 50).astype(np.int8)
    expected = [int((counts[n] * table.points[level[n]]).sum()) for n in range(50)]
    assert table.value(level, planes.from_counts(counts, depth)).tolist() == expected


def test_tables_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        order.layout(None).strength[3, 0] = 1


def test_to_slots_and_to_faces() -> None:
    table = order.layout(None)
    faces = cards.parse_cards("S4 BJ H3 D2 D2")
    slots = order.to_slots(table, 3, 0, faces)
    assert slots == [33, 53, 48, 46, 46]
    assert order.to_faces(table, 3, 0, slots) == faces


@pytest.mark.parametrize("mixed", [None, 7, 13])
def test_relabel_there_and_back(mixed: int | None) -> None:
    """Words in provisional order go to the order of each trump suit and return; every face keeps its place."""
    table = order.layout(mixed)
    rng = np.random.default_rng(1)
    level = rng.integers(3, 15, 200).astype(np.int8)
    for old in range(4):
        trump = rng.integers(0, 4, 200).astype(np.int8)
        flags = rng.random((200, 5, 54)) < 0.3
        words = planes.pack(flags)
        there = order.relabel(table, words, level, trump, old)
        for row in (0, 57, 199):
            before = {int(table.face_of_slot[level[row], old, s]) for s in np.flatnonzero(flags[row, 2])}
            after = planes.unpack(there[row, 2])
            assert {int(table.face_of_slot[level[row], trump[row], s]) for s in np.flatnonzero(after)} == before
        for new in range(4):
            rows = trump == new
            home = np.full(int(rows.sum()), old, np.int8)
            np.testing.assert_array_equal(order.relabel(table, there[rows], level[rows], home, new), words[rows])


def test_relabel_to_the_same_trump_changes_nothing() -> None:
    words = planes.pack(np.random.default_rng(2).random((8, 3, 54)) < 0.5)
    level, trump = np.full(8, 5, np.int8), np.zeros(8, np.int8)
    np.testing.assert_array_equal(order.relabel(order.layout(None), words, level, trump), words)
