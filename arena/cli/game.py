"""One game at the terminal: a person's seat, with moves typed in notation, completion, lists of
places and hints; what is drawn after each move; and a recorded game that is played on from a turn.
"""

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import or_
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import click
from click.core import ParameterSource

from arena.cli.board import Mosaic, end_line, move_lines, move_summary, squares_under
from arena.cli.options import one_argument
from arena.cli.replay import named_game
from arena.cli.rules import rules_text, show_rules
from arena.cli.terminal import screen_folded, tell, wait_for_key
from arena.commands.game import Round, SingleGame, best_moves
from arena.errors import MoveError, NotationError, UserError, printable
from arena.exports.scene import Pair, pair_of
from arena.exports.text import seat_names
from arena.match.referee import GamePlan, Outcome
from arena.match.replay import Resumed, first_difference, reshuffled, resumed, resumed_id
from arena.players.channel import WireLog
from arena.players.messages import Start
from arena.players.player import YOU, Answer, Player
from arena.players.process import adopt_orphans
from arena.records.record import GameRecord, Note
from arena.rules import State
from arena.rules.explain import where_to_read
from arena.rules.notation import (
    PASS,
    PASSED,
    TILES,
    move_text,
    parse_move,
    parse_square,
    parse_tile,
    split_move,
    tile_of,
)
from arena.rules.terms import Event
from arena.tournament.review import Scripts
from arena.tournament.schedule import bot_seed

HELP = """\
  {move:<8} place a tile: one colour and its square, then the other
  {tile:<8} show where a tile of your hand can go
  {square:<8} show which of your moves cover a square
  hint     show the moves that do best in many random games from here
  rules    read the rules; R4.4 or 'rules village' for one of them
  quit     leave the game"""
GOAL = """\
the first to place all their pagodas wins: make provinces (two or more touching
spaces of one colour) and reach villages"""
FIRST = """\
type a move such as {}: one colour and its square, then the other
on the board V is a village, and a number the seat of the owner; type rules for more"""
PER_LINE = 8
EXAMPLE = "Rc4Yd4"
"""The move in errors about notation. It need not be legal here."""
_ABOUT_RULES = re.compile(r"rules( .*)?|R\d+(\.\d+)?|r\d+\.\d+")
"""Written small, r4 is a square of a large board."""
OTHER_DEALS = ("board", "match", "deal")
"""Options that choose tiles or a board, which a recorded game has already."""


