"""``python -m eval arena ...`` from a checkout: the same as ``gunzi arena ...``."""

import sys

from gunzi_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
