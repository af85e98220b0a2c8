"""Perft: how many sequences of 0, 1, 2, ... actions there are from fixed deals and positions.

``tests/data/perft/PRESET.txt`` has blocks of lines ``key: value``, an empty line between two blocks. ``name``,
``rules`` and ``depth`` are in each: how many actions deep it is counted, or ``end`` for every sequence to the
end of its hand, where the last count is 0. ``counts`` are the numbers, sequences of no action first.

A block with ``deal: SEED TABLE`` is a deal of the project's generator; ``dealer`` (absent in the first hand of a
match), ``levels`` and ``blood`` say how it starts. With ``until: PHASE`` counting begins at the first decision
of that phase: up to there everybody passes, or takes the first of the legal actions by name. Any other block
is a position as :func:`gunzi_env.position.parse` reads it.

Engine and oracle count apart, the oracle as deep as :data:`ORACLE_NODES` allows. ``python -m tests.support.perft``
writes the counts anew where both agree.
"""

from __future__ import annotations

import copy
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gunzi_env import Rules, engine, position
from gunzi_env.chapters.deal import deck_of_draw, shuffle
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.tables import NOBODY, Phase, Tables
from tests.support import DATA
from tests.support.oracle import Oracle
from tests.support.oracle_rules import SUITS, faces

FOLDER = DATA / "perft"

ORACLE_NODES = 20_000
"""So many sequences, of all lengths together, the oracle counts of one block."""

ROWS = 4096
"""So many tables the engine takes a step with at once."""

_OWN_KEYS = {"name", "depth", "counts"}
_START_KEYS = {"rules", "dealer", "levels", "blood"}
_DEAL_KEYS = _START_KEYS | {"deal", "until"}
_POSITION_KEYS = _START_KEYS | {"phase", "level", "trump", "seat", "score", "bid", "bidder", "first", "passes"}
_POSITION_KEYS |= {"kitty", "dry", "hand 0", "hand 1", "hand 2", "hand 3"}


class PerftError(ValueError):
    """A block that cannot be read or counted, or is counted otherwise; names file, block and depth."""


@dataclass(frozen=True)
class Block:
    """One deal or position with its counts."""

    file: str
    name: str
    lines: tuple[str, ...]
    """As in the file, comments included."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Keys and values, line by line."""
        parts = (line.partition(":") for line in self.lines if not line.startswith("#"))
        return [(key.strip(), value.strip()) for key, _, value in parts]

    @property
    def fields(self) -> dict[str, str]:
        return dict(self.pairs)

    @property
    def start(self) -> dict[str, str]:
        """What says where to begin."""
        return {key: value for key, value in self.fields.items() if key not in _OWN_KEYS}

    @property
    def counts(self) -> list[int]:
        return [int(number) for number in self.fields["counts"].split()]

    @property
    def depth(self) -> int | None:
        """None: to the end of the hand."""
        return None if self.fields["depth"] == "end" else int(self.fields["depth"])

    def fault(self, what: str) -> PerftError:
        return PerftError(f"{self.file}, block {self.name!r}: {what}")


def read(path: Path, *, counted: bool = True) -> list[Block]:
    """The blocks of a file; ``counted`` demands their counts."""
    blocks: list[Block] = []
    for number, text in enumerate(re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip()), start=1):
        lines = tuple(line.rstrip() for line in text.splitlines())
        block = Block(path.name, f"number {number}", lines)
        name = block.fields.get("name")
        if not name:
            raise block.fault("the field 'name' is missing")
        if name in (other.name for other in blocks):
            raise block.fault(f"the name {name!r} is given twice")
        block = Block(path.name, name, lines)
        _check(block, path.stem, counted)
        blocks.append(block)
    return blocks


def _check(block: Block, preset: str, counted: bool) -> None:
    fields = block.fields
    twice = [key for key, times in Counter(key for key, _ in block.pairs).items() if times > 1]
    if twice:
        raise block.fault(f"the field {twice[0]!r} is given twice")
    for key in ("rules", "depth", *(["counts"] if counted else [])):
        if key not in fields:
            raise block.fault(f"the field {key!r} is missing")
    if fields["rules"] != preset:
        raise block.fault(f"the rules are {fields['rules']!r}: in this file they must be {preset!r}")
    unknown = set(block.start) - (_DEAL_KEYS if "deal" in fields else _POSITION_KEYS)
    if unknown:
        raise block.fault(f"unknown field {min(unknown)!r}")
    try:
        depth, counts = block.depth, block.counts if counted else [1]
    except ValueError:
        raise block.fault("depth is a whole number or 'end', counts are whole numbers") from None
    if not counted:
        return
    if counts[:1] != [1] or (depth is not None and len(counts) != depth + 1) or (depth is None and counts[-1] != 0):
        raise block.fault(f"{len(counts)} counts do not fit depth {fields['depth']}: the first is 1, at the end 0")


