"""The tuning of expert's weights: it sees what the bot considers, plays as the bot does, and learns from what pays."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
import torch

from gunzi_agents import expert_weights
from gunzi_agents.expert import Expert
from gunzi_agents.expert_play import ExpertPlayer
from gunzi_agents.greedy_play import NEVER, Weights
from gunzi_agents.reading import Reading
from gunzi_env import VectorEnv
from gunzi_env.observe import View
from gunzi_env.rules import load_rules
from gunzi_env.tables import Phase
from gunzi_train.tuning import features, tune
from gunzi_train.tuning.tune import PHASES, Tune, Tuner, rewritten

OPTIONS = Tune(tables=48, steps=12)


def at_play(rules: str, phase: Phase) -> View:
    """Decisions of all stages of a hand."""
    env, bot = VectorEnv(96, rules, seed=3), Expert()
    view, legal = env.reset()
    for _ in range(70):
        view, legal, _, _ = env.step(bot.act(view, legal, np.zeros(96, np.uint64)))
    return view.rows(np.flatnonzero(view.phase == phase))


@pytest.mark.parametrize("rules", ["dalian", "dalian_dead", "four_deck"])
def test_considerations_add_up_to_what_the_bot_thinks(rules: str) -> None:
    player = ExpertPlayer(Reading(at_play(rules, Phase.LEAD)), Weights())
    weights = np.stack([*player._weights(expert_weights.LEAD).values()])
    thought = np.einsum("cdsb,cb->dsb", features.lead(player), weights)
    held = player.r.mine >= player._copies
    np.testing.assert_allclose(thought[held], player.lead_values()[held], atol=2e-3)

    player = ExpertPlayer(Reading(at_play(rules, Phase.FOLLOW)), Weights())
    weights = np.stack([*player._weights(expert_weights.FOLLOW).values()])
    win, price, stay_out = player._follow_values()
    wins, prices, stays = features.follow(player)
    may_win, may_throw = win > NEVER, (price != 200) & (np.abs(price) < -NEVER)
    np.testing.assert_allclose(np.einsum("csb,cb->sb", wins, weights)[may_win], win[may_win], atol=2e-3)
    np.testing.assert_allclose(np.einsum("cdsb,cb->dsb", prices, weights)[may_throw], price[may_throw], atol=2e-3)
    np.testing.assert_allclose((stays * weights).sum(axis=0), stay_out, atol=2e-3)
    assert may_win.sum() > 50 and may_throw.sum() > 50


def test_a_cold_policy_plays_as_the_bot() -> None:
    tuner = Tuner(load_rules("dalian"), Tune(tables=48, steps=12, temperature=1e-4))
    collector, bot = tuner.collector, Expert()
    same = asked = 0
    for _ in range(12):
        view, legal = collector.view, collector.mask
        wanted = bot.act(view, legal, np.zeros(len(view), np.uint64))
        collector._act(0, tuner.net, False)
        actions = collector.data.actions[0]
        assert legal[np.arange(len(view)), actions].all()
        alone = (view.phase != Phase.FOLLOW) | (view.need <= 1)
        # Of throws that take several cards it takes the price for alike for each, which the bot does not.
        assert (actions == wanted)[alone].all()
        same, asked = same + (actions == wanted).sum(), asked + len(view)
        collector.view, collector.mask, _, _ = collector.env.step(actions)
    assert same / asked > 0.97


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_pays_gains_weight(sign: float) -> None:
    tuner = Tuner(load_rules("dalian"), OPTIONS)
    tuner.collector.collect(tuner.net, False)
    name = [*expert_weights.LEAD].index("trump")
    paid = np.zeros(tuner.collector.data.actions.size, np.float32)
    for choices in tuner.collector.choices[Phase.LEAD]:
        paid[choices.place] = sign * choices.features[choices.chosen, name]
    before = tuner.weights[Phase.LEAD].detach().clone()
    tuner._improve(Phase.LEAD, paid)
    change = (tuner.weights[Phase.LEAD] - before).detach()
    assert sign * change[name, 0] > 0.05
    assert torch.equal(tuner.weights[Phase.FOLLOW], torch.tensor([*expert_weights.FOLLOW.values()]))


def test_an_update_learns_after_the_critic_has_warmed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "WARM_UP", 1)
    tuner = Tuner(load_rules("dalian"), OPTIONS)
    start = {phase: weights.detach().clone() for phase, weights in tuner.weights.items()}
    first = tuner.update(1.0)
    assert all(torch.equal(tuner.weights[phase], start[phase]) for phase in PHASES)
    second = tuner.update(0.5)
    assert set(second) - set(first) == {"entropy LEAD", "entropy FOLLOW"}
    for phase in PHASES:
        moved = (tuner.weights[phase].detach() - start[phase]).abs().max()
        # Adam's steps: three of them, each at most the size of the step.
        assert 0 < moved <= 3.1 * OPTIONS.lr * 0.5
        assert 0 < (tuner.mean[phase] - start[phase]).abs().max() < moved


def test_weights_go_into_the_file_in_their_places() -> None:
    text = Path(expert_weights.__file__).read_text("utf-8")
    tables = {"LEAD": expert_weights.LEAD, "FOLLOW": expert_weights.FOLLOW}
    assert rewritten(text, tables) == text
    other = {**expert_weights.LEAD, "single": (0.5,) * 9}
    tables = {
        part.target.id: ast.literal_eval(part.value)
        for part in ast.parse(rewritten(text, {"LEAD": other})).body
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.value is not None
    }
    assert tables == {"LEAD": other, "FOLLOW": expert_weights.FOLLOW}
    with pytest.raises(ValueError, match="'nothing' stands 0 times"):
        rewritten(text, {"LEAD": {"nothing": (1.0,)}})


def test_the_command_prints_or_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "weights.py"
    copy.write_text(Path(expert_weights.__file__).read_text("utf-8"), "utf-8")
    monkeypatch.setattr(expert_weights, "__file__", str(copy))
    monkeypatch.setattr(tune, "WARM_UP", 10**9)  # however quick the machine is, the weights stay what they are
    small = ["--minutes", "0.01", "--tables", "16", "--steps", "4"]
    assert tune.main(small) == 0
    assert '"single": (15.5, 6.4' in capsys.readouterr().out
    assert tune.main([*small, "--write"]) == 0
    assert f"written to {copy}" in capsys.readouterr().out
