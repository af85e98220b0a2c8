"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every run and no time limit for one: a busy machine is no fault of the code.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")