# ---- the engine


def engine_start(block: Block) -> Tables:
    """The table that a block begins with."""
    start = block.start
    if "deal" not in start:
        try:
            return position.parse("\n".join(f"{key}: {value}" for key, value in start.items()))
        except ValueError as error:
            raise block.fault(str(error)) from None
    t = dealt(block)
    if "until" in start:
        while Phase(t.phase[0]).name.lower() != start["until"]:
            trump = t.trump_or_provisional(0)
            names = {t.actions.name(int(a), int(t.level[0]), trump): int(a) for a in np.flatnonzero(engine.legal(t)[0])}
            if not names:
                raise block.fault(f"the hand never comes to {start['until']!r}")
            engine.step(t, [names[_first(names)]])
    return t


def _first(names: dict[str, int] | list[str]) -> str:
    """What is done on the way to the phase in ``until``."""
    return "pass" if "pass" in names else min(names)


def dealt(block: Block) -> Tables:
    """The beginning of a hand, from a deal of the generator."""
    levels, dealer, blood, seed, table = deal_of(block)
    t = Tables(Rules.preset(block.start["rules"]), 1)
    engine.reset(t, seed, table_ids=np.array([table], np.uint64), begin=False)
    state = {"levels": np.array([levels]), "dealer": np.array([dealer]), "blood": np.array([blood])}
    engine.begin_hand(t, ONE_TABLE, **state)
    return t


def deal_of(block: Block) -> tuple[tuple[int, int], int, int, int, int]:
    """Levels, dealer (-1: none yet), blood, seed and table."""
    start = block.start
    try:
        seed, table = (int(number) for number in start["deal"].split())
        low, high = (int(number) for number in start.get("levels", "3 3").split())
        return (low, high), int(start.get("dealer", NOBODY)), int(start.get("blood", 0)), seed, table
    except ValueError:
        raise block.fault("deal and levels are two whole numbers each, dealer and blood one") from None


def engine_counts(t: Tables, depth: int | None) -> tuple[list[int], Counter[Phase]]:
    """Sequences by length, and how many decisions of each phase were met on the way."""
    counts = [1]
    phases: Counter[Phase] = Counter()

    def grow(t: Tables, done: int) -> None:
        # Depth first, ``ROWS`` tables at once: what is held in memory grows with the depth, not with the number.
        if len(counts) == done + 1:
            counts.append(0)
        legal = engine.legal(t)
        counts[done + 1] += int(legal.sum())
        phases.update(Phase(p) for p in t.phase)
        if done + 1 == depth:
            return
        source, action = np.nonzero(legal)
        for begin in range(0, len(source), ROWS):
            part = t.select(source[begin : begin + ROWS])
            engine.step(part, action[begin : begin + ROWS])
            grow(part, done + 1)

    if depth != 0:
        grow(t, 0)
    return counts, phases


# ---- the oracle


def oracle_start(block: Block) -> Oracle:
    """The same beginning, by the oracle's own means."""
    if "deal" not in block.start:
        return oracle_at(Rules.preset(block.start["rules"]), block.start)
    levels, dealer, blood, _, _ = deal_of(block)
    t = dealt(block)
    first_seat = int(t.first[0])

    def deck(attempt: int) -> list[int]:
        t.attempt[0] = attempt
        return deck_of_draw(shuffle(t, ONE_TABLE)[0])

    given = None if dealer == NOBODY else dealer
    oracle = Oracle(t.rules, levels=levels, dealer=given, blood=blood, first_seat=first_seat, deck=deck)
    while oracle.phase.lower() != block.start.get("until", oracle.phase.lower()):
        oracle.apply(_first(oracle.legal()))
    return oracle


