"""Checks the records of a run against its plan and the rules, and its bots and tables against its
other files, and lists the differences, for `arena verify`.
"""

import os
import shlex
from collections.abc import Callable, Iterator
from hashlib import sha256
from heapq import heappush, heapreplace
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from arena.errors import ConfigError, RunError, UserError
from arena.exports.files import DERIVED
from arena.exports.tablecheck import check_tables
from arena.match.replay import audit
from arena.players.folder import Bot, bot_files, manifest_text, played_copy
from arena.players.labels import settings_text, split_options
from arena.players.manifest import MANIFEST_FILE, played_text
from arena.players.player import A_PERSON, IN_PROCESS, built_in_bot
from arena.records.evidence import evidence_name
from arena.records.journal import COMPRESSED, Ids, read_lines
from arena.records.record import GameRecord
from arena.records.regular import open_regular, read_regular
from arena.records.runfile import RUN_FILE, BotInfo, RunInfo
from arena.records.strict import Difference, Wrong, decode_strictly
from arena.rules.boards import Board
from arena.rules.terms import REVISION
from arena.tournament.run import Run
from arena.tournament.schedule import Schedule, game_id

MAX_DIFFERENCES = 1000
"""The most differences that are listed; the check of the games stops there."""


class Sample(NamedTuple):
    """The number of games to replay, and a text (``seed``) that determines which games these
    are.
    """

    games: int
    seed: str


class CheckedRun(NamedTuple):
    """The result of checking a run.

    ``games``        the number of different games in the journal
    ``replayed``     the number of games that were replayed
    ``planned``      the number of games in the plan
    ``bots``         the number of bots whose files were compared
    ``tables``       the names of the table files that were compared
    ``differences``  at most `MAX_DIFFERENCES`, in the order in which they were found
    ``notes``        sentences about what could not be compared
    """

    games: int
    replayed: int
    planned: int
    bots: int
    tables: list[str]
    differences: list[Difference]
    notes: list[str]


def verify_run(
    run: Run,
    prior: float | None = None,
    progress: Callable[[int], object] = lambda _: None,
    sample: Sample | None = None,
) -> CheckedRun:
    """Checks the files in a run's folder whose content follows from other files there: run.json,
    the journal, the evidence of faults, the copies of bots, and the tables, which are rated with
    ``prior``. ``progress`` is called with the number of bytes of the journal read so far.

    With a ``sample``, only the sampled games are replayed; None replays all. Raises RunError, and
    ConfigError for settings from another version.
    """
    info = run.info
    schedule = run.schedule
    notes = []
    if info.rules_revision != REVISION:
        notes.append(
            f"the run was played with rules revision {info.rules_revision}, this is {REVISION}"
        )
    games = _GameChecks(run, sample)
    all_differences = chain(_run_differences(info, schedule), games.differences(progress))
    differences = list(islice(all_differences, MAX_DIFFERENCES))
    if len(differences) == MAX_DIFFERENCES:
        notes.append(f"stopped after {MAX_DIFFERENCES} differences")
    elif (missing := schedule.games - len(games.ids)) > 0:
        notes.append(f"{missing} of the {schedule.games} planned games are missing")
    if _has_torn_end(run.journal):
        notes.append(
            "the journal ends in the middle of a line: repeat the same 'arena run' to cut it off"
            " and play its game"
        )
    bots = 0
    for bot in info.bots:
        is_built_in = schedule.config.in_process or bot.command[:-1] == IN_PROCESS
        other = _built_in_difference(bot) if is_built_in else _bot_difference(run, bot)
        if isinstance(other, str):
            notes.append(other)
            continue
        bots += 1
        differences += [other] if other else []
    tables = [name for name in DERIVED if os.path.lexists(run.folder / f"{name}.csv")]
    checked = check_tables(run, tables, prior)
    differences += checked.differences
    notes += checked.notes
    files = [f"{name}.csv" for name in tables]
    return CheckedRun(
        len(games.ids),
        games.replayed,
        schedule.games,
        bots,
        files,
        differences[:MAX_DIFFERENCES],
        notes,
    )


def _run_differences(info: RunInfo, schedule: Schedule) -> Iterator[Difference]:
    """Yields a difference for the seed, the bots and the boards of the run.json ``info`` if they
    are not those of the settings in ``schedule``, the plan.
    """
    config = schedule.config
    for field, expected, got in (
        ("seed", config.seed, info.seed),
        ("bots", sorted(config.bots), sorted(info.bot_names)),
        ("boards", sorted(config.boards), sorted(info.boards)),
    ):
        if expected != got:
            yield Difference(RUN_FILE, None, field, f"{expected}, as in config", str(got))


