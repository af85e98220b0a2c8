"""Rollouts: decisions at many tables, played by one network or by the network and its opponents, with their rewards."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from gunzi_agents.networks import Network, Shape
from gunzi_env import observe
from gunzi_env.actions import space
from gunzi_env.chapters.deal import deal_key
from gunzi_env.keys import mix
from gunzi_env.observe import View
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_env.vector import VectorEnv
from gunzi_train.config import SPREAD, CollectConfig, Config, RewardConfig
from gunzi_train.device import autocast, floats
from gunzi_train.errors import EmptyMask, NonFinite
from gunzi_train.policy import sample
from gunzi_train.rollout.opponents import Opponents, SelfPlay, make_opponents
from gunzi_train.seeds import derived_seed
from gunzi_train.signals import SignalGuard

Floats = npt.NDArray[np.float32]

FLAGS = ("obs", "privileged_obs", "legal")
"""The arrays of a rollout that hold only 0 and 1; they are nearly all of its bytes."""
_OPPONENT = np.uint64(0x6F70706F6E656E74)
"""Separates the opponents' keys from other hashes of the same deals."""


@dataclass
class Rollout:
    """T decisions at each of N tables. The next rollout reuses the arrays."""

    obs: npt.NDArray[np.uint8]  # [T + 1, N, F]; the last row belongs to the decision after the rollout
    privileged_obs: npt.NDArray[np.uint8]  # [T + 1, N, G]; G = 0 without a privileged critic
    legal: npt.NDArray[np.bool_]  # [T, N, A]
    actions: npt.NDArray[np.int64]  # [T, N]
    log_probs: Floats  # [T, N]
    seats: npt.NDArray[np.int8]  # [T + 1, N]
    levels: Floats  # [T, N] paid to team 0 at the end of a hand
    points: Floats  # [T, N] paid to team 0 as points are taken, unweighted
    done: npt.NDArray[np.bool_]  # [T, N]
    learner_mask: npt.NDArray[np.bool_]  # [T, N] chosen by the learner's network, not by an opponent

    @classmethod
    def empty(cls, steps: int, tables: int, inputs: int, privileged_inputs: int, actions: int) -> Rollout:
        """Allocate the arrays."""
        return cls(
            obs=np.zeros((steps + 1, tables, inputs), np.uint8),
            privileged_obs=np.zeros((steps + 1, tables, privileged_inputs), np.uint8),
            legal=np.zeros((steps, tables, actions), np.bool_),
            actions=np.zeros((steps, tables), np.int64),
            log_probs=np.zeros((steps, tables), np.float32),
            seats=np.zeros((steps + 1, tables), np.int8),
            levels=np.zeros((steps, tables), np.float32),
            points=np.zeros((steps, tables), np.float32),
            done=np.zeros((steps, tables), np.bool_),
            learner_mask=np.ones((steps, tables), np.bool_),
        )

    def packed(self) -> dict[str, npt.NDArray[Any]]:
        """Copy the arrays by name for transport, flags as bits: about an eighth of the bytes."""
        return {
            f.name: np.packbits(array, axis=-1) if f.name in FLAGS else array.copy()
            for f in dataclasses.fields(self)
            for array in (getattr(self, f.name),)
        }

    def unpack(self, tables: slice, packed: dict[str, npt.NDArray[Any]]) -> None:
        """Store arrays from :meth:`packed` at some tables."""
        for name, array in packed.items():
            own = getattr(self, name)
            own[:, tables] = np.unpackbits(array, axis=-1, count=own.shape[-1]) if name in FLAGS else array


@dataclass
class HandStats:
    """Sums over the hands that ended in a rollout."""

    hands: int = 0
    score: float = 0.0
    dug: float = 0.0
    dealers_won: float = 0.0
    levels: float = 0.0  # absolute difference, unclipped

    NAMES = ("hands", "score", "dug", "dealers_won", "levels")

    def vector(self) -> npt.NDArray[np.float64]:
        """Return the sums in the order of ``NAMES``, float64."""
        return np.array([getattr(self, name) for name in self.NAMES], np.float64)


