"""Benchmark cases of other libraries, with the usual loop and with the fastest loop we found.

They run in the peers' virtual environment. The libraries are not installed next to gunzi, so each is imported by name
where it is used.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.loops import SEED, Started, Work, aec_games

BRIDGE = "bridge(use_double_dummy_result=false)"
ROLLOUTS = 500
"""Random games per call into C++."""
LENGTH_SAMPLE = 2000
PGX_BATCH = 1024


def _load(game: str) -> Any:
    return importlib.import_module("pyspiel").load_game(game)


def _open_spiel(work: Work, how: str) -> Started:
    return Started(work, f"open-spiel {version('open-spiel')}, {how}")


def _deal(state: Any, draw: Any) -> None:
    """Play all chance nodes. In the games used here they come first and their outcomes are equally likely."""
    while state.is_chance_node():
        outcomes = state.legal_actions()
        state.apply_action(outcomes[int(draw() * len(outcomes))])


def _games(name: str) -> Work:
    """Return the tuned loop: one whole game per call.

    A finished game has no legal actions, which is cheaper to test than ``is_terminal``.
    """
    game, draw = _load(name), random.Random(SEED).random

    def work() -> int:
        state, decisions = game.new_initial_state(), 0
        _deal(state, draw)
        legal_actions, apply_action = state.legal_actions, state.apply_action
        while legal := legal_actions():
            apply_action(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return work


def spades() -> Started:
    """Start spades with the tuned loop."""
    return _open_spiel(_games("spades"), "tuned Python loop")


def _plain_games(name: str, see: Callable[[Any, list[int]], None] | None = None) -> Work:
    """Return the usual loop: ``is_terminal``, ``is_chance_node``, and a legal action drawn with a numpy generator."""
    game, draws = _load(name), np.random.default_rng(SEED)

    def work() -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            legal = state.legal_actions()
            if not state.is_chance_node():
                decisions += 1
                if see is not None:
                    see(state, legal)
            state.apply_action(legal[draws.integers(len(legal))])
        return decisions

    return work


def spades_plain() -> Started:
    """Start spades with the usual loop."""
    return _open_spiel(_plain_games("spades"), "the usual Python loop")


def bridge_observed_plain() -> Started:
    """Start bridge with the usual loop, OpenSpiel's observer and a boolean mask, both in numpy buffers."""
    game = _load(BRIDGE)
    observer = importlib.import_module("open_spiel.python.observation").make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), np.bool_)

    def see(state: Any, legal: list[int]) -> None:
        observer.set_from(state, state.current_player())
        mask[:] = False
        mask[legal] = True

    return _open_spiel(_plain_games(BRIDGE, see), "the usual Python loop, observer and bool mask")


def bridge() -> Started:
    """Start bridge, bidding and card play, with the tuned loop."""
    return _open_spiel(_games(BRIDGE), "tuned Python loop")


def hearts() -> Started:
    """Start hearts with the tuned loop."""
    return _open_spiel(_games("hearts"), "tuned Python loop")


def dou_dizhu() -> Started:
    """Start dou dizhu with the tuned loop."""
    return _open_spiel(_games("dou_dizhu"), "tuned Python loop")


def bridge_observed() -> Started:
    """Start bridge with the tuned loop and each decision's observation and mask in numpy buffers.

    ``write_observation_tensor`` fills the buffer without an intermediate list. The mask is written through a bytearray
    because single-byte writes are faster there than in a numpy array.
    """
    game, draw = _load(BRIDGE), random.Random(SEED).random
    tensor = np.zeros(game.observation_tensor_size(), np.float32)
    flags = bytearray(game.num_distinct_actions())
    mask = np.frombuffer(flags, np.bool_)  # a numpy view of the bytearray, as a learner would read it
    clear = bytes(len(mask))

    def work() -> int:
        state, decisions = game.new_initial_state(), 0
        _deal(state, draw)
        legal_actions, apply_action = state.legal_actions, state.apply_action
        write = state.write_observation_tensor
        while legal := legal_actions():
            write(tensor)
            flags[:] = clear
            for action in legal:
                flags[action] = 1
            apply_action(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return _open_spiel(work, "tuned Python loop, float32 tensor and bool mask")


def _rollouts(name: str) -> Work:
    """Return random games played in C++ from a dealt state.

    An MCTS search with one simulation does nothing but evaluate its root with ``ROLLOUTS`` rollouts. The number of
    decisions is the number of games times the mean game length from that state, measured in Python.
    """
    pyspiel, game, draw = importlib.import_module("pyspiel"), _load(name), random.Random(SEED).random
    dealt = game.new_initial_state()
    _deal(dealt, draw)
    moves = 0
    for _ in range(LENGTH_SAMPLE):
        state = dealt.clone()
        while legal := state.legal_actions():
            state.apply_action(legal[int(draw() * len(legal))])
            moves += 1
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=ROLLOUTS, seed=SEED)
    uct_c, simulations, memory_mb, solve, verbose = 2.0, 1, 1, False, False
    bot = pyspiel.MCTSBot(game, evaluator, uct_c, simulations, memory_mb, solve, SEED, verbose)
    decisions = round(ROLLOUTS * moves / LENGTH_SAMPLE)

    def work() -> int:
        bot.mcts_search(dealt)
        return decisions

    return work


def spades_rollouts() -> Started:
    """Start C++ rollouts of spades."""
    return _open_spiel(_rollouts("spades"), "C++ rollouts from a dealt state")


def bridge_rollouts() -> Started:
    """Start C++ rollouts of bridge."""
    return _open_spiel(_rollouts(BRIDGE), "C++ rollouts from a dealt state")


def _pettingzoo(module: str, maker: str) -> Started:
    env = getattr(importlib.import_module(f"pettingzoo.classic.{module}"), maker)()
    return Started(aec_games(env), f"pettingzoo {version('pettingzoo')}")


def connect_four_env() -> Started:
    """Start PettingZoo's connect four with its wrappers."""
    return _pettingzoo("connect_four_v3", "env")


def connect_four_raw_env() -> Started:
    """Start PettingZoo's connect four without wrappers."""
    return _pettingzoo("connect_four_v3", "raw_env")


def texas_holdem_env() -> Started:
    """Start PettingZoo's limit hold'em with its wrappers."""
    return _pettingzoo("texas_holdem_v4", "env")


def rlcard_doudizhu() -> Started:
    """Start RLCard's dou dizhu: ``env.step`` with an action id. The step returns the next observation."""
    env = importlib.import_module("rlcard").make("doudizhu", config={"seed": SEED})
    draw = random.Random(SEED).random

    def work() -> int:
        decisions, (state, _) = 0, env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(draw() * len(legal))])
            decisions += 1
        return decisions

    return Started(work, f"rlcard {version('rlcard')}")
