"""Settings of all tests, their tiers, and the file of hands that failed them."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Tests run the numpy code; test_compiled.py compares the compiled code with it.
os.environ.setdefault("GUNZI_COMPILED", "0")

from gunzi_env.rules import Rules
from tests.support import regressions

# The same examples on every run and no time limit for one: a busy machine is no fault of the code.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")

# The tier of a file, a folder or a test; of several entries the longest counts, and what has none is fast.
# slow: many hands or whole trainings. process: starts processes, or waits for a clock.
TIERS = {
    "tests/docs/test_docs.py::test_code_blocks_run": "process",
    "tests/docs/test_docs.py::test_commands_run_or_have_their_options": "process",
    "tests/docs/test_wheel.py": "process",
    "tests/support/test_mutants.py::test_a_copy_that_fails_by_itself_proves_nothing": "process",
    "tests/support/test_mutants.py::test_survivors_are_told": "process",
    "tests/support/test_regressions.py::test_a_failing_test_keeps_its_hand": "process",
    "tests/benchmarks/": "slow",
    # gunzi_env
    "tests/env/test_cli.py": "process",
    "tests/env/test_compiled.py": "slow",
    "tests/env/test_batch.py::test_alone_and_in_a_batch[64": "slow",
    "tests/env/test_playthroughs.py": "slow",
    "tests/env/test_properties.py": "slow",
    "tests/env/test_resample_odds.py": "slow",
    "tests/env/test_restore.py": "slow",
    "tests/env/test_symmetry.py": "slow",
    "tests/env/test_workers_end.py": "process",
    # gunzi_agents, gunzi_eval
    "tests/agents/test_expert.py::test_beats_greedy": "slow",
    "tests/agents/test_greedy_legal.py": "slow",
    "tests/agents/test_greedy_starts.py": "slow",
    "tests/agents/test_mixed.py::test_levels_are_ordered": "slow",
    "tests/agents/test_neural.py": "slow",
    "tests/agents/test_rule_bots.py::test_beats_uniform_by_far": "slow",
    "tests/agents/test_search.py": "slow",
    "tests/agents/test_third_party.py::test_worker_processes_play_them": "process",
    "tests/eval/test_explain.py::test_a_weighing_is_what_the_search_plays_by": "slow",
    "tests/eval/test_tournament.py": "process",
    # gunzi_train: most of its tests train
    "tests/train/": "slow",
    "tests/train/test_checkpoint.py": "fast",
    "tests/train/test_config.py": "fast",
    "tests/train/test_device.py": "fast",
    "tests/train/test_returns.py": "fast",
    "tests/train/test_soak_training.py": "fast",
    "tests/train/test_training.py::test_the_command_trains_and_names_the_next_one": "fast",
    "tests/train/test_disk.py": "process",
    "tests/train/test_faults.py": "process",
    "tests/train/test_folders.py": "process",
    "tests/train/test_lost.py": "process",
    "tests/train/test_processes.py": "process",
    "tests/train/test_ray.py": "process",
    "tests/train/test_signals.py": "process",
    "tests/train/test_surroundings.py": "process",
}
OTHER_RULES = frozenset(Rules.presets()) - {"dalian"}


def tier(nodeid: str) -> str:
    entries = [entry for entry in TIERS if nodeid.startswith(entry)]
    return TIERS[max(entries, key=len)] if entries else "fast"


def other_rules(value: object) -> bool:
    """Is a parameter of a test a preset other than the default one, a file named after one, or other rules?"""
    if isinstance(value, Rules):
        return value != Rules()
    name = value.stem if isinstance(value, Path) else value
    return isinstance(name, str) and name in OTHER_RULES


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier. Outside ``tests/rules`` the fast tier plays the default rules only."""
    for item in items:
        found = tier(item.nodeid)
        if found == "fast" and not item.nodeid.startswith("tests/rules/"):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            found = "slow" if any(map(other_rules, parameters.values())) else found
        item.add_marker(found)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Add the hand that a failure names to the hands that every later run replays."""
    report = yield
    if call.excinfo is not None:
        for broken in regressions.broken_laws(call.excinfo.value):
            regressions.keep(broken)
    return report
