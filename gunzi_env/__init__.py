"""Da Gunzi (打滚子): the partnership trick game of Dalian as a vectorised environment.

>>> Rules.presets()
('dalian', 'dalian_dead', 'classic', 'four_deck')
"""

from gunzi_env.engine import IllegalAction
from gunzi_env.rules import Rules
from gunzi_env.vector import VectorEnv

__version__ = "0.1.0"

__all__ = ["IllegalAction", "Rules", "VectorEnv"]
