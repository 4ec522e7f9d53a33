"""review.jsonl: the grades that judges gave to the decisions of a run, one game per line.

A line has the grades of some seats of a game by one judge. An interrupted review is continued from
the file, and another judge adds lines of its own. Programs that show grades read them here, without
asking a judge again.
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
from arena.records.record import MAX_SEATS, GameRecord, Text, TurnNumber
from arena.records.regular import LineFile
from arena.rules.notation import PASSED

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
    ``deals``  the number of deals on which a move is compared with the better one
    ``seed``   the seed of these deals
    ``by``     the bot that says which move is better, with a hash of its content; empty if the
               games played to the end say so
    """

    judge: Text
    deals: Annotated[int, Meta(ge=2, le=1_000_000)]
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)]
    by: str = ""

    @property
    def name(self) -> str:
        """The name of the bot that says which move is better."""
        return self.by.partition(" ")[0] or self.judge


class Grade(Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's opinion of the move that a seat played after ``turn`` placements.

    ``choices``  the number of legal moves
    ``better``   the move that the judge would have played, which may be the played one
    ``cost``     how much more of the win ``better`` gets than ``played``, on the same deals
    ``error``    half the width of its 95 % interval; 0 if the moves are equal
    ``win``      the share of the win that the seat gets after ``played``
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
        """The judge's probability that the better move really is better; None if it is the played
        move.
        """
        if not self.error:
            return None
        return NormalDist().cdf(HALF_WIDTH * self.cost / self.error)

    def told(self, judge: Judge) -> str:
        """The grade as one line for people."""
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
    """One line of the file. ``seats`` are the seats of which every decision is graded; ``rules`` is
    the revision of the rules, and ``arena`` the version that wrote the line.
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
    """What a judge has graded of a game so far: the graded seats, and the grades by turn."""

    seats: set[int]
    grades: dict[int, Grade]


def review_file(run: Path) -> LineFile:
    """The file with a run's reviews, open for appending lines made by `line_of`.
    Raises RunError.
    """
    return LineFile(run, REVIEW_FILE, "grades", busy="wait until that review is over")


def line_of(game: ReviewedGame) -> bytes:
    """The line of the file for a reviewed game."""
    return msgspec.json.encode(game) + b"\n"


def read_reviews(run: Path) -> list[ReviewedGame]:
    """The lines of a run, in the order they were written; none if there is no such file.

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
        if turns != sorted(set(turns)) or not {grade.seat for grade in game.grades} <= {
            *game.seats
        }:
            raise RunError(
                f"{path}, line {number}: expected the grades of seats {game.seats} in the"
                " order of their turns, got others",
                CURE,
            )
        games.append(game)
    return games


def seen_by(reviews: Sequence[ReviewedGame], judge: Judge, rules: int) -> dict[str, SeenGame]:
    """What one judge has graded under this revision of the rules, by game."""
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
    """The judge that graded a game last, and its grades by turn. Raises RunError."""
    judge = next((game.judge for game in reversed(reviews) if game.game == record.id), None)
    if judge is None:
        return None
    seen = seen_by(reviews, judge, rules).get(record.id)
    if seen is None:
        return None
    check_fits(seen, record)
    return judge, seen.grades


def check_fits(seen: SeenGame, record: GameRecord) -> None:
    """Raises RunError unless the grades are of the moves of this record."""
    placed = [(at, text) for at, text in enumerate(record.moves) if text != PASSED]
    for grade in seen.grades.values():
        at, text = placed[grade.turn] if grade.turn < len(placed) else (-1, "no move")
        seat = at % len(record.bots)
        if (seat, text) != (grade.seat, grade.played):
            raise RunError(
                f"{REVIEW_FILE}, {record.id}, turn {grade.turn}: expected a grade of {text} by seat"
                f" {seat}, as in the journal, got {grade.played} by seat {grade.seat}",
                CURE,
            )
