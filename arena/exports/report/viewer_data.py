"""Makes the data of games for the viewer on a page: as many games as fit, with their steps, grades
and boards.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from arena.errors import ArenaError, RunError, printable
from arena.exports.effects import HOME, effects_of_played
from arena.exports.grid import counted, visible
from arena.exports.ground import empty_board
from arena.exports.parts import all_parts
from arena.exports.report.page import rules_named
from arena.exports.report.tries import add_tries
from arena.exports.scene import Film
from arena.exports.text import PERSON, names_on_page
from arena.match.grading import winning_shares
from arena.match.replay import replay, start_state
from arena.players.player import YOU
from arena.records.grades import Judge, ReviewedGame, newest_review, read_reviews
from arena.records.journal import deal_of
from arena.records.record import GameRecord
from arena.rules import CORE, State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, deck_text, move_text
from arena.rules.positions import draw
from arena.rules.terms import PAGODAS, REVISION
from arena.tournament.run import Run

ChosenRecord = tuple[GameRecord, list[str]]
"""A game's record, and the reasons why the game was chosen."""


def game_object(record: GameRecord, board: Board, reasons: Sequence[str] = ()) -> dict[str, Any]:
    """The game of ``record``, played on ``board``, as data for the page's viewer; ``reasons`` say
    why the game was chosen.

    A person in the game is called "You". Beside the fields of the record that the page shows, and
    ``reasons``, it has

    ``names``, ``stock``, ``hands``, ``pile``  the names of the seats, the pagodas that each seat
                  begins with, and the hands and the number of tiles in the pile at the start
    ``elements``  everything that is ever drawn on the game's board, see `arena.exports.scene`
    ``scene``     the numbers of the elements at the start
    ``steps``     the moves, including passes, see below

    A step has ``seat``, ``move``, ``turn`` (placements so far), ``pile`` (tiles left in it), and
    ``hand`` (the mover's hand after the move). Whatever is empty or unchanged is left out of the
    following: the numbers of the elements that ``came`` and ``went``; ``cells``, by the number of
    the square in reading order from 0, each as `positions.draw` writes it; ``left``, the pagodas
    left by seat; ``events`` as (name, words, whether pagodas returned, number of the rule); ``ms``,
    the time of the move; and ``note``, the bot's note as (words, value).

    Raises NotationError if the record's deck is not a deck, and RunError if the record does not
    follow from its deck and moves.
    """
    names, _ = names_on_page(record.bots)
    start = start_state(record, board)
    film = Film(board)
    scene = film.add(start).came
    steps = list(_steps(record, board, names, start, film))
    return {
        "id": record.id,
        "board": record.board,
        "bots": [PERSON if bot == YOU else bot for bot in record.bots],
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
    """The steps of the game of ``record``, played on ``board``, as `game_object` describes them.
    ``names`` are the names of the seats, ``start`` is the state before the first move, and ``film``
    has its scene; each step adds one.
    """
    cells = cells_of(start)
    left = start.left
    earlier = start.copy()
    _, person = names_on_page(record.bots)
    for step in replay(record, board):
        state = step.state
        before = (cells, left)
        cells = cells_of(state)
        left = list(state.left)
        came, went = film.add(state, step.move)
        events = []
        for effect in effects_of_played(earlier, state, step.events, names, person):
            returns = effect.kind in RETURNING
            events.append((effect.kind, effect.words, returns, effect.rule))
        changed = {at: cell for at, cell in enumerate(cells) if cell != before[0][at]}
        entry = {
            "seat": step.seat,
            "move": move_text(board, step.move),
            "turn": state.turns,
            "pile": state.pile,
            "hand": deck_text(state.hands[step.seat]),
            "events": events,
            "ms": step.ms,
            "note": (printable(str(step.note)), step.note.value) if step.note else None,
            "came": came,
            "went": went,
            "cells": changed,
            "left": left if left != before[1] else None,
        }
        earlier = state.copy()
        yield {key: value for key, value in entry.items() if value not in ({}, [], None)}


def cells_of(state: State) -> list[str]:
    """The squares of the position ``state`` in reading order, as `positions.draw` writes them."""
    return list(chain.from_iterable(draw(state)))


MAX_BYTES = 2_000_000
"""The most bytes of the data of all games on a page together, so that a page stays below 5 MB."""

NAMED_RULES = "Rules named in this page"
"""The title of a list of rules that has not all of them."""
RETURNING = (HOME, "conquer")
"""The kinds of effects with which pagodas return to their owners."""
QUICK = Judge("careful-4", 50, 0)
"""The judge that estimates who wins in games without a review. It takes 0.15 s of CPU time a
game.
"""


class Album(NamedTuple):
    """The games on a page, as data for the viewer, and their boards by name. ``crowded_out`` is the
    number of games that did not fit; ``damaged`` has for each game that could not be replayed its
    id and the reason.
    """

    games: list[dict[str, Any]]
    boards: dict[str, Board]
    crowded_out: int
    damaged: list[str]

    def words(self) -> Iterator[str]:
        """The rules of the events of the games, by number, and the sentences about their faults,
        which cite rules by number.
        """
        for game in self.games:
            for step in game["steps"]:
                for _, _, _, rule in step.get("events", ()):
                    yield rule
            for fault in game["faults"]:
                yield fault["detail"]


def album_of(
    chosen: Iterable[ChosenRecord],
    rows: Mapping[str, list[str]],
    reviews: Sequence[ReviewedGame] = (),
    is_open: Callable[[GameRecord], bool] = lambda _: False,
    judged: int = 1,
    tried: int = 0,
) -> Album:
    """Replays the ``chosen`` games until the page is full. ``rows`` are the rows of the run's
    boards by name, ``reviews`` the lines of its review.jsonl.

    For the first ``judged`` games the chances to win are estimated quickly, unless the games were
    reviewed. The first ``tried`` games have the best places of the tiles in hand. Games on one deal
    link to each other, except where ``is_open`` says that a game's deal is still being played.
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
            if len(games) < tried:
                add_tries(game, record, board)
        except (ArenaError, KeyError, IndexError) as error:
            reason = str(error)
            # An error that the replay found names the game already.
            damaged.append(reason if reason.startswith(record.id) else f"{record.id}: {reason}")
            continue
        size += len(msgspec.json.encode(game))
        if size > MAX_BYTES:
            crowded_out += 1
            continue
        boards[record.board] = board
        games.append(game)
        if not is_open(record):
            together[deal_of(record)].append((record.seating, game))
    for on_deal in together.values():
        ids = [game["id"] for _, game in sorted(on_deal, key=lambda one: one[0])]
        for _, game in on_deal if len(on_deal) > 1 else ():
            game["seatings"] = ids
    return Album(games, boards, crowded_out, damaged)


def add_grades(game: dict[str, Any], record: GameRecord, reviews: Sequence[ReviewedGame]) -> None:
    """Adds grades from ``reviews`` to ``game``, the data of the game of ``record``: ``judge`` in
    words, ``adviser`` if another bot named the better moves, and to each graded step ``grade`` as
    (cost, error, better move, share of the win after the move). Adds nothing if there is no review
    of the game, or its grades do not fit the record.
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
    """Adds ``judge`` to ``game``, the data of the game of ``record``, played on ``board``, and to
    each step that places a tile ``win``, the mover's expected share of the win after the move, from
    0 to 1. It is estimated from games that are played on after the move. With the pure core nothing
    is added, because it would take seconds.
    """
    if CORE == "pure":
        return
    shares = winning_shares(record, board, QUICK)
    game["judge"] = f"{QUICK.judge}, {counted(QUICK.deals, 'deal')}"
    for step in game["steps"]:
        if step["move"] != PASSED and step["turn"] - 1 in shares:
            step["win"] = shares[step["turn"] - 1]


def readable(value: Any) -> Any:
    """A copy of ``value``, data for JSON, in which invisible characters in all texts are made
    visible.
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {readable(key): readable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [readable(part) for part in value]
    return value


def reviews_of(run: Run) -> tuple[list[ReviewedGame], str]:
    """The reviews of a run, and an empty text; if its review.jsonl cannot be read, no reviews, and
    the reason.
    """
    try:
        return read_reviews(run.folder), ""
    except RunError as error:
        return [], str(error)


def viewer_values(album: Album, details: Sequence[str]) -> dict[str, Any]:
    """The values of the template for the viewer with the games of ``album``, and the rules that
    these games or ``details``, texts about faults, name.
    """
    rules = rules_named([*album.words(), *details])
    boards = {name: board.rows for name, board in album.boards.items()}
    texts = {rule.number: rule.text for rule in rules}
    return {
        "album": album,
        "content": {"boards": boards, "games": album.games, "rules": texts},
        "pictures": {name: empty_board(board) for name, board in album.boards.items()},
        "parts": all_parts(),
        "rules": rules,
        "rules_title": NAMED_RULES,
    }
