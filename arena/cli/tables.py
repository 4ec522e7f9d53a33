"""How commands show tables: standings on the terminal, as CSV and as JSON; and for leagues, the
history of versions and the place of one version.
"""

import sys
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli import DONE, FAILED, NO, UNDECIDED
from arena.cli.main import show_error
from arena.cli.options import OutputOptions, Rating
from arena.cli.terminal import announced_if_slow, columns_of, folded, is_unicode, say, tell
from arena.commands.members import is_now
from arena.commands.runs import rated_run
from arena.errors import ConfigError, UserError, did_you_mean, printable
from arena.exports import footer, text
from arena.exports.grid import ASCII, Pen
from arena.ratings.column import BOUNDS
from arena.records.league import Member
from arena.tournament.run import Run
from arena.tournament.runs import Completeness

if TYPE_CHECKING:
    from arena.ratings.history import History
    from arena.ratings.tables import Tables

# Modules that load pandas, Jinja or multiprocessing are imported in functions, because these are
# slow to load and --help does not need them.

MORE_GAMES = 400
"""A number of games to suggest: between two bots of about equal strength, it leaves an error bar of
some 30 Elo.
"""
WIDEST_TABLE = 100
"""The most columns that the table of `--wide` takes on a terminal."""
PAINTS: Mapping[str, Mapping[str, Any]] = {
    "head": {"bold": True},
    "bar": {"fg": "cyan"},
    "zero": {"dim": True},
}
"""The colours and weights of parts of a drawn table."""


def show_tables(tables: "Tables", output: OutputOptions, **beside: object) -> None:
    """Prints the standings in the form that ``output`` asks for, with the table of pairs if it asks
    for that, and writes a CSV file if it asks for one. ``beside`` has entries for the start of the
    JSON.
    """

    def standings_csv() -> str:
        from arena.exports.files import csv_text, standings_file  # noqa: PLC0415

        return csv_text(*standings_file(tables))

    def value() -> dict[str, object]:
        from arena.exports.files import standings_object  # noqa: PLC0415

        return {**beside, **standings_object(tables, pairs=output.pairs)}

    output.tell("\nstandings", csv=standings_csv, value=value, show=lambda: _print(tables, output))
    if output.csv_path == "-":
        show_notes(tables)


def _print(tables: "Tables", output: OutputOptions) -> None:
    """Prints the standings on the terminal, with the text below them, and the results of each pair
    if ``output`` asks for them.
    """
    width = columns_of(sys.stdout)
    if output.wide:
        table, below = text.standings_parts(tables, width and min(width, WIDEST_TABLE))
    else:
        pen = Pen() if is_unicode(sys.stdout) else ASCII
        pen = pen._replace(paint=lambda text, what: click.style(text, **PAINTS[what]))
        table, below = text.overview_text(tables, width, pen).split("\n\n", 1)
        table += "\n"
    click.echo(f"{table}\n{folded(below, width)}")
    if output.pairs:
        pairs = text.pairs_text(tables.data["pairs"].rows(), footer.noun_of(tables), width)
        click.echo(f"\n{folded(pairs, width)}")


def show_notes(tables: "Tables") -> None:
    """Prints the notes of ``tables`` to stderr, for output that leaves them out, such as files."""
    for note in tables.notes:
        say(f"note: {printable(note)}")


def rate_run(run: Run, rating: Rating) -> "tuple[Tables, Completeness | None]":
    """The result of `rated_run` for a run with the options ``rating``; a line is printed if that
    takes long.
    """
    with announced_if_slow(f"rating the games of {run.folder}"):
        return rated_run(run, *rating)


def write_and_show_standings(
    run: Run, output: OutputOptions | None, prior: float | None = None
) -> list[str]:
    """Writes the tables of a run that has just been played. Shows them in the form of ``output``,
    None for not at all; as text, the results of a challenger against each opponent follow. Returns
    the bots that forfeited each of their games, if these were at least `FIRST_GAMES`.
    """
    from arena.exports.written import write_standings  # noqa: PLC0415
    from arena.tournament.runner import FIRST_GAMES  # noqa: PLC0415

    tables, plan = rate_run(run, Rating(prior))
    write_standings(run, tables)
    if output is not None:
        show_tables(tables, output, plan=plan and plan._asdict())
        is_text = not (output.as_json or output.csv_path == "-" or output.pairs)
        if run.config.challenger and is_text:
            _show_opponents(tables, run.config.challenger)
    broken = []
    for row in tables.data["standings"].rows():
        if row["games"] >= FIRST_GAMES and row["forfeits"] == row["games"]:
            broken.append(row["bot"])
    return broken


