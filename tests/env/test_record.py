"""Records: written, read, and played again to the same states; and what is no record is refused."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from gunzi_env import engine, record
from gunzi_env.chapters.deal import deck_of_draw, draw_of_deck
from gunzi_env.planes import bits
from gunzi_env.record import HandRecord, Record, Recorder, RecordError, parse, replay, replay_hand, write
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.rules import Rules
from gunzi_env.tables import NOBODY, Phase, Tables
from tests.rules.game import Game, dealt, deck

CUSTOM = dataclasses.replace(
    Rules.preset("four_deck"),
    take=150,
    mixed_trump_rank=7,
    must_play=(3, 6, 10),
    dry_pot=None,
    jokers_end_match=("small",),
)


def random_action(t: Tables, rng: np.random.Generator) -> int:
    total = int(bits(t.legal).sum())
    return int(t.actions.pick(t.legal, np.array([int(rng.integers(total))]))[0])


def play_hand(
    t: Tables, recorder: Recorder, rng: np.random.Generator, hash_of: Callable[[Tables], int] = Tables.hash64
) -> list[int]:
    """Play a hand at random, recording it; the hash of every state."""
    recorder.begin(t)
    hashes = [hash_of(t)]
    while t.phase[0] != Phase.OVER:
        action = random_action(t, rng)
        recorder.note(t, action)
        engine.step(t, [action])
        hashes.append(hash_of(t))
    recorder.end(t)
    return hashes


def start(rules: Rules, seed: int) -> Tables:
    """A hand from the published distribution of starts."""
    t = Tables(rules, 1)
    engine.deal_hands(t, seed)
    return t


def one_hand(rules: Rules, seed: int) -> str:
    recorder = Recorder(rules, ("one", "two", "three", "four"))
    play_hand(start(rules, seed), recorder, np.random.default_rng(seed))
    return recorder.text()


def hashes_of(rules: Rules, hand: HandRecord) -> list[int]:
    return [t.hash64() for t, _ in replay_hand(rules, hand)]


def state(t: Tables) -> int:
    """A hash without what may be left over from the hand before until it is used again."""
    copy = t.clone()
    for name in ("giver", "receiver", "source", "choice", "last", "last_copies", "floor", "led_mask", "win_mask"):
        getattr(copy, name)[:] = 0
    return copy.hash64()


# Round trips -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["dalian", "four_deck"])
def test_a_whole_match_is_replayed_state_by_state(preset: str) -> None:
    rules = Rules.preset(preset)
    t = Tables(rules, 1)
    engine.reset(t, 21)
    recorder, rng = Recorder(rules, ("a", "b", "a", "b")), np.random.default_rng(5)
    hashes = []
    while True:
        hashes.append(play_hand(t, recorder, rng, state))
        if t.match_winner[0] != NOBODY:
            break
        engine.next_hand(t, ONE_TABLE)
    read = parse(recorder.text())
    assert read == recorder.record
    assert write(read) == recorder.text()
    assert len(read.hands) == len(hashes) > 1
    for hand, expected in zip(read.hands, hashes):
        assert [state(t) for t, _ in replay_hand(rules, hand)] == expected
    last = replay(recorder.text())
    assert last == replay(read) and state(last) == hashes[-1][-1]
    assert last.match_winner[0] == t.match_winner[0]


@pytest.mark.parametrize("rules", [*map(Rules.preset, Rules.presets()), CUSTOM], ids=lambda r: r.name)
@pytest.mark.parametrize("seed", range(3))
def test_hands_are_replayed_state_by_state(rules: Rules, seed: int) -> None:
    recorder = Recorder(rules)
    hashes = play_hand(start(rules, seed), recorder, np.random.default_rng(seed))
    read = parse(recorder.text())
    assert read == recorder.record and read.rules == rules
    assert hashes_of(rules, read.hands[0]) == hashes


def test_what_a_record_looks_like() -> None:
    game = dealt(draws={0: "BJ S4"}, kitty="H4 H5 H6 C7 C8 C9")
    recorder = Recorder(game.t.rules, ("greedy", "uniform, or not", "", "two\nlines"))
    recorder.begin(game.t)
    recorder.note(game.t, game.t.actions.SHOW)
    lines = recorder.text().splitlines()
    assert lines[0] == "gunzi record 1"
    assert lines[1] == f"rules dalian {Rules().digest}"
    assert lines[2] == "players greedy, uniform? or not, ?, two?lines"
    assert lines[3] == "hand 0 3-3 - 0"
    assert lines[4].startswith("key ") and lines[4].endswith(" 0 0")
    assert lines[5].startswith("deal BJ ") and len(lines[5].split()) == 163
    assert lines[5].endswith(" H4 H5 H6 C7 C8 C9")
    assert lines[6:] == ["0 show"]


def test_levels_dealer_and_blood() -> None:
    game = dealt(dealer=3, levels=(4, 7), blood=2)
    recorder = Recorder(game.t.rules)
    recorder.begin(game.t)
    assert "hand 0 4-7 3 2" in recorder.text().splitlines()
    t = replay(recorder.text())
    assert (t.levels[0].tolist(), t.level[0], t.dealer[0], t.blood[0]) == ([4, 7], 7, 3, 2)
    assert t.hash64() == game.t.hash64()


def test_redeals_are_replayed_from_the_key() -> None:
    """R4.7, R4.8: nobody bids, the kitty is all jokers; the record has the first deck alone."""
    game = dealt(dealer=1, levels=(3, 5), blood=3, kitty="BJ LJ BJ LJ BJ LJ")
    recorder = Recorder(game.t.rules)
    recorder.begin(game.t)
    while game.t.attempt[0] == 0:
        recorder.note(game.t, game.t.actions.PASS)
        game.play(f"{game.seat} pass")
    rng = np.random.default_rng(1)
    while game.phase != "over":
        action = random_action(game.t, rng)
        recorder.note(game.t, action)
        engine.step(game.t, [action])
    recorder.end(game.t)
    assert replay(recorder.text()).hash64() == game.t.hash64()


def test_a_prescribed_deal_that_is_dealt_again_at_once() -> None:
    """R4.8: all big jokers lie in the kitty, so that nobody is asked, and the kitty names no suit. The record has the
    deck that was given, not the one that its key would give."""
    game = dealt(kitty="BJ LJ BJ LJ BJ LJ")
    t = game.t
    draw = draw_of_deck(t.rules, deck(t.rules, first=0, kitty="BJ LJ BJ LJ BJ LJ"))
    assert (t.attempt[0], t.drawn[0] > 0) == (1, True)
    recorder = Recorder(t.rules)
    recorder.begin(t, draw=draw)
    assert record.begin(t, draw=draw).deck == deck_of_draw(draw[0])
    assert replay(recorder.text()).hash64() == t.hash64()
    rng = np.random.default_rng(1)
    while game.phase != "over":
        action = random_action(t, rng)
        recorder.note(t, action)
        engine.step(t, [action])
    recorder.end(t)
    assert replay(recorder.text()).hash64() == t.hash64()


def test_a_table_of_a_batch() -> None:
    """Table 2 of four is recorded alone."""
    t = Tables(Rules(), 4)
    engine.reset(t, 9)
    recorder, rng = Recorder(t.rules), np.random.default_rng(3)
    recorder.begin(t, 2)
    for _ in range(60):
        total = bits(t.legal).sum(axis=1)
        actions = t.actions.pick(t.legal, (rng.random(4) * total).astype(np.uint8))
        recorder.note(t, int(actions[2]), 2)
        engine.step(t, actions)
    assert replay(recorder.text()).hash64() == t.hash64(2)


def test_an_unfinished_record_stands_where_it_stops() -> None:
    lines = one_hand(Rules(), 4).splitlines()
    t = replay("\n".join(lines[:30]))
    assert t.phase[0] != Phase.OVER
    seat, _, text = lines[30].partition(" ")
    assert (str(t.seat[0]), text in Game(t).legal) == (seat, True)


def test_comments_and_blank_lines_are_skipped() -> None:
    text = one_hand(Rules(), 4)
    commented = "# a game\n\n" + text.replace("\n", "\n   \n# note\n")
    assert parse(commented) == parse(text)


def test_begin_of_a_hand_whose_first_deal_was_repeated() -> None:
    """A deal from the seed that was dealt again is recorded from its first deck."""
    t = start(Rules(), 4)
    before = record.begin(t).deck
    t.attempt[0] = 1
    assert record.begin(t).deck == before


def test_actions_and_results_in_words() -> None:
    game = dealt(draws={0: "BJ S4"})
    assert record.name_action(game.t, game.t.actions.SHOW) == "show"
    assert record.parse_action(game.t, "pass") == game.t.actions.PASS
    game.t.score[0], game.t.gain[0] = 125, (0, 2)
    assert record.result_text(game.t) == "125 guard 0-2"
    game.t.dug[0] = True
    assert record.result_text(game.t) == "125 dug 0-2"


# What is refused -------------------------------------------------------------------------------------

GOOD = one_hand(Rules(), 4)
LINES = GOOD.splitlines()
DECK = LINES[5].split()[1:]


def changed(number: int, line: str) -> str:
    return "\n".join([*LINES[:number], line, *LINES[number + 1 :]])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "first line"),
        ("gunzi record 2", "first line"),
        ("gunzi record 1", "rules are missing"),
        (changed(1, "hand 0 3-3 - 0"), "line 2: the rules must come first"),
        (changed(1, "rules dalia 0"), "line 2: unknown preset 'dalia'"),
        (changed(1, f"rules classic {Rules().digest}"), "line 2: the rules 'classic' have changed"),
        (changed(1, "rules custom {take: 3} 0"), "line 2: rules are not valid JSON"),
        (changed(1, "rules custom [3] 0"), "line 2: rules are not a JSON object"),
        (changed(1, 'rules custom {"take": 125} 0'), "line 2: take is 125"),
        (changed(1, 'rules custom {"tale": 120} 0'), "line 2: unknown option 'tale'"),
        (changed(1, "rules custom " + "[" * 100_000 + " 0"), "line 2"),
        (changed(3, "hand 0 3-3 -"), "line 4: a hand has"),
        (changed(3, "hand 0 3 - 0"), "line 4: a hand has"),
        (changed(3, "hand 0 3-x - 0"), "line 4: 'x'"),
        (changed(3, "hand 0 3-3 4 0"), "line 4: '4'"),
        (changed(3, "hand 0 3-3 0 -1"), "line 4: '-1'"),
        (changed(3, "hand zero 3-3 0 0"), "line 4: 'zero'"),
        (changed(4, "key 1 2 3"), "line 5: a key has four numbers"),
        (changed(4, "key 1 2 3 x"), "line 5: 'x'"),
        (changed(4, f"key {2**64} 0 0 0"), "line 5"),
        (changed(5, "deal " + " ".join(DECK[:-1])), "line 6: a deck has"),
        (changed(5, "deal " + " ".join([*DECK[:-1], "SX"])), "line 6: unknown card 'SX'"),
        (changed(5, "deal " + " ".join([*DECK[:-1], DECK[0]])), "line 6: a deck has"),
        (changed(6, "4 pass"), "line 7: '4' is neither a keyword"),
        (changed(6, "dael S4"), "line 7: 'dael' is neither a keyword"),
        (GOOD + "0 pass\n", "'0' is neither a keyword"),  # after the result
        ("\n".join([*LINES[:2], "deal S4"]), "'deal' before the first hand"),
        ("x" * 4_000_001, "4000001 characters"),
    ],
    ids=lambda value: value[:20] if len(value) < 40 else None,
)
def test_what_cannot_be_read_is_refused_by_line(text: str, named: str) -> None:
    with pytest.raises(RecordError) as error:
        parse(text)
    assert named in str(error.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("\n".join(LINES[:3]), "no hands"),
        ("\n".join(LINES[:5]), "no deal"),
        (changed(3, "hand 0 2-2 0 0"), "levels 2-2"),
        (changed(3, "hand 0 11-3 0 0"), "levels 11-3"),
        (changed(len(LINES) - 1, "result 123 dug 0-0"), "'123 dug 0-0'"),
        ("\n".join([*LINES[:-1], "0 pass"]), "after the end"),
        ("\n".join([*LINES[:20], LINES[-1]]), "differs from that of the replay"),
    ],
)
def test_what_cannot_be_played_is_refused(text: str, named: str) -> None:
    with pytest.raises(RecordError) as error:
        replay(text)
    assert named in str(error.value)


def test_an_illegal_move_is_refused_by_ply() -> None:
    """The first move made by another seat; replaced by a card; replaced by nonsense."""
    seat = int(LINES[6][0])
    for line, named in [
        (f"{(seat + 1) % 4} pass", f"ply 0: seat {(seat + 1) % 4} plays 'pass', but seat {seat} is to move"),
        (f"{seat} S4", "ply 0: illegal action"),
        (f"{seat} frob", "ply 0: unknown card 'frob'"),
    ]:
        with pytest.raises(RecordError) as error:
            replay(changed(6, line))
        assert named in str(error.value)


def test_the_state_before_a_refused_ply_is_yielded() -> None:
    hand = parse(GOOD).hands[0]
    hand.moves[10] = (hand.moves[10][0], "S4 S4 S4")
    seen = []
    with pytest.raises(RecordError, match="ply 10"):
        for t, text in replay_hand(Rules(), hand):
            seen.append((t.hash64(), text))
    assert len(seen) == 11 and seen[10][1] == "S4 S4 S4"


def test_errors_are_value_errors_with_their_exit_code() -> None:
    assert issubclass(RecordError, ValueError) and RecordError.exit_code == 3
    with pytest.raises(RecordError):
        replay(Record(Rules()))


# Mutations -------------------------------------------------------------------------------------------


def mutations(text: str, seed: int, number: int) -> Iterator[str]:
    """Texts a small accident away: characters, tokens and lines changed, lost, repeated or exchanged."""
    rng = random.Random(seed)
    characters = "SHCDLB2349TJQKA0 x:-#\n\x00é²"

    def character(lines: list[str]) -> None:
        n = rng.randrange(len(lines))
        at = rng.randrange(len(lines[n]) + 1)
        lines[n] = lines[n][:at] + rng.choice(characters) + lines[n][at + rng.randrange(2) :]

    def token(lines: list[str]) -> None:
        n = rng.randrange(len(lines))
        words = lines[n].split(" ")
        words[rng.randrange(len(words))] = rng.choice([*rng.choice(lines).split(" "), "", "-1", "99999999999999999999"])
        lines[n] = " ".join(words)

    def drop(lines: list[str]) -> None:
        del lines[rng.randrange(len(lines))]

    def repeat(lines: list[str]) -> None:
        n = rng.randrange(len(lines))
        lines.insert(rng.randrange(len(lines)), lines[n])

    def exchange(lines: list[str]) -> None:
        a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]

    def cut(lines: list[str]) -> None:
        del lines[rng.randrange(1, len(lines)) :]

    kinds: list[Callable[[list[str]], None]] = [character, character, token, token, drop, repeat, exchange, cut]
    for _ in range(number):
        lines = text.splitlines()
        rng.choice(kinds)(lines)
        yield "\n".join(lines)


@pytest.mark.parametrize(
    ("rules", "lines", "number"),
    [(Rules(), None, 80), (Rules(), 30, 200), (CUSTOM, 30, 100)],
    ids=["hand", "begun", "custom"],
)
def test_mutated_records_are_refused_or_played_as_they_stand(rules: Rules, lines: int | None, number: int) -> None:
    """Nothing but RecordError is ever raised; what is accepted is a game by the rules and is written down the same."""
    text = "\n".join(one_hand(rules, 6).splitlines()[:lines])
    refused = accepted = 0
    for mutated in mutations(text, 1, number):
        try:
            read = parse(mutated)
            t = replay(read)
        except RecordError:
            refused += 1
            continue
        accepted += 1
        assert replay(write(read)).hash64() == t.hash64()
        if read.hands[-1].result:
            assert read.hands[-1].result == record.result_text(t)
    assert refused > number / 2
    assert accepted > number / 50  # cut short, or a name changed


def test_a_record_is_text() -> None:
    with pytest.raises(RecordError, match="a record is text, not bytes"):
        parse(b"gunzi record 1")  # type: ignore[arg-type]
