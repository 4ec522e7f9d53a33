"""arena.sdk: it follows games exactly, hides what the seat cannot see, and the loop speaks the
protocol.
"""

import json
import os
import subprocess
import sys

import msgspec
import pytest

from arena.errors import IllegalMoveError, InvalidMoveError
from arena.match.clock import Timing
from arena.match.referee import Referee
from arena.players.inprocess import InProcessPlayer, random_move
from arena.players.messages import Hello, encode
from arena.players.player import Answer
from arena.players.views import turn_view
from arena.rules import CORE
from arena.rules.boards import built_in
from arena.rules.diagrams import draw, state_text
from arena.rules.notation import COPIES, TILES, UNKNOWN
from arena.sdk import PASS, serve
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

        serve(
            choose,
            [*self.lines, encode(turn_view(state, self.number, 1000, full=False))],
            sent.append,
        )
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
        hidden = [
            tile for other in range(players) if other != seat for tile in state.hands[other]
        ] + list(state.pile_tiles())
        assert unseen == {name: hidden.count(tile) for tile, name in enumerate(TILES)}

    seated = [
        SdkPlayer("sdk", look),
        *(InProcessPlayer(f"r{seat}", random_move) for seat in range(1, players)),
    ]
    plan = single_game("sdk", "lion", players, [player.name for player in seated])
    record = Referee(plan, built_in("lion"), seated, Timing()).play().record
    assert record.faults == []
    assert len(looks) > 8


def test_a_forfeited_seat_is_followed_too():
    class Quits(InProcessPlayer):
        def choose(self, state, budget_ns):
            return msgspec.structs.replace(super().choose(state, budget_ns), move="nonsense")

    seated = [
        SdkPlayer("sdk", lambda *_: None),
        Quits("q", random_move),
        InProcessPlayer("r", random_move),
    ]
    record = (
        Referee(
            single_game("sdk", "bird", 0, ["sdk", "q", "r"]), built_in("bird"), seated, Timing()
        )
        .play()
        .record
    )
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


def test_rollouts_say_what_each_move_came_to():
    position = one_position()
    before = draw(position.state)
    moves = position.legal_moves()
    found = position.rollouts(2, seed=1)
    assert [rollout.move for rollout in found] == moves
    assert {rollout.games for rollout in found} == {2}
    assert all(0 <= rollout.wins <= 2 and 0 <= rollout.left <= 48 for rollout in found)
    assert draw(position.state) == before
    assert position.rollouts(2, moves[5:2:-1], seed=1) == found[5:2:-1]
    assert position.rollouts(2, iter(moves), seed=2) != found
    [greedy] = position.rollouts(1, moves[:1], policy="greedy", seed=1)
    assert greedy.games == 1


def test_rollouts_without_a_seed_follow_from_the_game_s_own():
    one, other = one_position(), one_position()
    assert one.rollouts(1) == other.rollouts(1)
    assert one.rollouts(1) == other.rollouts(1)
    assert one.playout() == other.playout()
    assert draw(one.sample().state) == draw(other.sample().state)


def test_rollouts_are_refused_for_what_cannot_be_tried():
    position = one_position()
    with pytest.raises(ValueError, match="expected at least 1 game for each move, got 0"):
        position.rollouts(0)
    with pytest.raises(
        ValueError, match="expected the policy uniform, greedy or careful, got best"
    ):
        position.rollouts(1, policy="best")
    with pytest.raises(ValueError, match="expected the seat that is to move"):
        position.play(position.legal_moves()[0]).rollouts(1)
    with pytest.raises(IllegalMoveError, match="is illegal"):
        position.rollouts(1, [999_999])
    with pytest.raises(
        ValueError, match="expected the policy uniform, greedy or careful, got best"
    ):
        position.playout(policy="best")


def test_a_sample_deals_all_that_was_hidden_and_nothing_else():
    position = one_position()
    unseen = position.unseen()
    for seed in range(5):
        state = position.sample(seed).state
        hidden = [*state.hands[1], *state.pile_tiles()]
        assert {name: hidden.count(tile) for tile, name in enumerate(TILES)} == unseen
        assert state.hands[0] == position.state.hands[0]
        assert (state.left, state.mover, state.pile) == (
            position.left,
            position.mover,
            position.pile,
        )
    assert (
        position.sample(1).state.hands != position.sample(2).state.hands
        or position.sample(1).state.hands != position.sample(3).state.hands
    )
    assert set(position.state.hands[1]) == {UNKNOWN}


