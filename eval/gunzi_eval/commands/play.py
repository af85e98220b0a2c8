"""Play one seat in the terminal against bots.

Cards are typed as they are shown, whole plays at once (``H9 H9``). Works with piped input; its end is a clean end
of the game.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_agents.playing import Actions, Seating, decide, play_matches
from gunzi_env import engine, observe
from gunzi_env.cards import format_cards
from gunzi_env.cli.options import check_range, check_seed, check_writable, checked_rules, parse, say_next, write_whole
from gunzi_env.observe import View
from gunzi_env.record import Recorder
from gunzi_env.rules import Rules
from gunzi_env.tables import Index, Phase, Tables
from gunzi_eval.table.human_input import CHOICES, Refused, actions_of, aside, legal_names, suit_word
from gunzi_eval.table.narrator import Event, Narrator
from gunzi_eval.table.terminal import Painter, hand_lines, result, show

HELP = """  cards     name them as shown, a whole play at once: H9 H9, or LJ, BJ for the jokers
  bids      bid H x2 (two level cards of hearts), bid LJ:H (all small jokers, hearts trumps); show; pass
  hint      what the bot would do in your place
  hand      your cards again
  help      this
  quit      leave the table"""


class Quit(BaseException):
    """The player leaves. No ``Exception``, because those that agents raise are reported as faults."""


class Person(Agent):
    """The player at the terminal as an agent at one table.

    ``ask`` reads one answer and returns its actions: a play of several cards is several decisions.
    """

    name = "human"

    def __init__(self, ask: Callable[[], list[int]]) -> None:
        self._ask, self._actions = ask, list[int]()

    def act(self, view: View, legal: npt.NDArray[np.bool_], keys: npt.NDArray[np.uint64]) -> Actions:
        """See :meth:`gunzi_agents.base.Agent.act`, for one row."""
        self._actions = self._actions or self._ask()
        return np.array([self._actions.pop(0)], np.int32)


@dataclass(frozen=True)
class PlayConfig:
    """Play one seat in the terminal against bots, a whole match or some hands of it.

    example: gunzi play --against greedy --seed 7
    """

    seat: int = 0
    """Your seat, 0 to 3; your partner sits two seats on."""
    against: str = "greedy"
    """The agent in the two opposing seats."""
    partner: str = ""
    """The agent opposite you; the opponents' if left out."""
    seed: int | None = None
    """Names the deals and the bots' random choices; a new one each time if left out."""
    rules: str = "dalian"
    """A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml."""
    hands: int = 0
    """Stop after so many hands; 0 plays the match to its end."""
    record: Path | None = None
    """Write what was played to this file, for gunzi replay."""


class Session:
    """A person and three bots at one table; ``ply`` counts the decisions of the match."""

    def __init__(self, config: PlayConfig, rules: Rules, seed: int) -> None:
        self.seat, self.seed = config.seat, seed
        self.tables = Tables(rules, 1)
        opponent = registry.make(config.against, rules)
        partner = registry.make(config.partner, rules) if config.partner else opponent
        self.players: list[Agent] = [opponent] * 4
        self.players[(self.seat + 2) & 3] = partner
        self.players[self.seat] = Person(lambda: self._ask())
        self.adviser = partner
        self.narrator = Narrator(self.tables, viewer=self.seat)
        self.painter = Painter()
        self.ply = 0
        self.recorder = Recorder(rules, [player.name for player in self.players])

    def play(self, hands: int) -> None:
        """Play a match, at most ``hands`` hands of it, with each hand's result explained."""
        engine.reset(self.tables, self.seed)
        seating = Seating(self.players, np.arange(4, dtype=np.int8)[None], np.array([self.seed], np.uint64))
        play_matches(self.tables, seating, step=self._step, max_hands=hands, on_hand=self._begin)

    def _begin(self, tables: Tables, rows: Index) -> None:
        self.recorder.begin(tables)
        self._tell(self.narrator.opening())

    def _step(self, tables: Tables, rows: Index, actions: Actions) -> None:
        self.ply += 1
        self.recorder.note(tables, int(actions[0]))
        self._tell(self.narrator.advance(int(actions[0])))
        if tables.phase[0] == Phase.OVER:
            self.recorder.end(tables)
            show(["", *result(tables), ""])

    def _tell(self, events: list[Event]) -> None:
        show(self.painter.event(event, self.seat) for event in events)

    def _ask(self) -> list[int]:
        """Read answers until one can be played."""
        show(["", *self._hand(), self.painter.strong(question(self.tables))])
        while True:
            try:
                text = input("> ").strip()
            except EOFError:
                print()
                raise Quit from None
            word = text.lower()
            if word in ("quit", "exit", "q"):
                raise Quit
            if word in ("help", "?"):
                show([HELP])
            elif word == "hint":
                show([f"  {self.adviser.name} would answer: {self._hint()}"])
            elif word == "hand":
                show(self._hand())
            elif text:
                try:
                    return actions_of(self.tables, text)
                except Refused as refused:
                    show([f"  no: {refused}"])

    def _hand(self) -> list[str]:
        me = np.array([self.seat], np.int8)
        return hand_lines(observe.view(self.tables, np.array([0]), me), self.painter)

    def _hint(self) -> str:
        """What the bot would answer, tried on a copy until the choice is complete."""
        trial, phase = self.tables.clone(), int(self.tables.phase[0])
        names: list[str] = []
        # A choice of cards is over when none is owed; jokers are put in until the bot passes or has none left.
        owed = int(trial.need[0]) if phase in (*CHOICES, Phase.FOLLOW) else 1
        while owed > 0 and trial.phase[0] == phase and trial.seat[0] == self.seat:
            action = decide(self.adviser, trial, self.seed, self.ply + len(names))
            name = trial.actions.name(action, int(trial.level[0]), trial.trump_or_provisional(0))
            engine.step(trial, np.array([action]))
            if phase == Phase.JOKERS and action == trial.actions.PASS:
                break
            names.append(name)
            owed -= 0 if phase == Phase.JOKERS else len(name.split())
        return " ".join(names) or "pass"


