"""`arena play --web`: one game on a page, with a person at a seat."""

import os
import sys
import webbrowser
from contextlib import ExitStack, closing
from pathlib import Path

import click
from click.core import ParameterSource

from arena.cli import DONE, INTERRUPTED
from arena.commands.allowing import SandboxChoice
from arena.commands.played import Wish

LOCAL = "127.0.0.1"
AT_THE_TERMINAL = {
    "match": "--match",
    "source": "--from",
    "step": "--step",
    "has_stderr": "--stderr",
    "log_path": "--log",
    "as_json": "--json",
}
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def refuse_terminal_options() -> None:
    """Raises UsageError for options that make no sense on a page."""
    context = click.get_current_context()
    for name, option in AT_THE_TERMINAL.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"expected --web without {option}: on a page you play one new game"
            )


def play_on_page(home: Path, wish: Wish, choice: SandboxChoice) -> int:
    """Serves the page of a game until the game is over and the page was left; returns the exit
    status. Raises UserError.
    """
    # Late: the web parts are slow to load.
    from arena.web.app import Site  # noqa: PLC0415
    from arena.web.guard import LOOPBACK, Gate  # noqa: PLC0415
    from arena.web.opengames import OpenGames  # noqa: PLC0415
    from arena.web.server import bind, serve  # noqa: PLC0415

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


def _show(address: str) -> None:
    """Opens the address in a browser where there is a screen. A browser in the terminal would take
    that over.
    """
    if sys.platform == "darwin" or any(map(os.environ.get, SCREENS)):
        webbrowser.open(address)
