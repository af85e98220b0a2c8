"""The leaderboard: that the page is what its results give, and that results are what was played."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest

from benchmarks import leaderboard, leaderboard_page, pairings, results
from benchmarks.pairings import Pairing
from gunzi_agents import registry
from gunzi_agents.uniform import Uniform
from gunzi_env.published import starts
from gunzi_env.rules import Rules
from gunzi_eval.commands import arena

FEW = (Pairing("dalian", "greedy", "uniform", 6), Pairing("dalian", "greedy@easy", "greedy", 4))


def made_up(pairing: Pairing, share: float = 0.7, **changes: object) -> results.Section:
    """A section of the results as if a pairing had been played."""
    figures = {"mean": share, "low": share - 0.01, "high": share + 0.01}
    section = {
        "rules": pairing.rules, "rules_digest": Rules.preset(pairing.rules).digest, "starts": starts.VERSION,
        "seed": pairings.SEED, "a": pairing.a, "b": pairing.b, "deals": pairing.deals, "levels": figures,
        "points": figures, "hands_won": figures, "bots": "0123", "cpu": {"seconds": 90.0, "hands": 40},
    }  # fmt: skip
    return section | changes


def part(name: str, sections: dict[str, results.Section]) -> str:
    return leaderboard_page.PARTS[name](sections)


def cells(text: str, *starting: str) -> list[str]:
    """The row of a table that begins with these cells."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    (found,) = [row for row in rows if row[: len(starting)] == list(starting)]
    return found


# The page ---------------------------------------------------------------------------------------------


def test_page_is_what_the_results_give() -> None:
    text = leaderboard_page.PAGE.read_text(encoding="utf-8")
    sections = results.load(leaderboard_page.RESULTS)
    agrees = leaderboard_page.page.render(text, sections, leaderboard_page.PARTS) == text
    assert agrees, "run python -m benchmarks.leaderboard_page"
    assert all(f"<!-- figures: {name} -->" in text for name in leaderboard_page.PARTS)
    assert set(sections) <= {pairing.name for pairing in pairings.PAIRINGS} | {pairings.COSTS}


def test_pairings_have_unique_names_and_agents_that_exist() -> None:
    assert len({pairing.name for pairing in pairings.PAIRINGS}) == len(pairings.PAIRINGS)
    assert "dalian-search-expert" in {pairing.name for pairing in pairings.PAIRINGS}
    for pairing in pairings.PAIRINGS:
        for name in (pairing.a, pairing.b):
            assert registry.make(name, Rules.preset(pairing.rules)).name == name


def test_a_row_has_its_figures() -> None:
    ours = {pairing.name: made_up(pairing) for pairing in pairings.PAIRINGS if pairing.rules == "dalian"}
    text = part("dalian", ours)
    row = cells(text, "`expert`", "`greedy`")
    assert row[2:] == ["20,000", "+0.700 [+0.690, +0.710]", "+0.7 [+0.7, +0.7]", "70.0 [69.0, 71.0]"]
    assert f"{len(ours)} of {len(ours)} pairings played" in text and "not played" not in text
    assert Rules.preset("dalian").digest in text and f"version {starts.VERSION}, seed {pairings.SEED}" in text
    assert "code: 0123." in text
    scale = text[text.index(" Elo ") :]
    assert cells(scale, "`uniform`")[1:] == ["0", "[0, 0]"]
    elo = {name: int(cells(scale, f"`{name}`")[1]) for name in ("greedy", "expert", "expert@easy")}
    assert 0 < elo["greedy"] < elo["expert"] < elo["expert@easy"]  # as made up
    assert "not played" in part("four_deck", ours)


@pytest.mark.parametrize(
    "other",
    [{"deals": 40}, {"seed": 6}, {"rules_digest": "0"}, {"starts": 0}, {"a": "search(expert, worlds=8)"}],
    ids=lambda other: next(iter(other)),
)
def test_what_was_played_otherwise_does_not_count(other: dict[str, object]) -> None:
    search = next(pairing for pairing in pairings.PAIRINGS if pairing.name == "dalian-search-expert")
    for changes, shown in (({}, "+0.700 [+0.690, +0.710]"), (other, "not played")):
        text = part("dalian", {search.name: made_up(search, **changes)})
        assert cells(text, "`search(expert, worlds=32)`", "`expert`")[3] == shown
        assert ("0 of 7" in text) == bool(changes)
        cost = cells(part("costs", {search.name: made_up(search, **changes)}), "`search(expert, worlds=32)`")
        assert cost[3:] == (["not measured", ""] if changes else ["2.25", "40"])


def test_bots_that_no_game_links_to_uniform_are_not_on_the_scale() -> None:
    by_name = {pairing.name: pairing for pairing in pairings.PAIRINGS}
    apart = made_up(by_name["dalian-expert-greedy"])
    assert "No rating" in part("dalian", {"dalian-expert-greedy": apart})
    some = ("dalian-greedy-uniform", "dalian-expert@easy-expert")
    text = part("dalian", {name: made_up(by_name[name]) for name in some})
    assert "Not linked to `uniform` by games: expert, expert@easy." in text
    assert int(cells(text, "`greedy`", "147")[1]) == round(400 * np.log10(0.7 / 0.3))


# Playing ----------------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a page and without results, and two short pairings."""
    page = tmp_path / "leaderboard.md"
    page.write_text("<!-- figures: dalian -->\n<!-- end -->\n<!-- figures: costs -->\n<!-- end -->\n")
    monkeypatch.setattr(leaderboard_page, "PAGE", page)
    monkeypatch.setattr(leaderboard_page, "RESULTS", tmp_path / "leaderboard.json")
    monkeypatch.setattr(pairings, "PAIRINGS", FEW)
    return tmp_path


