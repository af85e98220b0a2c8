"""Tournaments: workers, mirrors, stopping, resuming, and what goes wrong."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gunzi_agents.mixed import Mixed, weak
from gunzi_agents.playing import identity
from gunzi_agents.search import Search
from gunzi_agents.uniform import Uniform
from gunzi_env import cli
from gunzi_env.rules import Rules
from gunzi_eval.commands import arena
from gunzi_eval.commands.arena import ArenaOptions
from gunzi_eval.matches import tournament
from gunzi_eval.matches.workers import BlockPlayer, Games, MatchBlock, SerialExecutor, TournamentSpec
from gunzi_eval.stats.intervals import student
from tests.support import odd_agents
from tests.support.mirror import mirrored

RULES = Rules.preset("dalian")
PLAYERS = ("small", "high")
SMALL = ArenaOptions(agents=PLAYERS, deals=23, seed=6)


def run(config: ArenaOptions) -> int:
    """The command with the agents of the tests; typed errors become lines and codes, as on the command line."""
    return cli.guarded("gunzi arena", lambda: arena.run(config, odd_agents.make))


def figures(config: ArenaOptions, file: Path) -> str:
    assert run(dataclasses.replace(config, json=file)) == 0
    return file.read_text()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What SMALL comes to, with a match."""
    return figures(dataclasses.replace(SMALL, matches=1), tmp_path_factory.mktemp("alone") / "x.json")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished file of SMALL's hands."""
    file = tmp_path_factory.mktemp("saved") / "games.jsonl"
    assert run(dataclasses.replace(SMALL, save=file)) == 0
    return file


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[MatchBlock]:
    """The blocks that this process plays."""
    blocks: list[MatchBlock] = []
    real = BlockPlayer.play

    def play(self: BlockPlayer, block: MatchBlock) -> Games:
        blocks.append(block)
        return real(self, block)

    monkeypatch.setattr(BlockPlayer, "play", play)
    return blocks


def test_two_workers_give_the_same_bytes(alone: str, tmp_path: Path) -> None:
    assert figures(dataclasses.replace(SMALL, matches=1, workers=2), tmp_path / "x.json") == alone


def test_names_in_the_other_order_give_mirrored_figures(alone: str, tmp_path: Path) -> None:
    there = json.loads(alone)["pairs"][0]
    config = dataclasses.replace(SMALL, agents=PLAYERS[::-1], matches=1)
    assert mirrored(there) == json.loads(figures(config, tmp_path / "x.json"))["pairs"][0]
    assert there["levels"]["mean"] and there["phases"]["dig"]["a"] != there["phases"]["dig"]["b"]


