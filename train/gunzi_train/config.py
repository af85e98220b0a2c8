"""Every setting of a training run, with its default, bounds and reason; read from TOML that holds only differences.

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
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import tyro

from gunzi_env.rules import RulesError, load_rules

SPREAD = 3.5
"""Decisions of a hand, in units of a seat's cards: about so many are asked for when forced ones are skipped."""


class ConfigError(ValueError):
    """A setting that does not exist, has the wrong type or is out of bounds; named, with what is allowed."""

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
    """The value comes from the policy's trunk, or from one of its own that also sees all hands. At equal CPU time both
    were as strong; the privileged one needs fewer hands."""


@dataclass(frozen=True)
class CollectConfig:
    """Self-play."""

    tables: int = _number(1024, 1, 1 << 16)
    """Tables that each process plays at once."""
    steps: int = _number(24, 1, 1 << 14)
    """Decisions per table and update; hands may be longer and go on in the next update."""


@dataclass(frozen=True)
class PPOConfig:
    """Proximal policy optimisation (Schulman et al. 2017) over legal actions."""

    epochs: int = _number(2, 1, 100)
    """Passes over the decisions of an update."""
    minibatch: int = _number(1024, 8, 1 << 20)
    """Decisions per process and gradient step."""
    lr: float = _number(1e-3, 0.0, 1.0)
    """Adam's step at the start; it falls linearly to zero over the schedule."""
    gamma: float = _number(1.0, 0.0, 1.0)
    """Discount per decision of the chain; a hand is finite, so none is needed."""
    lam: float = _number(0.95, 0.0, 1.0)
    """Lambda of generalised advantages, per decision of the chain."""
    clip: float = _number(0.2, 0.001, 10.0)
    """Bound on the change of a decision's probability."""
    value_coef: float = _number(0.5, 0.0, 100.0)
    """Weight of the value loss."""
    entropy: float = _number(0.01, 0.0, 10.0)
    """Weight of the entropy bonus at the start ..."""
    entropy_final: float = _number(0.002, 0.0, 10.0)
    """... and at the end of the schedule."""
    max_grad_norm: float = _number(0.5, 1e-6, 1e6)
    """The gradient is shortened to this norm."""
    chain: Literal["auto", "seat", "table"] = "auto"
    """Successor of a decision in the advantage: the same seat's next one, or the table's next one with the sign of its
    team. "auto": table for a critic that sees all hands, seat for one that does not (see returns.py)."""


@dataclass(frozen=True)
class RewardConfig:
    """What a team is paid; the other team pays it."""

    levels: float = _number(1.0, 0.0, 100.0)
    """Weight of the levels gained in the hand (R9), more than the other team."""
    level_clip: float = _number(3.0, 0.5, 100.0)
    """Levels beyond this count as this: buried jokers multiply them."""
    deal: float = _number(0.5, 0.0, 100.0)
    """For winning the hand (S against take, R9), which keeps or takes the deal."""
    points: float = _number(2.0, 0.0, 100.0)
    """Weight of points as they are taken, in units of ``points_unit``, at the start of the schedule ..."""
    points_final: float = _number(0.5, 0.0, 100.0)
    """... and at its end."""
    points_unit: float = _number(200.0, 1.0, 10000.0)
    """So many points count as much as one level."""


@dataclass(frozen=True)
class ScheduleConfig:
    """How long the schedules of step, entropy and points are; fixed at the start, minutes only stop a run."""

    updates: int = _number(0, 0, 10**9)
    """Updates from the first to the last; the run ends there. 0: from --minutes and the speed of the first updates,
    measured once and stored."""
    warmup: int = _number(5, 0, 10**6)
    """Updates over which Adam's step rises from a fifth to its full size."""
    probe_seconds: float = _number(10.0, 0.1, 3600.0)
    """For how long the speed is measured where ``updates`` is 0."""


@dataclass(frozen=True)
class EvaluateConfig:
    """Duplicate matches against rule bots while training goes on; they touch nothing that is learned from."""

    every_seconds: float = _number(30.0, 0.0, 1e9)
    """Seconds between matches; 0 for none."""
    deals: int = _number(96, 1, 1 << 16)
    """Deals of each match, each played twice with the teams exchanged."""
    opponents: tuple[str, ...] = ("greedy", "uniform")
    """Agents to play against; what gained most levels against the first is kept as best.safetensors."""


@dataclass(frozen=True)
class SaveConfig:
    """Checkpoints, logs and what else is kept of a run."""

    every_seconds: float = _number(60.0, 0.1, 1e9)
    """Seconds between checkpoints; one is always written at the end."""
    keep: int = _number(3, 1, 10**6)
    """How many of them to keep, and of the files of sampled hands."""
    records: int = _number(2, 0, 1000)
    """Hands of the network against itself that are written down at each match, for gunzi replay; 0 for none."""
    curve_seconds: float = _number(60.0, 0.0, 1e9)
    """Seconds between drawings of curve.png, done at matches and at the end; 0 for none."""
    tensorboard: bool = True
    """Whether to write TensorBoard logs beside metrics.jsonl."""


@dataclass(frozen=True)
class RayConfig:
    """Several machines, by Ray (extra ``distributed``): actors play, learners learn."""

    address: Annotated[str, tyro.conf.arg(name="ray", prefix_name=False, metavar="auto|local|HOST:PORT")] = ""
    """The Ray cluster to train on. auto: the one that RAY_ADDRESS or Ray itself finds, otherwise one that is started
    here and ends with the run; local: always such a one; HOST:PORT: that of ``ray start --head``; "": without Ray."""
    actors: int = _number(2, 1, 4096)
    """Actors that play, ``collect.tables`` tables each; an update learns from as many rollouts."""
    learners: int = _number(1, 1, 256)
    """Learners that share the actors; their gradients are averaged."""
    stale: int = _number(2, 0, 1000)
    """By how many updates the weights that played may be older than those that learn; older rollouts are dropped. 0:
    actors wait for the learner."""


