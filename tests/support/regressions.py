"""Hands that once showed a fault, one a line in ``tests/data/regressions.jsonl``, and played again for ever.

A test that fails with a :class:`gunzi_env.testing.LawBroken` adds its hand by itself (``conftest.py``); what
``make soak`` finds is added too. Commit the line with the mend.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from gunzi_env.testing import Case, LawBroken
from tests.support import DATA

FILE = DATA / "regressions.jsonl"


def cases() -> list[tuple[str, Case]]:
    """What was wrong with each hand, and the hand."""
    lines = FILE.read_text("utf-8").splitlines()
    return [(json.loads(line)["fault"], Case.parse(line)) for line in lines]


def keep(broken: LawBroken) -> None:
    """Add the hand of a broken law to the file, if it has one that is not there yet."""
    if broken.case is None or any(case == broken.case for _, case in cases()):
        return
    line = json.dumps({"fault": broken.law.splitlines()[0][:200], **json.loads(str(broken.case))})
    with FILE.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def broken_laws(error: BaseException) -> Iterator[LawBroken]:
    """The broken laws in an error, which may be a group of several."""
    if isinstance(error, LawBroken):
        yield error
    elif isinstance(error, BaseExceptionGroup):
        for part in error.exceptions:
            yield from broken_laws(part)
