"""Run ``gunzi`` commands from a checkout: ``python -m eval arena ...`` equals ``gunzi arena ...``."""

import sys

from gunzi_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
