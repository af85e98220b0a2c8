"""Ask bots what they would have played in a recorded game, and what they think it is worth.

Plies count the decisions of a hand from 0, as in the messages of records and in ``gunzi replay --plies``.
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
from gunzi_env.cli.options import UsageError, check_range, check_seed, check_writable, parse, say_next, write_whole
from gunzi_env.cli.text import table_text
from gunzi_env.keys import mix
from gunzi_env.position.text import suit_names
from gunzi_env.record import Record
from gunzi_env.tables import NOBODY, Phase, Tables
from gunzi_eval.stats.intervals import figure
from gunzi_eval.table import analysis
from gunzi_eval.table.analysis import Opinion, Option
from gunzi_eval.table.human_input import aside
from gunzi_eval.table.outcome import cards_text
from gunzi_eval.table.records import hand_numbers, naming, read, title
from gunzi_eval.table.terminal import Painter, show


@dataclass(frozen=True)
class Explain:
    """Show a decision of a recorded game as its seat saw it, and what each bot would do there.

    Without --ply: a table of all decisions where a bot would have played otherwise.

    example: gunzi demo --record hand.txt, then gunzi explain hand.txt --ply 40 --agents greedy expert
    """

    file: Positional[Path]
    """A record, as gunzi play --record and gunzi demo --record write it."""
    ply: int | None = None
    """The decision, counted from 0 in its hand; gunzi replay --plies shows the numbers."""
    hand: int | None = None
    """The hand of this number, from 0; may be left out where there is one, or for the table."""
    agents: Annotated[tuple[str, ...], tyro.conf.arg(help=f"Who is asked. {registry.SPEC_HELP}")] = (
        "greedy",
        "expert",
    )
    seed: int | None = None
    """Names the bots' random choices; if left out, those that the record was played with."""
    json: Path | None = None
    """Write what is shown to this file as JSON."""


@dataclass(frozen=True)
class Decision:
    """A recorded decision: the table before it, its place, and what was played."""

    tables: Tables
    hand: int
    ply: int
    action: int
    key: np.uint64

    @property
    def phase(self) -> str:
        """The phase in words."""
        return Phase(int(self.tables.phase[0])).name.lower()

    @property
    def seat(self) -> int:
        """Who decided."""
        return int(self.tables.seat[0])

    def name(self, action: int | None = None) -> str:
        """An action in a record's words; what was played if none is given."""
        return record.name_action(self.tables, self.action if action is None else action)


def decisions(game: Record, file: Path, seed: int | None = None) -> list[list[Decision]]:
    """Every decision of a record, by hand.

    The keys are those of ``gunzi demo`` and ``gunzi play``, so that a bot that plays by them answers as it did there.

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
    """Table 0 as the seat to move may know it: cards, trick and score, and what plays have proved."""
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


def opinion_lines(decision: Decision, found: Opinion) -> list[str]:
    """What a bot would do, and its options best first."""
    agrees = "as was played" if found.choice == decision.action else f"not {decision.name()}"
    lines = [f"{found.agent}: {decision.name(found.choice)}, {agrees}"]
    if not found.options:
        return lines
    rows = [[found.measure, ""], *([decision.name(o.action), _worth(o)] for o in found.options)]
    heading, *table = table_text(rows).split("\n")
    marks = ("  <- played" if o.action == decision.action else "" for o in found.options)
    return [*lines, f"  {heading.rstrip()}", *(f"  {line}{mark}" for line, mark in zip(table, marks, strict=True))]


def _worth(option: Option) -> str:
    worth = option.worth
    if worth.low is None or worth.high is None:
        return f"{worth.mean:.3f}"
    return f"{figure(worth, 2)} in {option.worlds} worlds"


def position_json(tables: Tables) -> dict[str, Any]:
    """The main facts of :func:`position_lines` as plain JSON types."""
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


def opinion_json(decision: Decision, found: Opinion) -> dict[str, Any]:
    """An opinion as plain JSON types."""
    options = [
        {"action": decision.name(option.action)} | option.worth.as_dict() | {"worlds": option.worlds}
        for option in found.options
    ]
    return {"agent": found.agent, "choice": decision.name(found.choice), "measure": found.measure, "options": options}


def explain(decision: Decision, agents: Sequence[Agent], painter: Painter) -> dict[str, Any]:
    """Show one decision and every agent's opinion of it; returns it as JSON."""
    show(position_lines(decision.tables, painter))
    show(["", painter.strong(f"played: {decision.name()}")])
    found = []
    for agent in agents:
        found.append(analysis.opinion(agent, decision.tables, np.array([decision.key]), decision.action))
        show(["", *opinion_lines(decision, found[-1])])
    place = {"hand": decision.hand, "ply": decision.ply, "played": decision.name()}
    return place | {
        "position": position_json(decision.tables),
        "agents": [opinion_json(decision, each) for each in found],
    }


