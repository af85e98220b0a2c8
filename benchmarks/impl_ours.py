"""Benchmark cases of gunzi. Each public factory function starts one (see :mod:`benchmarks.cases`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.loops import SEED, Started, Unavailable, Work, aec_games
from benchmarks.worker import measure
from gunzi_env import VectorEnv, actions, aec, observe
from gunzi_env.rules import Rules, load_rules
from gunzi_eval.throughput import Runner

RULES = "dalian"
ENGINE_SIZES = (16384, 65536, 131072)
OBSERVED_SIZES = (1024, 4096, 16384, 65536)
TRIAL_S = 0.3
SHARED_TABLES = 65536
"""Total number of tables of the two worker processes, and of the two loops. Both are fastest near this size."""


def uniform(vector: VectorEnv, draws: np.random.Generator) -> npt.NDArray[np.int32]:
    """Draw a uniform random legal action for each table, ``int32[N]``."""
    space, legal = actions.space(vector.rules), vector.legal_words
    counts = space.count(legal)
    return space.pick(legal, (draws.random(len(legal), np.float32) * counts).astype(np.uint8))


def observed_step(rules: Rules, num: int) -> Work:
    """Return a step of N tables that also fills buffers with observations (``uint8``) and masks (``bool``)."""
    runner = Runner(rules, num, SEED)
    tables = runner.tables
    seen = np.empty((num, observe.size(rules)), np.uint8)
    mask = np.empty((num, tables.actions.n), np.bool_)

    def work() -> int:
        observe.encode_tables(tables, seen)
        tables.actions.unpack(tables.legal, mask)
        return runner.step()

    return work


def engine_step(rules: Rules, num: int) -> Work:
    """Return a step of N tables, including legal actions and dealing."""
    return Runner(rules, num, SEED).step


def best_size(make: Callable[[Rules, int], Work], sizes: tuple[int, ...]) -> Started:
    """Start the work at the N that is fastest in a short trial on this machine."""
    rules = load_rules(RULES)

    def rate(num: int) -> float:
        work = make(rules, num)
        work()
        done = measure(work, TRIAL_S, wall=False)
        return done["decisions"] / done["cpu_s"]

    num = max(sizes, key=rate)
    return Started(make(rules, num), f"N = {num:,}")


def engine() -> Started:
    """Start the engine alone."""
    return best_size(engine_step, ENGINE_SIZES)


def observed() -> Started:
    """Start the engine with observations and masks."""
    return best_size(observed_step, OBSERVED_SIZES)


def env() -> Started:
    """Start gunzi's AEC environment with the PettingZoo wrappers."""
    return Started(aec_games(aec.env(rules=RULES)), "N = 1")


def raw_env() -> Started:
    """Start gunzi's AEC environment without wrappers."""
    return Started(aec_games(aec.raw_env(rules=RULES)), "N = 1")


def _vector_loop(num: int, **options: Any) -> Started:
    try:
        vector = VectorEnv(num, RULES, seed=SEED, skip_forced=False, **options)
    except TypeError as error:
        raise Unavailable(f"not available: {error}") from None
    vector.reset()
    # Start from tables in all phases of a hand, the steady state; tables that start together go through the phases in
    # lockstep. The Runner orders its tables by phase, so shuffle them: each worker needs a mixture as well.
    tables = Runner(vector.rules, num, SEED).tables
    vector.set_state(tables.select(np.random.default_rng(SEED).permutation(num)).save())
    draws = np.random.default_rng(SEED)

    def work() -> int:
        vector.step(uniform(vector, draws))
        return num

    return Started(work, f"N = {num:,}", getattr(vector, "close", lambda: None))


def independent_loop() -> Started:
    """Start one of two independent loops."""
    return _vector_loop(SHARED_TABLES // 2)


def two_workers() -> Started:
    """Start one loop over two worker processes."""
    return _vector_loop(SHARED_TABLES, num_workers=2)
