"""Playthroughs: hands of the game as readable transcripts, kept in tests/data/playthroughs/ and compared line by line.

``python -m tests.support.playthroughs`` writes them all anew, with names after it only those; ``git diff`` then shows
what has changed. The table of scenarios is in :mod:`tests.support.playthrough_scenarios`.

A transcript says what was decided, what everybody may know of it and, since this is a test, the cards that
changed hands unseen. ``hash`` lines catch what no other line says.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gunzi_env import engine, planes
from gunzi_env.cards import FACE_NAMES, SUITS, rank_name
from gunzi_env.keys import mix
from gunzi_env.order import TRUMP, to_faces
from gunzi_env.planes import U64, Words
from gunzi_env.rulebook import ONE_TABLE
from gunzi_env.rules import Rules
from gunzi_env.tables import HAND, KITTY, NOBODY, PENDING, PLAYED, Phase, Tables
from gunzi_env.testing import random_actions
from gunzi_env.testing.coverage import count_branches
from tests.support import DATA
from tests.support.playthrough_kinds import NEXT_HAND, PREDICATES, Playthrough
from tests.support.playthrough_scenarios import SCENARIOS

FOLDER = DATA / "playthroughs"
REGENERATE = "python -m tests.support.playthroughs"
FEW = 12
"""Up to so many legal actions are named."""
HASH_EVERY = 20
MOST_PLIES = 1000
_COPIES = ("single", "pair", "triple", "quad")
_OUTSIDE_PLAY = (Phase.TRIBUTE, Phase.RETURN, Phase.BURY, Phase.JOKERS, Phase.PICKUP)


@dataclass
class Transcript:
    """What a playthrough gave."""

    lines: list[str] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)
    """As taken, for playing them under other rules."""
    met: Counter[str] = field(default_factory=Counter)
    """Branches of the rules and predicates of the scenarios it went through."""
    phases: set[str] = field(default_factory=set)
    refused: str | None = None
    """Of moves that were made under other rules: the first that cannot be made here."""


def path(name: str) -> Path:
    """The file of a playthrough."""
    return FOLDER / f"{name}.txt"


# Cards and names ----------------------------------------------------------------------------------------


def _order(t: Tables) -> tuple[int, int]:
    return int(t.level[0]), t.trump_or_provisional(0)


def cards(t: Tables, words: Words) -> str:
    """Planes ``uint64[D]`` in text: trumps first, then the side suits, each from the highest card down."""
    level, trump = _order(t)
    counts = planes.to_counts(words)
    blocks = []
    for block in (TRUMP, 0, 1, 2):
        slots = [int(s) for s in np.flatnonzero(counts) if t.layout.suit_of_slot[level, s] == block][::-1]
        faces = to_faces(t.layout, level, trump, [s for s in slots for _ in range(counts[s])])
        blocks += [" ".join(FACE_NAMES[f] for f in faces)] if faces else []
    return " | ".join(blocks) or "-"


def _legal_names(t: Tables) -> list[str]:
    return [t.actions.name(int(a), *_order(t)) for a in np.flatnonzero(engine.legal(t)[0])]


def choices(names: list[str]) -> str:
    """The legal actions: all of them where they are few, else how many there are of each kind."""
    if len(names) <= FEW:
        return ", ".join(names)
    kinds = Counter(_kind(name) for name in names)
    return f"{len(names)}: " + ", ".join(f"{number} {kind}" for kind, number in kinds.items())


def _kind(name: str) -> str:
    if name.startswith("bid "):
        return "joker bid" if ":" in name else "level bid"
    return name if name in ("pass", "show") else _COPIES[len(name.split()) - 1]


# What a state shows --------------------------------------------------------------------------------------


def _seat(number: int) -> str:
    return "nobody" if number == NOBODY else f"seat {number}"


def headline(t: Tables) -> str:
    """Level, trump, dealer, score: one line."""
    trump = "none yet" if t.trump[0] == NOBODY else SUITS[t.trump[0]]
    dealer = "nobody yet" if t.dealer[0] == NOBODY else f"seat {t.dealer[0]}"
    levels = " ".join(rank_name(int(level)) for level in t.levels[0])
    return (
        f"{Phase(t.phase[0]).name.lower()}: level {rank_name(int(t.level[0]))}, trump {trump}, dealer {dealer}, "
        f"levels {levels}, blood {t.blood[0]}, score {t.score[0]}"
    )


def _dealt(t: Tables) -> str:
    return "all cards dealt" if t.drawn[0] >= t.rules.num_dealt else f"{t.drawn[0]} cards dealt"


def picture(t: Tables) -> list[str]:
    """The whole table with all cards open."""
    lines = [f"== {headline(t)}"]
    if t.phase[0] <= Phase.BID:
        lines.append(f"   first seat {t.first[0]}, {_dealt(t)}")
    lines += [f"   hand {s}: {cards(t, t.planes[:, 0, HAND + s])}" for s in range(4)]
    for name, holder in (("set aside", PENDING), ("kitty", KITTY)):
        if t.planes[0, 0, holder]:
            lines.append(f"   {name}: {cards(t, t.planes[:, 0, holder])}")
    return lines


def public(t: Tables) -> dict[str, str]:
    """What everybody knows beside the play itself; only what is there."""
    out: dict[str, str] = {}
    if t.bid_strength[0] and t.phase[0] == Phase.BID:
        bid = t.actions.bid(int(t.bid_strength[0]), int(t.bid_suit[0]))
        out["standing bid"] = f"seat {t.bid_seat[0]}, {t.actions.name(bid, *_order(t))}"
    if t.attempt[0]:
        out["dealt again (R4.8)"] = f"{t.attempt[0]} times"
    for title, words in (
        ("turned up", t.turned[:, 0]),
        ("tribute", t.tribute[:, 0]),
        ("known to be the dealer's or buried", t.loose[:, 0]),
        *((f"shown by seat {s}", t.shown[:, 0, s]) for s in range(4)),
        *((f"known of hand {s}", t.known[:, 0, s]) for s in range(4)),
    ):
        if words[0]:
            out[title] = cards(t, words)
    if t.phase[0] > Phase.BID:
        out["kitty was shown"] = "yes" if t.kitty_shown[0] else "no"
    if t.dry[0]:
        out["dry pot"] = "yes"
    if t.kitty_public[0]:
        out["kitty, public"] = cards(t, t.planes[:, 0, KITTY])
    if t.phase[0] >= Phase.JOKERS:
        out["jokers the others may still put in"] = str(t.pickable[0])
    blocks = [SUITS[s] for s in range(4) if s != t.trump[0]] + ["trump"]
    for title, flags in (("void", t.void), ("no pair", t.no_pair), ("no triple", t.no_triple)):
        proven = [f"seat {s} {blocks[c]}" for s in range(4) for c in range(4) if flags[0, s, c]]
        if proven:
            out[f"proven {title}"] = ", ".join(proven)
    return out


def _changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    lines = [f"   {key}: {value}" for key, value in after.items() if before.get(key) != value]
    return lines + [f"   {key}: no longer" for key in before if key not in after]


def _moved_cards(b: Tables, a: Tables) -> list[str]:
    """Cards that changed hands outside play, unless a picture follows; those returned, which two seats alone see."""
    lines = []
    if b.phase[0] in _OUTSIDE_PLAY and b.phase[0] == a.phase[0]:
        choosing = a.planes[0, 0, PENDING] != 0
        hands = [] if choosing else [(f"hand {s}", HAND + s) for s in range(4)] + [("kitty", KITTY)]
        for title, holder in [("set aside", PENDING), *hands]:
            if (b.planes[:, 0, holder] != a.planes[:, 0, holder]).any():
                lines.append(f"   {title} is now {cards(a, a.planes[:, 0, holder])}")
    if a.returned[0, 0] and (b.returned != a.returned).any():
        two = sorted((int(a.giver[0]), int(a.receiver[0])))
        lines.append(f"   returned (seen by {two[0]} and {two[1]}): {cards(a, a.returned[:, 0])}")
    return lines


def _laid(b: Tables, a: Tables, s: int) -> Words:
    """The cards of a seat in the trick that stood or was made after ``b``, also when that trick is finished."""
    return planes.minus(a.planes[:, 0, PLAYED + s], planes.minus(b.planes[:, 0, PLAYED + s], b.trick[:, 0, s]))


def _trick(b: Tables, a: Tables) -> list[str]:
    """Plays made without a question (R7.3), and the trick's result."""
    lines = []
    finished = b.phase[0] >= Phase.LEAD and a.held[0] < b.held[0]
    for s in ((int(b.seat[0]) + k) % 4 for k in range(1, 4)):
        new = planes.minus(_laid(b, a, s), b.trick[:, 0, s])
        if new[0] and b.phase[0] >= Phase.LEAD:
            lines.append(f"   seat {s} plays {cards(a, new)} without a choice")
    if a.phase[0] == Phase.FOLLOW and a.planes[0, 0, PENDING] and (a.seat[0] != b.seat[0] or b.phase[0] == Phase.LEAD):
        lines.append(f"   seat {a.seat[0]} must play {cards(a, a.planes[:, 0, PENDING])} with others")
    if finished:
        seats = [(int(b.leader[0]) + k) % 4 for k in range(4)]
        plays = ", ".join(f"{s}: {cards(a, _laid(b, a, s)).replace(' |', '')}" for s in seats)
        points = sum(int(a.layout.value(a.level, _laid(b, a, s)[:, None])[0]) for s in seats)
        side = "attackers" if (a.leader[0] ^ a.dealer[0]) & 1 else "dealers"
        lines.append(f"   trick {plays}; seat {a.leader[0]} ({side}) wins {points} points; score {a.score[0]}")
    return lines


