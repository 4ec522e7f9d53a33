"""Makes the report of a run or the replay of a game: from a run's folder to the text of a page."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from arena import __version__
from arena.errors import RunError
from arena.exports.history import versions
from arena.exports.report import sections
from arena.exports.report.about import bots_of, repeat_command, settings_of
from arena.exports.report.addresses import Around, OnePage
from arena.exports.report.card import card_of, has_letters, png_of
from arena.exports.report.courses import courses_of
from arena.exports.report.drawing import empty_board, parts
from arena.exports.report.faults import fault_object, faults
from arena.exports.report.games import Album, album_of, chosen_records
from arena.exports.report.lead import best_record, lead_of
from arena.exports.report.material import Material, choose, gather
from arena.exports.report.page import ALONE, Setting, render, rules_named
from arena.exports.report.preview import Preview, beside
from arena.exports.report.profiles import Profiles, meetings_of, opponents_of
from arena.exports.report.scan import Forfeited
from arena.exports.report.secrecy import is_deal_open
from arena.exports.report.stderr import Shown, with_stderr
from arena.exports.report.summary import summary_of
from arena.exports.report.words import counted
from arena.exports.text import counted_text, gain_lines, noun_of
from arena.records.find import records_of_deal
from arena.records.record import GameRecord
from arena.records.review import ReviewedGame, read_reviews
from arena.records.runfile import read_run

DEFAULT_GAMES = 40
STDERR_CHARS = 500_000
"""What bots printed may take a quarter of a page."""
MOST_SEATINGS = 5
"""Other games of its deal on the page of a game."""


class Report(NamedTuple):
    """A finished page, with ``notes`` for the user who made it; with an address also its ``card``,
    and that as ``png`` if there is a library for it.
    """

    text: str
    notes: list[str]
    card: str = ""
    png: bytes | None = None


class Publication(NamedTuple):
    """Where the page will be on the web, and the name of its card there."""

    url: str
    card: str


def report_page(
    folder: Path,
    wanted: int | list[str] = DEFAULT_GAMES,
    prior: float | None = None,
    match: Sequence[str] | None = None,
    setting: Setting = ALONE,
    published: Publication | None = None,
) -> Report:
    """The report of a run with this many well-chosen games, or with the named ones; scored as in
    the run unless ``match`` differs. Where it will be ``published``, it says what chats show of it.

    Raises RunError, NoAnswerError, UserError for boards that do not fit.
    """
    material = gather(folder, prior, match)
    chosen, (reviews, damage) = choose(material, wanted), reviews_of(folder)
    shown = with_stderr(
        folder, chosen_records(material.scan, chosen), material.secrecy.is_open_game, STDERR_CHARS
    )
    album = album_of(shown, material.info.boards, reviews, material.secrecy.is_open_game)
    values = {**_values(material, album), "lead": lead_of(material, chosen, album)}
    card, png, preview = "", None, None
    if published:
        card = _card(values, material, best_record(material, chosen, album))
        png = png_of(card)
        preview = _preview(values, published, has_picture=png is not None)
    text = render("report.html", {**values, "preview": preview}, setting)
    exposed = sum(bool(material.is_open[game]) for game in chosen)
    notes = [*_notes(exposed, album, damage), *(_card_notes(published, png) if published else ())]
    return Report(text, notes, card, png)


def _notes(exposed: int, album: Album, damage: str) -> Iterator[str]:
    if exposed:
        yield (
            f"{counted(exposed, 'game')} of deals that are still being played: they reveal tiles to"
            " come"
        )
    if album.crowded_out:
        yield f"{counted(album.crowded_out, 'game')} left out, because the page is full"
    for what in album.damaged:
        yield f"left out, because it could not be replayed: {what}"
    if damage:
        yield f"grades are left out: {damage}"


def _card_notes(published: Publication, png: bytes | None) -> Iterator[str]:
    if png is None:
        yield (
            f"chats show no picture without {published.card}: pip install 'qin-arena[card]' and"
            f" repeat the command, or make it of {PurePath(published.card).with_suffix('.svg')}"
        )
    elif not has_letters():
        yield (
            f"{published.card} has no text, because this machine has no fonts: install some, such"
            " as fonts-dejavu"
        )


def _card(
    values: Mapping[str, Any], material: Material, found: tuple[GameRecord, list[str]] | None
) -> str:
    record = found[0] if found else None
    board = values["album"].boards[record.board] if record else None
    sentences, podium = material.tables.sentences, values["lead"]["podium"]
    return card_of(material.folder.name, _told(values), sentences, podium, record, board)


def _told(values: Mapping[str, Any]) -> str:
    counts = ((len(values["bots"]), "bot"), (values["games"], "game"), (values["deals"], "deal"))
    return ", ".join(counted(count, noun) for count, noun in counts)


def _preview(values: Mapping[str, Any], published: Publication, *, has_picture: bool) -> Preview:
    title = f"{values['name']}: {_told(values)} of Qin"
    image = beside(published.url, published.card) if has_picture else ""
    return Preview(published.url, title, values["lead"]["sentence"] or title, image)


def game_page(
    folder: Path, record: GameRecord, setting: Setting = ALONE, around: Around | None = None
) -> str:
    """The replay of one game, with the evidence of its faults, and with links to what is
    ``around`` it. Raises RunError.
    """
    info = read_run(folder)
    is_open = partial(is_deal_open, folder, info)
    shown = [
        *with_stderr(folder, [(record, [])], is_open, STDERR_CHARS),
        *((other, list[str](), list[Shown]()) for other in _others(folder, record, is_open)),
    ]
    album = album_of(shown, info.boards, reviews_of(folder)[0], judged=2)
    if [game["id"] for game in album.games[:1]] != [record.id]:
        raise RunError(album.damaged[0])
    found = [Forfeited(0, record.id, record.bots[fault.seat], fault) for fault in record.faults]
    faulty = [fault_object(folder, fault) for fault in found]
    values = {"name": folder.name, "version": __version__, "record": record, "faults": faulty}
    is_graded = any("grade" in step for step in album.games[0]["steps"])
    review = shlex.join(["arena", "review", folder.name, record.id])
    values |= {"around": around, "review": None if is_graded or is_open(record) else review}
    details = [fault["detail"] for fault in faulty]
    return render("game.html", {**values, **_viewer(album, details)}, setting)


def _others(
    folder: Path, record: GameRecord, is_open: Callable[[GameRecord], bool]
) -> list[GameRecord]:
    """Some games of the same deal with other seats; none while the deal is still being played."""
    found = [other for other in records_of_deal(folder, record) if other.id != record.id]
    if not found or is_open(record):
        return []
    return sorted(found, key=lambda other: other.seating)[:MOST_SEATINGS]


def reviews_of(run: Path) -> tuple[list[ReviewedGame], str]:
    """The reviews of a run, and why they cannot be read, if so: a page does without them."""
    try:
        return read_reviews(run), ""
    except RunError as error:
        return [], str(error)


def facts_of(material: Material) -> dict[str, Any]:
    """What the templates show of a run, whichever of its games are shown."""
    return {
        "name": material.folder.name,
        "version": __version__,
        "games": len(material.is_open),
        "counted": counted_text(material.tables),
        "noun": noun_of(material.tables),
        "is_match": bool(material.tables.match),
        "deals": material.tables.clusters,
        "secrecy": material.secrecy,
        "held_back": int(material.is_open.sum()),
        "sentences": material.tables.sentences,
        "notes": [*gain_lines(material.tables), *material.tables.notes],
        "is_comparison": bool(material.info.config.get("compare")),
        "standings": sections.standings(material),
        "versions": versions(material.history) if material.history else None,
        "pairs": sections.pairs(material),
        "convergence": courses_of(material),
        "faults": faults(material),
    }


def _values(material: Material, album: Album) -> dict[str, Any]:
    facts, secrecy = facts_of(material), material.secrecy
    faulty, settled = facts["faults"], facts["convergence"]
    meetings = meetings_of(album.games)
    opponents = opponents_of(material, meetings)
    addresses = OnePage(
        material.folder.name, material.bots, opponents, [game["id"] for game in album.games]
    )
    return {
        **facts,
        "addresses": addresses,
        "profiles": [*Profiles(material, opponents, meetings, settled.panels)],
        "most_rows": sections.MOST_ROWS,
        "more": max(2 * DEFAULT_GAMES, 2 * len(album.games)),
        "bots": bots_of(material),
        "settings": settings_of(material),
        "summary": summary_of(material),
        "seed": material.info.seed if secrecy.is_finished else None,
        "command": repeat_command(
            material.info, seed=material.info.seed if secrecy.is_finished else None
        ),
        "seats": sections.seats(material),
        "left": sections.pagodas_left(material),
        "lengths": sections.lengths(material),
        "thinking": sections.thinking(material),
        **_viewer(album, [fault["detail"] for row in faulty["rows"] for fault in row["shown"]]),
    }


def _viewer(album: Album, details: Sequence[str]) -> dict[str, Any]:
    """What the viewer shows, and the rules that it or the details of faults name."""
    pictures = {name: empty_board(board) for name, board in album.boards.items()}
    shown = {game["id"] for game in album.games}
    rules = rules_named([*album.words(), *details])
    content = {**album.content(), "rules": {rule.number: rule.text for rule in rules}}
    return {
        "album": album,
        "content": content,
        "pictures": pictures,
        "parts": parts(),
        "shown": shown,
        "rules": rules,
    }
