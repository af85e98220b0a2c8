"""Weights of ``expert``'s features, in points (:mod:`gunzi_agents.expert_play`).

A row has a feature's coefficient for each of :data:`CIRCUMSTANCES`; the feature's weight is their dot product with the
circumstances of the decision. The coefficients were trained by self-play from ``greedy``'s own weights, in about
200,000 hands, with ``python -m gunzi_train.tuning.tune``: PPO of a softmax policy over the values of plays, rewarded by
levels (at most three per hand) and points, at the end of training three and a half levels per hundred points. The bot
does not learn while playing.
"""

from __future__ import annotations

CIRCUMSTANCES = ("always", "late", "end", "attacker", "dealer", "jokers", "winning", "close", "kitty")
"""In order: constant 1; share of the hand played; nearness of the end (1 at the end, 0.37 with five cards left);
the viewer attacks; the viewer is the dealer; jokers in the kitty as R9 counts them, if known; probability of winning by
S; how much a few points decide; points in the kitty in twenties, if known."""

LEAD: dict[str, tuple[float, ...]] = {
    # a single that no opponent beats
    "single": (15.5, 6.4, -7.9, 6.3, 2.0, 1.5, 7.7, 4.9, 3.0),
    # a pair that no opponent beats
    "pair": (15.4, 15.1, 11.1, -6.1, 3.0, 2.7, 9.9, 0.7, 1.6),
    # a triple or quad that no opponent beats
    "triple": (29.4, 2.5, 0.9, 3.9, 4.5, 5.3, 10.4, 8.8, 4.6),
    # ten points led and won by our side
    "our_points": (20.1, -2.5, 5.0, 5.4, 7.9, 2.5, 6.9, 7.6, 2.4),
    # ten points led
    "points": (-11.1, -7.7, 10.9, 9.6, -6.5, -1.6, -6.8, -4.5, -1.9),
    # each card led to a lost trick
    "lose": (-1.5, -1.7, 14.2, -11.6, 7.5, -0.3, 4.0, -2.4, 0.1),
    # ten points of the cards' value in hand (subtracted)
    "cost": (9.4, -2.7, 1.1, 6.0, -0.1, 2.1, -2.7, -3.2, 1.9),
    # probability of winning the last trick afterwards
    "control": (70.7, 29.8, 26.6, 25.0, 20.2, 21.9, 26.2, 14.8, 15.2),
    # a trump
    "trump": (-2.1, -1.8, -16.7, -11.6, 3.1, -2.0, -4.9, -0.1, -1.5),
    # a trump that no opponent beats
    "trump_holds": (-8.5, -6.0, 0.0, -3.4, -15.2, -6.3, -8.1, -5.8, -8.9),
    # a suit in which the partner is void
    "partner_void": (3.2, 0.9, 12.5, 1.9, -0.4, 1.5, 7.4, 4.9, 2.7),
    # a suit in which an opponent is void
    "they_void": (-7.0, -1.6, 17.9, -0.7, -6.8, -0.6, -2.2, -5.5, -0.5),
    # the last cards of a side suit
    "empties": (1.8, -5.4, 11.3, 2.9, 5.8, 0.1, 4.8, -0.1, -1.7),
    # ten cards of the suit in hand
    "length": (-3.1, 3.0, 15.6, -10.0, -5.7, -3.1, -0.8, -3.8, -1.0),
    # ten ranks of a side card, twenty of a trump
    "rank": (-3.3, -2.7, -24.0, -9.5, -1.9, -0.1, -7.0, -3.7, -0.3),
    # a trump, for each five trumps above the average plus two
    "long_trumps": (0.7, 6.1, 0.0, -10.5, 2.9, 0.7, -1.9, 4.7, 1.8),
    # a suit in which the partner is void, led with a card that does not hold
    "partner_ruffs": (-0.1, -1.8, 8.3, 0.7, -3.7, -2.2, 1.6, 1.6, -2.6),
    # all copies in hand
    "whole": (10.6, 7.7, 2.4, 6.7, 8.0, 1.5, 7.4, 10.9, 7.1),
    # each card that holds in a suit with thirty points outside
    "hold_rich": (-2.3, 3.9, 9.9, 1.9, -2.2, 0.0, 0.1, -2.3, -0.3),
    # each card that does not hold in a suit with thirty points outside
    "lose_rich": (0.5, -8.5, -5.6, 2.0, -2.4, 0.0, 0.2, -0.2, -0.5),
    # a trump, for each twenty trumps outside
    "trumps_out": (-0.2, 0.8, -12.4, -7.2, 0.6, 0.3, -1.8, 0.8, -0.4),
}
"""Features of a lead."""

