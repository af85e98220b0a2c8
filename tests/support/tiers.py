"""The tiers of the tests: ``fast`` is ``make test``; ``slow`` and ``process`` are added by ``make test-rest``.

``slow`` tests play many hands, other rules or whole trainings; ``process`` tests start processes or wait for a clock.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gunzi_env.rules import Rules

# Folder, file or test (or the start of its parameters) -> tier. The longest entry counts; a test without one is fast.
TIERS = {
    "tests/docs/test_docs.py::test_code_blocks_run": "process",
    "tests/docs/test_docs.py::test_commands_run_or_have_their_options": "process",
    "tests/docs/test_wheel.py": "process",
    "tests/support/test_mutants.py::test_a_copy_that_fails_by_itself_proves_nothing": "process",
    "tests/support/test_mutants.py::test_survivors_are_told": "process",
    "tests/support/test_regressions.py::test_a_failing_test_keeps_its_hand": "process",
    "tests/support/test_regressions.py::test_kept_hand": "slow",
    "tests/benchmarks/": "slow",
    # gunzi_env
    "tests/env/test_cli.py": "process",
    "tests/env/test_compiled.py": "slow",
    "tests/env/test_batch.py::test_alone_and_in_a_batch[64": "slow",
    "tests/env/test_bombs.py::test_commands_refuse_them": "slow",
    "tests/env/test_engine.py::test_next_hand_follows_the_result": "slow",
    "tests/env/test_equity.py::test_the_rewards_of_a_match_are_its_result_less_what_it_began_with": "slow",
    "tests/env/test_equity.py::test_workers_pay_the_same": "process",
    "tests/env/test_engine.py::test_vector_env": "slow",
    "tests/env/test_laws.py::test_a_hand_late_in_a_long_run_is_told_from_its_deal": "slow",
    "tests/env/test_legality.py::test_larger_hands": "slow",
    "tests/env/test_playthroughs.py": "slow",
    "tests/env/test_position_seen.py::test_what_is_read_in_the_closing_window_goes_on_like_the_original": "slow",
    "tests/env/test_properties.py": "slow",
    "tests/env/test_perft.py::test_counts": "slow",
    "tests/env/test_position_seen.py::test_the_tribute_and_the_burial_go_on_like_the_original": "slow",
    "tests/env/test_record.py::test_a_whole_match_is_replayed_state_by_state": "slow",
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
    "tests/agents/test_rule_bots.py::test_plays_other_rules": "slow",
    "tests/agents/test_search.py": "slow",
    "tests/agents/test_third_party.py::test_worker_processes_play_them": "process",
    "tests/eval/test_explain.py::test_a_weighing_is_what_the_search_plays_by": "slow",
    "tests/eval/test_arena.py": "process",
    "tests/eval/test_bench.py::test_runner_keeps_every_table_in_play": "slow",
    "tests/eval/test_duplicate.py::test_matches_are_won_or_lost_and_mirror": "slow",
    "tests/eval/test_duplicate.py::test_rotations_add_to_the_two_tables_of_a_deal_and_mirror": "slow",
    "tests/eval/test_figures.py::test_bootstrap_intervals_hold_the_truth_about_as_often_as_they_say": "slow",
    "tests/eval/test_match_equity.py": "slow",
    "tests/eval/test_play.py::test_a_script_through_a_pipe": "process",
    "tests/eval/test_play.py::test_bad_settings_are_one_line": "process",
    "tests/eval/test_play.py::test_the_end_of_input_is_a_clean_end": "process",
    "tests/eval/test_tournament.py": "process",
    "tests/eval/test_variance.py": "slow",
    "tests/eval/test_watch.py": "process",
    # gunzi_train: most of its tests train
    "tests/train/": "slow",
    "tests/train/test_checkpoint.py": "fast",
    "tests/train/test_checkpoint.py::test_the_test_above_notices_a_save_in_place": "slow",
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


def other_rules(parameter: object) -> bool:
    """Is a parameter a preset other than the default one, a file named after one, or other rules?"""
    if isinstance(parameter, Rules):
        return parameter != Rules()
    name = parameter.stem if isinstance(parameter, Path) else parameter
    return isinstance(name, str) and name in OTHER_RULES


def tier(nodeid: str, parameters: Iterable[object] = ()) -> str:
    """Tier of a test. Outside ``tests/rules`` the fast tier plays the default rules only."""
    entries = [entry for entry in TIERS if nodeid.startswith(entry)]
    if entries:
        return TIERS[max(entries, key=len)]
    elsewhere = not nodeid.startswith("tests/rules/")
    return "slow" if elsewhere and any(map(other_rules, parameters)) else "fast"
