"""PettingZoo AEC environment: one table, four agents, masked actions.

>>> environment = env()
>>> environment.reset(seed=7)
>>> observation, reward, termination, truncation, info = environment.last()
>>> observation["observation"].shape, int(observation["action_mask"].sum())
((1179,), 2)

``raw_env`` is faster and raises :class:`gunzi_env.engine.IllegalAction` on an illegal action. ``env`` adds the wrappers
of PettingZoo's classic games and ends the game instead. For training use :class:`gunzi_env.vector.VectorEnv`.
"""

from __future__ import annotations

import copy
import sys
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import seeding
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from gunzi_env import engine, observe, position, record, render
from gunzi_env.cards import parse_cards
from gunzi_env.chapters.deal import draw_of_deck, start_keys
from gunzi_env.engine import IllegalAction
from gunzi_env.observe import View
from gunzi_env.published import starts
from gunzi_env.rewards import Episode, Reward, check_episode, team_rewards
from gunzi_env.rulebook import ONE_TABLE, parse_level
from gunzi_env.rules import Rules, load_rules
from gunzi_env.tables import NOBODY, Phase, Tables

AGENTS = [f"player_{seat}" for seat in range(4)]
_OPTIONS = ("levels", "dealer", "blood", "deal", "position", "record")
_RENDER_MODES = ("ansi", "human")
_OVER = int(Phase.OVER)

Observation = dict[str, Any]


def env(**kwargs: Any) -> AECEnv[str, Observation, int]:
    """Make a :class:`raw_env` with the wrappers of PettingZoo's classic games: an illegal action ends the game."""
    inner: AECEnv[str, Observation, int] = raw_env(**kwargs)
    inner = wrappers.TerminateIllegalWrapper(inner, illegal_reward=-1)
    inner = wrappers.AssertOutOfBoundsWrapper(inner)
    return wrappers.OrderEnforcingWrapper(inner)


