"""How a run looks at the ratings while it plays, if they decide how much is played."""

from collections.abc import Callable
from math import ceil
from typing import NamedTuple

from arena.tournament.allotment import next_allotment
from arena.tournament.batches import Batches
from arena.tournament.session import Session
from arena.tournament.sources import AllGames, GamesInRounds, Source


class Standing(NamedTuple):
    """What a look at the ratings found.

    ``games``       played so far; ``needed`` about how many are left, 0 if it ends here
    ``widest``      the widest +/- in Elo, infinite if one is open
    ``open_pairs``  how many neighbours' order is not settled
    """

    games: int
    needed: int
    widest: float
    open_pairs: int


def source_of(
    session: Session,
    missing: Callable[[], Batches],
    watch: Callable[[Standing], object] = lambda _: None,
) -> Source:
    """The games of a tournament, including those of further allotments; ``missing`` gives those
    that are not in the journal, and ``watch`` hears of each look.
    """

    def decide() -> Batches | None:
        allotted, standing = _look(session)
        watch(standing)
        if allotted is None:
            session.change(settled=session.schedule.last_deal)
            return None
        session.change(allotted=allotted)
        return missing()

    if session.config.allotted is None or session.config.settled is not None:
        return AllGames(missing())
    return GamesInRounds(missing(), decide)


def _look(session: Session) -> tuple[dict[str, int] | None, Standing]:
    """Rates the games so far: the next allotment, or None if that is enough, and what was found."""
    # Pandas: a run that does not ask for this never loads it.
    from arena.ratings.information import precision, promises, rate_journal  # noqa: PLC0415

    config = session.config
    results, ratings = rate_journal(session.folder, config.bots, config.match)
    rounds = max(len(config.match), 1)
    games = results.games * rounds
    found = precision(results, ratings, config.until)
    allotted = None
    if config.until is None or found.widest > config.until:
        allotted = next_allotment(
            config, promises(results, ratings, session.schedule.line_ups, config.until)
        )
    left = session.schedule.planned - games
    needed = left if config.until is None else ceil(min(found.games * rounds, left))
    standing = Standing(games, needed if allotted else 0, found.widest, found.open_pairs)
    return allotted, standing
