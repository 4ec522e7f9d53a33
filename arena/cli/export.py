"""arena export: all tables of a run as CSV files."""

from pathlib import Path

import click

from arena.cli.options import prior_option, run_folder


@click.command(short_help="Write a run's tables as CSV.")
@click.argument("run")
@click.option(
    "--to", "folder", required=True, type=click.Path(file_okay=False, path_type=Path), help="The folder for the files; made if need be."
)
@prior_option
@click.pass_obj
def export(home: Path, /, run: str, folder: Path, prior: float | None) -> None:
    """Write the tables of RUN as CSV: standings, pairs, seats, faults, and one row for every game.

    \b
    arena export league --to league-csv
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.errors import UserError  # noqa: PLC0415 - help must not wait for pandas
    from arena.exports.files import export_run  # noqa: PLC0415

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"expected to make the folder {folder}, got {error}") from error
    for path in export_run(run_folder(home, run), folder, prior):
        click.echo(path)
