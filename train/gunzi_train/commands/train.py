"""Train a bot by self-play: masked PPO, one network in all four seats.

The command line of ``gunzi train``, and what ``gunzi exploit`` shares with it. torch is imported only after the first
line is printed.
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
from gunzi_agents.checkpoint import FOLDER, CheckpointError, listing, require, sweep
from gunzi_agents.checkpoint import load as load_checkpoint
from gunzi_agents.playing import AgentFault
from gunzi_env.cli.options import UsageError, tyro_errors
from gunzi_env.rules import Rules, load_rules
from gunzi_train import config as configuration
from gunzi_train import folder as folders
from gunzi_train.config import Config, ConfigError
from gunzi_train.errors import Interrupted, RunFolderError, TrainingError
from gunzi_train.folder import RunLock
from gunzi_train.plan import CONFIG, Plan
from gunzi_train.signals import Stop

if TYPE_CHECKING:
    import torch

RUNS = "runs"
TO_CHANGE = ("minutes", "ray.address")
"""The settings that can be given again when a run goes on."""
DESCRIPTION = """Train a bot by self-play (masked PPO, one network in all four seats).

examples:
  gunzi train configs/train/demo.toml --run demo
  gunzi train --run mine --minutes 30 --processes 2 --ppo.lr 3e-4
  gunzi train --run wide --minutes 30 --ray auto --ray.actors 8
  gunzi train --resume runs/mine
  gunzi train configs/train/demo.toml --dry-run

Settings come from the defaults, then the TOML file, then the command line. Ctrl-C once saves and stops;
--resume goes on. The folder of a run can be named as an agent: gunzi arena runs/mine greedy."""


@dataclass(frozen=True)
class RunOptions:
    """What the command line says of a run and its folder."""

    name: ClassVar[str] = "train"
    """Of the command."""

    run: str = ""
    """Name of the run: its folder is runs/NAME."""
    out: str = ""
    """Folder of the run, instead of --run."""
    resume: str = ""
    """Go on with a run: its folder, one of its checkpoints, or "auto" for --run or --out if it was begun before.
    A run goes on with its own settings; only --minutes and --ray can be given again. Going on from an
    older checkpoint would remove the later ones: that is refused without --overwrite."""
    overwrite: bool = False
    """Remove an older run in the folder; with --resume CHECKPOINT, remove the checkpoints later than that one."""
    dry_run: bool = False
    """Print every setting and write nothing."""
    settings: Annotated[Config, tyro.conf.arg(name="")] = field(default_factory=Config)


@dataclass(frozen=True)
class Command(RunOptions):
    """What the command line of ``gunzi train`` says."""

    toml: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = ""
    """A file with the settings that differ from the defaults."""


def parse(argv: list[str]) -> tuple[Command, Config]:
    """The command, and the configuration before the command line changed it.

    Raises:
        ConfigError: in the command line or the TOML file, or a setting out of bounds.
        SystemExit: 0 after ``--help``.
    """
    options: dict[str, Any] = {"prog": "gunzi train", "description": DESCRIPTION, "args": argv}
    options["config"] = (tyro.conf.FlagCreatePairsOff,)
    with tyro_errors(error=ConfigError):
        command = tyro.cli(Command, **options)
    base = Config()
    if command.toml:
        base = configuration.read_toml(command.toml)
        with tyro_errors(error=ConfigError):
            command = tyro.cli(Command, default=Command(settings=base), **options)
    configuration.check(command.settings, "command line")
    return command, base


def main(argv: list[str]) -> int:
    """Entry point of ``gunzi train``; returns the exit code."""
    return guarded(Command.name, lambda began, stop: _main(list(argv), began, stop))


def guarded(name: str, work: Callable[[float, Stop], int]) -> int:
    """The exit code of ``work(began, stop)``, signals noted from the start and typed errors said in one line."""
    began = time.monotonic()
    stop = Stop()
    try:
        try:
            return work(began, stop)
        finally:
            stop.close()
    except (ConfigError, UsageError, TrainingError, CheckpointError, AgentError, AgentFault) as error:
        print(f"gunzi {name}: {' '.join(str(error).split())}", file=sys.stderr, flush=True)
        return error.exit_code
    except KeyboardInterrupt:
        print(f"gunzi {name}: interrupted before the first update", file=sys.stderr, flush=True)
        return stop.code or 130


def _main(argv: list[str], began: float, stop: Stop) -> int:
    command, base = parse(argv)
    where = folder_of(command)
    given = to_resume(command, where, base, stands_alone=not command.toml)
    if given is not None:
        run, code = run_of(given), resume(given, command, began, stop)
    else:
        configuration.check_end(command.settings, command.toml or "command line")
        config = command.settings
        run = where or Path(RUNS) / (Path(command.toml).stem if command.toml else "default")
        if not command.dry_run:
            print(f"gunzi train: {run}, {summary(config)}", flush=True)
        code = begin(run, config, command, began, stop)
    if code:
        say_stopped(command, run)
    elif not command.dry_run:
        print(f"next: gunzi arena {shlex.quote(str(run))} greedy", flush=True)
    return code


def begin(run: Path, config: Config, command: RunOptions, began: float, stop: Stop) -> int:
    """Train a new run in its folder, or with ``--dry-run`` print its settings; returns the exit code."""
    rules = load_rules(config.rules)
    if config.start:
        config = dataclasses.replace(config, net=_net_of(config.start, rules))
    if command.dry_run:
        _check_needs(config, rules)
        print(json.dumps(configuration.as_dict(config), indent=2))
        return 0
    folders.check(run, overwrite=command.overwrite)  # now, for the imports that follow take seconds
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


def to_resume(command: RunOptions, where: Path | None, base: Config, *, stands_alone: bool) -> Path | None:
    """What ``--resume`` names, None for a new run; ``stands_alone`` is False where more was said of the run."""
    if command.resume == "auto":
        if where is None:
            raise ConfigError("command line: --resume auto needs --run or --out")
        return where if listing(where) else None  # the run's own settings count, whatever is given beside
    if not command.resume:
        return None
    if where is not None or not stands_alone:
        raise ConfigError(
            "command line: --resume RUN stands alone: a run goes on in its folder and with its own settings"
        )
    changed = [name for name in configuration.set_paths(command.settings, base) if name not in TO_CHANGE]
    if changed:
        raise ConfigError(
            f"command line: a run goes on with its own settings; {changed[0]} cannot be changed, "
            "only --minutes and --ray can"
        )
    return Path(command.resume)


def _net_of(start: str, rules: Rules) -> configuration.NetConfig:
    """The network's sizes of the training that the first weights come from."""
    found, _ = load_checkpoint(start)
    require(found, rules)
    return folders.plan_of(found).config.net


