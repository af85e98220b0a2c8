"""Structure of the sources: imports go one way, torch and Ray stay in their places, nothing unsafe is called."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from itertools import groupby
from pathlib import Path

import pytest

from tests.support import ROOT, structure
from tests.support.structure import Counts

# From the ground up: a module may import modules of lower layers and of its own. CONTRIBUTING.md prints this table.
LAYERS: list[set[str]] = [
    {"gunzi_env.cards", "gunzi_env.files"},
    {"gunzi_env.planes"},
    {"gunzi_env.order", "gunzi_env.keys", "gunzi_env.packed"},
    {"gunzi_env.rules"},
    {"gunzi_env.actions"},
    {"gunzi_env.tables"},
    {"gunzi_env.chapters"},
    {"gunzi_env.compiled", "gunzi_env.published"},
    {"gunzi_env.engine"},
    {"gunzi_env.views"},
    {"gunzi_env.observe"},
    {"gunzi_env.rulebook"},
    {"gunzi_env.rewards", "gunzi_env.position", "gunzi_env.record", "gunzi_env.render", "gunzi_env.resample"},
    {"gunzi_env.vector", "gunzi_env.testing", "gunzi_env.aec"},
    {"gunzi_env", "gunzi_env.cli"},
    {"gunzi_agents"},
    {"gunzi_eval"},
    {"gunzi_train.config", "gunzi_train.errors", "gunzi_train.policy", "gunzi_train.seeds"},
    {"gunzi_train.device", "gunzi_train.group", "gunzi_train.plan", "gunzi_train.signals"},
    {"gunzi_train.folder", "gunzi_train.rollout"},
    {"gunzi_train.algorithms", "gunzi_train.logs"},
    {"gunzi_train.run", "gunzi_train.tuning"},
    {"gunzi_train.launch"},
    {"gunzi_train", "gunzi_train.commands"},
]
IN_ROOMS = ("gunzi_env", "gunzi_train")
"""Packages each room of which has a layer of its own; the other packages are one layer."""

AT_MOST = {"gunzi_env": Counts(25, 9, 117), "gunzi_eval": Counts(5, 4, 9), "gunzi_train": Counts(16, 7, 60)}
"""Bounds on the graphs of rooms. ``python -m tests.support.structure`` prints the counts of today."""

TORCH_ALLOWED = ("gunzi_agents.networks", "gunzi_agents.neural", "gunzi_train")
# Ray unpickles what its processes send each other, so only a run with --ray may load it.
RAY_ALLOWED = ("gunzi_train.rollout.ray_actors", "gunzi_train.launch.ray_cluster")
SHELL_LIBRARIES = {"gymnasium", "pettingzoo"}
SHELLS = ("gunzi_env.aec", "gunzi_env.vector", "gunzi_env.testing", "gunzi_env")

MODULES = structure.modules()


def imports(path: Path, at_once: bool = False) -> set[str]:
    return structure.imports(path, MODULES, at_once)


def layer(name: str) -> int:
    """Number of a module's layer: that of its own entry, or of its package's."""
    for number, members in enumerate(LAYERS):
        if name in members:
            return number
    parent = name.rpartition(".")[0]
    assert parent and parent not in IN_ROOMS, f"{name} is in no layer: add it to LAYERS"
    return layer(parent)


def layer_lines() -> str:
    """LAYERS as CONTRIBUTING.md prints it: a paragraph for each package, layers joined by arrows."""
    lines = []
    for package, layers in groupby(LAYERS, lambda names: min(names).partition(".")[0]):
        text = " -> ".join(", ".join(sorted(name.rpartition(".")[2] for name in names)) for names in layers)
        words = f"{package + ':':<13} {text}" if package in IN_ROOMS else package
        lines.append(textwrap.fill(words, 120, initial_indent="    ", subsequent_indent=" " * 18))
    return "\n".join(lines)


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] in structure.PACKAGES}


def within(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == entry or (entry != "gunzi_env" and name.startswith(entry + ".")) for entry in allowed)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_go_down(name: str) -> None:
    package = name.partition(".")[0]
    found = imports(MODULES[name])
    assert not {target.partition(".")[0] for target in found} & {"tests", "benchmarks"}
    for target in ours(found):
        assert target != package or name == package, f"{name} imports its own package: name the module"
        assert layer(target) <= layer(name), f"{name} imports {target}, which is above it"


def test_layers_name_what_exists_once() -> None:
    names = [name for members in LAYERS for name in members]
    assert len(names) == len(set(names))
    assert set(names) <= MODULES.keys()


def test_contributing_prints_the_layers() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert f"\n\n{layer_lines()}\n\n" in page, f"print this in CONTRIBUTING.md:\n{layer_lines()}"


@pytest.mark.parametrize("package", structure.PACKAGES)
def test_no_import_circles(package: str) -> None:
    """Neither among modules nor among rooms, imports within functions and for the type checker included."""
    graph = structure.module_graph(MODULES, package)
    assert structure.circles(graph) == []
    assert structure.circles(structure.room_graph(graph)) == []


@pytest.mark.parametrize("package", AT_MOST)
def test_the_graph_of_rooms_stays_small(package: str) -> None:
    counts = structure.counts(structure.room_graph(structure.module_graph(MODULES, package)))
    for kind, found, bound in zip(Counts._fields, counts, AT_MOST[package], strict=True):
        assert found <= bound, f"{package}: {found} {kind}, at most {bound} are allowed"


def test_the_graph_sees_circles_and_floors(tmp_path: Path) -> None:
    """A negative control: one arrow for the type checker, one in a function, and one module apart."""
    for name, text in {
        "a": "if TYPE_CHECKING:\n    from gunzi_env import b\n",
        "b": "def f():\n    from gunzi_env.c.d import x\n",
        "c/d": "import gunzi_env.a\n",
        "e": "from gunzi_env import a\n",
    }.items():
        path = tmp_path / "gunzi_env" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = structure.modules(tmp_path)
    graph = structure.module_graph(found, "gunzi_env")
    assert structure.circles(graph) == [["gunzi_env.a", "gunzi_env.b", "gunzi_env.c.d"]]
    rooms = structure.room_graph(graph)
    assert structure.circles(rooms) == [["gunzi_env.a", "gunzi_env.b", "gunzi_env.c"]]
    assert structure.counts(rooms) == (4, 2, 4)
    assert structure.imports(found["gunzi_env.a"], found, at_once=True) == set()


@pytest.mark.parametrize("name", sorted(MODULES))
def test_torch_and_shell_libraries_stay_in_place(name: str) -> None:
    roots = {target.partition(".")[0] for target in imports(MODULES[name])}
    if not within(name, TORCH_ALLOWED):
        assert not roots & {"torch", "tensorboard"}, f"{name} imports torch"
    if name not in RAY_ALLOWED:
        assert "ray" not in roots, f"{name} imports Ray"
        assert not imports(MODULES[name], at_once=True) & set(RAY_ALLOWED), f"{name} loads Ray"
    if name.startswith("gunzi_env") and not within(name, SHELLS):
        assert not roots & SHELL_LIBRARIES, f"{name} imports {roots & SHELL_LIBRARIES}"


def test_checker_sees_a_wrong_import(tmp_path: Path) -> None:
    """A negative control: the reading of imports must see them inside functions and in both forms."""
    file = tmp_path / "wrong.py"
    file.write_text(
        "def f():\n    import torch.nn\n    from gunzi_env import engine\n    from gunzi_env.engine import step\n"
    )
    assert imports(file) == {"torch.nn", "gunzi_env.engine"}
    assert layer("gunzi_env.engine") > layer("gunzi_env.chapters.tricks") > layer("gunzi_env.cards")


@pytest.mark.parametrize(
    "package", ["gunzi_env", "gunzi_agents", "gunzi_eval", "gunzi_eval.commands.arena", "gunzi_agents.uniform"]
)
def test_import_loads_no_torch(package: str) -> None:
    code = f"import sys, {package}; print(sorted({{'torch', 'tensorboard', 'ray'}} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"


UNSAFE_MODULES = {"cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "shelve"}
UNSAFE_CALLS = {"eval", "exec", "pickle.load", "pickle.loads", "pickle.Unpickler", "torch.load"}
UNSAFE_CALLS |= {f"yaml.{name}" for name in ("load", "load_all", "full_load", "unsafe_load", "unsafe_load_all")}
UNSAFE_KEYWORDS = {("weights_only", False), ("allow_pickle", True)}
# Tests may copy their own objects by way of pickle, and test_bombs.py shows that its bombs are some.
SOURCES = {path.relative_to(ROOT).as_posix(): path for path in MODULES.values()}
SOURCES |= {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "benchmarks").rglob("*.py")}
TESTS = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "tests").rglob("*.py")}


def dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def unsafe(text: str) -> list[str]:
    """What in a source could run code that it reads, by the names of the modules whatever they are called there."""
    tree = ast.parse(text)
    real: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            real |= {alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            real |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None), *(alias.name for alias in node.names)]
            found += [f"import of {name}" for name in names if name and name.partition(".")[0] in UNSAFE_MODULES]
        elif isinstance(node, ast.Call):
            first, dot, rest = dotted(node.func).partition(".")
            name = real.get(first, first) + dot + rest
            found += [name] if name in UNSAFE_CALLS else []
            words = [(word.arg, getattr(word.value, "value", None)) for word in node.keywords]
            found += [f"{name}({word}={value})" for word, value in words if (word, value) in UNSAFE_KEYWORDS]
            if name == "numpy.load" and ("allow_pickle", False) not in words:
                found.append("numpy.load without allow_pickle=False")
    return found


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_nothing_is_unpickled_or_evaluated(name: str) -> None:
    assert unsafe(SOURCES[name].read_text("utf-8")) == []


@pytest.mark.parametrize("name", sorted(TESTS.keys() - {"tests/env/test_bombs.py"}))
def test_nor_in_tests_but_what_they_have_pickled(name: str) -> None:
    assert set(unsafe(TESTS[name].read_text("utf-8"))) <= {"pickle.loads"}


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("import pickle\npickle.loads(x)", "pickle.loads"),
        ("import pickle as p\np.Unpickler(x).load()", "pickle.Unpickler"),
        ("from pickle import load as read\nread(x)", "pickle.load"),
        ("import torch\ntorch.load(x)", "torch.load"),
        ("import torch.serialization as s\ns.load(x, weights_only=False)", "load(weights_only=False)"),
        ("import numpy as np\nnp.load(x)", "numpy.load without allow_pickle=False"),
        ("from yaml import load\nload(x)", "yaml.load"),
        ("def f():\n    import joblib", "import of joblib"),
        ("from dill import loads", "import of dill"),
        ("eval('1')", "eval"),
    ],
)
def test_the_checker_sees_them(text: str, met: str) -> None:
    """Negative controls."""
    assert any(found.endswith(met) for found in unsafe(text))
