"""Modules that the tests share: oracle, prepared games, small runs, golden files, and the long runs of the Makefile."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
DATA = ROOT / "tests" / "data"
"""Golden files and the hands that once showed a fault."""
