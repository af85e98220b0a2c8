"""Configurations from TOML and JSON, which hold only differences from the defaults, and their checks."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gunzi_env.rules import RulesError, load_rules
from gunzi_train.config.sections import ALGORITHMS, Config, ConfigError, algorithm_class, algorithms, fields


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
    if isinstance(name, str) and name in values and name not in fields() and name in algorithms():
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
