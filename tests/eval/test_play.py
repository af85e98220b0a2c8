"""Playing in the terminal: whole plays as text, refusals with reasons, scripts through a pipe."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gunzi_agents.playing import decide
from gunzi_agents.uniform import Uniform
from gunzi_env import engine, position, record
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables
from gunzi_eval.commands import play
from gunzi_eval.commands.demo import deal
from gunzi_eval.commands.play import PlayConfig, Quit, Session, question
from gunzi_eval.table.human_input import CHOICES, Refused, _tried, actions_of, legal_names


def gunzi(*arguments: str, script: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gunzi_env.cli", "play", *arguments],
        capture_output=True, text=True, timeout=120, input=script,
    )  # fmt: skip


def lead_position(hand: str, trick: tuple[str, ...] = (), leader: int = 0, rules: str = "dalian") -> Tables:
    """Seat 0 to play from ``hand``, level 3, spades trumps; the other hands are of other cards."""
    number = len(hand.split())
    others = ["C4 C4 C4 C5 C5 C5", "D4 D4 D4 D5 D5 D5", "C6 C6 C6 C7 C7 C7"]
    hands = [hand, *(" ".join(other.split()[:number]) for other in others)]
    for place, cards in enumerate(trick):
        seat = (leader + place) % 4
        hands[seat] = " ".join(hands[seat].split()[: number - len(cards.split())])
    return position.setup(rules, hands=hands, trick=trick, leader=leader, trump="S", level=3)


def played(tables: Tables, text: str) -> str:
    """The actions of an answer by name."""
    return " / ".join(tables.actions.name(action, 3, 0) for action in actions_of(tables, text))


def test_leads_are_one_shape() -> None:
    tables = lead_position("H9 H9 HT S4")
    assert played(tables, "h9 H9") == "H9 H9"
    for text, reason in [
        ("H9 HT", "one card or several identical ones (R3.1, R7.2)"),
        ("H9 H9 H9", "H9: you hold 2, you named 3"),
        ("DA", "DA: you hold none, you named 1"),
        ("H1", "unknown card 'H1'"),
        ("H9 H9 H9 H9", "4 copies of H9"),
        ("pass", "you cannot pass here"),
    ]:
        with pytest.raises(Refused) as refused:
            actions_of(tables, text)
        assert reason in str(refused.value)


def test_follows_are_named_whole_in_any_order() -> None:
    tables = lead_position("H9 HT H9 HJ", trick=("HK HK HK",), leader=3)
    assert played(tables, "HT H9 H9") == played(tables, "H9 HT H9") == "H9 H9 / HT"
    for text, reason in [
        ("H9 H9", "name 3 cards, not 2"),
        ("H9 H9 H9", "H9: you hold 2"),
        ("", "name the cards to play"),
    ]:
        with pytest.raises(Refused, match=reason):
            actions_of(tables, text)


def test_suit_duty_is_explained() -> None:
    tables = lead_position("H9 HT D9 DT", trick=("HK",), leader=3)
    with pytest.raises(Refused, match=r"hearts was led and you hold 2: play 1 of them \(R7.3\)"):
        actions_of(tables, "D9")
    trumps = lead_position("S9 ST D9 DT", trick=("SK",), leader=3)
    with pytest.raises(Refused, match=r"trump was led and you hold 2"):
        actions_of(trumps, "D9")


def test_dead_following_is_explained() -> None:
    tables = lead_position("H9 H9 HT HJ", trick=("HK HK",), leader=3, rules="dalian_dead")
    assert played(tables, "H9 H9") == "H9 H9"
    with pytest.raises(Refused, match=r"the shape binds too \(R7.5\)"):
        actions_of(tables, "H9 HT")
    assert played(lead_position("H9 H9 HT HJ", trick=("HK HK",), leader=3), "H9 HT") == "HT / H9"


def test_forced_cards_may_be_named_or_left_out() -> None:
    tables = lead_position("H9 D9 DT DJ", trick=("HK HK",), leader=3)
    assert "name 1 card (H9 in any case)" in question(tables)
    assert played(tables, "DT") == played(tables, "DT H9") == "DT"
    with pytest.raises(Refused, match=r"name 1 card \(or all 2 with H9\), not 3"):
        actions_of(tables, "DT H9 D9")
    with pytest.raises(Refused, match=r"name 1 card \(or all 2 with H9\), not 2"):
        actions_of(tables, "DT D9")


@pytest.mark.parametrize("preset", Rules.presets())
def test_every_phase_is_answered_as_the_bot_acts(preset: str) -> None:
    """Random hands: the cards a bot names one by one are, typed at once in any order, the same actions."""
    rng, rules, phases = np.random.default_rng(5), Rules.preset(preset), set()
    for seed in range(12):
        tables, ply = deal(rules, seed), 0
        while tables.phase[0] < Phase.LEAD or (seed < 2 and tables.phase[0] != Phase.OVER):
            phase, seat, names, actions = int(tables.phase[0]), int(tables.seat[0]), [], []
            before, owed = tables.clone(), int(tables.need[0])
            while True:
                action = decide(Uniform(), tables, seed, ply)
                ply += 1
                names.append(tables.actions.name(action, int(tables.level[0]), tables.trump_or_provisional(0)))
                actions.append(action)
                engine.step(tables, np.array([action]))
                owed -= len(names[-1].split())
                if phase == Phase.JOKERS:
                    if names[-1] == "pass" or (tables.phase[0], tables.seat[0]) != (phase, seat):
                        break
                elif owed <= 0 or phase in (Phase.SHOW, Phase.BID, Phase.LEAD):
                    break
            cards = " ".join(name for name in names if name != "pass").split() or ["pass"]
            if phase > Phase.BID:
                rng.shuffle(cards)
            assert actions_of(before, " ".join(cards)) == actions, (seed, ply, names)
            phases.add(phase)
    assert phases >= {Phase.BID, Phase.TRIBUTE, Phase.RETURN, Phase.BURY, Phase.JOKERS, Phase.LEAD, Phase.FOLLOW}


def at_phase(phase: Phase) -> Tables:
    """A table that has just come to a phase."""
    for seed in range(200):
        tables, ply = deal(Rules.preset("dalian"), seed), 0
        while tables.phase[0] < phase:
            engine.step(tables, np.array([decide(Uniform(), tables, seed, ply)]))
            ply += 1
        if tables.phase[0] == phase:
            return tables
    raise AssertionError(f"{phase} was not reached")


def test_bids_are_words() -> None:
    tables = at_phase(Phase.BID)
    bid = next(name for name in legal_names(tables) if name != "pass")
    assert actions_of(tables, bid) == actions_of(tables, bid.removeprefix("bid "))
    assert actions_of(tables, "PASS") == [tables.actions.PASS]
    for text in ("bid BJ:H", "bid Q x2", "what", "S3", "show"):
        with pytest.raises(Refused, match=r"answer .*pass"):
            actions_of(tables, text)


def test_burials_and_jokers_are_explained() -> None:
    for seed in range(300):
        tables, ply = deal(Rules.preset("dalian"), seed), 0
        while tables.phase[0] < Phase.BURY:
            engine.step(tables, np.array([decide(Uniform(), tables, seed, ply)]))
            ply += 1
        hand = tables.planes[0, 0, 1 + int(tables.seat[0])]
        if tables.phase[0] == Phase.BURY and int(hand) >> 52 == 3:
            break
    names = [name for name in legal_names(tables) if name != "BJ"]
    with pytest.raises(Refused, match="name 6 cards, not 1"):
        actions_of(tables, names[0])
    low = " ".join(sorted(set(names))[:5])
    with pytest.raises(Refused, match=r"a small joker may be buried only when all your big jokers are \(R6.3\)"):
        actions_of(tables, f"LJ {low}")


ONE_PICKABLE = {"hands": ["S4 BJ", "BJ BJ", "H9 C8", "D9 DT"], "kitty_cards": "H4 HK HT H5 C5 C5"}


def test_no_more_jokers_are_put_in_than_the_kitty_takes() -> None:
    """R6.5: one card may be picked up. The second joker named would be played by whoever is asked next."""
    tables = position.setup(phase="jokers", seat=1, **ONE_PICKABLE)
    with pytest.raises(Refused, match=r"the kitty takes only 1 joker \(R6.5\), you named 2"):
        actions_of(tables, "BJ BJ")
    mixed = position.setup(phase="jokers", seat=1, **ONE_PICKABLE | {"hands": ["S4 BJ", "BJ H9", "H9 C8", "D9 DT"]})
    with pytest.raises(Refused, match="only jokers go into the kitty"):
        actions_of(mixed, "BJ H9")
    assert played(tables, "BJ") == "BJ"


@pytest.mark.parametrize("phase", [*CHOICES, Phase.JOKERS, Phase.FOLLOW])
def test_an_answer_answers_one_question(phase: Phase) -> None:
    """Actions that go on to the next question, another seat's or another phase's, are refused, legal as they are."""
    tables, ply = at_phase(phase), 0
    trial, actions = tables.clone(), []
    while (trial.phase[0], trial.seat[0]) == (phase, tables.seat[0]):
        actions.append(decide(Uniform(), trial, 1, ply))
        engine.step(trial, np.array([actions[-1]]))
        ply += 1
    assert _tried(tables, phase, actions) == actions
    with pytest.raises(Refused):
        _tried(tables, phase, [*actions, decide(Uniform(), trial, 1, ply)])


def test_the_question_says_who_owes() -> None:
    """R5.1: the previous player owes; R5.5: in a reversed tribute the dealer gives, and owes nothing."""
    hands = ["HA DA C6 HK", "C4 C5 C9 CT", "D4 D5 D6 D9", "HA DA H6 H9"]
    owes = position.setup("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards="H4 C7 D7 D8")
    assert (owes.seat[0], question(owes)[:17]) == (3, "You owe tribute; ")
    hands[3] = "BJ BJ BJ BJ"
    turned = position.setup("four_deck", hands=hands, phase="tribute", blood=1, kitty_cards="H4 C7 D7 D8")
    assert turned.seat[0] == 0
    assert question(turned).startswith("The tribute is turned round and you give it (R5.5); between equals you choose")


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase != Phase.OVER])
def test_every_phase_has_its_question(phase: Phase) -> None:
    assert question(at_phase(phase)).strip()


def test_a_whole_hand_with_the_bots_hints(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A player who types what the bot proposes plays through every phase to the explained result."""
    rules = Rules.preset("dalian")
    session = Session(PlayConfig(against="uniform", seed=3), rules, seed=3)
    monkeypatch.setattr("builtins.input", lambda prompt: session._hint())
    session.play(2)
    out = capsys.readouterr().out
    assert out.count("The next dealer is") + out.count("The match is over") == 2
    assert "you lead " in out and "seat 2 (partner) plays " in out and "no: " not in out
    assert record.replay(session.recorder.text()).hash64() == session.tables.hash64()


