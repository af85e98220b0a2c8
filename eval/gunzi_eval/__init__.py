"""Evaluation of Da Gunzi bots: duplicate matches with intervals, ratings, analysis, and the commands around them.

From Python:

>>> from gunzi_agents import registry
>>> from gunzi_env import Rules
>>> rules = Rules.preset("dalian")
>>> uniform = registry.make("uniform", rules)
>>> metrics = play_duplicate((uniform, uniform), rules, deals=2, seed=1)
>>> mean_interval(metrics.levels)  # the exchange of the teams cancels everything between equal agents
Interval(mean=0.0, low=0.0, high=0.0)

Elo ratings from results, each a share of hands won with its interval:

>>> result = PairResult("greedy", "uniform", deals=1000, share=10 / 11, low=0.89, high=0.93)
>>> [(found.name, round(found.rating)) for found in rating([result], anchor="uniform").ratings]
[('greedy', 400), ('uniform', 0)]

The choice of a bot at the decision of a table, and its values of the actions:

>>> import numpy as np
>>> from gunzi_env import engine
>>> from gunzi_env.tables import Tables
>>> tables = Tables(rules, 1)
>>> engine.reset(tables, seed=1)
>>> analysis = explain(uniform, tables, keys=np.array([1], np.uint64))
>>> bool(tables.actions.unpack(tables.legal)[0, analysis.choice])
True
"""

from gunzi_eval.matches.duplicate import play as play_duplicate
from gunzi_eval.stats.bradley_terry import PairResult
from gunzi_eval.stats.bradley_terry import fit as rating
from gunzi_eval.stats.intervals import Interval, mean_interval, share_interval
from gunzi_eval.table.analysis import Analysis
from gunzi_eval.table.analysis import analyse as explain

__all__ = [
    "Analysis", "Interval", "PairResult", "explain", "mean_interval", "play_duplicate", "rating", "share_interval",
]  # fmt: skip
