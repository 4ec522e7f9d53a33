"""Makes the report of a run as the text of a web page."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from arena import __version__
from arena.exports.footer import CLOCKS, counted_text, gain_lines, noun_of, share_lines
from arena.exports.grid import counted
from arena.exports.report import sections
from arena.exports.report.again import repeat_command
from arena.exports.report.catalogue import catalogue_of
from arena.exports.report.choice import choose
from arena.exports.report.comparison import comparison_of
from arena.exports.report.game_page import game_page
from arena.exports.report.material import Material, gather
from arena.exports.report.meetings import meetings_of, opponents_of
from arena.exports.report.page import ALONE, OnePage, PageSetting, render
from arena.exports.report.places import lead, standings
from arena.exports.report.profiles import Profiles
from arena.exports.report.scan import Reasons, chosen_records
from arena.exports.report.viewer_data import Album, album_of, reviews_of, viewer_values
from arena.players.labels import has_odds
from arena.rules.explain import every_rule
from arena.tournament.run import Run

DEFAULT_GAMES = 40


class Heading(NamedTuple):
    """The head of a report that is not about a run of the reader's own: its ``title``, and
    ``links`` to this report and those beside it, as (address, text); ``here`` is the address of
    this report.
    """

    title: str
    links: Sequence[tuple[str, str]]
    here: str


class Report(NamedTuple):
    """A finished page (``text``), and ``notes``, sentences for the user who made it."""

    text: str
    notes: list[str]


def report_page(
    run: Run,
    wanted: int | list[str] = DEFAULT_GAMES,
    prior: float | None = None,
    match: Sequence[str] | None = None,
    setting: PageSetting = ALONE,
    heading: Heading | None = None,
) -> Report:
    """The report of a run. ``wanted`` is the largest number of games in it, which are then chosen,
    or a list of what to show, see `choice.choose`. ``prior`` is the weight of a prior that gives
    every bot a rating (None: no prior); ``match`` are the boards of the matches to score by (None:
    what run.json says; empty: single games); ``setting`` is the kind of page. With a ``heading``
    the report is about a run that the reader does not have, and names no commands that need it. The
    report of a game that a person played is the page of that game.

    Raises RunError if the run cannot be read or does not have a wanted game, NoAnswerError if no
    finite ratings fit, and UserError for boards or wanted bots that the run does not have.
    """
    of_person = run.person_game()
    if of_person:
        return Report(game_page(run, of_person.record, setting), notes=[])
    material = gather(run, prior, match)
    chosen, (reviews, damage) = choose(material, wanted), reviews_of(run)
    records = chosen_records(material.scan, chosen)
    album = album_of(records, material.run.info.boards, reviews, material.secrecy.is_open_game)
    values = {**_values(material, album), "lead": _lead(material, chosen), "heading": heading}
    notes = []
    if exposed := sum(bool(material.is_open[game]) for game in chosen):
        games = f"{counted(exposed, 'game')} of deals that are still being played"
        notes.append(f"{games}: they reveal tiles to come")
    if album.crowded_out:
        notes.append(f"{counted(album.crowded_out, 'game')} left out, because the page is full")
    notes += [f"left out, because it could not be replayed: {what}" for what in album.damaged]
    notes += [f"grades are left out: {damage}"] if damage else []
    return Report(render("report.html", values, setting), notes)


def _lead(material: Material, chosen: Reasons) -> dict[str, Any]:
    """The values for the first part of the report; the first sentence of a comparison is its
    verdict.
    """
    values = lead(material, chosen)
    comparison = comparison_of(material.run)
    if comparison:
        comparison.count(material.scan)
        return values | {"sentence": comparison.sentence, "podium": []}
    return values


def facts_of(material: Material) -> dict[str, Any]:
    """Values for the templates of the run whose data are ``material``; they do not depend on which
    games the page has.
    """
    tables = material.tables
    history = material.history
    return {
        "name": material.run.name,
        "version": __version__,
        "games": len(material.is_open),
        "counted": counted_text(tables),
        "noun": noun_of(tables),
        "is_match": bool(tables.match),
        "deals": tables.clusters,
        "secrecy": material.secrecy,
        "held_back": int(material.is_open.sum()),
        "sentences": tables.sentences,
        "notes": [*share_lines(tables), *gain_lines(tables), *tables.notes],
        "is_comparison": material.run.info.is_comparison,
        "standings": standings(material),
        "has_play": False,
        "is_broadcast": False,
        "versions": history and sections.versions(history),
        "pairs": sections.pairs(material),
        "faults": sections.faults(material),
    }


def _values(material: Material, album: Album) -> dict[str, Any]:
    """The values for the templates of the report, of the run and of the games in ``album``."""
    facts = facts_of(material)
    info = material.run.info
    meetings = meetings_of(album.games)
    opponents = opponents_of(material, meetings)
    shown = [game["id"] for game in album.games]
    seed = info.seed if material.secrecy.is_finished else None
    return {
        **facts,
        "addresses": OnePage(material.run.name, material.bots, opponents, shown),
        "catalogue": catalogue_of(album.games, material.elo),
        "profiles": [*Profiles(material, opponents, meetings)],
        "most_rows": sections.MAX_ROWS,
        "more": max(2 * DEFAULT_GAMES, 2 * len(shown)),
        "bots": sections.bots_of(material),
        "info": info,
        "scan": material.scan,
        "odds": [bot.name for bot in info.bots if has_odds(bot.name)],
        "clock": CLOCKS.get(info.clock, "-"),
        "seed": seed,
        "command": repeat_command(info, seed=seed),
        "seats": sections.seats(material),
        "left": sections.pagodas_left(material),
        "lengths": sections.lengths(material),
        "thinking": sections.thinking(material),
        **viewer_values(album, sections.details_of(facts["faults"])),
        "rules": [*every_rule().values()],
        "rules_title": "Rules of Qin",
    }
