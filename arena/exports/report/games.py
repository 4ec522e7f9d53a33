"""What pages say of games: the data of the viewer, for as many games as fit, and pictures that
play themselves. The pages themselves are made in make.py.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from markupsafe import Markup

from arena.errors import ArenaError, RunError, printable
from arena.exports.grid import counted, visible
from arena.exports.ground import framed, size
from arena.exports.parts import SEAT_NAMES_STYLE, picture_file
from arena.exports.report.charts import element
from arena.exports.scene import Film
from arena.exports.text import event_text, seat_names
from arena.match.grading import winning_shares
from arena.match.replay import replay, start_state
from arena.records.grades import Judge, ReviewedGame, newest_review
from arena.records.journal import deal_of
from arena.records.record import GameRecord
from arena.rules import CORE, State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, deck_text, move_text
from arena.rules.positions import draw
from arena.rules.terms import PAGODAS, REVISION

ChosenRecord = tuple[GameRecord, list[str]]
"""A game, and the reasons why it was chosen."""


def game_object(record: GameRecord, board: Board, reasons: Sequence[str] = ()) -> dict[str, Any]:
    """A game as data for the page's viewer.

    ``elements``  everything that is ever drawn on the game's board
    ``scene``     the numbers of the elements at the start
    ``steps``     the moves, including passes: ``seat``, ``move``, ``turn`` (placements so far),
                  ``pile``, the mover's ``hand``, and which elements ``came`` and ``went``. If they
                  changed, also ``cells`` as `notation.draw` writes them, by square in reading order
                  from 0, ``left``, and ``events`` as (name, words, whether pagodas went home).
                  ``ms`` is the time of the move, and ``note`` the bot's note as (words, value)

    Raises RunError.
    """
    names = seat_names(record.bots)
    start = start_state(record, board)
    film = Film(board)
    scene = film.add(start).came
    steps = list(_steps(record, board, names, start, film))
    return {
        "id": record.id,
        "board": record.board,
        "bots": record.bots,
        "names": names,
        "deal": record.deal,
        "reasons": list(reasons),
        "stock": PAGODAS[len(record.bots)],
        "hands": [deck_text(hand) for hand in start.hands],
        "pile": start.pile,
        "elements": film.elements,
        "scene": scene,
        "steps": steps,
        "end": record.end,
        "ranks": record.ranks,
        "left": record.left,
        "faults": [msgspec.structs.asdict(fault) for fault in record.faults],
    }


def _steps(
    record: GameRecord, board: Board, names: Sequence[str], start: State, film: Film
) -> Iterator[dict[str, Any]]:
    """The steps of a game, as `game_object` describes them."""
    cells = cells_of(start)
    left = start.left
    for step in replay(record, board):
        state = step.state
        before = (cells, left)
        cells = cells_of(state)
        left = list(state.left)
        came, went = film.add(state, step.move)
        entry = {
            "seat": step.seat,
            "move": move_text(board, step.move),
            "turn": state.turns,
            "pile": state.pile,
            "hand": deck_text(state.hands[step.seat]),
            "events": [
                (event.name, event_text(event, board, names), bool(event.home))
                for event in step.events
            ],
            "ms": step.ms,
            "note": (printable(str(step.note)), step.note.value) if step.note else None,
            "came": came,
            "went": went,
            "cells": {at: cell for at, cell in enumerate(cells) if cell != before[0][at]},
            "left": left if left != before[1] else None,
        }
        yield {key: value for key, value in entry.items() if value not in ({}, [], None)}


def cells_of(state: State) -> list[str]:
    """The squares of a position in reading order, as `positions.draw` writes them."""
    return [cell for row in draw(state) for cell in row]


MAX_BYTES = 2_000_000
"""The most bytes of all games on a page together, so that a page stays below 5 MB."""

QUICK = Judge("careful-4", 50, 0)
"""The judge for games without a review. It takes 0.15 s of CPU time a game."""


class Album(NamedTuple):
    """The games on a page. ``crowded_out`` is the number of games that did not fit; ``damaged``
    lists those that could not be replayed, with the reason.
    """

    games: list[dict[str, Any]]
    boards: dict[str, Board]
    crowded_out: int
    damaged: list[str]

    def words(self) -> Iterator[str]:
        """All sentences about events and faults of the games; they name the rules that apply."""
        for game in self.games:
            yield from (event[1] for step in game["steps"] for event in step.get("events", ()))
            yield from (fault["detail"] for fault in game["faults"])


def album_of(
    chosen: Iterable[ChosenRecord],
    rows: Mapping[str, list[str]],
    reviews: Sequence[ReviewedGame] = (),
    is_open: Callable[[GameRecord], bool] = lambda _: False,
    judged: int = 1,
) -> Album:
    """Replays the chosen games until the page is full; ``rows`` are the rows of the boards by name.

    The first ``judged`` games get a quick curve of who wins, unless they were reviewed. Games of
    one deal link to each other, unless the deal is still being played.
    """
    together = defaultdict[Any, list[tuple[int, dict[str, Any]]]](list)
    games = list[dict[str, Any]]()
    damaged = list[str]()
    boards = dict[str, Board]()
    size = 0
    crowded_out = 0
    for record, reasons in chosen:
        if size > MAX_BYTES:
            crowded_out += 1
            continue
        try:
            board = boards.get(record.board) or Board(record.board, tuple(rows[record.board]))
            game = readable(game_object(record, board, reasons))
            add_grades(game, record, reviews)
            if len(games) < judged and "judge" not in game:
                add_shares(game, record, board)
        except (ArenaError, KeyError, IndexError) as error:
            damaged.append(f"{record.id}: {error}")
            continue
        size += len(msgspec.json.encode(game))
        if size > MAX_BYTES:
            crowded_out += 1
            continue
        boards[record.board] = board
        games.append(game)
        if not is_open(record):
            together[deal_of(record)].append((record.seating, game))
    for found in together.values():
        ids = [game["id"] for _, game in sorted(found, key=lambda one: one[0])]
        for _, game in found if len(found) > 1 else ():
            game["seatings"] = ids
    return Album(games, boards, crowded_out, damaged)


def add_grades(game: dict[str, Any], record: GameRecord, reviews: Sequence[ReviewedGame]) -> None:
    """Adds the grades of a reviewed game: ``judge`` in words, ``adviser`` if a bot named the better
    moves, and to each step ``grade`` as (cost, error, better move, share of the win after the
    move). Grades that do not fit the record are left out.
    """
    try:
        judge, grades = newest_review(reviews, record, REVISION) or (None, {})
    except RunError:
        judge = None
    if judge is None:
        return
    game["judge"] = f"{visible(judge.judge)}, {counted(judge.deals, 'deal')}"
    if judge.by:
        game["adviser"] = visible(judge.name)
    for step in game["steps"]:
        grade = grades.get(step["turn"] - 1) if step["move"] != PASSED else None
        if grade:
            step["grade"] = (grade.cost, grade.error, grade.better, grade.win)


def add_shares(game: dict[str, Any], record: GameRecord, board: Board) -> None:
    """Adds ``judge``, and to each step ``win``, the mover's expected share of the win after the
    move, from some games played on. The pure core leaves this out, because it would take seconds.
    """
    if CORE == "pure":
        return
    shares = winning_shares(record, board, QUICK)
    game["judge"] = f"{QUICK.judge}, {counted(QUICK.deals, 'deal')}"
    for step in game["steps"]:
        if step["move"] != PASSED and step["turn"] - 1 in shares:
            step["win"] = shares[step["turn"] - 1]


def readable(value: Any) -> Any:
    """A copy of a value in which invisible characters in every text are made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {readable(key): readable(part) for key, part in value.items()}
    return [readable(part) for part in value] if isinstance(value, (list, tuple)) else value


