"""The wheel: it holds every module and every data file of the packages, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.support import ROOT

PACKAGES = {
    "gunzi_env": ROOT / "gunzi_env",
    "gunzi_agents": ROOT / "agents" / "gunzi_agents",
    "gunzi_train": ROOT / "train" / "gunzi_train",
    "gunzi_eval": ROOT / "eval" / "gunzi_eval",
    "gunzi_configs": ROOT / "configs",
}


def tracked(folder: Path) -> set[str]:
    """The files of a folder that git tracks, relative to it."""
    command = ["git", "-C", str(folder), "ls-files", "--cached", "--others", "--exclude-standard"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())


def test_the_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    # Built from a copy: setuptools leaves build folders beside the sources.
    copy = tmp_path / "copy"
    for name in tracked(ROOT):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "docs/", "benchmarks/")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    run = subprocess.run([*build, "-w", str(tmp_path), str(copy)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {f"{package}/{name}" for package, folder in PACKAGES.items() for name in tracked(folder)}
    assert held == expected