def compare(hands: Sequence[Sequence[Decision]], agents: Sequence[Agent]) -> dict[str, Any]:
    """Show the decisions where an agent would have played otherwise; returns them as JSON."""
    asked = [d for hand in hands for d in hand if d.tables.actions.count(d.tables.legal)[0] > 1]
    others = [_otherwise(agent, asked) for agent in agents]
    rows = [["hand", "ply", "seat", "phase", "played", *(agent.name for agent in agents)]]
    rows_json = []
    for k, decision in enumerate(asked):
        answers = [found[k] for found in others]
        if any(answers):
            cells = [str(decision.hand), str(decision.ply), str(decision.seat), decision.phase, decision.name()]
            rows.append([*cells, *(_cell(answer) for answer in answers)])
            place = {"hand": decision.hand, "ply": decision.ply, "seat": decision.seat, "phase": decision.phase}
            better = {agent.name: answer for agent, answer in zip(agents, answers, strict=True) if answer}
            rows_json.append(place | {"played": decision.name(), "otherwise": better})
    counts = [f"{agent.name} {sum(map(bool, found))}" for agent, found in zip(agents, others, strict=True)]
    show([f"{len(asked)} decisions with a choice; played otherwise: {', '.join(counts)}"])
    if len(rows) > 1:
        show(["in brackets: how much better the bot thinks of its own move, in its own measure", "", table_text(rows)])
    return {"asked": len(asked), "decisions": rows_json}


def _otherwise(agent: Agent, asked: Sequence[Decision]) -> list[dict[str, Any] | None]:
    """For each decision the agent's move and by how much it prefers it; None where it is what was played."""
    if not asked:
        return []
    tables = Tables(asked[0].tables.rules, len(asked))
    for k, decision in enumerate(asked):
        tables.assign(np.array([k]), decision.tables)
    chosen = analysis.choices(agent, tables, np.array([decision.key for decision in asked]))
    worth = analysis.worths(agent, tables)
    found: list[dict[str, Any] | None] = []
    for k, (decision, choice) in enumerate(zip(asked, chosen.tolist(), strict=True)):
        better = None if worth is None else float(worth[1][k, choice] - worth[1][k, decision.action])
        found.append(None if choice == decision.action else {"choice": decision.name(choice), "better": better})
    return found


def _cell(answer: dict[str, Any] | None) -> str:
    if answer is None:
        return "="
    return answer["choice"] + (f" ({answer['better']:+.2f})" if answer["better"] else "")


def _at(hands: Sequence[Sequence[Decision]], numbers: Sequence[int], ply: int) -> Decision:
    """The decision that ``--hand`` and ``--ply`` name."""
    if len(numbers) > 1:
        raise UsageError(f"--ply {ply}: in which hand? --hand allows 0 to {len(numbers) - 1}")
    hand = hands[numbers[0]]
    if not hand:
        raise UsageError(f"--ply {ply}: hand {numbers[0]} has no decisions")
    check_range("--ply", ply, 0, len(hand) - 1)
    return hand[ply]


def main(argv: list[str]) -> int:
    """``gunzi explain``."""
    if "" in argv:  # as a path it would mean the current folder
        raise UsageError("an argument is empty: name a record")
    config = parse(Explain, argv, "explain")
    if config.seed is not None:
        check_seed(config.seed)
    check_writable(config.json, "--json")
    game = read(config.file)
    numbers = hand_numbers(game, config.file, config.hand)
    if not config.agents:
        raise UsageError(f"--agents: name one or more, such as {', '.join(registry.names())}")
    agents = [registry.make(name, game.rules) for name in config.agents]
    painter = Painter()
    show([painter.strong(title(game, config.file))])
    hands = decisions(game, config.file, config.seed)
    content: dict[str, Any] = {"rules": game.rules.name, "rules_digest": game.rules.digest, "players": game.players}
    if config.ply is None:
        content |= compare([hands[number] for number in numbers], agents)
        say_next(f"gunzi explain {config.file} --ply PLY, to see one of them; gunzi replay --plies, to see them all")
    else:
        decision = _at(hands, numbers, config.ply)
        show([painter.strong(f"hand {decision.hand}, ply {decision.ply}: seat {decision.seat}, {decision.phase}"), ""])
        content |= explain(decision, agents, painter)
        say_next(f"gunzi explain {config.file}, for all decisions where these bots would have played otherwise")
    if config.json is not None:
        write_whole(config.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        show([f"written to {config.json}"])
    return 0
