"""A game that a person plays: planned like a game of a run, and kept as a run of its own, so that
whatever reads runs reads it too.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from arena.commands.single import Round
from arena.errors import RunError
from arena.exports.text import seat_names
from arena.match.clock import Timing
from arena.match.referee import GamePlan, Outcome
from arena.players.folder import Bot
from arena.players.person import PERSON, YOU
from arena.players.sandbox.tiers import Sandbox
from arena.records.evidence import Faults
from arena.records.find import read_records
from arena.records.journal import Journal
from arena.records.origin import mark_run
from arena.records.runfile import RunInfo, write_run
from arena.rules.boards import Board
from arena.rules.rounds import rounds_of
from arena.tournament.config import OneGame, RunConfig, describe_run, make_config
from arena.tournament.schedule import Schedule
from arena.tournament.session import new_seed, now

PREFIX = "played"


class PlayedGame(NamedTuple):
    """A game, or a match of several rounds, with its ``bots`` by seat, of whom one is a person.
    ``started`` is UTC.
    """

    config: RunConfig
    boards: Sequence[Board]
    bots: Sequence[Bot]
    started: str

    @property
    def rounds(self) -> list[Round]:
        """The games to play, one after the other."""
        return [Round(board, partial(_planned, plan)) for board, plan in self._plans()]

    def _plans(self) -> list[tuple[Board, GamePlan]]:
        schedule, game = Schedule(self.config), self.config.game
        assert game is not None, "a game"
        line_up = tuple(sorted(game.seats))
        deals = rounds_of([board.name for board in self.boards], game.deal)
        return [
            (board, schedule.game(board.name, line_up, deal, 0))
            for board, (_, deal) in zip(self.boards, deals, strict=True)
        ]

    def keep(self, results: Path, outcomes: Sequence[Outcome], sandbox: Sandbox) -> Path:
        """Writes the finished game into a new folder of ``results``, which is returned. Raises
        RunError, OSError.
        """
        folder = _new_folder(results)
        info = self._described(sandbox)
        with Journal(folder) as journal:
            journal.append([outcome.record for outcome in outcomes])
        faults = Faults(folder)
        for (_, plan), outcome in zip(self._plans(), outcomes, strict=True):
            faults.write(plan.id, plan.seeds, outcome.evidence)
        mark_run(folder, info)
        # last: a folder is a run as soon as it has this
        write_run(folder, info)
        return folder

    def _described(self, sandbox: Sandbox) -> RunInfo:
        return describe_run(
            self.config,
            {board.name: board for board in self.boards},
            self.bots,
            sandbox=sandbox.tier,
            started=self.started,
            grants={base: grants.words for base, grants in sandbox.grants.items()},
        )


def played_game(
    bots: Sequence[Bot], boards: Sequence[Board], timing: Timing, seed: str, deal: int = 0
) -> PlayedGame:
    """A game of these bots by seat on a deal of the seed; with several boards, a match. Raises
    ConfigError, also when a bot has two seats.
    """
    labels, names = [bot.label for bot in bots], [board.name for board in boards]
    settings = {
        "bots": labels,
        "seed": seed,
        "players": len(bots),
        "boards": list(dict.fromkeys(names)),
        "match": names if len(names) > 1 else [],
        "deals": 1,
        "game": OneGame(labels, deal),
        **msgspec.structs.asdict(timing),
    }
    return PlayedGame(make_config(msgspec.to_builtins(settings)), boards, bots, now())


class Wish(NamedTuple):
    """A game that somebody wants to play: against which bots, at which seat, on which tiles."""

    bots: Sequence[Bot]
    seat: int
    board: Board
    seed: str
    deal: int = 0
    timing: Timing = Timing()

    @property
    def game(self) -> PlayedGame:
        """The game. Raises ConfigError."""
        seats = [*self.bots[: self.seat], PERSON, *self.bots[self.seat :]]
        return played_game(seats, [self.board], self.timing, self.seed, self.deal)

    def again(self, how: str) -> Self:
        """The same with new tiles, with the same ones at the ``seat`` after this one, or just the
        ``same``.
        """
        if how == "seat":
            return self._replace(seat=(self.seat + 1) % (len(self.bots) + 1))
        return self if how == "same" else self._replace(seed=new_seed(), deal=0)


class PastGame(NamedTuple):
    """A kept game: its run and id, who else played, the person's rank, and when it ended in UTC."""

    run: str
    game: str
    board: str
    opponents: list[str]
    rank: int
    ended: str


def past_games(results: Path, most: int) -> list[PastGame]:
    """The latest kept games, the newest first; of a match the first round. What cannot be read is
    left out, and no link is followed.
    """
    found = list[PastGame]()
    for folder in _kept_folders(results):
        with suppress(RunError, OSError):
            record = next(read_records(folder), None)
            if record and YOU in record.bots:
                seat = record.bots.index(YOU)
                others = [name for at, name in enumerate(seat_names(record.bots)) if at != seat]
                told = (record.id, record.board, others, record.ranks[seat], record.ended)
                found.append(PastGame(folder.name, *told))
        if len(found) >= most:
            break
    return found


def _kept_folders(results: Path) -> list[Path]:
    """The folders of kept games, the newest first."""
    try:
        entries = [entry for entry in os.scandir(results) if entry.name.startswith(f"{PREFIX}-")]
        times = [
            (entry.stat(follow_symlinks=False).st_mtime, Path(entry.path))
            for entry in entries
            if entry.is_dir(follow_symlinks=False)
        ]
    except OSError:
        return []
    return [folder for _, folder in sorted(times, reverse=True)]


def _planned(plan: GamePlan, _: Sequence[str]) -> GamePlan:
    return plan


def _new_folder(results: Path) -> Path:
    """A new folder, named by date. Raises RunError."""
    day = datetime.now(UTC).strftime(f"{PREFIX}-%Y-%m-%d")
    try:
        results.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            folder = results / f"{day}-{number}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            return folder
    except OSError as error:
        raise RunError(
            f"expected to make a folder for the game in {results}, got {error}",
            "make room there, or let you write to it",
        ) from error
    raise AssertionError("numbers do not end")
