"""Positions: any state of a hand, set up from text and written down as text."""

from gunzi_env.position.checks import PHASES
from gunzi_env.position.setup import parse, play_actions, setup
from gunzi_env.position.text import PositionError, format_position

__all__ = ["PHASES", "PositionError", "format_position", "parse", "play_actions", "setup"]
