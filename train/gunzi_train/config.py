"""The settings of a training run with their defaults, bounds and reasons; TOML files hold only the differences.

The docstrings of the fields are the texts of ``gunzi train --help``.

>>> read_toml_text('ppo.lr = 1e-4').ppo.lr
0.0001
>>> read_toml_text('collect.table = 64')
Traceback (most recent call last):
    ...
gunzi_train.config.ConfigError: config: unknown key collect.table; allowed: collect.tables, collect.steps
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

import tyro

from gunzi_env.rules import RulesError, load_rules

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
    """The training algorithm; its settings are in the section of its name."""
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


def _fields() -> dict[str, Any]:
    """Map the names of the settings and sections to the classes of the sections."""
    return {f.name: f.default_factory for f in dataclasses.fields(Config)}


def register(name: str, algorithm: type) -> None:
    """Add an algorithm of another package: ``algorithm = "NAME"`` chooses it, and TOML table ``[NAME]`` sets it.

    Args:
        name: not that of another setting.
        algorithm: an :class:`~gunzi_train.algorithms.base.Algorithm`; its attribute ``settings`` is a dataclass of
            defaults. Settings can be given in TOML files, not on the command line.
    """
    if name in _fields():
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
        return tuple((_fields().get(name) or algorithm_class(name)).figures)
    except (KeyError, ImportError):
        return ()


def read_toml(path: str | Path) -> Config:
    """Read a TOML file with changes of the defaults. :class:`ConfigError` names the file and the key."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return read_toml_text(text, str(path))


def read_toml_text(text: str, source: str = "config") -> Config:
    """Read TOML text with changes of the defaults."""
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{source}: not TOML ({error})") from None
    return from_dict(values, source)


def from_dict(values: dict[str, Any], source: str) -> Config:
    """Build a configuration from plain JSON types, the inverse of :func:`as_dict`; missing settings are defaults."""
    name = values.get("algorithm") if isinstance(values, dict) else None
    if isinstance(name, str) and name in values and name not in _fields() and name in algorithms():
        values = dict(values)
        section = values.pop(name)
        plugin = _convert(algorithm_class(name).settings, section, source, name)
        return check(dataclasses.replace(_build(Config, values, source, ""), plugin=plugin), source)
    return check(_build(Config, values, source, ""), source)


def as_dict(config: Config) -> dict[str, Any]:
    """Convert a configuration into plain JSON types, with every field."""
    values: dict[str, Any] = _plain(dataclasses.asdict(config))
    plugin = values.pop("plugin")
    return values if plugin is None else values | {config.algorithm: plugin}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return list(value) if isinstance(value, tuple) else value


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name the settings of :func:`as_dict` with dots.

    >>> flat({"seed": 1, "ppo": {"lr": 0.001}})
    {'seed': 1, 'ppo.lr': 0.001}
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def _build(kind: Any, values: dict[str, Any], source: str, prefix: str) -> Any:
    hints = get_type_hints(kind)
    known = [f.name for f in dataclasses.fields(kind) if f.name != "plugin"]
    for key in values:
        if key not in known:
            raise ConfigError(
                f"{source}: unknown key {prefix}{key}; allowed: {', '.join(prefix + name for name in known)}"
            )
    built = {key: _convert(hints[key], value, source, prefix + key) for key, value in values.items()}
    return kind(**built)


def _convert(hint: Any, value: Any, source: str, key: str) -> Any:
    if dataclasses.is_dataclass(hint):
        if not isinstance(value, dict):
            names = ", ".join(f"{key}.{f.name}" for f in dataclasses.fields(hint))
            raise ConfigError(f"{source}: {key} is {value!r}, it must be a table; allowed keys: {names}")
        return _build(hint, value, source, f"{key}.")
    if get_origin(hint) is Literal:
        if value not in get_args(hint) or not isinstance(value, str):
            raise ConfigError(f"{source}: {key} is {value!r}; allowed: {', '.join(get_args(hint))}")
        return value
    if get_origin(hint) is tuple:
        (item, _) = get_args(hint)
        allowed = (float, int) if item is float else (item,)
        if not isinstance(value, list) or not all(type(part) in allowed for part in value):
            kind = "numbers" if item is float else "texts"
            raise ConfigError(f"{source}: {key} is {value!r}, it must be a list of {kind}")
        return tuple(item(part) for part in value)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        kinds = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
        raise ConfigError(f"{source}: {key} is {value!r}, it must be {kinds[hint]}")
    return value


