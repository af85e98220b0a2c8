"""numba's decorators for the kernels, and the cache of compiled code.

numba reuses cached code while the source file is unchanged; it does not notice changes of imported constants and
functions. So the cache folder is named after a hash of the whole package, and another version never finds it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

PACKAGE = Path(find_spec("gunzi_env").submodule_search_locations[0])  # type: ignore[union-attr,index]


def version_hash(package: Path = PACKAGE) -> str:
    """Hash every source file of a package, sub-packages included."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def cache_folder() -> str | None:
    """The first writable folder: numba's setting, beside the package, the user's cache; None if there is none."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    bases = [Path(told)] if told else [PACKAGE / "__pycache__", Path(home) / "gunzi"]
    for base in bases:
        folder = base / f"compiled-{version_hash()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return str(folder)
    return None


_folder = cache_folder()


def jit(function: Kernel) -> Kernel:
    """Compile a kernel at its first call, without the interpreter's lock; cache it if there is a folder."""
    config: Any = numba.config
    njit: Any = numba.njit
    before = config.CACHE_DIR
    config.CACHE_DIR = _folder or before
    try:
        compiled: Kernel = njit(cache=_folder is not None, nogil=True)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


def inlined(function: Kernel) -> Kernel:
    """Inline a part of a kernel; a compiled function of its own would count references to all arrays at every call."""
    njit: Any = numba.njit
    part: Kernel = njit(inline="always")(function)
    return part
