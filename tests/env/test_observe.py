"""What a seat sees: everything that it knows, and only truths (what it cannot know: test_hidden.py)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gunzi_env import Rules, VectorEnv, observe, planes
from gunzi_env.cards import parse_face
from gunzi_env.observe import DEALER_OR_KITTY
from gunzi_env.planes import U64, bits
from gunzi_env.tables import HAND, KITTY, PENDING, PLAYED, Phase, Tables
from tests.rules.game import dealt
from tests.support.worlds import ONE, VIEW_FIELDS, deal, random_steps

PRESETS = Rules.presets()


@pytest.fixture(scope="module")
def table() -> Tables:
    """A trick begun, tribute given and returned, the seat to move being its receiver's next."""
    t = deal(Rules.preset("dalian"), 300, 6)
    for step in range(400):
        good = (
            (t.phase == Phase.FOLLOW) & (t.tribute[0] != 0) & (t.leader == t.dealer) & ~t.kitty_public & (t.held > 20)
        )
        good &= (t.seat == (t.dealer + 1) % 4) & (t.led_count == 1) & (t.need == 1) & (t.score > 0)
        if good.any():
            return t.select(np.flatnonzero(good)[:1])
        random_steps(t, step)
    raise AssertionError("no such table")


def absent(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Planes ``uint64[D]`` with one copy of one card that is not in them."""
    out = np.zeros_like(words)
    out[0] = planes.BIT[planes.lowest(~words[0] & planes.FULL)]
    return out


def add_to(array: npt.NDArray[np.uint64], *at: int) -> None:
    """One card more at this place of some planes."""
    index: Any = (slice(None), 0, *at)
    array[index] = planes.add(array[index], absent(array[index]))


def put(name: str, value: Any) -> Callable[[Tables, int], None]:
    def change(t: Tables, me: int) -> None:
        array = getattr(t, name)
        assert (array[0] != value).any()
        array[0] = value

    return change


def swap_own_card(t: Tables, me: int) -> None:
    hand = t.planes[:, 0, HAND + me]
    lowest = np.zeros_like(hand)
    lowest[0] = planes.BIT[planes.lowest(hand[0])]
    t.planes[:, 0, HAND + me] = planes.add(planes.minus(hand, lowest), absent(hand))


def open_kitty(t: Tables, me: int) -> None:
    t.kitty_public[0] = True


def swap_open_kitty(t: Tables, me: int) -> None:
    """Only where the kitty is public: see :func:`test_what_is_known_is_seen`."""
    t.planes[:, 0, KITTY] = absent(t.planes[:, 0, KITTY])


def flag(name: str) -> Callable[[Tables, int], None]:
    """What the next seat has shown of a suit."""

    def change(t: Tables, me: int) -> None:
        array = getattr(t, name)
        array[0, (me + 1) % 4, 2] = ~array[0, (me + 1) % 4, 2]

    return change


def other_level(mask: str) -> Callable[[Tables, int], None]:
    """A level at which other slots are worth these points."""

    def change(t: Tables, me: int) -> None:
        words = getattr(t.layout, mask)
        t.level[0] = next(level for level in range(3, 11) if words[level] != words[t.level[0]])

    return change


def show_kitty(t: Tables, me: int) -> None:
    t.kitty_shown[0] = not t.kitty_shown[0]


def show_a_card(t: Tables, me: int) -> None:
    """A card that the previous seat was not known to hold."""
    seat = (me + 3) % 4
    t.shown[:, 0, seat] = absent(planes.add(t.known[:, 0, seat], t.planes[:, 0, PLAYED + seat]))


def cards_of(name: str, *, seat: int | None = None) -> Callable[[Tables, int], None]:
    return lambda t, me: add_to(getattr(t, name), *(() if seat is None else ((me + seat) % 4,)))


SEATS = ("known with next, partner, previous, dealer or kitty",)

# What the viewer knows, changed: (change, fields of the View, pieces of the encoding that must change).
CHANGES: dict[str, tuple[Callable[[Tables, int], None], tuple[str, ...], tuple[str, ...]]] = {
    "a card of mine": (swap_own_card, ("hand",), ("hand", "unseen")),
    "set aside": (lambda t, me: add_to(t.planes, PENDING), ("pending",), ("pending", "unseen")),
    "played": (lambda t, me: add_to(t.planes, PLAYED + (me + 1) % 4), ("played",), ("unseen",)),
    "in the trick": (cards_of("trick", seat=2), ("trick",), ("trick of next, partner, previous",)),
    "kitty opened": (open_kitty, ("kitty", "kitty_known", "kitty_public"), ("kitty", "flags", "unseen")),
    "kitty shown": (show_kitty, ("kitty_shown",), ("flags",)),
    "known of the partner": (cards_of("known", seat=2), ("known",), SEATS),
    "known of dealer or kitty": (cards_of("loose"), ("known",), SEATS),
    "shown": (show_a_card, ("shown",), ()),
    "tribute": (cards_of("tribute"), ("tribute",), ()),
    "who gave": (lambda t, me: put("giver", (t.giver[0] + 2) % 4)(t, me), ("giver",), ()),
    "turned up": (cards_of("turned"), ("turned",), ()),
    "phase": (put("phase", Phase.LEAD), ("phase",), ("phase",)),
    "level, fives": (other_level("fives"), ("level",), ("fives",)),
    "level, tens": (other_level("tens"), ("level",), ("tens and kings",)),
    "trump": (lambda t, me: put("trump", (t.trump[0] + 1) % 4)(t, me), ("trump",), ("trump suit",)),
    "levels": (put("levels", (10, 9)), ("levels",), ("my level", "their level")),
    "dealer": (lambda t, me: put("dealer", (t.dealer[0] + 1) % 4)(t, me), ("dealer", "kitty_known"), ("dealer",)),
    "first": (lambda t, me: put("first", (t.first[0] + 1) % 4)(t, me), ("first",), ()),
    "first hand": (put("first_hand", True), ("first_hand",), ("flags",)),
    "blood": (lambda t, me: put("blood", t.blood[0] - 1)(t, me), ("blood",), ("blood",)),
    "score": (lambda t, me: put("score", t.score[0] + 10)(t, me), ("score",), ("score",)),
    "void": (flag("void"), ("void",), ("void",)),
    "no pair": (flag("no_pair"), ("no_pair",), ("no pair",)),
    "no triple": (flag("no_triple"), ("no_triple",), ("no triple",)),
    "suit led": (lambda t, me: put("led_suit", (t.led_suit[0] + 1) % 4)(t, me), ("led_suit",), ("suit led",)),
    "cards led": (put("led_count", 2), ("led_count",), ("cards led",)),
    "leader": (lambda t, me: put("leader", (t.leader[0] + 1) % 4)(t, me), ("leader",), ("leader",)),
    "winning": (lambda t, me: put("best", (t.best[0] + 1) % 4)(t, me), ("best",), ("winner so far",)),
    "winning card": (lambda t, me: put("best_slot", t.best_slot[0] ^ 1)(t, me), ("best_slot",), ("winning card",)),
    "points": (lambda t, me: put("trick_points", 30)(t, me), ("trick_points",), ("points in the trick",)),
    "owed": (put("need", 2), ("need",), ("cards to name",)),
    "held": (lambda t, me: put("held", t.held[0] - 3)(t, me), ("held",), ("cards held",)),
    "bid": (
        lambda t, me: put("bid_strength", (t.bid_strength[0] + 1) % 5)(t, me),
        ("bid_strength",),
        ("standing bid",),
    ),
    "suit bid": (lambda t, me: put("bid_suit", (t.bid_suit[0] + 2) % 4)(t, me), ("bid_suit",), ("suit bid",)),
    "bidder": (lambda t, me: put("bid_seat", (t.bid_seat[0] + 2) % 4)(t, me), ("bid_seat",), ("bidder",)),
    "pickable": (
        lambda t, me: put("pickable", (t.pickable[0] + 1) % 7)(t, me),
        ("pickable",),
        ("jokers that may go in",),
    ),
    "dry": (put("dry", True), ("dry",), ("flags",)),
    "drawn": (lambda t, me: put("drawn", t.drawn[0] - 12)(t, me), ("drawn",), ("cards drawn",)),
}


def seen(t: Tables, viewer: int) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The fields of the View and the pieces of its encoding."""
    view = observe.view(t, ONE, np.array([viewer], np.int8))
    code = observe.encode(view)[0]
    fields = {name: np.ascontiguousarray(getattr(view, name)).tobytes() for name in VIEW_FIELDS}
    return fields, {name: code[at : at + size].tobytes() for name, at, size in observe.spec(t.rules)}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_known_is_seen(table: Tables, name: str) -> None:
    """Something that the viewer knows is changed, and the field and the piece that say it change."""
    change, fields, pieces = CHANGES[name]
    viewer, other = int(table.seat[0]), table.clone()
    change(other, viewer)
    before, after = seen(table, viewer), seen(other, viewer)
    for expected, old, new in zip((fields, pieces), before, after, strict=True):
        changed = {key for key in old if old[key] != new[key]}
        assert set(expected) <= changed
        # Seats, cards and phases are asked of each field in turn: a change is not seen all over the View.
        assert len(changed) <= 6


def test_every_field_and_piece_has_its_change(table: Tables) -> None:
    fields = {name for _, names, _ in CHANGES.values() for name in names} | {"seat"}
    assert fields == set(VIEW_FIELDS)
    assert {name for _, _, names in CHANGES.values() for name in names} == {
        name for name, _, _ in observe.spec(table.rules)
    }
    viewer = int(table.seat[0])
    assert seen(table, viewer)[0]["seat"] != seen(table, (viewer + 1) % 4)[0]["seat"]


def test_cards_of_an_open_kitty_are_seen(table: Tables) -> None:
    viewer, one = int(table.seat[0]), table.clone()
    open_kitty(one, viewer)
    two = one.clone()
    swap_open_kitty(two, viewer)
    for old, new in zip(seen(one, viewer), seen(two, viewer), strict=True):
        assert old["kitty"] != new["kitty"]
    # Closed, the dealer alone sees them (R6.4).
    three = table.clone()
    swap_open_kitty(three, viewer)
    dealer = int(table.dealer[0])
    assert seen(table, viewer) == seen(three, viewer)
    assert seen(table, dealer)[1]["kitty"] != seen(three, dealer)[1]["kitty"]


def test_returned_cards_are_seen_by_the_two(table: Tables) -> None:
    """R5.4: other cards returned, and he who returned them knows of others; nobody else does."""
    other = table.clone()
    other.returned[:, 0] = absent(table.returned[:, 0])
    receiver = int(table.receiver[0])
    changed = [v for v in range(4) if not np.array_equal(seen(table, v)[0]["known"], seen(other, v)[0]["known"])]
    assert changed == [receiver]  # the giver has them in his hand


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
    for name in VIEW_FIELDS:
        getattr(view, name)[...] = 1
    assert t.save() == before


def test_privileged_writes_where_it_is_told() -> None:
    t = deal(Rules.preset("dalian"), 5, 3)
    out = np.full((5, observe.privileged_size(t.rules)), 9, np.uint8)
    assert observe.privileged(t, out=out) is out
    assert (out == observe.privileged(t)).all()


def test_shown_cards_that_moved_on_are_not_encoded_as_known() -> None:
    """R4.4, R5.1: seat 3 bid with a heart and gave it as tribute: it is known with the dealer alone."""
    game = dealt(dealer=0, blood=1, draws={3: "H3", 1: "BJ BJ BJ LJ LJ LJ H3 H3"}, spare=1)
    while game.phase == "bid":
        bids = game.seat == 3 and not game.t.bid_strength[0]
        game.play(f"{game.seat} " + ("bid H x1" if bids else "pass"))
    assert (game.tribute, game.sees(1, of=0), game.sees(1, of=3)) == ("H3", "H3", "")
    code = observe.encode(game.view(1))[0]
    (at,) = [at for name, at, _ in observe.spec(game.t.rules) if name.startswith("known with")]
    slot = int(game.t.layout.slot_of_face[game.t.level[0], game.t.trump[0], parse_face("H3")])
    assert [int(code[at + 54 * column + slot]) for column in range(3)] == [0, 0, 1]


def test_flags_stand_in_their_order() -> None:
    """The dealer alone knows a hidden kitty: known and public differ, and each is where the encoding says."""
    t = deal(Rules.preset("dalian"), 200, 9)
    differ = 0
    for step in range(60):
        random_steps(t, step)
        view = observe.view(t)
        code = observe.encode(view)
        (at,) = [at for name, at, _ in observe.spec(t.rules) if name == "flags"]
        flags = [view.first_hand, view.kitty_known, view.kitty_public, view.kitty_shown, view.dry]
        assert (code[:, at : at + 5] == np.stack(flags, axis=1)).all()
        differ += int((view.kitty_known & ~view.kitty_public).sum())
    assert differ > 50