class raw_env(AECEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo ships no types
    """One table of Da Gunzi.

    Observations are dicts of ``observation`` (``uint8``) and ``action_mask`` (``int8``, zeros for a seat that is not to
    move).
    """

    metadata = {  # noqa: RUF012 - PettingZoo's contract
        "name": "dagunzi_v0",
        "render_modes": list(_RENDER_MODES),
        "render_fps": 2,
        "is_parallelizable": False,
    }

    def __init__(
        self,
        rules: str | Path | Rules = "dalian",
        episode: Episode = "hand",
        reward: Reward | None = None,
        render_mode: str | None = None,
        observation: Literal["flat", "dict"] = "flat",
        max_hands: int | None = None,
        deal_value: float = 0.5,
        skip_forced: bool = False,
    ) -> None:
        """``reward``: see :func:`gunzi_env.rewards.team_rewards`; ``observation="dict"`` returns the encoding
        as a dict of its named parts; ``max_hands`` truncates a match after this many hands; ``skip_forced`` plays
        decisions with a single legal action automatically."""
        super().__init__()
        self.rules = load_rules(rules)
        self.episode: Episode = episode
        self.reward = check_episode(episode, reward, self.rules)
        if render_mode not in (None, *_RENDER_MODES):
            raise ValueError(f"unknown render_mode {render_mode!r}: use None or {', '.join(_RENDER_MODES)}")
        if observation not in ("flat", "dict"):
            raise ValueError(f"unknown observation {observation!r}: use flat or dict")
        if max_hands is not None and (type(max_hands) is not int or max_hands < 1):
            raise ValueError(f"max_hands is {max_hands!r}: it must be None or a positive whole number")
        self.render_mode = render_mode
        self.observation = observation
        self.max_hands = max_hands
        self.deal_value = deal_value
        self.skip_forced = skip_forced
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self.tables = Tables(self.rules, 1)
        self._make_spaces()
        self._np_random: np.random.Generator | None = None

    def _make_spaces(self) -> None:
        number = self.tables.actions.n
        self._action_space = spaces.Discrete(number)
        pieces: spaces.Space[Any] = spaces.Box(0, 1, (observe.size(self.rules),), np.uint8)
        if self.observation == "dict":
            sizes: dict[str, spaces.Space[Any]] = {
                name: spaces.Box(0, 1, (width,), np.uint8) for name, _, width in observe.spec(self.rules)
            }
            pieces = spaces.Dict(sizes)
        mask = spaces.Box(0, 1, (number,), np.int8)
        self._observation_space = spaces.Dict({"observation": pieces, "action_mask": mask})
        width = 4 * observe.size(self.rules) + observe.privileged_size(self.rules) + 4
        self.state_space = spaces.Box(0, 1, (width,), np.uint8)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the observation space, the same object for every agent."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the action space, the same object for every agent; seed a copy to sample per agent."""
        return self._action_space

    # The episode ----------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode.

        Options: ``levels`` (two numbers), ``dealer`` (seat, or -1 for the first hand of a match), ``blood``, ``deal``
        (all cards in dealing order, as text), ``position`` (text of :mod:`gunzi_env.position`, or one table),
        ``record`` (text; the game continues after it). By default a hand starts from the published start states, and a
        match from its beginning. Unknown options are ignored with a warning.
        """
        if seed is not None or self._np_random is None:
            self._np_random, _ = seeding.np_random(seed)
        chosen = self._options(options or {})
        # Every game has a new seed from the seeded generator, so two resets without a seed differ.
        number = int(self._np_random.integers(2**63))
        self._begin(number, chosen)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._hands_played = 0
        # A record may end with the hand, and in a position every decision may be forced: then no step follows.
        self._settle()
        self._cumulative_rewards = dict(self.rewards)

    @staticmethod
    def _options(options: dict[str, Any]) -> dict[str, Any]:
        if not isinstance(options, dict):
            raise ValueError(f"options are {options!r}: give a dict with some of {', '.join(_OPTIONS)}")
        texts = [name for name in ("deal", "position", "record") if name in options]
        for name in texts:
            if not isinstance(options[name], str) and not (name == "position" and isinstance(options[name], Tables)):
                raise ValueError(f"option {name} is of type {type(options[name]).__name__}: it must be text")
        if len(texts) > 1 or (texts and texts != ["deal"] and {"levels", "dealer", "blood"} & set(options)):
            raise ValueError(f"option {texts[-1]} cannot be combined with other options for the start of the hand")
        if "levels" in options and (not isinstance(options["levels"], list | tuple) or len(options["levels"]) != 2):
            raise ValueError(
                f"option levels is {options['levels']!r}: give two levels, for the teams (0, 2) and (1, 3)"
            )
        unknown = [key for key in options if key not in _OPTIONS]
        if unknown:
            warnings.warn(f"unknown reset options {unknown} are ignored; known are {', '.join(_OPTIONS)}", stacklevel=3)
        return {key: value for key, value in options.items() if key in _OPTIONS}

    def _begin(self, number: int, options: dict[str, Any]) -> None:
        t = Tables(self.rules, 1)
        self.recorder: record.Recorder | None = record.Recorder(self.rules)
        if "position" in options:
            given = options["position"]
            t = given.clone() if isinstance(given, Tables) else position.parse(given)
            if t.rules != self.rules or t.num != 1:
                raise position.PositionError("the position is not one table of this environment's rules")
            self.recorder = None  # its cards were never dealt
        elif "record" in options:
            read = record.parse(options["record"])
            if read.rules != self.rules:
                raise record.RecordError("the record has other rules than this environment")
            t = record.replay(read)
            self.recorder.record.hands = read.hands
        else:
            engine.reset(t, number, begin=False)
            self.recorder.begin(t, draw=self._deal(t, options))
        self.tables = t
        self._play_forced()

    def _deal(self, t: Tables, options: dict[str, Any]) -> npt.NDArray[np.uint8] | None:
        """Deal a hand according to the options; return the first deal if they prescribe it."""
        levels, dealer, blood = starts.sample(self.rules, start_keys(t, ONE_TABLE))
        if self.episode == "match" or any(key in options for key in ("levels", "dealer", "blood", "deal")):
            levels[:], dealer[:], blood[:] = self.rules.first_level, NOBODY, 0
        if "levels" in options:
            levels[0] = [parse_level(self.rules, level) for level in options["levels"]]
        who, owed = options.get("dealer", int(dealer[0])), options.get("blood", int(blood[0]))
        starts.check(self.rules, tuple(levels[0].tolist()), who, owed)
        dealer[0], blood[0] = who, owed
        draw = draw_of_deck(self.rules, parse_cards(options["deal"])) if "deal" in options else None
        engine.begin_hand(t, ONE_TABLE, levels=levels, dealer=dealer, blood=blood, draw=draw)
        return draw

    def step(self, action: int | None) -> None:
        """Apply the action of the selected agent; None if its game is over.

        Raises:
            IllegalAction: the action is illegal; the table has not changed.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._advance(self._checked(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._settle()
        self._accumulate_rewards()

    def _settle(self) -> None:
        """Update the agents after an action: rewards if the hand has ended, the agent to move, and masks."""
        if self.tables.phase[0] == _OVER:
            self._finish_hand()
        self._refresh()
        self._deads_step_first()

    def _advance(self, number: int) -> None:
        """Apply and record one action, and with ``skip_forced`` the following forced ones."""
        self._note(number)
        engine.carry_out(self.tables, ONE_TABLE, np.array([number]))
        self._play_forced()

    def _play_forced(self) -> None:
        t = self.tables
        while self.skip_forced and t.actions.count(t.legal)[0] == 1:
            self._note(forced := int(t.actions.pick(t.legal, np.zeros(1, np.uint8))[0]))
            engine.carry_out(t, ONE_TABLE, np.array([forced]))

    def _checked(self, action: Any) -> int:
        t = self.tables
        if isinstance(action, bool | np.bool_) or not isinstance(action, int | np.integer):
            where = {"phase": Phase(t.phase[0]).name, "seat": int(t.seat[0])}
            raise IllegalAction(action, f"an action is a whole number within 0..{t.actions.n - 1}", **where)  # type: ignore[arg-type]
        number = int(action)
        if not 0 <= number < t.actions.n or not self._allowed[number]:
            raise engine.illegal(t, 0, number)
        return number

    def _note(self, number: int) -> None:
        if self.recorder is not None:
            self.recorder.note(self.tables, number)

    def _finish_hand(self) -> None:
        t = self.tables
        if self.recorder is not None:
            self.recorder.end(t)
        team = float(team_rewards(t, ONE_TABLE, self.reward, self.deal_value)[0])
        self.rewards = {agent: team if seat % 2 == 0 else -team for seat, agent in enumerate(AGENTS)}
        self._hands_played += 1
        if self.episode == "hand" or t.match_winner[0] != NOBODY:
            self.terminations = dict.fromkeys(AGENTS, True)
        elif self.max_hands is not None and self._hands_played >= self.max_hands:
            self.truncations = dict.fromkeys(AGENTS, True)
        else:
            engine.next_hand(t, ONE_TABLE)
            if self.recorder is not None:
                self.recorder.begin(t)
            self._play_forced()

    def _refresh(self) -> None:
        """Update the selected agent, masks and infos."""
        t = self.tables
        seat = int(t.seat[0])
        over = t.phase[0] == _OVER
        self.agent_selection = AGENTS[seat]
        masks = np.zeros((4, t.actions.n), np.int8)
        if not over:
            masks[seat] = t.actions.unpack(t.legal)
        self._masks = dict(zip(AGENTS, masks, strict=True))
        self._allowed = masks[seat].tobytes()  # a private copy: callers may modify the mask
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": self._masks[agent]} for agent in self.agents}

    # What is seen ---------------------------------------------------------------------------------

    def observe(self, agent: str) -> Observation:
        """Return new arrays with the observation and the action mask of an agent."""
        seat = np.array([AGENTS.index(agent)], np.int8)
        flat = observe.encode_tables(self.tables, seat=seat)[0]
        pieces: Any = flat
        if self.observation == "dict":
            pieces = {name: flat[at : at + width].copy() for name, at, width in observe.spec(self.rules)}
        return {"observation": pieces, "action_mask": self._masks[agent].copy()}

    def view(self, agent: str) -> View:
        """Return the :class:`gunzi_env.observe.View` of an agent, one row."""
        return observe.view(self.tables, ONE_TABLE, np.array([AGENTS.index(agent)], np.int8))

    def state(self) -> npt.NDArray[np.uint8]:
        """Return the full state for centralised critics, ``uint8``: four observations, hidden cards, seat to move."""
        seats = np.arange(4, dtype=np.int8)
        views = observe.encode(observe.view(self.tables, np.zeros(4, np.intp), seats)).reshape(-1)
        mover = (seats == self.tables.seat[0]).astype(np.uint8)
        return np.concatenate([views, observe.privileged(self.tables)[0], mover])

    def render(self) -> str | None:
        """Render all cards: return text for ``render_mode="ansi"``, print in colour for ``"human"``."""
        if self.render_mode is None:
            warnings.warn("render() does nothing without a render_mode: pass render_mode='ansi'", stacklevel=2)
            return None
        if self.render_mode == "ansi":
            return render.ansi(self.tables)
        print(render.ansi(self.tables, color=sys.stdout.isatty()), end="\n\n", flush=True)
        return None

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    # Copies ---------------------------------------------------------------------------------------

    def record(self) -> str:
        """Return the record of the episode so far; ``ValueError`` if it began from a position."""
        if self.recorder is None:
            raise ValueError("an episode that began from a position has no record: its cards were never dealt")
        return self.recorder.text()

    def clone(self) -> raw_env:
        """Return an independent copy in the same state."""
        return copy.deepcopy(self)

    def get_state(self) -> dict[str, Any]:
        """Return the state of the game as plain values and bytes, for :meth:`set_state`."""
        agents, rewards = list(self.agents), dict(self.rewards)  # AttributeError before reset()
        assert self._np_random is not None
        return {
            "tables": self.tables.save(),
            "agents": agents,
            "rewards": rewards,
            "cumulative_rewards": dict(self._cumulative_rewards),
            "terminations": dict(self.terminations),
            "truncations": dict(self.truncations),
            "hands_played": self._hands_played,
            "record": None if self.recorder is None else self.recorder.text(),
            "random": self._np_random.bit_generator.state,
        }

    def __getattr__(self, name: str) -> Any:
        if name in ("agent_selection", "rewards", "terminations", "truncations", "infos"):
            raise AttributeError(f"there is no {name} before the first hand: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def set_state(self, state: dict[str, Any]) -> None:
        """Restore :meth:`get_state` of an environment with the same arguments; ``ValueError`` if it does not fit."""
        if not isinstance(state, dict) or "tables" not in state:
            raise ValueError("not a state: use the return value of get_state()")
        self.tables = Tables.load(self.rules, state["tables"])
        self.agents = list(state["agents"])
        self.rewards = dict(state["rewards"])
        self._cumulative_rewards = dict(state["cumulative_rewards"])
        self.terminations = dict(state["terminations"])
        self.truncations = dict(state["truncations"])
        self._hands_played = state["hands_played"]
        self.recorder = None
        if state["record"] is not None:
            self.recorder = record.Recorder(self.rules)
            self.recorder.record = record.parse(state["record"])
        self._np_random, _ = seeding.np_random(0)
        self._np_random.bit_generator.state = state["random"]
        self._refresh()


def parallel_env(**kwargs: Any) -> Any:
    """Make the environment for PettingZoo's parallel API: one agent moves per step, other actions are ignored."""
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel

    return turn_based_aec_to_parallel(env(**kwargs))
