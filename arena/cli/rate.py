"""arena rate: ratings from any results."""

import sys
from pathlib import Path

import click

from arena.cli.options import anchor_option, prior_option, without_option
from arena.cli.showing import Showing, showing_options


@click.command()
@click.argument("file", metavar="FILE|-")
@showing_options
@click.option(
    "--covariance", is_flag=True, help="Also show the covariance of the ratings, in Elo squared."
)
@click.option("--no-seats", is_flag=True, help="Rate as if all seats were equally good.")
@anchor_option
@without_option
@prior_option
def rate(
    file: str,
    anchors: dict[str, float],
    without: tuple[str, ...],
    prior: float | None,
    *,
    showing: Showing,
    no_seats: bool,
) -> None:
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
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.tables import rate_results, show_tables  # noqa: PLC0415

    data = sys.stdin.buffer.read() if file == "-" else _read(Path(file))
    name = "stdin" if file == "-" else file
    tables = rate_results(data, name, prior, anchors, seats=not no_seats, without=without)
    show_tables(tables, {}, showing)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise click.BadParameter(
            f"expected a CSV file at {path}, found nothing", param_hint="FILE"
        ) from None
    except IsADirectoryError:
        raise click.BadParameter(
            f"expected a CSV file, got the folder {path}", param_hint="FILE"
        ) from None
