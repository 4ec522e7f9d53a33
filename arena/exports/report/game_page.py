"""Makes the page of one game: the viewer that replays it, the evidence of its faults, and the other
games on its deal.
"""

import shlex

from arena import __version__
from arena.errors import RunError
from arena.exports.grid import counted, visible
from arena.exports.moments import title_of
from arena.exports.report import sections
from arena.exports.report.page import ALONE, Around, PageSetting, render
from arena.exports.report.scan import Forfeited
from arena.exports.report.viewer_data import ChosenRecord, album_of, reviews_of, viewer_values
from arena.exports.winners import lead_of, names_of, winners_of
from arena.records.journal import records_of_deal
from arena.records.record import GameRecord
from arena.tournament.run import Run

MAX_SEATINGS = 5
"""The most other games on the same deal that the page of a game has."""


def game_page(
    run: Run,
    record: GameRecord,
    setting: PageSetting = ALONE,
    around: Around | None = None,
    play_on: str = "",
) -> str:
    """The page, of the kind ``setting``, that replays the game of ``record``, with the evidence of
    its faults and links to the pages ``around`` it; None means no such links. ``play_on`` is the
    name of the run under which the server plays the game on; empty if it cannot. Raises RunError.
    """
    is_open = run.secrecy().is_open_game
    others: list[GameRecord] = []
    if not is_open(record):
        on_deal = records_of_deal(run.folder, record)
        others = [other for other in on_deal if other.id != record.id]
        others.sort(key=lambda other: other.seating)
    records = [record, *others[:MAX_SEATINGS]]
    chosen: list[ChosenRecord] = [(shown, []) for shown in records]
    reviews, _ = reviews_of(run)
    album = album_of(chosen, run.info.boards, reviews, is_open, judged=2, tried=1)
    # The ids of an album are readable, so an id with an invisible character differs from that of
    # its record.
    if not album.games or album.games[0]["id"] != visible(record.id):
        if album.damaged:
            raise RunError(album.damaged[0])
        raise RunError(
            f"{record.id}: expected a game that fits on a page, got a larger one",
            f"'{shlex.join(['arena', 'replay', run.name, record.id])}' shows it in the terminal",
        )
    forfeits = [Forfeited(0, record.id, record.bots[fault.seat], fault) for fault in record.faults]
    faults = [sections.fault_object(run, forfeit) for forfeit in forfeits]
    is_graded = any("grade" in step for step in album.games[0]["steps"])
    review = shlex.join(["arena", "review", run.name, record.id])
    of_person = run.person_game()
    values = {
        "name": run.name,
        "is_of_league": False,
        "title": title_of(*of_person) if of_person else "",
        "result": result_text(record),
        "version": __version__,
        "record": record,
        "faults": faults,
        "around": around,
        "play_on": play_on,
        "review": None if is_graded or is_open(record) else review,
        **viewer_values(album, [fault["detail"] for fault in faults]),
    }
    return render("game.html", values, setting)


def result_text(record: GameRecord) -> str:
    """A sentence that says who won the game of ``record``, and by how much."""
    winners = winners_of(record)
    who = names_of(record, winners)
    where = f"on {record.board.capitalize()}, {counted(record.turns, 'tile')}"
    if len(winners) > 1:
        return f"{who} share the win {where}."
    if record.faults:
        return f"{who} won {where}, after a forfeit."
    return f"{who} won by {lead_of(record, winners[0])} {where}."
