"""arena.sdk: it follows games exactly, hides what the seat cannot see, and the loop speaks the protocol."""

import json
import subprocess
import sys

import msgspec
import pytest

from arena.errors import IllegalMoveError
from arena.match.clock import Timing
from arena.match.referee import Referee
from arena.players.inprocess import InProcessPlayer, random_move
from arena.players.messages import Hello, encode
from arena.players.player import Answer
from arena.players.views import turn_view
from arena.rules.boards import built_in
from arena.rules.diagrams import draw
from arena.rules.notation import COPIES, TILES, UNKNOWN
from arena.sdk import serve
from arena.tournament.schedule import single_game


class SdkPlayer(InProcessPlayer):
    """A seat whose moves come through `serve`, fed with the lines that a process would get."""

    def __init__(self, name, look):
        super().__init__(name, random_move)
        self.look = look
        self.lines = []
        self.number = 1

    def begin(self, start):
        self.lines += [encode(Hello(1, 1, "test")), encode(start)]

    def inform(self, line):
        self.lines.append(line)

    def choose(self, state, budget_ns):
        self.number += 1
        sent = []

        def choose(position):
            self.look(position, state)
            return position.rng.choice(position.legal_moves())

        serve(choose, [*self.lines, encode(turn_view(state, self.number, 1000, full=False))], sent.append)
        reply = json.loads(sent[-1])
        assert reply["id"] == self.number
        return Answer(reply["move"], 1)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_position_shows_just_what_the_seat_may_see(players):
    looks = []

    def look(position, state):
        looks.append(position)
        seat = state.mover
        assert draw(position.state) == draw(state)
        assert (position.seat, position.mover, position.players) == (seat, seat, players)
        assert (position.left, position.pile) == (state.left, state.pile)
        assert position.hand == [TILES[tile] for tile in state.hands[seat]]
        assert position.legal_moves() == state.legal_moves()
        for other in range(players):
            assert len(position.state.hands[other]) == len(state.hands[other])
            if other != seat:
                assert set(position.state.hands[other]) <= {UNKNOWN}
        assert set(position.state.pile_tiles()) <= {UNKNOWN}
        unseen = position.unseen()
        hidden = [tile for other in range(players) if other != seat for tile in state.hands[other]] + list(state.pile_tiles())
        assert unseen == {name: hidden.count(tile) for tile, name in enumerate(TILES)}

    seated = [SdkPlayer("sdk", look), *(InProcessPlayer(f"r{seat}", random_move) for seat in range(1, players))]
    plan = single_game("sdk", "lion", players, [player.name for player in seated])
    record = Referee(plan, built_in("lion"), seated, Timing()).play().record
    assert record.faults == []
    assert len(looks) > 8


def test_a_forfeited_seat_is_followed_too():
    class Quits(InProcessPlayer):
        def choose(self, state, budget_ns):
            return super().choose(state, budget_ns)._replace(move="nonsense")

    seated = [SdkPlayer("sdk", lambda *_: None), Quits("q", random_move), InProcessPlayer("r", random_move)]
    record = Referee(single_game("sdk", "bird", 0, ["sdk", "q", "r"]), built_in("bird"), seated, Timing()).play().record
    assert [fault.seat for fault in record.faults] == [1]
    assert record.turns > 20


def one_position():
    found = []

    def look(position, _):
        found.append(position)

    seated = [SdkPlayer("sdk", look), InProcessPlayer("r", random_move)]
    Referee(single_game("sdk", "bird", 5, ["sdk", "r"]), built_in("bird"), seated, Timing()).play()
    return found[6]


def test_playing_gives_a_new_position_and_leaves_the_old_one():
    position = one_position()
    before = draw(position.state)
    after = position.play(position.legal_moves()[0])
    assert draw(position.state) == before
    assert draw(after.state) != before
    assert (after.mover, after.seat) == (1, 0)
    reply = after.moves_of(["RR", "YB"])
    assert reply
    assert after.play(reply[0]).mover == 0
    with pytest.raises(IllegalMoveError):
        position.play(999_999)


def test_the_unseen_tiles_are_those_of_the_deck_less_hand_and_board():
    position = one_position()
    assert sum(position.unseen().values()) == 6 * COPIES - position.state.turns - 3


def test_moves_are_written_in_notation():
    position = one_position()
    move = position.legal_moves()[0]
    assert position.text(move)[0] in "RYB"
    assert not position.is_over


SCRIPT = """
from arena.sdk import run
def choose(position):
    print("thinking about", len(position.legal_moves()))
    return position.text(position.legal_moves()[0])
run(choose)
"""


def test_the_loop_answers_on_stdout_and_print_goes_to_stderr():
    start = {"type": "start", "players": 2, "seat": 0, "board": ["R...", "...."], "pagodas": 24, "seed": 1, "move_ms": 1000}
    lines = [
        {"type": "hello", "id": 1, "protocol": 1, "arena": "x"},
        start,
        {"type": "turn", "id": 2, "hand": ["RR", "YB", "BB"], "time_ms": 5},
        {"type": "quit"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([sys.executable, "-c", SCRIPT], input=text, capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"type": "ready", "id": 1, "view": "incremental"},
        {"type": "move", "id": 2, "move": "Rb1Rc1"},
    ]
    assert done.stderr == "thinking about 12\n"


def test_the_loop_ends_with_its_input():
    assert subprocess.run([sys.executable, "-c", SCRIPT], input="", capture_output=True, text=True, check=True).stdout == ""


def test_messages_of_a_later_protocol_are_passed_over():
    sent = []
    lines = [b'{"type":"weather","sky":"blue"}', b'{"type":"hello","id":1,"protocol":1,"arena":"9"}', b'{"type":"quit"}']
    serve(lambda position: position.legal_moves()[0], lines, sent.append)
    assert [json.loads(line)["type"] for line in sent] == ["ready"]
    with pytest.raises(msgspec.ValidationError, match="missing required field `players`"):
        serve(lambda position: 0, [b'{"type":"start"}'], sent.append)
