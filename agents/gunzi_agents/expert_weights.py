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
    "single": (17.3, 7.9, -8.7, 5.3, 2.6, 1.8, 9.2, 6.4, 1.4),
    # such a pair
    "pair": (15.2, 15.8, 12.3, -6.5, 3.5, 3.2, 10.8, 0.5, 5.4),
    # such a triple or quad
    "triple": (29.0, 3.8, 1.4, 4.2, 4.9, 5.1, 10.7, 9.0, 3.4),
    # ten points led that our side wins
    "our_points": (21.1, -3.2, 5.0, 8.9, 6.0, 2.4, 7.7, 7.4, 2.2),
    # ten points led
    "points": (-10.4, -8.3, 10.2, 15.0, -9.2, -1.6, -5.8, -5.2, -1.1),
    # each card led to a trick that is lost
    "lose": (-0.8, -0.4, 16.9, -10.8, 6.3, 0.1, 4.8, -2.9, 1.4),
    # ten points of what the cards are worth in hand (taken off)
    "cost": (9.8, -3.7, 0.9, 5.7, 0.4, 2.6, -3.9, -4.1, 2.6),
    # the chance of the last trick afterwards
    "control": (72.5, 31.6, 28.5, 26.2, 17.7, 24.9, 26.7, 15.8, 14.8),
    # a trump
    "trump": (-1.8, -1.5, -16.8, -10.1, 2.9, -1.8, -3.8, 0.8, -1.3),
    # a trump that no opponent beats
    "trump_holds": (-8.8, -6.2, -0.1, -3.8, -13.6, -9.5, -6.7, -5.5, -10.0),
    # a suit that the partner is out of
    "partner_void": (3.6, 1.5, 14.4, 1.4, 1.0, 2.2, 8.7, 4.6, 1.5),
    # a suit that an opponent is out of
    "they_void": (-6.6, -1.0, 18.8, 0.1, -7.8, -0.1, -2.7, -6.0, -1.2),
    # the last cards of a side suit
    "empties": (2.5, -5.1, 13.1, 4.6, 6.2, 0.1, 4.5, -1.1, 0.5),
    # ten cards of the suit in hand
    "length": (-3.0, 2.9, 14.9, -12.0, -4.2, -1.1, -1.1, -3.8, 1.1),
    # ten ranks of a side card, twenty of a trump
    "rank": (-2.5, -3.0, -25.2, -8.0, -4.1, 0.2, -6.8, -2.1, -1.2),
    # a trump, for each five trumps beyond the fair share and two
    "long_trumps": (1.8, 7.7, 2.5, -10.4, 3.4, 1.3, -1.0, 6.3, 1.8),
    # a suit that the partner is out of, led with a card that does not hold
    "partner_ruffs": (1.3, -0.5, 9.4, 2.1, -1.9, -0.6, 2.9, 1.6, -2.4),
    # all copies in hand
    "whole": (10.2, 6.8, 0.2, 7.7, 8.5, 2.0, 7.3, 10.1, 6.4),
    # each card that holds in a suit with thirty points outside
    "hold_rich": (-2.2, 4.9, 9.3, 1.8, -1.3, 0.4, 0.8, -2.4, 0.4),
    # each card that does not, in such a suit
    "lose_rich": (0.0, -6.1, 0.0, 4.3, -4.0, -0.3, 0.6, -0.7, 0.0),
    # a trump, for each twenty trumps outside
    "trumps_out": (0.5, 1.4, -12.2, -6.5, 0.9, 0.8, -0.5, 2.1, -0.1),
    # a lost trick that may bring the attackers to their goal
    "crosses": (0.0, 0.0, 0.3, 0.1, -0.5, 1.3, -0.3, 0.4, -0.4),
    # a sure trump where such trumps draw all of an opponent's
    "draws": (-0.9, -0.9, -0.9, -1.3, 0.2, -0.9, -1.0, -0.9, -0.5),
    # each trump by its height among those outside (0..1)
    "power": (-0.8, -0.8, -0.7, -0.4, -0.8, -1.0, -0.6, -0.7, -0.9),
}
"""A lead's worth."""

