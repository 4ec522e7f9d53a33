"""What a page of a run begins with: who leads, in a sentence and on a podium, and the best game."""

from typing import Any, NamedTuple, cast

import numpy as np
from markupsafe import Markup

from arena.errors import ArenaError, printable
from arena.exports.pictures.animation import animation_of
from arena.exports.report.choice import Reasons
from arena.exports.report.games import Album, chosen_records
from arena.exports.report.material import Material
from arena.exports.report.svg import element
from arena.exports.report.words import counted, number, with_error
from arena.exports.text import seat_names
from arena.ratings.columns import BOUNDS, half_width
from arena.records.record import DUEL, GameRecord

PLACES = 3


class Highlight(NamedTuple):
    """A game that plays itself."""

    id: str
    caption: str
    picture: Markup


def lead_of(material: Material, chosen: Reasons, album: Album) -> dict[str, Any]:
    """The first sentence, the podium as (rank, bot, Elo), best first, and the game or None."""
    return {
        "sentence": headline(material),
        "podium": [
            _place(row) for row in material.tables.standings.to_dict("records") if _is_placed(row)
        ],
        "game": _best_game(material, chosen, album),
    }


def headline(material: Material) -> str:
    """Who leads, and whether another one may really be the best; of two bots, and of a leader
    without a rating, what the table says.
    """
    table = material.tables.standings
    rows = cast("list[dict[str, Any]]", table.head(1).to_dict("records"))
    if not rows:
        return ""
    leader, sentences = printable(str(rows[0]["bot"])), material.tables.sentences
    if len(table) <= DUEL or rows[0]["mark"] or (table["rank"] == 1).sum() > 1:
        first = [said for said in sentences if printable(said).startswith(f"{leader} ")]
        return next(iter([*first, *sentences]), "")
    elo = _place(rows[0])[2]
    rivals = [printable(str(name)) for name in table["bot"][1:][table["rank_low"][1:] == 1]]
    if not rivals:
        return f"{leader} is clearly the best of {len(table)} bots, with {elo}."
    who = rivals[0] if len(rivals) == 1 else f"any of {len(rivals)} others"
    return f"{leader} leads {len(table)} bots with {elo}, but {who} may really be the best."


def _is_placed(row: dict[Any, Any]) -> bool:
    """Whether the bot is one of the first, and at least a bound of its rating is known."""
    return bool(row["rank"] <= PLACES and np.isfinite(row["elo"]))


def _place(row: dict[Any, Any]) -> tuple[int, str, str]:
    mark = f"{row['mark']} " if row["mark"] in BOUNDS else ""
    elo = with_error(f"{mark}{number(row['elo'])}", half_width(row))
    return int(row["rank"]), str(row["bot"]), f"{elo} Elo"


def best_record(
    material: Material, chosen: Reasons, album: Album
) -> tuple[GameRecord, list[str]] | None:
    """The first game of the page with the reasons it was chosen for, if nobody forfeited in it."""
    for record, reasons in chosen_records(material.scan, dict(list(chosen.items())[:1])):
        if not record.faults and record.board in album.boards and record.moves:
            return record, reasons
    return None


def _best_game(material: Material, chosen: Reasons, album: Album) -> Highlight | None:
    found = best_record(material, chosen, album)
    if found is None:
        return None
    record, reasons = found
    try:
        width, height, content = animation_of(record, album.boards[record.board])
    except ArenaError:
        return None
    picture = element(
        "svg",
        # our own drawing, with the names in it escaped
        Markup(content),  # noqa: S704
        viewBox=f"0 0 {width} {height}",
        class_="film",
        role="img",
        aria_label=f"The game {record.id}, playing itself",
    )
    return Highlight(record.id, _caption(record, reasons), picture)


def _caption(record: GameRecord, reasons: list[str]) -> str:
    """Such as "greedy beats careful, Lion, 41 tiles; upset: by 120 Elo"."""
    names = seat_names(record.bots)
    won, lost = (
        [name for name, rank in zip(names, record.ranks, strict=True) if (rank == 1) == is_won]
        for is_won in (True, False)
    )
    verb = "beats" if len(won) == 1 else "share the win over" if lost else "share the win"
    is_upset = any(reason.startswith("upset") for reason in reasons)
    who = f"{' and '.join(won)} {'upsets' if is_upset and len(won) == 1 else verb}"
    place = f"{record.board.capitalize()}, {counted(record.turns, 'tile')}"
    why = f"; {'; '.join(reasons)}" if reasons else ""
    return f"{who} {', '.join(lost)}".rstrip() + f", {place}{why}"
