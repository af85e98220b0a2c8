"""Duplicate deals: fairness, independence of batches, agents at fault."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from gunzi_agents.base import Agent
from gunzi_agents.playing import AgentFault
from gunzi_agents.uniform import Uniform, choose
from gunzi_env import engine, observe
from gunzi_env.chapters.deal import deck_of_draw
from gunzi_env.keys import mix
from gunzi_env.rules import Rules
from gunzi_env.tables import Phase, Tables
from gunzi_eval.matches import duplicate
from gunzi_eval.matches.duplicate import blocks, hands_of_block, play, play_hands, play_matches
from gunzi_eval.matches.hands import HandResults, Metrics

RULES = Rules.preset("dalian")


class Lowest(Agent):
    """Always the legal action of the lowest number."""

    name = "lowest"

    def act(self, view: observe.View, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return legal.argmax(axis=1).astype(np.int32)

    def reset(self) -> None: ...


class Spy(Lowest):
    """Remembers what it was asked; plays uniformly."""

    name = "spy"

    def __init__(self) -> None:
        self.keys: list[np.ndarray] = []
        self.seats: list[np.ndarray] = []
        self.resets = 0

    def act(self, view: observe.View, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        assert view.seat.shape == keys.shape == (len(legal),)
        assert keys.dtype == np.uint64 and legal.dtype == np.bool_ and legal.any(axis=1).all()
        np.testing.assert_array_equal(np.minimum(view.phase, Phase.OVER - 1), view.phase)
        self.keys.append(keys)
        self.seats.append(view.seat)
        return choose(legal, keys)

    def reset(self) -> None:
        self.resets += 1


def values(figures: Metrics) -> np.ndarray:
    return np.stack([getattr(figures, f.name) for f in fields(figures)])


@pytest.mark.parametrize("preset", Rules.presets())
def test_an_agent_against_itself_is_exactly_zero(preset: str) -> None:
    figures = play((Uniform(), Uniform()), Rules.preset(preset), deals=20, seed=3)
    assert not figures.levels.any() and not figures.points.any()
    assert (figures.hands_won == 0.5).all()


def test_exchanging_the_agents_mirrors_every_deal() -> None:
    there = play((Uniform(), Lowest()), RULES, deals=40, seed=5)
    back = play((Lowest(), Uniform()), RULES, deals=40, seed=5)
    np.testing.assert_array_equal(there.levels, -back.levels)
    np.testing.assert_array_equal(there.points, -back.points)
    np.testing.assert_array_equal(there.hands_won, 1 - back.hands_won)
    assert there.points.any()


def test_a_deal_is_the_same_alone_and_in_a_block() -> None:
    whole = values(hands_of_block((Uniform(), Lowest()), RULES, np.arange(12, dtype=np.uint64), seed=5).metrics())
    for deal in (0, 7, 11):
        alone = values(hands_of_block((Uniform(), Lowest()), RULES, np.array([deal], np.uint64), seed=5).metrics())
        np.testing.assert_array_equal(alone[:, 0], whole[:, deal])


def test_blocks_are_fixed_and_joined_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [(int(block[0]), len(block)) for block in blocks(600, 256)] == [(0, 256), (256, 256), (512, 88)]
    whole = values(play((Uniform(), Lowest()), RULES, deals=20, seed=1))
    monkeypatch.setattr(Lowest, "max_deals", 7)
    done: list[int] = []
    np.testing.assert_array_equal(values(play((Uniform(), Lowest()), RULES, 20, 1, done.append)), whole)
    assert done == [7, 7, 6]


def test_seeds_and_deals_differ() -> None:
    one, two = (values(play((Uniform(), Lowest()), RULES, deals=20, seed=seed)) for seed in (1, 2))
    assert (one != two).any(axis=0).mean() > 0.8
    assert len(np.unique(one[1])) > 10


def test_both_tables_of_a_deal_have_the_same_cards_and_state(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Tables] = []

    def begin_hand(tables: Tables, g: np.ndarray, **state: np.ndarray) -> None:
        real(tables, g, **state)
        begun.append(tables.clone())

    real = engine.begin_hand
    monkeypatch.setattr(engine, "begin_hand", begin_hand)
    hands_of_block((Uniform(), Lowest()), RULES, np.arange(6, dtype=np.uint64), seed=9)
    tables = begun[0]
    for deal in range(6):
        assert tables.hash64(deal) == tables.hash64(deal + 6)
    decks = {tuple(deck_of_draw(tables.draw[deal])) for deal in range(6)}
    assert len(decks) == 6


def test_the_two_sides_sit_in_both_teams_and_keys_do_not_know_them() -> None:
    spy, other = Spy(), Spy()
    hands_of_block((spy, other), RULES, np.arange(3, dtype=np.uint64), seed=2)
    assert spy.resets == other.resets == 1
    for first, second in zip(spy.keys, other.keys):
        # the same policy on both sides: what one side is asked at one table the other is asked at the exchanged one
        np.testing.assert_array_equal(np.sort(first), np.sort(second))
    keys = np.concatenate(spy.keys)
    assert len(np.unique(keys)) == len(keys)
    assert set(np.concatenate(spy.seats)) == {0, 1, 2, 3}


def test_figures_follow_their_definitions() -> None:
    tables = Tables(RULES, 4)
    tables.phase[:] = Phase.OVER
    tables.dealer[:] = [0, 1, 2, 3]
    tables.score[:] = [100, 100, 120, 300]
    tables.gain[:] = [[2, 0], [0, 1], [0, 1], [1, 0]]
    team = np.array([0, 0, 1, 1], np.int8)
    figures = HandResults.of(tables, team, 4).metrics()
    np.testing.assert_array_equal(figures.levels, [2, -1, 1, -1])
    # dealing: take - S; attacking: S - take
    np.testing.assert_array_equal(figures.points, [20, -20, 0, -180])
    # S = take is enough for the attackers (R9)
    np.testing.assert_array_equal(figures.hands_won, [1, 0, 1, 0])


def test_rotations_move_the_hands_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Tables] = []

    def begin_hand(tables: Tables, g: np.ndarray, **state: np.ndarray) -> None:
        real(tables, g, **state)
        begun.append(tables.clone())

    real = engine.begin_hand
    monkeypatch.setattr(engine, "begin_hand", begin_hand)
    play_hands((Uniform(), Lowest()), RULES, 5, seed=9, rotations=duplicate.ROTATIONS)
    tables = begun[0]
    assert tables.num == 5 * 8
    for deal in range(5):
        first = deck_of_draw(tables.draw[deal])
        for rotation in range(4):
            for exchanged in (0, 1):
                table = 20 * exchanged + 5 * rotation + deal
                deck = deck_of_draw(tables.draw[table])
                assert deck[RULES.num_dealt :] == first[RULES.num_dealt :]
                for seat in range(4):
                    assert deck[(seat + rotation) % 4 : RULES.num_dealt : 4] == first[seat : RULES.num_dealt : 4]
                for field in ("levels", "blood", "first", "first_hand"):
                    np.testing.assert_array_equal(getattr(tables, field)[table], getattr(tables, field)[deal])


def test_rotations_add_to_the_two_tables_of_a_deal_and_mirror() -> None:
    agents = (Uniform(), Lowest())
    turned = play_hands(agents, RULES, 6, seed=5, rotations=4)
    assert turned.levels.shape == (8, 6)
    np.testing.assert_array_equal(turned.points[[0, 4]], play_hands(agents, RULES, 6, seed=5).points)
    assert len(np.unique(turned.points[:4, 0])) > 1
    back = play_hands(agents[::-1], RULES, 6, seed=5, rotations=4)
    np.testing.assert_array_equal(turned.metrics().points, -back.metrics().points)
    itself = play_hands((Uniform(), Uniform()), RULES, 6, seed=5, rotations=4).metrics()
    assert not itself.levels.any() and not itself.points.any() and (itself.hands_won == 0.5).all()


def test_matches_are_won_or_lost_and_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicate, "MAX_HANDS", 4)
    assert (play_matches((Uniform(), Uniform()), RULES, 6, seed=1) == 0.5).all()
    there = play_matches((Uniform(), Lowest()), RULES, 6, seed=1)
    np.testing.assert_array_equal(there, 1 - play_matches((Lowest(), Uniform()), RULES, 6, seed=1))
    assert set(there) <= {0.0, 0.25, 0.5, 0.75, 1.0} and (there != 0.5).any()


def test_a_match_without_end_counts_half(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicate, "MAX_HANDS", 1)
    # Of these eight matches one ends in its first hand.
    assert play_matches((Uniform(), Lowest()), RULES, 4, seed=1).tolist() == [0.5, 0.5, 0.25, 0.5]


class Crasher(Lowest):
    name = "crasher"

    def act(self, view: observe.View, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        raise KeyError("lost")


class NotFinite(Lowest):
    """A fault that says its own exit code."""

    name = "nan"

    def act(self, view: observe.View, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        error = ValueError("logits are not finite")
        error.exit_code = 5  # type: ignore[attr-defined]
        raise error


class Answers(Lowest):
    """Answers what it was made with, instead of the last row's action."""

    name = "cheat"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act(self, view: observe.View, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        if isinstance(self.answer, int):
            actions = super().act(view, legal, keys)
            actions[-1] = self.answer if self.answer != 0 else np.flatnonzero(~legal[-1])[0]
            return actions
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize("answer", [-1, 184, 10**6, 0])
def test_illegal_actions_are_named(answer: int) -> None:
    with pytest.raises(AgentFault, match=r"agent 'cheat' returned the illegal action .* in phase \w+, deal 3, seat \d"):
        hands_of_block((Uniform(), Answers(answer)), RULES, np.array([3], np.uint64), seed=1)


@pytest.mark.parametrize("answer", [None, "S3", 1.5, np.zeros(1), np.zeros((1, 1), int), [True], np.zeros(99, int)])
def test_answers_of_another_form_are_named(answer: object) -> None:
    with pytest.raises(AgentFault, match=r"agent 'cheat' returned .*, expected int32"):
        hands_of_block((Answers(answer), Uniform()), RULES, np.array([0], np.uint64), seed=1)


def test_crashes_are_named_and_keep_their_exit_code() -> None:
    with pytest.raises(AgentFault, match="agent 'crasher' crashed: KeyError: 'lost'") as error:
        hands_of_block((Crasher(), Uniform()), RULES, np.array([0], np.uint64), seed=1)
    assert error.value.exit_code == 2
    with pytest.raises(AgentFault, match="not finite") as error:
        hands_of_block((Uniform(), NotFinite()), RULES, np.array([0], np.uint64), seed=1)
    assert error.value.exit_code == 5


def test_keys_are_hashes_of_seed_deal_seat_and_ply() -> None:
    spy = Spy()
    hands_of_block((spy, Uniform()), RULES, np.array([4], np.uint64), seed=2)
    deal = mix(np.uint64(2), np.uint64(1), np.array([4], np.uint64))
    seat = np.concatenate(spy.seats)[0]
    candidates = mix(deal, np.int8(seat), np.arange(60))
    assert spy.keys[0][0] in candidates