STEP_S, START_S, END_S = 0.8, 1.0, 5.0
LINE = 30
MAX_LETTERS = 34


def animated_picture(record: GameRecord, board: Board) -> str:
    """The game as an SVG file that plays itself. Raises RunError if the record does not follow from
    its deck and moves.
    """
    width, height, content = animation_of(record, board)
    title = printable(f"{' - '.join(seat_names(record.bots))}: {record.id}")
    return picture_file((width, height), title, content, SEAT_NAMES_STYLE)


def animation_of(record: GameRecord, board: Board) -> tuple[int, int, str]:
    """The width and height of a game's animation, and its SVG, which refers to parts. Raises
    RunError.
    """
    film = Film(board)
    state = start_state(record, board)
    film.add(state)
    left = [list(state.left)]
    for step in replay(record, board):
        film.add(step.state, step.move)
        left.append(list(step.state.left))
    width, height = size(board)
    # What runs as long as the game takes, again and again; all else goes by it.
    length = START_S + (len(left) - 1) * STEP_S + END_S
    tick = f'<animate id="q" attributeName="x" begin="0s;q.end" dur="{length:g}s"/>'
    content = (
        '<rect width="100%" height="100%" rx="9" fill="#f5eedd"/>'
        f'<rect width="0" height="0">{tick}</rect>'
        f'{framed(board, _elements(film))}<g transform="translate(0 {height})">'
        f"{_panel(record, left, width)}</g>"
    )
    return width, height + LINE * len(record.bots) + 12, content


