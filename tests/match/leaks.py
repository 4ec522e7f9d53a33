"""A search for leaks: if two games look the same from a seat, the seat must receive byte-identical
lines in both.

Each state is a moment at which a seat is asked for a move in a game of random moves. Everything the
seat cannot know is dealt again: the other hands, the order in which their tiles were drawn, and the
draw pile. What the others play is public, so each tile still gets into the hand that plays it.

Then two things are compared. A `Position` of the SDK is made for the seat of each game's whole
state, as in training, with the positions after some moves of the seat and after some moves of the
next one. And the real referee and the real bot player play both games on from there: hello, start,
the turn, and everyone's moves. In half of the states the seat draws the same tile after its move,
so its next turn, or the end, is compared too. In the other half even that tile differs. Lines from
before that moment are compared in earlier states.
"""

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from arena.match.referee import GamePlan, Referee
from arena.players.bot import BotPlayer
from arena.players.channel import Channel, Direction, Told
from arena.players.folder import Bot
from arena.players.manifest import Manifest
from arena.players.messages import Move, Ready, View, encode
from arena.players.player import InProcessPlayer, Player
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import BUILT_IN, Board, built_in
from arena.rules.notation import (
    COPIES,
    DECK_SIZE,
    KIND_SHIFT,
    PASS,
    TILE_OF_KIND,
    TILES,
    deck_text,
    move_text,
)
from arena.rules.positions import position_text
from arena.rules.terms import HAND
from arena.sdk import Position

VIEWS: tuple[View, ...] = ("incremental", "full")
POSITION = "position"
"""The name of the view that `Position` gives."""
TRIED = 2
"""How many moves are tried in a position."""
FIRST = ("hello", "start", "turn")
ATTEMPTS = 20

Deck = tuple[int, ...]


class Situation(NamedTuple):
    """A moment at which a seat is asked for a move, on two decks that it cannot tell apart.

    ``at`` of the ``moves`` have been played. The decks look alike to the seat until all moves have
    been played or, if it draws a different tile after its move, until it would see that tile.
    """

    board: Board
    players: int
    seat: int
    at: int
    moves: tuple[int, ...]
    draws_the_same: bool
    deck: Deck
    twin: Deck

    def state(self, deck: Deck) -> State:
        """The state at that moment, on each of the two decks."""
        state = State(self.board, self.players, deck)
        for move in self.moves[: self.at]:
            state.play(move)
        return state


class Leak(NamedTuple):
    """Two lines that should be equal: line number ``number`` sent to the seat in a view, or written
    about its positions, on each deck; empty if there is none.
    """

    situation: Situation
    view: str
    number: int
    line: bytes
    twin_line: bytes


class Audited(NamedTuple):
    """The result for one state: how many lines were compared, and the leaks found."""

    lines: int
    leak: Leak | None


def audit_leaks(seed: str, states: int, first: int = 0) -> Iterator[Audited]:
    """Compares the given number of states for a seed, each in all views."""
    for number in range(first, first + states):
        yield audit_situation(situation_of(seed, number))


def audit_situation(situation: Situation) -> Audited:
    """Compares the lines of one state."""
    lines = 0
    for view in (*VIEWS, POSITION):
        one, other = (_lines(situation, deck, view) for deck in (situation.deck, situation.twin))
        lines += len(one)
        for number in range(max(len(one), len(other))):
            pair = [said[number] if number < len(said) else b"" for said in (one, other)]
            if pair[0] != pair[1]:
                return Audited(lines, Leak(situation, view, number, *pair))
    return Audited(lines, None)


def situation_of(seed: str, number: int) -> Situation:
    """A state; the same seed and number give the same state."""
    # For play, not for secrets.
    rng = random.Random(f"{seed}/{number}")
    while True:
        board, players = built_in(rng.choice(sorted(BUILT_IN))), rng.randint(2, 4)
        deck = _shuffled(rng, [tile for tile in range(len(TILES)) for _ in range(COPIES)])
        moves = _random_moves(State(board, players, deck), rng)
        at = rng.choice([index for index, move in enumerate(moves) if move != PASS])
        later = (
            index for index in range(at + players, len(moves), players) if moves[index] != PASS
        )
        seat, until = at % players, next(later, len(moves))
        # Half of them.
        draws_the_same = until == len(moves) or rng.random() < 0.5
        for _ in range(ATTEMPTS):
            twin = _redealt(
                deck, players, moves[:until], seat, until if draws_the_same else at, rng
            )
            if twin != deck and _is_possible(board, players, twin, moves, until):
                return Situation(
                    board, players, seat, at, tuple(moves[:until]), draws_the_same, deck, twin
                )


def _shuffled(rng: random.Random, tiles: list[int]) -> Deck:
    rng.shuffle(tiles)
    return tuple(tiles)


def _random_moves(state: State, rng: random.Random) -> list[int]:
    """The moves up to the end of the game, including passes."""
    moves = []
    while state.end is None:
        moves.append(PASS if state.must_pass() else state.nth(rng.randrange(state.legal_count())))
        state.play(moves[-1])
    return moves


