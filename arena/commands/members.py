"""The members of a league: reads them from the league's folder, founds a league with its first
members, and adds members that join later from bots/ or by another process.
"""

import getpass
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from arena.commands.bots import Tell, bot_finder, registry_of
from arena.commands.home import results_folder
from arena.commands.requests import with_clock
from arena.errors import BotFolderError, ConfigError, RunError, UserError, did_you_mean, printable
from arena.players.folder import Bot, labels_of
from arena.players.labels import split_options
from arena.players.player import is_built_in
from arena.players.registry import Registry
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import lack, staged_for_a_while
from arena.records.config import LeagueTerms
from arena.records.journal import read_ids
from arena.records.league import (
    PLAYS,
    STATUS_TEXT,
    Joined,
    League,
    LeagueEvent,
    RegressionBegun,
    RegressionRule,
    Status,
    StatusChanged,
    events_file,
    is_league,
    lines_of,
    read_league,
    size_of,
)
from arena.records.record import name_of, utc_now
from arena.records.runfile import RUN_FILE, RunInfo, read_run
from arena.tournament.regressions import due_regressions, open_regressions, tested_games
from arena.tournament.run import Run
from arena.tournament.runs import Request, boards_of, list_runs, make_request, resume_request
from arena.tournament.settings import GivenOptions

MAX_WAITING = 3
"""How many candidates one author may have in a league that are still to be placed."""
LOOK_S = 2.0
"""The shortest pause in seconds between two searches for new versions in bots/."""
REGRESSION_GAMES = 400
"""The number of games of a regression test, unless the user gives another one. Between two bots of
about equal strength, it leaves an error bar of some 30 Elo.
"""
ARENA = "arena"
"""The name in ``by`` of a change of status that the arena itself made."""
BUILT_IN = ("random", "greedy-4", "greedy", "careful-4", "careful")
"""The benchmarks of a league if no bundled bot can be started."""