def result(t: Tables) -> list[str]:
    """R8, R9: what a finished hand came to."""
    ended = t.match_winner[0] != NOBODY
    kitty = t.planes[:, 0, KITTY]
    points = int(t.layout.value(t.level, kitty[:, None])[0])
    lines = [
        f"== over: S = {t.score[0]}, kitty {'dug' if t.dug[0] else 'guarded'}, "
        f"{points} points in it: {cards(t, kitty)}",
        f"   gain: team 0 +{t.gain[0, 0]}, team 1 +{t.gain[0, 1]}",
    ]
    if ended:
        return [*lines, f"   team {t.match_winner[0]} wins the match; levels, next dealer and blood are void"]
    levels = " ".join(rank_name(int(level)) for level in t.next_levels[0])
    return [*lines, f"   levels {levels}, next dealer {_seat(int(t.next_dealer[0]))}, blood {t.next_blood[0]}"]


# Playing -----------------------------------------------------------------------------------------------


def play(p: Playthrough, rules: Rules | None = None, moves: list[str] | None = None) -> Transcript:
    """Play a scenario, or the same deal under other ``rules`` with ``moves``, as far as these can be made there.

    ``ValueError`` (:class:`IllegalAction` among them) where a move of the scenario itself cannot be made.
    """
    t = p.start.table(p.rules if rules is None else rules)
    out = Transcript()
    out.lines += [*picture(t), *_changes({}, public(t)), f"   hash {t.hash64():016x}"]
    for ply, move in enumerate(_moves(p, t) if moves is None else moves, start=1):
        before = t.clone()
        out.phases.add(Phase(t.phase[0]).name)
        out.moves.append(move)
        try:
            _one_ply(out, t, ply, move)
        except ValueError:
            if moves is None:
                raise
            out.refused = f"ply {ply}, {move}"
            return out
        _count(out, before, t)
        if ply % HASH_EVERY == 0:
            out.lines.append(f"   hash {t.hash64():016x}")
    out.lines += [] if t.phase[0] == Phase.OVER else ["== the transcript ends here"]
    out.lines.append(f"   hash {t.hash64():016x}")
    return out