def test_a_sample_of_a_sample_is_the_same_deal():
    sample = one_position().sample(1)
    assert state_text(sample.sample(2).state) == state_text(sample.state)
    assert len({tuple(sample.playout(seed=seed)) for seed in range(20)}) > 1
    after = sample.play(sample.legal_moves()[0])
    assert state_text(after.sample(3).state) == state_text(after.state)


def test_a_sample_can_be_played_to_the_end_by_hand():
    position = one_position().sample(4)
    while not position.is_over:
        position = position.play((position.legal_moves() or [PASS])[0])
    assert position.seat == 0


def test_a_playout_gives_the_pagodas_left_from_any_position():
    position = one_position()
    after = position.play(position.legal_moves()[0])
    for start in (position, after, after.play(after.moves_of(["RR", "YB"])[0])):
        before = draw(start.state)
        left = start.playout(seed=3)
        assert len(left) == 2
        assert all(0 <= stock <= 24 for stock in left)
        assert start.playout(seed=3) == left
        assert draw(start.state) == before


def test_a_tile_that_was_tried_is_no_longer_unseen():
    position = one_position()
    after = position.play(position.legal_moves()[0])
    assert sum(after.unseen().values()) == sum(position.unseen().values())
    assert after.unseen() == position.unseen()


def test_a_search_by_rollouts_beats_chance():
    """The same games every time: the deal, the bots' seeds and so the rollouts are fixed."""

    class Searches(SdkPlayer):
        def choose(self, state, budget_ns):
            self.number += 1
            sent = []

            def choose(position):
                return min(
                    position.rollouts(1, position.legal_moves()[::4]), key=lambda tried: tried.left
                ).move

            serve(
                choose,
                [*self.lines, encode(turn_view(state, self.number, 1000, full=False))],
                sent.append,
            )
            return Answer(json.loads(sent[-1])["move"], 1)

    for deal in range(3):
        seated = [InProcessPlayer("r", random_move), Searches("sdk", None)]
        record = (
            Referee(
                single_game("search", "bird", deal, ["r", "sdk"]),
                built_in("bird"),
                seated,
                Timing(),
            )
            .play()
            .record
        )
        assert (record.faults, record.ranks) == ([], [2, 1])


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
    start = {
        "type": "start",
        "players": 2,
        "seat": 0,
        "board": ["R...", "...."],
        "pagodas": 24,
        "seed": 1,
        "move_ms": 1000,
    }
    lines = [
        {"type": "hello", "id": 1, "protocol": 1, "arena": "x"},
        start,
        {"type": "turn", "id": 2, "hand": ["RR", "YB", "BB"], "time_ms": 5},
        {"type": "quit"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=text, capture_output=True, text=True, check=True
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"type": "ready", "id": 1, "view": "incremental"},
        {"type": "move", "id": 2, "move": "Rb1Rc1"},
    ]
    assert done.stderr == "thinking about 12\n"


SEARCH = """
from arena.rules import CORE
from arena.sdk import run
def choose(position):
    print(CORE)
    tried = position.rollouts(1)
    print(tried, position.playout(), position.sample().playout(policy="greedy"))
    return max(tried, key=lambda rollout: -rollout.left).move
run(choose)
"""


