"""A person at a seat: what can be typed, what is answered, and what stays hidden."""

import os
import re
import select
import subprocess
import sys
import time

import click
import pytest

from arena.cli.board import Mosaic
from arena.cli.human import EXAMPLE, FIRST, Human
from arena.match.referee import Referee
from arena.players.player import InProcessPlayer, random_move
from arena.records.timing import Timing
from arena.rules import State
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import KIND_SHIFT, TILE_OF_KIND, TILES, move_text, parse_deck, parse_move
from arena.tournament.schedule import single_game
from tests.support.commandline import ROOT
from tests.support.terminals import Screen, open_terminal, started_on
from tests.support.wording import lines_with, messages


class Typist(Human):
    """A person who types what the test says, then the first legal move. As on a terminal, what
    they type is shown, here in lines of its own.
    """

    def __init__(self, lines):
        super().__init__(["human", "other"], self._type, Mosaic(built_in("bird")))
        self.lines = list(lines)
        self.state = None

    def choose(self, state, budget_ns):
        self.state = state
        return super().choose(state, budget_ns)

    def _type(self, prompt):
        line = self.lines.pop(0) if self.lines else move_text(self.state.board, self.state.nth(0))
        print(f"> {line}")
        return line


def opening():
    return State(
        built_in("bird"), 2, parse_deck(single_game("person", "bird", 0, ["human", "other"]).deck)
    )


def play(lines=()):
    person = Typist(lines)
    plan = single_game("person", "bird", 0, ["human", "other"])
    return (
        Referee(plan, built_in("bird"), [person, InProcessPlayer("other", random_move)], Timing())
        .play()
        .record
    )


def shown_to(lines, capsys):
    """What a person sees before they type, and the answer to each of these lines."""
    play(lines)
    before, *answers = re.split(r"^> .*\n", capsys.readouterr().out, flags=re.MULTILINE)
    return before, answers[: len(lines)]


def answers_to(lines, capsys):
    return shown_to(lines, capsys)[1]


def test_a_person_plays_a_game_and_sees_no_other_hand(capsys, snapshot):
    record = play()
    assert record.faults == []
    shown = capsys.readouterr().out
    assert shown.partition("\n\n")[0] == snapshot
    hands = [
        line.split("other", 1)[1]
        for line in shown.splitlines()
        if line.split()[:2] == ["1", "other"]
    ]
    assert hands
    assert not any(tile in hand for hand in hands for tile in TILES)


def test_what_is_typed_is_answered(capsys, snapshot):
    other_tiles = [tile for tile in TILES if TILES.index(tile) not in opening().hands[0]]
    assert other_tiles
    lines = ["?", *other_tiles, "a1", "zz", "Ra1Ra2", "Ry26Ry27", ""]
    answers = dict(zip(lines, answers_to(lines, capsys), strict=True))
    assert answers == snapshot
    assert answers["?"] == answers[""]
    assert EXAMPLE not in answers["zz"], "it names a move that is legal here"
    shown = "".join(answers.values())
    assert not re.search(r"illegal|\(R\d", shown), "in words for people who do not know the rules"


def test_why_prints_the_rule_of_the_move_that_was_refused(capsys, snapshot):
    tile = TILES[opening().hands[0][0]]
    lines = ["why", f"{tile[0]}a1{tile[1]}a2", "why"]
    before, refusal, after = answers_to(lines, capsys)
    assert before == snapshot
    assert refusal == snapshot
    assert after.startswith("R4.2  ")


def test_the_first_hint_marks_squares_and_the_second_names_the_best_move(capsys, snapshot):
    record = play(["hint", "hint"])
    shown = capsys.readouterr().out
    assert lines_with(shown, "3 good moves") == snapshot
    move, reason = re.search(r"^  (\w+)  (.*); wins about \d+%$", shown, re.M).groups()
    assert opening().is_legal(parse_move(opening().board, move))
    assert ": " in reason
    assert record.notes == [{"turn": 0, "hints": 2}]


def test_the_move_shown_as_an_example_is_legal_on_the_board_shown(capsys):
    state = opening()
    before, [answer] = shown_to(["?"], capsys)
    first = re.search(re.escape(FIRST).replace(r"\{\}", r"(\w+)"), before)[1]
    named, tile, *_ = [line.split()[0] for line in answer.splitlines()]
    assert all(state.is_legal(parse_move(state.board, text)) for text in (first, named))
    assert tile in {TILES[tile] for tile in state.hands[0]}


def test_naming_a_tile_or_a_square_marks_where_the_moves_lie(capsys):
    state = opening()
    legal = {move_text(state.board, move): move for move in state.legal_moves()}
    tile = TILES[state.hands[0][0]]
    of_tile = [
        name for name, move in legal.items() if TILES[TILE_OF_KIND[move >> KIND_SHIFT]] == tile
    ]
    over_g6 = [name for name in legal if re.search(r"g6(?!\d)", name)]
    for typed, names in ((tile, of_tile), (tile.lower(), of_tile), ("g6", over_g6)):
        shown = click.unstyle(
            Human(["human", "other"], input, Mosaic(built_in("bird")))._reply(typed, state, legal)
        )
        rows = re.findall(r"^ ?\d+ (.*)$", shown, re.M)
        marked = {
            f"{chr(97 + column)}{row}"
            for row, line in enumerate(rows, 1)
            for column in range(13)
            if line[4 * column :][:1] == "["
        }
        assert marked == {square for name in names for square in re.findall(r"[a-m]\d+", name)}
        assert shown.count("[") == len(marked)
        assert set(re.findall(r"(?:[RYB][a-m]\d+){2}", shown)) == set(names)