def _moves(p: Playthrough, t: Tables) -> Iterator[str]:
    """The scripted moves, then random ones as long as the scenario wants them; reads the table as it changes."""
    yield from p.script()
    if p.key is None:
        return
    for step in itertools.count():
        if Phase(t.phase[0]).name.lower() in (p.until, "over"):
            return
        if step >= MOST_PLIES:
            raise ValueError(f"{p.name}: no end after {MOST_PLIES} random moves")
        keys = np.atleast_1d(mix(U64(p.key), U64(step)))
        action = int(random_actions(t, keys, p.pass_probability)[0])
        yield f"{t.seat[0]} {t.actions.name(action, *_order(t))}"


def _one_ply(out: Transcript, t: Tables, ply: int, move: str) -> None:
    phase = Phase(t.phase[0])
    if move == NEXT_HAND and phase == Phase.OVER:
        engine.next_hand(t, ONE_TABLE)
        out.lines += [f"ply {ply}: {NEXT_HAND}", *picture(t), *_changes({}, public(t))]
        return
    seat, _, text = move.partition(" ")
    if phase == Phase.OVER or move == NEXT_HAND or int(seat) != t.seat[0]:
        raise ValueError(f"{move!r} at ply {ply}: phase {phase.name.lower()}, {_seat(int(t.seat[0]))} to move")
    names = _legal_names(t)
    dealt = f", {_dealt(t)}" if phase <= Phase.BID else ""
    before = t.clone()
    engine.step(t, [t.actions.parse(text, *_order(t))])
    out.lines.append(f"ply {ply}: {phase.name.lower()}{dealt}, seat {seat} takes {text} (of {choices(names)})")
    out.lines += [*_trick(before, t), *_moved_cards(before, t), *_changes(public(before), public(t))]
    new = t.phase[0] != phase and not (t.phase[0] in (Phase.LEAD, Phase.FOLLOW) and phase >= Phase.LEAD)
    if t.phase[0] == Phase.OVER:
        out.lines += result(t)
    elif new:
        out.lines += picture(t)


