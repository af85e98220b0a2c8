"""What numba compiles is what numpy does, to the last bit: the play, the legal actions and what every seat sees."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from gunzi_env import Rules, compiled, engine, observe
from gunzi_env.aec import raw_env
from gunzi_env.chapters import tricks
from gunzi_env.compiled import jit
from gunzi_env.tables import Phase, Tables
from gunzi_env.testing import random_actions
from tests.support.variants import VARIANTS

pytestmark = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed")

NUMPY = {
    Phase.LEAD: (tricks.lead_legal, tricks.lead_apply),
    Phase.FOLLOW: (tricks.follow_legal, tricks.follow_apply),
}
COMPILED = {
    Phase.LEAD: (compiled.lead_legal, compiled.lead_apply),
    Phase.FOLLOW: (compiled.follow_legal, compiled.follow_apply),
}


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    before = dict(engine.HANDLERS)
    yield
    engine.HANDLERS.update(before)


def step(t: Tables, actions: np.ndarray, how: dict[Phase, tuple]) -> None:  # type: ignore[type-arg]
    engine.HANDLERS.update(how)
    engine.step(t, actions)
    over = np.flatnonzero(t.phase == Phase.OVER)
    if len(over):
        engine.next_hand(t, over)


def differing(a: Tables, b: Tables) -> list[str]:
    arrays = {name: array for name, array, _ in b.arrays()}
    return [name for name, array, _ in a.arrays() if not np.array_equal(array, arrays[name])]


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_play_is_the_same(name: str) -> None:
    """Side by side for more than a hand, every array compared after every step."""
    rules = VARIANTS[name]
    a = Tables(rules, 120)
    engine.reset(a, 11)
    b = a.clone()
    rng = np.random.default_rng(12)
    phases = set()
    for number in range(260):
        actions = random_actions(a, rng.integers(2**63, size=a.num).astype(np.uint64), 0.5)
        phases |= set(a.phase.tolist())
        step(a, actions, NUMPY)
        step(b, actions, COMPILED)
        assert a == b, f"step {number}: {differing(a, b)}"
    assert phases >= {Phase.BURY, Phase.LEAD, Phase.FOLLOW}


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_what_is_seen_is_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every seat, asked or not, in every phase; in several dtypes."""
    rules = VARIANTS[name]
    t = Tables(rules, 90)
    engine.reset(t, 13)
    rng = np.random.default_rng(14)
    returned = 0
    for number in range(200):
        seat = rng.integers(0, 4, t.num).astype(np.int8)
        monkeypatch.setattr(compiled, "available", lambda: False)
        expected = observe.encode_tables(t, seat=seat)
        assert np.array_equal(expected, observe.encode(observe.view(t, None, seat)))
        monkeypatch.setattr(compiled, "available", lambda: True)
        found = observe.encode_tables(t, seat=seat)
        assert np.array_equal(found, expected), f"step {number}: columns {np.unique(np.nonzero(found != expected)[1])}"
        returned += int(((t.returned[0] != 0) & (seat == t.receiver)).sum())
        actions = random_actions(t, rng.integers(2**63, size=t.num).astype(np.uint64), 0.5)
        step(t, actions, NUMPY)
    assert returned > 20
    movers = observe.encode_tables(t)
    floats = observe.encode_tables(t, np.empty(movers.shape, np.float32))
    assert np.array_equal(floats, movers)
    bits = observe.encode_tables(t, np.empty(movers.shape, np.uint16), one=observe.BFLOAT16_ONE)
    assert np.array_equal(bits, movers * np.uint16(observe.BFLOAT16_ONE))


def test_one_table_and_a_part_of_a_batch() -> None:
    """A kernel writes where it is told and nowhere else."""
    rules = Rules.preset("dalian_dead")
    t = Tables(rules, 30)
    engine.reset(t, 15)
    rng = np.random.default_rng(16)
    for _ in range(150):
        alone = [t.select(np.array([n])) for n in (0, 17)]
        actions = random_actions(t, rng.integers(2**63, size=t.num).astype(np.uint64), 0.5)
        step(t, actions, COMPILED)
        for n, one in zip((0, 17), alone, strict=True):
            step(one, actions[[n]], COMPILED)
            assert not differing(one, t.select(np.array([n])))


CODE = """
import sys
from gunzi_env import engine
from gunzi_env.chapters import tricks
from gunzi_env.tables import Phase
own = engine.HANDLERS[Phase.LEAD][1] is tricks.lead_apply
print("numpy" if own else "compiled", "numba" in sys.modules)
"""


@pytest.mark.parametrize(
    ("switch", "expected"), [("0", "numpy False"), ("1", "compiled False"), (None, "compiled False")]
)
def test_the_switch(switch: str | None, expected: str) -> None:
    """numba is used unless it is switched off, and loaded only when something is played."""
    environment = {key: value for key, value in os.environ.items() if key != compiled.SWITCH}
    if switch is not None:
        environment[compiled.SWITCH] = switch
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment, timeout=60)
    assert run.stdout.strip() == expected, run.stderr


def test_a_changed_source_is_compiled_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    """The folder of compiled code is named after the whole package: numba would not notice another constant."""
    from gunzi_env.compiled import jit

    before = jit.version_hash()
    original = jit.Path.read_bytes
    monkeypatch.setattr(
        jit.Path, "read_bytes", lambda path: original(path) + (b"#" if path.name == "tables.py" else b"")
    )
    assert jit.version_hash() != before
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = jit.cache_folder()
    assert folder is not None and folder.startswith(str(tmp_path)) and folder.endswith(jit.version_hash())


def test_without_a_place_nothing_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from gunzi_env.compiled import jit

    file = jit.Path(str(tmp_path)) / "file"
    file.write_text("no folder")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file))
    assert jit.cache_folder() is None


def test_the_environment_plays_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same episode, observation by observation."""
    seen = []
    for how, there in ((NUMPY, False), (COMPILED, True)):
        engine.HANDLERS.update(how)
        monkeypatch.setattr(compiled, "available", lambda there=there: there)
        env = raw_env("four_deck")
        env.reset(seed=17)
        episode = []
        rng = np.random.default_rng(18)
        while True:
            observation, reward, terminated, _, _ = env.last()
            episode.append((observation["observation"].tobytes(), observation["action_mask"].tobytes(), reward))
            if terminated:
                break
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
        seen.append(episode)
    assert seen[0] == seen[1]


SOURCES = sorted(path.relative_to(jit.PACKAGE) for path in jit.PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_a_change_of_any_source_changes_the_hash_of_the_cache(source: Path, tmp_path: Path) -> None:
    """Machine code is kept under this hash: a file that it missed would leave stale code in use."""
    assert {Path("tables.py"), Path("chapters", "tricks.py")} <= set(SOURCES)
    package = tmp_path / "gunzi_env"
    shutil.copytree(jit.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    before = jit.version_hash(package)
    (package / source).write_bytes((package / source).read_bytes() + b"\n# changed")
    assert before == jit.version_hash() != jit.version_hash(package)
