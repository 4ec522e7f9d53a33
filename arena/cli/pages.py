"""Serves pages. The web parts are loaded here: commands import this when called."""

import os
import socket
import sys
import webbrowser
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import click

from arena.cli import DONE, INTERRUPTED
from arena.cli.terminal import say
from arena.commands.allowing import SandboxChoice
from arena.commands.played import Wish
from arena.commands.serving import EVERYWHERE, announced
from arena.web.app import Site
from arena.web.guard import LOOPBACK, Gate
from arena.web.opengames import OpenGames
from arena.web.server import bind, serve

LOCAL = LOOPBACK[0]
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")
SHOWN = (
    "anyone who reaches this address sees the runs, the ratings, the faults, the names and"
    " descriptions of bots, and the games of deals that are over with what bots said in them;"
    " of finished runs also the command and the seed"
)


def serve_home(home: Path, port: int | None, public: str | None, names: tuple[str, ...]) -> int:
    """Serves a home until a signal ends it, to others at the address ``public``, if one is given;
    returns the exit status. Raises UserError.
    """
    host = public or LOCAL
    with ExitStack() as stack:
        listener = stack.enter_context(bind(host, port))
        taken = listener.getsockname()[1]
        gate = Gate((*LOOPBACK, *names), taken, is_public=public is not None)
        url = _url(names[0] if names else _reached_at(host), taken)
        click.echo(f"{url}?token={gate.token}" if gate.token else url)
        if public:
            click.echo(SHOWN, err=True)
        _announce(stack, home, url)
        choice = SandboxChoice(None, (), unsafe=False, home=home, tell=say)
        open_games = None if public else stack.enter_context(closing(OpenGames(home, choice)))
        serve(Site(home, gate, public is not None, open_games), listener)
    click.echo("interrupted", err=True)
    return INTERRUPTED


def serve_game(home: Path, wish: Wish, choice: SandboxChoice) -> int:
    """Serves the page of a game until the game is over and the page was left; returns the exit
    status. Raises UserError.
    """
    with ExitStack() as stack:
        open_games = stack.enter_context(closing(OpenGames(home, choice)))
        name = open_games.begin(wish)
        listener = stack.enter_context(bind(LOCAL, None))
        port = listener.getsockname()[1]
        gate = Gate(LOOPBACK, port)
        address = f"http://{LOCAL}:{port}/play/{name}?token={gate.token}"
        click.echo(address)
        _show(address)
        if serve(Site(home, gate, open_games=open_games), listener, open_games.are_left):
            return DONE
    click.echo("interrupted", err=True)
    return INTERRUPTED


def _announce(stack: ExitStack, home: Path, url: str) -> None:
    """Says in the home where it is served, for as long as it is."""
    try:
        other = stack.enter_context(announced(home, url))
    except OSError as error:
        say(f"note: 'arena run' will not name this address: {error}")
    else:
        if other:
            say(f"note: this home is served at {other} already")


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _reached_at(host: str) -> str:
    """The address by which others reach this machine, if it listens at all of its own."""
    if host != EVERYWHERE:
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way, suppress(OSError):
        # Nothing is sent; this only chooses the way to an address that nobody has.
        way.connect(("192.0.2.1", 9))
        return str(way.getsockname()[0])
    return host


def _show(address: str) -> None:
    """Opens the address in a browser where there is a screen. A browser in the terminal would take
    that over.
    """
    if sys.platform == "darwin" or any(map(os.environ.get, SCREENS)):
        webbrowser.open(address)
