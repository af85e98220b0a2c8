"""Records in a few buffers: fields lie where their schema says, and copies share nothing."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import Rules, compiled, engine, observe
from gunzi_env.packed import Packed, column, runs
from gunzi_env.tables import Tables

Array = npt.NDArray[Any]


class Record(Packed):
    one: Array = column(np.int8, reset=5)
    word: Array = column(np.uint64, shape=(lambda size: size, 3), axes=(0, 2, 1))
    pair: Array = column(np.int8, shape=(2,), reset=5)
    turned: Array = column(np.int8, shape=(2, 3), axes=(2, 1, 0), reset=-1)


class Shown(Packed):
    other: Array = column(np.int8)
    one = dataclasses.replace(Record.one, seen="same")
    pair = dataclasses.replace(Record.pair, seen="same")
    word = dataclasses.replace(Record.word, seen="same")
    turned = dataclasses.replace(Record.turned, seen="turned")


def record(number: int) -> Record:
    made = Record()
    made.fill(2, number)
    return made


def test_fields_lie_one_after_the_other() -> None:
    """Rows of the dtype's buffer in the order of the fields, each contiguous over the records."""
    made = record(5)
    octets, words = made.buffers
    assert octets.shape == (9, 5)
    assert words.shape == (6, 5)
    for row in range(9):
        octets[row] = row
    assert made.one.tolist() == [0] * 5
    assert made.pair.shape == (5, 2)
    assert made.pair[3].tolist() == [1, 2]
    assert made.turned.shape == (5, 3, 2)
    assert made.turned[4].tolist() == [[3, 6], [4, 7], [5, 8]]
    words[:] = np.arange(6, dtype=np.uint64)[:, None]
    assert made.word.shape == (2, 5, 3)
    assert made.word[1, 2].tolist() == [3, 4, 5]
    assert made.one.flags.c_contiguous


def test_a_field_is_the_buffer() -> None:
    made = record(2)
    made.pair[1, 0] = 7
    assert made.rows_of("pair").tolist() == [[0, 7], [0, 0]]
    assert made.rows_of("one", "pair").shape == (3, 2)
    assert [name for name, _, _ in made.arrays()] == ["one", "word", "pair", "turned"]


def test_what_is_no_field() -> None:
    with pytest.raises(AttributeError, match="'Record' object has no attribute 'points'"):
        _ = record(1).points  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        _ = Record().one  # nothing taken over yet


def test_the_size_of_a_schema() -> None:
    assert Record.schema_of(2).rows == {np.int8: 9, np.uint64: 6}
    assert Record.schema_of(3).rows == {np.int8: 9, np.uint64: 9}
    assert Record.schema_of(3) is Record.schema_of(3)


def test_reset_writes_the_declared_values() -> None:
    made = record(3)
    for buffer in made.buffers:
        buffer[:] = 1
    made.reset(np.array([0, 2]))
    assert made.one.tolist() == [5, 1, 5]
    assert made.pair.tolist() == [[5, 5], [1, 1], [5, 5]]
    assert (made.turned[[0, 2]] == -1).all() and (made.turned[1] == 1).all()
    assert (made.word == 1).all()
    assert made.schema.resets == [(0, 0, 3, 5), (0, 3, 9, -1)], "neighbours of one value are one run"


def test_runs_are_side_by_side_in_both() -> None:
    assert runs(Record, Shown, ("same",)) == (("one", "pair"), ("word", "word"))
    assert runs(Record, Shown, ("turned",)) == (("turned", "turned"),)
    assert runs(Record, Shown, ("same", "turned")) == (("word", "word"), ("one", "turned"))
    assert runs(Shown, Shown, (None,)) == (("other", "other"),)


def test_reset_of_tables_leaves_what_a_deal_decides() -> None:
    """A negative control of the columns: what has no value to be reset to is written when a hand begins, or before."""
    left = {field.name for field in Tables.columns if field.reset is None}
    assert left == {
        *("planes", "legal", "seed", "table_id", "match", "hand", "attempt", "level", "levels", "next_levels"),
        *(
            "dealer",
            "first",
            "first_hand",
            "phase",
            "seat",
            "passes",
            "bid_strength",
            "bid_suit",
            "bid_seat",
            "blood",
            "held",
        ),
        "drawn",
    }