class Members:
    """The members of the league in a folder; ``league`` has what its file says. ``names`` are the
    bots whose new versions join automatically; if it is empty, new versions of all bots in bots/
    join. The constructor raises RunError if the file cannot be read.
    """

    def __init__(self, home: Path, folder: Path, names: Sequence[str], tell: Tell) -> None:
        self.folder = folder
        self._names = names
        self._tell = tell
        self._registry = registry_of(home)
        self._find = bot_finder(home, tell)
        self._size = 0
        self._looked_s = 0.0
        self._stamp = -1
        self.league = League()
        self.refresh()

    def refresh(self) -> None:
        """Reads the league's file again if its size shows that another process has
        appended to it.
        """
        size = size_of(self.folder)
        if size != self._size:
            self.league = read_league(self.folder)
            self._size = size

    def append(self, *events: LeagueEvent) -> None:
        """Appends events to the league's file and applies them to `league`. An event by which a bot
        joins is dropped if the bot is already a member: the arena that plays a league and the one
        that submits a version may both add that version.
        """
        with events_file(self.folder) as file:
            self.refresh()
            known = set(self.league.members)
            new = []
            for event in events:
                if isinstance(event, Joined) and event.bot in known:
                    continue
                self.league.add(event)
                new.append(event)
            file.append(lines_of(new))
            self._size = size_of(self.folder)

    def look(self) -> None:
        """Lets new versions in bots/ join, and withdraws members whose version was removed from
        there. Does nothing if the last call was less than `LOOK_S` seconds ago.
        """
        if time.monotonic() - self._looked_s < LOOK_S:
            return
        self.refresh()
        root = self._registry.root
        stamp = root.stat().st_mtime_ns if root.is_dir() else 0
        # A version that is registered or removed renames a folder in bots/.
        if stamp != self._stamp:
            self._compare()
        self._stamp = stamp
        self._looked_s = time.monotonic()

    def _compare(self) -> None:
        """Compares the members with the bots in bots/: new versions join, and removed ones are
        withdrawn.
        """
        there = self._registry.every_version()
        ladder = self._registry.of_ladder()
        members = self.league.members
        # Candidates are placed in the order in which they join: copies of the ladder's bots, as
        # 'arena init' makes them, come after the author's own.
        for label in sorted(there, key=ladder.__contains__):
            if label not in members and (not self._names or name_of(label) in self._names):
                self._tell(f"{label} joins")
                self.append(Joined(label, "candidate", utc_now()))
        for label, member in list(members.items()):
            base = split_options(label)[0]
            if member.plays and base not in (*there, *ladder) and "@" in base:
                self.change(label, "withdrawn", ARENA, "it is no longer in bots/")

    def change(self, label: str, status: Status, by: str, why: str = "") -> None:
        """Gives the member with this label another status, and tells the user. ``by`` is who
        decided it, and ``why`` is the reason, which may be empty.
        """
        self._tell(f"{label} is {is_now(status)}" + (f": {why}" if why else ""))
        self.append(StatusChanged(label, status, utc_now(), by, why))

    def set_aside(self, label: str, error: UserError) -> None:
        """Sets the member with this label aside because it cannot be built or started, and tells
        the user why and how it can play again.
        """
        status = self.league.members[label].status
        self.change(label, "aside", ARENA, str(error).removeprefix(f"{label}: "))
        again = {"benchmark": "benchmark", "retired": "retire"}.get(status, "candidate")
        command = f"'arena league {again} {label} --league {self.folder.name}'"
        cure = f"{error.hint}, then {command}" if error.hint else command
        self._tell(f"hint: {cure} lets it play again; or submit a new version of the bot")

    def active(self, tested: Mapping[str, int]) -> set[str]:
        """The labels of the members for which games can be drawn: those that play, and the versions
        of open regression tests. ``tested`` has the number of games drawn for each test so far, by
        the label of the tested version.
        """
        labels = {label for label, member in self.league.members.items() if member.plays}
        for test in open_regressions(self.league, tested):
            labels |= {test.bot, test.old}
        return labels

    def set_regression_rule(self, every: int | None, games: int | None) -> None:
        """Sets after how many accepted versions of a bot (``every``; 0 for never) the league plays
        a regression test, and over how many ``games``. None keeps the present number; without any,
        a test has `REGRESSION_GAMES` games. Raises ConfigError for games without a number of
        versions.
        """
        if every is None and games is None:
            return
        rule = self.league.regression_rule
        if every is None and rule is None:
            raise ConfigError(
                "--regression-games says nothing about when a league plays regression tests",
                "add --regression-every 5, or another number of versions",
            )
        now = RegressionRule(
            every=rule.every if every is None and rule else every or 0,
            games=games or (rule.games if rule else REGRESSION_GAMES),
            when=utc_now(),
            by=user_name(),
        )
        if rule is None or (rule.every, rule.games) != (now.every, now.games):
            self.append(now)

    def begin_regressions(self) -> None:
        """Begins the regression tests that are due, and tells the user."""
        for bot, old in due_regressions(self.league):
            rule = self.league.regression_rule
            assert rule is not None, "a test is due by the rule"
            self._tell(f"{bot} is due for a regression test of {rule.games:,} games against {old}")
            self.append(RegressionBegun(bot, old, rule.games, utc_now()))

    def newcomers(self, labels: set[str], sandbox_for: Callable[[Bot], Sandbox]) -> list[Bot]:
        """The bots of the members with these ``labels``, in the order in which they joined.
        ``sandbox_for`` makes the sandbox in which a bot is built. A member that cannot be built or
        started on this machine is set aside instead.
        """
        newcomers = []
        for label in list(self.league.members):
            if label not in labels:
                continue
            try:
                bot = self._find(label)
                if not is_built_in(bot):
                    reason, cure = lack(bot)
                    if reason:
                        raise ConfigError(reason, cure)
                    with staged_for_a_while(bot, sandbox=sandbox_for(bot)):
                        pass
                newcomers.append(bot)
            except UserError as error:
                self.set_aside(label, error)
        return newcomers

    def label_of(self, text: str) -> str:
        """The label of the member that a user names by ``text``: a name without a version stands
        for the member of that name that joined last. Raises ConfigError.
        """
        members = self.league.members
        base, options = split_options(text)
        if text in members:
            return text
        for label in reversed(members):
            if name_of(label) == base and split_options(label)[1] == options:
                return label
        near = did_you_mean(text, members)
        raise ConfigError(
            f"the league {self.folder.name} has no member {text!r}",
            f"{near}there are {', '.join(members) or 'none'}",
        )

    def labels(self, texts: Sequence[str]) -> list[str]:
        """The labels that the bots named by ``texts`` have in a league, in the same order. The bots
        need not be members. Raises UserError.
        """
        return [member_label(self._find(text)) for text in texts]

    def has_hash(self, label: str, sha256: str) -> bool:
        """Whether the files of the member with this label still have the hash ``sha256``; True if
        the bot cannot be found or read.
        """
        try:
            return self._find(label).sha256 == sha256
        except UserError:
            return True

    def admit(self, texts: Sequence[str], status: Status) -> None:
        """Lets the bots named by ``texts`` join with this status; those that are members already
        are left as they are. Raises UserError.
        """
        for label in self.labels(texts):
            if label not in self.league.members:
                self.append(Joined(label, status, utc_now()))

    def first_benchmarks(self) -> list[str]:
        """The labels of the benchmarks of a league for which the user names none: the bundled bots
        that can be started on this machine, or the built-in bots of `BUILT_IN` if there are none.
        """
        startable = []
        for label in self._registry.of_ladder():
            reason, _ = lack(self._find(label))
            if not reason:
                startable.append(label)
        return startable or list(BUILT_IN)