def question(tables: Tables) -> str:
    """What the seat to move is asked, in one line."""
    phase, need = Phase(int(tables.phase[0])), int(tables.need[0])
    cards = f"{need} card{'s' * (need != 1)}"
    forced = aside(tables)
    also = f" ({format_cards(forced)} in any case)" if forced else ""
    if phase == Phase.SHOW:
        return "You hold a big joker: show it and deal, or pass?"
    if phase == Phase.BID:
        return f"Your bid? {', '.join(legal_names(tables))}"
    if phase == Phase.LEAD:
        return f"You lead: one card or several identical ones. S = {int(tables.score[0])}"
    if phase == Phase.FOLLOW:
        suit = suit_word(tables, int(tables.led_suit[0]))
        return f"{suit} was led, {int(tables.led_count[0])} to play: name {cards}{also}."
    jokers = int(tables.pickable[0])
    turned = tables.giver[0] == tables.dealer[0]
    why = "The tribute is turned round and you give it (R5.5)" if turned else "You owe tribute"
    return {
        Phase.TRIBUTE: f"{why}; between equals you choose: name {cards}{also}.",
        Phase.RETURN: f"You return {cards} of the tribute{also}.",
        Phase.BURY: f"You have the kitty in hand: bury {cards}.",
        Phase.JOKERS: f"The kitty takes {jokers} joker{'s' * (jokers != 1)}: name those you put in, or pass.",
        Phase.PICKUP: f"Pick up {cards} of {', '.join(legal_names(tables))}{also}.",
    }[phase]


def check(config: PlayConfig) -> None:
    """Refuse settings out of bounds by name."""
    check_range("--seat", config.seat, 0, 3)
    check_range("--hands", config.hands, 0, 1000)
    if config.seed is not None:
        check_seed(config.seed)
    check_writable(config.record, "--record")


def main(argv: list[str]) -> int:
    """``gunzi play``."""
    config = parse(PlayConfig, argv, "play")
    check(config)
    rules = checked_rules(config.rules)
    seed = secrets.randbelow(2**31) if config.seed is None else config.seed
    partner = (config.seat + 2) & 3
    print(f"Da Gunzi, rules {rules.name}, seed {seed}: you are seat {config.seat}, your partner seat {partner}.")
    print("'help' explains the answers.", flush=True)
    session = Session(config, rules, seed)
    try:
        session.play(config.hands or sys.maxsize)
    except Quit:
        show(["You leave the table."])
    finally:  # also after Ctrl-C
        if config.record is not None:
            write_whole(config.record, session.recorder.text())
            show([f"recorded in {config.record}"])
    say_next(f"gunzi play --seed {seed} for the same cards again; gunzi arena uniform {config.against} to measure bots")
    return 0
