"""Play at many tables: one network in all four seats, or in those of one team; and what it is paid."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch

from gunzi_agents.networks import ActorCritic, Shape
from gunzi_env import observe
from gunzi_env.actions import space
from gunzi_env.observe import View
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_env.vector import VectorEnv
from gunzi_train.config import SPREAD, CollectConfig, Config, RewardConfig
from gunzi_train.device import autocast, floats
from gunzi_train.errors import EmptyMask, NonFinite
from gunzi_train.policy import sample

Floats = npt.NDArray[np.float32]

FLAGS = ("seen", "hidden", "legal")
"""The arrays of a rollout that hold nothing but 0 and 1, and nearly all of its bytes."""


@dataclass
class Rollout:
    """``steps`` decisions at each of N tables. The arrays are reused by the next rollout."""

    seen: npt.NDArray[np.uint8]  # [T + 1, N, F]; the last row belongs to the decision after the rollout
    hidden: npt.NDArray[np.uint8]  # [T + 1, N, G]; G = 0 without a privileged critic
    legal: npt.NDArray[np.bool_]  # [T, N, A]
    actions: npt.NDArray[np.int64]  # [T, N]
    log_probs: Floats  # [T, N]
    seats: npt.NDArray[np.int8]  # [T + 1, N]
    levels: Floats  # [T, N] paid to team 0 at the end of a hand
    points: Floats  # [T, N] paid to team 0 as points are taken, unweighted
    done: npt.NDArray[np.bool_]  # [T, N]
    mine: npt.NDArray[np.bool_]  # [T, N] chosen by the network; an opponent's decisions are not learned from

    @classmethod
    def empty(cls, steps: int, tables: int, inputs: int, hidden: int, actions: int) -> Rollout:
        """Buffers of the right sizes."""
        return cls(
            seen=np.zeros((steps + 1, tables, inputs), np.uint8),
            hidden=np.zeros((steps + 1, tables, hidden), np.uint8),
            legal=np.zeros((steps, tables, actions), np.bool_),
            actions=np.zeros((steps, tables), np.int64),
            log_probs=np.zeros((steps, tables), np.float32),
            seats=np.zeros((steps + 1, tables), np.int8),
            levels=np.zeros((steps, tables), np.float32),
            points=np.zeros((steps, tables), np.float32),
            done=np.zeros((steps, tables), np.bool_),
            mine=np.ones((steps, tables), np.bool_),
        )

    def packed(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of the arrays by name for a journey, flags as bits: about an eighth of the bytes."""
        return {
            f.name: np.packbits(array, axis=-1) if f.name in FLAGS else array.copy()
            for f in dataclasses.fields(self)
            for array in (getattr(self, f.name),)
        }

    def unpack(self, tables: slice, packed: dict[str, npt.NDArray[Any]]) -> None:
        """Put what :meth:`packed` gave in the place of some tables."""
        for name, array in packed.items():
            own = getattr(self, name)
            own[:, tables] = np.unpackbits(array, axis=-1, count=own.shape[-1]) if name in FLAGS else array


@dataclass
class HandStats:
    """Sums over the hands that ended in a rollout, for the log."""

    hands: int = 0
    score: float = 0.0
    dug: float = 0.0
    dealers_won: float = 0.0
    levels: float = 0.0  # absolute difference, unclipped

    NAMES = ("hands", "score", "dug", "dealers_won", "levels")

    def vector(self) -> npt.NDArray[np.float64]:
        """The sums in the order of ``NAMES``."""
        return np.array([getattr(self, name) for name in self.NAMES], np.float64)


