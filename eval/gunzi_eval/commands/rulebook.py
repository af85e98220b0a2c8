"""Ask the rules: legal plays, who wins a trick, dry pots, tribute, bids, what a score means.

Each question is one function of :mod:`gunzi_env.rulebook`, so that the command line, Python and the engine give one
answer.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

from gunzi_env import rulebook
from gunzi_env.cli.options import UsageError, checked_rules, say_next, tyro_errors
from gunzi_env.rules import Rules

NOTHING = "(none)"


def _lines(found: Iterable[str]) -> str:
    return "\n".join(line or "(no card)" for line in found) or NOTHING


def legal(hand: str, level: str, trump: str, lead: str | None = None, rules: str = "dalian") -> str:
    """Every whole play that is legal, one a line (R3, R7).

    example: gunzi rulebook legal --level 3 --trump S --hand "H9 H9 D4" --lead "HK HK"

    Args:
        hand: The cards held, such as "H9 H9 D4 BJ".
        level: The level of the hand, 3 to 10.
        trump: The trump suit, one of S H C D.
        lead: What was led; leave it out to lead.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    return _lines(rulebook.legal_plays(checked_rules(rules), level, trump, hand, lead))


def winner(plays: tuple[str, ...], level: str, trump: str, rules: str = "dalian") -> str:
    """Which play wins a trick, counted from 0, the leader (R7.6).

    example: gunzi rulebook winner --level 3 --trump S --plays "HK HK" "HA H4" "S5 S5" "H2 H2"

    Args:
        plays: The plays in order, each in quotes.
        level: The level of the hand, 3 to 10.
        trump: The trump suit, one of S H C D.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    number = rulebook.trick_winner(checked_rules(rules), level, trump, list(plays))
    return f"{number}  {plays[number]}"


def dry(kitty: str, level: str, trump: str, rules: str = "dalian") -> str:
    """Is a shown kitty dry (R6.6)? Answers yes or no.

    example: gunzi rulebook dry --level 3 --trump S --kitty "H4 H4 D9 CK C7 D3"

    Args:
        kitty: The cards of the kitty.
        level: The level of the hand, 3 to 10.
        trump: The trump suit, one of S H C D.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    return "yes" if rulebook.is_dry(checked_rules(rules), level, trump, kitty) else "no"


def tribute(hand: str, blood: int, level: str, trump: str, rules: str = "dalian") -> str:
    """Every set of cards that may be given as tribute, one a line (R5.1 to R5.3).

    example: gunzi rulebook tribute --level 3 --trump S --hand "BJ HA CA D9" --blood 2

    Args:
        hand: The giver's cards.
        blood: How many cards are owed.
        level: The level of the hand, 3 to 10.
        trump: The trump suit, one of S H C D.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    return _lines(rulebook.tribute_choices(checked_rules(rules), level, trump, hand, blood))


def pickup(kitty: str, number: int, level: str, trump: str, rules: str = "dalian") -> str:
    """Every set of cards that may be picked up from the kitty for buried jokers, one a line (R6.5).

    example: gunzi rulebook pickup --level 3 --trump S --kitty "H4 D4 D9 CK C7 S5" --number 1

    Args:
        kitty: The cards the dealer buried.
        number: How many jokers were put in.
        level: The level of the hand, 3 to 10.
        trump: The trump suit, one of S H C D.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    return _lines(rulebook.pickup_choices(checked_rules(rules), level, trump, kitty, number))


def beats(new: str, standing: str | None = None, rules: str = "dalian") -> str:
    """Does a bid beat the standing one (R4.4, R4.5)? Answers yes or no.

    example: gunzi rulebook beats --new 3xLJ:S --standing 2xH

    Args:
        new: The new bid: copies and suit as 2xH, or all jokers of a kind and the suit they name, as 3xBJ:D.
        standing: The standing bid; leave it out if there is none.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    return "yes" if rulebook.bid_beats(checked_rules(rules), new, standing) else "no"


def settle(
    score: int,
    dug: bool = False,
    big: int = 0,
    small: int = 0,
    dry: bool = False,
    levels: tuple[int, int] = (3, 3),
    dealer: int = 0,
    rules: str = "dalian",
) -> str:
    """What a score means: winner, levels, next dealer, blood, end of the match (R9).

    example: gunzi rulebook settle --score 115 --big 1 --small 1

    Args:
        score: S, what the attackers count, a multiple of 5.
        dug: Did the attackers win the last trick?
        big: Big jokers in the kitty.
        small: Small jokers in the kitty.
        dry: Was the kitty dry?
        levels: The levels of the teams {0, 2} and {1, 3}.
        dealer: The dealer's seat.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    result = rulebook.settle(checked_rules(rules), score, dug, big, small, dry, levels, dealer)
    fields = ("winner", "gain", "levels", "next_dealer", "blood", "match_winner")
    return "\n".join(f"{name:<13}{_plain(getattr(result, name))}" for name in fields)


def order(level: str, trump: str, rules: str = "dalian") -> str:
    """All cards from the weakest group to the strongest, one group of equals a line, trumps last (R2).

    example: gunzi rulebook order --level 3 --trump S

    Args:
        level: The level of the hand, 3 to 10.
        trump: The trump suit, one of S H C D.
        rules: A preset (dalian, dalian_dead, classic, four_deck) or a TOML file such as configs/rules/jack.toml.
    """
    return "\n".join(" ".join(group) for group in rulebook.strength_order(checked_rules(rules), level, trump))


def presets() -> str:
    """The presets of the rules.

    example: gunzi rulebook presets
    """
    return "\n".join(Rules.presets())


def _plain(value: object) -> str:
    if value is None:
        return "none"
    return " ".join(str(part) for part in value) if isinstance(value, tuple) else str(value)


QUESTIONS: dict[str, Callable[..., str]] = {
    "legal": legal,
    "winner": winner,
    "dry": dry,
    "tribute": tribute,
    "pickup": pickup,
    "beats": beats,
    "settle": settle,
    "order": order,
    "presets": presets,
}

ABOUT = f"{(__doc__ or '').partition(chr(10))[0]}\n\nexample: gunzi rulebook order --level 3 --trump S"
NEXT = "gunzi rulebook --help lists all questions; gunzi demo plays one hand"


def main(argv: list[str]) -> int:
    """``gunzi rulebook``."""
    import tyro

    try:
        with tyro_errors():
            answer = tyro.extras.subcommand_cli_from_dict(
                QUESTIONS, prog="gunzi rulebook", args=argv, description=ABOUT
            )
    except ValueError as error:
        raise UsageError(str(error)) from None
    print(answer)
    if sys.stdout.isatty():  # a script that asks wants the answer alone
        say_next(NEXT)
    return 0