def test_everyone_against_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = ArenaOptions(agents=("small", "high", "uniform"), against="high", deals=3)
    pairs = json.loads(figures(config, tmp_path / "x.json"))["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("small", "high"), ("uniform", "high")]
    assert run(ArenaOptions(agents=("high",), against="high")) == 2
    assert "name another agent" in capsys.readouterr().err


def test_a_pair_stops_when_its_interval_is_narrow(
    tmp_path: Path,
    played: list[MatchBlock],
    monkeypatch: pytest.MonkeyPatch,
    alone: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Blocks of 5 deals: looked at after 10, 20 and 23 of them; at an agent that meets itself no more is to be seen."""
    monkeypatch.setattr(tournament, "FIRST_LOOK", 10)
    whole = json.loads(alone)["pairs"][0]
    for until, deals in ((2.5, (10, 10)), (1e-9, (23, 10))):
        played.clear()
        config = dataclasses.replace(SMALL, agents=(*PLAYERS, "small2"), until=until, against="small2")
        pairs = json.loads(figures(config, tmp_path / "x.json"))["pairs"]
        assert [pair["deals"] for pair in pairs] == [*deals[::-1]]
        shown = [line.split()[2] for line in capsys.readouterr().out.splitlines() if " small2 " in line]
        assert shown == [str(pair["deals"]) for pair in pairs]
        for pair in pairs:
            mine = [block.number for block in played if block.a == pair["a"]]
            assert sum(mine) == pair["deals"]
    assert (pairs[1]["levels"]["low"], pairs[1]["levels"]["high"]) == (
        -whole["levels"]["high"], -whole["levels"]["low"],
    )  # fmt: skip


def test_stopped_intervals_hold_the_truth_nearly_as_often_as_they_say() -> None:
    """The worst case: at the first look the interval is as likely to be narrow enough as not; noise 0.002."""
    rng = np.random.default_rng(1)
    samples = rng.choice([-4, -1, -0.5, 0, 0.5, 1, 5], p=[0.04, 0.14, 0.2, 0.24, 0.2, 0.14, 0.04], size=(8000, 256))
    truth = float(np.dot([-4, -1, -0.5, 0, 0.5, 1, 5], [0.04, 0.14, 0.2, 0.24, 0.2, 0.14, 0.04]))
    first, second = tournament.looks(2, 128)
    halves = [student(n * 128 - 1) * samples[:, : n * 128].std(axis=1, ddof=1) / (n * 128) ** 0.5 for n in (1, 2)]
    stops = halves[0] <= np.median(halves[0])
    means = [samples[:, : n * 128].mean(axis=1) for n in (first, second)]
    inside = np.where(stops, abs(means[0] - truth) <= halves[0], abs(means[1] - truth) <= halves[1])
    assert 0.94 < inside.mean() < 0.957


def test_going_on_gives_the_same_and_plays_what_is_missing(
    saved: Path, tmp_path: Path, alone: str, played: list[MatchBlock]
) -> None:
    file = tmp_path / "games.jsonl"
    whole = saved.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert len(lines) == 1 + 2 + 5  # header, agents, blocks
    expected = json.loads(alone)["pairs"][0] | {"matches": 0, "matches_won": None}
    # Cut within the header, within an agent, within a block, after one, and not at all.
    for cut in (7, len(lines[0]) + 9, len(whole) - len(lines[-1]) - 30, len(whole) - len(lines[-1]), len(whole)):
        file.write_bytes(whole[:cut])
        kept = max(whole[:cut].count(b"\n") - 3, 0)
        played.clear()
        content = json.loads(figures(dataclasses.replace(SMALL, save=file), tmp_path / "x.json"))
        assert content["pairs"] == [expected]
        assert len(played) == 5 - kept
        assert sorted(file.read_bytes().splitlines()) == sorted(whole.splitlines())


def test_more_deals_and_more_agents_play_the_rest_only(saved: Path, tmp_path: Path, played: list[MatchBlock]) -> None:
    file = tmp_path / "games.jsonl"
    file.write_bytes(saved.read_bytes())
    more = dataclasses.replace(SMALL, agents=("small", "high", "uniform"), deals=30)
    text = figures(dataclasses.replace(more, save=file), tmp_path / "x.json")
    # 20..22 was no whole block: a block's batch decides, so that it is played again with two more
    assert [(block.first, block.number) for block in played if block.b == "high"] == [(20, 5), (25, 5)]
    assert len(played) == 2 + 6 + 1
    assert figures(more, tmp_path / "y.json") == text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": 7}, "contains games of seed 6, not 7"),
        ({"rules": "classic"}, f"contains games of rules {RULES.digest}, not"),
        ({"rotations": True}, "contains games of rotations 1, not 4"),
    ],
)
def test_other_games_are_refused(
    change: dict[str, Any], says: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = saved.read_bytes()
    assert run(dataclasses.replace(SMALL, save=saved, **change)) == 3
    error = capsys.readouterr().err
    assert error.startswith(f"gunzi arena: {saved}: ") and says in error and error.count("\n") == 1
    assert saved.read_bytes() == before


def test_a_bot_made_of_others_is_known_by_theirs() -> None:
    """``weak(runs/x)`` has the name that it had, whatever became of runs/x."""
    inner, other = Uniform(), Uniform()
    assert identity(Search(Mixed(other, inner, 0.5))) == identity(weak(inner, 0.1)) == ""
    inner.identity = "0123"
    assert identity(Search(Mixed(other, inner, 0.5))) == identity(weak(inner, 0.1)) == identity(inner) == "0123"
    other.identity = "4567"
    assert identity(weak(Search(Mixed(other, inner, 0.5)), 0.1)) == "4567 0123"


@pytest.mark.parametrize(("attribute", "value"), [("identity", "0123456789abcdef00"), ("max_deals", 4)])
def test_another_agent_of_the_same_name_is_refused(
    attribute: str, value: object, saved: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(odd_agents.Small, attribute, value, raising=False)
    assert run(dataclasses.replace(SMALL, save=saved)) == 3
    error = capsys.readouterr().err
    assert "'small'" in error and (str(value)[:16] in error) and error.count("\n") == 1


@pytest.mark.parametrize("content", [b'{"a": 1}', b'{"a": 1}\n', b"text\n", b"\x00" * 50, b"[1]\n"])
def test_a_file_of_something_else_is_refused_and_left_alone(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(content)
    assert run(dataclasses.replace(SMALL, save=file)) == 3
    error = capsys.readouterr().err
    assert "not a tournament file" in error and error.count("\n") == 1
    assert file.read_bytes() == content


def test_a_damaged_line_is_named(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = saved.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"small"', b'"smell"')
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"".join(lines))
    assert run(dataclasses.replace(SMALL, save=file)) == 3
    assert "line 5 is damaged" in capsys.readouterr().err


def test_two_tournaments_in_one_file_are_refused(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fcntl = pytest.importorskip("fcntl")
    with open(saved, "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert run(dataclasses.replace(SMALL, save=saved)) == 2
    assert "another tournament is writing there" in capsys.readouterr().err


def test_a_full_disk_is_said_and_gone_on_from(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"".join(saved.read_bytes().splitlines(keepends=True)[:4]))

    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fsync)
        assert run(dataclasses.replace(SMALL, save=file)) == 2
    assert f"cannot write {file}: No space left on device" in capsys.readouterr().err
    assert run(dataclasses.replace(SMALL, save=file)) == 0


@pytest.mark.parametrize(
    ("agent", "says"),
    [("cheat", "agent 'cheat' returned the illegal action -7"), ("crasher", "agent 'crasher' crashed: KeyError")],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_agents_at_fault_end_the_tournament_and_finished_blocks_stay(
    agent: str, says: str, workers: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.jsonl"
    assert run(ArenaOptions(agents=("small", agent), deals=60, workers=workers, save=file)) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"gunzi arena: {says}") and error.count("\n") == 1
    assert file.read_text().count('"task"') >= 2


def test_a_lost_worker_is_said_and_what_was_played_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: list[MatchBlock]
) -> None:
    file = tmp_path / "x.jsonl"
    config = ArenaOptions(agents=("mortal", "small"), deals=60, workers=2, save=file, json=tmp_path / "x.json")
    assert run(config) == 4
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "was lost (signal 9); being played: mortal - small deals " in error
    number = file.read_text().count('"task"')
    assert f"{number} finished blocks are saved: resume with --save {file}" in error and number >= 2
    assert not (tmp_path / "x.json").exists()
    assert run(dataclasses.replace(config, workers=1)) == 0
    assert len(played) == 12 - number


def test_without_a_file_a_lost_worker_leaves_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(ArenaOptions(agents=("mortal", "small"), deals=60, workers=1 + 1)) == 4
    (file,) = tmp_path.iterdir()
    assert f"resume with --save {file.name}" in capsys.readouterr().err
    assert file.read_text().count('"task"') >= 2


def test_a_fault_of_ours_in_a_worker_shows_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ArenaOptions(agents=("broken", "small"), deals=5, workers=2)) == 4
    error = capsys.readouterr().err
    assert error.startswith("broken - small deals 0..4:\nTraceback ") and "odd_agents.py" in error
    assert error.splitlines()[-1].startswith("gunzi arena: a worker failed: a fault of ours; no block was finished")


def test_a_worker_refuses_an_agent_that_has_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(ArenaOptions(agents=("trained", "small"), deals=5, workers=2)) == 3
    assert "agent 'trained' is not what it was when the tournament began" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"until": 0.0}, "--until is 0.0, allowed are widths in levels above 0"),
        ({"until": float("nan")}, "--until is nan"),
        ({"agents": ("wide", "high")}, "agent 'greedy for deals': max_deals is 257, allowed are 1 to 256"),
        ({"report": Path("x.pdf")}, "--report x.pdf: the name must end in .html or .md"),
        ({"csv": Path("no/folder/x.csv")}, "--csv no/folder/x.csv"),
        ({"save": Path("no/folder/x.jsonl")}, "--save no/folder/x.jsonl"),
        ({"agents": ("high", "nobody")}, "unknown agent 'nobody'"),
        ({"against": "nobody"}, "unknown agent 'nobody'"),
    ],
)
def test_bad_input_is_one_line(changes: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(dataclasses.replace(SMALL, **changes)) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="there is no /proc")
def test_workers_end_with_a_killed_command(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    command = [sys.executable, "-m", "gunzi_env.cli", "arena", "uniform", "uniform", "--deals", "100000"]
    process = subprocess.Popen([*command, "--workers", "2", "--save", str(file)], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while len(workers := children(process.pid)) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    assert len(workers) == 2
    deadline = time.monotonic() + 60
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, workers))


def children(pid: int) -> list[int]:
    """The spawned workers of a process."""
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    except OSError:
        return []


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_ctrl_c_ends_command_and_workers(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "gunzi_env.cli", "arena", "uniform", "uniform", "--deals", "1000000", "--workers", "2",
         "--save", str(file)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while (not file.exists() or b'"task"' not in file.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "gunzi arena: interrupted\n")


def test_games_of_a_block_do_not_hang_on_what_was_played_before() -> None:
    block = MatchBlock("small", "high", "hands", 5, 5)
    fresh = BlockPlayer(TournamentSpec(RULES, 3, make=odd_agents.make)).play(block)
    used = SerialExecutor(BlockPlayer(TournamentSpec(RULES, 3, make=odd_agents.make)))
    for each in (block._replace(first=0), block):
        used.start(each)
        ((_, games),) = used.wait()
    np.testing.assert_array_equal(games, fresh)
