"""Hidden hands consistent with a :class:`gunzi_env.views.View`: what a determinised search plays on.

>>> import numpy as np
>>> from gunzi_env import Rules, engine, observe
>>> from gunzi_env.tables import Tables
>>> table = Tables(Rules.preset("classic"), 1)
>>> engine.reset(table, 1)
>>> seen = observe.view(table)
>>> worlds = resample(seen.rows([0, 0]), np.array([7, 8], np.uint64))
>>> worlds.num, bool((worlds.legal == table.legal).all()), observe.view(worlds).hand.tolist() == [
...     [word] * 2 for word in seen.hand[:, 0].tolist()]
(2, True, True)

A world is drawn uniformly: every way to lay the physical cards that are not located into the hidden hands and the
kitty, such that all of :mod:`gunzi_env.resample.constraints` holds, is equally likely. First come the numbers of cards
by class (:mod:`gunzi_env.resample.counts`), then which cards (:mod:`gunzi_env.resample.cards`). Nothing but the View is
known.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_env.keys import mix
from gunzi_env.planes import U64, Words
from gunzi_env.resample.cards import lay
from gunzi_env.resample.constraints import HIDDEN_KITTY, NUM_PLACES, Constraints, read
from gunzi_env.resample.counts import Counts, empty, propose
from gunzi_env.resample.odds import Odds
from gunzi_env.resample.tables import without_hidden
from gunzi_env.tables import HAND, KITTY, Index, Phase, Tables
from gunzi_env.views import View

__all__ = ["resample"]

_BLOCK = 4096
"""Worlds made at a time."""

_TRIES = 1 << 12
"""Proposals for a world, after which what dead following has shown is dropped; and as many again."""

_CARDS, _SEED = U64(1 << 32), U64(2 << 32)
"""Streams of chance, apart from the proposals, which are numbered."""


def resample(view: View, keys: Words) -> Tables:
    """B tables, one world a row, at exactly the decision of ``view`` (B rows): what the viewer sees and may do is
    equal, and the hand can be played on.

    ``keys``: ``uint64[B]``; a world follows from its row of the view and its key alone. For many worlds of one decision
    repeat its row (``view.rows(np.repeat(...))``): rows that are equal and stand together are prepared once. Hands to
    come are other ones than the true ones, and ``draw``, which says how the cards were dealt, is empty.

    Everybody in a world knows what he knows, with one exception: if it is not the viewer who returned cards (R5.4), he
    who did does not recall which.

    Where 4,096 proposals have found no world with what dead following has shown (R7.5), or what an exemption that did
    not happen has (R5.5), that is dropped for this world. Raises :class:`ValueError` for a row that is no decision of
    the viewer, for one of the bidding (a View does not tell how far its closing window has come, R4.6), for positions
    with cards out of play, and where no deal is consistent with what is seen.
    """
    keys = np.asarray(keys)
    if keys.dtype != U64 or keys.shape != (len(view),):
        raise ValueError(f"keys are {keys.dtype}{list(keys.shape)}: give uint64[{len(view)}], one a row of the view")
    _check_phases(view)
    if not len(view):
        return Tables(view.rules, 1).select(np.zeros(0, np.intp))
    first = _first_of_equals(view)
    which = first.cumsum() - 1
    distinct = view.rows(np.flatnonzero(first))
    base = without_hidden(distinct)
    constraints = read(distinct, base)
    places = np.empty((NUM_PLACES, view.rules.decks, len(view)), U64)
    for start in range(0, len(view), _BLOCK):
        rows = slice(start, start + _BLOCK)
        views = which[rows]
        some = constraints.rows(slice(views[0], views[-1] + 1))
        places[..., rows], lost = _draw(some, views - views[0], keys[rows])
        if len(lost):
            raise ValueError(f"row {start + lost[0]} of the view: no deal was found that is consistent with it")
    out = base.select(which)
    out.seed[:] = mix(keys, _SEED)
    everyone = np.arange(out.num)
    for place in range(HIDDEN_KITTY):
        out.put(everyone, HAND + ((out.seat + np.int8(place + 1)) & np.int8(3)), places[place])
    out.put(everyone, KITTY, out.holder(everyone, KITTY) | places[HIDDEN_KITTY])
    return out


def _check_phases(v: View) -> None:
    wrong = np.flatnonzero((v.phase < Phase.TRIBUTE) | (v.phase > Phase.FOLLOW))
    if len(wrong):
        phase = int(v.phase[wrong[0]])
        why = "it is not the viewer's move" if phase < 0 else f"phase {Phase(phase).name} is before the hands are dealt"
        raise ValueError(f"row {wrong[0]} of the view: {why}; hidden hands are drawn from phase TRIBUTE on")


def _first_of_equals(view: View) -> npt.NDArray[np.bool_]:
    """Which rows differ from the one before."""
    first = np.ones(len(view), np.bool_)
    first[1:] = False
    for buffer in view.buffers:
        first[1:] |= (buffer[:, 1:] != buffer[:, :-1]).any(axis=0)
    return first


def _draw(constraints: Constraints, v: Index, keys: Words) -> tuple[Words, Index]:
    """Hidden cards of the Views ``v`` as planes ``uint64[place, D, B]``, and the rows for which none were found."""
    out, missed = _try(constraints, v, keys)
    if not len(missed):
        return out, missed
    lenient = constraints._replace(never=np.zeros_like(constraints.never)).rows(v[missed])
    out[..., missed], lost = _try(lenient, np.arange(len(missed)), keys[missed])
    return out, missed[lost]


def _try(constraints: Constraints, v: Index, keys: Words) -> tuple[Words, Index]:
    """:func:`_draw` with all constraints."""
    odds = Odds(constraints)
    numbers, missed = _numbers(odds, v, keys)
    found = np.delete(np.arange(len(v)), missed)
    if not len(found):
        return np.zeros((NUM_PLACES, constraints.may.shape[1], len(v)), U64), missed
    roles = lay(odds, v[found], numbers.rows(found), mix(keys[found], _CARDS))
    out = np.empty((*roles.shape[:2], len(v)), U64)
    out[HIDDEN_KITTY][:, found] = roles[HIDDEN_KITTY]
    for role in range(HIDDEN_KITTY):
        out[odds.roles[role, v[found]], :, found] = roles[role].T
    return out, missed


def _numbers(odds: Odds, v: Index, keys: Words) -> tuple[Counts, Index]:
    """The first proposal accepted for each row; and the rows for which there was none."""
    out = empty(odds, len(v))
    possible = odds.possible[v]
    todo, tried, width = np.flatnonzero(possible), 0, 1
    while len(todo) and tried < _TRIES:
        rows = np.repeat(todo, width)
        proposal = np.tile(np.arange(tried, tried + width), len(todo))
        numbers, good = propose(odds, v[rows], mix(keys[rows], proposal))
        accepted = good.reshape(-1, width)
        found = np.flatnonzero(accepted.any(axis=1))
        out.put(todo[found], numbers, found * width + accepted[found].argmax(axis=1))
        todo, tried = np.delete(todo, found), tried + width
        # Few rows are left: many proposals at once, of which the first accepted counts whatever their number is.
        width = min(2 * width, max(1, _BLOCK // max(len(todo), 1)), _TRIES - tried)
    return out, np.sort(np.concatenate([todo, np.flatnonzero(~possible)]))
