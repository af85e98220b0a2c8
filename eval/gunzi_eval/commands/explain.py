"""Show what bots would have played in a recorded game, and why.

With --ply: one decision as its seat saw it, and each bot's choice. Without: a table of all decisions in which a bot
would have played another action. Plies count the decisions of a hand from 0, as in gunzi replay --plies.

examples:
  gunzi demo --record hand.txt
  gunzi explain hand.txt --ply 40 --agents greedy expert
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from tyro.conf import Positional

from gunzi_agents import registry
from gunzi_agents.base import Agent
from gunzi_env import observe, record, render
from gunzi_env.cards import SUITS, format_cards, rank_name
from gunzi_env.cli.options import SEEDS, UsageError, check_range, check_writable, parse, say_next, write_whole
from gunzi_env.cli.text import table_text
from gunzi_env.keys import mix
from gunzi_env.position.text import suit_names
from gunzi_env.record import Record
from gunzi_env.tables import NOBODY, Phase, Tables
from gunzi_eval.stats.intervals import format_interval
from gunzi_eval.table import analysis
from gunzi_eval.table.analysis import ActionValue, Analysis
from gunzi_eval.table.human_input import aside
from gunzi_eval.table.outcome import cards_text
from gunzi_eval.table.records import hand_numbers, naming, read, title
from gunzi_eval.table.terminal import Painter, show


@dataclass(frozen=True)
class ExplainOptions:
    """Options of ``gunzi explain``."""

    file: Positional[Path]
    """Record written by gunzi play --record or gunzi demo --record."""
    ply: int | None = None
    """Number of the decision in its hand, from 0."""
    hand: int | None = None
    """Number of the hand, from 0; optional for the table and for records of one hand."""
    agents: Annotated[tuple[str, ...], tyro.conf.arg(help=f"Bots to ask. {registry.SPEC_HELP}")] = (
        "greedy",
        "expert",
    )
    seed: Annotated[int | None, SEEDS] = None
    """Seed of the bots' random choices; by default the seed of the record."""
    json: Path | None = None
    """Write the result to this file as JSON."""


@dataclass(frozen=True)
class Decision:
    """A recorded decision: the table before it, its hand and ply, and the action played."""

    tables: Tables
    hand: int
    ply: int
    action: int
    key: np.uint64

    @property
    def phase(self) -> str:
        """Name of the phase."""
        return Phase(int(self.tables.phase[0])).name.lower()

    @property
    def seat(self) -> int:
        """Seat that decided."""
        return int(self.tables.seat[0])

    def name(self, action: int | None = None) -> str:
        """Return the name of an action, by default the one played, as in records."""
        return record.name_action(self.tables, self.action if action is None else action)


def decisions(game: Record, file: Path, seed: int | None = None) -> list[list[Decision]]:
    """List all decisions of a record, by hand.

    The keys are those of ``gunzi demo`` and ``gunzi play``, so that random bots decide as they did there.

    Raises:
        RecordError: the rules refuse what was recorded.
    """
    found: list[list[Decision]] = []
    before = 0
    for number, hand in enumerate(game.hands):
        name = np.uint64(hand.key[0] if seed is None else seed)
        with naming(file, number):
            found.append(
                [
                    Decision(
                        tables.clone(), number, ply, record.parse_action(tables, text),
                        mix(name, tables.seat[:1], before + ply)[0],
                    )
                    for ply, (tables, text) in enumerate(record.replay_hand(game.rules, hand))
                    if text
                ]
            )  # fmt: skip
        before += len(hand.moves)
    return found


