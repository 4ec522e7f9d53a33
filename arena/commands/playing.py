"""Opens a run for playing: chooses the sandbox in which its bots play and what they are allowed
beyond it, and decides how much of the run is played.
"""

import hashlib
import logging
import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from msgspec.structs import replace

from arena.commands.bots import Tell
from arena.commands.home import bots_folder, results_folder
from arena.commands.permissions import is_meant, is_trusted, own_words
from arena.errors import ConfigError, RunError, SandboxError, UserError, did_you_mean, printable
from arena.exports.verdicts import test_of
from arena.faults import FaultKind
from arena.players.bot import last_lines
from arena.players.builds import cache_folder
from arena.players.crashes import with_own_paths
from arena.players.folder import Bot
from arena.players.labels import split_options
from arena.players.player import is_built_in
from arena.players.sandbox.grants import Grants, make_grants, read_allowed
from arena.players.sandbox.tiers import OPEN, Mode, Sandbox, choose
from arena.ratings.sequential import SequentialTest, Verdict
from arena.records.evidence import evidence_name
from arena.records.journal import read_records
from arena.records.ownership import make_state_folder, state_folder
from arena.records.runfile import read_run
from arena.rules import CORE
from arena.tournament.events import BotBroken, RunnerEvent
from arena.tournament.lineups import next_allotment
from arena.tournament.next_games import (
    Block,
    ComparedGames,
    Games,
    QueueOpener,
    in_rounds,
    planned_games,
)
from arena.tournament.pools import Place, Staff, Workers, workers_at
from arena.tournament.runner import Pool, Runner
from arena.tournament.runs import Request
from arena.tournament.session import Session, open_session
from arena.tournament.settings import OwnConfig, own_folder, read_own_config

if TYPE_CHECKING:
    from arena.ratings.estimates import Look

SLOW_RULES = (
    "there was no C compiler, so the rules run in Python, ten to fifty times slower: install one"
    " (on Debian: apt install gcc python3-dev), then install qin-arena again"
)
"""The text of the note about rules that run in Python."""


class SandboxChoice(NamedTuple):
    """The user's options for the sandbox.

    ``mode``     the value of --sandbox, or ``strangers``; None without these options
    ``trusted``  the names and paths of --trust; ``allowed``: the values of --allow; both may be
                 empty
    ``unsafe``   whether --unsafe-no-sandbox was given
    ``home``     the folder that holds bots/ and results/
    ``tell``     takes each sentence for the user
    ``advise``   takes advice that is given once in each home, about what would work better on this
                 machine; None gives no advice
    """

    mode: Mode | None
    trusted: tuple[str, ...]
    unsafe: bool
    allowed: tuple[str, ...] = ()
    home: Path = Path()
    tell: Tell = lambda _: None
    advise: Tell | None = None

    def with_default(self, mode: Mode | None) -> Self:
        """A copy in which ``mode``, from a configuration file, counts if the user gave no mode."""
        return self._replace(mode=self.mode or mode)

    def for_copies(self, bot: Bot, copies: Sequence[Bot]) -> Self:
        """A choice in which the ``copies``, the bots that play in place of ``bot`` under other
        names, have the trust and the grants that the user gave ``bot``. If the bot itself plays
        too, it is one of the copies.
        """
        bases = [copy.base for copy in copies]
        own = read_own_config()
        trusted = self.trusted or tuple(own.trust or ())
        if is_trusted(bot, self.trusted, own):
            trusted = (*trusted, *bases)
        words = []
        for text in self.allowed:
            name, equals, grants = text.partition("=")
            for base in bases if name == bot.base else [name]:
                words.append(f"{base}{equals}{grants}")
        return self._replace(trusted=trusted, allowed=tuple(words))

    def sandbox_for(self, bots: Sequence[Bot], run: Path | None = None) -> Sandbox:
        """The sandbox for these bots, including what each bot is allowed beyond it. What the
        options leave open, the user's own configuration file decides. ``run`` is the folder of the
        run that the bots play, None without one. If all are built in, no sandbox is needed, and
        `OPEN` is returned. The user is told if bots are to play without one. Raises SandboxError if
        no sandbox works that the options ask for, or if they require one for built-in bots only;
        and ConfigError.
        """
        own = read_own_config()
        kept = [bots_folder(self.home), results_folder(self.home), *([run] if run else [])]
        grants = _granted(bots, self.allowed, own, kept, self.tell)
        bots = [bot for bot in bots if not is_built_in(bot)]
        if not bots:
            if self.mode in ("require", "strangers"):
                cure = "leave out --sandbox or --strangers: built-in bots are part of the arena"
                raise SandboxError("built-in bots need no sandbox", cure)
            return OPEN
        mode = self.mode or own.sandbox or "auto"
        if mode == "strangers":
            _refuse_programs(grants)
        is_safe = all(is_trusted(bot, self.trusted, own) for bot in bots)
        choice = choose(mode, accept_none=self.unsafe or is_safe)
        if choice.warning:
            self.tell(f"warning: {choice.warning}")
        if choice.note and self.advise and _is_new(self.home, choice.note):
            self.advise(f"note: {choice.note}")
        return replace(choice.sandbox, grants=grants)

    def advise_a_compiler(self) -> None:
        """Advises the user, once in each home, to install a C compiler if the rules run in Python.
        Does nothing if the environment variable ``ARENA_RULES`` is set.
        """
        is_slow = CORE == "pure" and not os.environ.get("ARENA_RULES")
        if is_slow and self.advise and _is_new(self.home, SLOW_RULES):
            self.advise(f"note: {SLOW_RULES}")