def test_leaving_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(PlayConfig(against="uniform", seed=3), Rules.preset("dalian"), seed=3)
    monkeypatch.setattr("builtins.input", lambda prompt: "quit")
    with pytest.raises(Quit):
        session.play(1)


def test_a_script_through_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    run = gunzi(
        "--against", "uniform", "--seed", "3", "--hands", "1", "--record", str(file),
        script="help\n\nhand\nhint\nnonsense\nquit\n",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Da Gunzi, rules dalian, seed 3: you are seat 0, your partner seat 2.\n")
    assert "uniform would answer: " in run.stdout and "  no: unknown card 'NONSENSE'" in run.stdout.replace(
        "nonsense", "NONSENSE"
    )
    assert run.stdout.count("  trump  ") == 2 and run.stdout.rstrip().endswith(f"recorded in {file}")
    assert "You leave the table." in run.stdout
    assert record.parse(file.read_text()).players == ("human", "uniform", "uniform", "uniform")


def test_the_end_of_input_is_a_clean_end() -> None:
    run = gunzi("--against", "uniform", "--seed", "3")
    assert run.returncode == 0, run.stderr
    assert "You leave the table." in run.stdout and "Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "names"),
    [
        (["--seat", "4"], 2, "--seat is 4, allowed are 0 to 3"),
        (["--hands", "-1"], 2, "--hands is -1"),
        (["--against", "gredy"], 2, "unknown agent 'gredy'"),
        (["--partner", "runs/none"], 3, "runs/none"),
        (["--seed", "-3"], 2, "--seed is -3"),
        (["--record", "no/folder/x"], 2, "no/folder/x"),
        (["--rules", "nope.toml"], 2, "nope.toml"),
    ],
)
def test_bad_settings_are_one_line(arguments: list[str], code: int, names: str) -> None:
    run = gunzi(*arguments)
    assert (run.returncode, run.stderr.count("\n")) == (code, 1), run.stderr
    assert run.stderr.startswith("gunzi play: ") and names in run.stderr


def test_ctrl_c_leaves_the_record(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answers = iter(["hint", "hand"])

    def answer(prompt: str) -> str:
        for text in answers:
            return text
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", answer)
    file = tmp_path / "game.txt"
    with pytest.raises(KeyboardInterrupt):  # which the dispatcher turns into 130
        play.main(["--seed", "7", "--record", str(file)])
    game = record.parse(file.read_text())
    assert len(game.hands) == 1 and not game.hands[0].result
