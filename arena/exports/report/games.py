"""The games on a page, as many as fit."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from arena.errors import ArenaError, RunError
from arena.exports.report.choice import Reasons
from arena.exports.report.scan import Scan
from arena.exports.report.stderr import Shown
from arena.exports.report.steps import game_object
from arena.exports.report.words import counted, visible
from arena.match.grading import winning_shares
from arena.records.find import deal_of
from arena.records.record import GameRecord
from arena.records.review import Judge, ReviewedGame, newest_review
from arena.rules import CORE
from arena.rules.boards import Board
from arena.rules.notation import PASSED
from arena.rules.terms import REVISION

MOST_BYTES = 2_000_000
"""The limit for all games together, so that a page stays below 5 MB."""

AT_ONCE = 1000
"""Records held in memory at a time."""

QUICK = Judge("careful-4", 50, 0)
"""Who says who wins where nobody reviewed the game: 0.15 s of processor time a game."""


class Album(NamedTuple):
    """Games for the viewer; ``crowded_out`` is the number that did not fit, ``damaged`` lists those
    that could not be replayed and why.
    """

    games: list[dict[str, Any]]
    boards: dict[str, Board]
    crowded_out: int
    damaged: list[str]

    def content(self) -> dict[str, Any]:
        """The data that the viewer reads."""
        return {
            "boards": {name: board.rows for name, board in self.boards.items()},
            "games": self.games,
        }

    def words(self) -> Iterator[str]:
        """What happened in the games, in words that name rules."""
        for game in self.games:
            yield from (event[1] for step in game["steps"] for event in step.get("events", ()))
            yield from (fault["detail"] for fault in game["faults"])


def album_of(
    chosen: Iterable[tuple[GameRecord, list[str], list[Shown]]],
    rows: Mapping[str, list[str]],
    reviews: Sequence[ReviewedGame] = (),
    is_open: Callable[[GameRecord], bool] = lambda _: False,
    judged: int = 1,
) -> Album:
    """Replays the games, each with why it was chosen and its stderr, until the page is full;
    ``rows`` are the rows of the boards. So many of the first games get a quick curve of who wins,
    unless they are reviewed. Games of one deal know each other, unless it is open.
    """
    together = defaultdict[Any, list[tuple[int, dict[str, Any]]]](list)
    games, boards, damaged, size, crowded_out = (
        list[dict[str, Any]](),
        dict[str, Board](),
        list[str](),
        0,
        0,
    )
    for record, reasons, stderr in chosen:
        try:
            board = boards.get(record.board) or Board(record.board, tuple(rows[record.board]))
            game = readable({**game_object(record, board, reasons), "stderr": stderr})
            add_grades(game, record, reviews)
            if len(games) < judged and "judge" not in game:
                add_shares(game, record, board)
        except (ArenaError, KeyError, IndexError) as error:
            damaged.append(f"{record.id}: {error}")
            continue
        size += len(msgspec.json.encode(game))
        if size > MOST_BYTES:
            crowded_out += 1
            continue
        boards[record.board] = board
        games.append(game)
        if not is_open(record):
            together[deal_of(record)].append((record.seating, game))
    _introduce(together.values())
    return Album(games, boards, crowded_out, damaged)


def add_grades(game: dict[str, Any], record: GameRecord, reviews: Sequence[ReviewedGame]) -> None:
    """Adds what a judge made of the game: ``judge`` in words, ``adviser`` if a bot named the better
    moves, and to the steps ``grade`` as (cost, error, better move, share of the win after the
    move). Grades that do not fit the record are left out.
    """
    try:
        found = newest_review(reviews, record, REVISION)
    except RunError:
        return
    if found is None:
        return
    judge, grades = found
    game["judge"] = f"{visible(judge.judge)}, {counted(judge.deals, 'deal')}"
    if judge.by:
        game["adviser"] = visible(judge.name)
    for step in game["steps"]:
        grade = grades.get(step["turn"] - 1) if step["move"] != PASSED else None
        if grade:
            step["grade"] = (grade.cost, grade.error, grade.better, grade.win)


def add_shares(game: dict[str, Any], record: GameRecord, board: Board) -> None:
    """Adds ``judge`` and to the steps ``win``, the mover's share after the move, from some games
    played on. In the pure core that would take seconds, and is left out.
    """
    if CORE == "pure":
        return
    shares = winning_shares(record, board, QUICK)
    game["judge"] = f"{QUICK.judge}, {counted(QUICK.deals, 'deal')}"
    for step in game["steps"]:
        if step["move"] != PASSED and step["turn"] - 1 in shares:
            step["win"] = shares[step["turn"] - 1]


def _introduce(deals: Iterable[list[tuple[int, dict[str, Any]]]]) -> None:
    """Adds ``seatings`` to games whose deal is there with other seats too: the ids of all of
    them.
    """
    for games in deals:
        ids = [game["id"] for _, game in sorted(games, key=lambda found: found[0])]
        for _, game in games if len(games) > 1 else ():
            game["seatings"] = ids


def chosen_records(scan: Scan, chosen: Reasons) -> Iterator[tuple[GameRecord, list[str]]]:
    """The records of the chosen games."""
    rest = iter(chosen.items())
    while some := dict(islice(rest, AT_ONCE)):
        records = scan.records(some)
        yield from ((records[game], reasons) for game, reasons in some.items())


def readable(value: Any) -> Any:
    """The same value, with invisible characters in every text made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {readable(key): readable(part) for key, part in value.items()}
    return [readable(part) for part in value] if isinstance(value, (list, tuple)) else value