def expect_room(registry: Registry, folder: Path, bot: Bot) -> None:
    """Raises UserError if the author of ``bot`` already has `MAX_WAITING` candidates in the league
    in ``folder`` that are still to be placed. A bot with the same files as one of these is
    accepted.
    """
    author = bot.manifest.author
    hashes = dict[str, str]()
    for label, member in read_league(folder).members.items():
        with suppress(BotFolderError):
            if member.plays and member.is_waiting:
                there = registry.get(label)
                if there.manifest.author == author:
                    hashes[label] = there.sha256
    if len(hashes) >= MAX_WAITING and bot.sha256 not in hashes.values():
        raise UserError(
            f"{author} already has {len(hashes)} bots waiting to be placed in {folder.name}, the"
            f" most allowed: {', '.join(hashes)}",
            f"place one with 'arena league run {folder.name}', or retire one with 'arena"
            f" league retire {min(hashes)} --league {folder.name}'",
        )


def user_name() -> str:
    """The name of the user, for the history of a league; the user id if it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        return str(os.getuid())


def is_now(status: Status) -> str:
    """A phrase for a status that completes "the bot is": ``a candidate``, ``set aside``."""
    return f"a {STATUS_TEXT[status]}" if status in PLAYS else STATUS_TEXT[status]


def member_label(bot: Bot) -> str:
    """The label that a bot has in a league: with its version, unless it is built in."""
    if is_built_in(bot) or "@" in bot.base:
        return bot.label
    _, colon, options = bot.label.partition(":")
    return f"{bot.base}@{bot.manifest.version}{colon}{options}"


def leagues_in(home: Path) -> list[Path]:
    """The folders of the leagues in a home's results/, the oldest first."""
    return [folder for folder in list_runs(results_folder(home)) if is_league(folder)]


def versions_in_leagues(home: Path, joined: Path | None) -> set[str]:
    """The names ``name@version`` of all members, past and present, of the leagues of this home and
    of the league ``joined``, None for no other. A version that was removed keeps its number,
    because its games are still in the league. Raises RunError if the league ``joined`` cannot be
    read.
    """
    labels = list(read_league(joined).members) if joined else []
    for folder in leagues_in(home):
        # A league that cannot be read reports that when it is played.
        with suppress(RunError):
            labels += read_league(folder).members
    return {split_options(label)[0] for label in labels}


def league_folder(home: Path, name: str | None) -> Path:
    """The folder of the existing league that is called ``name`` or whose path ``name`` is; with
    None, of the newest league in the home. Raises RunError.
    """
    known = leagues_in(home)
    if name is None and known:
        return known[-1]
    for folder in () if name is None else (results_folder(home) / name, Path(name)):
        if is_league(folder):
            return folder
    names = [folder.name for folder in known]
    there = ", ".join(names) or "none"
    raise RunError(
        f"there is no league {name!r}" if name else "there is no league yet",
        f"leagues in {results_folder(home)}: {there}; 'arena league run NAME' starts one",
    )


def members_of(
    home: Path, folder: Path, bots: Sequence[str], benchmarks: Sequence[str] | None, tell: Tell
) -> Members:
    """The members of the league in a folder, after new ones have joined. A league that does not
    exist yet is founded: with these ``bots`` as candidates, or all in bots/ if the list is empty,
    and with these ``benchmarks``, or the usual ones if None or an empty list is given. Raises
    UserError.
    """
    run = Run(folder) if os.path.lexists(folder / RUN_FILE) else None
    if run and not (is_league(folder) or run.info.is_league):
        raise ConfigError(f"{folder} is a run of another kind, not a league", "choose another name")
    terms = run.config.league if run else None
    names = terms.names if terms else _names(bots)
    members = Members(home, folder, names, tell)
    if run:
        _refuse_others(members, benchmarks or ())
    elif benchmarks or not members.league.members:
        # An earlier command may have founded the league with too few bots.
        first = members.labels(benchmarks) if benchmarks else members.first_benchmarks()
        twice = [label for label in first if first.count(label) > 1]
        if twice:
            raise ConfigError(f"{twice[0]} is a benchmark twice", "name each benchmark once")
        folder.mkdir(parents=True, exist_ok=True)
        members.admit(first, "benchmark")
    members.admit(bots, "candidate")
    members.look()
    if run:
        _warn_of_changes(members, run.info, tell)
    return members


