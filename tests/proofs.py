"""The slow proofs: ``python -m tests.proofs`` (``make proofs``), not part of the suite.

* 20,000 random hands a preset, half of them with bids passed nine times in ten, every law of
  :mod:`gunzi_env.testing` checked at every step and all actions tried at one decision in 500;
* the variants of ``test_oracle`` likewise, for the options that no preset uses;
* prepared deals and positions for what random play does not meet; both counts are printed, and every branch
  must have been reached by one or the other;
* one table alone and in a batch of 1,000: 200 matches, action by action;
* engine against oracle, every field at every ply.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections import Counter
from collections.abc import Iterator

import numpy as np

from gunzi_env import Rules, engine, position, testing
from gunzi_env.branches import branches
from gunzi_env.deal import draw_of_deck
from gunzi_env.planes import U64
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.tables import Phase, Tables
from tests.rules.game import deck
from tests.test_batch import play_matches
from tests.test_oracle import VARIANTS, play_against_oracle

TABLES = 2048


def dealt(rules: Rules, cards: list[int], dealer: int, blood: int = 0) -> Tables:
    """One table at the beginning of a prepared deal."""
    t = Tables(rules, 1)
    engine.reset(t, 0, begin=False)
    state = {"dealer": np.array([dealer]), "blood": np.array([blood])}
    engine.begin_hand(t, ONE_TABLE, draw=draw_of_deck(rules, cards), **state)
    return t


def prepared() -> Iterator[Tables]:
    """Deals and positions that lead to the rare branches under (nearly) any play."""
    dalian = Rules.preset("dalian")
    jokers = "BJ BJ BJ LJ LJ LJ"
    for dealer in (-1, 1):  # R4.8: nobody can show or bid, and the kitty names no suit
        t = Tables(dalian, 1)
        engine.reset(t, 0, begin=False)
        first = dealer if dealer >= 0 else int(engine.first_seats(t, ONE_TABLE)[0])
        yield dealt(dalian, deck(dalian, first=first, kitty=jokers), dealer)
    yield dealt(dalian, deck(dalian, first=1, kitty="LJ BJ H7 C5 D9 S4"), 1)  # R4.7: jokers skipped
    one_each = ["SA", "S6", "S7", "S8"]
    yield position.setup(hands=["SA SA", "S4 S6", "S7 S8", "H4 H6"], score=0)  # R9.4: S = 0
    yield position.setup(hands=["S4", "SA", "S7", "S8"], score=300)  # R9.4: full
    yield position.setup(hands=one_each, kitty_cards="BJ BJ BJ H4 H6 H7", score=5)  # R9.5
    high = dataclasses.replace(dalian, level_at_high=True)
    yield position.setup(high, hands=one_each, score=200)  # R9.7
    jack = dataclasses.replace(dalian, **VARIANTS["jack"])
    yield position.setup(jack, hands=["S4", "SA", "S7", "S8"], level="J", score=5)  # R9.8
    few = ["S4 S6 S7 S8 S9", "S4 S6 S7 S8 S9", "S4 S6 S7 S8 S9", "H5 HT HK D5 C9"]
    yield position.setup(hands=few, phase="tribute", blood=4, kitty_cards="C4 C6 C7 C8")  # R5.3
    trumps = ["S4 S6 S7 S5 ST", "D4 D4 D6 D6 D7", "H4 H6 H7 H8 H9", "HA HQ HJ D9 C9"]
    yield position.setup(hands=trumps, phase="tribute", blood=2, kitty_cards="C4 C6 C7 C8")  # R5.4: trumps
    # What is given is worth no points but at the levels 5 and 10, so only there can nothing else be left to return.
    points = ["ST SK HT HK CK", "D4 D4 D6 D6 D7", "H4 H6 H7 H8 H9", "H5 H5 H5 D4 C4"]
    yield position.setup(hands=points, level=5, phase="tribute", blood=3, kitty_cards="C4 C6 C7 C8")  # R5.4: points
    big = ["S4 S6 S7 S8 S9", "D4 D4 D6 D6 D7", "H4 H6 H7 H8 H9", "BJ BJ BJ BJ HA"]
    yield position.setup("four_deck", hands=big, phase="tribute", blood=2, kitty_cards="C4 C6 C7 C8")  # R5.5
    quads = ["H9 H9 H9 H9", "H4 H4 H4 H4", "H6 H6 H7 H7", "H8 H8 H8 HJ"]
    yield position.setup("four_deck", hands=quads)
    longer = ["H9 H9 H9 H9 C4 C6", "H4 H4 H4 H4 H6 H6", "H6 H6 H7 H7 HK HQ", "H8 H8 H8 HJ HQ HK"]
    yield position.setup("four_deck", hands=longer)
    only_points = ["C5 CT CK H5", "S4 S6 S7 S8", "D4 D6 D7 D8", "BJ H4 H6 H7"]
    yield position.setup(hands=only_points, phase="bury", kitty_cards="S5 ST SK SK")  # R6.5: nothing to pick up


def play_out(t: Tables, seed: int) -> Counter[str]:
    """Random play, all bids passed, from a prepared table to the end of the hand."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    everyone = np.ones(1, np.bool_)
    # What led to the first decision counts as one step from the last bid.
    before = t.clone()
    before.phase[0] = min(int(t.phase[0]), Phase.BID)
    before.attempt[0] = before.tribute[:] = before.returned[:] = 0
    found.update(branches(before, t, np.array([t.actions.PASS]), everyone))
    while t.phase[0] != Phase.OVER:
        before = t.clone()
        actions = testing.random_actions(t, rng.integers(2**63, size=1).astype(U64), 1.0)
        engine.step(t, actions)
        found.update(branches(before, t, actions, everyone))
    return found


