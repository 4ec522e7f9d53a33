"""A person at a seat: what can be typed, what is answered, and what stays hidden."""

import os
import subprocess
import sys

import click
import pytest

from arena.cli.human import Human
from arena.match.clock import Timing
from arena.match.referee import Referee
from arena.players.inprocess import InProcessPlayer, random_move
from arena.rules.boards import built_in
from arena.rules.notation import TILES, move_text
from arena.tournament.schedule import single_game
from tests.e2e.conftest import ROOT


class Typist(Human):
    """A person who types what the test says, then the first legal move."""

    def __init__(self, lines):
        super().__init__(["human", "other"], self._type)
        self.lines = list(lines)
        self.state = None

    def choose(self, state, budget_ns):
        self.state = state
        return super().choose(state, budget_ns)

    def _type(self, prompt):
        return self.lines.pop(0) if self.lines else move_text(self.state.board, self.state.nth(0))


def play(lines=()):
    person = Typist(lines)
    plan = single_game("person", "bird", 0, ["human", "other"])
    return Referee(plan, built_in("bird"), [person, InProcessPlayer("other", random_move)], Timing()).play().record


def test_a_person_plays_a_game_and_sees_no_other_hand(capsys):
    record = play()
    assert record.faults == []
    shown = capsys.readouterr().out
    assert "you sit at seat 0 of 2, with 24 pagodas to place" in shown
    hands = [line.split("other", 1)[1] for line in shown.splitlines() if line.split()[:2] == ["1", "other"]]
    assert hands
    assert not any(tile in hand for hand in hands for tile in TILES)


def test_what_is_typed_is_answered(capsys):
    play(["?", "hint", "RR", "YY", "BB", "RY", "YB", "RB", "g6", "a1", "zz", "Ra1Ra2", "Ry26Ry27", ""])
    shown = capsys.readouterr().out
    assert "where a tile of your hand can go" in shown
    assert "% of " in shown
    assert "random games" in shown
    assert "no place for " in shown
    assert "nothing covers a1" in shown
    assert "expected a move such as Rc4Yd4, got 'zz'; ? for help" in shown
    assert "(R4.2)" in shown or "(R3.1" in shown
    assert "expected a square from a1 to m13" in shown


def test_the_halves_may_be_typed_in_either_order():
    person = Typist([])
    plan = single_game("person", "bird", 0, ["human", "other"])
    person.state = None

    def backwards(prompt):
        text = move_text(person.state.board, person.state.nth(0))
        at = next(index for index in range(1, len(text)) if text[index] in "RYB")
        return text[at:] + text[:at]

    person._ask = backwards
    record = Referee(plan, built_in("bird"), [person, InProcessPlayer("other", random_move)], Timing()).play().record
    assert record.faults == []


def test_quitting_is_an_interruption():
    with pytest.raises(click.Abort):
        play(["quit"])


@pytest.mark.parametrize("typed", ["quit\n", ""])
def test_the_command_ends_with_the_person(arena, typed):
    command = [sys.executable, "-m", "arena", "play", "rnd", "--human", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=arena.home, env=environment, input=typed, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 130
    assert "your move, with" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rnd", "--human", "2"], "expected --human 0 to 1, got 2"),
        (["rnd", "--human", "0", "--json"], "expected --human or --json, got both"),
        (["rnd", "fst", "rnd", "fst", "--human", "0"], "expected 1 to 3 bots beside you, got 4"),
    ],
)
def test_seats_that_cannot_be(arena, arguments, said):
    _, err = arena("play", *arguments, status=2)
    assert said in err
