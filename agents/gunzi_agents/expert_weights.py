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
    "single": (9.3, 0.3, -0.6, 3.0, 0.0, 1.3, 3.4, 3.3, 2.6),  # a single that no opponent beats
    "pair": (14.8, 3.5, 0.4, -2.7, -0.9, -0.7, 3.3, 2.5, -0.5),  # such a pair
    "triple": (24.4, 0.2, -0.8, 3.3, 0.6, 3.2, 2.8, 1.7, 3.0),  # such a triple or quad
    "our_points": (12.1, -1.5, -1.7, 3.4, 0.7, 0.7, 1.9, 1.3, 1.4),  # ten points led that our side wins
    "points": (-6.4, -2.5, -0.6, 4.0, -2.3, -0.2, -0.1, -1.1, -1.0),  # ten points led
    "lose": (-3.1, 3.4, 7.6, -0.7, 2.8, -0.6, 1.1, -1.6, -0.7),  # each card led to a trick that is lost
    "cost": (10.1, 0.8, 2.4, 2.1, 1.0, 0.9, -0.4, -0.7, 0.7),  # ten points of what the cards are worth in hand (taken off)
    "control": (48.7, 8.7, 8.2, 3.2, 7.6, 5.4, 9.3, 3.3, 4.9),  # the chance of the last trick afterwards
    "trump": (-1.6, -0.8, -1.9, -4.7, 2.6, -1.5, -2.9, -0.1, -0.5),  # a trump
    "trump_holds": (-2.8, -2.7, -1.9, -0.6, -3.2, -1.5, -2.6, -1.7, -3.1),  # a trump that no opponent beats
    "partner_void": (2.1, 1.4, 3.6, 0.9, 1.0, 1.8, 2.0, 0.8, 2.5),  # a suit that the partner is out of
    "they_void": (-2.2, -1.6, 1.1, -2.0, -2.0, -1.2, -1.3, -2.7, -2.1),  # a suit that an opponent is out of
    "empties": (0.6, 0.3, 2.3, 1.1, 3.2, 0.8, -0.2, -0.2, -0.4),  # the last cards of a side suit
    "length": (-0.3, 0.3, -0.4, -0.2, -3.7, -2.3, 1.0, -1.0, -0.2),  # ten cards of the suit in hand
    "rank": (-0.2, -2.0, -5.6, -3.0, -0.9, -2.0, -0.5, 1.1, -1.2),  # ten ranks of a side card, twenty of a trump
    "long_trumps": (-0.5, -0.2, 0.0, -3.5, 2.0, -0.5, -1.0, 1.2, 0.4),  # a trump, for each five trumps beyond the fair share and two
    "partner_ruffs": (-0.2, -0.1, 2.2, 0.7, 0.1, -0.7, -0.1, -1.4, -0.4),  # a suit that the partner is out of, led with a card that does not hold
    "whole": (4.5, 4.8, 1.9, 3.8, 3.6, 0.6, 3.7, 4.2, 0.9),  # all copies in hand
    "hold_rich": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # each card that holds in a suit with thirty points outside
    "lose_rich": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # each card that does not, in such a suit
    "trumps_out": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # a trump, for each twenty trumps outside
}
"""A lead's worth."""

FOLLOW: dict[str, tuple[float, ...]] = {
    "safe": (2.6, -1.7, 0.0, -0.7, -0.1, 0.5, -0.2, 0.8, 0.4),  # the trick taken and not lost again
    "safe_points": (13.9, 2.9, 1.6, 3.4, 1.5, 3.1, 3.7, 6.9, 3.7),  # each ten points in it
    "win": (1.0, 0.5, 1.7, 0.5, 0.5, 0.7, 0.8, 1.5, 1.0),  # the trick taken for now
    "own_safe": (10.6, 2.7, 4.1, 7.3, -4.4, 1.3, 2.1, 1.9, 1.5),  # ten points of one's own in a trick that stays taken
    "win_cost": (12.8, 3.0, 1.5, 2.8, 3.5, 2.7, 2.7, 1.1, 1.8),  # ten points of what the cards are worth in hand (taken off)
    "win_control": (40.3, -0.1, 1.4, -1.3, 0.0, -0.4, 0.2, 0.8, -0.1),  # the chance of the last trick afterwards
    "feed": (4.4, -2.0, -2.6, 0.8, 0.5, -0.1, 0.7, 0.5, 0.6),  # each card that the partner still adds
    "over_partner": (-1.0, -2.0, -2.5, -1.1, -0.4, -0.6, -0.7, 0.1, -0.9),  # the partner overtaken
    "over_points": (1.9, 1.7, 1.0, -0.6, 0.2, 0.6, 1.6, 3.3, 1.2),  # each ten points in a trick that was his
    "ruff": (0.3, 0.1, 1.1, 0.7, 1.0, -0.3, 0.1, 1.1, -0.2),  # a ruff
    "ruff_points": (1.1, 1.5, 2.9, 1.0, 0.6, 0.5, 1.6, 1.8, 1.0),  # each ten points ruffed
    "win_rank": (0.3, -0.4, 0.8, 0.2, -3.2, 0.1, 0.4, 1.8, 0.5),  # ten ranks of a side card, twenty of a trump
    "throw_cost": (14.3, 3.9, 4.0, 3.4, 3.6, 2.8, 3.4, 4.2, 3.1),  # ten points of what cards thrown are worth in hand (taken off)
    "throw_own": (17.3, 4.9, 4.5, 7.2, 3.9, 2.9, 7.3, 7.9, 4.6),  # ten points thrown on a trick of our side
    "throw_points": (-9.8, -2.0, 2.0, 2.5, -6.4, -1.6, -0.7, -2.8, -1.8),  # ten points thrown
    "throw_empties": (-0.9, 0.2, 4.3, 0.2, -0.9, 0.5, -0.6, -3.5, 0.0),  # the last cards of a side suit thrown from it
    "throw_length": (-0.2, 0.6, 0.1, 0.2, -1.9, -0.3, -1.3, -0.1, 0.2),  # ten cards in hand of the suit thrown from
    "throw_trump": (0.2, -0.4, -1.8, -1.9, -1.2, 0.6, 1.6, 0.3, 0.2),  # a trump thrown
    "ours": (4.6, 1.2, 0.4, 1.5, 2.0, 1.4, 1.7, 1.7, 2.8),  # a trick left to our side
    "our_trick": (14.4, 4.3, 3.4, 2.8, 3.4, 4.2, 4.0, 4.2, 4.5),  # each ten points in it
    "keep_control": (39.0, -0.9, -3.2, 0.2, -0.3, -0.4, -0.9, -1.9, -0.4),  # the chance of the last trick after a throw
    "win_last": (-2.6, -2.3, 1.8, -1.0, -3.2, -1.3, -2.2, -2.1, -1.2),  # the trick taken as the last to play
    "own": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # ten points of one's own in a trick taken
    "feed_rich": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # the same in a suit with thirty points outside
    "throw_rank": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # ten ranks of a side card thrown
    "throw_shortens": (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),  # all but one of them
}
"""The worth of taking a trick, and of what is thrown."""