def every_name() -> set[str]:
    """All branches there are, read off the counters themselves."""
    names: set[str] = set()
    for preset in ("dalian", "four_deck"):
        t = Tables(Rules.preset(preset), 1)
        engine.reset(t, 0)
        names |= set(branches(t, t.clone(), np.zeros(1, np.int32), np.ones(1, np.bool_), zero=True))
    impossible = {f"R7.5 {k} led, demand {floor}" for k in (2, 3, 4) for floor in (2, 3, 4, 5) if min(floor, 4) > k}
    # A demand of five stands for two pairs, owed to a quad alone; one card has no shape, and is held or not.
    impossible |= {"R7.5 3 led, demand 5", "R7.5 2 led, demand 5", "R7.3 1 led, fewer held"}
    impossible |= {f"R7.5 1 led, demand {floor}" for floor in (2, 3, 4, 5)}
    return names - impossible


def prove_laws(hands: int) -> bool:
    """Random hands under every preset and variant; returns whether every branch was reached."""
    total: Counter[str] = Counter()
    for name in Rules.presets():
        rules = Rules.preset(name)
        started = time.perf_counter()
        first = testing.random_hands(rules, hands // 2, seed=1, tables=TABLES)
        second = testing.random_hands(rules, hands - hands // 2, seed=2, pass_probability=0.9, tables=TABLES)
        phases = first.phases + second.phases
        seconds = time.perf_counter() - started
        print(
            f"{name}: {first.hands + second.hands} hands, {first.decisions + second.decisions} decisions checked, "
            f"all actions tried at {first.tried + second.tried}, {seconds:.0f} s"
        )
        print("  " + ", ".join(f"{phase} {number}" for phase, number in sorted(phases.items())), flush=True)
        total += first.branches + second.branches
    for name, changes in VARIANTS.items():
        rules = dataclasses.replace(Rules.preset("dalian"), **changes)
        met = testing.random_hands(rules, max(1, hands // 40), seed=3, pass_probability=0.5)
        total += met.branches
        print(f"variant {name}: {met.hands} hands, {met.decisions} decisions checked", flush=True)
    special: Counter[str] = Counter()
    for number, table in enumerate(prepared()):
        special += play_out(table, number)
    print(f"\n{'branch':<44}{'random':>10}{'prepared':>10}")
    missing = []
    for name in sorted(every_name()):
        print(f"{name:<44}{total[name]:>10}{special[name]:>10}")
        missing += [name] if not total[name] + special[name] else []
    print("every branch was reached" if not missing else f"NOT REACHED: {', '.join(missing)}", flush=True)
    return not missing


def prove_batch(matches: int) -> bool:
    """One table alone and in a batch of 1,000."""
    rules = Rules.preset("dalian")
    ids = np.arange(1000, dtype=U64)
    alone = play_matches(rules, ids[500:501], 0, matches)
    same = play_matches(rules, ids, 500, matches) == alone
    print(f"one table alone and in a batch of 1,000: {matches} matches, {len(alone)} plies, equal: {same}", flush=True)
    return same


def prove_oracle(hands: int) -> bool:
    """Engine against oracle; raises at the first difference."""
    for name in Rules.presets():
        rounds = max(1, hands // 64)
        plies = sum(play_against_oracle(Rules.preset(name), 32, rounds, 100 + p, p / 10) for p in (0, 9))
        print(f"oracle, {name}: {64 * rounds} hands, {plies} plies equal in every field", flush=True)
    return True


def main(argv: list[str]) -> int:
    """Run the proofs; 0 if all hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=20_000, help="random hands a preset; 0, here or below: leave out")
    parser.add_argument("--matches", type=int, default=200, help="matches alone and in a batch")
    parser.add_argument("--oracle", type=int, default=640, help="hands a preset against the oracle")
    options = parser.parse_args(argv)
    proofs = ((prove_laws, options.hands), (prove_batch, options.matches), (prove_oracle, options.oracle))
    held = [proof(number) for proof, number in proofs if number]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
