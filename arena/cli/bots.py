"""arena bots, arena submit and arena remove: the bots that have a name."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli import DONE, FAILED
from arena.cli.check import run_checks
from arena.cli.mistakes import MistakeError
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json, default_option, split_words, tell_json
from arena.cli.progress import LONG_S, duration_text
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.terminal import columns_of, say, tell
from arena.commands.bots import bot_finder, bot_in, note_same_files, registry_of
from arena.commands.checks import passed_s_ago
from arena.commands.home import results_folder
from arena.commands.members import (
    expect_room,
    league_folder,
    member_label,
    refuse_other_files,
    versions_in_leagues,
)
from arena.commands.playing import SandboxChoice, own_words
from arena.commands.runs import Rated, latest_ratings, remove_run, run_folder
from arena.errors import BotFolderError, UserError, counted, printable
from arena.exports.grid import GAP, MISSING, columns_text, padded, width_of
from arena.players.folder import Bot, from_inside, home_of_script, near_paths, script_command
from arena.players.manifest import ARENA_OPTIONS, Option, value_text
from arena.players.player import is_built_in, refuse_built_in_name
from arena.players.registry import Registry, expect_to_write
from arena.players.staging import lack
from arena.records.runfile import read_run
from arena.tournament.runs import games_of, list_runs
from arena.tournament.settings import read_own_config

ROOM = 24
"""The last column of a table gets so much of a narrow terminal."""
SPARE = ("Type", "Language", "From", "Games", "Version")
HEADS = ("Bot", "Version", "From", "Language", "Elo", "Games", "Description")
OPPONENT = "greedy-python"
"""The opponent suggested for a first game."""


@click.command()
@click.argument("bot", required=False)
@click.option("--all", "everything", is_flag=True, help="Also list old versions, as NAME@VERSION.")
@as_json
@click.pass_obj
def bots(home: Path, /, bot: str | None, *, everything: bool, as_json: bool) -> None:
    """List your bots and the ladder. With BOT, list the options of that one.

    The bots are those you can call by name: yours in bots/, then the ladder, which comes with the
    arena. Elo is the latest rating of these very files, from so many games in that run.

    A bot of yours hides the ladder bot of the same name. If a program needed to start a bot is
    missing, the list says which. Set ARENA_LADDER=off in the environment to hide the ladder from
    every command.

    BOT is the name of a bot or the path of its folder. Its options can be set wherever you name the
    bot, as in my-bot:depth=5,move_ms=50.

    \b
    arena bots
    arena bots --all --json
    arena bots ./my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    if bot is None:
        latest = latest_ratings(list_runs(results_folder(home)))
        _list(registry_of(home), latest, everything=everything, as_json=as_json)
    elif everything:
        raise click.UsageError("expected a bot or --all, got both")
    else:
        _describe(bot_finder(home, say)(bot), as_json=as_json)


def _list(
    registry: Registry, latest: Mapping[tuple[str, str], Rated], *, everything: bool, as_json: bool
) -> None:
    rows = list[dict[str, Any]]()
    shown = list[tuple[str, ...]]()
    is_rated = False
    for label in registry.labels():
        if "@" in label and not everything:
            continue
        try:
            bot = registry.get(label)
        except UserError as error:
            say(f"warning: {printable(label)} is left out: {printable(str(error))}")
            continue
        rated = latest.get((bot.label, bot.sha256))
        ladder = registry.is_of_ladder(label)
        row = {**_about(bot), "ladder": ladder, "rating": rated and rated.object()}
        rows.append(row)
        is_rated |= rated is not None
        rating = (rated.text, f"{rated.games} in {rated.run}") if rated else (MISSING, MISSING)
        place = "ladder" if ladder else "bots/"
        text = row["missing"] or row["description"]
        shown.append((bot.label, row["version"], place, row["language"], *rating, text))
    if as_json:
        tell_json(rows)
    elif not rows:
        cure = "add one with 'arena submit', or start one with 'arena new'"
        say(f"no bots in {registry.root}: {cure}")
    else:
        _print_table(HEADS, shown, without=() if is_rated else ("Elo", "Games"))
        for row in rows:
            _tell_allowed(row)


