"""The peers' contestants, each by its fastest way that we found; run in the peers' virtual environment.

None of these libraries is installed beside gunzi, so they are imported by name where they are used.
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
"""Random games a call into C++."""
LENGTH_SAMPLE = 2000
PGX_BATCH = 1024


def _load(game: str) -> Any:
    return importlib.import_module("pyspiel").load_game(game)


def _open_spiel(work: Work, how: str) -> Started:
    return Started(work, f"open-spiel {version('open-spiel')}, {how}")


def _deal(state: Any, draw: Any) -> None:
    """Chance to the end: in the games used here its outcomes are equally likely and all come first."""
    while state.is_chance_node():
        outcomes = state.legal_actions()
        state.apply_action(outcomes[int(draw() * len(outcomes))])


def _games(name: str) -> Work:
    """Whole games, one a call. A finished game has no legal actions: that is cheaper to ask than whether it is over."""
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
    """Spades from Python."""
    return _open_spiel(_games("spades"), "tuned Python loop")


def _plain_games(name: str, see: Callable[[Any, list[int]], None] | None = None) -> Work:
    """Whole games by the usual loop: is it over, is it chance, and a numpy generator draws one of the legal actions."""
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
    """Spades by the usual loop."""
    return _open_spiel(_plain_games("spades"), "the usual Python loop")


def bridge_observed_plain() -> Started:
    """Bridge by the usual loop, with OpenSpiel's own observer and a boolean mask, both numpy buffers."""
    game = _load(BRIDGE)
    observer = importlib.import_module("open_spiel.python.observation").make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), np.bool_)

    def see(state: Any, legal: list[int]) -> None:
        observer.set_from(state, state.current_player())
        mask[:] = False
        mask[legal] = True

    return _open_spiel(_plain_games(BRIDGE, see), "the usual Python loop, observer and bool mask")


def bridge() -> Started:
    """Bridge without double-dummy results, bidding and play, from Python."""
    return _open_spiel(_games(BRIDGE), "tuned Python loop")


def hearts() -> Started:
    """Hearts from Python."""
    return _open_spiel(_games("hearts"), "tuned Python loop")


def dou_dizhu() -> Started:
    """Dou dizhu from Python."""
    return _open_spiel(_games("dou_dizhu"), "tuned Python loop")


def bridge_observed() -> Started:
    """Bridge with each decision's observation and legal mask in numpy buffers.

    ``write_observation_tensor`` fills the buffer without a list in between; the mask is set from the legal actions
    through a bytearray, which takes single bytes faster than a numpy array does.
    """
    game, draw = _load(BRIDGE), random.Random(SEED).random
    tensor = np.zeros(game.observation_tensor_size(), np.float32)
    flags = bytearray(game.num_distinct_actions())
    mask = np.frombuffer(flags, np.bool_)  # what a learner would read
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
    """Random games in C++ from a dealt state: a search of one simulation evaluates its root by rollouts, no more.

    Moves are the mean length of a game from that state, measured from Python, times the games.
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
    """Spades in C++."""
    return _open_spiel(_rollouts("spades"), "C++ rollouts from a dealt state")


def bridge_rollouts() -> Started:
    """Bridge in C++."""
    return _open_spiel(_rollouts(BRIDGE), "C++ rollouts from a dealt state")


def _pettingzoo(module: str, maker: str) -> Started:
    env = getattr(importlib.import_module(f"pettingzoo.classic.{module}"), maker)()
    return Started(aec_games(env), f"pettingzoo {version('pettingzoo')}")


def connect_four_env() -> Started:
    """PettingZoo's connect four in its wrappers."""
    return _pettingzoo("connect_four_v3", "env")


def connect_four_raw_env() -> Started:
    """PettingZoo's connect four without wrappers."""
    return _pettingzoo("connect_four_v3", "raw_env")


def texas_holdem_env() -> Started:
    """PettingZoo's limit hold'em in its wrappers."""
    return _pettingzoo("texas_holdem_v4", "env")


def rlcard_doudizhu() -> Started:
    """RLCard's dou dizhu: ``env.step`` with an action number, which includes the next observation."""
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
