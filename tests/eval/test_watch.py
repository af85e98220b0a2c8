"""What people see of a hand: the narration, the explained result, the demo and replays."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents.base import Agent
from gunzi_agents.uniform import Uniform
from gunzi_env import record, rulebook
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, Phase, Tables
from gunzi_eval.demo import deal
from gunzi_eval.duplicate import decide
from gunzi_eval.explain import Outcome, cards_text, explain
from gunzi_eval.narrate import Event, Narrator, Note, Play, Trick
from gunzi_eval.terminal import Painter

CARD = re.compile(r"\b(?:[SHCD][2-9TJQKA]|LJ|BJ)\b")


def gunzi(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", *arguments],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class JokerLover:
    """Uniform, but always buries jokers, and always (or never) bids and shows: for the rare branches."""

    name = "joker lover"

    def __init__(self, bold: bool = True) -> None:
        self.bold = bold

    def act(self, view: object, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        actions = Uniform().act(view, legal, keys)  # type: ignore[arg-type]
        phase = view.phase[0]  # type: ignore[attr-defined]
        last = legal.shape[1] - 1 - int(legal[0, ::-1].argmax())
        if phase in (Phase.SHOW, Phase.BID):
            actions[0] = last if self.bold else legal[0].argmax()
        if phase in (Phase.BURY, Phase.JOKERS):
            jokers = [slot for slot in (53, 52) if legal[0, slot]]
            actions[0] = jokers[0] if jokers else actions[0]
        return actions

    def reset(self) -> None: ...


def told(rules: Rules, seed: int, agent: Agent, viewer: int | None = None) -> tuple[Tables, list[Event]]:
    """A hand played to its end and everything that was told of it."""
    tables = deal(rules, seed)
    narrator = Narrator(tables, viewer)
    events = narrator.opening()
    ply = 0
    while tables.phase[0] != Phase.OVER:
        events += narrator.advance(decide(agent, tables, seed, ply))
        ply += 1
    return tables, events


@pytest.mark.parametrize("preset", Rules.presets())
@pytest.mark.parametrize("agent", [Uniform(), JokerLover()])
def test_narration_accounts_for_every_card_and_point(preset: str, agent: Agent) -> None:
    rules = Rules.preset(preset)
    for seed in range(4):
        tables, events = told(rules, seed, agent)
        tricks = [event for event in events if isinstance(event, Trick)]
        plays = [event for event in events if isinstance(event, Play)]
        assert sum(len(play.cards.split()) for play in plays) == 4 * rules.hand_size
        assert [play for trick in tricks for play in trick.plays] == [(play.seat, play.cards) for play in plays]
        assert [trick.number for trick in tricks] == list(range(1, len(tricks) + 1))
        assert all(trick.plays[0][0] == before.winner for before, trick in pairwise(tricks))
        assert [play.leads for play in plays] == [True, False, False, False] * len(tricks)
        outcome = Outcome.of(tables)
        taken = sum(trick.points for trick in tricks if (trick.winner ^ outcome.dealer) & 1)
        assert taken + (2 * outcome.kitty_points if outcome.dug else 0) == outcome.score == tricks[-1].score
        assert sum(trick.points for trick in tricks) + outcome.kitty_points == 100 * rules.decks


def test_the_winner_told_is_the_rulebooks() -> None:
    tables, events = told(Rules.preset("dalian"), 11, Uniform())
    level, trump = int(tables.level[0]), "SHCD"[int(tables.trump[0])]
    for trick in (event for event in events if isinstance(event, Trick)):
        number = rulebook.trick_winner("dalian", level, trump, [cards for _, cards in trick.plays])
        assert trick.winner == trick.plays[number][0]


def test_every_kind_of_note_is_told() -> None:
    """Bids, tribute, return, kitty, burial, jokers and dry pots all occur, each with its clause."""
    notes = ""
    for seed in range(50):
        tables = deal(Rules.preset("dalian"), seed)
        narrator = Narrator(tables)
        events, ply = narrator.opening(), 0
        while tables.phase[0] < Phase.LEAD:
            events += narrator.advance(decide(JokerLover(bold=seed % 2 == 0), tables, seed, ply))
            ply += 1
        notes += "\n".join(event.text for event in events if isinstance(event, Note)) + "\n"
    for pattern in (
        r"Seat \d bids [SHCD] x\d", r"Seat \d shows a big joker \(R4\.2\)", r"the kitty was flipped, .* \(R4\.3\)",
        r"the bid of seat \d stands \(R4\.5\)",
        r"Seat \d gives .* to seat \d \(R5\.1\)", r"Seat \d returns .* \(R5\.4\)",
        r"The kitty is shown: .* \(R6\.1\)", r"Seat \d sees the kitty: .* \(R6\.1\)", r"A dry pot", r"Seat \d buries ",
        r"Seat \d puts [LB]J.* into the kitty, which is open now \(R6\.5\)", r"Seat \d picks up .* \(R6\.5\)",
    ):  # fmt: skip
        assert re.search(pattern, notes), pattern


@pytest.mark.parametrize("seat", range(4))
def test_a_seat_is_told_no_cards_that_it_cannot_see(seat: int) -> None:
    """Before play: what is told to a seat names only cards that are public, in its own hand, or that it gave away."""
    hidden = 0
    for seed in range(25):
        tables = deal(Rules.preset("dalian"), seed)
        narrator, ply = Narrator(tables, seat), 0
        narrator.opening()
        while tables.phase[0] < Phase.LEAD:
            before = tables.clone()
            action = decide(Uniform(), tables, seed, ply)
            for event in narrator.advance(action):
                assert isinstance(event, Note)
                secret_return = "return" in event.text and seat not in (tables.giver[0], tables.receiver[0])
                secret_burial = "bur" in event.text and seat != tables.dealer[0] and not tables.kitty_public[0]
                secret_kitty = "the kitty:" in event.text and seat != tables.dealer[0]
                hidden += secret_return + secret_burial
                assert not ((secret_return or secret_burial) and CARD.search(event.text)), event.text
                assert not secret_kitty, event.text
            ply += 1
            del before
    assert hidden > 5


def outcome(
    score: int, dug: bool, big: int, small: int, dry: bool, rules: str = "dalian", levels: tuple[int, int] = (3, 3)
) -> Outcome:
    """A row of R9's table, dealer seat 0, settled by the rulebook."""
    found = rulebook.settle(rules, score, dug, big, small, dry, levels, 0)
    return Outcome(
        rules=Rules.preset(rules), score=score, dug=dug, dealer=0, dry=dry, kitty="S4", kitty_points=0,
        big=big, small=small,
        levels=levels, gain=found.gain, next_levels=found.levels,
        next_dealer=-1 if found.next_dealer is None else found.next_dealer,
        blood=found.blood or 0, match_winner=-1 if found.match_winner is None else found.match_winner,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "sentences"),
    [
        (
            (40, False, 0, 0, False),
            ["S < 120: the dealers (seats 0 and 2) stay", "+1 for seats 0 and 2 (R9), 3 to 4",
             "seat 2, the dealer's partner (R9.1)", "owes 4 blood: 4 cards"],
        ),
        ((75, False, 0, 0, False), ["owes 1 blood: 1 card of tribute"]),
        ((80, False, 0, 0, False), ["No blood is owed"]),
        ((0, False, 0, 0, False), ["The match is over: seats 0 and 2 win it (S = 0, R9.4)"]),
        ((115, False, 1, 1, False), ["1 big joker and 1 small joker: J = 3", "+4 for seats 0 and 2", "owes 3 blood"]),
        ((115, False, 1, 1, True), ["a dry pot's jokers count for nothing (R6.6)", "+1 for seats 0 and 2"]),
        ((115, True, 1, 0, False), ["dig the kitty", "Nobody's level rises: dealers rise only by a guard"]),
        (
            (120, False, 0, 0, False),
            ["S >= 120: the attackers take the deal", "Nobody's level rises: attackers rise only by a dig",
             "seat 1, the dealer's next player"],
        ),
        ((120, True, 1, 1, False), ["+4 for seats 1 and 3 (R9), 3 to 3; a must-play level holds the rise (R9.2)"]),
        ((300, True, 0, 0, False), ["seats 1 and 3 win it (S >= 300, R9.4)"]),
        ((100, False, 3, 0, False), ["seats 0 and 2 win it (all jokers of a kind in the kitty, R9.5)"]),
        ((130, True, 0, 3, False), ["seats 1 and 3 win it (all jokers of a kind in the kitty, R9.5)"]),
        ((100, False, 3, 0, True), ["The next dealer is seat 2"]),
    ],
)  # fmt: skip
def test_settled_cases_are_explained(row: tuple[int, bool, int, int, bool], sentences: list[str]) -> None:
    text = "\n".join(explain(outcome(*row)))
    for sentence in sentences:
        assert sentence in text


