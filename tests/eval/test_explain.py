"""Bots asked about recorded decisions: what is asked, what they answer, and what is refused."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents import registry
from gunzi_agents.expert import Expert
from gunzi_agents.search import SEARCHED, Budget, Search
from gunzi_agents.uniform import Uniform
from gunzi_env import cli, engine, record
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase
from gunzi_eval.commands import demo, explain, play, replay
from gunzi_eval.commands.explain import Decision, decisions, position_lines
from gunzi_eval.table import analysis, records
from gunzi_eval.table.terminal import Painter

PLAIN = Painter(colour=False, symbols=False)


def run(*arguments: str) -> int:
    return cli.guarded("gunzi explain", lambda: explain.main(list(arguments)))


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hand of uniform bots, with tribute and jokers buried."""
    path = tmp_path_factory.mktemp("records") / "hand.txt"
    demo.main(["--seed", "15", "--agent", "uniform", "--record", str(path)])
    return path


@pytest.fixture(scope="module")
def hand(file: Path) -> list[Decision]:
    return decisions(records.read(file), file)[0]


def first(hand: list[Decision], *phases: Phase) -> Decision:
    """The first decision of some phases in the play's middle, with a choice."""
    return next(d for d in hand if d.tables.phase[0] in phases and d.tables.actions.count(d.tables.legal)[0] > 3)


def test_a_decision_is_shown_from_its_seats_view(
    file: Path, hand: list[Decision], capsys: pytest.CaptureFixture[str]
) -> None:
    decision = first(hand[60:], Phase.FOLLOW)
    assert run(str(file), "--ply", str(decision.ply), "--agents", "greedy", "expert") == 0
    said = capsys.readouterr().out
    assert f"hand 0, ply {decision.ply}: seat {decision.seat}, follow" in said
    assert f"played: {decision.name()}" in said and "greedy: " in said and "worth in its own measure" in said
    hands = [line for line in said.splitlines() if re.match(r"[ >][0-3][ D] ", line)]
    assert [bool(re.search(r"\d+ cards", line)) for line in hands] == [seat != decision.seat for seat in range(4)]


def test_plies_are_those_of_replay_and_of_records(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(file), "--plies"]) == 0
    shown = re.findall(r"^ +(\d+)  seat (\d): (.*)$", capsys.readouterr().out, re.M)
    moves = records.read(file).hands[0].moves
    assert shown == [(str(ply), str(seat), action) for ply, (seat, action) in enumerate(moves)]
    assert run(str(file), "--ply", "77") == 0
    seat, action = moves[77]
    said = capsys.readouterr().out
    assert f"hand 0, ply 77: seat {seat}, " in said and f"played: {action}" in said
    wrong = file.read_text().replace(f"\n{seat} {action}\n", f"\n{(seat + 1) % 4} {action}\n")
    with pytest.raises(record.RecordError, match=r"^ply (\d+): ") as refused:
        record.replay(wrong)
    ply = int(re.findall(r"\d+", str(refused.value))[0])
    assert moves[ply][1] == action and (moves[ply][0] + 1) % 4 != moves[ply][0]


def test_what_plays_have_proved_is_said(hand: list[Decision]) -> None:
    """R7.3: a void is told by the seat that showed it, whoever looks."""
    for decision in hand:
        if decision.tables.phase[0] not in (Phase.LEAD, Phase.FOLLOW):
            continue
        said = next((line for line in position_lines(decision.tables, PLAIN) if line.startswith(" out of")), "")
        told = {int(seat): len(suits.split(", ")) for seat, suits in re.findall(r"seat (\d): ([SHCDT, ]+)", said)}
        proved = decision.tables.void[0].sum(axis=1)
        assert told == {seat: int(proved[seat]) for seat in np.flatnonzero(proved)}
    assert said


def test_cards_set_aside_in_a_half_made_play_are_said(hand: list[Decision]) -> None:
    """Between the units of one play: what was named so far, and how much is owed."""
    units = [(a, b) for a, b in pairwise(hand) if a.seat == b.seat and a.phase == b.phase == "follow"]
    assert units
    for named, then in units:
        said = "\n".join(position_lines(then.tables, PLAIN))
        (cards, owed) = re.findall(r"^ set aside: (.*), (\d+) to name$", said, re.M)[0]
        assert set(named.name().split()) <= set(cards.split())
        assert len(cards.split()) + int(owed) == then.tables.led_count[0]


