"""The tables of a run on the terminal. Pandas is loaded here: commands import this when called."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from arena.cli.playing import said_when_slow
from arena.cli.showing import Showing, tell_json
from arena.cli.terminal import columns_of, folded, is_unicode, say
from arena.commands.rating import rated_run, rated_session
from arena.errors import printable
from arena.exports.files import (
    Format,
    csv_text,
    export_run,
    parquet_library,
    standings_file,
    standings_object,
    write_standings,
    write_table,
)
from arena.exports.overview import overview_text
from arena.exports.pen import ASCII, Pen
from arena.exports.text import covariance_text, noun_of, pairs_text, standings_parts
from arena.ratings.foreign import read_sheet
from arena.ratings.tables import Opinion, Tables, rate_sheet
from arena.tournament.session import Completeness, Session

PAINTS: Mapping[str, Mapping[str, Any]] = {
    "head": {"bold": True},
    "bar": {"fg": "cyan"},
    "zero": {"dim": True},
}


def show_tables(tables: Tables, beside: Mapping[str, Any], showing: Showing) -> None:
    """Prints tables, and writes the standings to a CSV file if asked to; ``beside`` goes at the
    start of the JSON.
    """
    if showing.csv_path == "-":
        click.echo(csv_text(*standings_file(tables)), nl=False)
        show_notes(tables)
        return
    print_tables(tables, beside, showing)
    if showing.csv_path:
        write_table(Path(showing.csv_path), *standings_file(tables))
        say(f"\nstandings: {showing.csv_path}")


def rate_run(
    folder: Path,
    prior: float | None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    without: Sequence[str] = (),
    by: Opinion = "wins",
) -> tuple[Tables, Completeness | None]:
    """`rated_run`, said when it is slow."""
    with said_when_slow(f"rating the games of {folder}"):
        return rated_run(folder, prior, anchors, match, without, by)


def export_tables(
    run: Path, folder: Path, form: Format, prior: float | None, anchors: Mapping[str, float]
) -> None:
    """Writes the tables of a run into a folder, and prints the files' paths."""
    if form == "parquet":
        parquet_library()
    tables, _ = rate_run(run, prior, anchors)
    say(f"run {run}")
    for path in export_run(run, folder, tables, form):
        click.echo(path)
    show_notes(tables)


def rate_results(
    data: bytes,
    name: str,
    prior: float | None,
    anchors: Mapping[str, float],
    *,
    seats: bool,
    without: Sequence[str] = (),
) -> Tables:
    """The tables of results in a CSV file of this name, in which each row is a game."""
    sheet = read_sheet(data, name)
    if sheet.unused:
        say(f"note: columns that are not used here: {printable(', '.join(sheet.unused))}")
    return rate_sheet(sheet, prior, anchors, seats=seats, without=without)


def conclude(session: Session, prior: float | None, *, as_json: bool) -> None:
    """Writes and prints the tables of a run that has just been played."""
    with said_when_slow(f"rating the games of {session.folder}"):
        tables, plan = rated_session(session, prior)
    path = write_standings(session.folder, tables)
    print_tables(tables, {"plan": plan._asdict()}, Showing(as_json=as_json))
    say(f"\nstandings: {path}")


def conclude_league(folder: Path, *, is_shown: bool) -> None:
    """Writes the tables of a league that has just been played, and prints them if wanted."""
    tables, _ = rate_run(folder, None)
    path = write_standings(folder, tables)
    if is_shown:
        print_tables(tables, {}, Showing())
        say(f"\nstandings: {path}")


def print_tables(tables: Tables, beside: Mapping[str, Any], showing: Showing) -> None:
    """Prints the standings, and anything else asked for, to stdout; ``beside`` goes at the start of
    the JSON.
    """
    if showing.as_json:
        shown = standings_object(tables, pairs=showing.pairs, covariance=showing.covariance)
        tell_json({**beside, **shown})
        return
    click.echo(screen_text(tables, wide=showing.wide))
    if showing.pairs:
        width = columns_of(sys.stdout)
        click.echo(f"\n{folded(pairs_text(tables.pairs, noun_of(tables), width), width)}")
    if showing.covariance:
        click.echo(f"\n{covariance_text(tables.covariance)}")


def screen_text(tables: Tables, *, wide: bool = False) -> str:
    """The standings as the terminal can show them, with all columns if they are ``wide``."""
    width = columns_of(sys.stdout)
    if wide:
        table, below = standings_parts(tables, width)
        return f"{table}\n{folded(below, width)}"
    pen = Pen() if is_unicode(sys.stdout) else ASCII
    table, below = overview_text(tables, width, pen._replace(paint=_paint)).split("\n\n", 1)
    return f"{table}\n\n{folded(below, width)}"


def _paint(text: str, what: str) -> str:
    return click.style(text, **PAINTS[what])


def show_notes(tables: Tables) -> None:
    """Prints the notes to stderr, for output that has no room for them."""
    for note in tables.notes:
        say(f"note: {printable(note)}")