class _GameChecks:
    """Checks the games of a run's journal one by one. ``ids`` are the ids of the games seen so far,
    ``replayed`` is the number of games that were replayed. With a ``sample``, only sampled games
    are replayed.
    """

    def __init__(self, run: Run, sample: Sample | None) -> None:
        self._run = run
        self._schedule = run.schedule
        self._sample = sample
        self._boards = run.boards
        self._journal = run.journal
        self._drawn: list[tuple[int, int, GameRecord]] = []
        self._first: dict[str, int] = {}
        self.ids = Ids()
        self.replayed = 0

    def differences(self, progress: Callable[[int], object]) -> Iterator[Difference]:
        """Yields the first difference in each line of the journal, then the first difference in
        each sampled game. ``progress`` is called with the number of bytes of the journal read so
        far.
        """
        size = 0
        for number, line in enumerate(read_lines(self._journal), 1):
            size += len(line)
            record = decode_strictly(line)
            wrong = record if isinstance(record, Wrong) else self._compare(number, record)
            progress(size)
            if wrong:
                yield self._difference(number, wrong)
        for _, number, record in sorted(self._drawn, key=lambda drawn: drawn[1]):
            wrong = self._replay(record)
            if wrong:
                yield self._difference(number, wrong)

    def _difference(self, number: int, wrong: Wrong) -> Difference:
        """Converts the mistake ``wrong`` in line ``number`` of the journal to a difference."""
        return Difference(
            file=self._journal.name,
            line=number,
            field=wrong.field,
            expected=wrong.expected,
            got=wrong.got,
        )

    def _compare(self, number: int, record: GameRecord) -> Wrong | None:
        """The first mistake in ``record``, which is in line ``number`` of the journal, compared
        with the plan, the seed and the evidence, and, without a sample, with the rules; None if
        there is no mistake.
        """
        if not self.ids.add(record.id):
            self._first = self._first or _first_lines(self._journal)
            first = self._first[record.id]
            expected = f"each game once, but this one is already in line {first}"
            return Wrong("id", expected, record.id)
        wrong = _plan_difference(record, self._boards, self._schedule)
        # Bots without time limits are timed by the wall clock.
        planned_clock = self._run.info.clock or "wall"
        clock = record.clock or "wall"
        if wrong is None and clock != planned_clock:
            wrong = Wrong("clock", f"{planned_clock}, as in {RUN_FILE}", clock)
        if wrong is None and self._sample is None:
            wrong = self._replay(record)
        elif wrong is None and self._sample:
            self._draw(self._sample, number, record)
        return wrong or (_evidence_difference(self._run, record) if record.faults else None)

    def _draw(self, sample: Sample, number: int, record: GameRecord) -> None:
        """Keeps ``record`` for the sample if it has one of the lowest hashes so far, so that the
        sample does not depend on the journal's order. ``number`` is its line.
        """
        # By hash and not by number: the author of a false journal cannot know which games are
        # replayed under another user's seed.
        rank = -int.from_bytes(sha256(f"{sample.seed}\n{record.id}".encode()).digest()[:8], "big")
        if len(self._drawn) < sample.games:
            heappush(self._drawn, (rank, number, record))
        elif rank > self._drawn[0][0]:
            heapreplace(self._drawn, (rank, number, record))

    def _replay(self, record: GameRecord) -> Wrong | None:
        """The first mistake in ``record`` compared with the rules, None if there is none; counts
        the replayed game.
        """
        self.replayed += 1
        return audit(record, self._boards[record.board])


def _first_lines(journal: Path) -> dict[str, int]:
    """By game id, the number of the first line of ``journal`` with that game."""
    first: dict[str, int] = {}
    for number, line in enumerate(read_lines(journal), 1):
        record = decode_strictly(line)
        if isinstance(record, GameRecord):
            first.setdefault(record.id, number)
    return first


def _plan_difference(
    record: GameRecord, boards: dict[str, Board], schedule: Schedule
) -> Wrong | None:
    """The first mistake in the id, the bots or the deck of ``record``, compared with the plan and
    the seed in ``schedule``; None if there is none. ``boards`` are the run's boards by name.
    """
    line_up = sorted(record.bots)
    name = game_id(record.board, line_up, record.deal, record.seating)
    if record.id != name:
        return Wrong("id", f"{name} by board, bots, deal and seating", record.id)
    place = f"{record.board}/{'+'.join(line_up)}"
    is_planned = (
        len(line_up) == schedule.config.players
        and record.board in boards
        and schedule.needs_block(place, record.deal, is_cut=False)
        and schedule.has_seating(place, record.deal, record.seating)
    )
    if not is_planned:
        return Wrong("id", "a game from the plan in run.json", record.id)
    bots = schedule.seated(tuple(line_up), record.seating)
    if record.bots != list(bots):
        return Wrong("bots", f"{','.join(bots)} by the seating", ",".join(record.bots))
    deck = schedule.deck(record.board, tuple(line_up), record.deal)
    return Wrong("deck", f"{deck} by the seed", record.deck) if record.deck != deck else None