FOLLOW: dict[str, tuple[float, ...]] = {
    # the trick taken and not lost again
    "safe": (0.4, -6.2, -3.9, -3.7, 3.8, -0.2, -2.6, -0.9, -2.6),
    # each ten points in it
    "safe_points": (26.2, 13.4, 2.3, 8.9, 5.3, 3.6, 13.8, 27.1, 2.4),
    # the trick taken for now
    "win": (6.6, 4.1, 5.6, 2.5, 3.6, 2.5, 4.6, 4.7, 5.5),
    # ten points of one's own in a trick that stays taken
    "own_safe": (17.0, 11.6, 10.3, 20.9, 4.1, 3.2, 8.9, 9.0, 6.4),
    # ten points of what the cards are worth in hand (taken off)
    "win_cost": (18.6, 10.2, 8.2, 10.3, 11.9, 6.9, 8.8, 7.0, 4.8),
    # the chance of the last trick afterwards
    "win_control": (40.7, -0.8, 4.5, -2.9, 2.5, 2.7, 0.8, -2.6, 4.1),
    # each card that the partner still adds
    "feed": (5.3, -4.9, -7.8, 4.3, 0.9, 0.1, 0.9, 1.6, 1.1),
    # the partner overtaken
    "over_partner": (-2.1, -8.4, -18.0, 0.6, 1.0, -2.0, -2.7, -4.4, -4.3),
    # each ten points in a trick that was his
    "over_points": (1.0, 5.1, -3.1, -3.5, -1.6, 1.3, 0.9, -0.8, 4.6),
    # a ruff
    "ruff": (0.5, -2.5, 0.1, -0.2, 2.1, 0.9, 2.7, 1.8, 0.4),
    # each ten points ruffed
    "ruff_points": (2.4, 7.2, 8.2, -0.5, -2.3, 3.1, 2.7, 5.7, 3.2),
    # ten ranks of a side card, twenty of a trump
    "win_rank": (6.3, 2.5, -0.1, -3.1, -10.4, 1.6, 5.6, 6.4, 3.1),
    # ten points of what cards thrown are worth in hand (taken off)
    "throw_cost": (23.7, 10.7, 10.8, 14.0, 10.0, 6.2, 11.1, 5.1, 6.4),
    # ten points thrown on a trick of our side
    "throw_own": (30.6, 15.9, 13.2, 18.0, 14.7, 8.5, 19.0, 17.9, 8.5),
    # ten points thrown
    "throw_points": (-20.0, -5.7, 11.3, 1.6, -10.2, -5.3, -5.8, -12.3, -6.4),
    # the last cards of a side suit thrown from it
    "throw_empties": (-3.7, 0.1, 7.3, 0.0, -1.9, -1.2, -4.6, -3.8, 2.1),
    # ten cards in hand of the suit thrown from
    "throw_length": (-3.0, -0.4, -2.3, -2.6, 0.1, -0.5, -4.7, -2.3, -1.1),
    # a trump thrown
    "throw_trump": (0.8, 1.5, -0.4, -2.5, -4.3, -0.8, 1.8, 0.2, 0.1),
    # a trick left to our side
    "ours": (8.9, 1.5, 1.1, 4.8, -2.1, 5.0, 6.6, 4.9, 4.3),
    # each ten points in it
    "our_trick": (25.9, 13.0, 14.5, 6.1, 7.3, 6.9, 11.8, 14.7, 5.6),
    # the chance of the last trick after a throw
    "keep_control": (38.4, 0.1, -4.2, 0.5, 2.2, 0.4, -1.6, 0.0, 1.4),
    # the trick taken as the last to play
    "win_last": (-8.1, -7.8, 6.4, 0.8, -9.5, -5.1, -7.7, -11.0, -6.9),
    # ten points of one's own in a trick taken
    "own": (-11.1, -3.1, 4.0, 6.2, -7.3, -2.7, -4.3, -6.5, -2.9),
    # the same in a suit with thirty points outside
    "feed_rich": (0.7, 3.6, 0.8, -0.5, 1.2, 0.5, -2.3, 2.5, 0.1),
    # ten ranks of a side card thrown
    "throw_rank": (-1.6, -2.4, 4.3, -2.7, -0.3, -0.7, -0.7, 3.6, 2.8),
    # all but one of them
    "throw_shortens": (-1.0, -3.1, -11.3, -2.1, -0.5, -0.8, 1.8, 0.4, -3.9),
    # the partner overtaken where his card was safe
    "over_safe": (0.0, 0.1, 0.6, 0.1, 0.5, 0.6, 0.1, -0.3, -0.3),
    # each ten points in such a trick
    "over_safe_points": (0.1, -0.1, -0.1, -0.4, 0.6, 0.3, 0.1, 0.4, 0.0),
    # ten points thrown on a trick that is lost for certain
    "lost_points": (0.3, 0.4, 0.4, 0.7, -1.7, 0.1, 0.2, 0.5, 0.6),
    # ten points of what cards thrown on it are worth in hand (taken off)
    "lost_cost": (-0.4, -0.5, -0.5, -0.1, -1.1, -0.7, -0.7, -0.3, -0.5),
    # the trick taken and kept where it may bring the attackers to their goal
    "win_crosses": (0.1, 0.3, 0.3, 0.3, 0.5, -0.4, 0.5, 0.3, 0.5),
    # points thrown that bring them there, as far as the trick is theirs
    "throw_crosses": (0.4, 0.3, 0.0, 1.2, -0.1, 0.2, 1.5, 0.1, 0.2),
    # each trump played by its height among those outside (0..1)
    "win_power": (0.3, -0.2, -0.1, 0.7, -0.6, 0.2, 0.2, 0.4, 0.2),
    # each trump thrown by its height
    "throw_power": (-0.1, -0.1, -0.4, 0.4, -0.1, 0.2, -0.5, 0.8, 0.6),
}
"""The worth of taking a trick, and of what is thrown."""
