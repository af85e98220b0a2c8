"""The settings of a training run with their defaults, bounds and reasons, and the names of the algorithms.

The docstrings of the fields are the texts of ``gunzi train --help``.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from typing import Annotated, Any, ClassVar, Literal

import tyro

SPREAD = 3.5
"""Decisions per hand divided by hand size, with forced moves skipped (empirical)."""

ALGORITHMS: dict[str, Any] = {"ppo": "gunzi_train.algorithms.ppo:PPO"}
"""Algorithms by name: a class (:class:`gunzi_train.algorithms.base.Algorithm`), or "module:class" that is imported when
it is needed. The name is also that of its section in :class:`Config`. Other packages use :func:`register` or entry
points (:data:`GROUP`)."""
GROUP = "gunzi.algorithms"
"""Entry points of other packages: the name of an algorithm -> its class, as :func:`register` takes it."""


class ConfigError(ValueError):
    """An unknown setting, a wrong type or a value out of bounds; the message names the setting and what is allowed."""

    exit_code = 2


def _number(default: Any, low: float, high: float) -> Any:
    return field(default=default, metadata={"low": low, "high": high})


@dataclass(frozen=True)
class NetConfig:
    """The network."""

    width: int = _number(256, 8, 8192)
    """Width of each hidden layer."""
    depth: int = _number(3, 1, 16)
    """Hidden layers."""
    norm: bool = False
    """LayerNorm before each activation."""
    critic: Literal["shared", "privileged"] = "shared"
    """Trunk of the value: the policy's (shared), or one of its own that also sees all hands (privileged). At equal CPU
    time both were equally strong; the privileged critic needs fewer hands."""


@dataclass(frozen=True)
class CollectConfig:
    """Rollouts."""

    tables: int = _number(1024, 1, 1 << 16)
    """Tables per process."""
    steps: int = _number(24, 1, 1 << 14)
    """Decisions per table and update; longer hands continue in the next update."""


@dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimisation (Schulman et al. 2017) over legal actions."""

    figures: ClassVar[tuple[str, ...]] = (
        "policy_loss",
        "value_loss",
        "entropy",
        "kl",
        "clipped",
        "explained_variance",
        "lr",
    )
    epochs: int = _number(2, 1, 100)
    """Passes over the decisions of an update."""
    minibatch: int = _number(1024, 8, 1 << 20)
    """Decisions per process and gradient step."""
    lr: float = _number(1e-3, 0.0, 1.0)
    """Learning rate of Adam at the start; it falls linearly to zero over the schedule."""
    gamma: float = _number(1.0, 0.0, 1.0)
    """Discount per decision of the chain; hands are finite, so 1 is fine."""
    lam: float = _number(0.95, 0.0, 1.0)
    """Lambda of generalised advantages, per decision of the chain."""
    clip: float = _number(0.2, 0.001, 10.0)
    """Bound on the relative change of an action's probability."""
    value_coef: float = _number(0.5, 0.0, 100.0)
    """Weight of the value loss."""
    entropy: float = _number(0.01, 0.0, 10.0)
    """Weight of the entropy bonus at the start ..."""
    entropy_final: float = _number(0.002, 0.0, 10.0)
    """... and at the end of the schedule."""
    max_grad_norm: float = _number(0.5, 1e-6, 1e6)
    """Maximum norm of the gradient."""
    chain: Literal["auto", "seat", "table"] = "auto"
    """Successor of a decision in the advantage: the next decision of the same seat, or of the table, with the sign of
    its team. auto: table for a privileged critic, seat for a shared one (see algorithms/advantages.py)."""

    def problem(self, config: Config) -> str:
        """Describe a contradiction with other settings, "" if there is none."""
        decisions = config.collect.tables * config.collect.steps
        if self.minibatch <= decisions:
            return ""
        return (
            f"ppo.minibatch is {self.minibatch}, more than the {decisions} decisions of an update "
            "(collect.tables x collect.steps)"
        )


