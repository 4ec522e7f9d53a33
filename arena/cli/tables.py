"""The commands that show tables: those of a run, those behind them, those of any results; and how
a run or a league that has just been played shows its own.
"""

import re
import sys
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import DONE, FAILED, NO, UNDECIDED
from arena.cli.main import show_error
from arena.cli.options import (
    Rating,
    Showing,
    as_json,
    rating_options,
    run_argument,
    standings_options,
    tell_json,
)
from arena.cli.terminal import (
    columns_of,
    folded,
    is_unicode,
    said_when_slow,
    say,
    tell,
    tell_with_commands,
)
from arena.commands.members import is_now
from arena.commands.runs import rated_run, run_folder
from arena.errors import ConfigError, UserError, did_you_mean, printable
from arena.exports import text
from arena.exports.grid import ASCII, Pen
from arena.ratings.columns import BOUNDS
from arena.records.league import Member
from arena.records.regular import write_durably
from arena.records.runfile import read_run
from arena.tournament.runner import FIRST_GAMES
from arena.tournament.runs import Completeness

if TYPE_CHECKING:
    from arena.exports.files import Format
    from arena.ratings.history import History
    from arena.ratings.tables import Tables

# Pandas and Jinja are slow to load, and --help does without: what needs them is imported late.

MORE_GAMES = 400
"""A number to suggest: with two that are about equal, it leaves some 30 Elo to either side."""
PAINTS: Mapping[str, Mapping[str, Any]] = {
    "head": {"bold": True},
    "bar": {"fg": "cyan"},
    "zero": {"dim": True},
}


@click.command()
@run_argument
@standings_options
@rating_options("match", "anchors", "without", "prior")
@click.pass_obj
def standings(home: Path, /, run: str | None, *, rating: Rating, showing: Showing) -> None:
    """Show the standings of a run, by default the newest one. They are computed from its journal,
    even while it is being played.

    A match counts once all its rounds have been played: the same bots in the same seats on the same
    deal, one game for each of the boards.

    \b
    arena standings
    arena standings league --wide --pairs
    arena standings league --csv league.csv
    arena standings league --anchor greedy-python=1500
    arena standings league --match bird,lion
    arena standings league --without random-python
    arena standings --csv - | column -s, -t
    """  # noqa: D301 - \b is click's mark for lines to keep
    folder = run_folder(home, run)
    own = folder / "standings.csv"
    without = ", ".join(rating.without)
    if without and showing.csv_path and Path(showing.csv_path).resolve() == own.resolve():
        raise UserError(
            f"expected another file than {own} for a table without {without}",
            "standings.csv of a run counts all its games",
        )
    tables, plan = rate_run(folder, rating)
    say(f"run {folder}")
    show_tables(tables, showing, plan=plan and plan._asdict())


@click.command()
@click.argument("file", metavar="FILE|-")
@standings_options
@click.option("--no-seats", is_flag=True, help="Rate as if all seats were equally good.")
@rating_options("anchors", "without", "prior")
def rate(file: str, *, rating: Rating, no_seats: bool, showing: Showing) -> None:
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
        found = f", got the folder {path}" if path.is_dir() else f" at {path}, found nothing"
        raise click.BadParameter(f"expected a CSV file{found}", param_hint="FILE")
    data = sys.stdin.buffer.read() if is_stdin else path.read_bytes()
    sheet = read_sheet(data, "stdin" if is_stdin else file)
    if sheet.unused:
        say(f"note: columns that are not used here: {printable(', '.join(sheet.unused))}")
    prior, anchors, _, without = rating
    rated = tables.rate_sheet(sheet, prior, anchors, seats=not no_seats, without=without)
    show_tables(rated, showing)


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
@rating_options("anchors", "prior")
@click.pass_obj
def export(home: Path, /, run: str | None, folder: Path, form: "Format", *, rating: Rating) -> None:
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

    source = run_folder(home, run)
    if form == "parquet":
        parquet_library()
    tables, _ = rate_run(source, rating)
    say(f"run {source}")
    for path in export_run(source, folder, tables, form):
        click.echo(path)
    picture = folder / "standings.svg"
    drawn = standings_picture(tables, f"{source.name}: {text.counted_text(tables)}")
    write_durably(picture, drawn.encode())
    click.echo(picture)
    show_notes(tables)


