"""How tables are shown: as text, wide or not, as JSON or as CSV. The options of the commands that
show a table on request.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, cast

import click
import msgspec

from arena.cli.options import Command, as_json
from arena.errors import UserError


class Showing(NamedTuple):
    """What to show of the tables. ``csv_path`` is a file for the standings, or ``-`` for CSV
    instead of everything else. ``wide`` shows all columns.
    """

    as_json: bool = False
    csv_path: str | None = None
    wide: bool = False
    pairs: bool = False
    covariance: bool = False


_OPTIONS: tuple[Callable[[Command], Command], ...] = (
    click.option(
        "--csv",
        "csv_path",
        metavar="FILE|-",
        help="Write the standings as CSV to a file, or '-' for stdout.",
    ),
    click.option("--wide", is_flag=True, help="Show all columns of the standings."),
    click.option("--pairs", is_flag=True, help="Also show the results of each pair."),
    as_json,
)


def showing_options(command: Command) -> Command:
    """``--csv``, ``--wide``, ``--pairs`` and ``--json`` as one argument ``showing``."""

    @wraps(command)
    def wrapped(*args: Any, **options: Any) -> Any:
        names = [name for name in Showing._fields if name in options]
        showing = Showing(**{name: options.pop(name) for name in names})
        return command(*args, showing=showing, **options)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


def check_output(csv_path: str | None, *, as_json: bool) -> None:
    """Raises UsageError or UserError before hours of work instead of afterwards."""
    if csv_path == "-" and as_json:
        raise click.UsageError("expected --csv - or --json, got both, and each prints to stdout")
    if csv_path and not Path(csv_path).absolute().parent.is_dir():
        raise UserError(
            f"expected --csv in an existing folder, got {csv_path}",
            "create the folder, or choose another",
        )


def tell_json(value: object) -> None:
    """Prints a value as JSON to stdout."""
    click.echo(json_text(value))


def json_text(value: object) -> str:
    """A value as JSON that people can read, too."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