def _show_opponents(tables: "Tables", challenger: str) -> None:
    """Prints the results of the bot ``challenger`` against each opponent."""
    own = [row for row in tables.data["pairs"].rows() if row["bot"] == challenger]
    if not own:
        return
    width = columns_of(sys.stdout)
    text_of_pairs = text.pairs_text(own, footer.noun_of(tables), width)
    click.echo(f"\n{printable(challenger)} against each opponent:\n{folded(text_of_pairs, width)}")


def show_history(run: Run, bot: str | None, output: OutputOptions) -> None:
    """Prints how the ratings of versions in a league developed: of the bot or version ``bot``, or
    of all if that is None. Raises ConfigError.
    """
    from arena.exports import history_text, review_text  # noqa: PLC0415

    history = _history(run)
    known = dict.fromkeys([*history.table["bot"], *history.table["version"]])
    if bot is not None and bot not in known:
        raise ConfigError(
            f"the league {run.name} has no bot {bot!r}",
            f"{did_you_mean(bot, known)}'arena league history' shows all",
        )
    history = history if bot is None else history.of(bot)

    def show() -> None:
        click.echo(f"league {run.folder}", err=True)
        tell(history_text.history_text(history, columns_of(sys.stdout)))
        pairs = history.table.loc[history.table["before"] != "", ["version", "before"]]
        if bot is not None and len(pairs):
            tell("\nEvery decision in which a version differs from the one before it:")
            for version, before in pairs.itertuples(index=False):
                click.echo(f"  {review_text.regress_command(run.name, version, before)}")

    output.tell(
        "history",
        csv=lambda: history_text.history_csv(history),
        value=lambda: {"league": run.name, **history_text.history_object(history)},
        show=show,
    )


def _history(run: Run) -> "History":
    """The history of a league, read and rated now; a line is printed if that takes long. Raises
    RunError, NoAnswerError.
    """
    from arena.ratings.history import read_history  # noqa: PLC0415

    with announced_if_slow(f"rating the games of {run.folder}"):
        return read_history(run.folder, run.info)


def show_place(folder: Path, member: Member) -> int:
    """Prints the rating of a member of the league in ``folder`` and what it gained over the version
    before it. Returns the exit status: DONE if it is better than that version or there is none, NO
    if it is worse, UNDECIDED if that is not clear, and FAILED if it is not placed or plays no more.
    """
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
    from arena.exports import history_text  # noqa: PLC0415

    history = _history(Run(folder))
    own = history.of(member.bot)
    (row,) = own.table.to_dict("records")
    tell("\n".join([_place_text(history, row, folder.name), *own.sentences]))
    if isfinite(row["gain_likely"]):
        tell(f"likely: {history_text.likely_text(history)}")
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
    """A sentence about the version in ``row``, a row of the history, such as ``my-bot@2 is placed:
    312 +/- 48 Elo, place 4 of 12 in ladder, after 208 games``.
    """
    if not isfinite(row["elo"]):
        return f"{row['version']} has no rating in {league} after {row['games']} games"
    half = (row["elo_high"] - row["elo_low"]) / 2
    bound = f"{row['mark']} " if row["mark"] in BOUNDS else ""
    error = f" +/- {half:.0f}" if isfinite(half) else ""
    # A version with a bound instead of a rating has no place, and does not count for other places.
    table = history.table
    rated = table["elo"][table["elo_low"].notna() & table["elo_high"].notna()]
    better = int((rated > row["elo"]).sum())
    place = f"place {1 + better} of {len(rated)} in {league}" if not bound else f"in {league}"
    return (
        f"{row['version']} is placed: {bound}{row['elo']:.0f}{error} Elo, {place}, after"
        f" {row['games']} games"
    )