def _is_new(home: Path, text: str) -> bool:
    """Whether the note ``text`` has never been shown in this home. From now on, the note counts as
    shown; but if that cannot be remembered, it counts as new the next time, too.
    """
    words = f"{home.absolute()}\n{text}".encode(errors="surrogateescape")
    try:
        shown_notes = make_state_folder("told")
        (shown_notes / hashlib.sha256(words).hexdigest()[:16]).touch(exist_ok=False)
    except FileExistsError:
        return False
    except (OSError, RunError):
        pass
    return True


def _granted(
    bots: Sequence[Bot], texts: Sequence[str], own: OwnConfig, closed: Iterable[Path], tell: Tell
) -> dict[str, Grants]:
    """What each of these bots may do beyond its sandbox, by its label without options; the user is
    told about each grant. ``texts`` are the values of --allow, and ``own`` decides about the other
    bots. No bot may read the ``closed`` paths, the arena's own folders, or the bots' folders.
    Raises ConfigError.
    """
    if not texts and not own.allow:
        return {}
    sources = [bot.folder for bot in bots if not is_built_in(bot)]
    folders = [*closed, cache_folder(), state_folder(), *sources]
    words: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        name, more = read_allowed(text)
        for base in _named(name, bots):
            words[base] += more
    grants_by_bot = {}
    for base, allowed_words in words.items():
        grants_by_bot[base] = make_grants(allowed_words, Path(), folders)
    for bot in bots:
        if bot.base not in words:
            of_config = own_words(own, bot)
            grants_by_bot[bot.base] = make_grants(of_config, own_folder(), folders)
    grants_by_bot = {base: grants for base, grants in grants_by_bot.items() if grants.words}
    for base, grants in grants_by_bot.items():
        # A bot's folder shows what its name may not.
        place = _folder_of(base, bots)
        allowed = ", ".join(grants.words)
        tell(printable(f"note: {base} in {place} is allowed {allowed}"))
    return grants_by_bot


def _refuse_programs(grants: Mapping[str, Grants]) -> None:
    """Raises ConfigError if a bot may execute programs that only its user vouches for."""
    for base, granted in grants.items():
        for path in granted.exec:
            raise ConfigError(
                f"expected no exec: among what is allowed with --strangers, got {base}=exec:{path}",
                f'write the program into its bot.toml, as in programs = ["{Path(path).name}"], or'
                " play without --strangers",
            )


def _named(name: str, bots: Sequence[Bot]) -> list[str]:
    """The labels, without options, of the bots that ``name`` on the command line means; several if
    ``name`` is the path of a program that plays under several labels. Raises ConfigError if it
    means none of ``bots``, or a built-in bot, which needs no permission.
    """
    meant = [bot for bot in bots if is_meant(bot, name, Path())]
    if not meant:
        names = _base_labels(bots)
        hint = f"{did_you_mean(name, names)}there are {', '.join(names)}"
        raise ConfigError(f"--allow names {name!r}, which does not play here", hint)
    if any(map(is_built_in, meant)):
        raise ConfigError(
            f"--allow names {name}, which is built in and needs no permission",
            "leave it out: built-in bots are part of the arena",
        )
    return _base_labels(meant)


def _base_labels(bots: Sequence[Bot]) -> list[str]:
    """The labels, without options, of these bots, in their order, each once."""
    bases = [bot.base for bot in bots]
    return list(dict.fromkeys(bases))


