"""Start a run or resume it: what ``gunzi train`` and ``gunzi exploit`` share.

torch is imported only when a run begins, so that wrong options are reported at once.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import shlex
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import tyro

from gunzi_agents import registry
from gunzi_agents.base import AgentError
from gunzi_agents.checkpoint import FOLDER, CheckpointError, listing, require
from gunzi_agents.checkpoint import load as load_checkpoint
from gunzi_env import cli
from gunzi_env.files import sweep
from gunzi_env.rules import Rules, load_rules
from gunzi_train import config as configuration
from gunzi_train import folder as folders
from gunzi_train.config import Config, ConfigError
from gunzi_train.errors import Interrupted, RunFolderError
from gunzi_train.folder import RunLock
from gunzi_train.plan import CONFIG, Plan
from gunzi_train.signals import SignalGuard

if TYPE_CHECKING:
    import torch

RUNS = "runs"
TO_CHANGE = ("minutes", "ray.address")
"""Settings that can be changed when a run is resumed."""


@dataclass(frozen=True)
class RunOptions:
    """Command-line options for a run and its folder."""

    name: ClassVar[str] = "train"
    """Name of the command."""

    run: str = ""
    """Name of the run: its folder is runs/NAME."""
    out: str = ""
    """Folder of the run, instead of --run."""
    resume: str = ""
    """Resume a run: its folder, one of its checkpoints, or
    "auto" to resume --run or --out if it exists. The run
    keeps its settings; only --minutes and --ray can be
    changed. Resuming from an older checkpoint removes the
    later ones and needs --overwrite."""
    overwrite: bool = False
    """Remove an older run in the folder; with --resume CHECKPOINT, remove the checkpoints after it."""
    dry_run: bool = False
    """Print all settings and write nothing."""
    settings: Annotated[Config, tyro.conf.arg(name="")] = field(default_factory=Config)


def guarded(name: str, work: Callable[[float, SignalGuard], int]) -> int:
    """Run ``work(began, stop)`` under a signal guard and return its exit code; typed errors become one line.

    Args:
        name: of the command.
        work: takes the time of the start (``time.monotonic()``) and the signal guard.
    """
    began = time.monotonic()
    stop = SignalGuard()
    try:
        try:
            return work(began, stop)
        finally:
            stop.close()
    except KeyboardInterrupt:
        print(f"gunzi {name}: interrupted before the first update", file=sys.stderr, flush=True)
        return stop.code or cli.INTERRUPTED
    except Exception as error:
        code = cli.exit_code(error)
        if code is None:
            raise
        print(f"gunzi {name}: {cli.message(error)}", file=sys.stderr, flush=True)
        return code


def folder_of(command: RunOptions) -> Path | None:
    """Return the folder that ``--run`` or ``--out`` names; None without either."""
    if command.run and command.out:
        raise ConfigError("command line: give --run or --out, not both")
    if command.run:
        name = Path(command.run)
        if len(name.parts) != 1 or command.run in (".", ".."):
            raise ConfigError(f"command line: --run is {command.run!r}, it must be a plain name; --out takes a folder")
        return Path(RUNS) / name
    return Path(command.out) if command.out else None


def to_resume(command: RunOptions, where: Path | None, base: Config, *, stands_alone: bool) -> Path | None:
    """Return the run folder or checkpoint to resume; None for a new run.

    Args:
        command: the options.
        where: the folder that they name.
        base: the settings before the command line changed them.
        stands_alone: False if a file or an argument describes another run beside ``--resume``.

    Raises:
        ConfigError: options that cannot be combined with ``--resume``.
    """
    if command.resume == "auto":
        if where is None:
            raise ConfigError("command line: --resume auto needs --run or --out")
        return where if listing(where) else None  # the settings of the run apply; others are ignored
    if not command.resume:
        return None
    if where is not None or not stands_alone:
        raise ConfigError(
            "command line: --resume RUN cannot be combined with another folder, file or budget: "
            "a resumed run keeps its folder and its settings"
        )
    changed = [name for name in configuration.set_paths(command.settings, base) if name not in TO_CHANGE]
    if changed:
        raise ConfigError(
            f"command line: a resumed run keeps its settings; {changed[0]} cannot be changed, "
            "only --minutes and --ray can"
        )
    return Path(command.resume)


def run_of(given: Path) -> Path:
    """Return the run folder of a given run folder or checkpoint."""
    if given.is_dir():
        inside = given.name == FOLDER and not (given / FOLDER).is_dir()
        return given.parent if inside else given
    return given.parent.parent if given.parent.name == FOLDER else given.parent


def begin(run: Path, config: Config, command: RunOptions, began: float, stop: SignalGuard) -> int:
    """Train a new run in its folder, or with ``--dry-run`` print its settings. Returns the exit code."""
    rules = load_rules(config.rules)
    if config.start:
        config = dataclasses.replace(config, net=_net_of(config.start, rules))
    if command.dry_run:
        _check_needs(config, rules)
        print(json.dumps(configuration.as_dict(config), indent=2))
        return 0
    folders.check(run, overwrite=command.overwrite)  # before the imports that take seconds
    _check_needs(config, rules)
    plan = Plan(config, rules, _bf16(config))
    stop.check()
    with _cluster(config, stop):
        lock = folders.prepare(run, overwrite=command.overwrite)
        try:
            return _train(run, plan, began, stop)
        except (Interrupted, KeyboardInterrupt):
            folders.discard(run)
            raise
        finally:
            lock.release()


def _net_of(start: str, rules: Rules) -> configuration.NetConfig:
    """Read the network sizes of the run that the initial weights come from."""
    found, _ = load_checkpoint(start)
    require(found, rules)
    return folders.plan_of(found).config.net


def _check_needs(config: Config, rules: Rules) -> None:
    """Check names of bots and required libraries before anything is written."""
    if config.ray.address and importlib.util.find_spec("ray") is None:
        raise ConfigError("--ray needs Ray: pip install gunzi[distributed]")
    for opponent in config.population.agents or (config.opponent,) * bool(config.opponent):
        registry.make(opponent, rules)
    for opponent in config.evaluate.opponents if config.evaluate.every_seconds else ():
        try:
            registry.make(opponent, rules)
        except AgentError as error:
            raise ConfigError(f"evaluate.opponents: {error}") from None


def resume(given: Path, command: RunOptions, began: float, stop: SignalGuard) -> int:
    """Resume a run or one of its checkpoints, or with ``--dry-run`` print its settings. Returns the exit code."""
    run = run_of(given)
    print(f"gunzi {command.name}: resuming {given}", flush=True)
    if not run.is_dir():
        raise CheckpointError(given, "does not exist")
    plan, counters, said = _find(given, command.settings)  # before anything is written
    _later(given, run, counters, command.overwrite)
    _check_needs(plan.config, plan.rules)
    if command.dry_run:
        print(*said, json.dumps(configuration.as_dict(plan.config), indent=2), sep="\n")
        return 0
    with _cluster(plan.config, stop):
        lock = RunLock(run)
        try:
            return _go_on(given, run, command, began, stop)
        finally:
            lock.release()


def _go_on(given: Path, run: Path, command: RunOptions, began: float, stop: SignalGuard) -> int:
    """Resume a run whose folder is locked."""
    for stale in sweep(run) + sweep(run / FOLDER) + sweep(run / folders.RECORDS):
        print(f"removed {stale.name}, which a process left that was killed while saving", flush=True)
    plan, counters, said = _find(given, command.settings)  # again, now that no other process writes here
    print(*said, sep="\n", flush=True)
    if counters["total"] and counters["updates"] >= counters["total"] and counters.get("finished"):
        print(f"its schedule of {counters['total']} updates is finished: nothing to do", flush=True)
        return 0
    stop.check()
    _device(plan.config)
    folders.clear(run, _later(given, run, counters, command.overwrite))
    return _train(run, plan, began, stop)


def _find(given: Path, settings: Config) -> tuple[Plan, dict[str, Any], list[str]]:
    """Load the newest usable checkpoint: its plan, its counters, and messages about it and damaged newer ones.

    ``settings`` can change the minutes and the Ray cluster of the plan.
    """
    found, damaged = load_checkpoint(given)
    counters = found.meta.get("counters")
    if not isinstance(counters, dict) or not {"updates", "hands", "decisions", "total", "seconds"} <= set(counters):
        raise CheckpointError(found.path, "cannot be resumed: it contains weights, but no state of a training")
    said = [f"passed over {error}" for error in damaged]
    said.append(f"from {found.path.name}: {counters['updates']} updates, {counters['hands']:,} hands")
    plan = folders.plan_of(found)
    config = plan.config
    if config.ray.address:
        said.append("on new tables: only a run without Ray continues bit for bit")
    elif settings.ray.address:
        raise ConfigError(
            f"{given}: was trained without --ray and resumes without; --start takes its weights for a new run"
        )
    ray = dataclasses.replace(config.ray, address=settings.ray.address or config.ray.address)
    config = dataclasses.replace(config, minutes=settings.minutes or config.minutes, ray=ray)
    return dataclasses.replace(plan, config=config), counters, said


def _later(given: Path, run: Path, counters: dict[str, Any], overwrite: bool) -> list[Path]:
    """List the checkpoints that resuming would replace; those of a run folder are damaged, others need --overwrite."""
    later = [path for path in listing(run) if int(path.stem.partition("-")[2]) > counters["updates"]]
    if later and not given.is_dir() and not overwrite:
        many = "1 later checkpoint" if len(later) == 1 else f"{len(later)} later checkpoints"
        raise RunFolderError(
            f"{given}: {run} contains {many}, up to {later[0].name}, which resuming from here would remove; "
            f"resume from the newest (--resume {shlex.quote(str(run))}), or add --overwrite"
        )
    return later


def _cluster(config: Config, stop: SignalGuard) -> AbstractContextManager[None]:
    """Join the Ray cluster of a run before anything is written; do nothing for a run without Ray."""
    if not config.ray.address:
        return nullcontext()
    from gunzi_train.launch import ray_cluster

    return ray_cluster.joined(config.ray, stop)


def _train(run: Path, plan: Plan, began: float, stop: SignalGuard) -> int:
    from gunzi_train.launch import processes
    from gunzi_train.run import session

    stop.check()
    folders.write(run / CONFIG, json.dumps(plan.to_json(), indent=2) + "\n")
    print(f"{'bfloat16' if plan.bf16 else 'float32'} matrix products; Ctrl-C once saves and stops", flush=True)
    stop.check()
    if plan.config.ray.address:
        return _train_on_ray(run, plan, began, stop)
    group = processes.start(run, plan.config.processes, plan.config.timeout_seconds)
    return session.run(run, plan, group, started_at=began, stop=stop)


def _train_on_ray(run: Path, plan: Plan, began: float, stop: SignalGuard) -> int:
    from gunzi_train.launch import ray_cluster
    from gunzi_train.rollout import ray_actors
    from gunzi_train.run import session

    source = ray_actors.Actors(plan)
    try:
        return session.run(run, plan, ray_cluster.start(plan), started_at=began, stop=stop, source=source)
    finally:
        source.close()


def say_stopped(command: RunOptions, run: Path) -> None:
    """Print the command that resumes a run which a signal stopped."""
    print(
        f"stopped by a signal after a checkpoint; resume with: gunzi {command.name} --resume {shlex.quote(str(run))}",
        flush=True,
    )


def _bf16(config: Config) -> bool:
    import torch

    from gunzi_train.device import bf16_is_faster

    torch.set_num_threads(1)
    device = _device(config)
    return bf16_is_faster(device) if config.precision == "auto" else config.precision == "bf16"


def _device(config: Config) -> torch.device:
    """Choose the device of the network; an unavailable one is refused before anything is written."""
    from gunzi_train.device import choose

    return choose(config.device)


def summary(config: Config) -> str:
    """Describe rules, processes and length of a run in words."""
    processes = _many(config.processes, "process", "processes")
    if config.ray.address:
        learners, ray_actors = _many(config.ray.learners, "learner"), _many(config.ray.actors, "actor")
        processes = f"Ray ({config.ray.address}) with {ray_actors} and {learners}"
    updates = [f"{config.schedule.updates} updates"] if config.schedule.updates else []
    minutes = [f"{config.minutes:g} minutes"] if config.minutes else []
    return f"rules {config.rules}, {processes}, {' or '.join(updates + minutes)}"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"
