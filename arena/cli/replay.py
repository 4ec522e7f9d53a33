"""arena replay: shows a finished game of a run move by move, and asks a bot again for one of its
decisions.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import click

from arena.cli import DONE, FAILED
from arena.cli.board import Mosaic, end_line, move_lines
from arena.cli.completion import complete_bots, complete_runs
from arena.cli.numbers import WholeNumber
from arena.cli.options import as_json, refuse, tell_json
from arena.cli.run import sandbox_options
from arena.cli.sections import BriefCommand
from arena.cli.target import write_target
from arena.cli.terminal import say, screen_folded, tell
from arena.commands.playing import SandboxChoice
from arena.commands.review import bot_to_ask, note_bank
from arena.commands.runs import named_run
from arena.errors import RunError, printable
from arena.exports.report.animation import animated_picture
from arena.exports.text import seat_names
from arena.match.decisions import Decision, decisions_of, retrace
from arena.match.replay import ms_at, old_ms, start_state
from arena.match.replay import replay as replay_record
from arena.players.bot import BotPlayer
from arena.players.crashes import with_own_paths, without_quoted
from arena.records.grades import newest_review, read_reviews
from arena.records.journal import board_of
from arena.records.record import GameRecord, encode_record, faults_of
from arena.records.regular import write_durably
from arena.rules.boards import Board
from arena.rules.explain import explained
from arena.rules.notation import PASS
from arena.rules.positions import position_text
from arena.rules.terms import REVISION
from arena.tournament.review import Scripts
from arena.tournament.run import Run

REPLAYS = "replays"
"""The folder, in a run's folder, for pages and pictures of single games."""
STDERR_LINES = 8
"""The most lines of a bot's stderr that are shown."""


def named_game(home: Path, words: Sequence[str]) -> tuple[Run, GameRecord]:
    """The run and the record that the words ``[RUN] GAME`` name. Raises UsageError, RunError."""
    if len(words) not in (1, 2):
        raise click.UsageError(
            "expected the id of a game, or a run and the id of a game, got"
            f" {' '.join(words) or 'nothing'}"
        )
    run = named_run(home, words[0] if len(words) == 2 else None)  # noqa: PLR2004
    return run, run.record(words[-1])


@click.command(cls=BriefCommand)
@click.argument("words", nargs=-1, metavar="[RUN] GAME", shell_complete=complete_runs)
@click.option(
    "--turn",
    type=WholeNumber(0),
    help="Show only the board after this many placements; 0 is the start.",
)
@click.option(
    "--seat",
    type=WholeNumber(0, 3),
    help="Show only what this seat knew: the other hands stay hidden.",
)
@click.option(
    "--line",
    "is_line",
    is_flag=True,
    help="Show positions as one line of text each; see NOTATION.md.",
)
@click.option(
    "--bot",
    "bot_text",
    metavar="BOT",
    shell_complete=complete_bots,
    help="Ask this bot (a name or path) for the decision at --turn.",
)
@click.option(
    "--html",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write the game as an HTML page to step through.",
)
@click.option(
    "--svg",
    is_flag=False,
    flag_value="",
    metavar="[FILE]",
    help="Write the game as a picture that plays itself, for a README or a chat.",
)
@sandbox_options
@as_json
@click.pass_obj
def replay(
    home: Path,
    /,
    words: tuple[str, ...],
    turn: int | None,
    seat: int | None,
    *,
    is_line: bool,
    bot_text: str | None,
    choice: SandboxChoice,
    as_json: bool,
    **named: str | None,
) -> int | None:
    """Replay a game of a run from its record. Without RUN it is the newest run; GAME is the game's
    id, as in games.jsonl.

    \b
    arena replay bird/greedy-python+random-python/3/1
    arena replay league bird/greedy-python+random-python/3/1
    arena replay league bird/greedy-python+random-python/3/1 --turn 20 --seat 0
    arena replay league bird/greedy-python+random-python/3/1 --html
    arena replay league bird/greedy-python+random-python/3/1 --svg game.svg
    arena replay bird/greedy-python+random-python/3/1 --turn 20 --bot ./my-bot

    The page and the picture go to replays/ in the run's folder, or to FILE.

    With --bot, the bot gets the same lines and the same seed as the seat did, up to its turn after
    that many placements. Its answers on the way are ignored. Then you see its answer next to the
    recorded one. The exit status is 1 if the bot commits a fault. --sandbox, --allow,
    --trust and --unsafe-no-sandbox apply to this bot.
    """  # noqa: D301 - \b is click's mark for lines to keep
    files = {kind: name for kind, name in sorted(named.items()) if name is not None}
    options = {"turn": turn, "bot": bot_text, **files}
    _refuse_misuse({**options, "line": is_line, "json": as_json})
    run, record = named_game(home, words)
    for kind, name in files.items():
        click.echo(printable(str(_write_file(run, record, kind, name))))
    if files:
        return None
    if as_json and bot_text is None:
        click.echo(encode_record(record))
        return None
    _expect_in_game("--turn", turn, record.turns)
    _expect_in_game("--seat", seat, len(record.bots) - 1)
    if bot_text is not None and turn is not None:
        return _ask_again(home, run, record, turn, seat, bot_text, choice, as_json=as_json)
    if is_line:
        _print_lines(run, record, turn, seat)
        return None
    for placed, text in _pages(run, record, seat):
        if turn in (None, placed):
            click.echo(text)
            if placed == turn:
                break
    return None


