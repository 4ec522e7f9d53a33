"""The tables of a run on the terminal. Pandas is loaded here: commands import this when called."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from arena.cli.playing import said_when_slow
from arena.cli.terminal import columns_of, folded
from arena.errors import ConfigError, printable
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
from arena.exports.text import covariance_text, noun_of, pairs_text, standings_text
from arena.ratings.foreign import read_sheet
from arena.ratings.tables import Tables, rate_sheet, run_tables
from arena.records.runfile import read_run
from arena.tournament.session import Completeness, Session, completeness, schedule_of


def show_tables(
    tables: Tables,
    beside: Mapping[str, Any],
    csv_path: str | None,
    *,
    as_json: bool,
    pairs: bool,
    covariance: bool = False,
) -> None:
    """Prints tables, and writes the standings to a CSV file if asked to; ``beside`` goes at the
    start of the JSON.
    """
    if csv_path == "-":
        click.echo(csv_text(*standings_file(tables)), nl=False)
        show_notes(tables)
        return
    print_tables(tables, beside, as_json=as_json, pairs=pairs, covariance=covariance)
    if csv_path:
        write_table(Path(csv_path), *standings_file(tables))
        click.echo(f"\nstandings: {csv_path}", err=True)


def rate_run(
    folder: Path,
    prior: float | None,
    anchors: Mapping[str, float] | None = None,
    match: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> tuple[Tables, Completeness | None]:
    """The tables of a run, and how complete it is (None if this version cannot read the plan). The
    notes mention both.
    """
    info = read_run(folder)
    with said_when_slow(f"rating the games of {folder}"):
        tables = run_tables(folder, prior, anchors, match, info, without)
    try:
        plan = completeness(schedule_of(info), tables.blocks)
    except ConfigError as error:
        return (
            tables._replace(
                notes=[f"it is not known whether games are missing: {error}", *tables.notes]
            ),
            None,
        )
    return _with_note(tables, plan), plan


def export_tables(
    run: Path, folder: Path, form: Format, prior: float | None, anchors: Mapping[str, float]
) -> None:
    """Writes the tables of a run into a folder, and prints the files' paths."""
    if form == "parquet":
        parquet_library()
    tables, _ = rate_run(run, prior, anchors)
    click.echo(f"run {run}", err=True)
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
        click.echo(
            f"note: columns that are not used here: {printable(', '.join(sheet.unused))}", err=True
        )
    return rate_sheet(sheet, prior, anchors, seats=seats, without=without)


def _with_note(tables: Tables, plan: Completeness) -> Tables:
    """The tables with a note on missing games, if there are any."""
    if not plan.missing:
        return tables
    note = _missing_note(plan, is_match=bool(tables.match))
    return tables._replace(notes=[note, *tables.notes])


def _missing_note(plan: Completeness, *, is_match: bool) -> str:
    blocks = (
        ""
        if is_match
        else (
            "; incomplete blocks, which count with the games played so far:"
            f" {plan.incomplete_blocks}"
        )
    )
    return f"{plan.missing} of the {plan.games} planned games are missing{blocks}"


def conclude(session: Session, prior: float | None, *, as_json: bool) -> None:
    """Writes and prints the tables of a run that has just been played."""
    with said_when_slow(f"rating the games of {session.folder}"):
        tables = run_tables(session.folder, prior, info=session.info)
    plan = completeness(session.schedule, tables.blocks)
    tables = _with_note(tables, plan)
    path = write_standings(session.folder, tables)
    print_tables(tables, {"plan": plan._asdict()}, as_json=as_json)
    click.echo(f"\nstandings: {path}", err=True)


def print_tables(
    tables: Tables,
    beside: Mapping[str, Any],
    *,
    as_json: bool,
    pairs: bool = False,
    covariance: bool = False,
) -> None:
    """Prints the standings, and anything else asked for, to stdout; ``beside`` goes at the start of
    the JSON.
    """
    if as_json:
        content = {**beside, **standings_object(tables, pairs=pairs, covariance=covariance)}
        click.echo(msgspec.json.format(msgspec.json.encode(content), indent=2))
        return
    width = columns_of(sys.stdout)
    click.echo(folded(standings_text(tables, width), width))
    if pairs:
        click.echo(f"\n{pairs_text(tables.pairs, noun_of(tables))}")
    if covariance:
        click.echo(f"\n{covariance_text(tables.covariance)}")


def show_notes(tables: Tables) -> None:
    """Prints the notes to stderr, for output that has no room for them."""
    for note in tables.notes:
        click.echo(f"note: {printable(note)}", err=True)
