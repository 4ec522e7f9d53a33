"""A tile that is moved over the board with keys: where it goes, what is said, what is drawn."""

import os
import re
import signal
import subprocess
import sys
import termios
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from arena.cli.board import Mosaic
from arena.cli.cursor import (
    BACK_TAB,
    DOWN,
    ENTER,
    ESCAPE,
    LEFT,
    RIGHT,
    SPACE,
    TAB,
    UP,
    Aim,
    Cursor,
    FirstCharacter,
)
from arena.rules import State
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import TILES, move_text, parse_deck, parse_tile
from arena.tournament.schedule import single_game
from tests.support.terminals import Screen
from tests.support.waiting import wait_for

ROOT = Path(__file__).parents[2]
BIRD = built_in("bird")
PROMPT = "your move: "


def opening(board=BIRD, players=2):
    bots = ["you", "b", "c", "d"][:players]
    return State(board, players, parse_deck(single_game("person", "bird", 0, bots).deck))


class Scripted:
    """A keyboard that presses these keys."""

    def __init__(self, keys):
        self.keys = list(keys)

    def read(self):
        if not self.keys:
            raise EOFError
        return self.keys.pop(0)

    def open(self):
        return nullcontext()


def shown_after(keys, state, monkeypatch, lines=24):
    """What the cursor returns, None if the keys are used up, and what is on the terminal."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", str(lines))
    screen = Screen()
    names = ["you", "bo", "cy", "di"][: len(state.left)]
    cursor = Cursor(Scripted(keys), Mosaic(state.board), names, screen.write)
    cursor.begin_turn(state, PROMPT)
    try:
        return cursor.choose(state, PROMPT), screen
    except EOFError:
        return None, screen


def test_a_tile_has_four_ways_and_one_of_a_single_colour_two():
    red_blue, double = parse_tile("RB"), parse_tile("YY")
    aim = Aim(tile=red_blue, turn=0, column=5, row=5)
    moves = []
    for _ in range(4):
        moves.append(move_text(BIRD, aim.move(BIRD)))
        assert Aim.of(BIRD, aim.move(BIRD)) == aim
        aim = aim.after(SPACE, BIRD, [red_blue])
    assert moves == ["Rf6Bg6", "Rf6Bf7", "Bf6Rg6", "Bf6Rf7"]
    assert move_text(BIRD, aim.move(BIRD)) == moves[0]
    aim = Aim(tile=double, turn=0, column=5, row=5)
    assert aim.after(SPACE, BIRD, [double]).after(SPACE, BIRD, [double]) == aim


def test_both_squares_stay_on_the_board():
    tile = parse_tile("RB")
    corner = [RIGHT] * 20 + [DOWN] * 20
    for keys in (corner, [SPACE, *corner, SPACE, DOWN]):
        aim = Aim(tile=tile, turn=0, column=5, row=5)
        for key in keys:
            aim = aim.after(key, BIRD, [tile])
        assert re.search("Rl13Bm13|Bl13Rm13", move_text(BIRD, aim.move(BIRD)))
    aim = Aim(tile=tile, turn=1, column=0, row=0).after(UP, BIRD, []).after(LEFT, BIRD, [])
    assert move_text(BIRD, aim.move(BIRD)) == "Ra1Ba2"


def test_tab_takes_the_next_tile_of_the_hand_and_keeps_the_place():
    hand = sorted(map(parse_tile, ("RR", "RB", "RB")))
    aim = Aim(tile=parse_tile("RB"), turn=3, column=5, row=5)
    double = aim.after(TAB, BIRD, hand)
    assert (TILES[double.tile], double.turn, double.column) == ("RR", 1, 5)
    assert double.after(BACK_TAB, BIRD, hand).tile == aim.tile


@pytest.mark.parametrize("players", [2, 4])
def test_what_the_move_does_is_said_before_it_is_placed(players, monkeypatch):
    state = opening(players=players)
    found = next(move for move in state.legal_moves() if played_left(state, move) < state.left[0])
    aim = Aim.of(BIRD, found)
    keys = [RIGHT]
    _, screen = shown_after(keys, state, monkeypatch)
    assert "pagodas to place: you" in screen.text
    first = aim_on(screen, state)
    while first.tile != aim.tile:
        first = first.after(TAB, BIRD, state.hands[0])
        keys.append(TAB)
    while first.turn != aim.turn:
        first = first.after(SPACE, BIRD, state.hands[0])
        keys.append(SPACE)
    keys += [RIGHT if aim.column > first.column else LEFT] * abs(aim.column - first.column)
    keys += [DOWN if aim.row > first.row else UP] * abs(aim.row - first.row)
    chosen, screen = shown_after(keys, state, monkeypatch)
    assert chosen is None
    assert "You make a" in screen.text
    assert f"you {state.left[0]} -> {state.left[0] - 1}" in screen.text
    # The board is drawn in place of the last one, and everything fits the window.
    assert screen.text.count("a   b   c") == 1
    assert len(screen.text.split("\n")) <= 24
    chosen, _ = shown_after([*keys, ENTER], state, monkeypatch)
    assert chosen == found


def played_left(state, move):
    after = state.copy()
    after.play(move)
    return after.left[0]


def aim_on(screen, state):
    """The aim that is drawn: the first one is the legal place nearest to the middle."""
    middle = (BIRD.height // 2, BIRD.width // 2)
    return min(
        (Aim.of(BIRD, move) for move in state.legal_moves()),
        key=lambda aim: abs(aim.row - middle[0]) + abs(aim.column - middle[1]),
    )


def test_a_place_that_is_not_legal_says_why_and_enter_does_not_take_it(monkeypatch):
    keys = [LEFT] * 13 + [UP] * 13
    chosen, screen = shown_after([*keys, ENTER, ENTER], opening(), monkeypatch)
    assert chosen is None
    text = " ".join(screen.text.split())
    assert "Not here. A tile must lie beside a coloured square" in text
    assert "(R4" not in text


def test_a_character_begins_a_line_and_escape_takes_the_aim_away(monkeypatch):
    chosen, screen = shown_after([UP, ESCAPE, "", "R"], opening(), monkeypatch)
    assert chosen == FirstCharacter("R")
    assert "pagodas to place" not in screen.text
    assert shown_after([ENTER], opening(), monkeypatch)[0] == FirstCharacter("")


def test_a_window_that_is_too_low_has_no_cursor(monkeypatch):
    cursor = Cursor(Scripted([]), Mosaic(BIRD), ["you", "bo"])
    for columns, lines, expected in ((80, 24, True), (80, 20, False), (50, 40, False)):
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", str(lines))
        assert cursor.has_room(opening()) == expected


def test_a_window_that_is_too_narrow_for_the_prompt_and_the_seats_has_no_cursor(monkeypatch):
    small = parse_board("small", "R....\n..V..\n...Y.\n....B\n")
    state = State(small, 2, parse_deck(single_game("person", "bird", 0, ["you", "b"]).deck))
    cursor = Cursor(Scripted([]), Mosaic(small), ["you", "bo"], lambda _: None)
    monkeypatch.setenv("LINES", "40")
    for columns, has_room in ((40, False), (80, True)):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert cursor.has_room(state) == has_room


CONTINUED = """
import os, signal, sys, termios
from arena.cli.cursor import Keyboard
with Keyboard().open():
    print("open", flush=True)
    print(repr(Keyboard().read()), flush=True)