@dataclass(frozen=True)
class RewardConfig:
    """Rewards of a team; the other team receives the negative."""

    levels: float = _number(1.0, 0.0, 100.0)
    """Weight of the difference in levels gained in the hand (R9)."""
    level_clip: float = _number(3.0, 0.5, 100.0)
    """Bound on that difference: buried jokers multiply it."""
    deal: float = _number(0.5, 0.0, 100.0)
    """Reward for winning the hand (S against take, R9), which keeps or takes the deal."""
    points: float = _number(2.0, 0.0, 100.0)
    """Weight of points as they are taken, in units of ``points_unit``, at the start of the schedule ..."""
    points_final: float = _number(0.5, 0.0, 100.0)
    """... and at its end."""
    points_unit: float = _number(200.0, 1.0, 10000.0)
    """Points that count as much as one level."""


@dataclass(frozen=True)
class ScheduleConfig:
    """Length of the schedules of learning rate, entropy and points; fixed at the start, minutes only stop a run."""

    updates: int = _number(0, 0, 10**9)
    """Updates of the whole run. 0: computed once from --minutes and the speed of the first updates, and stored."""
    warmup: int = _number(5, 0, 10**6)
    """Updates over which the learning rate rises from a fifth to its full size."""
    probe_seconds: float = _number(10.0, 0.1, 3600.0)
    """Seconds of measuring the speed if ``updates`` is 0."""


@dataclass(frozen=True)
class EvaluateConfig:
    """Duplicate matches against rule bots during training; they do not affect learning."""

    every_seconds: float = _number(30.0, 0.0, 1e9)
    """Seconds between matches; 0 for none."""
    deals: int = _number(96, 1, 1 << 16)
    """Deals of each match, each played twice with the teams exchanged."""
    opponents: tuple[str, ...] = ("greedy", "uniform")
    """Agents to play against; best.safetensors is the checkpoint with the most levels against the first."""


@dataclass(frozen=True)
class SaveConfig:
    """Checkpoints, logs and sampled hands."""

    every_seconds: float = _number(60.0, 0.1, 1e9)
    """Seconds between checkpoints; the last update is always saved."""
    keep: int = _number(3, 1, 10**6)
    """Checkpoints to keep, and files of sampled hands."""
    records: int = _number(2, 0, 1000)
    """Hands of self-play to record at each match, for gunzi replay; 0 for none."""
    curve_seconds: float = _number(60.0, 0.0, 1e9)
    """Seconds between drawings of curve.png, at matches and at the end; 0 for none."""
    tensorboard: bool = True
    """Whether to write TensorBoard logs beside metrics.jsonl."""


@dataclass(frozen=True)
class RayConfig:
    """Several machines, by Ray (extra ``distributed``): actors play, learners learn."""

    address: Annotated[str, tyro.conf.arg(name="ray", prefix_name=False, metavar="auto|local|HOST:PORT")] = ""
    """The Ray cluster to train on. auto: the cluster of RAY_ADDRESS or one that Ray finds, else a new one that ends
    with the run; local: always a new one; HOST:PORT: the cluster of ``ray start --head``; "": without Ray."""
    actors: int = _number(2, 1, 4096)
    """Actors that play, with ``collect.tables`` tables each; an update takes as many rollouts."""
    learners: int = _number(1, 1, 256)
    """Learners, which share the actors and average their gradients."""
    stale: int = _number(2, 0, 1000)
    """Maximum age in updates of the weights that played a rollout; older rollouts are dropped. 0: actors wait for the
    learner."""


@dataclass(frozen=True)
class PopulationConfig:
    """Opponents of which one is drawn for each hand at each table."""

    agents: tuple[str, ...] = ()
    """The agents, instead of one ``opponent``. None: no population."""
    weights: tuple[float, ...] = ()
    """Weight of each agent in the draw. None: equal weights."""
    refresh: int = _number(0, 0, 10**6)
    """Updates between reloads of the agents that are run folders from their newest checkpoints; 0: never."""


