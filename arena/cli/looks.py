"""What a run says of each look at the ratings, if they decide how much is played."""

from collections.abc import Callable
from math import isfinite

from arena.cli.progress import Progress
from arena.commands.looks import Standing
from arena.tournament.config import RunConfig


def shown_on(progress: Progress, config: RunConfig) -> Callable[[Standing], None]:
    """Shows how precise the ratings are."""

    def show(found: Standing) -> None:
        progress.figures["+/-"] = _number(found.widest)
        progress.expect(found.games + found.needed)
        progress.say(f"{found.games} games: {_precision_text(found)}; {_rest_text(config, found)}")

    return show


def _precision_text(found: Standing) -> str:
    neighbours = f"{found.open_pairs} pair{'' if found.open_pairs == 1 else 's'} of neighbours"
    return f"widest +/- {_number(found.widest)} Elo, {neighbours} not settled"


def _rest_text(config: RunConfig, found: Standing) -> str:
    if found.needed:
        return f"{'' if config.until is None else 'about '}{found.needed} games to go"
    return (
        "done"
        if config.until is None or found.widest <= config.until
        else "no deals are left: use more --deals to continue"
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "open"