def _folder_of(base: str, bots: Sequence[Bot]) -> Path:
    """The folder of the bot whose label without options is ``base``. Raises ConfigError if ``bots``
    has two programs with that label.
    """
    folders = {}
    for bot in bots:
        if bot.base == base:
            folders[bot.folder.resolve()] = bot.folder
    if len(folders) > 1:
        raise ConfigError(
            f"--allow names {base}, but two programs have this name:"
            f" {' and '.join(map(str, folders.values()))}",
            "leave one out, or give it another name",
        )
    return next(iter(folders.values()))


class Standing(NamedTuple):
    """The result of one computation of the ratings of a run with ``until``: the number of ``games``
    played, about how many more are ``needed`` (0 if the run ends here), and the half-width in Elo
    of the ``widest`` interval, infinite if a bot has none.
    """

    games: int
    needed: int
    widest: float


class Play(NamedTuple):
    """An open session, with the pool of workers and the runner that play its games."""

    session: Session
    pool: Pool
    runner: Runner

    def missing(self) -> QueueOpener:
        """The games of the session's plan that are not in the journal yet, in the form that `Games`
        takes.
        """
        session = self.session
        return planned_games(session.run.schedule, session.journal.ids, lambda: self.pool.slots)

    def games(self, watch: Callable[[Standing], object] = lambda _: None) -> Games:
        """The games of a tournament that are still to be played. In a run with ``until``, deals are
        added until the ratings are precise enough; ``watch`` is called with the result of each
        computation of the ratings.
        """
        session = self.session

        def decide() -> QueueOpener | None:
            """The games to add next; None if the ratings are precise enough or no
            deals are left.
            """
            allotted, standing = _look(session)
            watch(standing)
            if allotted is None:
                session.change(settled=session.run.schedule.last_deal)
                return None
            session.change(allotted=allotted)
            return self.missing()

        if session.run.config.allotted is None or session.run.config.settled is not None:
            return Games(self.missing())
        return Games(in_rounds(self.missing(), decide))


class OpenRun(NamedTuple):
    """A session and the workers that play it. ``play`` takes a listener for the runner's events,
    starts a pool of workers, and returns the `Play`.
    """

    session: Session
    workers: Workers
    play: Callable[[Callable[[RunnerEvent], None]], Play]


@contextmanager
def open_run(
    folder: Path,
    request: Request,
    place: Place,
    sandbox: Sandbox,
    tell: Tell,
    *,
    log_level: int = logging.INFO,
    adopt: bool = False,
    opening: AbstractContextManager[None] | None = None,
) -> Iterator[OpenRun]:
    """A context manager that opens the run in ``folder`` for playing at ``place`` and yields it. At
    the end of its block, also by an exception, workers and bots are stopped. ``log_level`` is the
    lowest level of records in the run's log. ``adopt`` continues a run that another user or machine
    made. ``opening`` is a context manager that is active while the session is opened, such as one
    that shows a message. Raises UserError.
    """
    dialling = [label for label, grants in sandbox.grants.items() if grants.network]
    if dialling and request.config.repeats_deals:
        tell(
            f"note: {printable(', '.join(dialling))} can keep on the network what a deal shows, and"
            " every deal is played again with seats changed; --seatings single gives each game its"
            " own deck"
        )

    with ExitStack() as stack:
        workers = stack.enter_context(workers_at(place))
        setup = workers.setup(sandbox, log_level)
        staff = Staff(workers, folder, log_level, stack)
        with opening or nullcontext():
            session = stack.enter_context(
                open_session(folder, request, setup, adopt=adopt, try_starts=staff.try_starts)
            )
        if session.unmarked:
            tell(
                "warning: going on with this run will need --adopt, since no key of yours marks it:"
                f" {session.unmarked}"
            )
        staff.open_log()

        def play(listen: Callable[[RunnerEvent], None]) -> Play:
            there = [bot for bot in request.bots if bot.label in session.setup.bots]
            pool = staff.pool(session.setup, there, listen)
            # A league itself sets a candidate aside that only forfeits, and plays on.
            spares = session.run.config.league is not None
            return Play(session, pool, Runner(folder, session.journal, pool, listen, spares=spares))

        yield OpenRun(session, workers, play)


