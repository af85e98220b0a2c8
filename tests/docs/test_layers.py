"""The sources' structure: imports go one way, torch stays where it belongs, nothing unsafe is called."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

PACKAGES = {
    "gunzi_env": ROOT / "gunzi_env",
    "gunzi_agents": ROOT / "agents" / "gunzi_agents",
    "gunzi_train": ROOT / "train" / "gunzi_train",
    "gunzi_eval": ROOT / "eval" / "gunzi_eval",
}

# From the ground up. A module may import modules of lower layers and of its own, but never in a circle.
LAYERS: list[set[str]] = [
    {"gunzi_env.cards", "gunzi_env.files"},
    {"gunzi_env.planes"},
    {"gunzi_env.order", "gunzi_env.keys", "gunzi_env.packed"},
    {"gunzi_env.rules"},
    {"gunzi_env.actions"},
    {"gunzi_env.tables"},
    {"gunzi_env.chapters"},
    {"gunzi_env.compiled"},
    {"gunzi_env.engine"},
    {"gunzi_env.views"},
    {"gunzi_env.observe"},
    {"gunzi_env.published", "gunzi_env.rulebook"},
    {"gunzi_env.rewards", "gunzi_env.position", "gunzi_env.record", "gunzi_env.render", "gunzi_env.resample"},
    {"gunzi_env.vector", "gunzi_env.testing", "gunzi_env.aec"},
    {"gunzi_env", "gunzi_env.cli"},
    {"gunzi_agents"},
    {"gunzi_eval"},
    {"gunzi_train"},
]

TORCH_ALLOWED = ("gunzi_agents.networks", "gunzi_agents.neural", "gunzi_train")
# Ray unpickles what its processes send each other: whoever does not ask for --ray never loads it.
RAY_ALLOWED = ("gunzi_train.rollout.ray_actors", "gunzi_train.launch.ray_cluster")
SHELL_LIBRARIES = {"gymnasium", "pettingzoo"}
SHELLS = ("gunzi_env.aec", "gunzi_env.vector", "gunzi_env.testing", "gunzi_env")


def modules() -> dict[str, Path]:
    """Every module of the four packages by its dotted name."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join((package, *parts)).removesuffix(".__init__")
            found[name] = path
    return found


MODULES = modules()


def imports(path: Path, at_once: bool = False) -> set[str]:
    """What a file imports as dotted names, wherever in the file, or only when it is loaded (``at_once``).

    ``from a import b`` gives a.b where that is a module.
    """
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import; write the package's name"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                found.add(full if full in MODULES else str(node.module))
    return found


def layer(name: str) -> int:
    """The number of a module's layer: its own entry, or that of its package (in gunzi_env every room is listed)."""
    for number, members in enumerate(LAYERS):
        if name in members:
            return number
    parent = name.rpartition(".")[0]
    assert parent and parent != "gunzi_env", f"{name} stands in no layer: add it to LAYERS"
    return layer(parent)


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.partition(".")[0] in PACKAGES}


def within(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == entry or (entry != "gunzi_env" and name.startswith(entry + ".")) for entry in allowed)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_go_down(name: str) -> None:
    package = name.partition(".")[0]
    for target in ours(imports(MODULES[name])):
        assert target != package or name == package, f"{name} imports its own package: name the module"
        assert layer(target) <= layer(name), f"{name} imports {target}, which is above it"
        assert package != "gunzi_eval" or not target.startswith("gunzi_train"), f"{name} knows of training: {target}"


def test_no_import_circles() -> None:
    graph = {name: ours(imports(path, at_once=True)) & set(MODULES) - {name} for name, path in MODULES.items()}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"import circle: {' -> '.join((*trail, name))}"
        if name in done:
            return
        for target in sorted(graph[name]):
            visit(target, (*trail, name))
        done.add(name)

    for name in sorted(graph):
        visit(name, ())


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