@dataclass(frozen=True)
class Config:
    """A training run."""

    rules: str = "dalian"
    """Preset (R10) or path of a TOML file with rules."""
    seed: int = _number(1, 0, 2**62)
    """Deals, first weights and every draw follow from it."""
    opponent: str = ""
    """An agent that plays one team at every table and does not change, while the network plays the other and learns:
    what comes out is a best response to it. "": the network plays all four seats."""
    start: str = ""
    """A run or checkpoint of the same rules: its weights, and the sizes of its network, are begun with. "": from
    scratch."""
    processes: int = _number(1, 1, 256)
    """Processes that each play and learn; their gradients are averaged. With Ray these are ``ray.learners``."""
    minutes: float = _number(0.0, 0.0, 1e7)
    """Stop after this time, start included; 0: at the end of the schedule."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Matrix products in bfloat16: "auto" asks a 50 ms probe, and the answer is stored."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the network is computed: "auto" takes CUDA where torch finds it. A run that goes on elsewhere goes on, but
    not bit for bit as it would have."""
    timeout_seconds: float = _number(60.0, 1.0, 1e6)
    """A process that does not answer for so long is lost; an actor is replaced."""
    net: NetConfig = field(default_factory=NetConfig)
    collect: CollectConfig = field(default_factory=CollectConfig)
    ppo: PPOConfig = field(default_factory=PPOConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
    save: SaveConfig = field(default_factory=SaveConfig)
    ray: RayConfig = field(default_factory=RayConfig)

    @property
    def learners(self) -> int:
        """Processes that learn."""
        return self.ray.learners if self.ray.address else self.processes

    @property
    def decisions(self) -> int:
        """Decisions of an update, of all processes together."""
        players = self.ray.actors if self.ray.address else self.processes
        return players * self.collect.tables * self.collect.steps


def read_toml(path: str | Path) -> Config:
    """The defaults, changed by a TOML file. :class:`ConfigError` names the file and the key."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return read_toml_text(text, str(path))


def read_toml_text(text: str, source: str = "config") -> Config:
    """The defaults, changed by TOML."""
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise ConfigError(f"{source}: not TOML ({error})") from None
    return check(_build(Config, values, source, ""), source)


def from_dict(values: dict[str, Any], source: str) -> Config:
    """A whole configuration from plain JSON types, the opposite of :func:`as_dict`."""
    return check(_build(Config, values, source, ""), source)


def as_dict(config: Config) -> dict[str, Any]:
    """Plain JSON types, every field named."""
    values = dataclasses.asdict(config)
    values["evaluate"]["opponents"] = list(config.evaluate.opponents)
    return values


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The settings of :func:`as_dict` by their dotted names.

    >>> flat({"seed": 1, "ppo": {"lr": 0.001}})
    {'seed': 1, 'ppo.lr': 0.001}
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return found


def _build(kind: Any, values: dict[str, Any], source: str, prefix: str) -> Any:
    hints = get_type_hints(kind)
    known = [f.name for f in dataclasses.fields(kind)]
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
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{source}: {key} is {value!r}, it must be a list of texts")
        return tuple(value)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        kinds = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
        raise ConfigError(f"{source}: {key} is {value!r}, it must be {kinds[hint]}")
    return value


def check(config: Config, source: str = "config") -> Config:
    """Bounds of every number, and settings that contradict each other; returns ``config``."""
    _check_bounds(config, source, "")
    try:
        load_rules(config.rules)
    except RulesError as error:
        raise ConfigError(f"{source}: rules: {error}") from None
    decisions = config.collect.tables * config.collect.steps
    if config.ppo.minibatch > decisions:
        raise ConfigError(
            f"{source}: ppo.minibatch is {config.ppo.minibatch}, more than the {decisions} decisions of an update "
            "(collect.tables x collect.steps)"
        )
    if decisions > 1 << 24:
        raise ConfigError(f"{source}: collect.tables x collect.steps is {decisions}; allowed: up to {1 << 24}")
    _check_ray(config, source)
    return config


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
    """Refuse a run that nothing ends."""
    if config.schedule.updates == 0 and config.minutes == 0:
        raise ConfigError(f"{source}: set minutes (--minutes 3) or schedule.updates: nothing would end this run")


def _check_bounds(part: Any, source: str, prefix: str) -> None:
    for f in dataclasses.fields(part):
        value = getattr(part, f.name)
        if dataclasses.is_dataclass(value):
            _check_bounds(value, source, f"{prefix}{f.name}.")
        elif "low" in f.metadata:
            low, high = f.metadata["low"], f.metadata["high"]
            if not low <= value <= high:  # false for NaN as well
                raise ConfigError(f"{source}: {prefix}{f.name} is {value}; allowed: {low:g} to {high:g}")


def set_paths(part: Any, default: Any, prefix: str = "") -> list[str]:
    """The settings in which two configurations differ.

    >>> set_paths(Config(seed=2), Config())
    ['seed']
    """
    differ: list[str] = []
    for f in dataclasses.fields(part):
        mine, other = getattr(part, f.name), getattr(default, f.name)
        if dataclasses.is_dataclass(mine):
            differ += set_paths(mine, other, f"{prefix}{f.name}.")
        elif mine != other:
            differ.append(prefix + f.name)
    return differ