class Human(Player):
    """A seat for a person. ``ask(prompt)`` reads a line; it raises EOFError at the end of input."""

    def __init__(self, names: Sequence[str], ask: Callable[[str], str], mosaic: Mosaic) -> None:
        self.name = YOU
        self._mosaic = mosaic
        self._names = names
        self._ask = ask
        self._seed = 0
        self._is_new = True

    def begin(self, start: Start) -> None:
        """Says what the goal is. How to move comes at the first turn, with a move that is legal
        there.
        """
        self._seed, self._is_new = start.seed, True
        seat = f"seat {start.seat} of {start.players}, with {start.pagodas} pagodas to place"
        tell(f"you sit at {seat}\n{GOAL}\n")

    # A person has as long as they like.
    def choose(self, state: State, budget_ns: int) -> Answer:  # noqa: ARG002
        """Asks until the person types a legal move."""
        seat, began_ns = state.mover, time.monotonic_ns()
        mosaic = self._mosaic
        click.echo(f"{mosaic.board(state)}\n{mosaic.seats(state, self._names, seen_by=seat)}")
        moves = {move_text(state.board, move): move for move in state.legal_moves()} or {
            PASSED: PASS
        }
        if self._is_new:
            tell(FIRST.format(example(moves)))
            self._is_new = False
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
        with contextlib.suppress(MoveError):
            # Its squares may stand in either order.
            if (move := move_text(state.board, parse_move(state.board, text))) in moves:
                return move
        if reply := self._reply(text, state, moves):
            tell(reply)
        return None

    def _reply(self, text: str, state: State, moves: dict[str, int]) -> str:
        """The reply to a line that is not a legal move."""
        if text in ("?", "help", ""):
            return help_text(state, moves)
        if text == "hint" and PASS in moves.values():
            return "you can only pass"
        if text == "hint":
            # What the seat cannot see is shuffled each time.
            best = best_moves(state, list(moves.values()), self._seed + state.turns)
            return "\n".join(
                f"  {move_text(state.board, move)}  wins {share:.0%} of {games} random games"
                for move, share, games in best
            )
        if _ABOUT_RULES.fullmatch(text):
            try:
                show_rules(rules_text(text.removeprefix("rules").strip()))
            except UserError as error:
                return f"{error}; {error.hint}"
            return ""
        with contextlib.suppress(NotationError):
            return self._where(state, moves, text)
        try:
            move = parse_move(state.board, text)
        except MoveError as error:
            return f"{str(error).replace(EXAMPLE, example(moves))}; ? for help"
        reason = state.why_illegal(move)
        command = where_to_read(reason)
        return f"{reason}; type {command.split()[-1]} to read the rule" if command else reason

    def _where(self, state: State, moves: dict[str, int], text: str) -> str:
        """The placements of the tile, or over the square, that the text names: the board with every
        square marked that they cover, and the moves below it. Raises NotationError when it names
        neither.
        """
        board, held = state.board, [move for move in moves.values() if move != PASS]
        # A tile has two colours.
        if len(text) == 2 and text.isalpha():  # noqa: PLR2004
            tile = parse_tile(text.upper())
            if tile not in state.hands[state.mover]:
                return f"you do not hold {TILES[tile]}"
            found = [move for move in held if tile_of(move) == tile]
            none = f"{TILES[tile]} fits nowhere"
        else:
            square = parse_square(board, text)
            found = [move for move in held if square in split_move(board, move)[1::2]]
            none = f"none of your moves covers {text}"
        if not found:
            return none
        marked = reduce(or_, (squares_under(board, move) for move in found))
        names = [move_text(board, move) for move in found]
        starts = range(0, len(names), PER_LINE)
        lines = ["  " + " ".join(names[start : start + PER_LINE]) for start in starts]
        return "\n".join([self._mosaic.board(state, marked), *lines])


def help_text(state: State, moves: dict[str, int]) -> str:
    """What to type, with a move, a tile and a square that make sense on this board."""
    name = example(moves)
    if name == PASSED:
        return HELP.format(move=PASSED, tile=TILES[0], square="a1")
    tile, square = TILES[tile_of(moves[name])], split_move(state.board, moves[name])[1]
    return HELP.format(move=name, tile=tile, square=state.board.name_of(square))