@dataclass(frozen=True)
class Config:
    """A training run."""

    rules: str = "dalian"
    """Preset (R10) or path of a TOML file with rules."""
    seed: int = _number(1, 0, 2**62)
    """Seed of the deals, the first weights and every draw."""
    algorithm: str = "ppo"
    """The training algorithm: ppo, or one of another package. The section of its name holds its settings."""
    opponent: str = ""
    """A frozen agent that plays one team at every table, while the network plays the other and learns a best response.
    "": self-play, the network plays all four seats."""
    start: str = ""
    """A run or checkpoint of the same rules that gives the first weights and the network's sizes. "": from scratch."""
    processes: int = _number(1, 1, 256)
    """Processes that each play and learn; their gradients are averaged. With Ray: see ``ray.learners``."""
    minutes: float = _number(0.0, 0.0, 1e7)
    """Stop after this time, start included; 0: at the end of the schedule."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Precision of matrix products. auto: bfloat16 if a 50 ms probe finds it faster; the answer is stored."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device of the network. auto: CUDA if torch finds it. On another device a resumed run is not equal bit for bit."""
    timeout_seconds: float = _number(60.0, 1.0, 1e6)
    """Seconds after which a process without an answer is lost; an actor is replaced."""
    net: NetConfig = field(default_factory=NetConfig)
    collect: CollectConfig = field(default_factory=CollectConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
    save: SaveConfig = field(default_factory=SaveConfig)
    ray: RayConfig = field(default_factory=RayConfig)
    population: PopulationConfig = field(default_factory=PopulationConfig)
    plugin: Annotated[Any, tyro.conf.Fixed, tyro.conf.Suppress] = None
    """Settings of an algorithm that is not part of this package; in TOML and JSON the section of its name."""

    @property
    def settings(self) -> Any:
        """The section of the chosen algorithm; its defaults if an algorithm of another package has none."""
        built_in = getattr(self, self.algorithm, None)
        return built_in or self.plugin or algorithm_class(self.algorithm).settings()

    @property
    def against(self) -> str:
        """The opponents in words, "" in self-play."""
        return ", ".join(self.population.agents) or self.opponent

    @property
    def learners(self) -> int:
        """Number of processes that learn."""
        return self.ray.learners if self.ray.address else self.processes

    @property
    def decisions(self) -> int:
        """Decisions per update of all processes."""
        players = self.ray.actors if self.ray.address else self.processes
        return players * self.collect.tables * self.collect.steps


def fields() -> dict[str, Any]:
    """Map the names of the settings and sections to the classes of the sections."""
    return {f.name: f.default_factory for f in dataclasses.fields(Config)}


def register(name: str, algorithm: type) -> None:
    """Add an algorithm of another package: ``algorithm = "NAME"`` chooses it, and TOML table ``[NAME]`` sets it.

    Args:
        name: not that of another setting.
        algorithm: an :class:`~gunzi_train.algorithms.base.Algorithm`; its attribute ``settings`` is a dataclass of
            defaults. Settings can be given in TOML files, not on the command line.

    Other processes of a run do not know of it: for ``processes`` above 1 and Ray, use an entry point.
    """
    if name in fields():
        raise ValueError(f"an algorithm cannot be named {name!r}: a setting has this name")
    ALGORITHMS[name] = algorithm


def algorithms() -> list[str]:
    """List the names of all algorithms, without importing them.

    >>> algorithms()[0]
    'ppo'
    """
    return list(dict.fromkeys([*ALGORITHMS, *(entry.name for entry in entry_points(group=GROUP))]))


def algorithm_class(name: str) -> Any:
    """Import an algorithm; ``KeyError`` if there is none of this name."""
    if name not in ALGORITHMS:
        for entry in entry_points(group=GROUP, name=name):
            register(name, entry.load())
    found = ALGORITHMS[name]
    if isinstance(found, str):
        module, _, attribute = found.partition(":")
        return getattr(import_module(module), attribute)
    return found


def shown_figures(name: str) -> tuple[str, ...]:
    """List the figures of an update that an algorithm declares for display; none for an unknown algorithm.

    >>> shown_figures("ppo")[0]
    'policy_loss'
    """
    try:  # a section answers without importing torch
        return tuple((fields().get(name) or algorithm_class(name)).figures)
    except (KeyError, ImportError):
        return ()