def test_a_square_of_a_large_board_is_not_taken_for_a_rule(snapshot):
    state = State(
        parse_board("wide", "." * 20 + "\n" + "R" + "." * 19),
        2,
        parse_deck(single_game("x", "bird", 0, ["a", "b"]).deck),
    )
    legal = {move_text(state.board, move): move for move in state.legal_moves()}
    person = Human(["human", "other"], input, Mosaic(built_in("bird")))
    assert person._reply("r2", state, legal) == snapshot
    assert person._reply("r9", state, legal) == snapshot


@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("R4.4", "R4.4"),
        ("r6.4", "R6.4"),
        ("rules clockwise", "R2.2"),
        ("rules", ""),
        ("rules vilage", ""),
        ("R9", ""),
    ],
)
def test_the_rules_can_be_read_at_the_prompt(typed, rule, capsys, snapshot):
    [answer] = answers_to([typed], capsys)
    assert answer.startswith(rule)
    assert answer.splitlines()[0] == snapshot


def test_the_halves_may_be_typed_in_either_order():
    person = Typist([])
    plan = single_game("person", "bird", 0, ["human", "other"])
    person.state = None

    def backwards(prompt):
        text = move_text(person.state.board, person.state.nth(0))
        at = next(index for index in range(1, len(text)) if text[index] in "RYB")
        return text[at:] + text[:at]

    person._ask = backwards
    record = (
        Referee(plan, built_in("bird"), [person, InProcessPlayer("other", random_move)], Timing())
        .play()
        .record
    )
    assert record.faults == []


def test_quitting_is_an_interruption():
    with pytest.raises(click.Abort):
        play(["quit"])


@pytest.mark.parametrize("typed", ["quit\n", ""])
def test_the_command_ends_with_the_person(arena, typed):
    command = [sys.executable, "-m", "arena", "play", "rnd", "--human", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command,
        cwd=arena.home,
        env=environment,
        input=typed,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 130
    assert "your move, with" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("options", [["--json"], ["--human", "2"]])
def test_play_web_refuses_what_only_the_terminal_has(arena, options, snapshot):
    _, err = arena("play", "greedy", "--web", *options, status=2)
    assert messages(err) == snapshot


class Terminal:
    """A game of a person on a terminal of 80 columns and 24 lines."""

    def __init__(self, arena, term):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": term, "NO_COLOR": "1"}
        for name in ("COLUMNS", "LINES"):
            environment.pop(name, None)
        self.keys, theirs = open_terminal(columns=80, lines=24)
        command = ["play", "greedy", "--human", "0", "--seed", "5"]
        self.process = started_on(theirs, arena.home, command, environment)
        self.raw = ""
        self.screen = Screen()

    def press(self, keys, until):
        """Press keys and wait until the screen has the text ``until``."""
        os.write(self.keys, keys)
        end = time.monotonic() + 60
        while until not in self.screen.text and time.monotonic() < end:
            if select.select([self.keys], [], [], 1)[0]:
                text = os.read(self.keys, 65536).decode()
                self.raw += text
                self.screen.write(text)
        assert until in self.screen.text, self.screen.text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """End the game if a test has failed in the middle of it."""
        self.process.kill()
        self.process.wait(60)
        os.close(self.keys)

    def quit(self):
        self.press(b"quit\n", "interrupted")
        assert self.process.wait(60) == 130


def test_a_person_aims_with_keys_and_types_in_one_game(arena):
    with Terminal(arena, "xterm-256color") as terminal:
        terminal.press(b"", "(? for help):")
        terminal.press(b"\x1b[A", "pagodas to place: you 24, greedy 24")
        terminal.press(b"\x1bOD" * 9, "Not here. ")
        terminal.press(b"why\n", "R4.2  At least one half")
        terminal.press(b"hint\n", "marked: the squares of 3 good moves")
        terminal.press(b"\x1b[C" * 6, "pagodas to place")
        terminal.press(b"\n", "turn 1: human plays")
        played = re.search(r"turn 1: human plays (\w+)", terminal.screen.text)[1]
        deck = parse_deck(single_game("5", "bird", 0, ["human", "greedy"]).deck)
        assert State(built_in("bird"), 2, deck).is_legal(parse_move(built_in("bird"), played))
        terminal.quit()


def test_a_dumb_terminal_has_only_typed_moves(arena):
    with Terminal(arena, "dumb") as terminal:
        terminal.press(b"", "(? for help):")
        terminal.press(b"?\n", "place a tile")
        assert "\x1b" not in terminal.raw
        assert "arrows" not in terminal.raw
        terminal.quit()
