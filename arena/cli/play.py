"""arena play: one game, drawn after each move."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from platform import node
from typing import TYPE_CHECKING, NamedTuple

import click

from arena.cli import DONE, FAILED
from arena.cli.drawing import end_line, move_lines, move_summary, places_text
from arena.cli.human import YOU, Human
from arena.cli.options import (
    DEAL,
    SandboxChoice,
    as_json,
    check_utf8,
    sandbox_options,
    split_commas,
)
from arena.cli.resuming import (
    ResumeChoice,
    absent_players,
    compared,
    plan_on,
    position_shown,
    refuse_other_tables,
    resume_options,
)
from arena.cli.settings import TIMES, setting_options
from arena.cli.stderr import StderrLines
from arena.cli.terminal import say, wait_for_key
from arena.commands.bots import bot_finder
from arena.commands.request import with_clock
from arena.errors import UserError, printable
from arena.exports.text import seat_names
from arena.match.clock import Timing
from arena.match.referee import GamePlan, Referee, Watch
from arena.match.resume import Resumed, reshuffled
from arena.players.bot import BotPlayer
from arena.players.builtin import built_in_player, is_built_in
from arena.players.folder import Bot
from arena.players.inprocess import InProcessPlayer
from arena.players.player import Player
from arena.players.process import adopt_orphans
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.players.stderr import Stderr
from arena.players.wire import WireLog, logged_player
from arena.records.note import Note
from arena.records.record import DEALS, GameRecord, encode_record
from arena.rules import State
from arena.rules.boards import Board, find_board
from arena.rules.notation import PASS
from arena.rules.rounds import rounds_of, title_of
from arena.rules.rulebook import explained
from arena.rules.terms import Event
from arena.tournament.config import DEFAULT_BOARDS
from arena.tournament.request import RunOptions
from arena.tournament.schedule import single_game
from arena.tournament.session import new_seed

if TYPE_CHECKING:
    from arena.ratings.tally import Match


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT BOT...")
@click.option("--board", metavar="NAME|FILE", help="bird, lion or a board file.  [default: bird]")
@click.option(
    "--match",
    callback=split_commas,
    metavar="NAME|FILE,...",
    help="Play a round on each of these boards, and add up the results.",
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
@resume_options
@setting_options(*TIMES)
@click.option(
    "--human",
    type=click.IntRange(0, 3),
    metavar="SEAT",
    help="Play yourself, at this seat. The other hands stay hidden.",
)
@click.option("--step", is_flag=True, help="Stop after each move until you press a key.")
@click.option(
    "--stderr",
    "has_stderr",
    is_flag=True,
    help="Show what bots write to stderr beside each move; with --human, after the end.",
)
@click.option(
    "--log",
    "log_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write all lines to and from the bots to a file; see above.",
)
@sandbox_options
@as_json
@click.pass_obj
# One for each option.
def play(  # noqa: PLR0913
    home: Path,
    /,
    bots: tuple[str, ...],
    board: str | None,
    match: list[str] | None,
    seed: str | None,
    deal: int,
    resume: ResumeChoice,
    options: RunOptions,
    *,
    human: int | None,
    step: bool,
    has_stderr: bool,
    log_path: Path | None,
    choice: SandboxChoice,
    as_json: bool,
) -> int:
    """Play one game and draw it. Name two to four bots in the order of their seats; you see the
    board after each move.

    BOT is the name of a bot in bots/ or on the ladder, the path of a bot's folder or script, or a
    built-in bot: random, greedy, careful, greedy-N or careful-N (the best of N legal moves drawn at
    random, N up to 1000). The same bot may have several seats.

    With --human SEAT you take that seat, and the bots take the others. With --step the game stops
    after each move until you press a key. With --json only the game's record is printed. The exit
    status is 1 if a bot forfeits.

    With --match, the lowest total of pagodas left after all rounds wins. You may name a board
    twice, or name a board file.

    With --from RUN GAME --turn N, the game goes on from a recorded one: the same moves up to the
    N-th placement, the same tiles after it, and a full clock for everybody. Name a bot for each
    seat. At the end you see how the recorded game ended. With --seed the bots draw other random
    numbers than they did there. With --reshuffle, what the seat to move cannot see is dealt anew.

    --log writes one JSON object for each line between the arena and a bot, in order: "ms" since the
    start, "seat", "bot", "way" ("to" or "from" the bot, or its "stderr") and "line", the text
    without its newline. Output that was never read, such as half a line, has "unread": true.

    \b
    arena play greedy --human 0
    arena play greedy-python random-python --step
    arena play ./my-bot greedy-python random-python --board lion --seed 7
    arena play greedy-python --human 0 --match bird,lion
    arena play ./my-bot greedy-python --stderr
    arena play ./my-bot greedy-python --log wire.jsonl
    arena play ./my-bot careful --from league bird/greedy+random/3/1 --turn 20
    """  # noqa: D301 - \b is click's mark for lines to keep
    names = _board_names(board, match)
    game = resume.find(home)
    if game is None:
        _refuse_tables(bots, human)
    else:
        refuse_other_tables(game, bots, human)
    _refuse_misuse(human, options, as_json=as_json, has_stderr=has_stderr)
    if step:
        _refuse_steps(human, as_json=as_json)
    found = list(map(bot_finder(home, say, in_process=False), bots))
    if game is None:
        seed = seed or new_seed()
        rounds = _planned([find_board(name) for name in names], seed, deal)
    else:
        if resume.is_reshuffled:
            seed = seed or new_seed()
            game = reshuffled(game, seed)
        rounds = [Round(game.script.board, partial(plan_on, game, seed), game)]
    table = SingleGame(
        found, human, with_clock(options, say).timing, choice.sandbox_for(found), step, has_stderr
    )
    with _opened(log_path) as log:
        records = list(_played(table, rounds, log, as_json=as_json))
    if not as_json:
        if len(records) > 1:
            click.echo(_total(records))
        decks = "the same decks again" if len(records) > 1 else "the same deck again"
        again = resume.again(seed) if game else f"{decks}: --seed {seed} --deal {deal}"
        click.echo(again, err=True)
    if log_path:
        click.echo(f"log: {log_path}", err=True)
    old = len(game.gone) if game else 0
    return FAILED if any(record.faults[old:] for record in records) else DONE


def _board_names(board: str | None, match: list[str] | None) -> list[str]:
    if board is not None and match is not None:
        raise click.UsageError(
            "expected --board or --match, got both: --match names the board of each round"
        )
    return match or ([board] if board else list(DEFAULT_BOARDS))


class Round(NamedTuple):
    """A game to play: its board, what makes its plan of the bots' labels by seat, and the recorded
    game that it goes on from, if any.
    """

    board: Board
    plan_of: Callable[[Sequence[str]], GamePlan]
    past: Resumed | None = None


def _planned(boards: Sequence[Board], seed: str, deal: int) -> list[Round]:
    """The rounds on these boards. Raises UsageError if a record cannot hold the number of a round's
    deal.
    """
    deals = [own for _, own in rounds_of([board.name for board in boards], deal)]
    if max(deals) >= DEALS:
        raise click.UsageError(
            f"expected deals below {DEALS} in all rounds, got {max(deals)}: a match that plays a"
            " board several times uses that many deals of it; use a smaller --deal"
        )
    return [
        Round(board, partial(single_game, seed, board.name, own))
        for board, own in zip(boards, deals, strict=True)
    ]


def _played(
    table: "SingleGame", rounds: Sequence[Round], log: WireLog | None, *, as_json: bool
) -> Iterator[GameRecord]:
    """Plays and shows one round after another."""
    for number, game in enumerate(rounds, 1):
        if len(rounds) > 1 and not as_json:
            click.echo(f"round {number} of {len(rounds)}, on {game.board.name}")
        record = table.play(game, log, is_drawn=not as_json)
        _show_end(record, game.past, as_json=as_json)
        yield record


def _show_end(record: GameRecord, past: Resumed | None, *, as_json: bool) -> None:
    """The record of a game, or how it ended; forfeits go to stderr."""
    names = seat_names(record.bots)
    for fault in record.faults[len(past.gone) if past else 0 :]:
        click.echo(
            f"forfeit: {names[fault.seat]} ({fault.kind}): {explained(printable(fault.detail))}",
            err=True,
        )
    click.echo(
        encode_record(record) if as_json else end_line(record.end, names, record.left, record.ranks)
    )
    if past and not as_json:
        click.echo(compared(past, record))


def _total(records: Sequence[GameRecord]) -> str:
    """What was played, and who stands where after all rounds."""
    # Pandas: a single game does without.
    from arena.ratings.matches import Matches  # noqa: PLC0415

    boards = [record.board for record in records]
    whole: list[Match] = []
    matches = Matches(boards, whole.append)
    for record in records:
        matches.add(record)
    places = places_text(seat_names(records[0].bots), whole[0].left, whole[0].ranks)
    return f"match of {title_of(boards)}: {places}"


def _refuse_tables(bots: tuple[str, ...], human: int | None) -> None:
    seats = len(bots) + (human is not None)
    if not 2 <= seats <= 4:  # noqa: PLR2004 - the game's own limits
        wanted = "2 to 4 bots" if human is None else "1 to 3 bots beside you"
        cure = (
            f"; name another, or play yourself: 'arena play {bots[0]} --human 0'"
            if seats == 1
            else ""
        )
        raise click.UsageError(f"expected {wanted}, got {len(bots)}{cure}")
    if human is not None and human >= seats:
        raise click.UsageError(f"expected --human 0 to {seats - 1}, got {human}")


def _refuse_misuse(
    human: int | None, options: RunOptions, *, as_json: bool, has_stderr: bool
) -> None:
    if human is not None and as_json:
        raise click.UsageError(
            "expected --human or --json, got both: a person has to see the board"
        )
    if has_stderr and as_json:
        raise click.UsageError(
            "expected --stderr or --json, got both: --log FILE writes stderr as JSON"
        )
    if options.increment_ms and options.game_ms is None:
        raise click.UsageError(
            "expected --game-ms with --increment-ms: an increment is added to a bank"
        )


def _refuse_steps(human: int | None, *, as_json: bool) -> None:
    if human is not None or as_json:
        raise click.UsageError(
            "expected --step without --human or --json: it pauses a game between bots that is drawn"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("expected a terminal for --step: without one, leave it out")


@contextmanager
def _opened(path: Path | None) -> Iterator[WireLog | None]:
    """A log in a file, or None without a path. Raises UserError."""
    if path is None:
        yield None
        return
    try:
        file = path.open("wb")
    except OSError as error:
        raise UserError(
            f"expected to write the log {path}, got {error}",
            "name a file in a folder that you can write to",
        ) from None
    with file:
        yield WireLog(file)


class SingleGame(NamedTuple):
    """Who plays, and how. ``human`` is the seat of a person, the bots take the others; ``step``
    waits for a key after each move, and ``has_stderr`` shows what bots write to stderr.
    """

    bots: Sequence[Bot]
    human: int | None
    timing: Timing
    sandbox: Sandbox
    step: bool = False
    has_stderr: bool = False

    def play(self, game: Round, log: WireLog | None, *, is_drawn: bool) -> GameRecord:
        """The record of a game, which is drawn as it is played if ``is_drawn``. Raises Void,
        click.Abort.
        """
        adopt_orphans()
        with self._staged() as bots:
            players = self._players(bots, game.past, log)
            labels = [player.name for player in players]
            names = seat_names(labels)
            plan = game.plan_of(labels)
            said = StderrLines(players if self.has_stderr else [], names)
            watches = (self._watch(names, said),) if is_drawn else ()
            if game.past and is_drawn:
                click.echo(position_shown(game.past, names, self.human))
            try:
                return (
                    Referee(plan, game.board, players, self._timings(labels), *watches)
                    .play(sandbox=self.sandbox.text(labels), host=node())
                    .record
                )
            finally:
                for player in players:
                    player.stop()
                said.show_rest()

    def _timings(self, labels: Sequence[str]) -> list[Timing]:
        """The time control of each seat."""
        return [self.timing.of(label) for label in labels]

    @contextmanager
    def _staged(self) -> Iterator[list[Bot]]:
        """The bots, with those that are processes copied to a temporary folder."""
        processes = [at for at, bot in enumerate(self.bots) if not is_built_in(bot)]
        with staged_for_a_while(
            *(self.bots[at] for at in processes), sandbox=self.sandbox
        ) as staged:
            there = dict(zip(processes, staged, strict=True))
            yield [there.get(at, bot) for at, bot in enumerate(self.bots)]

    def _players(
        self, bots: Sequence[Bot], past: Resumed | None, log: WireLog | None
    ) -> list[Player]:
        """The players by seat."""
        seated = absent_players(past)
        free = [seat for seat in range(4) if seat != self.human and seat not in seated]
        for bot, seat in zip(bots, free, strict=False):
            seated[seat] = self._player(bot, seat, log)
        if self.human is not None:
            labels = {self.human: YOU, **{seat: player.name for seat, player in seated.items()}}
            names = seat_names([labels[seat] for seat in sorted(labels)])
            seated[self.human] = Human(names, input)
        return [seated[seat] for seat in sorted(seated)]

    def _player(self, bot: Bot, seat: int, log: WireLog | None) -> BotPlayer | InProcessPlayer:
        """A bot's player; a process is logged if there is a log."""
        if is_built_in(bot):
            return built_in_player(bot)
        startup_ms, clock = self.timing.startup_ms, self.timing.clock
        if log:
            return logged_player(bot, startup_ms, self.sandbox, log, seat, clock)
        stderr = Stderr(at_once=True) if self.has_stderr else None
        return BotPlayer(bot, startup_ms, self.sandbox, clock, stderr=stderr)

    def _watch(self, names: Sequence[str], said: StderrLines) -> Watch:
        """What is shown after each move: everything, or less if a person plays, who sees the board
        when it is their turn.
        """

        def show(
            state: State, seat: int, move: int, events: list[Event], note: Note | None
        ) -> None:
            # Not to a person who plays: a bot may speak of its hand.
            told = [] if note is None or self.human is not None else [f"note: {note}"]
            if self.human is None:
                told += said.new(seat, state.turns - (move != PASS))
            if self.human is None or state.end is not None:
                click.echo(move_lines(state, names, seat, move, events, told))
            else:
                click.echo(move_summary(state, names, seat, move, events))
            if self.step and state.end is None:
                wait_for_key()

        return show