def _refuse_misuse(options: Mapping[str, object]) -> None:
    """Raises UsageError for options that contradict each other."""
    given = {name for name, value in options.items() if value is not None and value is not False}
    files = given & {"html", "svg"}
    refuse(
        {
            f"--{min(files, default='')} cannot be combined with --json or --turn: it shows the"
            " whole game": files and given & {"json", "turn"},
            "--bot needs --turn and cannot be combined with --html or --svg: it asks for one"
            " decision": "bot" in given and ("turn" not in given or files),
            "--line cannot be combined with --json, --html, --svg or --bot": (
                "line" in given and (files or given & {"json", "bot"})
            ),
        }
    )


def _expect_in_game(option: str, value: int | None, most: int) -> None:
    """Raises BadParameter if ``value``, that of the option ``option``, is above ``most``; None is
    allowed.
    """
    if value is not None and value > most:
        raise click.BadParameter(f"expected 0 to {most}, got {value}", param_hint=option)


def _write_file(run: Run, record: GameRecord, kind: str, name: str) -> Path:
    """Writes a game as a page (``kind`` is ``html``) or as a picture (``svg``), and returns the
    path: ``name``, or the usual place in the run's folder if that is empty.
    """
    if kind == "html":
        # Pandas and Jinja: only --html loads them.
        from arena.exports.report.game_page import game_page  # noqa: PLC0415

        text = game_page(run, record)
    else:
        text = animated_picture(record, _board(run, record))
    if not name:
        return write_replay(run, record.id, kind, text)
    write_target(Path(name), text.encode())
    return Path(name)


def write_replay(run: Run, game: str, kind: str, text: str) -> Path:
    """Writes ``text``, the page or the picture of the game with the id ``game``, to its usual place
    in the run's folder, and returns the path. ``kind`` is the ending of the file, ``html`` or
    ``svg``. Raises RunError, also if the id would lead to a place outside the folder.
    """
    path = Path(run.folder, REPLAYS, *f"{game}.{kind}".split("/"))
    try:
        write_durably(path, text.encode(), run.folder)
    except RunError as error:
        raise RunError(str(error), f"name a file: --{kind} FILE") from error
    return path


def _ask_again(
    home: Path,
    run: Run,
    record: GameRecord,
    turn: int,
    seat: int | None,
    text: str,
    choice: SandboxChoice,
    *,
    as_json: bool,
) -> int:
    """Asks the bot that ``text`` names for the decision after ``turn`` placements, and prints the
    answer; returns the exit status. ``seat`` is needed only if two seats had to decide at that
    turn. Raises BadParameter, UserError, Void.
    """
    seat = _deciding_seat(record, turn, seat)
    scripts = Scripts(run)
    script = scripts.of(record)
    note_bank(scripts, say)
    with bot_to_ask(home, scripts, text, record.bots[seat], choice) as (bot, sandbox):
        player = BotPlayer(bot, script.timing.startup_ms, sandbox, script.timing.clock)
        try:
            decision = retrace(script, seat, player, wanted=turn).decisions[-1]
            stderr = with_own_paths(bot.base, bot.folder, player.evidence()[2])
        finally:
            player.stop()
    if as_json:
        tell_json({"game": record.id, "seat": seat, "bot": bot.label, **decision._asdict()})
    else:
        # The last one: the moves after the placement may be passes.
        pages = dict(_pages(run, record, seat))
        click.echo(pages[turn])
        tell(f"then  {_recorded_text(record, seat, decision)}")
        now, *lines = answer_lines(bot.label, decision, stderr)
        for line in (f"now   {now}", *lines):
            tell(line)
    if decision.turn < turn:
        say(f"note: this was at turn {decision.turn}, before turn {turn}")
    return FAILED if decision.fault else DONE


