"""Settings of all tests, their tiers, and the file of hands that failed them."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# Tests run the numpy code; test_compiled.py compares the compiled code with it.
os.environ.setdefault("GUNZI_COMPILED", "0")

from tests.support import regressions
from tests.support.tiers import tier

# The same examples on every run and no time limit for one: a busy machine is no fault of the code.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with its tier."""
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        item.add_marker(tier(item.nodeid, parameters.values()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Add the hand that a failure names to the hands that every later run replays."""
    report = yield
    if call.excinfo is not None:
        for broken in regressions.broken_laws(call.excinfo.value):
            regressions.keep(broken)
    return report
