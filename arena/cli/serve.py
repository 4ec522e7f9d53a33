"""arena serve: the home on pages in a browser."""

from ipaddress import ip_address
from pathlib import Path

import click

from arena.commands.serving import EVERYWHERE


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
    from arena.cli.pages import serve_home  # noqa: PLC0415

    return serve_home(home, port, public, names)
