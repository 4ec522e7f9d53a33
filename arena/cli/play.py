"""arena play: plays one game and draws it after each move, from its start or from a turn of a
recorded game.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, NamedTuple

import click
from click.core import ParameterSource

from arena.cli import DONE, FAILED
from arena.cli.board import Mosaic, end_line, move_lines, move_summary
from arena.cli.completion import complete_bots
from arena.cli.cursor import Keyboard
from arena.cli.human import Human
from arena.cli.numbers import WholeNumber
from arena.cli.options import DEAL, as_json, check_utf8, refuse, setting_options
from arena.cli.replay import named_game
from arena.cli.run import sandbox_options
from arena.cli.sections import SectionedCommand
from arena.cli.serve import serve_game
from arena.cli.terminal import say, screen_folded, tell
from arena.commands.bots import bot_finder
from arena.commands.game import GameRequest, Round, SingleGame
from arena.commands.home import results_folder
from arena.commands.playing import SandboxChoice
from arena.commands.requests import with_clock
from arena.errors import ConfigError, printable
from arena.exports.scene import Pair, pair_of
from arena.exports.text import seat_names
from arena.match.referee import GamePlan, Outcome
from arena.match.replay import Resumed, first_difference, resumed, resumed_id
from arena.players.channel import WireLog
from arena.players.player import Player
from arena.records.notes import Note
from arena.records.record import GameRecord, encode_record
from arena.rules import State
from arena.rules.boards import BUILT_IN, find_board
from arena.rules.explain import explained
from arena.rules.notation import PASS, PASSED, parse_move
from arena.rules.terms import Event
from arena.tournament.review import Scripts
from arena.tournament.runs import timing_of
from arena.tournament.schedule import bot_seed, single_game
from arena.tournament.session import new_seed
from arena.tournament.settings import GivenOptions, default_of

OF_THE_TERMINAL = ("words", "has_stderr", "log", "as_json")
"""Parameters that make no sense for a game on a page (``--web``)."""
OTHER_DEALS = ("board", "deal")
"""Parameters that choose a board or tiles, which a recorded game has already."""


class PlayArguments(NamedTuple):
    """The arguments of the command: which bots play which game, and how the game is shown.
    ``words`` is the value of --from (a run and a game), and ``human`` the seat of the person; both
    may be None.
    """

    bots: tuple[str, ...]
    board: str | None
    seed: str | None
    deal: int
    words: tuple[str, str] | None
    turn: int | None
    options: GivenOptions
    human: int | None
    web: bool
    has_stderr: bool
    log: BinaryIO | None
    choice: SandboxChoice
    as_json: bool


@click.command(cls=SectionedCommand)
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...", shell_complete=complete_bots)
@click.option(
    "--board",
    metavar="NAME|FILE",
    help=f"{', '.join(BUILT_IN)} or a board file.  [default: {default_of('boards')[0]}]",
)
@click.option(
    "--seed", callback=check_utf8, help="Text that determines the deck.  [default: a new one]"
)
@click.option(
    "--deal",
    type=DEAL,
    default=0,
    show_default=True,
    help="The number of the deal; a seed gives many.",
)
@click.option(
    "--from", "words", nargs=2, metavar="RUN GAME", help="Play on from a game of a run; see above."
)
@click.option(
    "--turn",
    type=WholeNumber(0),
    help="With --from: play on after this many placements.  [default: 0, the start]",
)
@setting_options("play")
@click.option(
    "--human",
    type=WholeNumber(0, 3),
    metavar="SEAT",
    help="Play yourself, at this seat. The other hands stay hidden.",
)
@click.option(
    "--web", is_flag=True, help="Play yourself on a page in the browser, at seat 0 or --human SEAT."
)
@click.option(
    "--stderr",
    "has_stderr",
    is_flag=True,
    help="Show what bots write to stderr beside each move; with --human, after the end.",
)
@click.option(
    "--log",
    type=click.File("wb", lazy=False),
    metavar="FILE",
    help="Write all lines to and from the bots to a file; see above.",
)
@sandbox_options
@as_json
@click.pass_obj
def play(home: Path, /, **options: Any) -> int:
    """Play one game and draw it. Name two to four bots in the order of their seats; you see the
    board after each move.

    BOT is the name of a bot in bots/ or on the ladder, the path of a bot's folder or script, or a
    built-in bot: random, greedy, careful, greedy-N or careful-N (the best of N legal moves drawn at
    random, N up to 1000). The same bot may have several seats.

    With --human SEAT you take that seat, and the bots take the others: move a tile with the arrow
    keys, or type your moves. With --web you play on a
    page: the first line printed is its address, and a browser opens there if there is a screen. The
    command ends when the game is over and you have left the page, or by Ctrl-C.

    With --json only the game's record is printed. The exit status is 1 if a bot forfeits.

    With --from RUN GAME --turn N, the game goes on from a recorded one: the same moves up to the
    N-th placement, the same tiles after it, and a full clock for everybody. Name a bot for each
    seat. At the end you see how the recorded game ended. With --seed the bots draw other random
    numbers than they did there.

    --log writes one JSON object for each line between the arena and a bot, in order: "ms" since the
    start, "seat", "bot", "way" ("to" or "from" the bot, or its "stderr") and "line", the text
    without its newline. Output that was never read, such as half a line, has "unread": true.

    \b
    arena play greedy --human 0
    arena play careful-16 --web --board lion
    arena play greedy-python random-python
    arena play ./my-bot greedy-python random-python --board lion --seed 7
    arena play ./my-bot greedy-python --stderr
    arena play ./my-bot greedy-python --log wire.jsonl
    arena play ./my-bot careful --from league bird/greedy+random/3/1 --turn 20
    """  # noqa: D301 - \b is click's mark for lines to keep
    return _play(home, PlayArguments(**options))


def _play(home: Path, arguments: PlayArguments) -> int:
    """Plays the game that the arguments ask for; returns the exit status."""
    _refuse_misuse(arguments)
    if arguments.web:
        arguments = arguments._replace(human=arguments.human or 0)
    past, kept = None, None
    if arguments.words:
        run, record = named_game(home, arguments.words)
        past = resumed(Scripts(run).of(record), arguments.turn or 0)
    _refuse_tables(arguments.bots, arguments.human, past)
    bots = list(map(bot_finder(home, say), arguments.bots))
    timing = timing_of(with_clock(arguments.options, say))
    seed = arguments.seed
    if past:
        game = Round(past.script.board, partial(_plan_on, past, seed), past)
        words = [*(arguments.words or ()), "--turn", str(past.turn)]
        words += ["--seed", seed] if seed else []
        again = f"the same tiles again: --from {printable(' '.join(map(quote, words)))}"
    else:
        seed = seed or new_seed()
        board = find_board(arguments.board or default_of("boards")[0])
        game_request = GameRequest(bots, arguments.human or 0, board, seed, arguments.deal, timing)
        if arguments.web:
            return serve_game(home, game_request, arguments.choice)
        game = Round(board, partial(single_game, seed, board.name, arguments.deal))
        if arguments.human is not None:
            try:
                kept = game_request.game
                game = kept.round
            except ConfigError as error:
                say(f"note: this game will not be kept in results/: {error}")
        again = f"the same deck again: --seed {seed} --deal {arguments.deal}"
    sandbox = arguments.choice.sandbox_for(bots)
    single = SingleGame(bots, arguments.human, timing, sandbox, arguments.has_stderr)
    log = WireLog(arguments.log) if arguments.log else None
    outcome = _play_shown(single, game, log, is_drawn=not arguments.as_json)
    has_fault = _show_end(game, outcome.record, as_json=arguments.as_json)
    if not arguments.as_json:
        say(again)
    if kept:
        folder = kept.keep(results_folder(home), outcome, sandbox)
        say(f"kept: {folder}; 'arena review {printable(folder.name)}' grades your moves")
    if arguments.log:
        say(f"log: {arguments.log.name}")
    return FAILED if has_fault else DONE


def _new_stderr(player: Player, turn: int | None = None) -> list[str]:
    """The lines of a player's stderr since the last call. A line that was not written in the turn
    ``turn`` says when it was.
    """
    lines = []
    for when, line in player.take_stderr():
        late = "" if when == f"turn {turn}" else f", {when}"
        lines.append(f"stderr{late}: {line}")
    return lines


def _play_shown(single: SingleGame, game: Round, log: WireLog | None, *, is_drawn: bool) -> Outcome:
    """Plays a game and returns its outcome. With ``is_drawn``, draws the game move by move. Raises
    Void, and click.Abort if the person quits.
    """
    if single.human is not None:
        # With readline, if the system has it, the person can edit what is typed.
        with suppress(ImportError):
            import readline  # noqa: F401, PLC0415
    mosaic = Mosaic(game.board, _laid(game.past))

    def person(names: Sequence[str]) -> Human:
        """The player of the person, who has a cursor if the terminal can move one."""
        return Human(names, input, mosaic, Keyboard.of_terminal() if is_drawn else None)

    with single.seated(game.past, person, log) as players:
        names = seat_names([player.name for player in players])
        has_human = single.human is not None

        def show(
            state: State, seat: int, move: int, events: list[Event], note: Note | None
        ) -> None:
            """Draws the ``move`` of ``seat``, what it changed (``events``), and ``state``, the
            position after it.
            """
            if has_human and state.end is None:
                # A person sees the board only at their own turn. Notes are not shown, because a bot
                # may reveal its hand in them.
                mosaic.lay(move)
                click.echo(move_summary(state, names, seat, move, events))
                return
            remarks = [] if note is None or has_human else [f"note: {note}"]
            if single.has_stderr and not has_human:
                remarks += _new_stderr(players[seat], state.turns + (move == PASS))
            click.echo(move_lines(mosaic, state, names, seat, move, events, remarks))

        if game.past and is_drawn:
            click.echo(_position(game.past, names, single.human, mosaic))
        try:
            return single.play(single.referee(game, players, show if is_drawn else None))
        finally:
            for player in players:
                player.stop()
            for name, player in zip(names, players if single.has_stderr else (), strict=False):
                for line in _new_stderr(player):
                    click.echo(f"{name} {printable(line)}")


def _plan_on(game: Resumed, seed: str | None, bots: Sequence[str]) -> GamePlan:
    """The plan of a game of ``bots`` that continues a recorded one. With a seed, the bots draw
    other random numbers than in the recorded game; None keeps the recorded seeds.
    """
    if seed is None:
        return game.plan(bots)
    name = resumed_id(game.script.record, game.turn, bots)
    return game.plan(bots, [bot_seed(seed, name, seat) for seat in range(len(bots))])


def _laid(game: Resumed | None) -> list[Pair]:
    """The tiles, each a pair of squares, that lie on the board when a recorded game is continued;
    none for a new game (None).
    """
    if game is None:
        return []
    board = game.script.board
    pairs: list[Pair] = []
    for text in game.past:
        if text != PASSED:
            pairs += pair_of(board, parse_move(board, text))
    return pairs


def _position(game: Resumed, names: Sequence[str], human: int | None, mosaic: Mosaic) -> str:
    """The text before the first new move of a continued game: who is to move and, without a person,
    the position.
    """
    record = game.script.record
    state = game.state
    head = screen_folded(
        f"turn {game.turn} of {printable(record.id)}: {names[state.mover]} is to move"
    )
    if human is not None:
        return f"{head}\n"
    return f"{head}\n{mosaic.board(state)}\n{mosaic.seats(state, names)}\n"


def _compared(game: Resumed, new: GameRecord) -> str:
    """A line on how the recorded game ended, and one on the turn at which the ``new`` game differs
    from it.
    """
    old = game.script.record
    turn = first_difference(old, new)
    parted = f"the games part at turn {turn}"
    same = "both games are the same, move by move" if turn is None else parted
    return f"in the record: {printable(end_line(old))}\n{same}"


def _show_end(game: Round, record: GameRecord, *, as_json: bool) -> bool:
    """Prints how a game ended, or its record with ``as_json``, and on stderr each forfeit. Returns
    whether a bot forfeited; in a continued game, forfeits of the recorded part do not count.
    """
    names = seat_names(record.bots)
    faults = record.faults[len(game.past.gone) if game.past else 0 :]
    for fault in faults:
        say(f"forfeit: {names[fault.seat]} ({fault.kind}): {explained(printable(fault.detail))}")
    if as_json:
        click.echo(encode_record(record))
    else:
        tell(end_line(record))
        if game.past:
            tell(_compared(game.past, record))
    return bool(faults)


def _first_given(names: Sequence[str]) -> str:
    """The option, such as ``--deal``, of the first of the parameters ``names`` that the user gave
    on the command line; empty if none.
    """
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in names:
            source = context.get_parameter_source(option.name)
            if source is ParameterSource.COMMANDLINE:
                return option.opts[0]
    return ""


def _refuse_tables(bots: tuple[str, ...], human: int | None, past: Resumed | None) -> None:
    """Raises UsageError unless there is exactly one player, a bot or the person (``human`` is their
    seat), for each seat. If ``past`` is a recorded game to be continued, seats that have left that
    game need no player.
    """
    if past is None:
        seats = len(bots) + (human is not None)
        if not 2 <= seats <= 4:  # noqa: PLR2004 - the game's own limits
            wanted = "2 to 4 bots" if human is None else "1 to 3 bots beside you"
            cure = f"; name another, or play yourself: 'arena play {bots[0]} --human 0'"
            expected = f"{wanted}, got {len(bots)}{cure if seats == 1 else ''}"
            raise click.UsageError(f"expected {expected}")
        if human is not None and human >= seats:
            raise click.UsageError(f"expected --human 0 to {seats - 1}, got {human}")
        return
    names = seat_names(past.script.record.bots)
    free = [seat for seat in range(len(names)) if seat not in past.absent]
    others = [seat for seat in free if seat != human]
    if human is not None and human not in free:
        expected = f"--human to be one of {', '.join(map(str, free))}, got {human}"
    elif len(bots) != len(others):
        names_of_others = [names[seat] for seat in others]
        played = printable(", ".join(names_of_others))
        expected = f"a bot for each of the seats {', '.join(map(str, others))}, got {len(bots)};"
        expected += f" {played} played the game"
    else:
        return
    for fault in past.gone:
        name = printable(names[fault.seat])
        expected += f"; {name} had left it at turn {fault.turn} (seat {fault.seat}, {fault.kind})"
    raise click.UsageError(f"expected {expected}")


def _refuse_misuse(arguments: PlayArguments) -> None:
    """Raises UsageError for options that contradict each other."""
    terminal = _first_given(OF_THE_TERMINAL)
    dealt = _first_given(OTHER_DEALS)
    refuse(
        {
            f"--web cannot be combined with {terminal}: on a page you play one new game": (
                arguments.web and terminal
            ),
            "--turn needs --from RUN GAME, the game to continue": (
                arguments.turn is not None and not arguments.words
            ),
            f"--from cannot be combined with {dealt}: the game has its board and tiles": (
                arguments.words and dealt
            ),
            "--human and --json cannot be combined: a person has to see the board": (
                arguments.human is not None and arguments.as_json
            ),
            "--stderr and --json cannot be combined: --log FILE writes stderr as JSON": (
                arguments.has_stderr and arguments.as_json
            ),
            "--increment-ms needs --game-ms: the increment is added to the bank": (
                arguments.options.get("increment_ms") and "game_ms" not in arguments.options
            ),
        }
    )
