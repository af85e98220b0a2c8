"""Da Gunzi (打滚子), the partnership trick-taking game of Dalian, as a vectorised environment.

>>> Rules.presets()
('dalian', 'dalian_dead', 'classic', 'four_deck')
"""

import pettingzoo as _pettingzoo

from gunzi_env import position, record, rulebook
from gunzi_env.aec import env, parallel_env, raw_env
from gunzi_env.engine import IllegalAction
from gunzi_env.resample import resample
from gunzi_env.rules import Rules
from gunzi_env.vector import VectorEnv

__version__ = "0.1.0"

__all__ = [
    "IllegalAction", "Rules", "VectorEnv", "env", "parallel_env", "position", "raw_env", "record", "resample",
    "rulebook",
]  # fmt: skip

if hasattr(_pettingzoo, "register"):  # pragma: no branch - from PettingZoo 1.27 on, one version is installed
    _pettingzoo.register("aec", "gunzi/dagunzi-v0", entry_point="gunzi_env:env")
