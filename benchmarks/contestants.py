"""Who is measured, in the order of a round: those that are compared stand next to each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Contestant:
    """One line of the benchmark."""

    name: str
    label: str
    factory: str
    """``module:function`` that starts it, see :mod:`benchmarks.worker`."""
    ours: bool = False
    processes: int = 1
    """Started so often, each on a core of its own, and their rates added."""
    pinned: bool = True
    compiled: bool = True
    """Ours by numba; without it where it is not to be used."""
    wall: bool = False
    """Measured by the clock on the wall, for what runs on two cores; by CPU time otherwise."""


def _ours(name: str, label: str, function: str, **options: bool | int) -> Contestant:
    return Contestant(name, label, f"benchmarks.entrants_ours:{function}", ours=True, **options)  # type: ignore[arg-type]


def _theirs(name: str, label: str, function: str) -> Contestant:
    return Contestant(name, label, f"benchmarks.entrants_theirs:{function}")


CONTESTANTS = (
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
    Contestant("pgx-bridge", "Pgx, bridge bidding", "benchmarks.entrants_pgx:bridge_bidding"),
    _ours("two-workers", "gunzi, `VectorEnv` over two worker processes", "two_workers", pinned=False, wall=True),
    _ours("two-loops", "gunzi, two `VectorEnv` loops apart", "independent_loop", processes=2, wall=True),
)

LABELS = {contestant.name: contestant.label for contestant in CONTESTANTS}