def example(moves: dict[str, int]) -> str:
    """A legal move, from the middle of the list."""
    return list(moves)[len(moves) // 2]


def new_stderr(player: Player, turn: int | None = None) -> list[str]:
    """The lines of a player that were not shown yet. Those not of this turn say when they came."""
    return [
        f"stderr: {line}" if when == f"turn {turn}" else f"stderr, {when}: {line}"
        for when, line in player.take_stderr()
    ]


def play_shown(
    single: SingleGame, game: Round, log: WireLog | None, *, is_drawn: bool, step: bool
) -> Outcome:
    """A game, which is drawn as it is played if ``is_drawn``; ``step`` waits for a key after each
    move. Raises Void, click.Abort.
    """
    adopt_orphans()
    if single.human is not None:
        # What is typed can be edited then, where the system has it.
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401, PLC0415
    mosaic = Mosaic(game.board, laid(game.past))
    with single.seated(game.past, lambda names: Human(names, input, mosaic), log) as players:
        names = seat_names([player.name for player in players])
        has_human = single.human is not None

        def show(
            state: State, seat: int, move: int, events: list[Event], note: Note | None
        ) -> None:
            if has_human and state.end is None:
                # A person sees the board when it is their turn, and no notes: a bot may speak of
                # its hand.
                mosaic.lay(move)
                click.echo(move_summary(state, names, seat, move, events))
                return
            told = [] if note is None or has_human else [f"note: {note}"]
            if not has_human:
                told += new_stderr(players[seat], state.turns + (move == PASS))
            click.echo(move_lines(mosaic, state, names, seat, move, events, told))
            if step and state.end is None:
                wait_for_key()

        if game.past and is_drawn:
            click.echo(position_shown(game.past, names, single.human, mosaic))
        try:
            return single.play(single.referee(game, players, show if is_drawn else None))
        finally:
            for player in players:
                player.stop()
            for name, player in zip(names, players, strict=True):
                for line in new_stderr(player):
                    click.echo(f"{name} {printable(line)}")


class ResumeChoice(NamedTuple):
    """What the user says of the game to play on from, if there is one."""

    words: tuple[str, str] | None
    turn: int | None
    is_reshuffled: bool

    def find(self, home: Path) -> Resumed | None:
        """The game at its turn. Raises UsageError, RunError."""
        if self.words is None:
            if self.turn is not None or self.is_reshuffled:
                option = "--turn" if self.turn is not None else "--reshuffle"
                raise click.UsageError(
                    f"expected --from RUN GAME with {option}: it names the game to play on from"
                )
            return None
        context = click.get_current_context()
        for name in OTHER_DEALS:
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise click.UsageError(
                    f"expected --from without --{name}, because the game has its board and tiles"
                )
        folder, record = named_game(home, self.words)
        return resumed(Scripts(folder).of(record), self.turn or 0)

    def round_of(self, game: Resumed, seed: str | None) -> Round:
        """The game to play, dealt anew if that is wanted. Raises RunError."""
        if self.is_reshuffled:
            game = reshuffled(game, str(seed))
        return Round(game.script.board, partial(_plan_on, game, seed), game)

    def again(self, seed: str | None) -> str:
        """The options that lead to the same tiles again."""
        words = [*(self.words or ()), "--turn", str(self.turn or 0)]
        words += ["--seed", seed] if seed else []
        words += ["--reshuffle"] if self.is_reshuffled else []
        return f"the same tiles again: --from {printable(' '.join(map(quote, words)))}"


resume_options = one_argument(
    "resume",
    ResumeChoice,
    click.option(
        "--from",
        "words",
        nargs=2,
        metavar="RUN GAME",
        help="Play on from a game of a run; see above.",
    ),
    click.option(
        "--turn",
        type=click.IntRange(0),
        help="With --from: play on after this many placements.  [default: 0, the start]",
    ),
    click.option(
        "--reshuffle",
        "is_reshuffled",
        is_flag=True,
        help="With --from: deal anew what the seat to move has not seen.",
    ),
)


def _plan_on(game: Resumed, seed: str | None, bots: Sequence[str]) -> GamePlan:
    """The plan of a game that goes on; with a seed the bots draw other random numbers than in the
    recorded game.
    """
    if seed is None:
        return game.plan(bots)
    name = resumed_id(game.script.record, game.turn, bots)
    return game.plan(bots, [bot_seed(seed, name, seat) for seat in range(len(bots))])


def laid(game: Resumed | None) -> list[Pair]:
    """The tiles that lay before the game went on."""
    if game is None:
        return []
    board = game.script.board
    placed = [parse_move(board, text) for text in game.past if text != PASSED]
    return [pair for move in placed for pair in pair_of(board, move)]


def position_shown(game: Resumed, names: Sequence[str], human: int | None, mosaic: Mosaic) -> str:
    """Where the game goes on, before its first new move."""
    record, state = game.script.record, game.state
    head = screen_folded(
        f"turn {game.turn} of {printable(record.id)}: {names[state.mover]} is to move"
    )
    if human is not None:
        return f"{head}\n"
    return f"{head}\n{mosaic.board(state)}\n{mosaic.seats(state, names)}\n"


def compared(game: Resumed, new: GameRecord) -> str:
    """How the recorded game ended, and where the new one left it."""
    old = game.script.record
    turn = first_difference(old, new)
    parted = f"the games part at turn {turn}"
    same = "both games are the same, move by move" if turn is None else parted
    return f"in the record: {printable(end_line(old))}\n{same}"
