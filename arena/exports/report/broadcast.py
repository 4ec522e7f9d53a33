"""The parts of the page of a run that is being played that only this page has: a board on which the
last finished game plays itself, the move that turned it, and a strip of games worth a look.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from arena.errors import ArenaError
from arena.exports.effects import Effect, effects_of
from arena.exports.ground import empty_board
from arena.exports.report.animation import film_seconds, moving_board
from arena.exports.report.choice import GamesToShow, closest, upsets
from arena.exports.report.material import Material
from arena.exports.report.places import has_interval
from arena.exports.report.viewer_data import QUICK
from arena.exports.text import seat_names
from arena.exports.winners import names_of, winners_of
from arena.match.grading import winning_shares
from arena.match.replay import positions
from arena.records.record import DUEL, GameRecord
from arena.rules import CORE, State
from arena.rules.boards import Board
from arena.rules.notation import PASSED, play_text

SWING = 0.1
"""The smallest change of a chance to win that a page calls a turn."""
MAX_UPSETS = 4
"""The most upsets in the strip of games."""
MAX_CARDS = 6
"""The most games in the strip."""
STRONGEST = ("conquer", "absorb", "major", "connect", "found", "expand")
"""The kinds of effects from the one that changes a game most to the one that changes it least."""


class TurningMove(NamedTuple):
    """The move that changed a game most: the ``number`` of tiles on the board after it, the
    ``name`` of the seat that played it, what it did in ``words``, and the mover's expected share of
    the win, from 0 to 1, ``before`` and ``after`` it. With more than two players, ``before`` is the
    share after the mover's previous move.
    """

    number: int
    name: str
    words: str
    before: float
    after: float


def turn_of(record: GameRecord, board: Board) -> TurningMove | None:
    """The move of the game of ``record``, played on ``board``, that raised its mover's expected
    share of the win most. The shares are estimated from games that are played on after each move.
    None if no move raised the share by `SWING`, and always with the rules in Python, where this
    would take seconds. Raises RunError if the record does not follow from its deck and moves.
    """
    if CORE == "pure":
        return None
    shares = winning_shares(record, board, QUICK)
    before: dict[int, float] = {}
    most: tuple[float, _Swing] | None = None
    for state, text in positions(record, board):
        share = shares.get(state.turns)
        if text == PASSED or share is None:
            continue
        seat = state.mover
        swing = _Swing(state.copy(), play_text(state.copy(), text), before.get(seat, share), share)
        if most is None or swing.size > most[0]:
            most = swing.size, swing
        before[seat] = share
        if len(record.bots) == DUEL:
            before[1 - seat] = 1 - share
    if most is None or most[0] < SWING:
        return None
    return _told(most[1], seat_names(record.bots))


class _Swing(NamedTuple):
    """The ``state`` before a move, the ``move``, and the mover's expected share of the win
    ``before`` and ``after`` it, as in `TurningMove`.
    """

    state: State
    move: int
    before: float
    after: float

    @property
    def size(self) -> float:
        """By how much the move raised its mover's share of the win; negative if it fell."""
        return self.after - self.before


def _told(swing: _Swing, names: Sequence[str]) -> TurningMove:
    """The move of ``swing`` in words; ``names`` are the names of the seats."""
    state = swing.state
    # No reader is a player, so no seat is called "you".
    effects = effects_of(state, swing.move, names, len(names)).effects
    words = min(effects, key=_weakness).words
    return TurningMove(state.turns + 1, names[state.mover], words, swing.before, swing.after)


def _weakness(effect: Effect) -> int:
    """The index of the kind of ``effect`` in `STRONGEST`, 0 for the kind that changes a game most;
    a kind that is not there comes last.
    """
    return STRONGEST.index(effect.kind) if effect.kind in STRONGEST else len(STRONGEST)


class Shown(NamedTuple):
    """The game at the top of the page of a run: its ``id``, the ``seats`` as (name, pagodas left at
    the end), the ``deal``, the ``board`` and the ``picture`` on which it plays itself, why it is
    shown (``reason``), the pagodas ``left`` by seat at the start and after each step, the ``turn``,
    which is the move that changed it most (None if none did), and how many ``seconds`` the
    animation takes.
    """

    id: str
    seats: list[tuple[str, int]]
    deal: int
    board: str
    picture: str
    reason: str
    left: list[list[int]]
    turn: TurningMove | None
    seconds: float


def game_on_top(record: GameRecord, reason: str, rows: Mapping[str, Sequence[str]]) -> Shown | None:
    """The game of ``record`` for the top of a page; ``reason`` says why it is shown, and ``rows``
    are the rows of the run's boards by name. None if a bot forfeited in the game, if the game has
    no moves, or if it does not follow from its deck and moves.
    """
    if record.faults or not record.moves:
        return None
    try:
        board = Board(record.board, tuple(rows[record.board]))
        moving = moving_board(record, board)
        turn = turn_of(record, board)
    except (ArenaError, KeyError):
        return None
    return Shown(
        id=record.id,
        seats=list(zip(seat_names(record.bots), record.left, strict=True)),
        deal=record.deal,
        board=record.board.capitalize(),
        picture=moving.picture,
        reason=reason,
        left=moving.left,
        turn=turn,
        seconds=film_seconds(len(moving.left) - 1),
    )


def waiting_board(material: Material) -> str:
    """The empty picture of the board on which the first games of a run are played, for the time
    before a game can be shown; empty if the board cannot be read.
    """
    for name, rows in material.run.info.boards.items():
        try:
            return empty_board(Board(name, tuple(rows)))
        except ArenaError:
            continue
    return ""


class Card(NamedTuple):
    """A game in the strip of games worth a look: its ``id``, who beat whom (``title``), a ``badge``
    that may be empty, and ``words`` about it.
    """

    id: str
    title: str
    badge: str
    words: str


def cards(material: Material) -> list[Card]:
    """The strip of games: the largest upsets among the games that may be shown, then the closest
    games. Before any bot is rated, no game is an upset.
    """
    rows = material.tables.standings.to_dict("records")
    elo = material.elo if has_interval(rows) else {}
    field = GamesToShow(material.scan, elo, ~material.is_open)
    chosen = dict(islice(upsets(field), MAX_UPSETS))
    for game, reason in islice(closest(field), MAX_CARDS):
        if len(chosen) < MAX_CARDS:
            chosen.setdefault(game, reason)
    records = material.scan.records(chosen)
    return [_card(records[game], reason) for game, reason in chosen.items()]


def _card(record: GameRecord, reason: str) -> Card:
    """The card of the game of ``record``, which was chosen for ``reason``, such as "upset: by 120
    Elo".
    """
    winners = winners_of(record)
    names = seat_names(record.bots)
    lost = [name for seat, name in enumerate(names) if seat not in winners]
    kind, _, words = reason.partition(": ")
    title = names_of(record, winners)
    if lost:
        title += f" beats {', '.join(lost)}"
    badge = kind if kind == "upset" else ""
    return Card(record.id, title, badge, f"{words}, {record.board.capitalize()}")