@click.command()
@run_argument
@click.option("--bot", metavar="NAME", help="Also show each opponent of one bot.")
@rating_options("without", "prior")
@as_json
@click.pass_obj
def analyse(
    home: Path, /, run: str | None, bot: str | None, *, rating: Rating, as_json: bool
) -> None:
    """Look behind the standings of a run, by default the newest one.

    Does it matter who else sits at the table? What is each seat worth? How do games end? How long
    does each bot think, and on which machines were games played? Did anybody do better on deals
    that it had met before?

    \b
    arena analyse
    arena analyse league --bot my-bot
    arena analyse league --json
    arena analyse league --without random-python
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.exports.analysis import analysis_object, analysis_text  # noqa: PLC0415
    from arena.ratings.analysis import analyse_run  # noqa: PLC0415

    folder = run_folder(home, run)
    say(f"run {folder}")
    if read_run(folder).config.get("match"):
        say("note: the standings of this run count matches, but here each game counts separately")
    found = analyse_run(folder, rating.prior, bot, rating.without)
    if as_json:
        tell_json(analysis_object(found))
    else:
        tell_with_commands(printable(analysis_text(found, columns_of(sys.stdout)), keep="\n"))


def _parse_number(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> int | list[str] | None:
    """A number of games, or what ``--only`` takes, as in earlier versions."""
    if value is None or value.isdecimal():
        return None if value is None else int(value)
    if "/" in value or "+" in value:
        return _parse_games(context, parameter, value)
    raise click.BadParameter(f"expected a whole number of at least 0, got {value!r}")


def _parse_games(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """The ids of games, or two bots whose games are meant."""
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
    from arena.exports.report.make import DEFAULT_GAMES, report_page  # noqa: PLC0415

    if games is not None and only is not None:
        raise click.UsageError("expected --games or --only, got both")
    folder = run_folder(home, run)
    target = path or folder / "report.html"
    wanted = only or (DEFAULT_GAMES if games is None else games)
    page = report_page(folder, wanted, rating.prior, rating.match)
    write_durably(target, page.text.encode())
    for note in page.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(target)


def show_tables(tables: "Tables", showing: Showing, **beside: object) -> None:
    """Prints the standings, and anything else asked for, and writes them to a CSV file if asked to;
    ``beside`` goes at the start of the JSON.
    """
    from arena.exports.files import csv_text, standings_file, standings_object  # noqa: PLC0415

    showing.tell(
        "\nstandings",
        csv=lambda: csv_text(*standings_file(tables)),
        value=lambda: {**beside, **standings_object(tables, pairs=showing.pairs)},
        show=lambda: _print(tables, showing),
    )
    if showing.csv_path == "-":
        show_notes(tables)


def _print(tables: "Tables", showing: Showing) -> None:
    width = columns_of(sys.stdout)
    if showing.wide:
        table, below = text.standings_parts(tables, width)
    else:
        pen = Pen() if is_unicode(sys.stdout) else ASCII
        pen = pen._replace(paint=lambda text, what: click.style(text, **PAINTS[what]))
        table, below = text.overview_text(tables, width, pen).split("\n\n", 1)
        table += "\n"
    click.echo(f"{table}\n{folded(below, width)}")
    if showing.pairs:
        click.echo(f"\n{folded(text.pairs_text(tables.pairs, text.noun_of(tables), width), width)}")


def show_notes(tables: "Tables") -> None:
    """Prints the notes to stderr, for output that has no room for them."""
    for note in tables.notes:
        say(f"note: {printable(note)}")


def rate_run(folder: Path, rating: Rating) -> "tuple[Tables, Completeness | None]":
    """`rated_run`, said when it is slow."""
    with said_when_slow(f"rating the games of {folder}"):
        return rated_run(folder, *rating)


def conclude(folder: Path, showing: Showing | None, prior: float | None = None) -> list[str]:
    """Writes the tables of a run that has just been played, and shows them if wanted; returns the
    bots that forfeited each of their games, which were enough to tell.
    """
    from arena.exports.files import write_standings  # noqa: PLC0415

    tables, plan = rate_run(folder, Rating(prior))
    write_standings(folder, tables)
    if showing is not None:
        show_tables(tables, showing, plan=plan and plan._asdict())
    rows = tables.standings
    return list(rows["bot"][(rows["games"] >= FIRST_GAMES) & (rows["forfeits"] == rows["games"])])


def show_history(folder: Path, bot: str | None, showing: Showing) -> None:
    """How the versions in a league came on, or those of one bot. Raises ConfigError."""
    from arena.exports import analysis  # noqa: PLC0415

    found = _history(folder)
    known = dict.fromkeys([*found.table["bot"], *found.table["version"]])
    if bot is not None and bot not in known:
        raise ConfigError(
            f"expected a bot of the league {folder.name}, got {bot!r}",
            f"{did_you_mean(bot, known)}'arena league history' shows all",
        )
    found = found if bot is None else found.of(bot)

    def show() -> None:
        click.echo(f"league {folder}", err=True)
        tell(analysis.history_text(found))
        pairs = found.table.loc[found.table["before"] != "", ["version", "before"]]
        if bot is not None and len(pairs):
            tell("\nEvery decision in which a version differs from the one before it:")
            for version, before in pairs.itertuples(index=False):
                click.echo(f"  {analysis.regress_command(folder.name, version, before)}")

    showing.tell(
        "history",
        csv=lambda: analysis.history_csv(found),
        value=lambda: {"league": folder.name, **analysis.history_object(found)},
        show=show,
    )


def _history(folder: Path) -> "History":
    from arena.ratings.history import read_history  # noqa: PLC0415

    with said_when_slow(f"rating the games of {folder}"):
        return read_history(folder)


def show_place(folder: Path, member: Member) -> int:
    """Says where a version stands, and what it gained; returns the exit status."""
    if not member.plays:
        why = f": {member.why}" if member.why else ""
        evidence = f"{folder / 'faults'} has the evidence of its faults"
        cure = evidence if member.status == "aside" else ""
        show_error(UserError(f"{member.bot} is {is_now(member.status)}{why}", cure))
        return FAILED
    if member.is_waiting:
        cure = f"'arena league run {folder.name}' goes on placing it"
        show_error(UserError(f"{member.bot} is not placed yet", cure))
        return FAILED
    history = _history(folder)
    own = history.of(member.bot)
    (row,) = own.table.to_dict("records")
    tell("\n".join([_place_text(history, row, folder.name), *own.sentences]))
    if not row["before"]:
        return DONE
    if isfinite(row["gain_error"]) and abs(row["gain"]) > row["gain_error"]:
        return DONE if row["gain"] > 0 else NO
    say(
        f"whether it is better than {row['before']} is not clear yet: repeat this with --games"
        f" {MORE_GAMES}, which lets the two meet, or 'arena league run {folder.name}'"
    )
    return UNDECIDED


def _place_text(history: "History", row: Any, league: str) -> str:
    """``my-bot@2 is placed: 312 +/- 48 Elo, place 4 of 12 in ladder, after 208 games``."""
    if not isfinite(row["elo"]):
        return f"{row['version']} has no rating in {league} after {row['games']} games"
    half = (row["elo_high"] - row["elo_low"]) / 2
    bound = f"{row['mark']} " if row["mark"] in BOUNDS else ""
    error = f" +/- {half:.0f}" if isfinite(half) else ""
    # A bound says nothing of a place, be it this one's or another's.
    table = history.table
    rated = table["elo"][table["elo_low"].notna() & table["elo_high"].notna()]
    better = int((rated > row["elo"]).sum())
    place = f"place {1 + better} of {len(rated)} in {league}" if not bound else f"in {league}"
    return (
        f"{row['version']} is placed: {bound}{row['elo']:.0f}{error} Elo, {place}, after"
        f" {row['games']} games"
    )
