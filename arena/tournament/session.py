"""Opens a run for playing: starts a new one, or checks that an existing one has the wanted settings
and continues it.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from arena.errors import OTHER_HOME, BotFolderError, RunError, cannot_write
from arena.players.folder import Bot
from arena.players.player import is_built_in
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import check_programs, passing_folder, stage_for_run
from arena.players.temporary import remove_abandoned, remove_tree
from arena.records.journal import JOURNAL_FILE, Journal
from arena.records.league import LEAGUE_FILE
from arena.records.ownership import MARK, is_made_here, mark_run
from arena.records.record import utc_now
from arena.records.regular import folder_below, has_folder
from arena.records.runfile import RUN_FILE, RunInfo, read_run, write_run
from arena.tournament.consistency import config_of
from arena.tournament.differences import refuse_differences
from arena.tournament.lineups import fix_allotment, fix_line_ups
from arena.tournament.log import LOG
from arena.tournament.run import Run
from arena.tournament.runs import Request, describe_run, info_of
from arena.tournament.workers import Setup

SEED_BYTES = 16
"""The number of random bytes in the seed of a run."""


class Session(Struct):
    """A run that is open for playing.

    ``run``       its folder, its settings and its schedule
    ``journal``   the open journal
    ``setup``     what its workers need to know
    ``is_new``    whether the session started the run
    ``known``     how many games of the schedule the journal had when the session began
    ``repaired``  how many bytes of an incomplete last record were cut off the journal
    ``unmarked``  why the run could not be marked as made here, so that continuing it will need
                  --adopt; empty if it is marked
    ``left_out``  the bots of a league that could not be copied or built, by label, each with the
                  error; the session does not have them
    """

    run: Run
    journal: Journal
    setup: Setup
    is_new: bool
    known: int
    repaired: int
    unmarked: str = ""
    left_out: Mapping[str, BotFolderError] = {}

    def change(self, **changes: Any) -> None:
        """Changes settings of the run, given by name, in run.json and then in this session. Does
        nothing if the values are those that the run has. Raises RunError.
        """
        config = msgspec.structs.replace(self.run.config, **changes)
        if config == self.run.config:
            return
        info = msgspec.structs.replace(self.run.info, config=config)
        write_run(self.run.folder, info)
        self.run = Run(self.run.folder, info)


@contextmanager
def open_session(
    folder: Path,
    request: Request,
    setup: Setup,
    *,
    adopt: bool = False,
    try_starts: Callable[[Setup], Sequence[str]] = lambda _: (),
) -> Iterator[Session]:
    """A context manager that opens the run in a folder, a new one or one to continue, and locks it
    for this process.

    The bots of the request are copied to the run's folder, and built in a folder that is removed at
    the end. The session's setup is ``setup`` with the bots, boards and limits of the run. ``adopt``
    allows continuing a run that was made elsewhere. Before the first game of a run, though not of a
    league, ``try_starts`` is called with the session's setup; if it returns lines about bots that
    did not start, the run is not opened.

    Raises ConfigError if the run in the folder has other settings; RunError if it cannot be opened,
    as when another arena plays it or it was made elsewhere; BotFolderError if a bot cannot be
    copied, built or started, except in a league, whose session goes on without the bot.
    """
    _make_folder(folder)
    # This comes before the journal is opened, because opening would repair the journal of somebody
    # else's run.
    # run.json is read again below, when no other arena can write it.
    is_own = _is_own(folder, adopt=adopt)
    remove_abandoned()
    with Journal(folder) as journal, passing_folder("builds") as builds:
        before = _info_beside(journal, folder)
        run = Run(folder, _planned_info(folder, before, request, setup.sandbox))
        played = _games_played(run, journal)
        try:
            bots, left_out = _copied_bots(
                folder, request, builds, setup.sandbox, keep_copies=is_own
            )
            setup = msgspec.structs.replace(
                setup,
                bots=bots,
                boards={name: board.rows for name, board in request.boards.items()},
                timing=run.config.timing,
                in_process=run.config.in_process,
            )
            # In a league, and in a run that has games, a bot that cannot start does not stop the
            # other bots.
            if not (played or run.config.league):
                _refuse_failures(try_starts(setup))
            unmarked = "" if is_own else mark_run(folder, run.info)
            if run.info != before:
                write_run(folder, run.info)
        except BaseException:
            # Once run.json is there, the run has started: an interruption that comes right after
            # it was written must not take the run's mark and its bots away.
            if before is None and not os.path.lexists(folder / RUN_FILE):
                _discard(folder)
            raise
        yield Session(
            run=run,
            journal=journal,
            setup=setup,
            is_new=before is None,
            known=played,
            repaired=journal.repaired,
            unmarked=unmarked,
            left_out=left_out,
        )


def _info_beside(journal: Journal, folder: Path) -> RunInfo | None:
    """The contents of run.json in ``folder``; None for a new run. Raises RunError if there is no
    such file although the journal has games.
    """
    if os.path.lexists(folder / RUN_FILE):
        return read_run(folder)
    if journal.ids:
        raise RunError(
            f"{folder} has a journal but no {RUN_FILE}", "restore it, or choose another --out"
        )
    return None


def _games_played(run: Run, journal: Journal) -> int:
    """How many games of the run's schedule are in the journal. Raises RunError for a league whose
    journal has further games.
    """
    played = run.schedule.played(journal.ids)
    if run.config.league and played < len(journal.ids):
        raise RunError(
            f"the journal has {len(journal.ids) - played} games that {run.folder / LEAGUE_FILE}"
            " has not drawn",
            "restore that file: it has lost lines, and their deals would be drawn again",
        )
    return played


def _copied_bots(
    folder: Path, request: Request, builds: Path, sandbox: Sandbox, *, keep_copies: bool
) -> tuple[dict[str, Bot], dict[str, BotFolderError]]:
    """The bots that play, by label: copies in the run's folder, or their builds in ``builds``; and
    the errors of the bots of a league that cannot be copied or built, by label.

    Unless ``keep_copies``, copies that are in the folder already are replaced; but not if the
    request itself names one of them. Raises RunError, BotFolderError if a program that a build
    needs is missing and, unless the run is a league, if a bot cannot be copied or built.
    """
    is_named_copy = any(bot.folder.is_relative_to(folder) for bot in request.bots)
    if not keep_copies and not is_named_copy:
        _drop_copies(folder)
    bots = {}
    left_out = {}
    for bot in request.bots:
        if bot.label in request.idle:
            continue
        # A missing program is the machine's fault, and not that of all bots which need it.
        if bot.manifest.build:
            check_programs(bot)
        try:
            bots[bot.label] = _staged(folder, bot, builds, sandbox)
        except BotFolderError as error:
            if request.config.league is None:
                raise
            left_out[bot.label] = error
    return bots, left_out


def _make_folder(folder: Path) -> None:
    """Makes the folder of a run. Raises RunError if the folder exists and has files that are not
    those of a run, or if it cannot be made.
    """
    own = {JOURNAL_FILE, MARK, LEAGUE_FILE, "bots", "logs"}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in folder.iterdir()}
        is_run = (folder / RUN_FILE).exists() or names <= own
    except OSError as error:
        cure = f"{OTHER_HOME}, or another folder with --out"
        raise cannot_write(f"the run's folder {folder}", error, cure, RunError) from error
    if not is_run:
        raise RunError(f"{folder} is neither a run nor empty", "choose another --out")


def _is_own(folder: Path, *, adopt: bool) -> bool:
    """Whether the run in a folder was made on this machine by this user, or adopted before; False
    for a folder without a run. Raises RunError for a run from elsewhere unless the user wants to
    ``adopt`` it.
    """
    if not os.path.lexists(folder / RUN_FILE):
        return False
    is_own = is_made_here(folder, read_run(folder))
    if not (is_own or adopt):
        raise RunError(
            f"you did not start the run in {folder} on this machine",
            "if you trust it, add --adopt once; or start another run with --out NAME",
        )
    return is_own


def _planned_info(
    folder: Path, known: RunInfo | None, request: Request, sandbox: Sandbox
) -> RunInfo:
    """The contents of run.json for a session. ``known`` are the contents that the file has, None
    for a new run. A known run keeps its settings, but may get more deals, bots and line-ups, and a
    smaller ``until``. Raises ConfigError.
    """
    before = config_of(known) if known else None
    config = request.config_for(known.seed if known else new_seed())
    info = describe_run(
        config,
        request.boards,
        request.bots,
        sandbox=sandbox.tier,
        started=utc_now(),
        grants={base: grants.words for base, grants in sandbox.grants.items()},
    )
    if known:
        refuse_differences(folder, known, info)
    config = fix_allotment(fix_line_ups(config, before), before)
    if known and before:
        kept = before.settled if config.compare else config.settled
        config = msgspec.structs.replace(config, settled=kept, drawn=before.drawn)
        if config.compare and before.compare:
            compare = msgspec.structs.replace(config.compare, luck=before.compare.luck)
            config = msgspec.structs.replace(config, compare=compare)
        there = known.bots_by_name
        bots = [there.get(bot.name, bot) for bot in info.bots]
        info = msgspec.structs.replace(known, bots=bots)
    return msgspec.structs.replace(info, config=config)


def _staged(folder: Path, bot: Bot, builds: Path, sandbox: Sandbox) -> Bot:
    """Copies a bot into a run's folder. Returns the bot that plays: the copy or, if the bot has a
    build step, the build of the copy in the folder ``builds``. Raises RunError, BotFolderError.
    """
    if is_built_in(bot):
        return bot
    copy = info_of(bot).copy
    with folder_below(folder, copy.split("/")[:-1], make=True):
        if os.path.lexists(folder / copy) and not has_folder(folder, copy):
            raise RunError(
                f"{folder / copy} is a link or a file, not a copy of {bot.label}",
                "remove it: the arena makes a new copy",
            )
        return stage_for_run(bot, folder / copy, builds, sandbox)


def _refuse_failures(lines: Sequence[str]) -> None:
    """Raises BotFolderError if there are ``lines`` about bots that did not start."""
    if lines:
        raise BotFolderError(
            "\n".join(lines),
            "no game has been played: fix the bot ('arena check' shows more), or leave it out",
        )


def _drop_copies(folder: Path) -> None:
    """Removes the copies of bots in a run's folder, so that they are made anew."""
    if os.path.lexists(folder / "bots"):
        remove_tree(str(folder / "bots"))


def _discard(folder: Path) -> None:
    """Removes the files that the arena has made in the folder of a run that could not start, and
    the folder if it is then empty.
    """
    _drop_copies(folder)
    for name in (JOURNAL_FILE, MARK):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        if has_folder(folder, str(Path(LOG).parent)):
            (folder / LOG).unlink(missing_ok=True)
            (folder / LOG).parent.rmdir()
        folder.rmdir()


def new_seed() -> str:
    """A random seed for a run, a text of 32 hexadecimal digits, which no bot can guess."""
    return secrets.token_hex(SEED_BYTES)
