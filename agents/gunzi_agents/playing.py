"""Asking agents: their actions checked, their faults named, their identities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_agents.base import Agent
from gunzi_env import observe
from gunzi_env.keys import mix
from gunzi_env.tables import Index, Phase, Tables


class AgentFault(ValueError):
    """An agent that crashed or played what is not legal; the message names it and the place."""

    exit_code = 2


def ask(
    agent: Agent,
    view: observe.View,
    legal: npt.NDArray[np.bool_],
    keys: npt.NDArray[np.uint64],
    tables: Tables,
    rows: Index,
) -> npt.NDArray[np.int32]:
    """The agent's actions, int32[B], checked.

    Raises:
        AgentFault: it raised, returned another shape or type, or an action that is not legal.
    """
    try:
        answer = np.asarray(agent.act(view, legal, keys))
    except Exception as error:
        fault = AgentFault(f"agent {agent.name!r} crashed: {type(error).__name__}: {error}")
        fault.exit_code = getattr(error, "exit_code", AgentFault.exit_code)
        raise fault from error
    if answer.shape != (len(rows),) or not np.issubdtype(answer.dtype, np.integer):
        raise AgentFault(
            f"agent {agent.name!r} returned {answer.dtype}{list(answer.shape)}, expected int32[{len(rows)}]"
        )
    inside = (answer >= 0) & (answer < legal.shape[1])
    fine = inside & legal[np.arange(len(rows)), np.where(inside, answer, 0)]
    if not fine.all():
        bad = int(np.argmin(fine))
        table = int(rows[bad])
        place = f"deal {int(tables.table_id[table])}, seat {int(tables.seat[table])}"
        raise AgentFault(
            f"agent {agent.name!r} returned the illegal action {_name(tables, table, int(answer[bad]))} in phase "
            f"{Phase(int(tables.phase[table])).name}, {place}"
        )
    return answer.astype(np.int32)


def decide(agent: Agent, tables: Tables, seed: int, ply: int) -> int:
    """One agent's action at a single table, keyed by seed, seat and ply; :class:`AgentFault` as in :func:`ask`."""
    here = np.array([0])
    keys = mix(np.uint64(seed), tables.seat[here], ply)
    return int(ask(agent, observe.view(tables, here), tables.actions.unpack(tables.legal), keys, tables, here)[0])


def _name(tables: Tables, table: int, action: int) -> str:
    if not 0 <= action < tables.actions.n:
        return str(action)
    return f"{action} ({tables.actions.name(action, int(tables.level[table]), tables.trump_or_provisional(table))})"


def identity(agent: Agent) -> str:
    """What an agent is, beyond its name: its own ``identity`` (:class:`gunzi_agents.base.Agent`) and those of the
    agents that it is made of."""
    return " ".join(_identities(agent, set()))


def _identities(thing: object, met: set[int]) -> list[str]:
    if id(thing) in met:
        return []
    met.add(id(thing))
    if isinstance(thing, list | tuple):
        return [text for part in thing for text in _identities(part, met)]
    if not (hasattr(thing, "act") and hasattr(thing, "reset")):
        return []
    own = str(getattr(thing, "identity", ""))
    return [own] * bool(own) + _identities(list(getattr(thing, "__dict__", {}).values()), met)
