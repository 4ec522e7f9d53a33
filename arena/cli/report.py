"""arena report: writes an HTML report of a run."""

import re
from pathlib import Path

import click

from arena.cli.numbers import WholeNumber
from arena.cli.options import Rating, rating_options, run_argument
from arena.cli.target import write_target
from arena.commands.runs import named_run
from arena.records.regular import write_durably

MAX_GAMES = 1_000_000
"""The largest number for ``--games``; a page has room for a few hundred games."""


def _parse_number(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | list[str] | None:
    """A click callback that reads the value of ``--games``: a number of games or, as in earlier
    versions, a value of ``--only``. None stays None. Raises BadParameter.
    """
    if value is None:
        return None
    if "/" in value or "+" in value:
        return _parse_games(context, parameter, value)
    return WholeNumber(0, MAX_GAMES).convert(value, parameter, context)


def _parse_games(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """A click callback that reads the value of ``--only``, separated by commas: ids of games, or
    two bots joined by ``+`` for all their games. None stays None. Raises BadParameter.
    """
    if value is None:
        return None
    # The options of a bot in an id are separated by commas, too: those are followed by a '='.
    ids = [part.strip() for part in re.split(r",(?=[^/,=]*[/+])", value) if part.strip()]
    if not ids or not all("/" in name or "+" in name for name in ids):
        expected = "game ids separated by commas, or bots as ONE+OTHER"
        raise click.BadParameter(f"expected {expected}, got {value!r}")
    return ids


@click.command()
@run_argument
@click.option(
    "--to",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file.  [default: report.html in the run's folder]",
)
@click.option(
    "--games",
    metavar="N",
    callback=_parse_number,
    help="How many games to include for replay; 0 for none.  [default: 40]",
)
@click.option(
    "--only",
    metavar="ID,...|BOT+BOT",
    callback=_parse_games,
    help="Include these games for replay, or all games of two bots.",
)
@rating_options("match", "prior")
@click.pass_obj
def report(
    home: Path,
    /,
    run: str | None,
    path: Path | None,
    games: int | list[str] | None,
    only: list[str] | None,
    *,
    rating: Rating,
) -> None:
    """Write an HTML report of a run, by default the newest one. It is a single file that needs no
    other.

    It has the standings and all other tables with charts, the evidence of faults, and games to
    replay: close games, upsets, long and short ones, the best win and the worst loss of each bot,
    the latest of each line-up, and faults. Every bot has a page of its own in the file. It leaves
    out the games of deals that are still being played, and the seed until the run is complete.

    \b
    arena report
    arena report league --to league.html --games 100
    arena report league --match bird,lion
    arena report league --only bird/greedy-python+random-python/3/1
    arena report league --only greedy-python+random-python --to games.html
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.exports.report.report_page import DEFAULT_GAMES, report_page  # noqa: PLC0415

    if games is not None and only is not None:
        raise click.UsageError("--games and --only cannot be combined")
    opened = named_run(home, run)
    target = path or opened.folder / "report.html"
    wanted = only or (DEFAULT_GAMES if games is None else games)
    page = report_page(opened, wanted, rating.prior, rating.match)
    if path is None:
        write_durably(target, page.text.encode())
    else:
        write_target(path, page.text.encode())
    for note in page.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(target)
