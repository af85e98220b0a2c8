"""Tune the weights of ``expert`` by self-play: ``python -m gunzi_train.tuning.tune --minutes 60 --write``.

The bot becomes a policy that draws its plays from a softmax of their values, linear in its weights, and is improved by
proximal policy updates (Schulman et al. 2017) with a critic that sees all hands. The result is an exponential mean of
the weights, with a learning rate that falls to zero: near the optimum single weights wander.

Only the two tables of :mod:`gunzi_agents.expert_weights` are tuned; bids, tribute and burial do not change. Measure the
result in the arena: ``gunzi arena expert greedy --deals 20000``.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from gunzi_agents import expert_weights
from gunzi_agents.expert import Expert
from gunzi_agents.expert_play import ExpertPlayer
from gunzi_agents.greedy_play import NEVER, cheapest
from gunzi_agents.networks import ActorCritic, Network
from gunzi_agents.reading import Flags, Floats, Reading, Slots
from gunzi_env.cli.options import check_range, check_seed, checked_rules, parse, say_next
from gunzi_env.planes import NUM_SLOTS
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_train.algorithms.advantages import table_advantages
from gunzi_train.config import CollectConfig, Config, NetConfig, RewardConfig
from gunzi_train.device import FORWARD_ROWS, autocast, bf16_is_faster, floats, settle_torch
from gunzi_train.rollout.collector import Collector, Rollout, shape_of
from gunzi_train.seeds import derived_seed
from gunzi_train.tuning.features import follow as follow_features
from gunzi_train.tuning.features import lead as lead_features

EPOCHS, CLIP, LAMBDA, MEAN_DECAY = 3, 0.2, 0.95, 0.97
CRITIC_EPOCHS, CRITIC_ROWS, CRITIC_LR = 2, 2048, 1e-3
WARM_UP = 5
"""Updates at the start that train only the critic."""
TABLES = {Phase.LEAD: expert_weights.LEAD, Phase.FOLLOW: expert_weights.FOLLOW}
PHASES = tuple(TABLES)


@dataclass(frozen=True)
class Tune:
    """Tune the weights of the expert bot by self-play.

    example: python -m gunzi_train.tuning.tune --minutes 60 --write
    """

    minutes: float = 60.0
    """Duration."""
    rules: str = "dalian"
    """A preset or a TOML file."""
    tables: int = 1024
    """Number of tables."""
    steps: int = 64
    """Decisions per table and update."""
    lr: float = 0.06
    """Learning rate of Adam at the start, in points; it falls to zero. Far from the optimum use 0.15."""
    temperature: float = 2.0
    """Difference in value, in points, that makes a play e times as likely."""
    points: float = 0.035
    """Value of a point in levels; at most three levels count per hand."""
    seed: int = 0
    """Seed of the deals and draws."""
    write: bool = False
    """Write the weights into the source file of the bot, instead of printing them."""


@dataclass
class Choices:
    """Plays that were drawn, with the candidates of each."""

    features: npt.NDArray[np.float16]  # [K, C] of each candidate
    decision: npt.NDArray[np.intp]  # [K] which decision it belongs to, rising
    chosen: npt.NDArray[np.intp]  # [B] which candidate was played
    context: Floats  # [B, 9]
    place: npt.NDArray[np.intp]  # [B] step * N + table


class Tuned(Collector):
    """Self-play of the bot with given weights; records the candidates of each play."""

    def __init__(self, rules: Rules, options: Tune, weights: dict[Phase, Floats]) -> None:
        reward = RewardConfig(levels=1.0, level_clip=3.0, deal=0.0, points=0.0, points_unit=1.0)
        collect = CollectConfig(options.tables, options.steps)
        seed = derived_seed(options.seed, "tune", "deals")
        super().__init__(rules, collect, reward, seed=seed, privileged=True, generator=torch.Generator())
        self.bot, self.weights, self.temperature = Expert(), weights, options.temperature
        self.draws = np.random.Generator(np.random.PCG64(derived_seed(options.seed, "tune", "plays")))
        self.choices: dict[Phase, list[Choices]] = {phase: [] for phase in PHASES}

    def _act(self, t: int, net: Network, bf16: bool) -> None:
        keys = np.zeros(len(self.mask), np.uint64)  # the bot does not draw
        actions = self.data.actions[t]
        setup = np.flatnonzero(~np.isin(self.view.phase, PHASES))
        if len(setup):
            actions[setup] = self.bot.act(self.view.rows(setup), self.mask[setup], keys[setup])
        for phase in PHASES:
            rows = np.flatnonzero(self.view.phase == phase)
            if len(rows):
                actions[rows] = self._play(t, phase, rows)

    def _play(self, t: int, phase: Phase, rows: npt.NDArray[np.intp]) -> Slots:
        decks = self.rules.decks
        player = ExpertPlayer(Reading(self.view.rows(rows)), self.bot.weights)
        legal = np.ascontiguousarray(self.mask[rows, : decks * NUM_SLOTS].T).reshape(decks, NUM_SLOTS, -1)
        weights = self.weights[phase] @ player.circumstances  # [C, B]
        found = _leads(player, legal) if phase == Phase.LEAD else _follows(player, legal, weights)
        features, candidate, free = found
        decision, action = np.nonzero(candidate.reshape(-1, len(rows)).T)  # decisions together
        features = features.reshape(len(features), -1, len(rows))[:, action, decision].T
        worth = np.einsum("kc,ck->k", features, weights[:, decision]) / self.temperature
        worth += self.draws.gumbel(size=len(worth))  # so the largest is drawn from the softmax
        first = np.flatnonzero(np.diff(decision, prepend=-1))
        top = np.maximum.reduceat(worth, first)
        chosen = np.flatnonzero(worth == top[decision])
        kept = free[decision]
        number = np.cumsum(free) - 1
        self.choices[phase].append(
            Choices(
                features[kept].astype(np.float16),
                number[decision[kept]],
                (np.cumsum(kept) - 1)[chosen[free]],
                player.circumstances.T[free],
                t * len(self.mask) + rows[free],
            )
        )
        return action[chosen]


Found = tuple[Floats, Flags, npt.NDArray[np.bool_]]
"""Features ``[C, D, 54, B]``, the candidate plays ``[D, 54, B]``, and the decisions with a choice ``[B]``."""


def _leads(player: ExpertPlayer, legal: Flags) -> Found:
    return lead_features(player), legal, np.ones(legal.shape[2], np.bool_)


def _follows(player: ExpertPlayer, legal: Flags, weights: Floats) -> Found:
    """List how the bot may follow: win with a slot, or throw; of throws with several cards only the cheapest."""
    v, decks = player.v, player.r.decks
    win, price, stay = follow_features(player)
    owed = v.led_count.astype(np.intp) - 1
    takes = player._wins(owed) & legal[owed, :, np.arange(len(owed))].T
    own = (np.arange(decks)[:, None] == owed)[:, None] & takes
    cost = np.einsum("cdsb,cb->dsb", price, weights)
    held = (player.r.mine >= np.arange(1, decks + 1)[:, None, None]) & player._pool()
    cost = np.where(held & ~own, cost, -NEVER).astype(np.float32)
    throw, _ = cheapest(cost, legal, v.need)
    candidate = own | (legal & (v.need == 1))
    rows = np.arange(len(owed))
    going_on = v.need < v.led_count  # the first card of the throw has been named
    candidate[:, :, going_on] = False
    m, slot = throw // NUM_SLOTS, throw % NUM_SLOTS
    candidate[m, slot, rows] |= legal[m, slot, rows] | going_on
    copies = np.arange(1, decks + 1, dtype=np.float32)[:, None, None]
    features = np.where(own, win[:, None], stay[:, None, None] - price * np.maximum(v.need / copies, 1))
    return features.astype(np.float32), candidate, ~going_on


class Tuner:
    """The weights, their critic, and the optimisers of both."""

    def __init__(self, rules: Rules, options: Tune) -> None:
        self.options = options
        self.weights = {phase: torch.tensor([*table.values()], requires_grad=True) for phase, table in TABLES.items()}
        self.mean = {phase: weights.detach().clone() for phase, weights in self.weights.items()}
        self.optimizer = torch.optim.Adam([*self.weights.values()], options.lr)
        config = Config(net=NetConfig(width=256, depth=2, critic="privileged"))
        generator = torch.Generator().manual_seed(derived_seed(options.seed, "tune", "critic"))
        self.net = ActorCritic(shape_of(config, rules), generator)
        self.critic_steps = torch.optim.Adam(self.net.parameters(), CRITIC_LR)
        self.order = generator
        self.bf16 = bf16_is_faster(self.net.device)
        self.collector = Tuned(rules, options, self._arrays())
        self.updates = self.hands = 0

    def _arrays(self) -> dict[Phase, Floats]:
        return {phase: weights.detach().numpy().copy() for phase, weights in self.weights.items()}

    def update(self, left: float) -> dict[str, float]:
        """Play, then improve both; ``left`` is the remaining share of the time. Returns figures to print."""
        self.collector.weights = self._arrays()
        for choices in self.collector.choices.values():
            choices.clear()
        rollout, stats = self.collector.collect(self.net, self.bf16)
        rewards = rollout.levels + np.float32(self.options.points) * rollout.points
        values = self._values(rollout)
        advantages, _ = table_advantages(
            rewards, values[:-1], rollout.seats[:-1], rollout.done, values[-1], rollout.seats[-1], 1.0, LAMBDA
        )
        targets = advantages + values[:-1]
        figures = {"explained": 1 - float(advantages.var() / targets.var())}
        if self.updates >= WARM_UP:
            self.optimizer.param_groups[0]["lr"] = self.options.lr * left
            for phase in PHASES:
                figures[f"entropy {phase.name}"] = self._improve(phase, advantages.reshape(-1))
            for phase, mean in self.mean.items():
                mean.lerp_(self.weights[phase].detach(), 1 - MEAN_DECAY)
        self._fit(rollout, targets)
        self.updates += 1
        self.hands += stats.hands
        return figures

    def _improve(self, phase: Phase, advantages: Floats) -> float:
        """Steps of the weights of one phase; returns the entropy of its decisions."""
        choices = self.collector.choices[phase]
        sizes = np.cumsum([0, *(len(c.place) for c in choices)])
        rows = np.cumsum([0, *(len(c.decision) for c in choices)])
        features = torch.from_numpy(np.concatenate([c.features for c in choices])).float()
        joined = [c.decision + at for c, at in zip(choices, sizes, strict=False)]
        decision = torch.from_numpy(np.concatenate(joined))
        chosen = torch.from_numpy(np.concatenate([c.chosen + at for c, at in zip(choices, rows, strict=False)]))
        context = torch.from_numpy(np.concatenate([c.context for c in choices]))
        gains = torch.from_numpy(advantages[np.concatenate([c.place for c in choices])])
        gains = gains / (gains.std() + 1e-6)
        weights, number = self.weights[phase], len(gains)

        def log_probs() -> Tensor:
            worth = (features * (context @ weights.T)[decision]).sum(1) / self.options.temperature
            top = torch.full((number,), -torch.inf).scatter_reduce(0, decision, worth.detach(), "amax")
            worth = worth - top[decision]
            return worth - torch.zeros(number).index_add(0, decision, worth.exp()).log()[decision]

        with torch.no_grad():
            before = log_probs()
        for _ in range(EPOCHS):
            ratio = (log_probs() - before)[chosen].exp()
            loss = -torch.minimum(ratio * gains, ratio.clamp(1 - CLIP, 1 + CLIP) * gains).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return -float((before.exp() * before).sum()) / number

    def _values(self, rollout: Rollout) -> Floats:
        obs, privileged_obs = (torch.from_numpy(array).flatten(0, 1) for array in (rollout.obs, rollout.privileged_obs))
        with torch.inference_mode(), autocast(self.bf16, self.net.device):
            parts = [
                self.net.values(floats(a, self.bf16), floats(b, self.bf16))
                for a, b in zip(obs.split(FORWARD_ROWS), privileged_obs.split(FORWARD_ROWS), strict=True)
            ]
        return torch.cat(parts).view(rollout.seats.shape).numpy()

    def _fit(self, rollout: Rollout, targets: Floats) -> None:
        obs, privileged_obs = (
            torch.from_numpy(array[:-1]).flatten(0, 1) for array in (rollout.obs, rollout.privileged_obs)
        )
        wanted = torch.from_numpy(targets).flatten()
        for _ in range(CRITIC_EPOCHS):
            for rows in torch.randperm(len(wanted), generator=self.order).split(CRITIC_ROWS):
                with autocast(self.bf16, self.net.device):
                    values = self.net.values(floats(obs[rows], self.bf16), floats(privileged_obs[rows], self.bf16))
                loss = (values - wanted[rows]).square().mean()
                self.critic_steps.zero_grad()
                loss.backward()
                self.critic_steps.step()

    def tables(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Return the mean of the weights so far, rounded, by the names of the tables."""
        found = {}
        for phase, table in TABLES.items():
            rows = [tuple(round(x, 1) + 0.0 for x in row) for row in self.mean[phase].tolist()]  # no -0.0
            found[phase.name] = dict(zip(table, rows, strict=True))
        return found


