"""The same game alone and in a batch, whatever the batch: action by action."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import Rules, engine
from gunzi_env.keys import mix
from gunzi_env.planes import U64, Words
from gunzi_env.tables import NOBODY, Phase, Tables

SEED = 77


def policy(t: Tables, ply: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """A random legal action that depends on the game alone: table, match, hand and ply."""
    key = mix(U64(SEED), t.table_id, t.match, t.hand, ply)
    number = np.maximum(t.actions.count(t.legal), 1).astype(U64)
    return t.actions.pick(t.legal, (key % number).astype(np.uint8))


def play_matches(rules: Rules, table_ids: Words, watched: int, matches: int) -> list[tuple[int, ...]]:
    """Play until the table in place ``watched`` has finished so many matches: all it was asked and did."""
    t = Tables(rules, len(table_ids))
    engine.reset(t, SEED, table_ids=table_ids)
    ply = np.zeros(t.num, np.int64)
    trace: list[tuple[int, ...]] = []
    while t.match[watched] < matches:
        actions = policy(t, ply)
        trace.append((int(t.phase[watched]), int(t.seat[watched]), int(actions[watched]), *t.legal[watched].tolist()))
        engine.step(t, actions)
        ply += 1
        over = np.flatnonzero(t.phase == Phase.OVER)
        if len(over):
            if t.phase[watched] == Phase.OVER:
                result = (int(t.score[watched]), *t.gain[watched].tolist(), int(t.match_winner[watched]))
                trace.append(result)
            engine.next_hand(t, over)
            ply[over] = 0
    return trace


@pytest.mark.parametrize("preset", Rules.presets())
@pytest.mark.parametrize("size", [2, 7, 64])
def test_alone_and_in_a_batch(preset: str, size: int) -> None:
    rules = Rules.preset(preset)
    table_id = 1_000_003
    ids = np.arange(size, dtype=U64) + U64(5)
    place = size // 2
    ids[place] = table_id
    alone = play_matches(rules, np.array([table_id], U64), 0, 1)
    assert len(alone) > 100
    assert play_matches(rules, ids, place, 1) == alone


def test_tables_of_one_id_have_the_same_deals() -> None:
    t = Tables(Rules.preset("dalian"), 6)
    engine.reset(t, 1, table_ids=np.array([4, 4, 5, 5, 6, 4], U64))
    assert (t.draw[0] == t.draw[1]).all()
    assert (t.draw[0] == t.draw[5]).all()
    assert (t.draw[0] != t.draw[2]).any()
    other = Tables(Rules.preset("dalian"), 1)
    engine.reset(other, 2, table_ids=np.array([4], U64))
    assert (other.draw[0] != t.draw[0]).any()


def test_deals_differ() -> None:
    t = Tables(Rules.preset("dalian"), 1000)
    engine.reset(t, 3)
    assert len({t.draw[n].tobytes() for n in range(1000)}) == 1000
    before = {t.draw[n].tobytes() for n in range(1000)}
    t.match_winner[:] = NOBODY
    t.hand[:] += 1
    engine.begin_hand(t, np.arange(1000))
    assert not before & {t.draw[n].tobytes() for n in range(1000)}


def test_first_seats_are_uniform() -> None:
    """R4.1; chi-square of 20,000 deals with 3 degrees of freedom: 35 is passed once in 10^7."""
    t = Tables(Rules.preset("dalian"), 20_000)
    engine.reset(t, 4)
    counts = np.bincount(t.first, minlength=4)
    assert ((counts - 5000) ** 2 / 5000).sum() < 35


def test_cards_are_dealt_uniformly() -> None:
    """Each face's mean position over 20,000 deals is within six standard errors of the middle."""
    t = Tables(Rules.preset("dalian"), 20_000)
    engine.reset(t, 4)
    mean = t.draw.astype(float).mean(axis=(0, 1))
    error = np.sqrt((162**2 - 1) / 12 / (3 * t.num))
    assert np.abs(mean - 80.5).max() < 6 * error
