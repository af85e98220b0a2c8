"""Structure of the four packages: rooms, floors, arrows and circles of their imports.

A room is a module or a sub-package at the top of a package; the package's own ``__init__`` is none. An arrow leads
from a room to another room of the same package that it imports, also where only a function or the type checker does.
Floors are counted along the longest chain of arrows. ``python -m tests.support.structure`` prints the counts.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.support import ROOT

PACKAGES = {
    "gunzi_env": "gunzi_env",
    "gunzi_agents": "agents/gunzi_agents",
    "gunzi_eval": "eval/gunzi_eval",
    "gunzi_train": "train/gunzi_train",
}

Graph = dict[str, set[str]]


class Import(NamedTuple):
    """One imported name, and when: in a function (``deferred``), or for the type checker (``typing``)."""

    name: str
    deferred: bool
    typing: bool


class Counts(NamedTuple):
    """Size of a package's graph of rooms."""

    rooms: int
    floors: int
    arrows: int


def modules(root: Path = ROOT) -> dict[str, Path]:
    """List every module of the four packages by its dotted name."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


def statements(path: Path, known: Collection[str]) -> Iterator[Import]:
    """Read the imports of a file one by one; ``from a import b`` gives a.b where that is a ``known`` module."""

    def walk(node: ast.AST, deferred: bool, typing: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, deferred, typing) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import; write the package's name"
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (Import(name if name in known else str(node.module), deferred, typing) for name in full)
        else:
            deferred |= isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            guarded = node.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) else []
            for child in ast.iter_child_nodes(node):
                yield from walk(child, deferred, typing or child in guarded)

    return walk(ast.parse(path.read_text(encoding="utf-8")), False, False)


def imports(path: Path, known: Collection[str], at_once: bool = False) -> set[str]:
    """Collect the dotted names that a file imports anywhere, or only those imported at load (``at_once``)."""
    return {each.name for each in statements(path, known) if not (at_once and (each.deferred or each.typing))}


def module_graph(found: dict[str, Path], package: str) -> Graph:
    """Map each module of a package to the modules of the package that it imports."""
    inside = {name for name in found if name.partition(".")[0] == package}
    return {name: imports(found[name], found) & inside - {name} for name in sorted(inside)}


def room_graph(graph: Graph) -> Graph:
    """Map each room to the rooms that it imports; ``gunzi_env.cli.text`` belongs to the room ``gunzi_env.cli``."""
    room = {name: ".".join(name.split(".")[:2]) for name in graph if "." in name}
    rooms: Graph = {name: set() for name in room.values()}
    for name, here in room.items():
        rooms[here] |= {room[target] for target in graph[name] if target in room} - {here}
    return rooms


def circles(graph: Graph) -> list[list[str]]:
    """Find the groups of more than one node in which each node reaches every other one."""
    reached: Graph = {}
    for start in graph:
        seen, waiting = set[str](), [start]
        while waiting:
            new = graph[waiting.pop()] - seen
            seen |= new
            waiting += new
        reached[start] = seen
    groups = {tuple(sorted(other for other in reached[node] if node in reached[other])) for node in graph}
    return sorted(list(group) for group in groups if len(group) > 1)


def floors(graph: Graph) -> int:
    """Count the nodes on the longest chain of arrows; a circle counts as one node."""
    group = {node: circle[0] for circle in circles(graph) for node in circle}
    merged: Graph = {group.get(node, node): set() for node in graph}
    for node, targets in graph.items():
        here = group.get(node, node)
        merged[here] |= {group.get(target, target) for target in targets} - {here}
    heights: dict[str, int] = {}

    def height(node: str) -> int:
        if node not in heights:
            heights[node] = 1 + max(map(height, merged[node]), default=0)
        return heights[node]

    return max(map(height, merged), default=0)


def counts(rooms: Graph) -> Counts:
    """Count rooms, floors and arrows."""
    return Counts(len(rooms), floors(rooms), sum(map(len, rooms.values())))


def main(root: Path) -> None:
    """Print the counts of each package, and its circles among rooms and among modules."""
    found = modules(root)
    for package in PACKAGES:
        graph = module_graph(found, package)
        rooms = room_graph(graph)
        print("{:<13} {:>3} rooms {:>3} floors {:>4} arrows".format(package, *counts(rooms)))
        for kind, groups in (("rooms", circles(rooms)), ("modules", circles(graph))):
            for circle in groups:
                print(f"    circle of {kind}: {', '.join(circle)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
