"""The long run: ``python -m tests.support.soak`` (``make soak``), outside the suite, which plays a share of it.

* 1,000,000 random hands under every preset and variant, half of them with bids passed nine times in ten: every law of
  :mod:`gunzi_env.testing` at every step, all actions tried at one decision in 5,000, what seats are told at one in 50;
* 100,000 hands on engine and oracle, every field at every ply;
* 1,000 hands under rules that hypothesis draws, laws and oracle both;
* 60 matches at one table alone and in a batch of 1,000, action by action;
* prepared deals for what random play does not meet: every branch must have been reached by one or the other.

What breaks a law is printed, added to ``regressions.jsonl``, and ends the run with exit code 1. So does a process
that grows by 50 MB.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from hypothesis import HealthCheck, Phase, seed, settings

from gunzi_env import Rules, testing
from gunzi_env.planes import U64
from tests.env.test_batch import play_matches
from tests.env.test_properties import any_start, play_under_any_rules
from tests.support import regressions
from tests.support.against_oracle import play_against_oracle
from tests.support.prepared import every_name, play_out, prepared
from tests.support.variants import VARIANTS

TABLES = 2048
CHUNK = 10_000
"""Hands with laws in one piece of work."""
ORACLE_CHUNK = 250
GROWTH = 50
"""Megabytes that a process may grow after its first piece of work."""
PRESET_SHARE, VARIANT_SHARE = 0.9, 0.1


@dataclass
class Piece:
    """What one piece of work met."""

    kind: str
    column: str
    """The preset, or ``variants``."""
    counts: Counter[str]
    branches: Counter[str] = field(default_factory=Counter)
    process: int = 0
    memory: float = 0.0
    """Largest resident memory of the process so far, MB."""


def laws(rules: Rules, column: str, hands: int, number: int) -> Piece:
    """Random hands with every law at every step."""
    met = testing.random_hands(
        rules, hands, seed=number, pass_probability=0.9 * (number % 2), tables=min(TABLES, hands), every=5000
    )
    counts = Counter(hands=met.hands, decisions=met.decisions, tried=met.tried)
    phases = Counter({f"phase {name}": number for name, number in met.phases.items()})
    return Piece("laws", column, counts, met.branches + phases)


def oracle(rules: Rules, column: str, hands: int, number: int) -> Piece:
    """Engine and oracle side by side."""
    tables = min(50, hands)
    rounds = -(-hands // tables)
    plies = play_against_oracle(rules, tables, rounds, number, 0.9 * (number % 2))
    return Piece("oracle", column, Counter(hands=rounds * tables, plies=plies))


def any_rules(hands: int, number: int) -> Piece:
    """Hands under rules that hypothesis draws."""
    limits = settings(
        max_examples=hands, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    seed(number)(limits(any_start(play_under_any_rules)))()
    return Piece("any rules", "drawn", Counter(hands=hands))


def batch(matches: int) -> Piece:
    """One table alone and in a batch of 1,000."""
    rules = Rules.preset("dalian")
    ids = np.arange(1000, dtype=U64)
    alone = play_matches(rules, ids[500:501], 0, matches)
    same = play_matches(rules, ids, 500, matches) == alone
    if not same:
        raise testing.LawBroken("a table alone and in a batch of 1,000 play different games")
    return Piece("batch", "dalian", Counter(matches=matches, plies=len(alone)))


def work(share: float) -> Iterator[Callable[[], Piece]]:
    """All pieces of work, in small chunks so that two processes end together."""
    rules = {name: (Rules.preset(name), name, PRESET_SHARE / 4) for name in Rules.presets()}
    rules |= {name: (r, "variants", VARIANT_SHARE / len(VARIANTS)) for name, r in VARIANTS.items()}
    # What takes longest comes first.
    yield partial(batch, max(1, round(60 * share)))
    for number in range(10):
        yield partial(any_rules, max(1, round(100 * share)), number)
    number = 0
    for total, chunk, kind in ((1_000_000, CHUNK, laws), (100_000, ORACLE_CHUNK, oracle)):
        for r, column, part in rules.values():
            hands = max(2, round(total * part * share))
            for begun in range(0, hands, chunk):
                number += 1
                yield partial(kind, r, column, min(chunk, hands - begun), number)


def measured(job: Callable[[], Piece]) -> Piece:
    """A piece of work in a worker, with the memory that its process has reached."""
    piece = job()
    piece.process = multiprocessing.current_process().pid or 0
    piece.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return piece


def run(share: float, workers: int) -> list[Piece]:
    """All pieces, with a line now and then; the first broken law ends it."""
    jobs = list(work(share))
    started = shown = time.perf_counter()
    pieces: list[Piece] = []
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(measured, job) for job in jobs]
        try:
            for future in as_completed(futures):
                pieces.append(future.result())
                if time.perf_counter() - shown > 60:
                    shown = time.perf_counter()
                    print(f"{len(pieces)} of {len(jobs)} pieces, {shown - started:.0f} s", flush=True)
        except testing.LawBroken as broken:
            pool.shutdown(cancel_futures=True)
            regressions.keep(broken)
            raise
    return pieces


def memory_held(pieces: list[Piece]) -> bool:
    """Whether no process grew; the first pieces of each kind are its growing up."""
    grown = 0.0
    for process in {piece.process for piece in pieces}:
        for kind in {piece.kind for piece in pieces}:
            memory = [piece.memory for piece in pieces if piece.process == process and piece.kind == kind]
            grown = max(grown, memory[-1] - memory[min(4, len(memory) - 1)] if memory else 0.0)
    print(f"memory: at most {max(piece.memory for piece in pieces):.0f} MB a process, grown by {grown:.0f} MB")
    return grown < GROWTH


def report(pieces: list[Piece]) -> bool:
    """Print the counts and the branches; whether every branch was reached."""
    for kind in ("laws", "oracle", "any rules", "batch"):
        for column in dict.fromkeys(piece.column for piece in pieces if piece.kind == kind):
            counts: Counter[str] = Counter()
            for piece in pieces:
                counts.update(piece.counts if (piece.kind, piece.column) == (kind, column) else {})
            print(f"{kind}, {column}: " + ", ".join(f"{number:,} {name}" for name, number in counts.items()))
    special: Counter[str] = Counter()
    for number, table in enumerate(prepared()):
        special += play_out(table, number)
    columns = [*Rules.presets(), "variants"]
    reached = {c: sum((p.branches for p in pieces if p.column == c), Counter[str]()) for c in columns}
    print(f"\n{'branch':<44}" + "".join(f"{name:>13}" for name in [*columns, "prepared"]))
    names = every_name() | {name for counts in reached.values() for name in counts if name.startswith("phase")}
    missing = []
    for name in sorted(names):
        numbers = [*(reached[c][name] for c in columns), special[name]]
        print(f"{name:<44}" + "".join(f"{number:>13,}" for number in numbers))
        missing += [] if sum(numbers) else [name]
    print("every branch was reached" if not missing else f"NOT REACHED: {', '.join(missing)}", flush=True)
    return not missing


def main(argv: list[str]) -> int:
    """Run it; 0 if all holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the hands, e.g. 0.01")
    parser.add_argument("--workers", type=int, default=2, help="processes")
    options = parser.parse_args(argv)
    if not (0 < options.share <= 100 and options.workers > 0):
        parser.error("give a share above 0 and at most 100, and at least one worker")
    started = time.perf_counter()
    try:
        pieces = run(options.share, options.workers)
    except testing.LawBroken as broken:
        print(f"BROKEN: {broken}", flush=True)
        return 1
    held = report(pieces)
    held &= memory_held(pieces)
    print(f"{time.perf_counter() - started:.0f} s; {'no violation, no difference' if held else 'FAILED'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
