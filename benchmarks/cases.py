"""Benchmark cases in the order of a round. Cases that are compared with each other are adjacent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One line of the benchmark table."""

    name: str
    label: str
    factory: str
    """``module:function`` that returns a ``Started``; see :mod:`benchmarks.worker`."""
    ours: bool = False
    processes: int = 1
    """Number of processes, each pinned to its own core. Their rates are added."""
    pinned: bool = True
    compiled: bool = True
    """Whether gunzi uses its numba kernels. No effect on other libraries."""
    wall: bool = False
    """Measure by wall-clock time, for cases that use two cores, instead of CPU time."""


def _ours(name: str, label: str, function: str, **options: bool | int) -> Case:
    return Case(name, label, f"benchmarks.impl_ours:{function}", ours=True, **options)  # type: ignore[arg-type]


def _theirs(name: str, label: str, function: str) -> Case:
    return Case(name, label, f"benchmarks.impl_theirs:{function}")


CASES = (
    _ours("engine", "gunzi, engine", "engine"),
    _ours("engine-numpy", "gunzi, engine, without numba", "engine", compiled=False),
    _theirs("openspiel-spades-plain", "OpenSpiel, spades from Python", "spades_plain"),
    _theirs("openspiel-spades", "OpenSpiel, spades from Python, tuned", "spades"),
    _theirs("openspiel-bridge", "OpenSpiel, bridge from Python, tuned", "bridge"),
    _theirs("openspiel-spades-rollouts", "OpenSpiel, spades, C++ rollouts", "spades_rollouts"),
    _theirs("openspiel-bridge-rollouts", "OpenSpiel, bridge, C++ rollouts", "bridge_rollouts"),
    _theirs("openspiel-hearts", "OpenSpiel, hearts from Python, tuned", "hearts"),
    _theirs("openspiel-doudizhu", "OpenSpiel, dou dizhu from Python, tuned", "dou_dizhu"),
    _ours("observed", "gunzi, engine with observation and mask", "observed"),
    _ours("observed-numpy", "gunzi, engine with observation and mask, without numba", "observed", compiled=False),
    _theirs("openspiel-bridge-observed-plain", "OpenSpiel, bridge with observation and mask", "bridge_observed_plain"),
    _theirs("openspiel-bridge-observed", "OpenSpiel, bridge with observation and mask, tuned", "bridge_observed"),
    _ours("aec", "gunzi, AEC `env()`", "env"),
    _theirs("connect-four", "PettingZoo, connect four `env()`", "connect_four_env"),
    _ours("aec-raw", "gunzi, AEC `raw_env()`", "raw_env"),
    _ours("aec-raw-numpy", "gunzi, AEC `raw_env()`, without numba", "raw_env", compiled=False),
    _theirs("connect-four-raw", "PettingZoo, connect four `raw_env()`", "connect_four_raw_env"),
    _theirs("rlcard-doudizhu", "RLCard, dou dizhu `env.step`", "rlcard_doudizhu"),
    _theirs("texas-holdem", "PettingZoo, limit hold'em `env()`", "texas_holdem_env"),
    Case("pgx-bridge", "Pgx, bridge bidding", "benchmarks.impl_pgx:bridge_bidding"),
    _ours("two-workers", "gunzi, `VectorEnv` over two worker processes", "two_workers", pinned=False, wall=True),
    _ours("two-loops", "gunzi, two `VectorEnv` loops apart", "independent_loop", processes=2, wall=True),
)

LABELS = {case.name: case.label for case in CASES}