def _count(out: Transcript, before: Tables, after: Tables) -> None:
    move = out.moves[-1]
    action = [] if move == NEXT_HAND else [before.actions.parse(move.partition(" ")[2], *_order(before))]
    if action:
        out.met.update(count_branches(before, after, np.array(action, np.int32), np.ones(1, np.bool_)))
    out.met.update(name for name, holds in PREDICATES.items() if holds(before, after))


# Files -------------------------------------------------------------------------------------------------


def difference(p: Playthrough, played: Transcript) -> str | None:
    """What the same deal and moves give under the other value of the option; None where it decides nothing here."""
    elsewhere = play(p, p.other, played.moves)
    if elsewhere.refused is not None:
        return f"not possible: {elsewhere.refused}"
    ours, other = _without_hashes(played.lines), _without_hashes(elsewhere.lines)
    pairs = itertools.zip_longest(ours, other, fillvalue="(nothing)")
    return next((f"{theirs.strip()!r} for {mine.strip()!r}" for mine, theirs in pairs if mine != theirs), None)


def _without_hashes(lines: list[str]) -> list[str]:
    """Hashes name the rules, so that they always differ."""
    return [line for line in lines if not line.startswith("   hash ")]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)) or "(empty)"
    return {True: "yes", False: "no", None: "none"}[value] if value is None or type(value) is bool else str(value)


def options_that_differ(rules: Rules, base: Rules) -> dict[str, str]:
    """The options in which ``rules`` differs from ``base``, in words."""
    mine, theirs = rules.as_dict(), base.as_dict()
    return {key: _text(value) for key, value in mine.items() if value != theirs[key]}


def _rules_line(rules: Rules, base: str) -> str:
    changes = options_that_differ(rules, Rules.preset(base))
    return f"{base}" + (" with " if changes else "") + ", ".join(f"{k} = {v}" for k, v in changes.items())


def transcript(p: Playthrough, played: Transcript | None = None, instead: str | None = None) -> list[str]:
    """All lines of a playthrough's file; ``played`` and its :func:`difference` are made where they are not given."""
    played = play(p) if played is None else played
    instead = difference(p, played) if instead is None else instead
    shows = ", ".join(f"{option} = {_text(p.rules.as_dict()[option])}" for option in p.options) or "the preset"
    other = ", ".join(f"{k} = {v}" for k, v in options_that_differ(p.other, p.rules).items())
    return [
        f"playthrough {p.name}",
        p.shows,
        f"rules: {_rules_line(p.rules, p.base)}",
        f"shows: {shows}",
        f"goes through: {'; '.join(p.must)}",
        f"with {other} instead: {instead}",
        *p.start.lines(),
        "",
        *played.lines,
    ]


def first_difference(name: str, expected: list[str], found: list[str]) -> str | None:
    """Where a file and the transcript made anew part, in words; None where they are equal."""
    for number, (old, new) in enumerate(itertools.zip_longest(expected, found), start=1):
        if old != new:
            return (
                f"tests/data/playthroughs/{name}.txt, line {number}:\n"
                f"  expected: {'(the file ends)' if old is None else old}\n"
                f"  found:    {'(the transcript ends)' if new is None else new}\n"
                f"if the change is meant: {REGENERATE} {name}"
            )
    return None


def main(arguments: list[str]) -> int:
    """Write the files of the named playthroughs, all where none is named; says which have changed."""
    known = {p.name: p for p in SCENARIOS}
    unknown = [name for name in arguments if name not in known]
    if unknown:
        print(f"no playthrough is called {unknown[0]!r}: the names are {', '.join(known)}", file=sys.stderr)
        return 2
    FOLDER.mkdir(exist_ok=True)
    changed = 0
    for name in arguments or known:
        text = "\n".join([*transcript(known[name]), ""])
        if not path(name).exists() or path(name).read_text("ascii") != text:
            path(name).write_text(text, "ascii", newline="\n")
            print(f"written: tests/data/playthroughs/{name}.txt")
            changed += 1
    for file in sorted(FOLDER.glob("*.txt")) if not arguments else ():
        if file.stem not in known:
            file.unlink()
            print(f"removed: tests/data/playthroughs/{file.name}")
    print(f"{len(arguments or known)} playthroughs, {changed} written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))


__all__ = ["Transcript", "difference", "first_difference", "main", "path", "play", "transcript"]
