"""The faults that ``tests.support.mutants`` plants: where, what, and the kind of report each stands for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of one place."""

    name: str
    report: str
    """What a user would see."""
    path: str
    old: str
    """Text that stands exactly once in the file."""
    new: str
    first: tuple[str, ...] = ()
    """Tests that lie nearest, run before the others to save time."""


PLAY = ("tests/rules/test_r7_play.py",)
ENGINE = "gunzi_env/engine.py"
TRICKS = "gunzi_env/chapters/tricks.py"
BIDDING = "gunzi_env/chapters/bidding.py"
TRIBUTE = "gunzi_env/chapters/tribute.py"
KITTY = "gunzi_env/chapters/kitty.py"
SELECTION = "gunzi_env/chapters/selection.py"
ORDER = "gunzi_env/order.py"
OBSERVE = "gunzi_env/observe.py"
VIEWS = "gunzi_env/views.py"
KERNELS = "gunzi_env/compiled/tricks.py"
KERNELS_SEEN = "gunzi_env/compiled/encoding.py"
RESULT = "gunzi_env/chapters/settlement.py"
SEEN = ("tests/env/test_hidden.py", "tests/env/test_observe.py")

# fmt: off
MUTANTS: tuple[Mutant, ...] = (
    # Who wins, and what is trump
    Mutant(
        "top card alone compared", "two singles beat a pair", TRICKS,
        "whole = play.take((t.led_count[g] - 1) * np.intp(number) + np.arange(number)) & t.win_mask[g]",
        "whole = play[0] & t.win_mask[g]\n    whole &= ~whole + U64(1)",
        PLAY,
    ),
    Mutant(
        "equal card played later wins", "an equal card played later wins", TRICKS,
        "stronger = strength.take(t.layout.key(level, slot)) > strength",
        "stronger = strength.take(t.layout.key(level, slot)) >= strength",
        PLAY,
    ),
    Mutant(
        "twos are not trumps", "a 2 is not counted as trump", ORDER,
        "pack(suits == np.arange(4)[:, None])", "pack((suits == np.arange(4)[:, None]) & (ranks != LOWEST_RANK))",
        ("tests/rules/test_r2_order.py",),
    ),
    Mutant(
        "a discard may win", "a card of a third suit wins the trick", TRICKS,
        "t.win_mask[g] = mask | layout.suit_mask.take(level * 4 + TRUMP)",
        "t.win_mask[g] = FULL",
        PLAY,
    ),
    # Following
    Mutant(
        "live and dead exchanged", "shape duty binds where it should not", TRICKS,
        '    if t.rules.follow == "dead":\n        t.floor[g] = np.where((suited',
        '    if t.rules.follow == "live":\n        t.floor[g] = np.where((suited',
        PLAY,
    ),
    Mutant(
        "a triple dodges the pair duty", "who holds a triple besides his pair need not play the pair", TRICKS,
        "floor[(owed == 2) & pair] = 2", "floor[(owed == 2) & pair & ~triple] = 2", PLAY,
    ),
    Mutant(
        "named cards still count as held", "a legal play is refused, or a card is played twice", TRICKS,
        "where((hand[0] & led_mask) == 0)) & ~t.pending_slots[g]",
        "where((hand[0] & led_mask) == 0))",
        ("tests/env/test_legality.py",),
    ),
    Mutant(
        "the mask dead-ends", "a game stops in the middle of a play: nothing is legal", TRICKS,
        "spare = need - np.int16(1)",
        "spare = need - np.int16(2)",
        ("tests/env/test_legality.py",),
    ),
    Mutant(
        "two pairs forgotten", "pair and pair are not demanded under a quad", TRICKS,
        "floor[quad & (bits(exact[1]) >= 2)] = TWO_PAIRS", "floor[quad & (bits(exact[1]) > 2)] = TWO_PAIRS", PLAY,
    ),
    Mutant(
        "suit duty dropped", "a player throws any card although he could follow", TRICKS,
        "    pool = hand & mask\n", "    pool = hand & ~named\n", PLAY,
    ),
    Mutant(
        "rulebook and engine disagree", "the generator of whole plays and the engine's masks differ",
        "gunzi_env/rulebook.py",
        "    t.held[0] = size\n", "    t.held[0] = number\n", ("tests/env/test_rulebook.py",),
    ),
    # Bids
    Mutant(
        "a low bid outbids the jokers", "a low bid outbids the jokers", BIDDING,
        "(strength[:, None] > t.bid_strength[g])", "(strength[:, None] > t.bid_strength[g] % (decks + 1))",
        ("tests/rules/test_r4_bidding.py",),
    ),
    Mutant(
        "the bidder is asked again", "the closing window goes round once too often or too seldom", BIDDING,
        "    t.passes[window] = 0\n", "    t.passes[window] = 1\n", ("tests/rules/test_r4_bidding.py",),
    ),
    Mutant(
        "the action table disagrees", "a precomputed table of actions disagrees with the rules", "gunzi_env/actions.py",
        "[0, 1, 2, 3] * 2", "[0, 1, 2, 3, 0, 1, 3, 2]", ("tests/env/test_actions.py",),
    ),
    Mutant(
        "flips are ranked in play order", "display order where play order is meant, or the other way round", BIDDING,
        "key = np.where(flipped, rank if high else", "key = np.where(flipped, (rank + 12) % 13 if high else",
        ("tests/rules/test_r4_show.py",),
    ),
    Mutant(
        "shown cards keep their old places", "display order used where play order is meant", BIDDING,
        "    reveal(t, rows)\n    _relabel(t, rows)\n", "    reveal(t, rows)\n", ("tests/rules/test_r4_bidding.py",
        *SEEN),
    ),
    Mutant(
        "the suit after a show is any suited card", "the joker's suit comes from a card drawn before it", BIDDING,
        "(position >= t.drawn[g, None])", "(position >= 0)", ("tests/rules/test_r4_show.py",),
    ),
    # Tribute, kitty
    Mutant(
        "places instead of cards", "returning tribute goes by positions in the hand instead of cards", SELECTION,
        "    t.last[g] = NUM_SLOTS - 1\n", "    t.last[g] = planes.count(pool) - 1\n",
        ("tests/rules/test_r5_tribute.py",),
    ),
    Mutant(
        "giver and receiver exchanged", "a rare mode has two variables swapped", TRIBUTE,
        "t.giver[rows], t.receiver[rows] = t.dealer[rows], who",
        "t.receiver[rows], t.giver[rows] = t.dealer[rows], who",
        ("tests/rules/test_r5_tribute.py",),
    ),
    Mutant(
        "point cards are given", "tribute takes point cards", TRIBUTE,
        "    mask = ~t.layout.point_cards[level]\n", "    mask = ~t.layout.fives[level]\n",
        ("tests/rules/test_r5_tribute.py",),
    ),
    Mutant(
        "trumps returned before side cards", "the classes of a return are in the wrong order", TRIBUTE,
        "[~points & ~trumps, ~points & trumps, points]", "[~points & trumps, ~points & ~trumps, points]",
        ("tests/rules/test_r5_tribute.py",),
    ),
    Mutant(
        "six cards buried with four decks", "a constant is shared between deck counts", KITTY,
        "nothing | FULL, count(kitty[:, ~dry]))", "nothing | FULL, np.full(len(rows), 6, np.int16))",
        ("tests/rules/test_r6_kitty.py",),
    ),
    Mutant(
        "small jokers buried first", "a small joker is buried while a big one stays", SELECTION,
        " & ~small\n", "\n", ("tests/rules/test_r6_kitty.py",),
    ),
    Mutant(
        "point cards are picked up", "the pick-up for jokers takes points out of the kitty", KITTY,
        "~(JOKERS | layout.point_cards[level])", "~(JOKERS | layout.fives[level])", ("tests/rules/test_r6_kitty.py",),
    ),
    Mutant(
        "level cards break a dry pot", "the two readings of a dry pot are exchanged", KITTY,
        'if rules.dry_pot == "permanent_neutral":', 'if rules.dry_pot == "ordinary_trump":',
        ("tests/rules/test_r6_dry.py",),
    ),
    Mutant(
        "the window counts once", "jokers go in although nothing is left to pick up", KITTY,
        "    t.pickable[g] = count_pickable(t, g)\n    return g\n", "    return g\n", ("tests/rules/test_r6_kitty.py",),
    ),
    # Points, results
    Mutant(
        "seat instead of side", "a seat's number is used where its side relative to the dealer is meant", TRICKS,
        "attackers = (winner ^ t.dealer[g]) & 1",
        "attackers = winner & 1",
        PLAY,
    ),
    Mutant(
        "copies led count once", "the points of a pair led count once", TRICKS,
        "t.trick_points[g] = number * layout.points.take(key)",
        "t.trick_points[g] = layout.points.take(key)",
        PLAY,
    ),
    Mutant(
        "the kitty counts once", "a dig counts the kitty once", RESULT,
        "np.where(dug, 2 * t.layout.value(level, kitty), 0)", "np.where(dug, t.layout.value(level, kitty), 0)",
        ("tests/rules/test_r8_counting.py",),
    ),
    Mutant(
        "jokers count in a dry pot", "jokers of a dry pot give levels and blood", RESULT,
        "jokers = np.where(dry, 0, 2 * big + small)", "jokers = 2 * big + small", ("tests/rules/test_r9_result.py",),
    ),
    Mutant(
        "attackers leave a must-play level", "attackers leave a level that has to be dealt", RESULT,
        "    held_back = must[levels]\n", "    held_back = must[levels] & False\n", ("tests/rules/test_r9_result.py",),
    ),
    Mutant(
        "the wrong team falls back", "a mode that random play never meets punishes the wrong team", RESULT,
        "after[rows[fallen], dealers[fallen]] = rules.first_level",
        "after[rows[fallen], attackers[fallen]] = rules.first_level",
        ("tests/rules/test_r9_result.py", "tests/rules/test_r9_jokers_blood.py"),
    ),
    Mutant(
        "blood is rounded down", "blood for a low score is one short", RESULT,
        "low = -((score - rules.blood_low) // 10)", "low = (rules.blood_low - score) // 10",
        ("tests/rules/test_r9_jokers_blood.py",),
    ),
    # Masks, refusals, state
    Mutant(
        "the first mask is stale", "the mask after a reset is wrong until the first step", ENGINE,
        "        enter_chapters(t, {Phase.TRIBUTE: closed})\n    refresh(t, started)\n",
        "        enter_chapters(t, {Phase.TRIBUTE: closed})\n",
        ("tests/rules/test_r4_bidding.py",),
    ),
    Mutant(
        "illegal moves pass", "an illegal move is accepted silently", ENGINE,
        "good = inside & space.is_legal(legal, chosen) | ~waiting", "good = inside | ~waiting",
        ("tests/env/test_engine.py",),
    ),
    Mutant(
        "something is left of the last hand", "the same game differs after earlier ones", ENGINE,
        "for flags in (t.void, t.no_pair,", "for flags in (t.void,", ("tests/env/test_restore.py",),
    ),
    Mutant(
        "the deal hangs on the place", "a table in a batch plays another game than alone", "gunzi_env/chapters/deal.py",
        "return mix(t.seed[g], t.table_id[g], t.match[g], t.hand[g])",
        "return mix(t.seed[g], g, t.match[g], t.hand[g])",
        ("tests/env/test_batch.py",),
    ),
    Mutant(
        "a copy shares its cards", "a clone changes with its original", "gunzi_env/tables.py",
        "self._with(self.num, [buffer.copy() for buffer in self.buffers]",
        "self._with(self.num, [*self.buffers]",
        ("tests/env/test_engine.py",),
    ),
    Mutant(
        "the network's mask is left out", "a trained model plays illegal moves when it is evaluated",
        "agents/gunzi_agents/neural.py",
        "np.where(legal, self.logits(observe.encode(view)), np.float32(2 * ILLEGAL))",
        "self.logits(observe.encode(view))",
        ("tests/agents/test_neural.py",),
    ),
    Mutant(
        "the bot throws pairs it may not name", "bot and referee disagree on pairs, and the game stops",
        "agents/gunzi_agents/greedy_play.py",
        "(need == sum(parts)) & able[first - 1] & (total < price)", "(need == sum(parts)) & (total < price)",
        ("tests/agents/test_greedy_legal.py",),
    ),
    # Hidden cards
    Mutant(
        "the kitty is sent to all", "the whole state is sent and only the page hides it", VIEWS,
        "(me == t.dealer.take(g)) & (phase >= _JOKERS), out=out.kitty_known",
        "phase >= _JOKERS, out=out.kitty_known",
        SEEN,
    ),
    Mutant(
        "cards set aside are sent to all", "a half-made choice is seen by the others", VIEWS,
        "np.multiply(t.flat.take(g + PENDING * num, axis=1), mine, out=out.pending)",
        "out.pending[:] = t.flat.take(g + PENDING * num, axis=1)",
        SEEN,
    ),
    Mutant(
        "a return is seen by all", "what two seats alone may know is told to all", VIEWS,
        "rows = ((me == t.receiver.take(g)) & (t.returned[0].take(g) != 0)).nonzero()[0]",
        "rows = (t.returned[0].take(g) != 0).nonzero()[0]",
        SEEN,
    ),
    Mutant(
        "the others see the mover's mask", "the cards of the seat to move show through its mask", "gunzi_env/aec.py",
        "            masks[seat] = t.actions.unpack(t.legal)\n",
        "            masks[:] = t.actions.unpack(t.legal)[0]\n",
        ("tests/env/test_pettingzoo.py", "tests/env/test_hidden.py", "tests/env/test_observe.py"),
    ),
    Mutant(
        "two pieces overlap", "one piece of the observation overwrites another, distinct states look alike", OBSERVE,
        "            first.append(k)\n            widths.append(0)\n",
        "            first.append(k)\n            widths.append(-len(first) // 2)\n",
        SEEN,
    ),
    Mutant(
        "absolute and relative seats mixed", "the leader is told by seat number, all else seen from the viewer",
        VIEWS,
        "    out.seat[:] = me\n",
        "    out.seat[:] = me\n    out.leader[:] = t.leader.take(g)\n",
        SEEN,
    ),
    Mutant(
        "flags in the wrong place", "flags of the observation are wrong since nothing decodes them", OBSERVE,
        '_flags("flags", (0, 4, 1, 2, 3))',
        '_flags("flags", (0, 1, 4, 2, 3))',
        SEEN,
    ),
    Mutant(
        "every play looks like the first", "the history in the observation repeats one play", OBSERVE,
        'rest[:3] = v.by_seat("trick")[0, 1:]',
        'rest[:3] = v.by_seat("trick")[0, [1, 1, 1]]',
        SEEN,
    ),
    # Rewards and API
    Mutant(
        "partners paid apart", "the reward goes to neighbours instead of partners", "gunzi_env/vector/episodes.py",
        "np.stack([team, -team, team, -team], axis=1)", "np.stack([team, team, -team, -team], axis=1)",
        ("tests/env/test_engine.py",),
    ),
    Mutant(
        "the last reward is lost", "seats that did not act last never receive the final reward", "gunzi_env/aec.py",
        "        self._accumulate_rewards()\n", "        self._cumulative_rewards[agent] += self.rewards[agent]\n",
        ("tests/env/test_pettingzoo.py",),
    ),
    Mutant(
        "cut off counts as ended", "a match that was cut off is reported as ended", "gunzi_env/aec.py",
        "self.truncations = dict.fromkeys(AGENTS, True)", "self.terminations = dict.fromkeys(AGENTS, True)",
        ("tests/env/test_pettingzoo.py",),
    ),
    # Several processes do not play what one plays
    Mutant(
        "lent twice", "what was returned is overwritten by a later step", "gunzi_env/vector/shared_memory.py",
        "if lent is None or lent() is None:", "if lent is None or number:",
        ("tests/env/test_workers.py",),
    ),
    Mutant(
        "workers play the same deals", "forked workers all played identical games", "gunzi_env/vector/pool.py",
        '[(ids[part],) for part in self._parts]', '[(ids[: part.stop - part.start],) for part in self._parts]',
        ("tests/env/test_workers.py",),
    ),
    # The compiled play is not the vectorised one
    Mutant(
        "compiled: equal card played later wins", "an equal card played later wins", KERNELS,
        "if cards[level, slot, STRENGTH] > cards", "if cards[level, slot, STRENGTH] >= cards",
        ("tests/env/test_compiled.py",),
    ),
    Mutant(
        "compiled: the kitty is sent to all", "the kitty is seen by all", KERNELS_SEEN,
        "or (me == octets[r.dealer, n] and phase >= _JOKERS)", "or phase >= _JOKERS",
        ("tests/env/test_compiled.py",),
    ),
)
