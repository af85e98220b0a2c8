"""What people see of a hand: the narration, the explained result, the demo and replays."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents.base import Agent
from gunzi_agents.playing import decide
from gunzi_agents.uniform import Uniform
from gunzi_env import observe, record, rulebook
from gunzi_env.cards import rank_name
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, Phase, Tables
from gunzi_eval.commands.demo import deal
from gunzi_eval.table.narrator import Event, Message, Narrator, Play, Trick
from gunzi_eval.table.outcome import HandSummary, cards_text
from gunzi_eval.table.terminal import Painter, hand_lines
from tests.rules.game import placed

DALIAN = Rules.preset("dalian")
CARD = re.compile(r"\b(?:[SHCD][2-9TJQKA]|LJ|BJ)\b")


def gunzi(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", *arguments],
        capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
    )  # fmt: skip


class JokerLover(Agent):
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
        outcome = HandSummary.of(tables)
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
        notes += "\n".join(event.text for event in events if isinstance(event, Message)) + "\n"
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
                assert isinstance(event, Message)
                secret_return = "return" in event.text and seat not in (tables.giver[0], tables.receiver[0])
                secret_burial = "bur" in event.text and seat != tables.dealer[0] and not tables.kitty_public[0]
                secret_kitty = "the kitty:" in event.text and seat != tables.dealer[0]
                hidden += secret_return + secret_burial
                assert not ((secret_return or secret_burial) and CARD.search(event.text)), event.text
                assert not secret_kitty, event.text
            ply += 1
            del before
    assert hidden > 5


EXEMPTED = ["SA S4 H6 C6 HK HQ", "C6 C7 C8 C9 C4 C5", "D4 D5 D8 D9 DJ DQ", "H4 H8 H9 SJ SQ HA"]


@pytest.mark.parametrize("viewer", [None, 0, 1, 2, 3])
@pytest.mark.parametrize(("holder", "what"), [(3, "the tribute is turned round"), (1, "there is no tribute")])
def test_an_exemption_is_told_to_all(viewer: int | None, holder: int, what: str) -> None:
    """R5.5: the jokers are shown to everybody; the cards of a tribute turned round are given by R5.5."""
    hands = EXEMPTED.copy()
    hands[holder] = f"BJ BJ BJ BJ {hands[holder][-5:]}"
    fields = {"blood": 2, "kitty_cards": "S7 H7 C7 D7 S8 H8 C7 D7"}
    game = placed("four_deck", hands=hands, phase="tribute", **fields)
    narrator = Narrator(game.t, viewer)
    events = narrator.opening()
    while game.t.phase[0] < Phase.BURY:
        events += narrator.advance(int(np.flatnonzero(game.t.actions.unpack(game.t.legal)[0])[0]))
    notes = [event.text for event in events if isinstance(event, Message)]
    (shows,) = [note for note in notes if "R5.5" in note and "joker" in note]
    assert shows.endswith(f" all big jokers: {what} (R5.5).") and shows.startswith(
        "You show" if viewer == holder else f"Seat {holder}"
    )
    gives = [note for note in notes if re.search(r" gives? ", note)]
    assert ["(R5.5)" in note for note in gives] == [True] * (holder == 3)
    assert any("The kitty is shown: S7 H7 C7 D7 S8 H8 C7 D7 (R6.1)." in note for note in notes)


def test_an_exemption_is_told_when_the_bidding_ends() -> None:
    """R5.5 after a bid, and not without blood or without the rule."""
    hands = ["S3 SA HA DA C6", "C4 C5 C9 CT CJ", "D4 D5 D6 D9 DT", "BJ BJ BJ BJ H4"]
    bidding = {"phase": "bid", "bid": "1xS", "bidder": 0, "seat": 3, "passes": 3, "kitty_cards": "S7 H7 C7 D7"}
    four = Rules.preset("four_deck")
    for rules, blood, told_of in [
        (four, 2, True),
        (four, 0, False),
        (dataclasses.replace(four, anti_tribute=False), 2, False),
    ]:
        game = placed(rules, hands=hands, blood=blood, **bidding)
        events = Narrator(game.t).advance(game.t.actions.PASS)
        notes = [event.text for event in events if isinstance(event, Message)]
        assert ("Seat 3 shows all big jokers: the tribute is turned round (R5.5)." in notes) is told_of


@pytest.mark.parametrize(
    ("rules", "level", "title"),
    [
        (DALIAN, 3, "S, 2s, 3s, jokers"),
        (dataclasses.replace(DALIAN, mixed_trump_rank=7), 3, "S, 2s, 7s, 3s, jokers"),
        (dataclasses.replace(DALIAN, mixed_trump_rank=7), 7, "S, 2s, 7s, jokers"),
        (dataclasses.replace(DALIAN, mixed_trump_rank=12), 10, "S, 2s, Qs, Ts, jokers"),
    ],
)
def test_before_trumps_are_known_the_title_names_what_stands_there(rules: Rules, level: int, title: str) -> None:
    """R2.2, R2.6: cards that are trumps in any case."""
    hand = f"S4 H2 H7 HQ H{rank_name(level)} BJ H9"
    table = placed(rules, hands=[hand, "", "", ""], phase="bid", level=level).t
    first, *others = hand_lines(observe.view(table), Painter(colour=False, symbols=False))
    assert first.startswith(f"  {title}  ")
    ranks = {token[1] for token in first.removeprefix(f"  {title}").split() if token[0] == "H"}
    assert ranks == {name[0] for name in title.split(", ")[1:-1]}
    assert "H9" in others[0]


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
    assert painter.event(Message("Seat 1 gives LJ S5 to seat 2 (R5.1); S = 5, bids H x2")) == (
        "Seat 1 gives lj ♠5 to seat 2 (R5.1); S = 5, bids H x2"
    )
    assert "\x1b[31m" in Painter(colour=True, symbols=True).cards("H9")
    assert Painter(colour=False, symbols=False).cards("H9 LJ") == "H9 LJ"


def test_a_record_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    file = tmp_path / "hand.txt"
    assert gunzi("demo", "--record", str(file)).returncode == 0
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert gunzi("replay", str(file)).returncode == 0