def tables() -> Tables:
    t = Tables(Rules.preset("dalian"), 3)
    engine.reset(t, 4)
    return t


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), Tables.clone])
def test_copied_tables_play_on_alone(again: object) -> None:
    """What was derived from the buffers before the copy is derived from the copy's own."""
    t = tables()
    observe.encode_tables(t)
    engine.step(t, t.actions.unpack(t.legal).argmax(axis=1))
    before = t.save()
    other = again(t)  # type: ignore[operator]
    assert other == t
    if again is copy.copy:
        return  # shares its buffers, as a shallow copy does
    for _ in range(20):
        engine.step(other, other.actions.unpack(other.legal).argmax(axis=1))
    assert t.save() == before
    assert other != t


def test_a_view_that_serves_again() -> None:
    t = tables()
    out = observe.View(t.rules, 3)
    assert observe.view(t, out=out) is out
    assert np.array_equal(observe.encode(out), observe.encode(observe.view(t)))
    with pytest.raises(ValueError, match="out is a View of 3 rows, not of 2"):
        observe.view(t, np.array([0, 1]), out=out)
    again = pickle.loads(pickle.dumps(out))
    assert np.array_equal(observe.encode(again), observe.encode(out))


def test_a_view_of_nobody() -> None:
    """A part of a batch in which nobody is concerned."""
    t = tables()
    view = observe.view(t, np.empty(0, np.intp))
    assert view.known.shape == (3, 0, 5)
    assert observe.encode(view).shape == (0, observe.size(t.rules))
    assert len(view.rows(np.empty(0, np.intp))) == 0


def test_a_view_with_other_values() -> None:
    t = tables()
    view = observe.view(t)
    other = view.replace(score=np.array([5, 10, 15]))
    assert other.score.tolist() == [5, 10, 15]
    assert view.score.tolist() == t.score.tolist()
    with pytest.raises(ValueError, match="a View has no field 'points'"):
        view.replace(points=np.zeros(3))


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.bool_])
def test_encoding_into_other_types(dtype: type) -> None:
    t = tables()
    expected = observe.encode(observe.view(t))
    out = np.full((3, observe.size(t.rules)), 9, dtype)
    assert observe.encode(observe.view(t), out) is out
    assert np.array_equal(out, expected)
    assert np.array_equal(observe.encode_tables(t, out.copy()), expected)


@pytest.mark.parametrize("there", [False, True])
def test_encoding_refuses_what_does_not_fit(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code checks no bounds: it must not be reached."""
    monkeypatch.setattr(compiled, "available", lambda: there)
    t = tables()
    width = observe.size(t.rules)
    for shape in ((2, width), (3, width - 1), (3 * width,)):
        with pytest.raises(ValueError, match=r"out has shape .*: it must be \(3, 1179\)"):
            observe.encode_tables(t, np.zeros(shape, np.uint8))
    for seats in ([0, 1], [0, 1, 4], [0, -1, 2]):
        with pytest.raises(ValueError, match=r"seat must be 3 seats 0\.\.3"):
            observe.encode_tables(t, seat=np.array(seats, np.int8))


def test_a_view_of_tables_that_are_not_there() -> None:
    t = tables()
    with pytest.raises(IndexError):
        observe.view(t, np.array([3]))
    last = observe.encode(observe.view(t, np.array([-1])))
    assert np.array_equal(last, observe.encode(observe.view(t, np.array([2]))))


def test_encoding_into_bfloat16() -> None:
    """numpy knows no bfloat16; torch does."""
    torch = pytest.importorskip("torch")
    t = tables()
    tensor = torch.full((3, observe.size(t.rules)), 9.0, dtype=torch.bfloat16)
    observe.encode(observe.view(t), tensor.view(torch.int16).numpy(), one=observe.BFLOAT16_ONE)
    assert np.array_equal(tensor.float().numpy(), observe.encode(observe.view(t)))
