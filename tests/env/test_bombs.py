"""Files that run code where they are unpickled: every loader refuses them, and nothing is run."""

from __future__ import annotations

import io
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gunzi_agents import checkpoint, registry
from gunzi_agents.base import AgentError
from gunzi_agents.checkpoint import CheckpointError
from gunzi_env import Rules, VectorEnv, cli, record
from gunzi_env.published import equity
from gunzi_env.tables import Tables
from gunzi_env.testing.case import Case
from gunzi_train import folder
from gunzi_train.plan import CONFIG

MARK = "exploded"
"""The folder that a bomb makes."""


class Bomb:
    """Makes a folder when it is unpickled."""

    def __reduce__(self) -> Any:
        return os.mkdir, (MARK,)


def _torch() -> bytes:
    torch = pytest.importorskip("torch")
    file = io.BytesIO()
    torch.save({"net.a": Bomb()}, file)
    return file.getvalue()


def _arrays() -> bytes:
    file = io.BytesIO()
    np.savez(file, phase=np.array([Bomb()], object))
    return file.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "pickle": lambda: pickle.dumps(Bomb()),
    "pickle as text": lambda: pickle.dumps(Bomb(), 0),
    "torch": _torch,
    "arrays": _arrays,
    "yaml": lambda: f"!!python/object/apply:os.mkdir [{MARK}]\n".encode(),
}
TRAIN = ["train", "--minutes", "0.01", "--out", "run"]
# By the name of the file: what it may be, and the exit code of the command.
COMMANDS: dict[str, tuple[list[str], int]] = {
    "x.toml": (["train", "x.toml", "--minutes", "1"], 2),
    "rules.toml": ([*TRAIN, "--rules", "rules.toml"], 2),
    "start.safetensors": ([*TRAIN, "--start", "start.safetensors"], 3),
    "resume.safetensors": (["train", "--resume", "resume.safetensors"], 3),
    "bot.safetensors": (["arena", "bot.safetensors", "uniform", "--deals", "2"], 3),
    "bot.pt": (["arena", "./bot.pt", "uniform", "--deals", "2"], 3),
    "target.safetensors": (["exploit", "target.safetensors", "--minutes", "1"], 3),
    "record.txt": (["replay", "record.txt"], 3),
    "game.txt": (["explain", "game.txt"], 3),
    "arena.json": (["rating", "arena.json"], 2),
    "games.jsonl": (["arena", "greedy", "uniform", "--deals", "2", "--save", "games.jsonl"], 3),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_they_are_bombs(here: Path) -> None:
    for name, load in {"pickle": pickle.loads, "pickle as text": pickle.loads, "arrays": _unpickled_arrays}.items():
        load(BOMBS[name]())
        (here / MARK).rmdir()


def _unpickled_arrays(data: bytes) -> None:
    np.load(io.BytesIO(data), allow_pickle=True)["phase"]


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_refuse_them(name: str, bomb: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv, code = COMMANDS[name]
    data = BOMBS[bomb]()
    (here / name).write_bytes(data)
    assert cli.main(argv) == code
    assert [path.name for path in here.iterdir()] == [name], "something was run, or written"
    assert (here / name).read_bytes() == data
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and name in error


@pytest.mark.parametrize("bomb", BOMBS)
def test_functions_refuse_them(bomb: str, here: Path) -> None:
    data, rules = BOMBS[bomb](), Rules()
    text = data.decode("latin-1")
    path = here / "x.safetensors"
    path.write_bytes(data)
    env = VectorEnv(2)
    loaders: dict[Any, tuple[type[Exception], ...]] = {
        (lambda: checkpoint.load(path)): (CheckpointError,),
        (lambda: registry.make(str(path), rules)): (CheckpointError, AgentError),
        (lambda: Tables.load(rules, data)): (ValueError,),
        (lambda: env.set_state(data)): (ValueError,),
        (lambda: record.parse(text)): (ValueError,),
        (lambda: equity.read(rules, text)): (ValueError,),
        (lambda: Case.parse(text)): (ValueError,),
        (lambda: Rules.from_toml(path)): (ValueError,),
    }
    for load, errors in loaders.items():
        with pytest.raises(errors):
            load()
    assert not (here / MARK).exists()


def test_a_run_folder_of_them_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = here / "run"
    (run / checkpoint.FOLDER).mkdir(parents=True)
    for name in (CONFIG, folder.METRICS, f"{checkpoint.FOLDER}/{checkpoint.file_name(3)}"):
        (run / name).write_bytes(pickle.dumps(Bomb()))
    before = sorted(here.rglob("*"))
    for argv, code in (
        (["train", "--resume", "run"], 3),
        (["train", "--resume", "auto", "--out", "run"], 3),
        ([*TRAIN, "--overwrite"], 2),
        (["arena", "run", "uniform", "--deals", "2"], 3),
    ):
        assert cli.main(argv) == code
        assert capsys.readouterr().err.count("\n") == 1
    assert sorted(here.rglob("*")) == before