def broken_error(broken: BotBroken, folder: Path, *, is_shown: bool = False) -> UserError:
    """The error for a bot that the runner excluded: how its games ended, what it last wrote to
    stderr, and what the user can do. ``folder`` is that of the run. With ``is_shown``, the user has
    seen the fault already, and the error does not repeat it.
    """
    fault = broken.fault
    when = "" if fault.kind == FaultKind.STARTUP else f" at turn {fault.turn}"
    detail = "" if is_shown else f": {fault.detail}"
    first = f"{broken.bot} forfeited its first {broken.games} games and plays no more"
    copies = {info.name: folder / info.copy for info in read_run(folder).bots}
    base = split_options(broken.bot)[0]
    stderr = with_own_paths(base, copies[broken.bot], broken.stderr)
    lines = [
        f"{first} ({fault.kind}), the last one{when}{detail}",
        *last_lines(broken.bot, stderr, fault.detail),
        f"the evidence is in {folder / evidence_name(broken.game, fault.seat)}",
    ]
    return UserError(
        "\n".join(lines),
        f"'arena check {broken.bot}' shows what is wrong; fix the bot or leave it out, and start"
        " another run (if you use --out, with another name)",
    )


def unplayed_error(text: str) -> UserError:
    """The error for a run in which every game ended by forfeit, so that there are no standings, or
    no answer to a comparison. ``text`` comes from `unplayed_text`.
    """
    return UserError(
        f"every game ended by forfeit: {text}", "'arena check BOT' shows what is wrong with a bot"
    )


class Contest:
    """The sequential test of a session that compares two bots, fed with the games of the session.

    ``watch`` is called with the test after each round of blocks. With ``keeps_looks``, ``looks``
    gets the state of the test after each round; otherwise ``looks`` stays empty.
    """

    def __init__(
        self,
        play: Play,
        watch: Callable[[SequentialTest], None] = lambda _: None,
        *,
        keeps_looks: bool = False,
    ) -> None:
        self._play = play
        self._watch = watch
        self._keeps_looks = keeps_looks
        session = play.session
        self._source = ComparedGames(session.run.schedule, self._is_decided_by)
        groups = session.run.schedule.turns if session.run.config.pool else 0
        self.test = test_of(session.run.config, groups, self._source.round_size)
        self.looks: list[Look] = []

    @property
    def games(self) -> int:
        """The number of games on which the test's verdict is based."""
        return self.test.blocks * self.block_size

    @property
    def block_size(self) -> int:
        """The number of games in a block."""
        return self._source.block_size

    @property
    def is_same(self) -> bool:
        """Whether the two bots played the same moves in every game so far, so that the games do not
        show any difference between them. False without games.
        """
        return 0 < self.test.blocks == self._source.same_blocks

    def play(self) -> None:
        """Feeds the games in the journal to the test, then plays more until the test is decided,
        the planned games have been played, or the user stops. If the test is decided, run.json gets
        the number of deals on which the decision is based.
        """
        for record in read_records(self._play.session.run.folder):
            self._source.count(record)
            if self._source.settled is not None:
                break
        self._play.runner.play(self._source.games(self._play.missing()))
        if self._source.settled is not None:
            self._play.session.change(settled=self._source.settled)

    def _is_decided_by(self, blocks: Sequence[Block]) -> bool:
        """Feeds a round of blocks to the test, and returns whether the test is decided now."""
        for block in blocks:
            self.test.add(*block)
        if self._keeps_looks:
            # This loads scipy, which a comparison needs only if its looks are kept.
            from arena.ratings.estimates import look_at  # noqa: PLC0415

            self.looks.append(look_at(self.test, self.looks[-1] if self.looks else None))
        self._watch(self.test)
        return self.test.verdict != Verdict.UNDECIDED


def _look(session: Session) -> tuple[int | None, Standing]:
    """Rates the games so far. Returns the number of deals that each line-up is to have played
    before the next computation, None if there will be none, and the result of this one.
    """
    # This loads pandas, which a run without --until never needs.
    from arena.ratings.order import precision, rate_journal  # noqa: PLC0415

    config = session.run.config
    schedule = session.run.schedule
    assert config.until is not None, "a run that plays until its error bars are narrow"
    results, ratings = rate_journal(
        session.journal.path, config.bots, config.match, own_decks=config.has_own_decks
    )
    rounds = max(len(config.match), 1)
    games = results.games * rounds
    precise = precision(results, ratings, config.until)
    allotted = next_allotment(config) if precise.widest > config.until else None
    needed = ceil(min(precise.games * rounds, schedule.planned - games)) if allotted else 0
    return allotted, Standing(games, needed, precise.widest)