print("echoes" if termios.tcgetattr(0)[3] & termios.ECHO else "is silent", flush=True)
"""


@contextmanager
def at_terminal(code):
    """A program in Python that has printed "open", the terminal that is its standard input, from
    both sides, and the modes that the terminal had before.
    """
    terminal, of_program = os.openpty()
    modes = termios.tcgetattr(of_program)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=of_program, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as program:
        try:
            assert program.stdout.readline() == "open\n"
            yield program, terminal, of_program, modes
        finally:
            program.kill()
            os.close(terminal)
            os.close(of_program)


def test_the_keys_come_one_by_one_again_after_the_shell_has_continued_the_program():
    """A shell gives the terminal back in its own modes (Ctrl-Z, then fg)."""
    with at_terminal(CONTINUED) as (program, terminal, of_program, modes):
        program.send_signal(signal.SIGSTOP)
        termios.tcsetattr(of_program, termios.TCSANOW, modes)
        program.send_signal(signal.SIGCONT)
        wait_for(lambda: not termios.tcgetattr(of_program)[3] & termios.ICANON, "keys one by one")
        os.write(terminal, b"\x1b[A")
        assert program.stdout.read() == "'up'\nechoes\n"


READING = """
from arena.cli.cursor import Keyboard
keyboard = Keyboard()
with keyboard.open():
    print("open", flush=True)
    while True:
        print(keyboard.read() or "dropped", flush=True)
"""


def keys_until_q(program):
    """The keys that the program has read before a q."""
    return list(iter(lambda: program.stdout.readline().strip(), "q"))


def type_slowly(terminal, *parts, pause_s):
    """Sends the ``parts`` of what a key sends, with a pause before each but the first."""
    for number, part in enumerate(parts):
        time.sleep(pause_s if number else 0)
        os.write(terminal, part)


def test_an_arrow_key_whose_bytes_come_slowly_is_that_key_and_no_letters():
    """As over a slow connection."""
    with at_terminal(READING) as (program, terminal, _, _):
        type_slowly(terminal, b"\x1b", b"[A", pause_s=0.1)
        type_slowly(terminal, b"\x1b[", b"B", pause_s=0.1)
        type_slowly(terminal, b"\x1b", b"O", b"C", pause_s=0.1)
        type_slowly(terminal, b"\x1b[1", b";2", b"D", pause_s=0.1)
        os.write(terminal, b"q")
        # A busy machine may take the first byte for Escape, but nothing else for a letter.
        keys = [key for key in keys_until_q(program) if key != "escape"]
        assert keys == ["up", "down", "right", "left"]


def test_an_arrow_key_that_comes_after_its_escape_was_read_is_still_no_letter():
    with at_terminal(READING) as (program, terminal, _, _):
        os.write(terminal, b"\x1b")
        assert program.stdout.readline() == "escape\n"
        os.write(terminal, b"[A")
        assert program.stdout.readline() == "up\n"


def test_a_sequence_that_does_not_end_is_dropped_and_the_next_key_is_read():
    with at_terminal(READING) as (program, terminal, _, _):
        os.write(terminal, b"\x1b[")
        assert program.stdout.readline() == "dropped\n"
        os.write(terminal, b"R\x1b\x1b[Aq")
        assert keys_until_q(program) == ["R", "up"]