def check(config: Config, source: str = "config") -> Config:
    """Check bounds, and settings that contradict each other; returns ``config``."""
    _check_bounds(config, source, "")
    _check_algorithm(config, source)
    try:
        load_rules(config.rules)
    except RulesError as error:
        raise ConfigError(f"{source}: rules: {error}") from None
    decisions = config.collect.tables * config.collect.steps
    if decisions > 1 << 24:
        raise ConfigError(f"{source}: collect.tables x collect.steps is {decisions}; allowed: up to {1 << 24}")
    _check_population(config, source)
    _check_ray(config, source)
    return config


def _check_algorithm(config: Config, source: str) -> None:
    """Check the chosen algorithm's own section, and that the sections of others are untouched."""
    name = config.algorithm
    if name not in ALGORITHMS and name not in algorithms():
        raise ConfigError(f"{source}: algorithm is {name!r}; allowed: {', '.join(algorithms())}")
    default = Config()
    for other in ALGORITHMS:
        section = getattr(config, other, None)
        if other != name and section is not None and section != getattr(default, other):
            (first, *_) = set_paths(section, getattr(default, other), f"{other}.")
            raise ConfigError(f"{source}: {first} is set, but algorithm is {name}; allowed: settings of {name}")
    if config.plugin is not None and (hasattr(config, name) or not isinstance(config.plugin, type(config.settings))):
        raise ConfigError(f"{source}: {type(config.plugin).__name__} is set, but algorithm is {name}")
    problem = getattr(config.settings, "problem", None)
    if problem is not None and (found := problem(config)):
        raise ConfigError(f"{source}: {found}")


def _check_population(config: Config, source: str) -> None:
    population = config.population
    if population.agents and config.opponent:
        raise ConfigError(f"{source}: opponent is {config.opponent!r}; with population.agents it must be empty")
    if population.weights and len(population.weights) != len(population.agents):
        raise ConfigError(
            f"{source}: population.weights has {len(population.weights)} numbers; "
            f"allowed: one for each of the {len(population.agents)} population.agents"
        )
    if not all(0 < weight < 1e9 for weight in population.weights):  # false for NaN as well
        raise ConfigError(f"{source}: population.weights is {list(population.weights)}; allowed: numbers above 0")


def _check_ray(config: Config, source: str) -> None:
    ray = config.ray
    if not re.fullmatch(r"(auto|local|[^\s/:]+:\d{1,5})?", ray.address):
        raise ConfigError(f"{source}: ray.address is {ray.address!r}; allowed: auto, local, HOST:PORT")
    if ray.actors % ray.learners:
        raise ConfigError(
            f"{source}: ray.actors is {ray.actors}, it must be a multiple of ray.learners ({ray.learners})"
        )
    if ray.address and config.decisions // ray.learners > 1 << 24:
        raise ConfigError(
            f"{source}: {config.decisions // ray.learners} decisions of an update for each learner "
            f"(collect.tables x collect.steps x ray.actors / ray.learners); allowed: up to {1 << 24}"
        )


def check_end(config: Config, source: str = "config") -> None:
    """Refuse a run without an end."""
    if config.schedule.updates == 0 and config.minutes == 0:
        raise ConfigError(f"{source}: set minutes (--minutes 3) or schedule.updates: nothing would end this run")


def _check_bounds(part: Any, source: str, prefix: str) -> None:
    for f in dataclasses.fields(part):
        value = getattr(part, f.name)
        if dataclasses.is_dataclass(value):
            _check_bounds(value, source, f"{part.algorithm if f.name == 'plugin' else prefix + f.name}.")
        elif "low" in f.metadata:
            low, high = f.metadata["low"], f.metadata["high"]
            if not low <= value <= high:  # false for NaN as well
                raise ConfigError(f"{source}: {prefix}{f.name} is {value}; allowed: {low:g} to {high:g}")


def set_paths(config: Any, default: Any, prefix: str = "") -> list[str]:
    """List the settings in which two configurations, or two sections of one kind, differ.

    >>> set_paths(Config(seed=2), Config())
    ['seed']
    """
    if isinstance(config, Config):
        ours, others = flat(as_dict(config)), flat(as_dict(default))
    else:
        ours, others = dataclasses.asdict(config), dataclasses.asdict(default)
    return [prefix + key for key in ours | others if ours.get(key) != others.get(key)]
