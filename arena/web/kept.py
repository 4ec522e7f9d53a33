"""The page of a kept game between a person and bots: a game, with its result and the moments that
decided it, and not a run with ratings.
"""

from pathlib import Path
from typing import Any

from arena.commands.game import own_moves_from
from arena.errors import ArenaError
from arena.exports.moments import Moment, headline, moments_of, title_of
from arena.records.grades import newest_review, read_reviews
from arena.records.record import GameRecord
from arena.rules.terms import REVISION
from arena.tournament.run import Run
from arena.web.game_end import own_turns
from arena.web.places import run_name
from arena.web.run_list import when


def kept_game(folder: Path) -> dict[str, Any] | None:
    """The values for the template ``kept.html`` if the run in ``folder`` is the kept game of a
    person; None for any other run. Raises RunError.
    """
    run = Run(folder)
    game = run.person_game()
    if game is None:
        return None
    record, seat = game
    moments = _moments(run, record, seat)
    return {
        "name": run_name(folder),
        "title": title_of(record, seat),
        "headline": headline(record, seat, None if moments is None else len(moments)),
        "game": record.id,
        "board": record.board,
        "turns": record.turns,
        "ended": when(record.ended),
        "moments": moments,
    }


def _moments(run: Run, record: GameRecord, seat: int) -> list[Moment] | None:
    """The moments of the kept game of ``record`` for the person at ``seat``; None if the game is
    not graded, or if its grades cannot be read.
    """
    try:
        review = newest_review(read_reviews(run.folder), record, REVISION)
        if review is None:
            return None
        own = own_turns(record, seat, own_moves_from(run.info))
        grades = {turn: grade for turn, grade in review[1].items() if turn in own}
        return moments_of(record, run.boards[record.board], seat, grades)
    except (ArenaError, KeyError):
        return None
