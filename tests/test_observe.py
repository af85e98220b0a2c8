"""What a seat sees: nothing that it cannot know, everything that it does, and only truths."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import Rules, VectorEnv, engine, observe, planes, render, starts
from gunzi_env.deal import start_keys
from gunzi_env.observe import DEALER_OR_KITTY, View
from gunzi_env.planes import U64, bits
from gunzi_env.tables import HAND, KITTY, PENDING, STOCK, Phase, Tables
from gunzi_env.testing import random_actions

PRESETS = Rules.presets()


def deal(rules: Rules, tables: int, seed: int) -> Tables:
    t = Tables(rules, tables)
    engine.reset(t, seed, begin=False)
    everyone = np.arange(tables)
    levels, dealer, blood = starts.sample(rules, start_keys(t, everyone))
    engine.begin_hand(t, everyone, levels=levels, dealer=dealer, blood=blood)
    return t


def random_steps(t: Tables, seed: int, pass_probability: float = 0.5) -> npt.NDArray[np.bool_]:
    """Advance each table by one random action."""
    keys = np.random.default_rng(seed).integers(2**63, size=t.num).astype(U64)
    engine.step(t, random_actions(t, keys, pass_probability))
    return np.asarray(t.phase != Phase.OVER)


def shuffle_hidden(t: Tables, viewer: int, rng: np.random.Generator) -> Tables:
    """A copy in which the cards that ``viewer`` cannot see lie anywhere else among their places, sizes kept."""
    out = t.clone()
    for n in range(t.num):
        hidden = [HAND + s for s in range(4) if s != viewer] + [STOCK]
        view = observe.view(t, np.array([n]), np.array([viewer], np.int8))
        hidden += [] if view.kitty_known[0] else [KITTY]
        hidden += [] if t.seat[n] == viewer else [PENDING]
        counts = planes.to_counts(t.planes[:, n, hidden])
        cards = np.concatenate([np.repeat(np.arange(54), c) for c in counts])
        rng.shuffle(cards)
        ends = np.cumsum(counts.sum(axis=1))
        dealt = np.zeros((len(hidden), 54), int)
        for i, part in enumerate(np.split(cards, ends[:-1])):
            np.add.at(dealt[i], part, 1)
        out.planes[:, n, hidden] = planes.from_counts(dealt, t.rules.decks)
    return out


def everything_seen(t: Tables, viewer: int) -> list[bytes]:
    """All that is sent to a seat: View, encoding, and the picture."""
    seats = np.full(t.num, viewer, np.int8)
    view = observe.view(t, None, seats)
    names = [f.name for f in dataclasses.fields(View) if f.name != "rules"]
    pieces = [np.ascontiguousarray(getattr(view, name)).tobytes() for name in names]
    drawn = "\n".join(render.ansi(t, n, seat=viewer) for n in range(t.num))
    return [*pieces, observe.encode(view).tobytes(), drawn.encode()]


@pytest.mark.parametrize("preset", PRESETS)
def test_hidden_cards_are_not_seen(preset: str) -> None:
    t = deal(Rules.preset(preset), 12, 5)
    rng = np.random.default_rng(1)
    phases: set[tuple[int, bool]] = set()
    step = 0
    while (t.phase != Phase.OVER).any():
        if step % 9 == 0 or (t.phase < Phase.LEAD).any():
            viewer = int(rng.integers(4))
            phases |= {(int(p), bool(s == viewer)) for p, s in zip(t.phase, t.seat, strict=True)}
            other = shuffle_hidden(t, viewer, rng)
            assert everything_seen(t, viewer) == everything_seen(other, viewer)
            # Negative control: the same change is seen by a critic that looks at all cards.
            if (t.phase < Phase.OVER).all() and (t.seat == viewer).any():
                assert observe.privileged(t).tobytes() != observe.privileged(other).tobytes()
        random_steps(t, step)
        step += 1
    asked = {p for p, mine in phases if mine and p < Phase.OVER}
    assert len(asked) >= 6, "the phases must be met by the seat that decides"


def test_what_is_known_is_seen() -> None:
    """A card of mine changed, the observation changes; so with a public kitty."""
    t = deal(Rules.preset("dalian"), 64, 6)
    for step in range(80):
        random_steps(t, step)
    viewer = np.asarray(t.seat, np.int8)
    before = observe.encode(observe.view(t, None, viewer))
    other = t.clone()
    rows = np.arange(t.num)
    mine = other.planes[:, rows, HAND + viewer]
    lowest = planes.BIT[planes.lowest(mine[0])]
    absent = planes.BIT[planes.lowest(~mine[0] & planes.FULL)]
    one, new = (np.stack([bit, *[np.zeros_like(bit)] * 2]) for bit in (lowest, absent))
    other.planes[:, rows, HAND + viewer] = planes.add(planes.minus(mine, one), new)
    assert (before != observe.encode(observe.view(other, None, viewer))).any(axis=1).all()
    public = np.flatnonzero(t.kitty_public & (t.phase < Phase.OVER))
    assert len(public)
    other = t.clone()
    other.planes[:, public, KITTY] = U64(0)
    view = observe.view(other, public, viewer[public])
    assert (before[public] != observe.encode(view)).any(axis=1).all()


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_said_is_true(preset: str) -> None:
    """``known`` never claims a card that is not there, a proven void has none of the suit."""
    rules = dataclasses.replace(Rules.preset(preset), anti_tribute=True)
    t = deal(rules, 64, 7)
    said = 0
    step = 0
    while (t.phase != Phase.OVER).any():
        for viewer in range(4):
            view = observe.view(t, None, np.full(t.num, viewer, np.int8))
            play = t.phase != Phase.OVER
            for r in range(4):
                s = (viewer + r) % 4
                held = planes.add(t.planes[:, :, HAND + s], np.where(t.seat == s, t.planes[:, :, PENDING], U64(0)))
                wrong = planes.minus(view.known[:, :, r], held)[0] != 0
                assert not (wrong & play).any(), (viewer, s, np.flatnonzero(wrong & play))
                said += int(bits(view.known[:, play, r]).sum())
            dealer = np.maximum(t.dealer, 0)
            place = planes.add(t.planes[:, np.arange(t.num), HAND + dealer], t.planes[:, :, KITTY])
            place = planes.add(place, np.where(t.seat == dealer, t.planes[:, :, PENDING], U64(0)))
            assert not (planes.minus(view.known[:, :, DEALER_OR_KITTY], place)[0] != 0).any()
        masks = t.layout.suit_mask[t.level]
        for s in range(4):
            none_left = (t.planes[0, :, HAND + s, None] & masks) == 0
            assert (none_left | ~t.void[:, s]).all()
        random_steps(t, step)
        step += 1
    assert said > 1000


def test_return_is_known_to_the_two_alone() -> None:
    """R5.4: he who gave back knows where the cards are, the others do not."""
    t = deal(Rules.preset("dalian"), 200, 8)
    met, unknown = 0, []
    for step in range(40):
        rows = np.flatnonzero((t.returned[0] != 0) & (t.phase == Phase.BURY))
        giver, receiver = t.giver[rows], t.receiver[rows]
        seen = observe.view(t, rows, receiver).known[:, np.arange(len(rows)), (giver - receiver) & 3]
        assert (planes.minus(t.returned[:, rows], seen) == 0).all()
        third = (receiver + 1) & 3
        others = observe.view(t, rows, third).known[:, np.arange(len(rows)), (giver - third) & 3]
        unknown += (planes.minus(t.returned[:, rows], others) != 0).any(axis=0).tolist()
        met += len(rows)
        random_steps(t, step)
    assert met > 200
    # What the giver had shown in a bid may be the same card; what he got is known to nobody else.
    assert np.mean(unknown) > 0.9


@pytest.mark.parametrize("preset", PRESETS)
def test_encoding_follows_its_spec(preset: str) -> None:
    rules = Rules.preset(preset)
    spec = observe.spec(rules)
    assert [offset for _, offset, _ in spec] == np.cumsum([0, *[size for _, _, size in spec]])[:-1].tolist()
    env = VectorEnv(256, rules, seed=3)
    view, legal = env.reset()
    for _ in range(70):
        view, legal, _, _ = env.step(legal.argmax(axis=1))
    code = observe.encode(view)
    assert code.shape == (256, observe.size(rules))
    assert code.max() == 1
    piece = {name: code[:, at : at + size] for name, at, size in spec}
    d = rules.decks
    hand = piece["hand"].reshape(256, d, 54).sum(axis=1)
    assert (hand == planes.to_counts(view.hand)).all()
    assert (piece["phase"].argmax(axis=1) == view.phase).all()
    assert (piece["my level"].argmax(axis=1) + 3 == view.levels[:, 0]).all()
    assert (piece["score"].sum(axis=1) * 10 <= view.score).all()
    assert (piece["score"].sum(axis=1) * 10 > view.score - 10).all()
    assert (piece["cards led"].sum(axis=1) == (view.led_count > 0)).all()
    seen = planes.to_counts(view.hand) + planes.to_counts(view.pending) + planes.to_counts(view.kitty)
    seen = seen + planes.to_counts(view.played).sum(axis=1)
    assert (piece["unseen"].reshape(256, d, 54).sum(axis=1) == d - seen).all()
    assert (piece["void"].reshape(256, 3, 4) == view.void[:, 1:]).all()
    out = np.full((256, observe.size(rules)), 7, np.uint8)
    assert observe.encode(view, out) is out
    assert (out == code).all()


def test_rows_of_a_view() -> None:
    t = deal(Rules.preset("dalian"), 8, 9)
    view = observe.view(t)
    part = view.rows(np.array([5, 2]))
    assert len(part) == 2
    assert (observe.encode(part) == observe.encode(view)[[5, 2]]).all()


def test_view_shares_nothing_with_the_tables() -> None:
    t = deal(Rules.preset("dalian"), 8, 9)
    view = observe.view(t)
    before = t.save()
    for f in dataclasses.fields(View):
        if f.name != "rules":
            getattr(view, f.name)[...] = 1
    assert t.save() == before


