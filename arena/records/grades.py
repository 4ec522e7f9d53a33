"""review.jsonl: the grades that judges gave to the decisions in a run's games, one game per line. A
*judge* is a built-in bot that grades a move by playing the game on from there many times; see
`Judge`.

A line has the grades of some seats of a game by one judge. An interrupted review is resumed from
the file, and another judge adds lines of its own. Programs that show grades read them here and need
not compute them again.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from arena.errors import RunError
from arena.records.journal import read_lines
from arena.records.record import MAX_SEATS, GameRecord, Text, TurnNumber, placed_at
from arena.records.regular import LineFile
from arena.rules.notation import seat_of_move

REVIEW_FILE = "review.jsonl"
CURE = "something else changed the file: restore it, or delete it and review the run again"
DECIMALS = 4
MAX_SEED = (1 << 31) - 1
HALF_WIDTH = 1.96
"""The factor from a standard error to half the width of a 95 % interval."""

Seat = Annotated[int, Meta(ge=0, lt=MAX_SEATS)]
Share = Annotated[float, Meta(ge=0, le=1)]
Placement = Annotated[str, Meta(pattern=r"^([RYB][a-z][0-9]{1,2}){2}$")]


class Judge(Struct, frozen=True, forbid_unknown_fields=True):
    """How decisions are graded.

    ``judge``  the built-in bot that plays the games to their end
    ``deals``  the number of deals on which the played move is compared with the better one
    ``seed``   the seed of these deals
    ``by``     the label of the bot that names the better move, a space, and a hash of the bot's
               content; empty if the ``judge`` names the better move from the games that it plays to
               the end
    """

    judge: Text
    deals: Annotated[int, Meta(ge=2, le=1_000_000)]
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)]
    by: str = ""

    @property
    def name(self) -> str:
        """The name of the bot that names the better move."""
        return self.by.partition(" ")[0] or self.judge


class Grade(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's grade for the move that ``seat`` played after ``turn`` placements.

    ``choices``  the number of legal moves
    ``played``   the move that the seat played
    ``better``   the move that the judge would have played, which may be the played one
    ``cost``     how much larger the share of the win is after ``better`` than after ``played``, on
                 the same deals; from -1 to 1
    ``error``    half the width of the 95 % interval of ``cost``; 0 if both are the same move
    ``win``      the share of the win that the seat gets after ``played``, from 0 to 1
    """

    turn: TurnNumber
    seat: Seat
    choices: Annotated[int, Meta(ge=1)]
    played: Placement
    better: Placement
    cost: Annotated[float, Meta(ge=-1, le=1)]
    error: Annotated[float, Meta(ge=0, le=2)]
    win: Share

    @property
    def sure(self) -> float | None:
        """The judge's probability, 0 to 1, that ``better`` really is better than ``played``; None
        if ``error`` is 0, as when both are the same move.
        """
        if not self.error:
            return None
        return NormalDist().cdf(HALF_WIDTH * self.cost / self.error)

    def describe(self, judge: Judge) -> str:
        """Describes the grade in one line for people. ``judge`` is the judge that gave the
        grade.
        """
        if self.choices == 1:
            return "the only legal move"
        if self.better == self.played:
            return f"{judge.name} would have played the same"
        figures = f"{100 * self.cost:.1f} +/- {100 * self.error:.1f} % of a win"
        if judge.by:
            return (
                f"costs {figures} against {self.better}, which {judge.name} named;"
                f" {judge.judge} finished the games"
            )
        return f"costs {figures} against {self.better}, as {judge.name} judges"


class ReviewedGame(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One line of review.jsonl: the grades of one ``game`` by one ``judge``. All decisions of the
    ``seats`` are graded. ``rules`` is the revision of the rules, ``arena`` the version that wrote
    the line.
    """

    v: Literal[1]
    game: Text
    judge: Judge
    rules: int
    arena: str
    seats: Annotated[list[Seat], Meta(min_length=1, max_length=MAX_SEATS)]
    grades: list[Grade]


_decode = msgspec.json.Decoder(ReviewedGame).decode


class SeenGame(NamedTuple):
    """What one judge has graded of a game: the seats whose decisions are graded, and the grades by
    turn.
    """

    seats: set[int]
    grades: dict[int, Grade]


def review_file(run: Path) -> LineFile:
    """Opens the review.jsonl of a run for appending lines made by `line_of`. Raises RunError, also
    if another arena has the file open.
    """
    return LineFile(run, REVIEW_FILE, "grades", busy="wait until that review is over")


def line_of(game: ReviewedGame) -> bytes:
    """Encodes a reviewed game as a line of review.jsonl."""
    return msgspec.json.encode(game) + b"\n"


def read_reviews(run: Path) -> list[ReviewedGame]:
    """Reads the lines of a run's review.jsonl in their order; an empty list if there is no such
    file.

    Raises RunError with the number of a line that is not what the arena writes.
    """
    games = []
    path = run / REVIEW_FILE
    for number, line in enumerate(read_lines(path) if os.path.lexists(path) else (), 1):
        try:
            game = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            told = f"{path}, line {number}: expected a review, got {error}"
            raise RunError(told, CURE) from None
        turns = [grade.turn for grade in game.grades]
        graded_seats = {grade.seat for grade in game.grades}
        if turns != sorted(set(turns)) or not graded_seats.issubset(game.seats):
            raise RunError(
                f"{path}, line {number}: expected the grades of seats {game.seats} in the"
                " order of their turns, got others",
                CURE,
            )
        games.append(game)
    return games


def seen_by(reviews: Sequence[ReviewedGame], judge: Judge, rules: int) -> dict[str, SeenGame]:
    """What ``judge`` has graded under the revision ``rules`` of the rules, by the id of the game.
    ``reviews`` are the lines of a review.jsonl.
    """
    found: dict[str, SeenGame] = {}
    for game in reviews:
        if (game.judge, game.rules) == (judge, rules):
            seen = found.setdefault(game.game, SeenGame(set(), {}))
            seen.seats.update(game.seats)
            seen.grades.update((grade.turn, grade) for grade in game.grades)
    return found


def newest_review(
    reviews: Sequence[ReviewedGame], record: GameRecord, rules: int
) -> tuple[Judge, dict[int, Grade]] | None:
    """The judge that graded the game of ``record`` last, by the lines ``reviews``, and its grades
    by turn. None if no judge has graded the game, or if the last one did under another revision
    than ``rules``. Raises RunError if the grades do not fit the record.
    """
    judge = next((game.judge for game in reversed(reviews) if game.game == record.id), None)
    if judge is None:
        return None
    seen = seen_by(reviews, judge, rules).get(record.id)
    if seen is None:
        return None
    check_fits(seen, record)
    return judge, seen.grades


def check_fits(seen: SeenGame, record: GameRecord) -> None:
    """Raises RunError unless each grade in ``seen`` is for the move and the seat that ``record``
    has at that turn.
    """
    placed = placed_at(record.moves)
    for grade in seen.grades.values():
        at = placed[grade.turn] if grade.turn < len(placed) else -1
        text = record.moves[at] if at >= 0 else "no move"
        seat = seat_of_move(at, len(record.bots))
        if (seat, text) != (grade.seat, grade.played):
            raise RunError(
                f"{REVIEW_FILE}, {record.id}, turn {grade.turn}: expected a grade of {text} by seat"
                f" {seat}, as in the journal, got {grade.played} by seat {grade.seat}",
                CURE,
            )
