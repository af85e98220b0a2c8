"""Every setting of a training run; read from TOML files that hold only the differences from the defaults.

>>> read_toml_text('ppo.lr = 1e-4').ppo.lr
0.0001
>>> read_toml_text('collect.table = 64')
Traceback (most recent call last):
    ...
gunzi_train.config.sections.ConfigError: config: unknown key collect.table; allowed: collect.tables, collect.steps
"""

from gunzi_train.config.reading import (
    as_dict,
    check,
    check_end,
    flat,
    from_dict,
    read_toml,
    read_toml_text,
    set_paths,
)
from gunzi_train.config.sections import (
    ALGORITHMS,
    GROUP,
    SPREAD,
    CollectConfig,
    Config,
    ConfigError,
    EvaluateConfig,
    NetConfig,
    PopulationConfig,
    PPOConfig,
    RayConfig,
    RewardConfig,
    SaveConfig,
    ScheduleConfig,
    algorithm_class,
    algorithms,
    register,
    shown_figures,
)

__all__ = [
    "ALGORITHMS",
    "GROUP",
    "SPREAD",
    "CollectConfig",
    "Config",
    "ConfigError",
    "EvaluateConfig",
    "NetConfig",
    "PPOConfig",
    "PopulationConfig",
    "RayConfig",
    "RewardConfig",
    "SaveConfig",
    "ScheduleConfig",
    "algorithm_class",
    "algorithms",
    "as_dict",
    "check",
    "check_end",
    "flat",
    "from_dict",
    "read_toml",
    "read_toml_text",
    "register",
    "set_paths",
    "shown_figures",
]
