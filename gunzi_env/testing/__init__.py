"""The invariants of the game (R11) as functions, for testing rule changes and agents."""

from gunzi_env.testing.case import Case, LawBroken
from gunzi_env.testing.laws import (
    Met,
    check_actions,
    check_cards,
    check_legal,
    check_score,
    check_sizes,
    check_tables,
    check_views,
    random_actions,
    random_hands,
    replay,
)

__all__ = [
    "Case",
    "LawBroken",
    "Met",
    "check_actions",
    "check_cards",
    "check_legal",
    "check_score",
    "check_sizes",
    "check_tables",
    "check_views",
    "random_actions",
    "random_hands",
    "replay",
]
