"""Counter-based random numbers: every random number is a hash of the integers that identify it.

The generator is splitmix64 (Steele, Lea and Flood 2014). Every number depends only on its key, so results do
not depend on the batch, the order of computation or the process.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gunzi_env.planes import U64, Words

_GAMMA = U64(0x9E3779B97F4A7C15)
_MULTIPLIERS = (U64(0xBF58476D1CE4E5B9), U64(0x94D049BB133111EB))


def _finish(word: Words) -> Words:
    word = (word ^ (word >> U64(30))) * _MULTIPLIERS[0]
    word = (word ^ (word >> U64(27))) * _MULTIPLIERS[1]
    return word ^ (word >> U64(31))


def mix(*parts: npt.ArrayLike) -> Words:
    """Hash integer arrays, broadcast against each other, to ``uint64`` of the common shape.

    >>> int(mix(1, 2)[()]) == int(mix(1, 2)[()]) != int(mix(2, 1)[()])
    True
    """
    word = np.asarray(U64(0))
    with np.errstate(over="ignore"):
        for part in parts:
            array = np.asarray(part)
            array = array if array.dtype == U64 else array.astype(np.int64).astype(U64)
            word = _finish((word ^ array) + _GAMMA)
    return np.asarray(word)


def sequence(key: Words, length: int) -> Words:
    """Generate random numbers ``uint64[n, length]`` from the seeds ``key uint64[n]``."""
    with np.errstate(over="ignore"):
        return _finish(key[:, None] + (np.arange(length, dtype=U64) + U64(1)) * _GAMMA)
