"""Seeds: one number names a run, and every stream of chance in it has a seed derived from that number."""

from __future__ import annotations

import hashlib


def derived_seed(seed: int, *what: object) -> int:
    """A seed of 62 bits for one purpose, different for every purpose and process."""
    digest = hashlib.sha256(repr((seed, *what)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 2
