"""How a run looks at the ratings while it plays, if they decide how much is played."""

from math import ceil, isfinite
from typing import TYPE_CHECKING

from arena.cli.playing import Play
from arena.cli.progress import Progress
from arena.tournament.allotment import next_allotment
from arena.tournament.batches import Batches
from arena.tournament.config import RunConfig
from arena.tournament.session import Session
from arena.tournament.sources import AllGames, GamesInRounds, Source

if TYPE_CHECKING:
    from arena.ratings.information import Precision


def source_of(play: Play) -> Source:
    """The games of a tournament, including those of further allotments."""
    session = play.session

    def decide() -> Batches | None:
        allotted = _look(session, play.progress)
        if allotted is None:
            session.change(settled=session.schedule.last_deal)
            return None
        session.change(allotted=allotted)
        return play.missing()

    if session.config.allotted is None or session.config.settled is not None:
        return AllGames(play.missing())
    return GamesInRounds(play.missing(), decide)


def _look(session: Session, progress: Progress) -> dict[str, int] | None:
    """Rates the games so far and shows how precise the ratings are; returns the next allotment, or
    None if that is enough.
    """
    # Pandas: a run that does not ask for this never loads it.
    from arena.ratings.information import precision, promises, rate_journal  # noqa: PLC0415

    config = session.config
    results, ratings = rate_journal(session.folder, config.bots, config.match)
    games = results.games * max(len(config.match), 1)
    found = precision(results, ratings, config.until)
    allotted = None
    if config.until is None or found.widest > config.until:
        allotted = next_allotment(
            config, promises(results, ratings, session.schedule.line_ups, config.until)
        )
    progress.figures["+/-"] = _number(found.widest)
    needed = _needed(session, found, games) if allotted else 0
    progress.expect(games + needed)
    progress.say(f"{games} games: {_precision_text(found)}; {_rest_text(config, found, needed)}")
    return allotted


def _precision_text(found: "Precision") -> str:
    neighbours = f"{found.open_pairs} pair{'' if found.open_pairs == 1 else 's'} of neighbours"
    return f"widest +/- {_number(found.widest)} Elo, {neighbours} not settled"


def _needed(session: Session, found: "Precision", games: int) -> int:
    """About how many games are left to play."""
    left = session.schedule.planned - games
    return (
        left
        if session.config.until is None
        else ceil(min(found.games * max(len(session.config.match), 1), left))
    )


def _rest_text(config: RunConfig, found: "Precision", needed: int) -> str:
    if needed:
        return f"{'' if config.until is None else 'about '}{needed} games to go"
    return (
        "done"
        if config.until is None or found.widest <= config.until
        else "no deals are left: use more --deals to continue"
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if isfinite(value) else "open"
