"""Answer questions about the rules: legal plays, tribute, scores.

example: gunzi rulebook order --level 3 --trump S
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Annotated

import tyro
from tyro.conf import arg

from gunzi_env import rulebook
from gunzi_env.cli.options import RulesName, UsageError, checked_rules, description, say_next, tyro_errors
from gunzi_env.rules import Rules

NOTHING = "(none)"
Level = Annotated[str, arg(help="Level of the hand, 3 to 10.")]
Trump = Annotated[str, arg(help="Trump suit, one of S H C D.")]


def _lines(found: Iterable[str]) -> str:
    return "\n".join(line or "(no card)" for line in found) or NOTHING


# The help of the options is in the annotations: tyro does not find an "Args:" section after the example.


def legal(
    hand: Annotated[str, arg(help='Cards held, such as "H9 H9 D4 BJ".')],
    level: Level,
    trump: Trump,
    lead: Annotated[str | None, arg(help="Cards led; leave it out to lead.")] = None,
    rules: RulesName = "dalian",
) -> str:
    """List all legal plays, one per line (R3, R7).

    example: gunzi rulebook legal --level 3 --trump S --hand "H9 H9 D4" --lead "HK HK"
    """
    return _lines(rulebook.legal_plays(checked_rules(rules), level, trump, hand, lead))


def winner(
    plays: Annotated[tuple[str, ...], arg(help="Plays in order, each in quotes.")],
    level: Level,
    trump: Trump,
    rules: RulesName = "dalian",
) -> str:
    """Name the play that wins a trick; the leader's play has number 0 (R7.6).

    example: gunzi rulebook winner --level 3 --trump S --plays "HK HK" "HA H4" "S5 S5" "H2 H2"
    """
    number = rulebook.trick_winner(checked_rules(rules), level, trump, list(plays))
    return f"{number}  {plays[number]}"


def dry(
    kitty: Annotated[str, arg(help="Cards of the kitty.")], level: Level, trump: Trump, rules: RulesName = "dalian"
) -> str:
    """Say whether a shown kitty is dry (R6.6): yes or no.

    example: gunzi rulebook dry --level 3 --trump S --kitty "H4 H4 D9 CK C7 D3"
    """
    return "yes" if rulebook.is_dry(checked_rules(rules), level, trump, kitty) else "no"


def tribute(
    hand: Annotated[str, arg(help="Cards of the giver.")],
    blood: Annotated[int, arg(help="Number of cards owed.")],
    level: Level,
    trump: Trump,
    rules: RulesName = "dalian",
) -> str:
    """List all sets of cards that may be given as tribute, one per line (R5.1 to R5.3).

    example: gunzi rulebook tribute --level 3 --trump S --hand "BJ HA CA D9" --blood 2
    """
    return _lines(rulebook.tribute_choices(checked_rules(rules), level, trump, hand, blood))


def pickup(
    kitty: Annotated[str, arg(help="Cards that the dealer buried.")],
    number: Annotated[int, arg(help="Number of jokers put in.")],
    level: Level,
    trump: Trump,
    rules: RulesName = "dalian",
) -> str:
    """List all sets of cards that may be picked up from the kitty for buried jokers, one per line (R6.5).

    example: gunzi rulebook pickup --level 3 --trump S --kitty "H4 D4 D9 CK C7 S5" --number 1
    """
    return _lines(rulebook.pickup_choices(checked_rules(rules), level, trump, kitty, number))


def beats(
    new: Annotated[
        str, arg(help="New bid: copies and suit (2xH), or all jokers of a kind and the suit named (3xBJ:D).")
    ],
    standing: Annotated[str | None, arg(help="Standing bid; leave it out if there is none.")] = None,
    rules: RulesName = "dalian",
) -> str:
    """Say whether a bid beats the standing one (R4.4, R4.5): yes or no.

    example: gunzi rulebook beats --new 3xLJ:S --standing 2xH
    """
    return "yes" if rulebook.bid_beats(checked_rules(rules), new, standing) else "no"


def settle(
    score: Annotated[int, arg(help="S, the points of the attackers, a multiple of 5.")],
    dug: Annotated[bool, arg(help="The attackers won the last trick.")] = False,
    big: Annotated[int, arg(help="Big jokers in the kitty.")] = 0,
    small: Annotated[int, arg(help="Small jokers in the kitty.")] = 0,
    dry: Annotated[bool, arg(help="The kitty was dry.")] = False,
    levels: Annotated[tuple[int, int], arg(help="Levels of the teams {0, 2} and {1, 3}.")] = (3, 3),
    dealer: Annotated[int, arg(help="Seat of the dealer.")] = 0,
    rules: RulesName = "dalian",
) -> str:
    """Settle a hand: winner, levels, next dealer, blood, end of the match (R9).

    example: gunzi rulebook settle --score 115 --big 1 --small 1
    """
    result = rulebook.settle(checked_rules(rules), score, dug, big, small, dry, levels, dealer)
    fields = ("winner", "gain", "levels", "next_dealer", "blood", "match_winner")
    return "\n".join(f"{name:<13}{_plain(getattr(result, name))}" for name in fields)


def order(level: Level, trump: Trump, rules: RulesName = "dalian") -> str:
    """List all cards from the weakest to the strongest, equal cards on one line, trumps last (R2).

    example: gunzi rulebook order --level 3 --trump S
    """
    return "\n".join(" ".join(group) for group in rulebook.strength_order(checked_rules(rules), level, trump))


def presets() -> str:
    """List the presets of the rules.

    example: gunzi rulebook presets
    """
    return "\n".join(Rules.presets())


def _plain(value: object) -> str:
    if value is None:
        return "none"
    return " ".join(str(part) for part in value) if isinstance(value, tuple) else str(value)


QUESTIONS: dict[str, Callable[..., str]] = {
    question.__name__: question for question in (legal, winner, dry, tribute, pickup, beats, settle, order, presets)
}


def main(argv: list[str]) -> int:
    """Run ``gunzi rulebook``."""
    try:
        with tyro_errors():
            answer = tyro.extras.subcommand_cli_from_dict(
                QUESTIONS, prog="gunzi rulebook", args=argv, description=description(__doc__)
            )
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(answer)
    if sys.stdout.isatty():  # scripts need only the answer
        say_next("gunzi rulebook --help for all questions; gunzi demo to watch one hand")
    return 0
