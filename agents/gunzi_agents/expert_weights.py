"""What counts how much to ``expert``, in points (:mod:`gunzi_agents.expert_play`).

A row says what a consideration is worth under each of :data:`CIRCUMSTANCES`; the row times the circumstances is its
weight. They were found by self-play from ``greedy``'s own weights: a policy that draws moves by their worth (softmax),
proximal policy updates (Schulman et al. 2017) with a critic that sees all hands, rewarded by levels (at most three a
hand) and two levels for each hundred points. The numbers are the bot's whole memory; nothing is learned at play.
"""

from __future__ import annotations

CIRCUMSTANCES = ("always", "late", "end", "attacker", "dealer", "jokers", "winning", "close", "kitty")
"""always; cards already played (0..1); the last cards (1 at the end, 0.37 with five left); I attack; I am the dealer;
jokers in the kitty as R9 counts them (where known); our chance to win by S; how much a few points decide; points in the
kitty in twenties (where known)."""

LEAD: dict[str, tuple[float, ...]] = {
    # a single that no opponent beats
    "single": (10.8, 1.5, -3.9, 5.4, -0.2, 1.7, 4.2, 5.5, 1.8),
    # such a pair
    "pair": (15.5, 9.5, 4.5, -6.0, -0.2, 0.4, 5.1, -0.2, -0.2),
    # such a triple or quad
    "triple": (26.3, -1.5, -3.1, 3.6, 2.8, 2.8, 5.6, 4.2, 3.3),
    # ten points led that our side wins
    "our_points": (14.8, 0.2, 3.1, 5.8, 5.7, 1.9, 2.9, 3.3, 2.3),
    # ten points led
    "points": (-8.9, -3.7, 3.4, 8.1, -3.8, -0.9, -4.1, -3.5, -0.5),
    # each card led to a trick that is lost
    "lose": (-1.1, 4.0, 14.6, -3.9, 6.2, -0.2, 3.4, -2.5, 0.2),
    # ten points of what the cards are worth in hand (taken off)
    "cost": (9.3, -0.3, 2.5, 3.3, -0.4, 1.5, -1.3, -1.1, 1.1),
    # the chance of the last trick afterwards
    "control": (57.2, 16.8, 15.3, 11.6, 12.8, 9.7, 15.3, 6.4, 10.6),
    # a trump
    "trump": (-2.1, -2.5, -7.0, -7.5, 3.4, -1.7, -3.2, 0.3, -0.4),
    # a trump that no opponent beats
    "trump_holds": (-6.1, -5.2, -3.8, -1.5, -6.5, -6.5, -5.1, -5.3, -7.1),
    # a suit that the partner is out of
    "partner_void": (3.6, 2.4, 9.2, -1.3, 0.2, 2.8, 4.5, 2.1, 4.5),
    # a suit that an opponent is out of
    "they_void": (-3.7, -1.9, 6.0, -1.1, -5.5, -1.2, -2.9, -4.8, -1.8),
    # the last cards of a side suit
    "empties": (1.7, -0.1, 6.2, 3.8, 2.5, 0.5, 2.3, -0.3, 1.2),
    # ten cards of the suit in hand
    "length": (-0.1, 2.3, 3.4, -2.8, -2.7, -1.9, 0.7, -1.2, -2.3),
    # ten ranks of a side card, twenty of a trump
    "rank": (-1.8, 1.5, -8.1, -4.4, -2.9, -0.3, -4.9, 0.6, -0.2),
    # a trump, for each five trumps beyond the fair share and two
    "long_trumps": (0.3, 0.7, 0.1, -7.8, 3.3, -0.3, -0.3, 3.9, 1.0),
    # a suit that the partner is out of, led with a card that does not hold
    "partner_ruffs": (0.6, 1.1, 8.9, 0.2, -0.1, -1.6, 1.0, -0.7, -1.1),
    # all copies in hand
    "whole": (7.6, 7.4, 3.5, 5.1, 4.7, 1.3, 4.7, 6.3, 2.8),
    # each card that holds in a suit with thirty points outside
    "hold_rich": (0.0, 3.1, 2.7, 1.7, -2.2, 0.0, 0.6, -0.5, -0.3),
    # each card that does not, in such a suit
    "lose_rich": (-0.6, -3.9, 2.7, 1.1, -0.8, -0.2, -0.9, -0.2, -0.6),
    # a trump, for each twenty trumps outside
    "trumps_out": (-0.3, -1.1, -3.7, -2.9, 0.7, -0.1, -0.5, 1.1, -0.1),
}
"""A lead's worth."""

