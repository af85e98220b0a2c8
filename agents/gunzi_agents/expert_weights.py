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
    "single": (14.1, 6.0, -4.5, 7.2, 1.7, 2.3, 5.8, 6.2, 2.0),
    # such a pair
    "pair": (14.5, 10.8, 6.4, -7.0, 1.4, 0.5, 6.2, -0.6, 1.0),
    # such a triple or quad
    "triple": (27.9, -0.6, -2.7, 4.0, 3.7, 4.8, 7.9, 6.4, 3.1),
    # ten points led that our side wins
    "our_points": (16.7, 1.1, 5.7, 5.1, 7.2, 2.8, 4.0, 5.3, 2.2),
    # ten points led
    "points": (-10.4, -3.4, 7.9, 7.2, -3.5, -0.9, -6.5, -3.6, -1.2),
    # each card led to a trick that is lost
    "lose": (-2.5, 1.4, 16.0, -6.8, 5.4, -0.6, 2.2, -4.1, 1.1),
    # ten points of what the cards are worth in hand (taken off)
    "cost": (9.4, -0.4, 3.0, 3.5, -0.3, 1.2, -1.4, -2.2, 1.7),
    # the chance of the last trick afterwards
    "control": (62.6, 22.2, 20.6, 16.3, 16.4, 14.2, 19.8, 11.7, 12.3),
    # a trump
    "trump": (-2.0, -3.7, -11.5, -9.0, 3.5, -2.1, -4.0, 0.8, -0.7),
    # a trump that no opponent beats
    "trump_holds": (-7.8, -6.4, -3.2, -0.8, -11.8, -7.8, -6.8, -6.6, -10.0),
    # a suit that the partner is out of
    "partner_void": (4.1, 2.4, 11.3, -0.4, -0.7, 3.4, 5.4, 3.0, 3.6),
    # a suit that an opponent is out of
    "they_void": (-4.7, -1.0, 12.1, -0.8, -6.0, -0.3, -3.4, -5.8, -1.8),
    # the last cards of a side suit
    "empties": (1.2, -0.9, 12.0, 2.7, 5.8, -0.7, 4.5, -0.9, -1.0),
    # ten cards of the suit in hand
    "length": (-2.6, 3.1, 6.7, -7.6, -4.2, -2.8, -1.3, -3.9, -2.1),
    # ten ranks of a side card, twenty of a trump
    "rank": (-1.9, 1.4, -14.1, -5.2, -1.9, 1.1, -6.2, -0.4, -0.6),
    # a trump, for each five trumps beyond the fair share and two
    "long_trumps": (0.7, 1.7, -1.7, -10.5, 3.3, 0.4, -0.9, 4.9, 2.4),
    # a suit that the partner is out of, led with a card that does not hold
    "partner_ruffs": (0.3, 0.4, 9.1, 0.5, -1.7, -1.2, 0.8, -0.4, -2.6),
    # all copies in hand
    "whole": (7.9, 6.7, 2.5, 4.8, 5.1, 0.8, 3.4, 6.7, 3.2),
    # each card that holds in a suit with thirty points outside
    "hold_rich": (-0.9, 3.2, 4.0, 1.7, -1.8, 0.0, 0.2, -1.0, -0.2),
    # each card that does not, in such a suit
    "lose_rich": (0.1, -6.7, 0.8, 2.7, -2.2, 0.0, 0.1, -0.6, -0.1),
    # a trump, for each twenty trumps outside
    "trumps_out": (0.0, -1.9, -7.7, -4.0, 0.9, -0.4, -1.2, 1.9, -0.3),
}
"""A lead's worth."""

