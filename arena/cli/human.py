"""A person at the terminal as a player: moves typed in notation, with completion, lists of places and hints."""

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import click

from arena.cli.drawing import paint
from arena.cli.play import YOU
from arena.errors import MoveError, NotationError
from arena.exports.text import board_text, hands_text
from arena.players.messages import Start
from arena.players.player import Answer, Player, Words
from arena.rules import State
from arena.rules.notation import KIND_SHIFT, PASS, PASSED, TILE_OF_KIND, TILES, move_text, parse_move, parse_square, parse_tile, split_move

HELP = """\
  Rc4Yd4   place: a colour and its square, the other colour and its square
  RY       where a tile of your hand can go
  c4       which of your placements cover a square
  hint     what playing on at random many times speaks for; no tile that you cannot see is looked at
  quit     leave the game"""
PER_LINE = 12
HINT_PLAYOUTS = 4000
MOST_PER_MOVE = 200
SHOWN_HINTS = 3


class Human(Player):
    """A seat for a person. ``ask(prompt)`` reads a line; its end is an EOFError."""

    def __init__(self, names: Sequence[str], ask: Callable[[str], str]) -> None:
        self.name = YOU
        self._names = names
        self._ask = ask
        self._seed = 0

    def begin(self, start: Start) -> None:
        """Says how to play."""
        self._seed = start.seed
        click.echo(f"you sit at seat {start.seat} of {start.players}, with {start.pagodas} pagodas to place\n{HELP}\n")

    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002 - a person has all the time there is
        """Asks until a legal move comes."""
        seat, began_ns = state.mover, time.monotonic_ns()
        click.echo(f"{board_text(state, paint)}\n{hands_text(state, self._names, seen_by=seat)}")
        moves = {move_text(state.board, move): move for move in state.legal_moves()} or {PASSED: PASS}
        with completion(list(moves)):
            while (move := self._read(state, seat, moves)) is None:
                pass
        return Answer(move, time.monotonic_ns() - began_ns)

    def _read(self, state: State, seat: int, moves: dict[str, int]) -> str | None:
        """One line: a legal move, or None after answering anything else."""
        hand = " ".join(TILES[tile] for tile in state.hands[seat])
        try:
            text = self._ask(f"your move, with {hand} (? for help): ").strip()
        except EOFError:
            raise click.Abort from None
        if text in ("quit", "q"):
            raise click.Abort
        if text in moves:
            return text
        click.echo(self._reply(text, state, moves))
        return self._other_order(text, state, moves)

    def _other_order(self, text: str, state: State, moves: dict[str, int]) -> str | None:
        with contextlib.suppress(MoveError):
            canonical = move_text(state.board, parse_move(state.board, text))
            return canonical if canonical in moves else None
        return None

    def _reply(self, text: str, state: State, moves: dict[str, int]) -> str:
        """What to say to a line that is no legal move in canonical notation."""
        if text in ("?", "help", ""):
            return HELP
        if text == "hint":
            return hint(state, list(moves.values()), self._seed + state.turns)
        with contextlib.suppress(NotationError):
            tile = parse_tile(text.upper())
            return listed([name for name, move in moves.items() if _tile_of(move) == tile], f"no place for {text}")
        with contextlib.suppress(NotationError):
            square = parse_square(state.board, text)
            return listed([name for name, move in moves.items() if square in split_move(state.board, move)[1::2]], f"nothing covers {text}")
        try:
            move = parse_move(state.board, text)
        except MoveError as error:
            return f"{error}; ? for help"
        return "" if state.is_legal(move) else state.why_illegal(move)

    def inform(self, line: bytes) -> None:
        """Nothing: every move is drawn."""

    def finish(self) -> None:
        """Nothing is held."""

    def stop(self) -> None:
        """Nothing is held."""

    def dismiss(self) -> None:
        """Nothing is held."""

    def evidence(self) -> tuple[str, Words, str]:
        """There is none."""
        return "", [], ""


def hint(state: State, moves: list[int], seed: int) -> str:
    """The moves after which random play leaves this seat best off, with what the seat cannot see shuffled each time."""
    if moves == [PASS]:
        return "you can only pass"
    times = max(1, min(MOST_PER_MOVE, HINT_PLAYOUTS // len(moves)))
    tried, wins, _, _ = state.rollouts(state.mover, times, seed, "uniform", moves)
    best = sorted(zip(wins, tried, strict=True), key=lambda pair: -pair[0])[:SHOWN_HINTS]
    return "\n".join(f"  {move_text(state.board, move)}  wins {won / times:.0%} of {times} random games" for won, move in best)


def listed(names: Sequence[str], nothing: str) -> str:
    """Moves in lines of a dozen, or a sentence when there is none."""
    if not names:
        return nothing
    return "\n".join("  " + " ".join(names[at : at + PER_LINE]) for at in range(0, len(names), PER_LINE))


@contextlib.contextmanager
def completion(words: list[str]) -> Iterator[None]:
    """Lets the tab key complete these words where the terminal has readline."""
    try:
        import readline  # noqa: PLC0415 - not on every system
    except ImportError:
        yield
        return
    readline.set_completer(lambda text, at: next(iter([word for word in words if word.startswith(text)][at : at + 1]), None))
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(None)


def _tile_of(move: int) -> int:
    return -1 if move == PASS else TILE_OF_KIND[move >> KIND_SHIFT]
