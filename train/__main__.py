"""Run ``gunzi train`` from a checkout: ``python -m train``."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), *(str(_ROOT / part) for part in ("agents", "train", "eval"))]

from gunzi_env.cli import GROUP, run  # noqa: E402  imported after the checkout's packages are on the path

if __name__ == "__main__":
    sys.exit(run("train", EntryPoint("train", "gunzi_train.commands.train:main", GROUP), sys.argv[1:]))
