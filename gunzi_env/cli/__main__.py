"""``python -m gunzi_env.cli``: the same as ``gunzi``."""

import sys

from gunzi_env.cli import main

if __name__ == "__main__":
    sys.exit(main())
