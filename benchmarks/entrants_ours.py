"""Our contestants; each function starts one (see :mod:`benchmarks.contestants`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.loops import SEED, Started, Unavailable, Work, aec_games
from benchmarks.worker import measure
from gunzi_env import VectorEnv, actions, aec, observe
from gunzi_env.rules import Rules, load_rules
from gunzi_eval.commands.bench import Runner

RULES = "dalian"
ENGINE_SIZES = (16384, 65536, 131072)
OBSERVED_SIZES = (1024, 4096, 16384, 65536)
TRIAL_S = 0.3
SHARED_TABLES = 65536
"""Tables of the two worker processes together, and of the two loops together: both are fastest about there."""


def uniform(vector: VectorEnv, draws: np.random.Generator) -> npt.NDArray[np.int32]:
    """A uniform random legal action of each table, ``int32[N]``."""
    space, legal = actions.space(vector.rules), vector.legal_words
    counts = space.count(legal)
    return space.pick(legal, (draws.random(len(legal), np.float32) * counts).astype(np.uint8))


def observed_step(rules: Rules, num: int) -> Work:
    """A step of N tables with the full observation ``uint8`` and the mask ``bool`` in buffers that are ours."""
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
    """A step of N tables, legality and dealing included."""
    return Runner(rules, num, SEED).step


def best_size(make: Callable[[Rules, int], Work], sizes: tuple[int, ...]) -> Started:
    """The work at the N that is fastest in a short trial here."""
    rules = load_rules(RULES)

    def rate(num: int) -> float:
        work = make(rules, num)
        work()
        done = measure(work, TRIAL_S, wall=False)
        return done["decisions"] / done["cpu_s"]

    num = max(sizes, key=rate)
    return Started(make(rules, num), f"N = {num:,}")


def engine() -> Started:
    """The engine alone."""
    return best_size(engine_step, ENGINE_SIZES)


def observed() -> Started:
    """The engine with observations and masks."""
    return best_size(observed_step, OBSERVED_SIZES)


def env() -> Started:
    """PettingZoo's AEC environment in its wrappers."""
    return Started(aec_games(aec.env(rules=RULES)), "N = 1")


def raw_env() -> Started:
    """The AEC environment without wrappers."""
    return Started(aec_games(aec.raw_env(rules=RULES)), "N = 1")


def _vector_loop(num: int, **options: Any) -> Started:
    try:
        vector = VectorEnv(num, RULES, seed=SEED, skip_forced=False, **options)
    except TypeError as error:
        raise Unavailable(f"not available: {error}") from None
    vector.reset()
    # Tables in all phases of a hand, as in long use: otherwise both sides would go through the phases in waves. The
    # runner's stand in the order of their phases: mixed, or a worker's share of them would go in waves, too.
    tables = Runner(vector.rules, num, SEED).tables
    vector.set_state(tables.select(np.random.default_rng(SEED).permutation(num)).save())
    draws = np.random.default_rng(SEED)

    def work() -> int:
        vector.step(uniform(vector, draws))
        return num

    return Started(work, f"N = {num:,}", getattr(vector, "close", lambda: None))


def independent_loop() -> Started:
    """One of two loops that know nothing of each other."""
    return _vector_loop(SHARED_TABLES // 2)


def two_workers() -> Started:
    """One loop over two worker processes."""
    return _vector_loop(SHARED_TABLES, num_workers=2)
