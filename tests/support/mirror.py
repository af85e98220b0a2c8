"""What the other side should see of a pair's figures."""

from __future__ import annotations

from typing import Any

from gunzi_eval.stats.intervals import SHARE_DIGITS

Interval = dict[str, Any] | None


def mirrored(pair: dict[str, Any]) -> dict[str, Any]:
    """The JSON of a pair as the other agent should have it."""

    def minus(interval: Interval) -> Interval:
        if interval is None or interval["low"] is None:
            return interval and {**interval, "mean": -interval["mean"]}
        return {key: -interval[other] for key, other in (("mean", "mean"), ("low", "high"), ("high", "low"))}

    def rest(interval: Interval) -> Interval:
        found = minus(interval)
        return found and {
            key: None if value is None else round(1 + value, SHARE_DIGITS) for key, value in found.items()
        }

    out = pair | {"a": pair["b"], "b": pair["a"]}
    for name, other in (("levels", minus), ("points", minus), ("hands_won", rest), ("matches_won", rest)):
        out[name] = other(pair[name])
    for role, same in (("attacker", "dealer"), ("dealer", "attacker")):
        found = pair["roles"][same]
        out["roles"] = out["roles"] | {
            role: found | {name: minus(found[name]) for name in ("levels", "points")}
            | {"hands_won": rest(found["hands_won"])}
        }  # fmt: skip
    out["phases"] = {name: {"a": sides["b"], "b": sides["a"]} for name, sides in pair["phases"].items()}
    out["distributions"] = {
        name: {str(-int(value)): count for value, count in reversed(counts.items())}
        for name, counts in pair["distributions"].items()
    }
    return out