class Source(Protocol):
    """Where a learner's rollouts come from: a :class:`Collector` in its own process, or actors (actors.py)."""

    share: float
    """Of the decisions that are the network's."""
    opponent_identity: str
    """What the opponent is beyond its name, see :class:`gunzi_agents.base.Agent`; "" where there is nothing."""

    @property
    def aged(self) -> bool:
        """Was part of the last rollout played by older weights than those that learn from it?"""

    def collect(self, net: ActorCritic, bf16: bool) -> tuple[Rollout, HandStats]:
        """The next rollout, of the same size each time, and the hands that ended in it."""

    def where(self) -> str:
        """How far it is, in words."""

    def figures(self) -> dict[str, float]:
        """For the log, to be added up over the learners."""

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """What a checkpoint keeps."""

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from :meth:`state`; ``ValueError`` where it does not fit."""


class Collector:
    """Plays the tables of one process, on and on; a hand may last over several rollouts."""

    share = 1.0
    opponent_identity = ""
    aged = False

    def __init__(
        self,
        rules: Rules,
        collect: CollectConfig,
        reward: RewardConfig,
        *,
        seed: int,
        privileged: bool,
        generator: torch.Generator,
    ) -> None:
        self.rules, self.config, self.reward, self.seed = rules, collect, reward, seed
        self.generator = generator
        self.privileged = privileged
        self.env = VectorEnv(collect.tables, rules, seed=seed, episode="hand", reward="levels", skip_forced=True)
        self.view, self.mask = self._staggered_start()
        self.plies = np.zeros(collect.tables, np.int64)  # decisions asked for in the hand so far
        self.t = 0  # the decision of the rollout that is being made
        hidden = observe.privileged_size(rules) if privileged else 0
        self.data = Rollout.empty(collect.steps, collect.tables, observe.size(rules), hidden, self.env.num_actions)

    def _staggered_start(self) -> tuple[View, npt.NDArray[np.bool_]]:
        """Begin at every table somewhere within a hand, reached by random play.

        Hands are about equally long. Begun together they would stay together for long, and one rollout would hold
        nothing but openings, the next nothing but endings.
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

    def collect(self, net: ActorCritic, bf16: bool) -> tuple[Rollout, HandStats]:
        """Play ``steps`` decisions at every table with ``net``, drawing from its policy.

        Raises:
            EmptyMask: a table asks for a decision and allows none.
            NonFinite: in logits or rewards.
        """
        data, stats = self.data, HandStats()
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
            self.plies = np.where(done, 0, self.plies + 1)
        self._look(self.config.steps)
        return data, stats

    def _act(self, t: int, net: ActorCritic, bf16: bool) -> None:
        """Fill ``actions[t]`` and ``log_probs[t]``."""
        self._draw(t, slice(None), net, bf16)

    def _draw(self, t: int, rows: slice | npt.NDArray[np.intp], net: ActorCritic, bf16: bool) -> None:
        """The network's actions at the tables ``rows``, from its policy."""
        data = self.data
        with torch.inference_mode(), autocast(bf16, net.device):
            logits = net.logits(floats(torch.from_numpy(data.seen[t, rows]).to(net.device), bf16)).cpu()
            drawn, log_probs = sample(logits, torch.from_numpy(data.legal[t, rows]), self.generator)
        if not bool(torch.isfinite(logits.sum())):  # of log_probs that would miss -inf: what is not legal is larger
            raise NonFinite(f"logits of the policy not finite while playing ({self.where()})")
        data.actions[t, rows], data.log_probs[t, rows] = drawn.numpy(), log_probs.numpy()

    def _look(self, t: int) -> None:
        data = self.data
        observe.encode(self.view, out=data.seen[t])
        data.seats[t] = self.env.seats
        if self.privileged:
            data.hidden[t] = self.env.view_privileged()

    def _pay(self, t: int, done: npt.NDArray[np.bool_], stats: HandStats) -> None:
        """Rewards to team 0: levels (clipped) and the deal at a hand's end, points as they come."""
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
        """How far it is, in words: with the checkpoint before, this plays it again."""
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
        """Nothing: it never fails without ending the run."""
        return {}

    def state(self) -> dict[str, npt.NDArray[Any]]:
        """Everything that the next rollout depends on, besides the network."""
        return {
            "tables": np.frombuffer(self.env.get_state(), np.uint8),
            "plies": self.plies.copy(),
            "generator": self.generator.get_state().numpy().copy(),
        }

    def restore(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Go on from :meth:`state`; ``ValueError`` where it does not fit."""
        self.env.set_state(state["tables"].tobytes())
        self.view, self.mask = self.env.observe()
        self.plies = state["plies"].copy()
        self.generator.set_state(torch.from_numpy(state["generator"].copy()))


def shape_of(config: Config, rules: Rules) -> Shape:
    """The network's sizes for a configuration."""
    return Shape(
        inputs=observe.size(rules),
        actions=space(rules).n,
        width=config.net.width,
        depth=config.net.depth,
        norm=config.net.norm,
        critic=config.net.critic,
        hidden=0 if config.net.critic == "shared" else observe.privileged_size(rules),
    )