def test_leaving_the_last_level_is_explained() -> None:
    text = "\n".join(explain(outcome(100, False, 0, 0, False, levels=(10, 3))))
    assert "seats 0 and 2 win it (they leave level T, R9.3)" in text


def test_card_order_is_strongest_first() -> None:
    tables = deal(Rules.preset("dalian"), 0)
    while tables.phase[0] < Phase.LEAD:
        Narrator(tables).advance(decide(Uniform(), tables, 0, 0))
    order = rulebook.strength_order("dalian", int(tables.level[0]), "SHCD"[int(tables.trump[0])])
    rank = {card: number for number, group in enumerate(order) for card in group}
    trumps = [rank[card] for card in cards_text(tables, 0, tables.planes[:, 0, HAND]).split() if rank[card] >= 11]
    assert trumps == sorted(trumps, reverse=True) and trumps


def test_demo_plays_and_explains_one_hand() -> None:
    run = gunzi("demo", "--seed", "5")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Four greedy bots play one hand of Da Gunzi (dalian, seed 5)")
    assert "decides: lead" in run.stdout and re.search(r"S (<|>=) 120: the ", run.stdout)
    assert "\x1b" not in run.stdout
    assert run.stdout == gunzi("demo", "--seed", "5").stdout


def test_demo_on_a_terminal_without_the_signs() -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    run = subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", "demo", "--agent", "uniform"],
        capture_output=True, env=environment, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert run.returncode == 0 and run.stdout.isascii(), run.stderr
    assert re.search(rb"  1  \d: (?:[SHCD]|[LB]J)", run.stdout)