def oracle_at(rules: Rules, fields: dict[str, str]) -> Oracle:
    """An oracle of a full deck, in which the fields of a position are put in place of what was dealt."""
    phase = fields.get("phase", "lead")
    dealer, seat = (int(fields[key]) if key in fields else None for key in ("dealer", "seat"))
    level = _level(fields.get("level", "3"))
    levels = [_level(text) for text in fields.get("levels", f"{level} {level}").split()]
    first = int(fields.get("first", dealer or 0))
    deck = sorted(list(range(54)) * rules.decks, reverse=True)  # the kitty names a suit whatever is asked
    o = Oracle(
        rules,
        levels=(levels[0], levels[1]),
        dealer=None if phase == "show" else dealer or 0,
        blood=int(fields.get("blood", 0)),
        first_seat=first,
        deck=deck,
    )
    o.stock, o.kitty = [], [face for token in fields.get("kitty", "").split() for face in faces(token)]
    o.hands = [faces(fields.get(f"hand {s}", "")) for s in range(4)]
    o.level, o.score, o.dry = level, int(fields.get("score", 0)), fields.get("dry") == "yes"
    o._legal, o._drawn, o._closing = None, 4 * rules.hand_size, True
    if phase in ("show", "bid"):
        o._passes, o._turn = int(fields.get("passes", 0)), first if seat is None else seat
        if "bid" in fields:
            o.standing = int(fields.get("bidder", 0)), *_bid(rules, fields["bid"])
        o._window()
        return o
    o.trump = SUITS.index(fields.get("trump", "S"))
    # As in a position, the kitty was shown: somebody had bid (R6.1).
    o.standing = 0, 1, o.trump
    _enter(o, phase, dealer or 0, seat)
    return o


def _enter(o: Oracle, phase: str, dealer: int, seat: int | None) -> None:
    """Begin a chapter after the bidding."""
    if phase == "tribute":
        o._tribute(dealer)
    elif phase == "bury":
        o._kitty_shown(dealer)
    elif phase == "jokers":
        o.seat = dealer
        o._buried(sorted(o.kitty))
    else:
        o._ask("LEAD", dealer if seat is None else seat)


def _level(text: str) -> int:
    return "23456789TJQKA".index(text) + 2 if text in "23456789TJQKA" else int(text)


def _bid(rules: Rules, text: str) -> tuple[int, int]:
    """Strength and suit of a bid such as 2xH or 3xLJ:S (R4.5)."""
    copies, kind = int(text[0]), text[2:4]
    return rules.decks + 1 + (kind == "BJ") if kind in ("LJ", "BJ") else copies, SUITS.index(text[-1])


def oracle_counts(oracle: Oracle, depth: int) -> list[int]:
    """Sequences by length up to ``depth``, one after the other."""
    counts = [1, *[0] * depth]
    shared = {id(kept): kept for kept in (oracle.rules, oracle._deck)}

    def grow(o: Oracle, done: int) -> None:
        legal = o.legal()
        counts[done + 1] += len(legal)
        if done + 1 == depth:
            return
        for number, words in enumerate(legal, start=1):
            after = o if number == len(legal) else copy.deepcopy(o, dict(shared))
            after.apply(words)
            grow(after, done + 1)

    if depth:
        grow(oracle, 0)
    return counts


# ---- one against the other


def oracle_depth(counts: list[int]) -> int:
    """How deep the oracle counts, by the number of sequences."""
    return max(k for k in range(len(counts)) if sum(counts[: k + 1]) <= ORACLE_NODES)


def compare(block: Block, who: str, found: list[int], expected: list[int]) -> None:
    """The counts up to the shorter of both lengths must be equal."""
    for depth, (number, right) in enumerate(zip(found, expected)):
        if number != right:
            raise block.fault(f"depth {depth}: the file says {right}, the {who} counts {number}")


def check(block: Block) -> Counter[Phase]:
    """Count anew with both and compare; returns the decisions that were met by phase."""
    expected = block.counts
    found, phases = engine_counts(engine_start(block), block.depth)
    if len(found) != len(expected):
        raise block.fault(
            f"depth {min(len(found), len(expected))}: {len(expected)} counts, the engine has {len(found)}"
        )
    compare(block, "engine", found, expected)
    compare(block, "oracle", oracle_counts(oracle_start(block), oracle_depth(expected)), expected)
    return phases


def recounted(block: Block) -> Iterator[str]:
    """The lines of a block with the engine's counts, which the oracle must confirm."""
    counts, _ = engine_counts(engine_start(block), block.depth)
    deep = oracle_depth(counts)
    for depth, (ours, theirs) in enumerate(zip(counts, oracle_counts(oracle_start(block), deep))):
        if ours != theirs:
            raise block.fault(f"depth {depth}: the engine counts {ours}, the oracle {theirs}")
    yield from (line for line in block.lines if not line.startswith("counts:"))
    yield "counts: " + " ".join(map(str, counts))


def main(folder: Path = FOLDER) -> int:
    """Write the counts of all files anew."""
    for path in sorted(folder.glob("*.txt")):
        try:
            blocks = ["\n".join(recounted(block)) for block in read(path, counted=False)]
        except PerftError as error:
            print(error, file=sys.stderr)
            return 1
        path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        print(f"{path.name}: {len(blocks)} blocks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
