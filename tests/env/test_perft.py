"""Perft: the numbers of action sequences in ``tests/data/perft/`` are those of the engine and of the oracle."""

from __future__ import annotations

from pathlib import Path

import pytest

from gunzi_env import Rules, engine, position
from gunzi_env.tables import Phase
from tests.support import perft
from tests.support.perft import FOLDER, Block, PerftError

PATHS = [FOLDER / f"{preset}.txt" for preset in Rules.presets()]


def block_of(preset: str, name: str) -> Block:
    return next(block for block in perft.read(FOLDER / f"{preset}.txt") if block.name == name)


def test_each_preset_has_a_file_and_nothing_else_has() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(PATHS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_counts(path: Path) -> None:
    """Every block by engine and oracle; together the blocks of a file ask every question there is."""
    faults, phases = [], set()
    for block in perft.read(path):
        try:
            phases |= set(perft.check(block))
        except PerftError as fault:
            faults.append(str(fault))
    assert not faults
    asked_nothing = {Phase.SHOW} if Rules.preset(path.stem).first_bid == "auto" else set()
    assert set(Phase) - phases == asked_nothing


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_oracle_counts_enough(path: Path) -> None:
    blocks = perft.read(path)
    depths = [perft.oracle_depth(block.counts) for block in blocks]
    complete = [block for block, depth in zip(blocks, depths, strict=True) if depth == len(block.counts) - 1]
    assert len(blocks) >= 8 and min(depths) >= 2
    assert len(complete) > len(blocks) // 2 and sum(block.depth is None for block in complete) >= 5


def test_two_cards_each_counted_by_hand() -> None:
    """Nobody can follow: two leads, three times two discards, and the second trick is led without another choice."""
    table = position.setup(hands=["SA S4", "HA H4", "C9 C4", "D9 D4"])
    counts, phases = perft.engine_counts(table, None)
    assert counts == [1, 2, 4, 8, 16, 16, 0]
    assert phases == {Phase.LEAD: 1 + 16, Phase.FOLLOW: 2 + 4 + 8, Phase.OVER: 16}
    oracle = perft.oracle_at(Rules(), {"hand 0": "SA S4", "hand 1": "HA H4", "hand 2": "C9 C4", "hand 3": "D9 D4"})
    assert perft.oracle_counts(oracle, 6) == counts
    assert perft.engine_counts(table, 0)[0] == perft.oracle_counts(oracle, 0) == [1]


def test_counting_in_small_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    block = block_of("dalian", "pick-up of equal trumps")
    monkeypatch.setattr(perft, "ROWS", 7)
    assert perft.engine_counts(perft.engine_start(block), None)[0] == block.counts


@pytest.mark.parametrize("name", ["pairs and triples of one suit", "a triple led into pairs"])
def test_dead_following_leaves_less(name: str) -> None:
    """R7.4, R7.5: the same hands."""
    live, dead = block_of("dalian", name), block_of("dalian_dead", name)
    assert live.start | {"rules": "dalian_dead"} == dead.start
    assert sum(dead.counts) < sum(live.counts)


# ---- files that are wrong

GOOD = """\
name: two each
rules: dalian
hand 0: SA S4
hand 1: HA H4
hand 2: C9 C4
hand 3: D9 D4
depth: end
counts: 1 2 4 8 16 16 0
"""
DEAL = "name: a deal\nrules: dalian\ndeal: 1 2\ndepth: 1\ncounts: 1 2\n"

UNREADABLE = {
    "a name": (GOOD, "name: two each\n", "", "dalian.txt, block 'number 1': the field 'name' is missing"),
    "rules": (GOOD, "rules: dalian\n", "", "block 'two each': the field 'rules' is missing"),
    "depth": (GOOD, "depth: end\n", "", "block 'two each': the field 'depth' is missing"),
    "counts": (GOOD, "counts: 1 2 4 8 16 16 0\n", "", "block 'two each': the field 'counts' is missing"),
    "other rules": (GOOD, "rules: dalian", "rules: classic", "block 'two each': the rules are 'classic'"),
    "a number": (GOOD, "16 16", "16 x", "block 'two each': depth is a whole number or 'end', counts"),
    "an end": (GOOD, "16 16 0", "16 16", "block 'two each': 6 counts do not fit depth end"),
    "as many as deep": (GOOD, "depth: end", "depth: 4", "block 'two each': 7 counts do not fit depth 4"),
    "a first one": (GOOD, "counts: 1", "counts: 2", "block 'two each': 7 counts do not fit"),
    "a known key": (GOOD, "depth: end", "deep: end\ndepth: end", "block 'two each': unknown field 'deep'"),
    "a key twice": (GOOD, "depth: end", "depth: 3\ndepth: end", "block 'two each': the field 'depth' is given twice"),
    "a name twice": (GOOD, "0\n", f"0\n\n{GOOD}", "block 'number 2': the name 'two each' is given twice"),
    "a colon": (GOOD, "hand 3: ", "hand 3 ", "block 'two each': unknown field 'hand 3 D9 D4'"),
    "a key of deals": (DEAL, "depth", "hand 0: SA\ndepth", "block 'a deal': unknown field 'hand 0'"),
}
UNCOUNTABLE = {
    "a wrong number": (GOOD, "1 2 4 8", "1 2 5 8", "block 'two each': depth 2: the file says 5, the engine counts 4"),
    "too few": (GOOD, "16 16 0", "16 0", "block 'two each': depth 6: 6 counts, the engine has 7"),
    "a card twice": (GOOD, "S4", "SA SA SA", "block 'two each': 4 copies of SA"),
    "a seed": (DEAL, "deal: 1 2", "deal: 1", "block 'a deal': deal and levels are two whole numbers each"),
    "a phase": (DEAL, "depth", "until: supper\ndepth", "block 'a deal': the hand never comes to 'supper'"),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "dalian.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_good_files_are_good(tmp_path: Path) -> None:
    first, second = perft.read(written(tmp_path, f"{GOOD}\n{DEAL}"))
    assert perft.check(first)[Phase.OVER] == 16 and perft.check(second) == {Phase.SHOW: 1}


@pytest.mark.parametrize("what", UNREADABLE)
def test_an_unreadable_file_is_named(what: str, tmp_path: Path) -> None:
    good, old, new, message = UNREADABLE[what]
    with pytest.raises(PerftError) as fault:
        perft.read(written(tmp_path, good.replace(old, new)))
    assert message in str(fault.value) and "dalian.txt" in str(fault.value)


@pytest.mark.parametrize("what", UNCOUNTABLE)
def test_a_wrong_count_is_named(what: str, tmp_path: Path) -> None:
    good, old, new, message = UNCOUNTABLE[what]
    (block,) = perft.read(written(tmp_path, good.replace(old, new)))
    with pytest.raises(PerftError) as fault:
        perft.check(block)
    assert message in str(fault.value) and "dalian.txt" in str(fault.value)


def test_engine_and_oracle_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another hand for the oracle: the file is neither right for both nor written anew."""
    path = written(tmp_path, GOOD)
    (block,) = perft.read(path)
    fields = block.start | {"hand 1": "HA HA"}
    monkeypatch.setattr(perft, "oracle_start", lambda block: perft.oracle_at(Rules(), fields))
    with pytest.raises(PerftError, match="depth 2: the file says 4, the oracle counts 2"):
        perft.check(block)
    assert perft.main(tmp_path) == 1
    assert "depth 2: the engine counts 4, the oracle 2" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == GOOD


def test_the_command_writes_the_counts(tmp_path: Path) -> None:
    """Comments stay, counts are filled in or mended."""
    text = f"# By hand.\n{GOOD}\n{DEAL}"
    path = written(tmp_path, text.replace("counts: 1 2 4 8 16 16 0\n", "").replace("counts: 1 2\n", "counts: 7\n"))
    assert perft.main(tmp_path) == 0
    assert path.read_text(encoding="utf-8") == text


def test_a_broken_mask_changes_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine without R7.3: whoever follows may name any card."""
    block = block_of("dalian", "pairs and triples of one suit")
    _, apply = engine.HANDLERS[Phase.FOLLOW]
    lead_legal, _ = engine.HANDLERS[Phase.LEAD]
    monkeypatch.setitem(engine.HANDLERS, Phase.FOLLOW, (lead_legal, apply))
    with pytest.raises(PerftError, match=r"dalian.txt, block 'pairs and triples of one suit': depth \d"):
        perft.compare(block, "engine", perft.engine_counts(perft.engine_start(block), 3)[0], block.counts)
