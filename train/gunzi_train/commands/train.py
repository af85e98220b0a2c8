"""Train a bot by self-play: masked PPO, one network in all four seats.

examples:
  gunzi train configs/train/demo.toml --run demo
  gunzi train --run mine --minutes 30 --processes 2 --ppo.lr 3e-4
  gunzi train --run wide --minutes 30 --ray auto --ray.actors 8
  gunzi train --resume runs/mine
  gunzi train configs/train/demo.toml --dry-run

The TOML file overrides the defaults, and the command line overrides the file. Ctrl-C saves and stops; --resume
continues. A run folder can be used as an agent: gunzi arena runs/mine greedy
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from gunzi_env.cli.options import description, tyro_errors
from gunzi_train import config as configuration
from gunzi_train.config import Config, ConfigError
from gunzi_train.launch import training
from gunzi_train.launch.training import RUNS, RunOptions
from gunzi_train.signals import SignalGuard


@dataclass(frozen=True)
class Command(RunOptions):
    """Command-line options of ``gunzi train``."""

    toml: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = ""
    """File with the settings that differ from the defaults."""


def parse(argv: list[str]) -> tuple[Command, Config]:
    """Parse the command line; returns the options, and the settings before the command line changed them.

    Raises:
        ConfigError: an error in the command line or the TOML file, or a setting out of bounds.
        SystemExit: 0 after ``--help``.
    """
    options: dict[str, Any] = {"prog": "gunzi train", "description": description(__doc__), "args": argv}
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
    return training.guarded(Command.name, lambda began, stop: _main(list(argv), began, stop))


def _main(argv: list[str], began: float, stop: SignalGuard) -> int:
    command, base = parse(argv)
    where = training.folder_of(command)
    given = training.to_resume(command, where, base, stands_alone=not command.toml)
    if given is not None:
        run, code = training.run_of(given), training.resume(given, command, began, stop)
    else:
        configuration.check_end(command.settings, command.toml or "command line")
        config = command.settings
        run = where or Path(RUNS) / (Path(command.toml).stem if command.toml else "default")
        if not command.dry_run:
            print(f"gunzi train: {run}, {training.summary(config)}", flush=True)
        code = training.begin(run, config, command, began, stop)
    if code:
        training.say_stopped(command, run)
    elif not command.dry_run:
        print(f"next: gunzi arena {shlex.quote(str(run))} greedy", flush=True)
    return code
