"""The learner's maths against slow, scalar versions of the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gunzi_train.algorithms.advantages import seat_advantages, table_advantages
from gunzi_train.policy import entropy, log_probs, masked_logits, policy_loss, sample

T, N = 40, 7


def _game(seed: int):
    """Random hands: seats in any order, several hands per table, a hand that outlives the rollout."""
    rng = np.random.Generator(np.random.PCG64(seed))
    seats = rng.integers(0, 4, (T + 1, N)).astype(np.int8)
    rewards = (rng.standard_normal((T, N)) * (rng.random((T, N)) < 0.4)).astype(np.float32)
    values = rng.standard_normal((T + 1, N)).astype(np.float32)
    done = rng.random((T, N)) < 0.1
    done[:, 0] = False
    return seats, rewards, values, done


def _slow_table(seats, rewards, values, done, gamma, lam):
    """A_t = sum over k of (gamma lam)^k of the one-step errors, all from the view of the mover at t."""
    out = np.zeros((T, N))
    for n in range(N):
        for t in range(T):
            me, weight = seats[t, n] % 2, 1.0
            for k in range(t, T):
                mine = 1.0 if seats[k, n] % 2 == me else -1.0
                paid = rewards[k, n] if me == 0 else -rewards[k, n]
                follow = 0.0
                if not done[k, n]:
                    follow = gamma * values[k + 1, n] * (1.0 if seats[k + 1, n] % 2 == me else -1.0)
                out[t, n] += weight * (paid + follow - mine * values[k, n])
                if done[k, n]:
                    break
                weight *= gamma * lam
    return out


def _slow_seat(seats, rewards, values, done, gamma, lam):
    """Build each seat's own list of decisions in each hand, then the textbook recursion on that list."""
    out, valid = np.zeros((T, N)), np.zeros((T, N), bool)
    for n in range(N):
        hand_of = np.concatenate(([0], np.cumsum(done[:, n])))
        for hand in range(hand_of[-1] + 1):
            for seat in range(4):
                mine = [t for t in range(T) if hand_of[t] == hand and seats[t, n] == seat]
                over = hand < hand_of[T]
                sign = 1.0 if seat % 2 == 0 else -1.0
                following, last = 0.0, len(mine) - 1
                for i in range(last, -1, -1):
                    t = mine[i]
                    until = mine[i + 1] if i < last else T
                    paid = sum(sign * rewards[k, n] for k in range(t, until) if hand_of[k] == hand)
                    if i == last and not over:
                        continue
                    next_value = values[mine[i + 1], n] if i < last else 0.0
                    following = paid + gamma * next_value - values[t, n] + gamma * lam * following
                    out[t, n], valid[t, n] = following, True
    return out, valid


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("gamma", "lam"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (1.0, 0.0)])
def test_advantages_equal_the_scalar_definition(seed: int, gamma: float, lam: float) -> None:
    seats, rewards, values, done = _game(seed)
    fast, valid = table_advantages(rewards, values[:T], seats[:T], done, values[T], seats[T], gamma, lam)
    assert np.allclose(fast, _slow_table(seats, rewards, values, done, gamma, lam), atol=1e-4)
    assert valid.all()
    fast, valid = seat_advantages(rewards, values[:T], seats[:T], done, gamma, lam)
    slow, slow_valid = _slow_seat(seats, rewards, values, done, gamma, lam)
    assert np.array_equal(valid, slow_valid)
    assert np.allclose(fast, slow, atol=1e-4)


def test_with_lambda_one_a_finished_hand_pays_its_rewards() -> None:
    """gamma = lambda = 1: value + advantage is what the mover's team is paid until the hand's end, in both chains."""
    seats, rewards, values, done = _game(3)
    done[T - 1] = True
    to_go = np.zeros((T, N))
    running = np.zeros(N)
    for t in range(T - 1, -1, -1):
        running = rewards[t] + np.where(done[t], 0.0, running)
        to_go[t] = np.where(seats[t] % 2 == 0, running, -running)
    table, _ = table_advantages(rewards, values[:T], seats[:T], done, values[T], seats[T], 1.0, 1.0)
    seat, valid = seat_advantages(rewards, values[:T], seats[:T], done, 1.0, 1.0)
    assert valid.all()
    assert np.allclose(table + values[:T], to_go, atol=1e-4)
    assert np.allclose(seat + values[:T], to_go, atol=1e-4)


