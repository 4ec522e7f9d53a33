"""A league's folder: founded, found again, and opened for the members that it has by now."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from arena.commands.bots import Tell
from arena.commands.folders import results_folder
from arena.commands.members import Members
from arena.commands.request import with_clock
from arena.errors import ConfigError, RunError, printable
from arena.players.folder import Bot
from arena.players.options import split_options
from arena.players.sandbox.tiers import Sandbox
from arena.records.league import is_league, read_league
from arena.records.runfile import FILE as RUN_FILE
from arena.records.runfile import RunInfo, read_run
from arena.tournament.config import LeagueTerms, RunConfig, make_config
from arena.tournament.finishing import as_it_is
from arena.tournament.request import Request, RunOptions, make_request
from arena.tournament.session import list_runs


def leagues_in(home: Path) -> list[Path]:
    """The folders of the leagues in results/, oldest first."""
    return [folder for folder in list_runs(results_folder(home)) if is_league(folder)]


def versions_in_leagues(home: Path, joined: Path | None) -> set[str]:
    """``name@version`` of every member that a league of this home, or the one to be ``joined``, has
    ever had: a version that was removed keeps its number, as its games do. Raises RunError if that
    one cannot be read.
    """
    found = {split_options(label)[0] for label in read_league(joined).members} if joined else set()
    for folder in leagues_in(home):
        # One that cannot be read says so when it is played.
        with suppress(RunError):
            found |= {split_options(label)[0] for label in read_league(folder).members}
    return found


def league_folder(home: Path, name: str | None) -> Path:
    """The folder of a league that is there; None is the newest one. Raises RunError."""
    known = leagues_in(home)
    if name is None and known:
        return known[-1]
    for folder in () if name is None else (results_folder(home) / name, Path(name)):
        if is_league(folder):
            return folder
    names = ", ".join(folder.name for folder in known) or "none"
    raise RunError(
        f"expected the name of a league, got {name!r}" if name else "expected a league, found none",
        f"leagues in {results_folder(home)}: {names}; 'arena league run NAME' starts one",
    )


def members_of(
    home: Path, folder: Path, bots: Sequence[str], benchmarks: Sequence[str] | None, tell: Tell
) -> Members:
    """The members of a league, which is founded if there is none in the folder: with these bots, or
    else all in bots/, and these benchmarks. Raises UserError.
    """
    is_known = os.path.lexists(folder / RUN_FILE)
    if is_known and not is_league(folder) and read_run(folder).config.get("league") is None:
        raise ConfigError(
            f"expected a league in {folder}, got another kind of run", "choose another name"
        )
    config = make_config(read_run(folder).config) if is_known else None
    names = config.league.names if config and config.league else _names(bots)
    members = Members(home, folder, names, tell)
    if not members.league.members:
        folder.mkdir(parents=True, exist_ok=True)
        members.admit(benchmarks or members.first_benchmarks(), "benchmark")
    else:
        _refuse_others(members, benchmarks or ())
    members.admit(bots, "candidate")
    members.look()
    if is_known:
        _warn_of_changes(members, read_run(folder), tell)
    return members


def refuse_other_files(folder: Path, label: str, bot: Bot) -> None:
    """Raises ConfigError for a bot that a league plays under this label with other files."""
    known = read_run(folder).bots if os.path.lexists(folder / RUN_FILE) else []
    if any(info.name == label and not bot.has_hash(info.sha256) for info in known):
        raise ConfigError(
            f"expected the files with which {label} joined {folder.name}, got others in"
            f" {bot.folder}",
            "the league plays on with those that joined: change the version in its bot.toml and"
            " submit it again",
        )


def _warn_of_changes(members: Members, info: RunInfo, tell: Tell) -> None:
    """Says so where the files of a version are no longer those that joined."""
    played = {bot.name: bot.sha256 for bot in info.bots}
    for label, member in members.league.members.items():
        if member.plays and label in played and not members.has_hash(label, played[label]):
            tell(
                f"warning: {printable(label)} has other files in bots/ than when it joined, and"
                " plays on as it was: 'arena submit' makes a new version of what has changed"
            )


def _refuse_others(members: Members, benchmarks: Sequence[str]) -> None:
    """Raises ConfigError for benchmarks that a league did not begin with."""
    others = [label for label in members.labels(benchmarks) if label not in members.league.members]
    if others:
        raise ConfigError(
            f"expected the benchmarks that the league began with, got {', '.join(others)}",
            f"name it as a bot, and 'arena league benchmark BOT --league {members.folder.name}'"
            " makes it one",
        )


def _names(bots: Sequence[str]) -> list[str]:
    """Whose versions join: the bots named without a version or options. Where none is, nobody does,
    as no bot has the name of a label.
    """
    return [name for name in bots if "@" not in name and split_options(name)[1] is None] or [*bots]


def league_request(
    members: Members,
    bots: Sequence[str],
    options: RunOptions,
    sandbox_for: Callable[[Bot], Sandbox],
    tell: Tell,
) -> Request:
    """What the next session of a league plays: whoever has played, from the copies in its folder,
    and the members that are new. Raises UserError.
    """
    folder = members.folder
    if not os.path.lexists(folder / RUN_FILE):
        found = members.newcomers((), sandbox_for)
        terms = LeagueTerms(_names(bots))
        return make_request(with_clock(options, tell), options.find_boards(), found, league=terms)
    info = read_run(folder)
    config = make_config(info.config)
    known = as_it_is(folder, info, config)
    found = members.newcomers([bot.label for bot in known.bots], sandbox_for)
    every = [*known.bots, *found]
    labels = [bot.label for bot in every]
    return Request(_asked(replace(known.config, bots=labels), options), known.boards, every)


def _asked(config: RunConfig, options: RunOptions) -> RunConfig:
    """The settings of a league with those that are said now, which are compared with them when it
    is opened.
    """
    said = {
        name: value
        for name in RunConfig.__struct_fields__
        if (value := getattr(options, name, None)) is not None and name != "bots"
    }
    if "seed" in said:
        said["seed"] = str(said["seed"])
    if "boards" in said or options.board_files or "match" in said:
        said["boards"] = list(options.find_boards())
    return replace(config, **said)
