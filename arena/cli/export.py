"""arena export: all tables of a run as CSV or Parquet files."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import anchor_option, prior_option, run_argument
from arena.commands.folders import run_folder

if TYPE_CHECKING:
    from arena.exports.files import Format


@click.command()
@run_argument
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder for the files; created if needed.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("csv", "parquet")),
    default="csv",
    show_default=True,
    help="The file format.",
)
@anchor_option
@prior_option
@click.pass_obj
def export(
    home: Path,
    /,
    run: str | None,
    folder: Path,
    form: "Format",
    anchors: dict[str, float],
    prior: float | None,
) -> None:
    """Write the tables of a run as CSV or Parquet files. Without RUN it is the newest one, and you
    get its standings, pairs, seats, faults, and one row for every game.

    Parquet files have the same content and are much faster to read; games.parquet also has
    the columns deck, moves, ms and notes. They need pyarrow: pip install 'qin-arena[parquet]'.

    \b
    arena export --to tables
    arena export league --to league-csv --anchor greedy-python=1500
    arena export self-play --to tables --format parquet
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Late: pandas is slow to load, and --help does not need it.
    from arena.cli.tables import export_tables  # noqa: PLC0415

    export_tables(run_folder(home, run), folder, form, prior, anchors)
