"""arena init, arena new, arena runs and arena serve: a home, starter bots, the runs that it holds,
and its pages.
"""

import os
import shlex
import socket
import sys
import webbrowser
from contextlib import ExitStack, closing, suppress
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from arena.cli import DONE, INTERRUPTED
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json, tell_json
from arena.cli.terminal import columns_of, said_when_slow, say, tell
from arena.commands.game import Wish
from arena.commands.home import EVERYWHERE, MARK, announced, results_folder
from arena.commands.playing import SandboxChoice
from arena.commands.runs import leader_of, run_state
from arena.errors import OTHER_HOME, UserError, cannot_write
from arena.exports.grid import MISSING, columns_text
from arena.players.folder import bot_at, copy_files
from arena.players.manifest import check_name
from arena.players.passing import remove_tree
from arena.players.player import refuse_built_in_name
from arena.players.registry import ladder, made_if_filled
from arena.players.staging import lack
from arena.records.runfile import read_run
from arena.tournament.config import make_config
from arena.tournament.runs import games_of, list_runs

MARK_TEXT = (
    "The arena keeps its bots in bots/ and its runs in results/ here. This file marks the folder as"
    " its home.\n"
)
IGNORED = "# written by 'arena init'\n/results/\n/.arena-serve\n__pycache__/\n"
LANGUAGES = ("python", "js", "c", "cpp", "rust", "java")
TEMPLATES = {"first": LANGUAGES, "plain": ("python",), "montecarlo": ("python",)}
"""The templates and their languages. The files are in starters/LANGUAGE for the first one, in
starters/LANGUAGE-TEMPLATE for the others.
"""
HEADS = ("Run", "Started", "Players", "Boards", "Bots", "Games", "State", "Leader", "Elo")
SEEN_BY_ALL = (
    "anyone who reaches this address sees the runs, the ratings, the faults, the names and"
    " descriptions of bots, and the games of deals that are over with what bots said in them;"
    " of finished runs also the command and the seed"
)


@click.command()
@click.argument(
    "folder", required=False, metavar="[DIR]", type=click.Path(file_okay=False, path_type=Path)
)
@click.pass_context
def init(ctx: click.Context, folder: Path | None) -> None:
    """Make a home for your bots and runs. It is a folder with bots/, which gets a copy of the
    ladder to read and change, and results/ for the runs.

    DIR is created if needed; without DIR it is the current folder. Nothing that exists is changed,
    so you can repeat the command: it adds the ladder bots that are missing.

    Every command looks for its home from the current folder upward, so you can work in any folder
    below it.

    \b
    arena init
    arena init qin
    """  # noqa: D301 - \b is click's mark for lines to keep
    # The home that --home or $ARENA_HOME names, but not one found by looking upward.
    target = folder or (ctx.parent.params["home"] if ctx.parent else None) or Path()
    try:
        copied, kept = make_home(target)
    except OSError as error:
        place = error.filename2 or error.filename
        cure = "name another folder: arena init DIR"
        raise UserError(*cannot_write(place or target.resolve(), error, cure)) from error
    if copied:
        tell(f"{target / 'bots'}: copied {', '.join(copied)}")
    if kept:
        tell(f"{target / 'bots'}: left as they were: {', '.join(kept)}")
    steps = ["arena run --deals 2", "arena play greedy-python --human 0", "arena new my-bot"]
    if target.resolve() != Path.cwd():
        steps.insert(0, f"cd {shlex.quote(str(target))}")
    say(f"{target.resolve()} is now a home for bots and runs")
    say("\n  ".join(["next:", *steps]))


def make_home(target: Path) -> tuple[list[str], list[str]]:
    """Makes what a home lacks; returns which ladder bots were copied, and which names were taken
    already. Raises OSError, and then has made nothing.
    """
    copied = list[str]()
    kept = list[str]()
    with made_if_filled(target / "bots"), made_if_filled(target / "results"), ExitStack() as undo:
        for name, source in ladder().items():
            place = target / "bots" / name
            if os.path.lexists(place):
                kept.append(name)
            else:
                place.mkdir()
                undo.callback(remove_tree, str(place))
                copy_files(source, place)
                copied.append(name)
        for path, text in ((target / MARK, MARK_TEXT), (target / ".gitignore", IGNORED)):
            if not os.path.lexists(path):
                undo.callback(path.unlink, missing_ok=True)
                path.write_text(text, encoding="utf-8")
        undo.pop_all()
    return copied, kept


