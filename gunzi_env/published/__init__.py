"""Tables published with the package, one file a preset: the states that hands start from, and match equity.

A file is a JSON document: a header, then ``rows`` whose columns the header's ``fields`` name. Another version of a file
is another benchmark.
"""

from __future__ import annotations

from typing import Any

from gunzi_env.rules import Rules


def header(version: int, rules: Rules, source: str, fields: list[str]) -> dict[str, Any]:
    """The header of a file for these rules; ``source`` says how the rows were made."""
    return {"version": version, "preset": rules.name, "rules": rules.digest, "source": source, "fields": fields}