def refuse_other_files(folder: Path, label: str, bot: Bot) -> None:
    """Raises ConfigError if the league in ``folder`` has played a bot with this label whose files
    differ from those of ``bot``.
    """
    known = read_run(folder).bots if os.path.lexists(folder / RUN_FILE) else []
    if any(info.name == label and bot.sha256 != info.sha256 for info in known):
        raise ConfigError(
            f"the files of {label} in {bot.folder} have changed since it joined the league"
            f" {folder.name}",
            "the league continues with the files that joined: change the version in its bot.toml"
            " and submit it again",
        )


def _warn_of_changes(members: Members, info: RunInfo, tell: Tell) -> None:
    """Warns the user about members whose files in bots/ have changed since they joined. ``info``
    has the hashes of the files that the league plays.
    """
    played = {bot.name: bot.sha256 for bot in info.bots}
    for label, member in members.league.members.items():
        if member.plays and label in played and not members.has_hash(label, played[label]):
            tell(
                f"warning: {printable(label)} has other files in bots/ than when it joined, and"
                " plays on as it was: 'arena submit' makes a new version of what has changed"
            )


def _refuse_others(members: Members, benchmarks: Sequence[str]) -> None:
    """Raises ConfigError if the user named ``benchmarks`` that are not members of this existing
    league.
    """
    others = [label for label in members.labels(benchmarks) if label not in members.league.members]
    if others:
        raise ConfigError(
            "--benchmarks counts only when a league begins, and this league does not have"
            f" {', '.join(others)}",
            f"name it as a bot, and 'arena league benchmark BOT --league {members.folder.name}'"
            " makes it one",
        )


def _names(bots: Sequence[str]) -> list[str]:
    """The names of the bots whose new versions join automatically: those of ``bots`` that are named
    without a version or options. If there are none, the list is ``bots`` itself: its labels match
    no bot's name, so nothing joins automatically; an empty ``bots`` stays empty.
    """
    names = []
    for name in bots:
        _, options = split_options(name)
        if "@" not in name and options is None:
            names.append(name)
    return names or list(bots)


def league_request(
    members: Members,
    bots: Sequence[str],
    options: GivenOptions,
    sandbox_for: Callable[[Bot], Sandbox],
    tell: Tell,
) -> Request:
    """The request for the next session of a league: the bots that have played, from their copies in
    the league's folder, and the members that are new. Bots for which no games can be drawn, and
    that have no drawn games to play, are idle. ``bots`` are those that the user named when the
    league begins, and ``sandbox_for`` makes the sandbox in which a bot is built. A member that
    cannot be built or started, or whose copy has changed, is set aside. Raises UserError, also for
    options with which no league can play.
    """
    folder = members.folder
    if not os.path.lexists(folder / RUN_FILE):
        newcomers = members.newcomers(members.active({}), sandbox_for)
        terms = LeagueTerms(_names(bots))
        return make_request(with_clock(options, tell), boards_of(options), newcomers, league=terms)
    run = Run(folder)
    wanted = members.active(tested_games(run.schedule)) | _retired_with_games(members, run)

    def leave_out(label: str, error: UserError) -> None:
        """Sets aside a member that is to play and whose copy cannot be used."""
        if label in wanted:
            members.set_aside(label, error)

    known = resume_request(run, leave_out)
    newcomers = members.newcomers(wanted - {*labels_of(known.bots)}, sandbox_for)
    bots_of_session = [*known.bots, *newcomers]
    idle = known.idle | (run.info.bots_by_name.keys() - wanted)
    # The settings given now are compared with those of the league when it is opened.
    settings: dict[str, Any] = {**options, "bots": labels_of(bots_of_session)}
    settings.pop("board_files", None)
    if "seed" in settings:
        settings["seed"] = str(settings["seed"])
    if not {"boards", "board_files", "match"}.isdisjoint(options):
        settings["boards"] = list(boards_of(options))
    config = replace(known.config, **settings)
    return Request(config, known.boards, bots_of_session, idle=idle)


def _retired_with_games(members: Members, run: Run) -> set[str]:
    """The labels of the retired members of a league that have games which were drawn and not
    played.
    """
    retired = set(members.league.with_status("retired"))
    drawn = [each for each in run.config.drawn if not retired.isdisjoint(each.line_up.split("+"))]
    if not drawn:
        return set()
    played = set(read_ids(run.journal) if os.path.lexists(run.journal) else ())
    labels = set[str]()
    for each in drawn:
        if run.schedule.drawn_batches(each, played):
            labels |= retired.intersection(each.line_up.split("+"))
    return labels