def position_lines(tables: Tables, painter: Painter) -> list[str]:
    """Describe table 0 as the seat to move knows it: cards, trick, score, and what the plays have revealed."""
    view = observe.view(tables)
    lines = [render.ansi(tables, seat=int(view.seat[0]), color=painter.colour)]
    if set_aside := aside(tables):
        lines.append(f" set aside: {painter.cards(format_cards(set_aside))}, {int(view.need[0])} to name")
    for text, flags in (("out of", view.void), ("no pair of", view.no_pair), ("no triple of", view.no_triple)):
        found = [
            f"seat {seat}: {', '.join(lacks)}"
            for seat, row in enumerate(np.roll(flags[0], int(view.seat[0]), axis=0))
            if (lacks := [name for suit, name in enumerate(suit_names(tables)) if row[suit]])
        ]
        lines += [f" {text} (T: trumps)  {';  '.join(found)}"] if found else []
    return lines


def analysis_lines(decision: Decision, found: Analysis) -> list[str]:
    """Describe a bot's choice and the values of its actions, best first."""
    agrees = "as played" if found.choice == decision.action else f"not {decision.name()}"
    lines = [f"{found.agent}: {decision.name(found.choice)}, {agrees}"]
    if not found.values:
        return lines
    rows = [
        [decision.name(value.action), _value(value), "<- played" if value.action == decision.action else ""]
        for value in found.values
    ]
    table = table_text(["action", found.measure, ""], rows)
    return [*lines, *(f"  {line}" if line else "" for line in table.split("\n"))]


def _value(found: ActionValue) -> str:
    value = found.value
    if value.low is None or value.high is None:
        return f"{value.mean:.3f}"
    return f"{format_interval(value, 2)} in {found.worlds} worlds"


def position_json(tables: Tables) -> dict[str, Any]:
    """Return the main facts of :func:`position_lines` as plain JSON types."""
    view = observe.view(tables)
    seat = int(view.seat[0])
    trick = {str((seat + k) & 3): cards_text(tables, 0, view.trick[:, 0, k]) for k in range(4) if view.trick[0, 0, k]}
    return {
        "seat": seat,
        "phase": Phase(int(view.phase[0])).name.lower(),
        "level": rank_name(int(view.level[0])),
        "trump": None if view.trump[0] == NOBODY else SUITS[view.trump[0]],
        "dealer": None if tables.dealer[0] == NOBODY else int(tables.dealer[0]),
        "score": int(view.score[0]),
        "hand": cards_text(tables, 0, view.hand[:, 0]),
        "set_aside": format_cards(aside(tables)),
        "trick": trick,
    }


def analysis_json(decision: Decision, found: Analysis) -> dict[str, Any]:
    """Return an analysis as plain JSON types."""
    options = [
        {"action": decision.name(each.action)} | each.value.as_dict() | {"worlds": each.worlds} for each in found.values
    ]
    return {"agent": found.agent, "choice": decision.name(found.choice), "measure": found.measure, "options": options}


def explain(decision: Decision, agents: Sequence[Agent], painter: Painter) -> dict[str, Any]:
    """Show one decision and its analysis by each agent; returns both as JSON."""
    show(position_lines(decision.tables, painter))
    show(["", painter.strong(f"played: {decision.name()}")])
    found = []
    for agent in agents:
        found.append(analysis.analyse(agent, decision.tables, np.array([decision.key]), decision.action))
        show(["", *analysis_lines(decision, found[-1])])
    place = {"hand": decision.hand, "ply": decision.ply, "played": decision.name()}
    return place | {
        "position": position_json(decision.tables),
        "agents": [analysis_json(decision, each) for each in found],
    }