@click.command()
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default="python",
    show_default=True,
    help="The language to write it in.",
)
@click.option(
    "--template",
    type=click.Choice(tuple(TEMPLATES)),
    default="first",
    show_default=True,
    help="The bot to begin with.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(path_type=Path),
    help="The folder to create.  [default: NAME, in this folder or in that of --home]",
)
@click.pass_context
def new(
    ctx: click.Context, /, name: str, language: str, template: str, folder: Path | None
) -> None:
    """Write a starter bot that plays legally. You get a folder with a bot.toml and one source file
    to change.

    The template 'first' needs nothing but its language, and prefers moves that found a province. In
    Python it looks one move ahead with arena.sdk, which knows the rules. 'plain' is Python without
    arena.sdk. 'montecarlo' tries out its best moves until its time is up.

    \b
    arena new my-bot
    arena new my-bot --template plain
    arena new searcher --template montecarlo
    arena new my-bot --language rust --to ideas/my-bot
    """  # noqa: D301 - \b is click's mark for lines to keep
    check_name(name, "NAME")
    refuse_built_in_name(name, f"choose another one: arena new my-{name}")
    if language not in TEMPLATES[template]:
        known = " or ".join(TEMPLATES[template])
        raise UserError(
            f"expected --language {known} for the template {template}, got {language}",
            "leave --template out for a first bot",
        )
    target = folder or _home_on_the_command_line(ctx) / name
    if target.exists():
        raise UserError(
            f"expected a folder that does not exist yet, got {target}",
            "choose another name, or another folder with --to",
        )
    starter = language if template == "first" else f"{language}-{template}"
    source = files("arena.cli").joinpath("starters", starter)
    texts = {
        target / file.name: file.read_text(encoding="utf-8").replace("NAME", name)
        for file in sorted(source.iterdir(), key=lambda file: file.name)
        if file.is_file()
    }
    try:
        with made_if_filled(target), ExitStack() as undo:
            for path, text in texts.items():
                undo.callback(path.unlink, missing_ok=True)
                path.write_text(text, encoding="utf-8")
            undo.pop_all()
    except OSError as error:
        cure = f"{OTHER_HOME}, or another folder with --to FOLDER"
        raise UserError(*cannot_write(target, error, cure)) from error
    for path in texts:
        say(f"wrote {path}")
    reason, cure = lack(bot_at(target))
    if reason:
        say(f"note: it cannot play here yet: {reason}; {cure}")
    place = shlex.quote(str(target) if "/" in str(target) else f"./{target}")
    say(f"next: change it, then 'arena check {place}' and 'arena submit {place}'")


def _home_on_the_command_line(ctx: click.Context) -> Path:
    """The folder that --home names, before or behind the command; else the current folder. The home
    that $ARENA_HOME names, or one above, is not where somebody wants to write a bot.
    """
    before = ctx.parent
    if before is None:
        return Path()
    is_before = before.get_parameter_source("home") is ParameterSource.COMMANDLINE
    is_behind = ctx.obj is not before.obj
    return Path(ctx.obj) if is_before or is_behind else Path()