def rewritten(text: str, tables: Mapping[str, Mapping[str, tuple[float, ...]]]) -> str:
    """Rewrite the source of the bot's weights with other numbers.

    >>> rewritten('LEAD = {\\n    # one card\\n    "single": (1.5, 2.0),\\n}\\n', {"LEAD": {"single": (0.5, -1.0)}})
    'LEAD = {\\n    # one card\\n    "single": (0.5, -1.0),\\n}\\n'
    """
    for rows in tables.values():
        for name, row in rows.items():
            text, number = re.subn(rf'(    "{name}": )\([^)]*\)', rf"\g<1>{row}", text)
            if number != 1:
                raise ValueError(f"the feature {name!r} stands {number} times in the bot's file, not once")
    return text


def main(argv: list[str]) -> int:
    """Tune, and print or write the weights."""
    options = parse(Tune, argv, "tune")
    check_range("--minutes", options.minutes, 0.01, 10000)
    check_range("--tables", options.tables, 16, 1 << 16)
    check_range("--steps", options.steps, 4, 1 << 10)
    check_range("--lr", options.lr, 0, 10)
    check_range("--temperature", options.temperature, 0.01, 1000)
    check_range("--points", options.points, 0, 10)
    check_seed(options.seed)
    rules = checked_rules(options.rules)
    settle_torch()
    print(f"tune: rules {rules.name}, {options.minutes:g} minutes", flush=True)
    tuner, begun = Tuner(rules, options), time.monotonic()
    while (spent := (time.monotonic() - begun) / (60 * options.minutes)) < 1:
        figures = tuner.update(1 - spent)
        if tuner.updates % 5 == 0:
            told = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            print(f"{tuner.updates} updates, {tuner.hands:,} hands: {told}", flush=True)
    path = Path(expert_weights.__file__)
    text = rewritten(path.read_text("utf-8"), tuner.tables())
    if options.write:
        path.write_text(text, "utf-8")
        print(f"written to {path}")
    else:
        print(text)
    say_next("gunzi arena expert greedy --deals 20000")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
