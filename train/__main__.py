"""``python -m train`` from a checkout: the same as ``gunzi train``."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(_ROOT), str(_ROOT / "agents"), str(_ROOT / "train")]

from gunzi_train.cli import main  # noqa: E402  the checkout's packages come first

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
