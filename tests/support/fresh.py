"""The tasks of test_restore.py for a fresh process: ``python -m tests.support.fresh TASK FOLDER`` prints JSON."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gunzi_env import Rules, VectorEnv, engine, observe, record
from gunzi_env.keys import mix
from gunzi_env.planes import U64
from gunzi_env.tables import Phase, Tables
from gunzi_env.testing import random_actions

ONE = np.zeros(1, np.intp)


def actions_at(t: Tables, ply: int) -> Any:
    """Random legal actions that depend on the deal and the ply alone; bids are often passed."""
    return random_actions(t, mix(t.seed, t.table_id, t.match, t.hand, U64(ply)), 0.3)


def restore(folder: Path) -> dict[str, Any]:
    """Load every saved table, compare it with its hash, make the recorded step and compare with the next."""
    index = json.loads((folder / "index.json").read_text("utf-8"))
    data = (folder / "tables.bin").read_bytes()
    wrong: list[str] = []
    plies = 0
    for game in index:
        rules, at = Rules.preset(game["preset"]), game["offset"]
        sizes, hashes, actions = game["sizes"], game["hashes"], game["actions"]
        for ply, size in enumerate(sizes):
            t = Tables.load(rules, data[at : at + size])
            at += size
            plies += 1
            if t.hash64() != hashes[ply]:
                wrong.append(f"{game['preset']} {ply} loaded")
            if ply == len(actions):
                continue
            if t.phase[0] == Phase.OVER:
                engine.next_hand(t, ONE)
            else:
                engine.step(t, [actions[ply]])
            if t.hash64() != hashes[ply + 1]:
                wrong.append(f"{game['preset']} {ply} stepped")
    return {"plies": plies, "wrong": wrong}


def go_on(env: VectorEnv, steps: int, first: int) -> list[str]:
    """A digest of all that each step returns."""
    out = []
    for ply in range(first, first + steps):
        view, legal, rewards, done = env.step(actions_at(env.tables, ply))
        parts = (observe.encode(view), legal, rewards, done, env.points, env.result.score)
        out.append(hashlib.blake2b(b"".join(np.ascontiguousarray(p).tobytes() for p in parts)).hexdigest())
    return out


def vector(folder: Path) -> dict[str, Any]:
    """Go on from the state of a :class:`VectorEnv`."""
    settings = json.loads((folder / "vector.json").read_text("utf-8"))
    out = []
    for number, arguments in enumerate(settings["environments"]):
        env = VectorEnv(**arguments)
        env.set_state((folder / f"vector{number}.bin").read_bytes())
        out.append(go_on(env, settings["steps"], settings["first"]))
    return {"digests": out}


def replayed(folder: Path) -> dict[str, Any]:
    """The hash at every ply of a record."""
    read = record.parse((folder / "game.txt").read_text("utf-8"))
    return {"hashes": [[t.hash64() for t, _ in record.replay_hand(read.rules, hand)] for hand in read.hands]}


def trace(rules: Rules, seed: int, plies: int, tables: int = 3) -> list[int]:
    """The hash of every table at every ply, over several hands."""
    t = Tables(rules, tables)
    return trace_on(t, seed, plies)


def trace_on(t: Tables, seed: int, plies: int) -> list[int]:
    """:func:`trace` on tables that may have been used before."""
    engine.reset(t, seed)
    out = []
    for ply in range(plies):
        out += [t.hash64(n) for n in range(t.num)]
        engine.step(t, actions_at(t, ply))
        over = np.flatnonzero(t.phase == Phase.OVER)
        if len(over):
            engine.next_hand(t, over)
    return out


def traced(folder: Path) -> dict[str, Any]:
    """A trace with the number of threads that the environment's variables ask for, torch's too where it is there."""
    settings = json.loads((folder / "trace.json").read_text("utf-8"))
    threads = 0
    if importlib.util.find_spec("torch"):
        import torch

        torch.manual_seed(settings["threads"])
        torch.set_num_threads(settings["threads"])
        threads = torch.get_num_threads()
    return {"hashes": trace(Rules.preset(settings["preset"]), settings["seed"], settings["plies"]), "threads": threads}


TASKS = {"restore": restore, "vector": vector, "replayed": replayed, "traced": traced}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](Path(sys.argv[2]))))