def film_of(
    record: GameRecord, reasons: Sequence[str], rows: Mapping[str, Sequence[str]]
) -> dict[str, Any] | None:
    """The game as a picture that plays itself on a page, with its caption. None if a bot forfeited
    in it, or if it does not follow from its deck and moves. ``rows`` are the rows of the boards by
    name.
    """
    if record.faults or not record.moves:
        return None
    try:
        width, height, content = animation_of(
            record, Board(record.board, tuple(rows[record.board]))
        )
    except (ArenaError, KeyError):
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
    return {"id": record.id, "caption": _caption(record, reasons), "picture": picture}


def _caption(record: GameRecord, reasons: Sequence[str]) -> str:
    """The caption of a game, such as "greedy beats careful, Lion, 41 tiles; upset: by 120 Elo"."""
    seated = list(zip(seat_names(record.bots), record.ranks, strict=True))
    won = [name for name, rank in seated if rank == 1]
    lost = [name for name, rank in seated if rank > 1]
    if len(won) > 1:
        verb = "share the win over" if lost else "share the win"
    else:
        verb = "upsets" if any(reason.startswith("upset") for reason in reasons) else "beats"
    who = f"{' and '.join(won)} {verb} {', '.join(lost)}".rstrip()
    told = f"{who}, {record.board.capitalize()}, {counted(record.turns, 'tile')}"
    return "; ".join([told, *reasons])


def _seen(drawn: str, frames: Sequence[int], all_frames: int) -> str:
    """The SVG of an element that is visible only in a sequence of frames."""
    if len(frames) == all_frames:
        return drawn
    begins = [
        f"q.begin+{START_S + (frame - 1) * STEP_S:g}s" if frame else "q.begin"
        for frame in (frames[0], frames[-1] + 1)
    ]
    # without its animation it is as in the last frame
    hidden, then, (start, end) = ' visibility="hidden"', "visible", begins
    if frames[-1] + 1 == all_frames:
        hidden, then, (start, end) = "", "hidden", ("q.begin", begins[0])
    return (
        f'<g{hidden}>{drawn}<set attributeName="visibility" to="{then}" begin="{start}"'
        f' end="{end}"/></g>'
    )


def _elements(film: Film) -> str:
    """The SVG of all elements of the game, the lowest layer first. An element that leaves and comes
    back is drawn twice.
    """
    frames = defaultdict[int, list[int]](list)
    for frame, numbers in enumerate(film.frames):
        for at in numbers:
            frames[at].append(frame)
    elements = film.elements
    return "".join(
        _seen(str(elements[number]), [frame for _, frame in span], len(film.frames))
        for number in sorted(frames, key=lambda number: elements[number].layer)
        # frames that follow each other are as far from the first one as their places
        for _, span in groupby(enumerate(frames[number]), lambda one: one[1] - one[0])
    )


def _panel(record: GameRecord, left: list[list[int]], width: int) -> str:
    """The SVG of a line for each seat: its pagoda, its bot, and its pagodas left to place."""
    lines = []
    for seat, name in enumerate(seat_names(record.bots)):
        y = seat * LINE
        shown = f"{name[:MAX_LETTERS]}…" if len(name) > MAX_LETTERS else name
        lines.append(
            f'<use href="#q1{seat}" transform="translate(22 {y + 4}) scale(.7)"/>'
            f'<text class="q-seat" x="58" y="{y + 24}">{escape(shown)}</text>'
        )
        for count, span in groupby(range(len(left)), [each[seat] for each in left].__getitem__):
            text = f'<text class="q-seat q-left" x="{width - 22}" y="{y + 24}">{count}</text>'
            lines.append(_seen(text, list(span), len(left)))
    return "".join(lines)
