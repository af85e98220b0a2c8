"""Agents of other packages: a function by its name, an entry point, and what registers itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents import Agent, AgentError, registry
from gunzi_agents.mixed import Mixed
from gunzi_agents.options import number
from gunzi_env.rules import Rules
from tests.agents.third_party import Cautious, make

RULES = Rules.preset("dalian")
HERE = "py:tests.agents.third_party"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test registers is forgotten after it."""
    for table in ("_BUILDERS", "_COMPOSITES"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))


@pytest.mark.parametrize(
    ("spec", "identity"),
    [
        (f"{HERE}:make", "v1"),
        (f"{HERE}:Cautious", "v1"),
        (f"search({HERE}:make, worlds=2)", "v1"),
        (f"mixed({HERE}:make, {HERE}:make)", "v1 v1"),
        ("weak(greedy)@easy", ""),
        (f"{HERE}:make@easy", "v1"),
    ],
)
def test_a_function_is_named_wherever_an_agent_is(spec: str, identity: str) -> None:
    assert registry.make(spec, RULES).identity == identity


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("py:nowhere:make", "agent 'py:nowhere:make': there is no module nowhere"),
        ("py:tests.nowhere:make", "there is no module tests.nowhere"),
        (f"{HERE}:mate", "module tests.agents.third_party has no function mate"),
        (f"search({HERE}:np)", "has no function np"),
        (f"{HERE}", "write py:MODULE:FUNCTION"),
        ("py::make", "write py:MODULE:FUNCTION"),
        (f"{HERE}:nothing", "returned NoneType, which is no agent: it lacks name, identity, max_deals, act, reset"),
        (f"{HERE}:broken", "cannot be made: KeyError: 'weights'"),
        (f"{HERE}:make(greedy)", "takes nothing in brackets"),
    ],
)
def test_what_is_no_agent_is_named(spec: str, says: str) -> None:
    with pytest.raises(AgentError) as error:
        registry.make(spec, RULES)
    assert says in str(error.value) and error.value.exit_code == 2


def test_a_module_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_a_bot.py").write_text("import not_installed_here\n")
    (tmp_path / "no_bot.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AgentError, match="module half_a_bot needs not_installed_here, which is missing"):
        registry.make("py:half_a_bot:make", RULES)
    with pytest.raises(AgentError, match="module no_bot cannot be imported: ZeroDivisionError"):
        registry.make("py:no_bot:make", RULES)


def test_an_agent_may_be_registered(registered: None) -> None:
    registry.register("cautious", make)
    assert isinstance(registry.make("cautious@hard", RULES), Mixed) and "cautious" in registry.names()
    for name in ("cautious", "search", "a(b", "py:x", ""):
        with pytest.raises(ValueError):
            registry.register(name, make)


def test_so_may_one_that_is_made_of_others(registered: None) -> None:
    @dataclass(frozen=True)
    class Options:
        often: int = number(3, 1, 9)

    def build(agents: list[Agent], options: Options, name: str) -> Agent:
        made = Cautious(RULES)
        made.name = f"{name} {options.often + len(agents)}"
        return made

    registry.composite("both", agents=2, options=Options, build=build)
    assert registry.make("both(greedy, uniform, often=5)", RULES).name == "both(greedy, uniform, often=5) 7"
    for spec, says in (
        ("both(greedy)", "both is made of 2 agents"),
        ("both(greedy, greedy, often=0)", "often is 0"),
        ("both(greedy, greedy, rarely=1)", "unknown option rarely; there are often"),
    ):
        with pytest.raises(AgentError, match=says):
            registry.make(spec, RULES)


def test_the_help_names_every_bundled_agent() -> None:
    assert "search(AGENT, worlds=32, candidates=4, confidence=1.5, margin=0.02, ms=...)" in registry.SPEC_HELP
    assert all(name in registry.SPEC_HELP for name in ("uniform", "greedy", "expert", "py:MODULE:FUNCTION"))


def gunzi(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a folder, with this checkout and the folder ``plugins`` of it on the path."""
    paths = [str(folder / "plugins"), *(str(ROOT / part) for part in ("", "agents", "train", "eval"))]
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", *arguments],
        cwd=folder, capture_output=True, text=True, timeout=240,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"},
    )  # fmt: skip


def test_worker_processes_play_them(tmp_path: Path) -> None:
    """By entry point, and out of a file in the current folder, which Python itself would not look at here."""
    source = (Path(__file__).parent / "third_party.py").read_text()
    info = tmp_path / "plugins" / "cautious_bots-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cautious-bots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gunzi.agents]\ncautious = cautious_bots:make\n")
    (tmp_path / "plugins" / "cautious_bots.py").write_text(source)
    (tmp_path / "mine.py").write_text(source)
    agents = ("py:mine:make", "cautious", "greedy")
    played = gunzi(tmp_path, "arena", *agents, "--deals", "8", "--workers", "2", "--json", "figures.json")
    assert played.returncode == 0, played.stderr
    pairs = json.loads((tmp_path / "figures.json").read_text())["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [agents[:2], (agents[0], agents[2]), agents[1:]]
    assert pairs[0]["levels"]["mean"] == 0 and pairs[1]["levels"] == pairs[2]["levels"]
    assert np.isfinite(pairs[1]["levels"]["mean"])
    unknown = gunzi(tmp_path, "arena", "greedy", "py:mine:mean", "--deals", "8")
    assert unknown.returncode == 2 and unknown.stderr.count("\n") == 1
    assert unknown.stderr.startswith("gunzi arena: agent 'py:mine:mean': module mine has no function mean")
    nobody = gunzi(tmp_path, "demo", "--agent", "nobody")
    assert nobody.returncode == 2 and "there are uniform, greedy, expert, cautious, search(...)" in nobody.stderr
