"""arena rate: rates the results in a CSV file."""

import sys
from pathlib import Path

import click

from arena.cli.options import OutputOptions, Rating, rating_options, standings_options
from arena.cli.tables import show_tables
from arena.cli.terminal import say
from arena.errors import printable


@click.command()
@click.argument("file", metavar="FILE|-")
@standings_options
@click.option("--no-seats", is_flag=True, help="Rate as if all seats were equally good.")
@rating_options("anchors", "without", "prior")
def rate(file: str, *, rating: Rating, no_seats: bool, output: OutputOptions) -> None:
    """Rate the results in a CSV file. The games may come from anywhere: one row per game, such as
    below, gives you the tables of 'arena standings'. FILE '-' is stdin.

    \b
    block,bot_0,bot_1,bot_2,share_0,share_1,share_2
    deal-1,ann,bob,,1,0,
    deal-1,bob,ann,,0.5,0.5,
    deal-2,ann,bob,cy,0,0,1

    bot_0 to bot_3 are seated in that order; a file may mix games with two, three and four players.
    Each of m winners gets a share of 1/m, the others 0. Rows with the same block share their luck,
    such as a deal or an opening, and error bars are clustered by block. Without a block column,
    every game counts as its own block.

    \b
    arena rate results.csv
    arena rate results.csv --anchor ann=1500 --pairs
    arena export --to tables && arena rate tables/games.csv --csv -
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.ratings import tables  # noqa: PLC0415
    from arena.ratings.sheet import read_sheet  # noqa: PLC0415

    path = Path(file)
    is_stdin = file == "-"
    if not is_stdin and (path.is_dir() or not path.exists()):
        got = f", got the folder {path}" if path.is_dir() else f" at {path}, found nothing"
        raise click.BadParameter(f"expected a CSV file{got}", param_hint="FILE")
    data = sys.stdin.buffer.read() if is_stdin else path.read_bytes()
    sheet = read_sheet(data, "stdin" if is_stdin else file)
    if sheet.unused:
        say(f"note: columns that are not used here: {printable(', '.join(sheet.unused))}")
    prior, anchors, _, without = rating
    rated = tables.rate_sheet(sheet, prior, anchors, seats=not no_seats, without=without)
    show_tables(rated, output)
