"""The engine against the oracle, a second implementation written from RULES.md alone: every field at every ply."""

from __future__ import annotations

import pytest

from gunzi_env.rules import Rules
from tests.support.against_oracle import play_against_oracle
from tests.support.variants import VARIANTS


@pytest.mark.parametrize("preset", Rules.presets())
@pytest.mark.parametrize("pass_probability", [0.0, 0.9])
def test_presets(preset: str, pass_probability: float) -> None:
    assert play_against_oracle(Rules.preset(preset), 12, 1, 11, pass_probability) > 1500


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_variants(rules: Rules) -> None:
    assert play_against_oracle(rules, 6, 1, 5, 0.5) > 700