def _evidence_difference(run: Run, record: GameRecord) -> Wrong | None:
    """The first fault of ``record``, a game of the run, whose evidence names another kind or turn,
    or cannot be read; None if there is none. A fault without evidence is no mistake, because
    evidence may be deleted.
    """
    for number, fault in enumerate(record.faults):
        name = evidence_name(record.id, fault.seat)
        field = f"faults[{number}]"
        try:
            kept = msgspec.json.decode(read_regular(run.folder, name), type=dict)
        except FileNotFoundError:
            continue
        # DecodeError is a ValueError.
        except (ValueError, RecursionError, OSError, RunError) as error:
            return Wrong(field, f"readable evidence in {name}", str(error))
        evident = f"{kept.get('kind')} at turn {kept.get('turn')}"
        recorded = f"{fault.kind} at turn {fault.turn}"
        if evident != recorded:
            return Wrong(field, f"{evident} by {name}", recorded)
    return None


def _has_torn_end(journal: Path) -> bool:
    """Whether the last line of ``journal`` is incomplete."""
    if journal.suffix == COMPRESSED:
        return False  # a compressed run is finished
    with os.fdopen(open_regular(journal.parent, journal.name), "rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 1))
        return file.read() not in (b"", b"\n")


def _bot_difference(run: Run, bot: BotInfo) -> str | Difference | None:
    """Compares the run's copy of ``bot`` with run.json. Returns the difference, a note (a text) on
    why the copy cannot be compared, or None if the copy is right.
    """
    if bot.command == A_PERSON:
        return f"{bot.name} is a person, of whom there is no copy"
    if not (run.folder / bot.copy).is_dir():
        return f"no copy of {bot.name} to compare in {bot.copy}"
    try:
        copy = played_copy(run.folder, bot)
    except UserError as error:
        return Difference(bot.copy, None, "sha256", bot.sha256, str(error))
    expected = settings_text(copy.settings)
    recorded = split_options(bot.name)[1] or ""
    if recorded != expected:
        return Difference(RUN_FILE, None, f"options of {bot.name}", expected, recorded)
    if copy.sha256 != bot.sha256 and copy.manifest.build and run.info.may_hold_builds:
        return f"the copy of {bot.name} contains build results, so it cannot be compared"
    if copy.sha256 != bot.sha256:
        return Difference(bot.copy, None, "sha256", bot.sha256, copy.sha256)
    if copy.command != bot.command:
        expected = shlex.join(copy.command)
        return Difference(
            RUN_FILE, None, f"command of {bot.name}", expected, shlex.join(bot.command)
        )
    return _unhashed_difference(bot.copy, copy)


def _unhashed_difference(where: str, copy: Bot) -> Difference | None:
    """A difference in what the bot ``copy`` in the folder ``where`` can read although its hash does
    not cover it: the form of bot.toml, and files that do not belong to the bot. None if there is
    none.
    """
    file = copy.folder / MANIFEST_FILE
    if file.exists():
        text = manifest_text(file)
        if text != played_text(text, copy.manifest):
            return Difference(
                f"{where}/{MANIFEST_FILE}", None, "form", "as the run wrote it", "another"
            )
    there = {file.relative_to(copy.folder) for file in copy.folder.rglob("*") if file.is_file()}
    more = sorted(there - {*bot_files(copy.folder)})
    unexpected = f"{more[0]} too" if more else ""
    return Difference(where, None, "files", "those of the bot", unexpected) if more else None


def _built_in_difference(bot: BotInfo) -> str | Difference | None:
    """Compares a built-in bot of run.json with the built-in bot of that name in this version.
    Returns the difference, a note (a text) on why the two cannot be compared, or None if they are
    equal.
    """
    command = f"command of {bot.name}"
    try:
        now = built_in_bot(bot.command[-1])
    except ConfigError as error:
        return Difference(RUN_FILE, None, command, "the command of a built-in bot", str(error))
    if bot.command != now.command:
        expected = shlex.join(now.command)
        recorded = shlex.join(bot.command)
        return Difference(RUN_FILE, None, command, expected, recorded)
    if bot.version != now.manifest.version:
        return (
            f"built-in bot {bot.name} has version {bot.version}, this is version"
            f" {now.manifest.version}: they cannot be compared"
        )
    if bot.sha256 != now.sha256:
        return Difference(RUN_FILE, None, f"sha256 of {bot.name}", now.sha256, bot.sha256)
    return None