def run(place: Path, *arguments: str) -> int:
    return leaderboard.main(["--games", str(place / "games"), *arguments])


def test_what_is_played_is_what_the_arena_finds(place: Path) -> None:
    assert run(place, "--only", FEW[0].name) == 0
    section = results.load(place / "leaderboard.json")[FEW[0].name]
    rules = Rules.preset("dalian")
    names = (FEW[0].a, FEW[0].b)
    agents = (registry.make(names[0], rules), registry.make(names[1], rules))
    pair = arena.measure(names, agents, rules, FEW[0].deals, pairings.SEED).as_dict()
    assert all(section[key] == pair[key] for key in ("a", "b", "deals", "levels", "points", "hands_won"))
    assert section["cpu"]["hands"] == 2 * FEW[0].deals and section["cpu"]["seconds"] > 0
    text = leaderboard_page.PAGE.read_text()
    assert "1 of 2 pairings played" in text
    assert cells(text, "`greedy@easy`", "`greedy`")[3:] == ["not played"] * 3
    assert run(place, "--only", FEW[1].name) == 0
    assert "2 of 2 pairings played" in leaderboard_page.PAGE.read_text()


def test_games_are_not_played_twice_unless_a_bot_has_changed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only = ("--only", FEW[0].name)
    assert run(place, *only) == 0
    before = (place / "leaderboard.json").read_text()
    assert run(place, *only) == 0
    assert (place / "leaderboard.json").read_text() == before  # with the CPU time of those games
    assert len(list((place / "games").glob("*.jsonl"))) == 1
    monkeypatch.setattr(leaderboard, "sources", lambda: "changed")
    assert run(place, *only) == 0
    section = results.load(place / "leaderboard.json")[FEW[0].name]
    assert section["bots"] == "changed" and section["cpu"] != json.loads(before)[FEW[0].name]["cpu"]
    assert len(list((place / "games").glob("*.jsonl"))) == 2


def test_an_interrupted_pairing_resumes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two deals; the run is stopped after two of three, and the figures are those of a whole run."""

    class Small(Uniform):
        max_deals = 2
        played = 0

        def reset(self) -> None:
            Small.played += 1
            if Small.played == 6:  # both sides are reset before a block: in the third one
                raise KeyboardInterrupt

    pairing = Pairing("dalian", "small", "uniform", 6)
    monkeypatch.setattr(pairings, "PAIRINGS", (pairing,))
    monkeypatch.setattr(arena.run, "__defaults__", (lambda name, rules: Small(),))
    assert run(place, "--only", pairing.name) == 130
    assert not (place / "leaderboard.json").exists()
    assert run(place, "--only", pairing.name) == 0
    section = results.load(place / "leaderboard.json")[pairing.name]
    assert section["cpu"]["hands"] == 2 * 2 < 2 * section["deals"]
    whole = arena.measure(("small", "uniform"), (Small(), Small()), Rules.preset("dalian"), 6, pairings.SEED)
    assert section["levels"] == whole.as_dict()["levels"]


def test_a_look_writes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = leaderboard_page.PAGE.read_text()
    assert run(place, "--scale", "0.5", "--only", FEW[0].name) == 0
    assert "3 deals a pair" in capsys.readouterr().out
    assert leaderboard_page.PAGE.read_text() == page and not (place / "leaderboard.json").exists()


def test_what_cannot_be_played_is_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("--scale 0", "--scale 1.5", "--scale nan", "--workers 0", "--only nobody"):
        with pytest.raises(SystemExit) as end:
            run(place, *words.split())
        assert end.value.code == 2
    (place / "file").write_text("")
    assert leaderboard.main(["--games", str(place / "file"), "--only", FEW[0].name]) == 2
    assert run(place, "--only", FEW[0].name) == 0
    (games,) = (place / "games").glob("*.jsonl")
    games.write_bytes(games.read_bytes().replace(b'"games": "', b'"games": "A', 1))
    capsys.readouterr()
    assert run(place, "--only", FEW[0].name) == 3
    assert "is damaged" in capsys.readouterr().err


# Costs ------------------------------------------------------------------------------------------------


class Busy(Uniform):
    """Uniform, and two milliseconds of CPU a batch more."""

    def act(self, view: object, legal: np.ndarray, keys: np.ndarray) -> np.ndarray:
        begun = time.process_time()
        while time.process_time() - begun < 0.002:
            pass
        return super().act(view, legal, keys)  # type: ignore[arg-type]


def test_the_cost_of_a_decision_is_that_of_the_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = leaderboard.cost("uniform", steps=10, repeats=5, warm_up=3)
    monkeypatch.setattr(registry, "make", lambda name, rules: Busy())
    more = leaderboard.cost("busy", steps=10, repeats=5, warm_up=3) - plain
    assert 0.7 * 2000 / leaderboard.BATCH < more < 1.5 * 2000 / leaderboard.BATCH


def test_costs_come_onto_the_page(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaderboard, "cost", lambda name, steps, repeats: float(len(name)))
    assert run(place, "--only", pairings.COSTS) == 0
    text = leaderboard_page.PAGE.read_text()
    assert cells(text, "`uniform`", "dalian")[2] == "7.0" and "0 of 2 pairings played" in text


def test_sources_change_with_code_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "registry.py"
    monkeypatch.setattr(registry, "__file__", str(file))
    digests = []
    for text in ("a = 1\n", '"""What it is."""\n\n# why\na = 1\n', "a = 2\n"):
        file.write_text(text)
        digests.append(leaderboard.sources())
    assert digests[0] == digests[1] != digests[2]
