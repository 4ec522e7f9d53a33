"""arena export: all tables of a run as CSV files."""

from pathlib import Path

import click

from arena.cli.options import anchor_option, prior_option, run_argument, run_folder


@click.command(short_help="Write a run's tables as CSV.")
@run_argument
@click.option(
    "--to", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder for the files; made if need be."
)
@anchor_option
@prior_option
@click.pass_obj
def export(home: Path, /, run: str | None, folder: Path, anchors: dict[str, float], prior: float | None) -> None:
    """Write the tables of a run, the newest by default, as CSV: standings, pairs, seats, faults, and one row for every game.

    \b
    arena export --to tables
    arena export league --to league-csv --anchor greedy-python=1500
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.cli.standings import rate_run, show_notes  # noqa: PLC0415 - help must not wait for pandas
    from arena.exports.files import export_run  # noqa: PLC0415

    chosen = run_folder(home, run)
    tables, _ = rate_run(chosen, prior, anchors)
    click.echo(f"run {chosen}", err=True)
    for path in export_run(chosen, folder, tables):
        click.echo(path)
    show_notes(tables)
