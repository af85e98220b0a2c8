"""Leads and follows of ``expert``: features weighted by circumstances.

The value of a play in points is a weighted sum of features (:data:`LEAD`, :data:`FOLLOW`), such as the probability that
it holds, the points that it wins and its cost. The weights depend on the circumstances of the hand
(:data:`CIRCUMSTANCES`): cards left, side, jokers and points in the kitty, and the score relative to the threshold (R9).

The weights (:mod:`gunzi_agents.expert_weights`) were trained by self-play. Some plays look like mistakes: overtaking
the partner's sure trick to gain the lead, or throwing points on a lost trick to keep a shape. Thirteen variants that
forbid such a play, or make it more expensive, were tested in 4,096 duplicate deals each against the bot: none gained
levels, and the intervals of five lay below 0.

Arrays as in :mod:`gunzi_agents.reading`: slots first, decisions last.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from gunzi_agents.expert_weights import CIRCUMSTANCES, FOLLOW, LEAD
from gunzi_agents.greedy_play import NEVER, Player, cheapest
from gunzi_agents.reading import NEXT, PARTNER, PREVIOUS, Counts, Flags, Floats, Slots, counts, pick
from gunzi_env import planes
from gunzi_env.order import BIG_JOKER_SLOT, SMALL_JOKER_SLOT, TRUMP
from gunzi_env.planes import NUM_SLOTS, pack

_SLOTS = np.arange(NUM_SLOTS)[:, None]
_SIDE = (np.arange(4) < TRUMP)[:, None]
_MOST_COST = np.float32(80)
"""Upper bound of the value of cards in hand, in points."""
_RELUCTANT = np.float32(200)
"""Price of throwing cards that would win."""
_SHARE = 0.42
"""Share of the unplayed points that attackers are assumed to win; a rough guess, like the spread."""
_SPREAD, _LEAST_SPREAD = 2.2, 5.0
"""Standard deviation of those points: per square root of the unplayed points, and constant part."""
_UNKNOWN_KITTY = 13
"""Points assumed in an unknown kitty."""

Weights = Mapping[str, tuple[float, ...]]


class ExpertPlayer(Player):
    """Values of plays that depend on score, kitty and the last trick."""

    # Circumstances ------------------------------------------------------------------------------------

    @cached_property
    def circumstances(self) -> Floats:
        """Values of :data:`CIRCUMSTANCES`, ``float32[9, B]``."""
        r, v = self.r, self.v
        held = v.held.astype(np.float32)
        attacker = (v.dealer & 1) == 1
        kitty = counts(v.kitty) * v.kitty_known
        jokers = (2 * kitty[BIG_JOKER_SLOT] + kitty[SMALL_JOKER_SLOT]) * ~v.dry  # R9's J
        buried = (kitty * r.points).sum(axis=0)
        chance, close = self._threshold(np.where(v.kitty_known, buried, _UNKNOWN_KITTY))
        found = {
            "always": np.ones_like(held),
            "late": 1 - held / r.rules.hand_size,
            "end": np.exp(-held / 5),
            "attacker": attacker,
            "dealer": v.dealer == 0,
            "jokers": np.minimum(jokers, 4),
            "winning": np.where(attacker, chance, 1 - chance),
            "close": close,
            "kitty": buried / 20,
        }
        out: Floats = np.stack([found[name] for name in CIRCUMSTANCES]).astype(np.float32)
        return out

    def _threshold(self, buried: Floats) -> tuple[Floats, Floats]:
        """Estimate P(S reaches ``take``) (R9) and its sensitivity to a few points, each ``[B]``."""
        v, rules = self.v, self.r.rules
        played = self._points_in(v.played.transpose(0, 2, 1))
        left = np.maximum(100 * rules.decks - played - buried + v.trick_points, 0)  # R1.4
        spread = np.sqrt(left) * _SPREAD + _LEAST_SPREAD
        z = (v.score + _SHARE * left - rules.take) / spread
        chance, close = 1 / (1 + np.exp(-1.7 * z)), np.exp(-z * z / 2) * 15 / spread
        return np.asarray(chance, np.float32), np.asarray(close, np.float32)

    def _points_in(self, cards: planes.Words) -> Floats:
        """Sum the points of planes ``uint64[D, k, B]`` over D and k, ``[B]``."""
        table = self.r.layout.points[self.v.level]
        fives, tens = pack(table == 5), pack(table == 10)
        total = 5 * planes.count(cards & fives) + 10 * planes.count(cards & tens)
        return np.asarray(total.sum(axis=0, dtype=np.float32))

    def _weights(self, table: Weights) -> dict[str, Floats]:
        """Compute the weight of each feature in each decision, ``float32[B]``."""
        columns = np.array([*table.values()], np.float32).T[:, :, None]
        # One by one, because the rounding of a matrix product may depend on the batch size.
        total = columns[0] * self.circumstances[0]
        for column, circumstance in zip(columns[1:], self.circumstances[1:], strict=True):
            total += column * circumstance
        return dict(zip(table, total, strict=True))

    # Shared by leads and follows ----------------------------------------------------------------------

    @cached_property
    def _rank(self) -> Floats:
        """Ranks of side cards in tenths, of trumps in twentieths, ``float32[54, B or 1]``."""
        r = self.r
        rank = np.where(r.trump, (_SLOTS - r.first_trump) / 20, _SLOTS % (r.first_trump // 3) / 10)
        return rank.astype(np.float32)

    @cached_property
    def _unseen_points(self) -> Floats:
        """Unseen points of each suit, in thirties, ``float32[4, B]``."""
        r = self.r
        worth = counts(r.unseen) * r.points
        return np.asarray(np.stack([(worth * (r.suit == suit)).sum(axis=0) for suit in range(4)]) / 30, np.float32)

    @cached_property
    def _spend(self) -> Floats:
        """Cost of playing m copies of a slot, in tens of points, ``float32[D, 54, B]``."""
        return np.asarray(np.minimum(self.cost, _MOST_COST) / np.float32(10), np.float32)

    # Leading --------------------------------------------------------------------------------------------

    def lead(self, legal: Flags) -> Slots:
        """Choose the best of the legal leads ``bool[D, 54, B]``: actions ``[B]``."""
        value = np.where(legal, self.lead_values(), NEVER)
        return value.reshape(-1, len(self.r.row)).argmax(axis=0)

    def lead_values(self) -> Floats:
        """Value leads of m copies of a slot, ``float32[D, 54, B]``."""
        r, w = self.r, self._weights(LEAD)
        run, left, _ = self._endings()
        partner = self._partner_takes()
        flat, if_holds = self._lead_suits(w)
        value = np.empty_like(run)
        for m in range(r.decks):
            n = np.float32(m + 1)
            holds = r.holds[m]
            lost = (1 - holds) * (1 - partner[m])
            shape = w["single"] if m == 0 else w["pair"] if m == 1 else w["triple"]
            points = r.points * (n / 10)
            empties = r.by_slot(np.where(_SIDE & (r.length == n), w["empties"], 0).astype(np.float32))
            out = value[m]
            np.multiply(holds, shape + if_holds + n * w["hold_rich"] * self._rich, out=out)
            out += flat + empties + self._rank * w["rank"] + (r.mine == n) * w["whole"]
            out += points * ((1 - lost) * w["our_points"] + w["points"])
            out += lost * (n * (w["lose"] + w["lose_rich"] * self._rich)) - self._spend[m] * w["cost"]
            out += w["control"] * (holds * np.maximum(run[m], left[m]) + (1 - holds) * left[m])
        return value

    @cached_property
    def _rich(self) -> Floats:
        """:attr:`_unseen_points` of each slot's suit, ``float32[54, B]``."""
        return np.asarray(self.r.by_slot(self._unseen_points), np.float32)

    def _lead_suits(self, w: dict[str, Floats]) -> tuple[Floats, Floats]:
        """Value leading a suit as such, and additionally if the lead holds; each ``float32[54, B]``."""
        r = self.r
        partner, either = r.out[PARTNER], np.maximum(r.out[NEXT], r.out[PREVIOUS])
        flat = partner * (w["partner_void"] + w["partner_ruffs"]) + either * w["they_void"]
        flat += r.length * (w["length"] / 10)
        if_holds = -partner * w["partner_ruffs"]
        trumps = r.length[TRUMP].astype(np.float32)
        long = np.maximum(trumps - planes.count(self.v.hand) * np.float32(0.39) - 2, 0) / 5
        outside = planes.count(r.unseen & r.masks[TRUMP]) / np.float32(20)
        flat[TRUMP] = w["trump"] + long * w["long_trumps"] + outside * w["trumps_out"]
        if_holds[TRUMP] = w["trump_holds"]
        return r.by_slot(flat.astype(np.float32)), r.by_slot(if_holds.astype(np.float32))

    # Following ------------------------------------------------------------------------------------------

    def follow(self, legal: Flags) -> Slots:
        """Choose the best of the legal units ``bool[D, 54, B]``: actions ``[B]``."""
        win, price, stay_out = self._follow_values()
        owed = self.v.led_count.astype(np.intp) - 1
        throw, paid = cheapest(price, legal, self.v.need)
        win = np.where(pick(legal, owed), win, NEVER)
        best = win.argmax(axis=0)
        return np.where(win[best, self.r.row] > stay_out - paid, owed * NUM_SLOTS + best, throw)

    def follow_values(self) -> Floats:
        """Value each unit, ``float32[D, 54, B]``; each of several cards thrown is assumed to cost the same."""
        win, price, stay_out = self._follow_values()
        copies = np.arange(1, self.r.decks + 1, dtype=np.float32)[:, None, None]
        value = stay_out - price * np.maximum(self.v.need / copies, 1)
        owed = self.v.led_count.astype(np.intp) - 1
        mine = (np.arange(self.r.decks)[:, None] == owed)[:, None]
        return np.where(mine & (win > NEVER), win, value)

    def _follow_values(self) -> tuple[Floats, Floats, Floats]:
        """Value winning with a slot ``[54, B]``, throwing m copies (a cost, ``[D, 54, B]``), and leaving the
        trick ``[B]``."""
        v, w = self.v, self._weights(FOLLOW)
        owed = v.led_count.astype(np.intp) - 1
        safe = self._safe(owed)
        ours = self._ours(owed, safe)
        run, left, top = self._endings()
        wins = self._wins(owed) & (pick(self.r.mine >= self._copies, owed))
        win = np.where(wins, self._win(w, owed, safe, pick(run, owed), pick(left, owed)), NEVER)
        price = self._price(w, ours, left - top)
        np.copyto(price, _RELUCTANT, where=wins & (np.arange(self.r.decks)[:, None] == owed)[:, None])
        held = (self.r.mine >= self._copies) & self._pool()
        price = np.where(held, price, -NEVER)
        trick = v.trick_points / np.float32(10)
        return win, price, ours * (w["ours"] + trick * w["our_trick"]) + top * w["keep_control"]

    @cached_property
    def _copies(self) -> Counts:
        return np.arange(1, self.r.decks + 1, dtype=np.int8)[:, None, None]

    def _win(self, w: dict[str, Floats], owed: Slots, safe: Floats, run: Floats, left: Floats) -> Floats:
        """Value winning the trick with each slot, ``float32[54, B]``."""
        r, v = self.r, self.v
        number = owed.astype(np.float32) + 1
        trick = v.trick_points / np.float32(10)
        feeds = number * self._after_me(PARTNER)
        rich = self._unseen_points[v.led_suit, r.row]
        ruffing = v.led_suit != TRUMP
        over_partner = v.best == PARTNER
        last = v.leader == NEXT
        points = r.points * (number / 10)
        flat = w["win"] + over_partner * (w["over_partner"] + trick * w["over_points"]) + last * w["win_last"]
        ruff = ruffing * (w["ruff"] + trick * w["ruff_points"])
        out = safe * (w["safe"] + trick * w["safe_points"] + feeds * (w["feed"] + rich * w["feed_rich"]))
        out += flat + r.trump * ruff + self._rank * w["win_rank"]
        out += points * (safe * w["own_safe"] + w["own"])
        out -= pick(self._spend, owed) * w["win_cost"]
        out += w["win_control"] * (safe * np.maximum(run, left) + (1 - safe) * left)
        return np.asarray(out, np.float32)

    def _price(self, w: dict[str, Floats], ours: Floats, lost_control: Floats) -> Floats:
        """Compute the cost of throwing m copies of a slot, ``float32[D, 54, B]``."""
        r, v = self.r, self.v
        need = np.maximum(v.need, 1).astype(np.float32)
        each = r.points * ((ours * w["throw_own"] + w["throw_points"]) / 10)
        # Features of the whole throw are divided among its cards.
        suits = r.length * (w["throw_length"] / 10)
        suits = suits + (r.length <= v.need) * w["throw_empties"] + (r.length - v.need == 1) * w["throw_shortens"]
        suits /= need
        suits[TRUMP] = 0
        discard = np.arange(4)[:, None] != v.led_suit
        suits *= discard
        flat = np.asarray(r.by_slot(suits.astype(np.float32)))
        units = np.where(r.trump, 0, self._rank * w["throw_rank"])
        units = units + r.trump * (r.suit != v.led_suit) * w["throw_trump"]
        price = np.empty_like(self.cost)
        for m in range(r.decks):
            n = np.float32(m + 1)
            np.multiply(self._spend[m], w["throw_cost"], out=price[m])
            price[m] -= n * (each + flat) + units
            whole = v.need == n
            price[m] -= (whole * w["keep_control"]) * lost_control[m]
        return price
