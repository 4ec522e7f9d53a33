"""arena report: a run as one HTML file."""

import re
from pathlib import Path

import click

from arena.cli.options import SCORING, match_option, prior_option, run_argument
from arena.commands.folders import run_folder
from arena.exports.report.preview import checked_address
from arena.records.regular import write_durably


def _parse_games(
    _: click.Context, __: click.Parameter, value: str | None
) -> int | list[str] | None:
    if value is None or value.isdecimal():
        return None if value is None else int(value)
    # The options of a bot in an id are separated by commas, too: those are followed by a '='.
    ids = [part.strip() for part in re.split(r",(?=[^/,=]*[/+])", value) if part.strip()]
    if not ids or not all("/" in name or "+" in name for name in ids):
        raise click.BadParameter(
            f"expected a number, game ids separated by commas, or bots as ONE+OTHER, got {value!r}"
        )
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
    metavar="N|ID,...|BOT+BOT",
    callback=_parse_games,
    help="How many games to include for replay, which ones, or those of two bots; 0 for none."
    "  [default: 40]",
)
@click.option(
    "--url",
    metavar="URL",
    help="Where the page will be on the web; writes a picture beside it, which chats show.",
)
@match_option(SCORING)
@prior_option
@click.pass_obj
def report(
    home: Path,
    /,
    run: str | None,
    path: Path | None,
    games: int | list[str] | None,
    url: str | None,
    match: list[str] | None,
    prior: float | None,
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
    arena report league --url https://example.org/league/report.html
    arena report league --games bird/greedy-python+random-python/3/1
    arena report league --games greedy-python+random-python --to games.html
    """  # noqa: D301 - \b is click's mark for lines to keep
    # Late: pandas and Jinja are slow to load, and --help does not need them.
    from arena.exports.report.make import DEFAULT_GAMES, Publication, report_page  # noqa: PLC0415

    published = Publication(checked_address(url), "") if url is not None else None
    folder = run_folder(home, run)
    target = path or folder / "report.html"
    card = target.with_name(f"{target.stem}-card.png")
    published = published and published._replace(card=card.name)
    wanted = DEFAULT_GAMES if games is None else games
    page = report_page(folder, wanted, prior, match, published=published)
    write_durably(target, page.text.encode())
    if page.card:
        write_durably(card.with_suffix(".svg"), page.card.encode())
    if page.png:
        write_durably(card, page.png)
    for note in page.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(target)