def _check_needs(config: Config, rules: Rules) -> None:
    """Find a wrong name now, not at the first match, and a missing library before anything is written."""
    if config.ray.address and importlib.util.find_spec("ray") is None:
        raise ConfigError("--ray needs Ray: pip install gunzi[distributed]")
    for opponent in config.population.agents or (config.opponent,) * bool(config.opponent):
        registry.make(opponent, rules)
    for opponent in config.evaluate.opponents if config.evaluate.every_seconds else ():
        try:
            registry.make(opponent, rules)
        except AgentError as error:
            raise ConfigError(f"evaluate.opponents: {error}") from None


def run_of(given: Path) -> Path:
    """The run folder of a run folder or checkpoint."""
    if given.is_dir():
        inside = given.name == FOLDER and not (given / FOLDER).is_dir()
        return given.parent if inside else given
    return given.parent.parent if given.parent.name == FOLDER else given.parent


def resume(given: Path, command: RunOptions, began: float, stop: Stop) -> int:
    """Go on with a run or one of its checkpoints; returns the exit code."""
    run = run_of(given)
    print(f"gunzi {command.name}: going on with {given}", flush=True)
    if not run.is_dir():
        raise CheckpointError(given, "is not there")
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


def _go_on(given: Path, run: Path, command: RunOptions, began: float, stop: Stop) -> int:
    """Go on with a run whose folder is locked."""
    for stale in sweep(run) + sweep(run / FOLDER) + sweep(run / folders.RECORDS):
        print(f"removed {stale.name}, left by a process that was killed while saving", flush=True)
    plan, counters, said = _find(given, command.settings)  # again: now nobody else writes here
    print(*said, sep="\n", flush=True)
    if counters["total"] and counters["updates"] >= counters["total"] and counters.get("finished"):
        print(f"its schedule of {counters['total']} updates is finished: nothing to do", flush=True)
        return 0
    stop.check()
    _device(plan.config)
    folders.clear(run, _later(given, run, counters, command.overwrite))
    return _train(run, plan, began, stop)


