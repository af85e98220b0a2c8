"""Benchmark case of Pgx: bridge bidding on the CPU. Runs in the peers' virtual environment; Pgx is optional."""

from __future__ import annotations

import importlib
import tempfile
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.loops import SEED, Started

BATCH = 1024
STEPS = 8
"""Steps per compiled call."""
_DEALS = 10_000


def _environment() -> Any:
    """Return the game with arbitrary double-dummy results for random deals. Their values do not affect the speed."""
    draws = np.random.default_rng(SEED)
    owners = draws.permuted(np.tile(np.repeat(np.arange(4), 13), (_DEALS, 1)), axis=1).reshape(_DEALS, 4, 13)
    keys = (owners * 4 ** np.arange(12, -1, -1)).sum(axis=-1)
    values = draws.integers(0, 2**20, keys.shape)
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, np.stack([keys, values]).astype(np.int32))
        file.flush()
        return importlib.import_module("pgx.bridge_bidding").BridgeBidding(file.name)


def bridge_bidding() -> Started:
    """Start batched steps with automatic reset. The random policy is compiled together with the steps."""
    jax, jnp = importlib.import_module("jax"), importlib.import_module("jax.numpy")
    env = _environment()
    step = jax.vmap(importlib.import_module("pgx.experimental.wrappers").auto_reset(env.step, env.init))

    def one(state: Any, key: Any) -> Any:
        choice, fresh = jax.random.split(key)
        actions = jax.random.categorical(choice, jnp.log(state.legal_action_mask.astype(jnp.float32)), axis=-1)
        return step(state, actions, jax.random.split(fresh, BATCH))

    def several(state: Any, key: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, lambda i, s: one(s, jax.random.fold_in(key, i)), state)

    compiled = jax.jit(several)
    key = jax.random.PRNGKey(SEED)
    state = jax.jit(jax.vmap(env.init))(jax.random.split(key, BATCH))

    def work() -> int:
        nonlocal key, state
        key, now = jax.random.split(key)
        state = jax.block_until_ready(compiled(state, now))
        return BATCH * STEPS

    return Started(work, f"pgx {version('pgx')}, jax {version('jax')} on the CPU, batch {BATCH:,}")
