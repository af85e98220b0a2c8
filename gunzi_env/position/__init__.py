"""Positions: set up a state of a hand from text, and format one as text."""

from gunzi_env.position.checks import PHASES
from gunzi_env.position.setup import parse, play_actions, setup
from gunzi_env.position.text import PositionError, format_position

__all__ = ["PHASES", "PositionError", "format_position", "parse", "play_actions", "setup"]