def _find(given: Path, settings: Config) -> tuple[Plan, dict[str, Any], list[str]]:
    """The newest usable checkpoint: its plan, its counters, and what to say of it and of damaged newer ones.

    Of ``settings`` count those that a run may go on with: minutes and the Ray cluster.
    """
    found, damaged = load_checkpoint(given)
    counters = found.meta.get("counters")
    if not isinstance(counters, dict) or not {"updates", "hands", "decisions", "total", "seconds"} <= set(counters):
        raise CheckpointError(found.path, "cannot be resumed: it holds weights, but no training")
    said = [f"passed over {error}" for error in damaged]
    said.append(f"from {found.path.name}: {counters['updates']} updates, {counters['hands']:,} hands")
    plan = folders.plan_of(found)
    config = plan.config
    if config.ray.address:
        said.append("with new tables: only runs without Ray go on bit for bit")
    elif settings.ray.address:
        raise ConfigError(f"{given}: was trained without --ray, and goes on without; --start begins with its weights")
    ray = dataclasses.replace(config.ray, address=settings.ray.address or config.ray.address)
    config = dataclasses.replace(config, minutes=settings.minutes or config.minutes, ray=ray)
    return dataclasses.replace(plan, config=config), counters, said


def _later(given: Path, run: Path, counters: dict[str, Any], overwrite: bool) -> list[Path]:
    """The checkpoints that going on would replace. Of a run folder these are damaged ones; others need --overwrite."""
    later = [path for path in listing(run) if int(path.stem.partition("-")[2]) > counters["updates"]]
    if later and not given.is_dir() and not overwrite:
        many = "1 later checkpoint" if len(later) == 1 else f"{len(later)} later checkpoints"
        raise RunFolderError(
            f"{given}: {run} holds {many}, up to {later[0].name}, which going on from here would remove; "
            f"go on from the newest (--resume {shlex.quote(str(run))}), or add --overwrite"
        )
    return later


def _cluster(config: Config, stop: Stop) -> AbstractContextManager[None]:
    """The Ray cluster of a run, joined before anything is written; nothing where the run does without."""
    if not config.ray.address:
        return nullcontext()
    from gunzi_train.launch import ray_cluster

    return ray_cluster.joined(config.ray, stop)


def _train(run: Path, plan: Plan, began: float, stop: Stop) -> int:
    from gunzi_train.launch import processes
    from gunzi_train.run import session

    stop.check()
    folders.write_text(run / CONFIG, json.dumps(plan.to_json(), indent=2) + "\n")
    print(f"{'bfloat16' if plan.bf16 else 'float32'} matrix products; Ctrl-C once saves and stops", flush=True)
    stop.check()
    if plan.config.ray.address:
        return _train_on_ray(run, plan, began, stop)
    group = processes.start(run, plan.config.processes, plan.config.timeout_seconds)
    return session.run(run, plan, group, started_at=began, stop=stop)


def _train_on_ray(run: Path, plan: Plan, began: float, stop: Stop) -> int:
    from gunzi_train.launch import ray_cluster
    from gunzi_train.rollout import ray_actors
    from gunzi_train.run import session

    source = ray_actors.Actors(plan)
    try:
        return session.run(run, plan, ray_cluster.start(plan), started_at=began, stop=stop, source=source)
    finally:
        source.close()


def say_stopped(command: RunOptions, run: Path) -> None:
    """How to go on after a signal."""
    print(
        f"stopped by a signal after a checkpoint; go on with: gunzi {command.name} --resume {shlex.quote(str(run))}",
        flush=True,
    )


def folder_of(command: RunOptions) -> Path | None:
    """The folder that ``--run`` or ``--out`` names."""
    if command.run and command.out:
        raise ConfigError("command line: give --run or --out, not both")
    if command.run:
        name = Path(command.run)
        if len(name.parts) != 1 or command.run in (".", ".."):
            raise ConfigError(f"command line: --run is {command.run!r}, it must be a plain name; --out takes a folder")
        return Path(RUNS) / name
    return Path(command.out) if command.out else None


def _bf16(config: Config) -> bool:
    import torch

    from gunzi_train.device import bf16_is_faster

    torch.set_num_threads(1)
    device = _device(config)
    return bf16_is_faster(device) if config.precision == "auto" else config.precision == "bf16"


def _device(config: Config) -> torch.device:
    """Where the network will be computed; a device that is not there is refused before anything is written."""
    from gunzi_train.device import choose

    return choose(config.device)


def summary(config: Config) -> str:
    """Rules, processes and length of a run in words."""
    processes = _many(config.processes, "process", "processes")
    if config.ray.address:
        learners, ray_actors = _many(config.ray.learners, "learner"), _many(config.ray.actors, "actor")
        processes = f"Ray ({config.ray.address}) with {ray_actors} and {learners}"
    updates = [f"{config.schedule.updates} updates"] if config.schedule.updates else []
    minutes = [f"{config.minutes:g} minutes"] if config.minutes else []
    return f"rules {config.rules}, {processes}, {' or '.join(updates + minutes)}"


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"