def _deciding_seat(record: GameRecord, turn: int, seat: int | None) -> int:
    """The seat that had to decide after ``turn`` placements: ``seat``, or if that is None the only
    one. Raises BadParameter if there is no such seat, or more than one.
    """
    turns = {at: decisions_of(record, at) for at in range(len(record.bots))}
    asked = range(len(record.bots)) if seat is None else [seat]
    matching = [at for at in asked if turn in turns[at]]
    if len(matching) == 1:
        return matching[0]
    option = "--seat" if matching else "--turn"
    if matching:
        expected = f"one of {', '.join(map(str, matching))}: both had to decide at turn {turn}"
    elif seat is None:
        expected = f"a turn before which a bot had to decide, 0 to {record.turns - 1}, got {turn}"
    else:
        known = ", ".join(map(str, turns[seat])) or "none"
        expected = f"a turn at which seat {seat} had to decide ({known}), got {turn}"
    raise click.BadParameter(f"expected {expected}", param_hint=option)


def _recorded_text(record: GameRecord, seat: int, decision: Decision) -> str:
    """The recorded move of a decision and its time; or, if the seat forfeited
    instead, its fault.
    """
    if not decision.old:
        fault = faults_of(record, seat)[0]
        return printable(f"forfeit ({fault.kind}): {explained(fault.detail)}")
    ms = ms_at(record, decision.turn)
    took = (
        f"{ms:.1f} ms"
        if ms is not None
        else (f"{old_ms(record, seat):.1f} ms per answer in this game on average")
    )
    return printable(f"{decision.old}  ({record.bots[seat]} took {took})")


def answer_lines(bot: str, decision: Decision, stderr: str) -> list[str]:
    """Lines on a bot's answer in a decision, compared with the recorded move; after a fault, also
    the end of ``stderr``.
    """
    bot = printable(bot)
    is_same = decision.new == decision.old
    if decision.fault:
        sentence = f"fault of {bot} ({decision.fault}): {printable(explained(decision.detail))}"
        lines = without_quoted(stderr.rstrip().splitlines(), decision.detail)[-STDERR_LINES:]
        quoted = [f"     stderr: {printable(line)}" for line in lines]
        return [sentence, *quoted]
    move = "the same move" if is_same else "another move" if decision.old else "an answer"
    return [f"{decision.new}  ({move}, by {bot} in {decision.spent_ms:.1f} ms)"]


def _pages(run: Run, record: GameRecord, seat: int | None) -> Iterator[tuple[int, str]]:
    """The texts to show for a game: the start, each move, and the end. Each comes with the number
    of placements so far; the end has one more. ``seat`` sees only its own hand, None sees all.
    Raises RunError if the record breaks the rules.
    """
    names = seat_names(record.bots)
    board = _board(run, record)
    start = start_state(record, board)
    grades = _grades(run, record)
    mosaic = Mosaic(board)
    yield 0, f"{mosaic.board(start)}\n{mosaic.seats(start, names, seat)}\n"
    for state, mover, move, events, ms, note in replay_record(record, board):
        turn = state.turns - (move != PASS)
        is_seen = seat in (None, mover)
        remarks = [] if ms is None else [f"in {ms:g} ms"]
        if note and is_seen:
            remarks.append(f"note: {note}")
        if move != PASS and turn in grades and is_seen:
            remarks.append(f"grade: {grades[turn]}")
        yield state.turns, move_lines(mosaic, state, names, mover, move, events, remarks, seat)
    last_lines = []
    for fault in record.faults:
        what = f"forfeit of {names[fault.seat]} after turn {fault.turn} ({fault.kind})"
        last_lines.append(f"{what}: {explained(printable(fault.detail))}")
    last_lines.append(end_line(record))
    yield record.turns + 1, screen_folded("\n".join(last_lines))


def _grades(run: Run, record: GameRecord) -> dict[int, str]:
    """The grades of a game's decisions in its newest review, as texts by turn; empty without a
    review, or if the reviews cannot be read, which the user is told.
    """
    try:
        review = newest_review(read_reviews(run.folder), record, REVISION)
    except RunError as error:
        say(f"warning: grades are left out: {error}")
        return {}
    if not review:
        return {}
    judge, grades = review
    return {turn: grade.describe(judge) for turn, grade in grades.items()}


def _board(run: Run, record: GameRecord) -> Board:
    """The board of a game of a run. Raises RunError."""
    return board_of(record, run.boards)


def _print_lines(run: Run, record: GameRecord, turn: int | None, seat: int | None) -> None:
    """Prints positions of a game as one line of text each: at the start and after each move, or
    only after ``turn`` placements. ``seat`` is the seat whose view is printed, None for all hands.
    """
    board = _board(run, record)
    steps = (step.state for step in replay_record(record, board))
    for state in chain([start_state(record, board)], steps):
        if turn in (None, state.turns):
            seen = state.copy()
            for fault in record.faults:
                if fault.turn < seen.turns:
                    seen.retire(fault.seat)
            click.echo(position_text(seen, seat))
        if state.turns == turn:
            return