def _about(bot: Bot) -> dict[str, Any]:
    """What there is to say of a bot."""
    manifest = bot.manifest
    return {
        "bot": bot.label,
        "version": str(manifest.version),
        "language": manifest.language,
        "author": manifest.author,
        "description": manifest.description,
        "missing": "" if is_built_in(bot) else lack(bot)[0],
        "sha256": bot.sha256,
        "allowed": own_words(read_own_config(), bot),
    }


def _tell_allowed(about: dict[str, Any]) -> None:
    if words := ", ".join(about["allowed"]):
        tell(printable(f"{about['bot']} is allowed {words} by your own configuration"))


def _describe(bot: Bot, *, as_json: bool) -> None:
    """One bot with its options."""
    arena = {} if is_built_in(bot) else ARENA_OPTIONS
    about = _about(bot)
    declared = bot.manifest.options
    if as_json:
        own, every = (
            [
                {"name": name, **msgspec.to_builtins(option), "default": option.usual}
                | {"value": bot.settings.get(name, option.usual)}
                for name, option in options.items()
            ]
            for options in (declared, arena)
        )
        tell_json({**about, "options": own, "every_bot": every})
        return
    said = [bot.label, f"version {bot.manifest.version}", bot.manifest.description]
    tell(printable(", ".join(filter(None, said))))
    _tell_allowed(about)
    if not declared:
        click.echo("It has no options of its own." if arena else "It has no options.")
    rows = [_option_row(name, option, bot) for name, option in [*declared.items(), *arena.items()]]
    if rows:
        click.echo()
        columns = ("Option", "Type", "Default", "Here", "Range", "Help")
        _print_table(columns, rows, without=() if bot.settings else ("Here",))


def _option_row(name: str, option: Option, bot: Bot) -> tuple[str, ...]:
    usual = bot.manifest.memory_mb if name == "memory_mb" else option.usual
    default = "the run's" if usual is None else value_text(usual)
    here = value_text(bot.settings[name]) if name in bot.settings else default
    words = ": ".join(filter(None, [option.help, ", ".join(option.choices)]))
    return (name, option.type, default, here, option.range, words)


def _print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], without: Sequence[str]
) -> None:
    """Prints a table whose last column is folded, with room for it."""
    kept = [at for at, column in enumerate(columns) if column not in without]
    *heads, last = (columns[at] for at in kept)
    width = columns_of(sys.stdout)
    begun = columns_text(
        heads,
        [[row[at] for at in kept[:-1]] for row in rows],
        heads,
        width and max(width - ROOM, 0),
        names=("Bot",),
        spare=SPARE,
    ).split("\n")
    indent = max(map(width_of, begun)) + len(GAP)
    lines = zip(begun, (last, *(row[-1] for row in rows)), strict=True)
    text = "\n".join(f"{padded(line, indent)}{printable(text)}".rstrip() for line, text in lines)
    tell(text, " " * indent)