def test_a_rollout_cut_in_two_changes_only_what_lies_beyond_the_cut() -> None:
    """Bootstrapping: with lambda 0 the rows before a cut are the same as in one piece."""
    seats, rewards, values, done = _game(4)
    whole, _ = table_advantages(rewards, values[:T], seats[:T], done, values[T], seats[T], 1.0, 0.0)
    cut = 23
    first, _ = table_advantages(rewards[:cut], values[:cut], seats[:cut], done[:cut], values[cut], seats[cut], 1.0, 0.0)
    assert np.allclose(first, whole[:cut], atol=1e-6)
    whole, _ = seat_advantages(rewards, values[:T], seats[:T], done, 1.0, 0.0)
    first, valid = seat_advantages(rewards[:cut], values[:cut], seats[:cut], done[:cut], 1.0, 0.0)
    assert np.allclose(first[valid], whole[:cut][valid], atol=1e-6)
    assert 0 < (~valid).sum() <= 4 * N


def _policy(rows: int, actions: int, seed: int):
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(rows, actions, generator=generator)
    legal = torch.rand(rows, actions, generator=generator) < 0.2
    legal[torch.arange(rows), torch.randint(actions, (rows,), generator=generator)] = True
    legal[0] = False
    legal[0, 5] = True  # a single legal action
    return logits, legal, generator


def test_illegal_actions_have_probability_zero_and_are_never_drawn() -> None:
    logits, legal, generator = _policy(64, 184, 0)
    logits[:, ::2] = 1e4  # however attractive the network finds them
    p = torch.softmax(masked_logits(logits, legal), 1)
    assert (p[~legal] == 0).all()
    assert torch.allclose(p.sum(1), torch.ones(64))
    for _ in range(200):
        actions, chosen = sample(logits, legal, generator)
        assert legal[torch.arange(64), actions].all()
        assert torch.isfinite(chosen).all()


def test_samples_follow_the_probabilities() -> None:
    logits, legal, generator = _policy(1, 20, 1)
    legal[0, :6] = True
    p = torch.softmax(masked_logits(logits, legal), 1)[0]
    draws = 40_000
    actions, chosen = sample(logits.expand(draws, -1), legal.expand(draws, -1), generator)
    share = torch.bincount(actions, minlength=20) / draws
    assert (share - p).abs().max() < 4 * (0.25 / draws) ** 0.5
    assert torch.allclose(chosen.exp(), p[actions], atol=1e-6)


def test_entropy_with_one_legal_action_is_zero_and_its_gradient_finite() -> None:
    logits, legal, _ = _policy(32, 184, 2)
    logits.requires_grad_(True)
    h = entropy(logits, legal)
    assert h[0] == 0
    h.sum().backward()
    assert torch.isfinite(logits.grad).all()
    assert (logits.grad[0] == 0).all()
    assert (logits.grad[~legal] == 0).all()


@pytest.mark.parametrize("bonus", [0.0, 0.03])
def test_written_gradient_equals_autograd(bonus: float) -> None:
    logits, legal, generator = _policy(256, 184, 3)
    actions, chosen = sample(logits, legal, generator)
    old = chosen + 0.3 * torch.randn(256, generator=generator)
    advantages = torch.randn(256, generator=generator)

    plain = logits.clone().requires_grad_(True)
    logp = torch.where(legal, log_probs(plain, legal), 0.0)
    ratio = (logp.gather(1, actions[:, None])[:, 0] - old).exp()
    expected = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    expected = expected + bonus * (logp.exp() * legal * logp).sum(1).mean()
    (2.0 * expected).backward()

    fused = logits.clone().requires_grad_(True)
    loss, h, r = policy_loss(fused, legal, actions, old, advantages, 0.2, bonus)
    (2.0 * loss).backward()
    assert torch.allclose(loss, expected, atol=1e-6)
    assert torch.allclose(r, ratio, rtol=1e-4)
    assert torch.allclose(h, entropy(logits, legal), atol=1e-5)
    assert torch.allclose(fused.grad, plain.grad, atol=1e-7)
    assert (fused.grad[~legal] == 0).all()
    assert ((ratio > 1.2) & (advantages > 0)).any() and ((ratio < 0.8) & (advantages < 0)).any(), "no row is clipped"
