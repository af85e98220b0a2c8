"""Bit planes: every function against plain Python on sets and counters."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gunzi_env import planes
from gunzi_env.planes import U64, Words

WORDS = st.integers(0, 2**54 - 1)
FULL_WORDS = st.integers(0, 2**64 - 1)
DEPTHS = st.integers(1, 4)


@st.composite
def multisets(draw: st.DrawFn, number: int = 1) -> tuple[int, list[Counter[int]]]:
    """A number of decks and some multisets of slots that fit it."""
    depth = draw(DEPTHS)
    cards = st.dictionaries(st.integers(0, 53), st.integers(1, depth), max_size=20)
    return depth, [Counter(draw(cards)) for _ in range(number)]


def pack(depth: int, *counters: Counter[int]) -> Words:
    """Planes ``uint64[depth, n]`` by the definition: bit s of plane d iff at least d + 1 copies."""
    rows = [[sum(1 << s for s, n in cards.items() if n > d) for cards in counters] for d in range(depth)]
    return np.array(rows, U64)


def held(words: Words) -> Counter[int]:
    """The multiset of planes ``uint64[depth]``; fails where a plane has a slot that the one below lacks."""
    for upper, lower in zip(words[1:], words[:-1]):
        assert int(upper) & ~int(lower) == 0, "no thermometer"
    return Counter({s: n for s in range(54) if (n := sum(int(w) >> s & 1 for w in words))})


def array(*words: int) -> Words:
    return np.array(words, U64)


def slots_of(word: int) -> list[int]:
    return [s for s in range(64) if word >> s & 1]


@given(multisets())
def test_count(given_: tuple[int, list[Counter[int]]]) -> None:
    depth, (cards,) = given_
    assert planes.count(pack(depth, cards)).tolist() == [cards.total()]
    assert planes.count(pack(depth, cards)).dtype == np.int16


@given(multisets())
def test_counts_there_and_back(given_: tuple[int, list[Counter[int]]]) -> None:
    depth, (cards,) = given_
    counts = np.array([[cards[s] for s in range(54)]])
    words = planes.from_counts(counts, depth)
    np.testing.assert_array_equal(words, pack(depth, cards))
    np.testing.assert_array_equal(planes.to_counts(words), counts)


@given(multisets(2))
def test_minus(given_: tuple[int, list[Counter[int]]]) -> None:
    """Never below none."""
    depth, (a, b) = given_
    assert held(planes.minus(pack(depth, a), pack(depth, b))[:, 0]) == a - b


@given(multisets(2))
def test_add(given_: tuple[int, list[Counter[int]]]) -> None:
    """For multisets whose union has no more than a copy a deck."""
    depth, (a, b) = given_
    b = Counter({s: n for s in b if (n := min(b[s], depth - a[s])) > 0})
    assert held(planes.add(pack(depth, a), pack(depth, b))[:, 0]) == a + b


@given(multisets(3))
def test_batches_do_not_mix(given_: tuple[int, list[Counter[int]]]) -> None:
    """Row by row the same as alone."""
    depth, (a, b, c) = given_
    left, right = pack(depth, a, b, c), pack(depth, c, a, b)
    together = planes.minus(left, right)
    for n, (x, y) in enumerate([(a, c), (b, a), (c, b)]):
        assert held(together[:, n]) == x - y


@given(st.integers(0, 53), st.integers(0, 4), DEPTHS)
def test_copies(slot: int, number: int, depth: int) -> None:
    words = planes.copies(np.array([slot]), np.array([number]), depth)
    assert words.dtype == U64
    assert held(words[:, 0]) == Counter({slot: min(number, depth)} if number else {})


@given(multisets())
def test_kth_smallest(given_: tuple[int, list[Counter[int]]]) -> None:
    depth, (cards,) = given_
    inside = sorted(cards.elements())
    for k, slot in enumerate(inside, start=1):
        assert planes.kth_smallest(pack(depth, cards), np.array([k])).tolist() == [slot]


@given(st.lists(st.sets(st.integers(0, 53)), min_size=1, max_size=4), st.integers(1, 4))
def test_thermometer(copies: list[set[int]], depth: int) -> None:
    """One word per copy, any copies of a slot may be the ones that are in it."""
    sets = (copies * 4)[:depth]
    words = np.array([[sum(1 << s for s in members)] for members in sets], U64)
    assert held(planes.thermometer(words)[:, 0]) == sum((Counter(members) for members in sets), Counter())


@given(WORDS)
def test_pack_and_unpack(word: int) -> None:
    flags = planes.unpack(array(word))
    assert flags.shape == (1, 54) and flags.dtype == np.bool_
    assert np.flatnonzero(flags[0]).tolist() == slots_of(word)
    assert planes.pack(flags).tolist() == [word]


def test_pack_keeps_leading_shape_and_short_rows() -> None:
    flags = np.zeros((2, 3, 5), np.bool_)
    flags[1, 2, 4] = True
    words = planes.pack(flags)
    assert words.shape == (2, 3) and words.dtype == U64 and words[1, 2] == 16 and words.sum() == 16
    assert planes.unpack(words).shape == (2, 3, 54)


@given(FULL_WORDS)
def test_bits_lowest_highest(word: int) -> None:
    inside = slots_of(word)
    words = array(word)
    assert planes.bits(words).tolist() == [len(inside)]
    assert planes.lowest(words).tolist() == [inside[0] if inside else 64]
    assert words.tolist() == [word]  # nothing is changed in place


@given(st.integers(0, 63))
def test_single(slot: int) -> None:
    assert planes.single(array(1 << slot)).tolist() == [slot]


@given(FULL_WORDS)
def test_select(word: int) -> None:
    inside = slots_of(word)
    words = np.full(len(inside), word, U64)
    assert planes.select(words, np.arange(len(inside))).tolist() == inside
    assert (words == U64(word)).all()


@given(FULL_WORDS, st.integers(0, 5), st.integers(0, 5))
def test_drop_lowest(word: int, k: int, more: int) -> None:
    left = planes.drop_lowest(array(word), np.array([k]), k + more)
    assert slots_of(int(left[0])) == slots_of(word)[k:]


@given(st.integers(0, 63), st.sampled_from([np.int8, np.uint8, np.int16, np.int64]))
def test_words_by_slot(slot: int, dtype: type) -> None:
    at: planes.Ints = np.array([slot], dtype)
    assert planes.BIT[at].tolist() == [1 << slot]
    assert planes.BELOW[at].tolist() == [(1 << slot) - 1]
    assert planes.at_or_below(at).tolist() == [(2 << slot) - 1]


def test_words_stay_words() -> None:
    """uint64 with int64 would silently be float64."""
    words = pack(3, Counter({3: 2, 53: 3}))
    for result in (
        planes.add(words, words & U64(0)),
        planes.minus(words, words),
        planes.drop_lowest(words, np.array([1]), 2),
        planes.thermometer(words),
        planes.from_counts(np.ones((1, 54), int), 3),
        planes.at_or_below(np.array([3])),
        planes.BIT,
        planes.BELOW,
    ):
        assert result.dtype == U64
    assert int(planes.FULL) == 2**54 - 1


def test_one_multiset_without_a_batch() -> None:
    """``uint64[D]``: in place on a plane of it would change a copy."""
    a, b = pack(3, Counter({3: 3, 5: 1}))[:, 0], pack(3, Counter({3: 1, 7: 2}))[:, 0]
    assert held(planes.minus(a, b)) == Counter({3: 2, 5: 1})
    assert held(planes.add(planes.minus(a, b), b)) == Counter({3: 3, 5: 1, 7: 2})


@given(st.lists(st.integers(33, 64), min_size=1, max_size=9), st.integers(0, 2**63))
def test_flags_of_joined_words(widths: list[int], seed: int) -> None:
    """Each word's lower bits, one word after the other."""
    rng = np.random.default_rng(seed)
    flags = [rng.random((5, width)) < 0.5 for width in widths]
    words = np.stack([planes.pack(part) for part in flags])
    joined = planes.flags(words, tuple(widths))
    assert joined.dtype == np.uint8
    np.testing.assert_array_equal(joined, np.concatenate(flags, axis=1))


def test_masks_of_flags() -> None:
    assert planes.where(np.array([True, False])).tolist() == [2**64 - 1, 0]