FOLLOW: dict[str, tuple[float, ...]] = {
    # the trick taken and not lost again
    "safe": (1.1, -3.8, -0.7, -2.8, 0.0, 0.6, -1.0, 0.9, -1.3),
    # each ten points in it
    "safe_points": (19.4, 10.2, 4.4, 5.3, 2.3, 4.2, 8.4, 18.8, 2.8),
    # the trick taken for now
    "win": (3.8, 3.1, 5.5, 2.3, 2.3, 1.8, 3.5, 3.6, 3.2),
    # ten points of one's own in a trick that stays taken
    "own_safe": (16.0, 9.3, 6.8, 14.7, 2.8, 3.6, 8.0, 9.0, 3.9),
    # ten points of what the cards are worth in hand (taken off)
    "win_cost": (17.6, 7.6, 5.3, 6.8, 10.1, 5.4, 6.9, 3.8, 3.5),
    # the chance of the last trick afterwards
    "win_control": (39.2, -1.4, 2.8, -5.5, 3.6, -0.1, -0.9, -2.2, -0.1),
    # each card that the partner still adds
    "feed": (4.2, -4.1, -3.9, 2.1, -0.9, 1.5, 1.2, 0.7, 0.2),
    # the partner overtaken
    "over_partner": (-2.5, -5.9, -13.1, 0.8, 0.0, -1.4, -3.4, -0.8, -2.2),
    # each ten points in a trick that was his
    "over_points": (2.1, 5.2, -0.5, -1.5, -0.2, 1.3, 0.6, 2.5, 1.9),
    # a ruff
    "ruff": (-0.1, -1.9, -0.6, -1.1, 2.9, -0.5, 2.0, 0.4, -0.3),
    # each ten points ruffed
    "ruff_points": (3.5, 6.1, 8.6, 0.5, 2.0, 2.0, 3.5, 5.0, 3.0),
    # ten ranks of a side card, twenty of a trump
    "win_rank": (3.4, 2.2, 1.9, -1.1, -7.0, 1.3, 4.3, 5.8, 3.1),
    # ten points of what cards thrown are worth in hand (taken off)
    "throw_cost": (20.0, 8.9, 9.0, 10.3, 6.5, 6.5, 8.5, 6.7, 6.3),
    # ten points thrown on a trick of our side
    "throw_own": (25.8, 10.0, 8.0, 14.1, 10.5, 6.0, 16.8, 15.9, 6.2),
    # ten points thrown
    "throw_points": (-16.0, -6.3, 5.0, 0.5, -9.1, -4.2, -1.9, -8.9, -6.0),
    # the last cards of a side suit thrown from it
    "throw_empties": (-1.4, 1.3, 7.4, 2.0, -4.0, 0.6, -1.1, -2.5, 1.5),
    # ten cards in hand of the suit thrown from
    "throw_length": (-0.7, 2.4, 3.3, -0.6, -1.5, -0.5, -3.6, -1.6, -1.1),
    # a trump thrown
    "throw_trump": (0.8, 0.0, -3.2, -0.2, -2.0, -1.5, 0.7, 2.3, -0.4),
    # a trick left to our side
    "ours": (7.5, 2.5, 1.9, 1.8, 0.7, 3.4, 4.5, 4.1, 3.8),
    # each ten points in it
    "our_trick": (21.4, 8.3, 8.4, 5.1, 6.1, 5.3, 9.8, 10.0, 6.2),
    # the chance of the last trick after a throw
    "keep_control": (38.7, -1.6, -7.5, 1.9, -1.0, -0.6, -1.0, -2.4, 1.2),
    # the trick taken as the last to play
    "win_last": (-6.8, -3.6, 7.6, -1.4, -6.3, -3.5, -4.1, -7.3, -6.3),
    # ten points of one's own in a trick taken
    "own": (-7.4, -3.5, -1.0, 1.0, -2.3, -1.1, -3.0, -2.5, -2.8),
    # the same in a suit with thirty points outside
    "feed_rich": (-0.2, 0.4, 1.4, -1.0, 2.4, 1.4, -0.3, 0.9, -0.1),
    # ten ranks of a side card thrown
    "throw_rank": (-1.6, -1.8, 0.6, -3.5, -0.4, -1.4, -0.8, 0.2, 2.5),
    # all but one of them
    "throw_shortens": (-0.5, -1.1, -3.7, -4.8, -0.6, 1.3, 0.1, 0.0, 1.3),
}
"""The worth of taking a trick, and of what is thrown."""
