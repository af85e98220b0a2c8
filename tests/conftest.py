"""Settings shared by all tests, and what becomes of the hands that fail them."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# The tests prove the vectorised play; that the compiled one is the same is a test of its own (test_compiled.py).
os.environ.setdefault("GUNZI_COMPILED", "0")

from tests.support import regressions

# The same examples on every run and no time limit for one: a busy machine is no fault of the code.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """A failure that names a hand adds it to the hands that are played again for ever."""
    report = yield
    if call.excinfo is not None:
        for broken in regressions.broken_laws(call.excinfo.value):
            regressions.keep(broken)
    return report