def test_a_bot_plays_the_same_with_the_pure_core():
    rows = ["R....", "..V..", "....B", "Y...."]
    lines = [
        {"type": "hello", "id": 1, "protocol": 1, "arena": "x"},
        {
            "type": "start",
            "players": 3,
            "seat": 0,
            "board": rows,
            "pagodas": 19,
            "seed": 9,
            "move_ms": 1000,
        },
        {"type": "turn", "id": 2, "hand": ["RR", "YB", "BB"], "time_ms": 1000},
        {"type": "quit"},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    said = {}
    for core in {"pure", CORE}:
        environment = {**os.environ, "ARENA_RULES": core}
        done = subprocess.run(
            [sys.executable, "-c", SEARCH],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        assert done.stderr.splitlines()[0] == core
        said[core] = done.stdout, done.stderr.splitlines()[1:]
        assert json.loads(done.stdout.splitlines()[1])["type"] == "move"
    assert said["pure"] == said[CORE]


def test_a_position_says_why_a_move_is_illegal_and_where_to_read_the_rule():
    said = []

    def choose(position):
        for move in (
            "Ra1Ra2",
            position.legal_moves()[0],
            position.text(position.legal_moves()[0]),
            "pass",
        ):
            said.append(position.why_illegal(move))
        with pytest.raises(InvalidMoveError):
            position.why_illegal("Ra1")
        return position.legal_moves()[0]

    start = {
        "type": "start",
        "players": 2,
        "seat": 0,
        "board": ["R..", "..."],
        "pagodas": 24,
        "seed": 9,
        "move_ms": 1000,
    }
    lines = [start, {"type": "turn", "id": 2, "hand": ["RR", "YB", "BB"], "time_ms": 1000}]
    serve(choose, [json.dumps(line).encode() for line in lines], lambda line: None)
    assert said == [
        "Ra1Ra2 is illegal: a1 is not free grassland (R4.1); 'arena rules R4.1' explains the rule",
        "",
        "",
        (
            "pass is illegal: a player who can place a tile must place one (R3.1, R3.2); 'arena"
            " rules R3.1' explains the rule"
        ),
    ]


def test_the_loop_ends_with_its_input():
    assert (
        subprocess.run(
            [sys.executable, "-c", SCRIPT], input="", capture_output=True, text=True, check=True
        ).stdout
        == ""
    )


def noted(choose, **told):
    """The reply of a bot that says something; ``told`` is more of what `start` tells it."""
    start = {
        "type": "start", "players": 2, "seat": 0, "board": ["R..", "..."], "pagodas": 24,
        "seed": 9, "move_ms": 1000, **told,
    }  # fmt: skip
    turn = {"type": "turn", "id": 2, "hand": ["RR", "YB", "BB"], "time_ms": 1000}
    sent = []
    serve(choose, [json.dumps(line).encode() for line in (start, turn)], sent.append)
    [line] = sent
    return json.loads(line)


def test_a_note_goes_with_the_move_and_the_last_word_counts():
    def choose(position):
        position.note(0.5, "first", depth=1)
        position.play(position.legal_moves()[0]).note(depth=2, nodes=10)
        return position.legal_moves()[0]

    assert noted(choose)["note"] == {"value": 0.5, "text": "first", "depth": 2, "nodes": 10}


def test_a_bot_that_says_nothing_sends_no_note():
    assert "note" not in noted(lambda position: position.legal_moves()[0])


def test_options_have_the_types_that_bot_toml_declares():
    def choose(position):
        ahead = position.play(position.legal_moves()[0]).options
        seen.update({name: (type(value), value) for name, value in ahead.items()})
        with pytest.raises(KeyError, match=r"expected an option of bot.toml \(depth, c.*'dept'"):
            position.options["dept"]
        with pytest.raises(TypeError):
            position.options["depth"] = 4
        return position.legal_moves()[0]

    seen = {}
    noted(choose, options={"depth": 3, "c": 2.0, "fast": False, "style": "wild"})
    assert seen == {
        "depth": (int, 3), "c": (float, 2.0), "fast": (bool, False), "style": (str, "wild")
    }  # fmt: skip


def test_a_bot_without_options_gets_none():
    def choose(position):
        assert dict(position.options) == {}
        assert position.options.get("depth", 3) == 3
        return position.legal_moves()[0]

    assert noted(choose)["move"]


@pytest.mark.parametrize("odd", [object(), [object()], "\ud800"])
def test_a_note_that_cannot_be_written_costs_no_move(odd, capsys):
    def choose(position):
        position.note(0.5, nodes=odd)
        return position.legal_moves()[0]

    assert "note" not in noted(choose)
    assert "the note was not sent" in capsys.readouterr().err


def test_numbers_of_numpy_can_be_noted():
    numpy = pytest.importorskip("numpy")

    def choose(position):
        position.note(numpy.float64(0.25), nodes=numpy.int64(7), none=float("nan"))
        return position.legal_moves()[0]

    assert noted(choose)["note"] == {"value": 0.25, "nodes": 7, "none": None}


def test_messages_of_a_later_protocol_are_passed_over():
    sent = []
    lines = [
        b'{"type":"weather","sky":"blue"}',
        b'{"type":"hello","id":1,"protocol":1,"arena":"9"}',
        b'{"type":"quit"}',
    ]
    serve(lambda position: position.legal_moves()[0], lines, sent.append)
    assert [json.loads(line)["type"] for line in sent] == ["ready"]
    with pytest.raises(msgspec.ValidationError, match="missing required field `players`"):
        serve(lambda position: 0, [b'{"type":"start"}'], sent.append)