@click.command()
@as_json
@click.pass_obj
def runs(home: Path, /, *, as_json: bool) -> None:
    """List the runs in results/. The oldest comes first, and for each you see when it was started,
    what it plays, its progress, and who leads by its latest tables.

    \b
    arena runs
    arena runs --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    rows = list[dict[str, Any]]()
    table = list[tuple[str, ...]]()
    for folder in list_runs(results_folder(home)):
        try:
            info = read_run(folder)
            with said_when_slow(f"counting the games of {folder.name}"):
                played, planned = games_of(folder, info)
        except UserError as error:
            say(f"warning: {folder.name} is left out: {error}")
            continue
        leader = leader_of(folder, info, played, planned)
        row = {
            "run": folder.name,
            "started": info.started,
            "players": make_config(info.config).players,
            "boards": list(info.boards),
            "bots": [bot.name for bot in info.bots],
            "games": played,
            "planned": planned,
            "state": run_state(folder, played, planned),
            "leader": leader and leader.object(),
        }
        rows.append(row)
        about = (folder.name, info.started, str(row["players"]), "+".join(info.boards))
        sizes = (str(len(info.bots)), f"{played}/{planned}", str(row["state"]))
        table.append((*about, *sizes, *((leader.bot, leader.text) if leader else (MISSING,) * 2)))
    if as_json:
        tell_json(rows)
    elif not rows:
        say(f"no runs in {results_folder(home)}: start one with 'arena run'")
    else:
        texts = ("Started", "Boards", "State", "Leader")
        spare = ("Players", "Started", "Boards", "Bots", "State")
        width = columns_of(sys.stdout)
        click.echo(columns_text(HEADS, table, texts, width, names=("Run", "Leader"), spare=spare))


def _parse_address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else str(ip_address(value.strip("[]")))
    except ValueError:
        raise click.BadParameter(
            f"expected an address of this machine such as 192.0.2.7, got {value!r}"
        ) from None


@click.command()
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    help="The port; 0 for any free one.  [default: the first free one from 8400]",
)
@click.option(
    "--public",
    is_flag=False,
    flag_value=EVERYWHERE,
    metavar="[ADDRESS]",
    callback=_parse_address,
    help="Show the runs to others, at this address of the machine.  [default: all of them]",
)
@click.option(
    "--host-name",
    "names",
    multiple=True,
    metavar="NAME",
    help="With --public, a name of this machine that browsers may use. Repeat it for others.",
)
@click.pass_obj
def serve(home: Path, /, port: int | None, public: str | None, names: tuple[str, ...]) -> int:
    """Show your runs in a browser, live while they are played.

    The first line printed is the address to open. It works on this machine only, and only for you:
    it carries a token that lets your browser start something. Ctrl-C ends the server, with exit
    status 0.

    With --public, others can look from elsewhere, without a token. They see runs, ratings, faults
    and games whose deals are over, and can change nothing.

    \b
    arena serve
    arena serve --port 9000
    arena serve --public --host-name games.example
    """  # noqa: D301 - \b is click's mark for lines to keep
    if names and public is None:
        raise click.UsageError("expected --public with --host-name")
    # Late: the web parts are slow to load, and --help does not need them.
    from arena.web import play, server  # noqa: PLC0415

    local = server.LOOPBACK[0]
    with ExitStack() as stack:
        listener = stack.enter_context(server.bind(public or local, port))
        taken = listener.getsockname()[1]
        gate = server.Gate((*server.LOOPBACK, *names), taken, is_public=public is not None)
        shown = names[0] if names else _reached_at(public or local)
        url = f"http://{f'[{shown}]' if ':' in shown else shown}:{taken}/"
        click.echo(f"{url}?token={gate.token}" if gate.token else url)
        if public:
            click.echo(SEEN_BY_ALL, err=True)
        try:
            if other := stack.enter_context(announced(home, url)):
                say(f"note: this home is served at {other} already")
        except OSError as error:
            say(f"note: 'arena run' will not name this address: {error}")
        choice = SandboxChoice(None, (), unsafe=False, home=home, tell=say, advise=say)
        games = None if public else stack.enter_context(closing(play.OpenGames(home, choice)))
        server.serve(home, gate, games, listener)
    say("the server has ended")
    return DONE


def serve_game(home: Path, wish: Wish, choice: SandboxChoice) -> int:
    """Serves the page of a game until the game is over and the page was left; returns the exit
    status. Raises UserError.
    """
    from arena.web import play, server  # noqa: PLC0415

    local = server.LOOPBACK[0]
    with ExitStack() as stack:
        games = stack.enter_context(closing(play.OpenGames(home, choice)))
        name = games.begin(wish)
        listener = stack.enter_context(server.bind(local, None))
        port = listener.getsockname()[1]
        gate = server.Gate(server.LOOPBACK, port)
        address = f"http://{local}:{port}/play/{name}?token={gate.token}"
        click.echo(address)
        # Where there is no screen, a browser would take over the terminal.
        if sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
            webbrowser.open(address)
        if server.serve(home, gate, games, listener, games.are_left):
            return DONE
    click.echo("interrupted", err=True)
    return INTERRUPTED


def _reached_at(host: str) -> str:
    """The address by which others reach this machine, if it listens at all of its own."""
    if host != EVERYWHERE:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way, suppress(OSError):
        # Nothing is sent; this only chooses the way to an address that nobody has.
        way.connect(("192.0.2.1", 9))
        return str(way.getsockname()[0])
    return host
