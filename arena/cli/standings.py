"""arena standings: the table of a run."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.options import as_json, prior_option, run_argument, run_folder

if TYPE_CHECKING:
    from arena.ratings.tables import Tables


@click.command(short_help="Show the standings of a run.")
@run_argument
@click.option("--csv", "csv_path", metavar="FILE|-", help="Write the standings as CSV to a file, or '-' for stdout.")
@click.option("--pairs", is_flag=True, help="Show who did how against whom as well.")
@prior_option
@as_json
@click.pass_obj
def standings(home: Path, /, run: str | None, csv_path: str | None, prior: float | None, *, pairs: bool, as_json: bool) -> None:
    """Show the standings of a run, the newest by default; they are computed from its journal, also while it is being played.

    \b
    arena standings
    arena standings league --csv league.csv
    arena standings --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.exports.files import STANDINGS, csv_text, write_table  # noqa: PLC0415 - help must not wait for pandas
    from arena.exports.text import pairs_text  # noqa: PLC0415
    from arena.ratings.tables import run_tables  # noqa: PLC0415

    folder = run_folder(home, run)
    tables = run_tables(folder, prior)
    if csv_path == "-":
        click.echo(csv_text(tables.standings, STANDINGS), nl=False)
        return
    click.echo(f"run {folder}", err=True)
    print_standings(tables, as_json=as_json)
    if pairs and not as_json:
        click.echo(f"\n{pairs_text(tables.pairs)}")
    if csv_path:
        write_table(Path(csv_path), tables.standings, STANDINGS)
        click.echo(f"\nstandings: {csv_path}", err=True)


def print_standings(tables: "Tables", *, as_json: bool) -> None:
    """Prints the standings to stdout."""
    from arena.exports.files import STANDINGS, rounded  # noqa: PLC0415
    from arena.exports.text import standings_text  # noqa: PLC0415

    if as_json:
        click.echo(rounded(tables.standings, STANDINGS).to_json(orient="records", indent=2))
    else:
        click.echo(standings_text(tables))
