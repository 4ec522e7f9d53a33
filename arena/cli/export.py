"""arena export: writes the tables of a run as files."""

from pathlib import Path

import click

from arena.cli.options import Rating, rating_options, run_argument
from arena.cli.tables import rate_run, show_notes
from arena.cli.terminal import say
from arena.commands.runs import named_run
from arena.exports import footer
from arena.exports.formats import DEFAULT, FORMATS, Format
from arena.records.regular import write_durably


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
    type=click.Choice(FORMATS),
    default=DEFAULT,
    show_default=True,
    help="The file format.",
)
@rating_options("anchors", "prior")
@click.pass_obj
def export(home: Path, /, run: str | None, folder: Path, form: Format, *, rating: Rating) -> None:
    """Write the tables of a run as CSV or Parquet files. Without RUN it is the newest one, and you
    get its standings, pairs, seats, faults, one row for every game, and the standings as a picture
    for a web page, standings.svg.

    Parquet files have the same content and are much faster to read; games.parquet also has
    the columns deck, moves, ms and notes. They need pyarrow: pip install 'qin-arena[parquet]'.

    \b
    arena export --to tables
    arena export league --to league-csv --anchor greedy-python=1500
    arena export self-play --to tables --format parquet
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.exports.files import export_run, parquet_library  # noqa: PLC0415
    from arena.exports.report.sections import standings_picture  # noqa: PLC0415

    source = named_run(home, run)
    if form == "parquet":
        parquet_library()
    tables, _ = rate_run(source, rating)
    say(f"run {source.folder}")
    for path in export_run(source, folder, tables, form):
        click.echo(path)
    picture = folder / "standings.svg"
    drawn = standings_picture(tables, f"{source.name}: {footer.counted_text(tables)}")
    write_durably(picture, drawn.encode())
    click.echo(picture)
    show_notes(tables)
