"""A second opinion on ratings: openskill's Bradley-Terry model, made independent of the order of games.

openskill (https://openskill.me; Weng and Lin, Journal of Machine Learning Research 12, 2011) updates two ratings after
each game, so its result depends on the order of games. Here each meeting gives up to ``GAMES`` games, won in its own
proportion; they are played in ``SHUFFLES`` orders, drawn from a seed after the meetings were sorted, and the results
averaged. So the order of files and pairs means nothing, and the spread over the orders says what order would have done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gunzi_env.cli.options import UsageError
from gunzi_eval.stats.bradley_terry import ELO, Meeting

GAMES = 200
SHUFFLES = 12


def ratings(meetings: Sequence[Meeting], anchor: str, seed: int) -> dict[str, tuple[float, float]]:
    """Each agent's rating in Elo points, ``anchor`` at 0, and its standard deviation over the orders.

    Raises:
        UsageError: openskill is not installed.
    """
    try:
        from openskill.models import BradleyTerryFull
    except ModuleNotFoundError:
        raise UsageError("--openskill needs openskill, which is not installed: pip install 'gunzi[rating]'") from None
    model = BradleyTerryFull()
    names = sorted({name for m in meetings for name in (m.a, m.b)})
    games = [game for m in sorted(meetings) for game in _games(m)]
    rng = np.random.default_rng(seed)
    found = np.empty((SHUFFLES, len(names)))
    for k in range(SHUFFLES):
        players = {name: model.rating(name=name) for name in names}
        for at in rng.permutation(len(games)):
            winner, loser = games[at]
            [[players[winner]], [players[loser]]] = model.rate([[players[winner]], [players[loser]]])
        zero = players[anchor]
        # The model's log-odds of one player against another are their difference over the root of all variances.
        found[k] = [
            ELO * (p.mu - zero.mu) / math.sqrt(p.sigma**2 + zero.sigma**2 + 2 * model.beta**2)
            for p in (players[name] for name in names)
        ]
    means, spreads = found.mean(axis=0), found.std(axis=0)
    return {name: (float(means[k]), float(spreads[k])) for k, name in enumerate(names)}


def _games(meeting: Meeting) -> list[tuple[str, str]]:
    """(winner, loser) of as many games as stand for the meeting."""
    number = min(meeting.deals, GAMES)
    won = round(meeting.share * number)
    return [(meeting.a, meeting.b)] * won + [(meeting.b, meeting.a)] * (number - won)
