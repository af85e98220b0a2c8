"""What hypothesis draws: rules with any options that fit together, and hands that begin anywhere."""

from __future__ import annotations

from hypothesis import strategies as st

from gunzi_env.rules import Rules
from gunzi_env.testing import Case

_SIZES = {3: range(33, 40), 4: range(46, 54)}
"""Cards a hand (R1.2): from a kitty of 30 cards down to the smallest that four players can flip from."""


@st.composite
def rules(draw: st.DrawFn) -> Rules:
    """Any rules that :class:`Rules` accepts, every option at any of its values."""
    decks = draw(st.sampled_from([3, 4]))
    hand_size = draw(st.sampled_from(_SIZES[decks]))
    first = draw(st.integers(3, 6))
    last = draw(st.integers(first, 14))
    must_play = draw(st.sets(st.integers(first, last), max_size=3)) | {last}
    low, take, high = sorted(draw(st.tuples(*[st.integers(1, 20).map(lambda tens: 10 * tens)] * 3)))
    return Rules(
        decks=decks,
        hand_size=hand_size,
        kitty_size=54 * decks - 4 * hand_size,
        take=take,
        blood_low=low,
        blood_high=high,
        full_points=draw(st.sampled_from([max(take, 100), max(take, 200), 100 * decks])),
        first_level=first,
        last_level=last,
        must_play=tuple(must_play),
        first_bid=draw(st.sampled_from(["show", "auto"])),
        first_flip=draw(st.sampled_from(["high", "low"])),
        jokers_may_open=draw(st.booleans()),
        mixed_trump_rank=draw(st.none() | st.integers(4, 13)),
        tribute_level_points=draw(st.booleans()),
        anti_tribute=draw(st.booleans()),
        others_bury=draw(st.booleans()),
        others_bury_block=draw(st.sampled_from(["no_pickable", "any_points"])),
        dry_pot=draw(st.sampled_from(["ordinary_trump", "permanent_neutral", None])),
        dry_pot_first_hand=draw(st.booleans()),
        follow=draw(st.sampled_from(["live", "dead"])),
        sweep_ends_match=draw(st.booleans()),
        jokers_end_match=tuple(draw(st.sets(st.sampled_from(["big", "small"])))),
        score_blood_when_dug=draw(st.booleans()),
        level_at_high=draw(st.booleans()),
        j_reset=draw(st.booleans()) and last == 11,
    )


@st.composite
def starts(draw: st.DrawFn) -> Case:
    """The beginning of a hand: a match's first, or a later one at any levels with any dealer and blood."""
    r = draw(rules())
    key = (draw(st.integers(0, 2**32)), draw(st.integers(0, 9)), 0, draw(st.integers(0, 9)))
    dealer = draw(st.integers(-1, 3))
    if dealer < 0:
        return Case(r, key, (r.first_level, r.first_level), dealer, 0)
    levels = draw(st.tuples(*[st.integers(r.first_level, r.last_level)] * 2))
    return Case(r, key, levels, dealer, draw(st.integers(0, 12)))
