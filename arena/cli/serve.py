"""arena serve: the home on pages in a browser."""

from contextlib import ExitStack, closing
from ipaddress import ip_address
from pathlib import Path

import click

from arena.cli import INTERRUPTED
from arena.cli.terminal import say
from arena.commands.allowing import SandboxChoice
from arena.commands.serving import announced

LOCAL = "127.0.0.1"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what --public means


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
    type=click.IntRange(0, 65535),
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
    it carries a token that lets your browser start something. Ctrl-C ends the server.

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
    from arena.web.app import Site  # noqa: PLC0415
    from arena.web.guard import LOOPBACK, Gate  # noqa: PLC0415
    from arena.web.opengames import OpenGames  # noqa: PLC0415
    from arena.web.server import bind, serve  # noqa: PLC0415

    host = public or LOCAL
    with ExitStack() as stack:
        listener = stack.enter_context(bind(host, port))
        taken = listener.getsockname()[1]
        gate = Gate((*LOOPBACK, *names), taken, is_public=public is not None)
        url = f"http://{f'[{host}]' if ':' in host else host}:{taken}/"
        click.echo(f"{url}?token={gate.token}" if gate.token else url)
        try:
            other = stack.enter_context(announced(home, url))
        except OSError as error:
            say(f"note: 'arena run' will not name this address: {error}")
        else:
            if other:
                say(f"note: this home is served at {other} already")
        choice = SandboxChoice(None, (), unsafe=False, home=home, tell=say)
        open_games = None if public else stack.enter_context(closing(OpenGames(home, choice)))
        serve(Site(home, gate, public is not None, open_games), listener)
    click.echo("interrupted", err=True)
    return INTERRUPTED
