"""OpenSkill ratings (Bradley-Terry model), averaged over the order of games, to compare with Elo ratings.

OpenSkill (https://openskill.me; Weng and Lin, Journal of Machine Learning Research 12, 2011) updates two ratings after
each game, so its result depends on the order of games. Here each result becomes up to ``GAMES`` games with the same
share of wins. They are played in ``SHUFFLES`` random orders and the ratings are averaged. The results are sorted before
the orders are drawn, so that the order of files and pairs does not matter; the spread over the orders shows the effect
of the order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gunzi_env.cli.options import UsageError
from gunzi_eval.stats.bradley_terry import ELO, PairResult

GAMES = 200
SHUFFLES = 12


def ratings(results: Sequence[PairResult], anchor: str, seed: int) -> dict[str, tuple[float, float]]:
    """Return the rating of each agent in Elo points, with ``anchor`` at 0, and its standard deviation over the orders.

    Raises:
        UsageError: openskill is not installed.
    """
    try:
        from openskill.models import BradleyTerryFull
    except ModuleNotFoundError:
        raise UsageError("--openskill needs openskill, which is not installed: pip install 'gunzi[rating]'") from None
    model = BradleyTerryFull()
    names = sorted({name for m in results for name in (m.a, m.b)})
    games = [game for m in sorted(results) for game in _games(m)]
    rng = np.random.default_rng(seed)
    found = np.empty((SHUFFLES, len(names)))
    for k in range(SHUFFLES):
        players = {name: model.rating(name=name) for name in names}
        for at in rng.permutation(len(games)):
            winner, loser = games[at]
            [[players[winner]], [players[loser]]] = model.rate([[players[winner]], [players[loser]]])
        zero = players[anchor]
        # The log-odds between two players are the difference of their means over the square root of all variances.
        found[k] = [
            ELO * (p.mu - zero.mu) / math.sqrt(p.sigma**2 + zero.sigma**2 + 2 * model.beta**2)
            for p in (players[name] for name in names)
        ]
    means, spreads = found.mean(axis=0), found.std(axis=0)
    return {name: (float(means[k]), float(spreads[k])) for k, name in enumerate(names)}


def _games(result: PairResult) -> list[tuple[str, str]]:
    """Return (winner, loser) of each game that represents the result."""
    number = min(result.deals, GAMES)
    won = round(result.share * number)
    return [(result.a, result.b)] * won + [(result.b, result.a)] * (number - won)