def compare(hands: Sequence[Sequence[Decision]], agents: Sequence[Agent]) -> dict[str, Any]:
    """Show the decisions in which an agent would have played another action; returns them as JSON."""
    asked = [d for hand in hands for d in hand if d.tables.actions.count(d.tables.legal)[0] > 1]
    others = [_otherwise(agent, asked) for agent in agents]
    heading = ["hand", "ply", "seat", "phase", "played", *(agent.name for agent in agents)]
    rows, rows_json = [], []
    for k, decision in enumerate(asked):
        answers = [found[k] for found in others]
        if any(answers):
            cells = [str(decision.hand), str(decision.ply), str(decision.seat), decision.phase, decision.name()]
            rows.append([*cells, *(_cell(answer) for answer in answers)])
            place = {"hand": decision.hand, "ply": decision.ply, "seat": decision.seat, "phase": decision.phase}
            better = {agent.name: answer for agent, answer in zip(agents, answers, strict=True) if answer}
            rows_json.append(place | {"played": decision.name(), "otherwise": better})
    counts = [f"{agent.name} {sum(map(bool, found))}" for agent, found in zip(agents, others, strict=True)]
    show([f"{len(asked)} decisions with a choice; different choices: {', '.join(counts)}"])
    if rows:
        note = "=: the action played; in brackets: the difference in value, in the bot's own measure"
        show([note, "", table_text(heading, rows, left=0)])
    return {"asked": len(asked), "decisions": rows_json}


def _otherwise(agent: Agent, asked: Sequence[Decision]) -> list[dict[str, Any] | None]:
    """For each decision, return the agent's action and the difference in value; None if it is the action played."""
    if not asked:
        return []
    tables = Tables(asked[0].tables.rules, len(asked))
    for k, decision in enumerate(asked):
        tables.assign(np.array([k]), decision.tables)
    chosen = analysis.choices(agent, tables, np.array([decision.key for decision in asked]))
    values = analysis.action_values(agent, tables)
    found: list[dict[str, Any] | None] = []
    for k, (decision, choice) in enumerate(zip(asked, chosen.tolist(), strict=True)):
        better = None if values is None else float(values[1][k, choice] - values[1][k, decision.action])
        found.append(None if choice == decision.action else {"choice": decision.name(choice), "better": better})
    return found


def _cell(answer: dict[str, Any] | None) -> str:
    if answer is None:
        return "="
    return answer["choice"] + (f" ({answer['better']:+.2f})" if answer["better"] else "")


def _at(hands: Sequence[Sequence[Decision]], numbers: Sequence[int], ply: int) -> Decision:
    """Return the decision that ``--hand`` and ``--ply`` name."""
    if len(numbers) > 1:
        raise UsageError(f"--ply {ply}: --hand is missing, allowed are 0 to {len(numbers) - 1}")
    hand = hands[numbers[0]]
    if not hand:
        raise UsageError(f"--ply {ply}: hand {numbers[0]} has no decisions")
    check_range("--ply", ply, 0, len(hand) - 1)
    return hand[ply]


def main(argv: list[str]) -> int:
    """Run ``gunzi explain``."""
    if "" in argv:  # an empty path is the current folder
        raise UsageError("the name of the record is empty")
    options = parse(ExplainOptions, argv, "explain")
    check_writable(options.json, "--json")
    game = read(options.file)
    numbers = hand_numbers(game, options.file, options.hand)
    if not options.agents:
        raise UsageError(f"--agents: name one or more bots, such as {', '.join(registry.names())}")
    agents = [registry.make(name, game.rules) for name in options.agents]
    painter = Painter()
    show([painter.strong(title(game, options.file))])
    hands = decisions(game, options.file, options.seed)
    content: dict[str, Any] = {"rules": game.rules.name, "rules_digest": game.rules.digest, "players": game.players}
    if options.ply is None:
        content |= compare([hands[number] for number in numbers], agents)
        say_next(f"gunzi explain {options.file} --ply PLY for one of them; gunzi replay --plies for all")
    else:
        decision = _at(hands, numbers, options.ply)
        show([painter.strong(f"hand {decision.hand}, ply {decision.ply}: seat {decision.seat}, {decision.phase}"), ""])
        content |= explain(decision, agents, painter)
        say_next(f"gunzi explain {options.file} for all decisions with different choices")
    if options.json is not None:
        write_whole(options.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        show([f"written to {options.json}"])
    return 0