def test_a_bot_finds_its_own_moves(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The keys are those that were played by, so that even a bot of chance answers as it did."""
    assert run(str(file), "--agents", "uniform", "expert", "--json", str(tmp_path / "table.json")) == 0
    said = capsys.readouterr().out
    assert re.search(r"decisions with a choice; different choices: uniform 0, expert [1-9]", said)
    content = json.loads((tmp_path / "table.json").read_text())
    rows = content["decisions"]
    assert len(rows) == int(re.findall(r"expert (\d+)", said)[0]) < content["asked"]
    assert all(set(row["otherwise"]) == {"expert"} for row in rows)
    moves = records.read(file).hands[0].moves
    assert all((row["seat"], row["played"]) == moves[row["ply"]] for row in rows)
    better = [row["otherwise"]["expert"]["better"] for row in rows if row["phase"] in ("lead", "follow")]
    assert better and min(better) >= 0
    assert run(str(file), "--agents", "uniform", "--seed", "16") == 0
    assert not capsys.readouterr().out.partition("different choices: ")[2].startswith("uniform 0")


def test_the_table_and_the_single_decision_agree(file: Path, tmp_path: Path) -> None:
    assert run(str(file), "--agents", "expert", "--json", str(tmp_path / "table.json")) == 0
    rows = [row for row in json.loads((tmp_path / "table.json").read_text())["decisions"] if row["phase"] == "follow"]
    for row in rows[:4]:
        one = tmp_path / "one.json"
        assert run(str(file), "--ply", str(row["ply"]), "--agents", "expert", "--json", str(one)) == 0
        content = json.loads(one.read_text())
        (found,) = content["agents"]
        assert content["played"] == row["played"] and found["choice"] == row["otherwise"]["expert"]["choice"]
        worth = {option["action"]: option["mean"] for option in found["options"]}
        assert worth[found["choice"]] == max(worth.values())
        gap = worth[found["choice"]] - worth[content["played"]]
        assert gap == pytest.approx(row["otherwise"]["expert"]["better"], abs=1e-4)


def test_hands_of_a_match_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "match.txt"
    session = play.Session(play.PlayOptions(against="uniform", seed=3), Rules.preset("dalian"), 3)
    session.players[session.seat] = session.adviser
    session.play(2)
    path.write_text(session.recorder.text())
    capsys.readouterr()
    assert run(str(path), "--ply", "3") == 2
    assert "--ply 3: --hand is missing, allowed are 0 to 1" in capsys.readouterr().err
    assert run(str(path), "--hand", "1", "--agents", "uniform") == 0
    assert "different choices: uniform 0" in capsys.readouterr().out
    number = len(records.read(path).hands[1].moves)
    assert run(str(path), "--hand", "1", "--ply", str(number)) == 2
    assert f"--ply is {number}, allowed are 0 to {number - 1}" in capsys.readouterr().err


def test_what_cannot_be_asked_is_refused_in_one_line(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_text(re.sub(r"^deal \S+", "deal XX", file.read_text(), flags=re.M))
    for arguments, code, complaint in [
        ([str(file), "--ply", "-1"], 2, "--ply is -1, allowed are 0 to "),
        ([str(file), "--ply", "1000"], 2, "--ply is 1000, allowed are 0 to "),
        ([str(file), "--hand", "1"], 2, "--hand is 1, the record has hands 0 to 0"),
        ([str(file), "--agents", "nobody"], 2, "unknown agent 'nobody'"),
        ([str(file), "--agents", "runs/nowhere"], 3, "no run folder or checkpoint"),
        ([str(file), "--json", str(tmp_path / "no" / "where.json")], 2, "--json"),
        ([str(tmp_path / "none.txt")], 3, "No such file"),
        ([str(bad)], 3, f"{bad}: line "),
        ([""], 2, "the name of the record is empty"),
    ]:
        assert run(*arguments) == code, arguments
        error = capsys.readouterr().err
        assert complaint in error and error.count("\n") == 1, error


# What bots think --------------------------------------------------------------------------------------


def test_a_search_says_what_its_candidates_gained(hand: list[Decision]) -> None:
    decision = first(hand[-30:], *SEARCHED)
    search = Search(Expert(), Budget(worlds=16, candidates=3))
    found = analysis.analyse(search, decision.tables, np.array([decision.key]), decision.action)
    assert found.measure == "levels gained over expert's own move"
    own = [option for option in found.values if not option.worlds]
    assert [option.value.mean for option in own] == [0.0]
    for option in found.values:
        if option.worlds:
            assert option.worlds in (8, 16)
            assert option.value.low is not None and option.value.high is not None
            assert option.value.low <= option.value.mean <= option.value.high
    assert any(option.worlds for option in found.values)
    said = "\n".join(explain.analysis_lines(decision, found))
    assert re.search(r"\[[-+]\d\.\d\d, [-+]\d\.\d\d\] in (8|16) worlds", said)


def test_a_weighing_is_what_the_search_plays_by(hand: list[Decision]) -> None:
    """Means are those of the worlds in which a candidate was played, also where it was given up after the first."""
    picked = [d for d in hand[-40:] if d.tables.actions.count(d.tables.legal)[0] > 1][:6]
    search = Search(Expert(), Budget(worlds=16, candidates=4, confidence=0.5))
    for decision in picked:
        tables, keys = decision.tables, np.array([decision.key])
        view, legal = explain.observe.view(tables), tables.actions.unpack(tables.legal)
        found = search.weigh(view, legal, keys)
        assert found.choice == search.act(view, legal, keys)
        assert found.choice[0] in found.candidates[0]
        there = found.candidates[0, 1:] >= 0
        assert (found.worlds[0, 1:][there] > 0).all() == (tables.phase[0] in SEARCHED)
        assert not found.gains[0, 0] and not found.errors[0, 0]
        # A search that gives up nothing plays the first 8 worlds alike.
        if (found.worlds[0, 1:][there] == 8).any():
            short = Search(Expert(), Budget(worlds=8, candidates=4)).weigh(view, legal, keys)
            same = found.worlds[0] == 8
            assert np.allclose(found.gains[0, same], short.gains[0, same])


def test_a_bot_that_cannot_say_or_thinks_nothing_has_a_choice_only(hand: list[Decision]) -> None:
    for agent, decision in ((Uniform(), first(hand, Phase.LEAD)), (Expert(), first(hand, Phase.BURY))):
        found = analysis.analyse(agent, decision.tables, np.array([decision.key]), decision.action)
        assert found.values == () and decision.tables.actions.unpack(decision.tables.legal)[0, found.choice]


def test_a_network_gives_its_probabilities(hand: list[Decision]) -> None:
    torch = pytest.importorskip("torch")
    from gunzi_agents.networks import ActorCritic, Shape
    from gunzi_agents.neural import NeuralAgent
    from gunzi_env.observe import size

    rules = hand[0].tables.rules
    torch.manual_seed(0)
    shape = Shape(inputs=size(rules), actions=hand[0].tables.actions.n, width=32, depth=2)
    agent = NeuralAgent(ActorCritic(shape), rules, "net")
    decision = first(hand[40:], Phase.FOLLOW)
    found = analysis.analyse(agent, decision.tables, np.array([decision.key]), decision.action)
    assert found.measure == "probability" and found.values[0].action == found.choice
    assert decision.action in [option.action for option in found.values]
    legal = decision.tables.actions.unpack(decision.tables.legal)
    chances = agent.probabilities(explain.observe.view(decision.tables), legal)
    assert chances.dtype == np.float32 and chances[~legal].max() == 0 and chances.sum() == pytest.approx(1, abs=1e-5)


def test_a_bot_that_plays_what_is_illegal_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Wrong(Uniform):
        name = "wrong"

        def act(self, view: object, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
            return np.asarray(legal.argmin(axis=1), np.int32)

    monkeypatch.setattr(registry, "make", lambda spec, rules: Wrong())
    assert run(str(file), "--ply", "50", "--agents", "wrong") == 2
    assert "agent 'wrong' returned the illegal action" in capsys.readouterr().err


def test_decisions_are_the_tables_before_them(hand: list[Decision]) -> None:
    for before, after in zip(hand[:-1:20], hand[1::20]):
        tables = before.tables.clone()
        engine.step(tables, np.array([before.action]))
        assert tables == after.tables