FOLLOW: dict[str, tuple[float, ...]] = {
    # the trick taken and not lost again
    "safe": (1.2, -3.6, -2.7, -3.1, -0.4, -0.5, -1.0, 0.3, -1.0),
    # each ten points in it
    "safe_points": (18.2, 7.9, 0.5, 4.1, 2.4, 3.9, 7.7, 15.6, 3.2),
    # the trick taken for now
    "win": (3.4, 2.6, 3.3, 1.9, 2.0, 1.6, 2.7, 3.6, 3.1),
    # ten points of one's own in a trick that stays taken
    "own_safe": (13.5, 6.7, 5.1, 12.8, 0.1, 1.6, 5.5, 6.1, 2.8),
    # ten points of what the cards are worth in hand (taken off)
    "win_cost": (16.1, 6.7, 5.9, 6.2, 7.7, 4.4, 5.5, 3.2, 2.4),
    # the chance of the last trick afterwards
    "win_control": (40.1, -0.9, 0.7, -4.0, 1.9, -0.2, -0.2, -0.4, 0.4),
    # each card that the partner still adds
    "feed": (4.0, -3.7, -4.6, -0.2, 0.5, 0.7, 2.0, 0.2, -0.1),
    # the partner overtaken
    "over_partner": (-1.9, -4.8, -10.9, 0.3, -0.7, -2.0, -2.9, -0.4, -1.1),
    # each ten points in a trick that was his
    "over_points": (2.7, 3.9, -1.7, -1.5, -1.5, 1.5, 1.5, 3.1, 1.6),
    # a ruff
    "ruff": (-0.1, -0.8, 0.6, -0.1, 2.8, -1.1, 0.7, 0.4, 0.1),
    # each ten points ruffed
    "ruff_points": (2.9, 4.8, 7.0, 1.8, 2.2, 1.2, 2.6, 3.7, 2.2),
    # ten ranks of a side card, twenty of a trump
    "win_rank": (2.3, 0.9, -0.3, -0.2, -5.4, 0.5, 2.6, 4.9, 2.5),
    # ten points of what cards thrown are worth in hand (taken off)
    "throw_cost": (17.6, 6.7, 6.1, 6.2, 4.7, 5.5, 6.8, 5.0, 6.2),
    # ten points thrown on a trick of our side
    "throw_own": (23.4, 9.1, 7.9, 12.6, 10.6, 6.0, 13.5, 11.4, 6.5),
    # ten points thrown
    "throw_points": (-14.9, -5.3, 2.9, 1.0, -6.6, -3.3, -3.1, -10.5, -3.7),
    # the last cards of a side suit thrown from it
    "throw_empties": (-1.1, 1.0, 6.4, 1.7, -2.8, -1.1, -0.4, -4.2, -0.7),
    # ten cards in hand of the suit thrown from
    "throw_length": (-0.6, 1.1, 1.9, -2.3, -1.8, -0.5, -2.5, -1.8, -0.6),
    # a trump thrown
    "throw_trump": (0.5, -0.6, -3.5, -0.2, -1.7, -0.5, 0.5, 2.7, -0.6),
    # a trick left to our side
    "ours": (6.6, 1.8, 2.1, 1.9, 2.2, 2.8, 3.7, 3.0, 2.5),
    # each ten points in it
    "our_trick": (18.9, 7.0, 9.2, 4.7, 6.3, 5.4, 8.1, 7.9, 5.7),
    # the chance of the last trick after a throw
    "keep_control": (38.2, -1.3, -3.8, 1.4, -0.3, -0.3, -1.6, -3.0, 0.2),
    # the trick taken as the last to play
    "win_last": (-4.7, -2.7, 5.2, -1.6, -4.0, -2.4, -4.1, -5.1, -3.3),
    # ten points of one's own in a trick taken
    "own": (-5.1, -2.6, -1.0, 3.5, -3.3, -1.7, -2.4, -2.6, -2.5),
    # the same in a suit with thirty points outside
    "feed_rich": (0.1, 0.9, 2.0, -1.1, 1.1, 0.4, 1.5, 0.8, -1.0),
    # ten ranks of a side card thrown
    "throw_rank": (-0.7, -1.1, 1.0, -2.5, -0.3, -1.2, -0.3, -0.2, 1.4),
    # all but one of them
    "throw_shortens": (0.2, -1.2, -4.9, -3.4, -3.3, -0.4, 0.2, 1.4, -1.5),
}
"""The worth of taking a trick, and of what is thrown."""