FOLLOW: dict[str, tuple[float, ...]] = {
    # the trick won for good
    "safe": (-0.2, -5.3, -2.0, -4.2, 2.2, 0.1, -2.2, -0.6, -2.6),
    # each ten points in a trick won for good
    "safe_points": (24.8, 13.8, 3.1, 8.4, 2.8, 3.7, 12.7, 24.4, 1.4),
    # the trick won so far
    "win": (5.3, 3.6, 5.5, 2.0, 2.9, 1.5, 4.0, 4.0, 4.0),
    # ten points of one's own in a trick won for good
    "own_safe": (17.7, 13.8, 11.9, 19.3, 4.8, 4.0, 9.6, 8.6, 4.7),
    # ten points of the cards' value in hand (subtracted)
    "win_cost": (18.5, 9.2, 7.2, 9.2, 11.9, 5.9, 8.2, 4.9, 5.0),
    # probability of winning the last trick afterwards
    "win_control": (39.9, -0.9, 5.5, -3.7, 3.3, 1.4, -0.9, -2.4, 3.0),
    # each card that the partner has still to add
    "feed": (4.7, -4.9, -6.7, 4.1, 0.9, 1.8, 1.3, 2.3, 0.8),
    # the partner overtaken
    "over_partner": (-1.7, -7.3, -16.2, 0.3, 1.2, -1.1, -2.9, -2.1, -3.2),
    # each ten points in a trick that was the partner's
    "over_points": (1.7, 5.1, -4.2, -4.2, -1.0, 1.0, 0.6, 0.1, 3.3),
    # a ruff
    "ruff": (0.4, -2.2, -0.6, -0.2, 2.3, -0.8, 1.8, 2.1, -0.6),
    # each ten points ruffed
    "ruff_points": (3.0, 8.0, 8.9, -0.8, -2.2, 2.8, 2.1, 6.2, 4.1),
    # ten ranks of a side card, twenty of a trump
    "win_rank": (5.1, 2.5, 0.9, -2.8, -10.7, 1.8, 3.9, 6.3, 3.0),
    # ten points of the value in hand of cards thrown (subtracted)
    "throw_cost": (22.2, 9.7, 10.0, 13.0, 8.9, 7.1, 11.2, 7.1, 6.5),
    # ten points thrown on a trick of our side
    "throw_own": (29.4, 15.0, 13.2, 15.9, 15.5, 8.8, 17.8, 18.8, 9.2),
    # ten points thrown
    "throw_points": (-21.1, -7.9, 8.2, -0.8, -9.8, -5.8, -7.1, -13.1, -6.3),
    # the last cards of a side suit thrown from it
    "throw_empties": (-4.2, -1.6, 4.5, -2.5, -1.4, -1.3, -4.9, -4.0, 1.1),
    # ten cards held in the suit thrown from
    "throw_length": (-1.8, 1.5, 2.0, -1.6, -0.2, 0.7, -2.4, -0.6, 0.9),
    # a trump thrown
    "throw_trump": (0.5, 1.2, -0.2, -0.1, -5.7, -0.6, 1.2, -2.4, 0.3),
    # a trick left to our side
    "ours": (8.8, 1.3, 0.0, 3.0, 0.9, 4.8, 5.8, 4.6, 4.5),
    # each ten points in a trick left to our side
    "our_trick": (26.5, 12.7, 12.8, 7.2, 8.7, 6.2, 13.3, 14.5, 6.0),
    # probability of winning the last trick after a throw
    "keep_control": (38.4, -0.9, -6.4, 0.7, 0.7, 0.0, -0.6, -0.7, 0.7),
    # the trick won as the last to play
    "win_last": (-7.6, -5.8, 7.6, 0.5, -7.5, -3.5, -6.6, -9.0, -5.6),
    # ten points of one's own in a trick won so far
    "own": (-10.9, -2.6, 3.2, 3.3, -5.1, -2.0, -4.7, -7.2, -4.4),
    # each card that the partner has still to add, in a suit with thirty points outside
    "feed_rich": (0.0, 2.9, 0.2, -1.6, 3.2, 0.7, -3.0, 1.5, 0.9),
    # ten ranks of a side card thrown
    "throw_rank": (-2.3, -2.9, 2.4, -3.4, 0.7, -2.0, -1.5, 0.1, 1.4),
    # all but one card of a side suit thrown from it
    "throw_shortens": (-3.1, -5.1, -11.8, -5.9, -0.9, -1.7, -0.7, -2.8, -4.0),
}
"""Features of winning a trick, and of throwing cards."""
