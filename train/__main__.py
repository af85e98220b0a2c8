"""Run ``gunzi train`` from a checkout: ``python -m train ...`` equals ``gunzi train ...``."""

import sys
from pathlib import Path

from gunzi_env.cli import main, use_checkout

if __name__ == "__main__":
    use_checkout(Path(__file__).resolve().parents[1])
    sys.exit(main(["train", *sys.argv[1:]]))
