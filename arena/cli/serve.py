"""arena serve: shows the home in a browser. Also serves the page of one game, for `arena play
--web`.
"""

import os
import socket
import sys
import webbrowser
from contextlib import ExitStack, closing, suppress
from ipaddress import ip_address
from pathlib import Path

import click

from arena.cli import DONE, INTERRUPTED
from arena.cli.numbers import WholeNumber
from arena.cli.terminal import say
from arena.commands.game import GameRequest
from arena.commands.playing import SandboxChoice
from arena.commands.serving import EVERYWHERE, announced

SEEN_BY_ALL = (
    "anyone who reaches this address sees the runs, the ratings, the faults, the names and"
    " descriptions of bots, and the games of deals that are over with what bots said in them;"
    " of finished runs also the command and the seed"
)
"""What --public shows to everybody."""


def _parse_address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """A click callback that reads an IP address; None stays None. Raises BadParameter."""
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

    The first line printed is the address to open. It works on this machine only, and only for you,
    because it contains a token that lets your browser start games. Ctrl-C ends the server, with
    exit status 0.

    With --public, others can look from elsewhere, without a token. They see runs, ratings, faults
    and games whose deals are over, and can change nothing.

    \b
    arena serve
    arena serve --port 9000
    arena serve --public --host-name games.example
    """  # noqa: D301 - \b is click's mark for lines to keep
    if names and public is None:
        raise click.UsageError("--host-name needs --public")
    # Imported here, because the web parts are slow to load, and --help does not need them.
    from arena.web import guard, server  # noqa: PLC0415
    from arena.web.opengames import OpenGames  # noqa: PLC0415

    local = guard.LOOPBACK[0]
    with ExitStack() as stack:
        listener = stack.enter_context(server.bind(public or local, port))
        taken = listener.getsockname()[1]
        gate = guard.Gate((*guard.LOOPBACK, *names), taken, is_public=public is not None)
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
        games = None if public else stack.enter_context(closing(OpenGames(home, choice)))
        server.serve(home, gate, games, listener)
    say("the server has ended")
    return DONE


def serve_game(home: Path, game_request: GameRequest, choice: SandboxChoice) -> int:
    """Serves the page of the requested game until the game is over and the user has left the page,
    or until Ctrl-C; returns the exit status. Raises UserError.
    """
    from arena.web import guard, server  # noqa: PLC0415
    from arena.web.opengames import OpenGames  # noqa: PLC0415

    local = guard.LOOPBACK[0]
    with ExitStack() as stack:
        games = stack.enter_context(closing(OpenGames(home, choice)))
        name = games.begin(game_request)
        listener = stack.enter_context(server.bind(local, None))
        port = listener.getsockname()[1]
        gate = guard.Gate(guard.LOOPBACK, port)
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
    """The address at which other machines reach this one: ``host`` itself or, if ``host`` stands
    for all addresses, the one from which this machine reaches the internet.
    """
    if host != EVERYWHERE:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way, suppress(OSError):
        # Nothing is sent: this only makes the system choose its own address for a connection to the
        # internet. 192.0.2.1 is reserved for examples.
        way.connect(("192.0.2.1", 9))
        return str(way.getsockname()[0])
    return host