@click.command(cls=BriefCommand)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--name", help="Its name in bots/.  [default: from bot.toml, or the script's name]")
@click.option(
    "--command",
    callback=split_words,
    metavar="'PROGRAM ARG...'",
    help="How to start it.  [default: from bot.toml, or by the file's extension]",
)
@click.option(
    "--league",
    metavar="NAME",
    help="Then find its place in this league. The exit status says whether it is better than the"
    " version before it.",
)
@click.option(
    "--games",
    type=WholeNumber(1),
    help="With --league: once it is placed, play so many games with the version before it.",
)
@click.option(
    "--author",
    metavar="NAME",
    help="Register it as this author's: its name is its folder's and nobody else's, its version the"
    " next number.",
)
@click.option("--no-check", is_flag=True, help="Register it without checking it.")
@default_option("move_ms")
@sandbox_options
@click.pass_obj
def submit(
    home: Path,
    /,
    path: Path,
    name: str | None,
    command: list[str] | None,
    league: str | None,
    move_ms: int,
    *,
    no_check: bool,
    choice: SandboxChoice,
    **more: Any,
) -> int:
    """Check a bot and copy it into bots/. PATH is a folder with a bot.toml, or a single script.

    The check is left out if these files passed one within the last hour, with the same settings.

    If a bot of that name is there already, the new content becomes its next version. You can still
    play the old one as NAME@VERSION.

    With --league, it then plays in that league until it is placed, or waits while another arena
    plays the league. The exit status is 0 if it is better than the version before it, or the first
    one, 4 if it is worse, 5 if that is not clear, and 1 if it was set aside.

    \b
    arena submit my-bot
    arena submit .
    arena submit ideas/best.py --name second-try
    arena submit my-bot --league ladder --games 400
    arena submit submissions/ann/my-bot --league ladder --author ann
    arena submit ./engine --name engine --command './engine --fast'
    """  # noqa: D301 - \b is click's mark for lines to keep
    if not path.exists():
        near = from_inside(path.name) or near_paths(path)
        raise MistakeError(
            f"PATH: path '{path}' does not exist", near.rstrip() or "name a bot's folder or script"
        )
    _expect_a_way_to_start(path, command)
    bot = bot_in(path, say, name=name, command=command)
    again = shlex.join(["arena", "submit", str(path), "--name", f"my-{bot.manifest.name}"])
    refuse_built_in_name(bot.manifest.name, f"choose another one: {again}")
    registry = registry_of(home)
    note_same_files(registry, bot, say)
    folder = None if league is None else league_folder(home, league)
    if more["games"] and folder is None:
        raise click.UsageError("expected --league NAME with --games, got none")
    taken = versions_in_leagues(home, folder)
    if author := more["author"]:
        if (there := path.resolve().name) != bot.manifest.name:
            wanted = f"expected the name of its folder, {there!r}, got {bot.manifest.name!r}"
            cure = "with --author both must be the same: change one of them"
            raise BotFolderError(f"{path}: {wanted}", cure)
        bot = registry.owned(bot, author, taken)
        if folder:
            expect_room(registry, folder, bot)
    registry.expect_to_write(bot)
    if folder:
        expect_to_write(folder)
    if not no_check and not _passes(home, bot, move_ms, choice):
        cure = f"see every step with 'arena check {path}', or register it without the check"
        say(f"error: {bot.label} is not registered: it fails the check above")
        say(f"hint: {cure}: --no-check")
        return FAILED
    registered, changed = registry.register(bot, taken)
    version = registered.manifest.version
    label = registered.label
    how = "already, with the same content, as" if not changed else "as"
    where = f" in {registered.folder}" if changed else ""
    tell(f"{label} is registered {how} version {version}{where}")
    if folder is None:
        say(f"next: {_next_command(registry, registered)}")
        return DONE
    # Late: only a league needs what plays a run, and this room is loaded for 'arena bots' too.
    from arena.cli.league import find_place  # noqa: PLC0415

    label = member_label(registered)
    refuse_other_files(folder, label, registered)
    return find_place(home, folder, label, choice, more["games"])


def _passes(home: Path, bot: Bot, move_ms: int, choice: SandboxChoice) -> bool:
    """Whether a bot passes a check, or just did."""
    sandbox = choice.sandbox_for([bot])
    ago_s = passed_s_ago(home, bot, move_ms, sandbox)
    if ago_s is None:
        return run_checks(home, bot, move_ms, sandbox, only_failures=True)
    when = duration_text(ago_s) if ago_s > LONG_S else "less than a minute"
    say(f"{bot.label} is not checked again: these files passed 'arena check' {when} ago")
    return True


def _expect_a_way_to_start(path: Path, command: list[str] | None) -> None:
    """Raises BotFolderError for a script if nothing says how to start it."""
    if command or not path.is_file() or home_of_script(path):
        return
    try:
        script_command(path)
    except BotFolderError as error:
        error.hint = f"say how to start it with --command 'INTERPRETER {path.name}'"
        raise


def _next_command(registry: Registry, bot: Bot) -> str:
    """What to type once a bot is registered: a comparison with its last version, or a first run."""
    name = bot.manifest.name
    older = registry.versions(name)[1:]
    if older:
        return f"arena compare {name} {older[0]}"
    others = [label for label in registry.labels() if label != name]
    if not others:
        return "arena new another-bot, to have someone to play against"
    return shlex.join(["arena", "run", name, OPPONENT if OPPONENT in others else others[0]])


@click.command()
@click.argument("bot", metavar="[BOT[@VERSION]]", required=False)
@click.option("--all-versions", is_flag=True, help="Remove all versions of the bot.")
@click.option("--run", metavar="NAME", help="Remove this run from results/, and no bot.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def remove(
    home: Path, /, bot: str | None, *, all_versions: bool, run: str | None, yes: bool
) -> None:
    """Remove a bot, or one version of it, from bots/, or a run. A run is removed from results/.

    If you remove the newest version, the one before it takes its place. Runs are not affected: they
    have their own copies of the bots. The bots of the ladder come with the arena and cannot be
    removed. Nor can a run that is being played or reviewed.

    \b
    arena remove my-bot
    arena remove my-bot@2
    arena remove my-bot --all-versions --yes
    arena remove --run 2026-11-24-1
    """  # noqa: D301 - \b is click's mark for lines to keep
    if (bot is None) == (run is None):
        got = "neither" if bot is None else "both"
        raise click.UsageError(f"expected the name of a bot, or --run NAME, got {got}")
    if run is not None:
        if all_versions:
            raise click.UsageError("expected --all-versions with the name of a bot, got --run")
        _remove_run(home, run, yes=yes)
    elif bot is not None:
        _remove_bot(home, bot, all_versions=all_versions, yes=yes)


def _remove_run(home: Path, name: str, *, yes: bool) -> None:
    folder = run_folder(home, name)
    try:
        played, _ = games_of(folder, read_run(folder))
        what = f"the run {folder} with its {counted(played, 'game')}"
    except UserError:  # it is damaged, which may be why it has to go
        what = f"the run {folder}"
    _confirm(f"remove {what}?", yes=yes)
    remove_run(folder)
    tell(f"removed the run {folder}")


def _confirm(question: str, *, yes: bool) -> None:
    """Goes on if the user agrees. Raises UserError without a terminal to ask on, Abort."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UserError(
            "expected a terminal to ask for confirmation, found none",
            "add --yes to remove it without being asked",
        )
    click.confirm(printable(question), abort=True, err=True)


def _remove_bot(home: Path, bot: str, *, all_versions: bool, yes: bool) -> None:
    registry = registry_of(home)
    registry.refuse_to_remove(bot)
    doomed = _doomed(registry, bot, all_versions=all_versions)
    _confirm(f"remove {', '.join(doomed)} from {registry.root}?", yes=yes)
    for label in doomed:
        registry.remove(label)
    tell(f"removed {', '.join(doomed)}; runs keep their own copies")
    name = bot.partition("@")[0]
    if name in registry.labels():
        now = registry.get(name)
        whose = " of the ladder" if registry.is_of_ladder(name) else ""
        tell(f"{name} now means version {now.manifest.version}{whose}, in {now.folder}")


def _doomed(registry: Registry, bot: str, *, all_versions: bool) -> list[str]:
    """The labels to remove, older versions first. Raises UserError if it is not clear which."""
    name, _, version = bot.partition("@")
    versions = registry.versions(name)
    if all_versions:
        if version:
            raise click.UsageError(
                f"expected a name without a version with --all-versions, got {bot}"
            )
        return versions[::-1]
    if not version and len(versions) > 1:
        there = f"which has {len(versions)}: {', '.join(versions)}"
        cure = f"name one, as in 'arena remove {versions[-1]}', or remove them all with"
        raise UserError(f"expected one version of {name}, {there}", f"{cure} --all-versions")
    return [bot]