def test_demo_and_replay_show_the_same_hand(tmp_path: Path) -> None:
    file = tmp_path / "hand.txt"
    shown = gunzi("demo", "--seed", "6", "--agent", "uniform", "--rules", "four_deck", "--record", str(file))
    again = gunzi("replay", str(file))
    assert shown.returncode == again.returncode == 0, shown.stderr + again.stderr
    hand = shown.stdout.partition("\nNew hand")[2]
    assert hand and hand == again.stdout.partition("\nNew hand")[2]


def test_replay_of_a_hand_without_end(tmp_path: Path) -> None:
    file = tmp_path / "hand.txt"
    gunzi("demo", "--seed", "6", "--agent", "uniform", "--record", str(file))
    file.write_text("\n".join(file.read_text().splitlines()[:60]) + "\n")
    run = gunzi("replay", str(file))
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("The record ends here, before the end of the hand.\n")


def corrupted(text: str, fault: str) -> bytes:
    lines = text.splitlines()
    first = next(number for number, line in enumerate(lines) if re.match(r"\d ", line))
    if fault == "wrong seat":
        lines[first] = str((int(lines[first][0]) + 1) % 4) + lines[first][1:]
    elif fault == "unreadable action":
        lines[first] = lines[first][:2] + "S1"
    elif fault == "illegal action":
        lines[first] = lines[first][:2] + "bid BJ:H"
    elif fault == "other result":
        lines[-1] = "result 5 dug 9-9"
    elif fault == "no record":
        lines = lines[1:]
    elif fault == "no hands":
        lines = lines[:2]
    elif fault == "short deal":
        lines = [line.removesuffix(line[-3:]) if line.startswith("deal") else line for line in lines]
    return b"\xff\xfe\x00" if fault == "binary" else ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(
    "fault",
    [
        "wrong seat",
        "unreadable action",
        "illegal action",
        "other result",
        "no record",
        "no hands",
        "short deal",
        "binary",
    ],
)
def test_bad_records_are_refused_in_one_line(fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gunzi_env import cli

    tables = deal(Rules.preset("dalian"), 6)
    recorder = record.Recorder(tables.rules, ["uniform"] * 4)
    recorder.begin(tables)
    ply = 0
    while tables.phase[0] != Phase.OVER:
        action = decide(Uniform(), tables, 6, ply)
        recorder.note(tables, action)
        Narrator(tables).advance(action)
        ply += 1
    recorder.end(tables)
    file = tmp_path / "bad.txt"
    file.write_bytes(corrupted(recorder.text(), fault))
    assert cli.run("replay", cli.commands()["replay"], [str(file)]) == 3
    error = capsys.readouterr().err
    assert error.startswith(f"gunzi replay: {file}: ") and error.count("\n") == 1


def test_missing_records_and_hands_are_refused(tmp_path: Path) -> None:
    run = gunzi("replay", str(tmp_path / "none.txt"))
    assert (run.returncode, run.stderr.count("\n")) == (3, 1) and "none.txt: No such file" in run.stderr
    run = gunzi("replay", str(tmp_path))
    assert (run.returncode, run.stderr.count("\n")) == (3, 1)
    file = tmp_path / "hand.txt"
    gunzi("demo", "--agent", "uniform", "--record", str(file))
    run = gunzi("replay", str(file), "--hand", "1")
    assert run.returncode == 2 and "--hand is 1, the record has hands 0 to 0" in run.stderr


def test_notes_are_painted_as_cards() -> None:
    painter = Painter(colour=False, symbols=True)
    assert painter.event(Note("Seat 1 gives LJ S5 to seat 2 (R5.1); S = 5, bids H x2")) == (
        "Seat 1 gives lj ♠5 to seat 2 (R5.1); S = 5, bids H x2"
    )
    assert "\x1b[31m" in Painter(colour=True, symbols=True).cards("H9")
    assert Painter(colour=False, symbols=False).cards("H9 LJ") == "H9 LJ"


def test_a_record_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "hand.txt"
    assert gunzi("demo", "--record", str(file)).returncode == 0
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert gunzi("replay", str(file)).returncode == 0