class Source(Protocol):
    """A source of rollouts: a :class:`Collector` in this process, or Ray actors (ray_actors.py)."""

    @property
    def share(self) -> float:
        """Expected share of the decisions that the learner makes; 1 in self-play."""

    @property
    def opponent_identity(self) -> str:
        """Identities of the opponents, see :class:`~gunzi_train.rollout.opponents.Opponents`."""

    @property
    def is_stale(self) -> bool:
        """Whether older weights than the present ones played a part of the last rollout."""

    def attach(self, say: Callable[[str], None], stop: SignalGuard | None) -> None:
        """Take the functions of a session: print a line, and ask for signals. Optional for own loops."""

    def collect(self, net: Network, bf16: bool) -> tuple[Rollout, HandStats]:
        """Return the next rollout, always of the same size, and sums over the hands that ended in it."""

    def where(self) -> str:
        """Describe the present position, for error messages."""

    def figures(self) -> dict[str, float]:
        """Return figures for the log, which are added up over the learners."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return the state for a checkpoint."""

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Continue from :meth:`state`; ``ValueError`` if it does not fit."""


class Collector:
    """Plays the tables of one process; a hand may span several rollouts."""

    is_stale = False

    def __init__(
        self,
        rules: Rules,
        collect: CollectConfig,
        reward: RewardConfig,
        *,
        seed: int,
        privileged: bool,
        generator: torch.Generator,
        opponents: Opponents | None = None,
    ) -> None:
        self.rules, self.config, self.reward, self.seed = rules, collect, reward, seed
        self.generator = generator
        self.privileged = privileged
        self.opponents: Opponents = opponents or SelfPlay()
        self.env = VectorEnv(collect.tables, rules, seed=seed, episode="hand", reward="levels", skip_forced=True)
        self.view, self.mask = self._staggered_start()
        self.opponents.begin(self.env.tables, np.arange(collect.tables))
        self.plies = np.zeros(collect.tables, np.int64)  # decisions so far in the hand of each table
        self.t = 0  # present decision of the rollout
        privileged_inputs = observe.privileged_size(rules) if privileged else 0
        self.data = Rollout.empty(
            collect.steps, collect.tables, observe.size(rules), privileged_inputs, self.env.num_actions
        )

    @property
    def share(self) -> float:
        """See :class:`Source`."""
        return self.opponents.share

    @property
    def opponent_identity(self) -> str:
        """See :class:`Source`."""
        return self.opponents.identity

    def attach(self, say: Callable[[str], None], stop: SignalGuard | None) -> None:
        """Do nothing: a rollout is quick, and nothing is printed."""

    def _staggered_start(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """Start each table at another point of a hand, reached by random play.

        Hands are about equally long: tables that started together would stay together, and a rollout would hold only
        openings, or only endings.
        """
        env, tables = self.env, self.config.tables
        ahead = VectorEnv(tables, self.rules, seed=self.seed, episode="hand", reward="levels", skip_forced=True)
        env.reset()
        _, legal = ahead.reset()
        draw = np.random.Generator(np.random.PCG64(self.seed))
        span = int(SPREAD * self.rules.hand_size)
        wait = np.arange(tables) * span // tables
        for ply in range(span):
            rows = np.flatnonzero(wait == ply)
            if len(rows):
                env.tables.assign(rows, ahead.tables.select(rows))
            _, legal, _, _ = ahead.step((draw.random(legal.shape, np.float32) * legal).argmax(axis=1))
        return env.observe()

    def collect(self, net: Network, bf16: bool) -> tuple[Rollout, HandStats]:
        """Play ``steps`` decisions at every table; ``net`` draws its actions from its policy.

        Raises:
            EmptyMask: a decision without a legal action.
            NonFinite: logits that are not finite.
            OpponentFault: an opponent crashed or returned an illegal action.
        """
        data, stats = self.data, HandStats()
        self.opponents.next_rollout()
        for t in range(self.config.steps):
            self.t = t
            self._look(t)
            empty = ~self.mask.any(axis=1)
            if empty.any():
                raise self._empty_mask(int(empty.argmax()))
            data.legal[t] = self.mask
            self._act(t, net, bf16)
            self.view, self.mask, _, done = self.env.step(data.actions[t])
            data.done[t] = done
            self._pay(t, done, stats)
            if done.any():
                self.opponents.begin(self.env.tables, np.flatnonzero(done))
            self.plies = np.where(done, 0, self.plies + 1)
        self._look(self.config.steps)
        return data, stats

    def _act(self, t: int, net: Network, bf16: bool) -> None:
        """Fill ``actions[t]``, ``log_probs[t]`` and ``learner_mask[t]``."""
        data, tables = self.data, self.env.tables
        mask = data.learner_mask[t] = self.opponents.learner_mask(data.seats[t])
        if mask.all():
            self._draw(t, slice(None), net, bf16)
            return
        rows, others = np.flatnonzero(mask), np.flatnonzero(~mask)
        if len(rows):
            self._draw(t, rows, net, bf16)
        keys = mix(_OPPONENT, deal_key(tables, others), data.seats[t, others], self.plies[others])
        view, legal = self.view.rows(others), data.legal[t, others]
        data.actions[t, others] = self.opponents.act(view, legal, keys, tables, others)
        data.log_probs[t, others] = 0.0

    def _draw(self, t: int, rows: slice | npt.NDArray[np.intp], net: Network, bf16: bool) -> None:
        """Draw the network's actions at the tables ``rows`` from its policy."""
        data = self.data
        with torch.inference_mode(), autocast(bf16, net.device):
            logits = net.logits(floats(torch.from_numpy(data.obs[t, rows]).to(net.device), bf16)).cpu()
            drawn, log_probs = sample(logits, torch.from_numpy(data.legal[t, rows]), self.generator)
        if not bool(torch.isfinite(logits.sum())):  # log_probs would miss -inf: illegal actions have larger logits
            raise NonFinite(f"logits of the policy not finite while playing ({self.where()})")
        data.actions[t, rows], data.log_probs[t, rows] = drawn.numpy(), log_probs.numpy()

    def _look(self, t: int) -> None:
        data = self.data
        observe.encode(self.view, out=data.obs[t])
        data.seats[t] = self.env.seats
        if self.privileged:
            data.privileged_obs[t] = self.env.view_privileged()

    def _pay(self, t: int, done: npt.NDArray[np.bool_], stats: HandStats) -> None:
        """Set the rewards of team 0: clipped levels and the deal at the end of a hand, points as they are taken."""
        data, result, reward = self.data, self.env.result, self.reward
        data.points[t] = self.env.points / np.float32(reward.points_unit)
        data.levels[t] = 0.0
        ended = np.flatnonzero(done)
        if not len(ended):
            return
        gain = result.gain[ended].astype(np.float32)
        more = gain[:, 0] - gain[:, 1]
        team0_deals = result.dealer[ended] % 2 == 0
        team0_wins = team0_deals == result.winner_dealers[ended]
        paid = reward.levels * np.clip(more, -reward.level_clip, reward.level_clip)
        data.levels[t, ended] = paid + np.where(team0_wins, reward.deal, -reward.deal)
        stats.hands += len(ended)
        stats.score += float(result.score[ended].sum())
        stats.dug += float(result.dug[ended].sum())
        stats.dealers_won += float(result.winner_dealers[ended].sum())
        stats.levels += float(np.abs(more).sum())

    def where(self) -> str:
        """Describe the present position; with the checkpoint before, it can be reproduced."""
        return (
            f"rules {self.rules.name}, seed {self.seed}, decision {self.t + 1} of {self.config.steps} of the rollout, "
            f"plies {int(self.plies.min())} to {int(self.plies.max())} of the tables' hands"
        )

    def _empty_mask(self, n: int) -> EmptyMask:
        tables = self.env.tables
        where = ", ".join(f"{name} {int(getattr(tables, name)[n])}" for name in ("match", "hand", "attempt"))
        return EmptyMask(
            f"no legal action in phase {Phase(int(tables.phase[n])).name} for seat {int(tables.seat[n])}: "
            f"rules {self.rules.name}, seed {self.seed}, table {int(tables.table_id[n])}, {where}, "
            f"ply {int(self.plies[n])}"
        )

    def figures(self) -> dict[str, float]:
        """Return nothing: every fault ends the run."""
        return {}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Return everything that the next rollout depends on, except the network."""
        own: dict[str, npt.NDArray[Any]] = {
            "tables": np.frombuffer(self.env.get_state(), np.uint8),
            "plies": self.plies.copy(),
            "generator": self.generator.get_state().numpy().copy(),
        }
        return own | self.opponents.state()

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Continue from :meth:`state`; ``ValueError`` if it does not fit."""
        self.env.set_state(state["tables"].tobytes())
        self.view, self.mask = self.env.observe()
        self.plies = state["plies"].copy()
        self.generator.set_state(torch.from_numpy(state["generator"].copy()))
        self.opponents.restore(state)


def make_collector(config: Config, rules: Rules, *stream: object) -> Collector:
    """Make new tables and their opponents; every ``stream`` of a run has deals and draws of its own."""
    return Collector(
        rules,
        config.collect,
        config.reward,
        seed=derived_seed(config.seed, "deals", *stream),
        privileged=config.net.critic != "shared",
        generator=torch.Generator().manual_seed(derived_seed(config.seed, "play", *stream)),
        opponents=make_opponents(config, rules),
    )


def shape_of(config: Config, rules: Rules) -> Shape:
    """Compute the sizes of an actor-critic for a configuration."""
    return Shape(
        inputs=observe.size(rules),
        actions=space(rules).n,
        width=config.net.width,
        depth=config.net.depth,
        norm=config.net.norm,
        critic=config.net.critic,
        hidden=0 if config.net.critic == "shared" else observe.privileged_size(rules),
    )