def _redealt(
    deck: Deck, players: int, moves: Sequence[int], seat: int, known: int, rng: random.Random
) -> Deck:
    """A random deck on which the same moves can be played, and on which the seat draws the same
    first ``known`` tiles.

    A tile that another seat plays is placed at any of the draws that could have brought it.
    """
    draws = [list(range(HAND * mover, HAND * mover + HAND)) for mover in range(players)]
    dealt = {index: deck[index] for index in draws[seat]}
    drawn = HAND * players
    for index, move in enumerate(moves):
        mover = index % players
        if move == PASS:
            continue
        if mover != seat:
            dealt[draws[mover].pop(rng.randrange(len(draws[mover])))] = TILE_OF_KIND[
                move >> KIND_SHIFT
            ]
        if drawn < DECK_SIZE:
            draws[mover].append(drawn)
            if mover == seat and index < known:
                dealt[drawn] = deck[drawn]
            drawn += 1
    taken = list(dealt.values())
    hidden = iter(
        _shuffled(
            rng, [tile for tile in range(len(TILES)) for _ in range(COPIES - taken.count(tile))]
        )
    )
    return tuple(dealt[index] if index in dealt else next(hidden) for index in range(DECK_SIZE))


def _is_possible(board: Board, players: int, twin: Deck, moves: Sequence[int], until: int) -> bool:
    """Whether the twin game goes the same way: passes depend on the hands, and so does the end."""
    state = State(board, players, twin)
    for move in moves[:until]:
        if state.end is not None or state.must_pass() != (move == PASS):
            return False
        state.play(move)
    return (state.end is None) == (until < len(moves))


def _lines(situation: Situation, deck: Deck, view: str) -> list[bytes]:
    """All lines of a view: those that the seat is sent, or those about its positions."""
    for name in VIEWS:
        if view == name:
            return _heard(situation, deck, name)
    return _positions(situation, deck)


def _positions(situation: Situation, deck: Deck) -> list[bytes]:
    """A line about the seat's position, and about each position that it can make of it by trying a
    move of its own and then a move of the next seat.
    """
    # For play, not for secrets.
    rng = random.Random(situation.at)
    position = Position(situation.state(deck), situation.seat, rng, 0)
    lines = [position.line, position_text(position.sample(seed=1).state), _known(position)]
    for move in _some(position.legal_moves()):
        after = position.play(move)
        lines.append(_known(after))
        unseen = [tile for tile, count in after.unseen().items() if count]
        replies = [reply for reply in after.moves_of(unseen) if after.state.is_legal(reply)]
        lines += [_known(after.play(reply)) for reply in _some(replies)]
    return [line.encode() for line in lines]


def _some(moves: list[int]) -> list[int]:
    """A few of the moves, from the first to the last."""
    return moves[:: max(1, len(moves) // TRIED)][:TRIED]


def _known(position: Position) -> str:
    """What a bot can find out about hidden tiles in a position."""
    state = position.state
    can_move = [state.can_move(seat) for seat in range(state.players)]
    known = (state.hands, state.pile_tiles(), position.legal_moves(), can_move, position.is_over)
    return str(known)


class _Enough(Exception):  # noqa: N818 - an outcome
    """Every line we wanted to hear has arrived."""


def _heard(situation: Situation, deck: Deck, view: View) -> list[bytes]:
    """The lines that the real referee and the real bot player send to the seat, starting from the
    situation.
    """
    board, texts = situation.board, [move_text(situation.board, move) for move in situation.moves]
    players: list[Player] = [_follower(situation) for _ in range(situation.players)]
    names = tuple(f"bot-{seat}" for seat in range(situation.players))
    plan = GamePlan(
        "audit", board.name, 0, 0, names, deck_text(deck), tuple(range(1, situation.players + 1))
    )
    heard: list[bytes] = []
    with _listener(view, texts[situation.at], heard) as listener:
        players[situation.seat] = listener
        referee = Referee(plan, board, players, Timing())
        referee.state = situation.state(deck)
        with suppress(_Enough):
            referee.play()
        listener.channel.flush()
    return heard if situation.draws_the_same else heard[: len(FIRST) + len(texts) - situation.at]


def _follower(situation: Situation) -> InProcessPlayer:
    """Plays the moves of the situation for as long as there are any."""
    placements = [move for move in situation.moves if move != PASS]

    # The shape of a choosing function.
    def follow(state: State, seed: int) -> int:
        if state.turns >= len(placements):
            raise _Enough
        return placements[state.turns]

    return InProcessPlayer("follower", follow)


class _Nobody:
    """What there is instead of a bot's process: nothing that uses time."""

    counter = -1

    def used_ns(self) -> int:
        return 0


@contextmanager
def _listener(view: View, move: str, heard: list[bytes]) -> Iterator[BotPlayer]:
    """A bot without a process, which answers one turn and stops at the next; ``heard`` are the
    lines that it was sent.
    """
    replies = [encode(Move(2, move)), encode(Ready(1, view))]

    def answer(_to: int, _from: int, lines: bytes, _until: int, _counter: int) -> Told:
        if not replies:
            heard.extend(lines.splitlines())
            raise _Enough
        return replies.pop(), b"", len(lines), 0, 0, -1

    def hear(direction: Direction, text: bytes, _: int, /, *, unread: bool = False) -> None:
        if direction == "to":
            heard.extend(text.splitlines())

    player = BotPlayer(Bot("listener", Manifest("listener", ["true"]), Path(), ""), 1)
    nothing = (os.open(os.devnull, os.O_WRONLY), os.open(os.devnull, os.O_RDONLY))
    player.attach(Channel(*nothing, exchange=answer, tap=hear), _Nobody())
    try:
        player.greet()
        yield player
    finally:
        player.dismiss()
