"""arena.sdk: it follows games exactly, hides what the seat cannot see, and the loop speaks the
protocol.
"""

import json
import os
import random
import subprocess
import sys

import msgspec
import numpy as np
import pytest

from arena.errors import IllegalMoveError, InvalidMoveError
from arena.match.referee import Referee
from arena.players.messages import Hello, encode
from arena.players.player import Answer, InProcessPlayer, random_move
from arena.players.views import turn_view
from arena.records.timing import Timing
from arena.rules import CORE, State, pure
from arena.rules.boards import built_in
from arena.rules.notation import TILES, UNKNOWN
from arena.rules.positions import draw
from arena.sdk import PASS, NoMoveError, Position, serve
from arena.tournament.schedule import single_game
from tests.rules.positions import middle_of_a_game, state_text


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
        turn = encode(turn_view(state, self.number, 1000, full=False))
        sent = []
        serve(lambda position: self.answer(position, state), [*self.lines, turn], sent.append)
        reply = json.loads(sent[-1])
        assert reply["id"] == self.number
        return Answer(reply["move"], 1)

    def answer(self, position, state):
        self.look(position, state)
        return position.rng.choice(position.legal_moves())


def played(seed, deal, *seated, board="bird"):
    """The record of a game of these players."""
    plan = single_game(seed, board, deal, [player.name for player in seated])
    return Referee(plan, built_in(board), seated, Timing()).play().record


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
        others = [hand for other, hand in enumerate(state.hands) if other != seat]
        hidden = [tile for tiles in (*others, state.pile_tiles()) for tile in tiles]
        assert position.unseen() == {name: hidden.count(tile) for tile, name in enumerate(TILES)}

    others = [InProcessPlayer(f"r{seat}", random_move) for seat in range(1, players)]
    record = played("sdk", players, SdkPlayer("sdk", look), *others, board="lion")
    assert record.faults == []
    assert len(looks) > 8


def test_a_forfeited_seat_is_followed_too():
    class Quits(InProcessPlayer):
        def choose(self, state, budget_ns):
            return msgspec.structs.replace(super().choose(state, budget_ns), move="nonsense")

    seated = (SdkPlayer("sdk", lambda *_: None), Quits("q", random_move))
    record = played("sdk", 0, *seated, InProcessPlayer("r", random_move))
    assert [fault.seat for fault in record.faults] == [1]
    assert record.turns > 20


def one_position():
    found = []
    looking = SdkPlayer("sdk", lambda position, _: found.append(position))
    played("sdk", 5, looking, InProcessPlayer("r", random_move))
    return found[6]


@pytest.mark.parametrize("core", [pure.State, State], ids=["pure", CORE])
def test_a_position_of_a_whole_state_hides_what_its_seat_may_not_know(core):
    state = middle_of_a_game(core, players=3, turns=12)
    whole = state_text(state)
    assert UNKNOWN not in (*state.pile_tiles(), *state.hands[1])
    position = Position(state, 0, random.Random(1), 1000)
    assert state_text(state) == whole, "the state that was given stays as it is"
    assert position.state.hands == [state.hands[0], (UNKNOWN,) * 3, (UNKNOWN,) * 3]
    assert set(position.state.pile_tiles()) == {UNKNOWN}
    assert (position.hand, position.pile) == ([TILES[tile] for tile in state.hands[0]], state.pile)
    after = position.play(position.legal_moves()[0])
    assert after.legal_moves() == []
    assert max(after.state.hands[0]) == UNKNOWN, "the drawn tile is not known either"
    hidden = position.state
    assert Position(hidden, 0, random.Random(1), 1000).state is hidden, "no copy without need"


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


def test_rollouts_are_refused_for_what_cannot_be_tried(refused):
    position, policies = one_position(), "expected the policy uniform, greedy or careful, got best"
    with refused(ValueError):
        position.rollouts(0)
    with pytest.raises(ValueError, match=policies):
        position.rollouts(1, policy="best")
    with refused(ValueError):
        position.play(position.legal_moves()[0]).rollouts(1)
    with refused(IllegalMoveError):
        position.rollouts(1, [999_999])
    with pytest.raises(ValueError, match=policies):
        position.playout(policy="best")


def test_a_sample_deals_all_that_was_hidden_and_nothing_else():
    position = one_position()
    unseen = position.unseen()
    for seed in range(5):
        state = position.sample(seed).state
        hidden = [*state.hands[1], *state.pile_tiles()]
        assert {name: hidden.count(tile) for tile, name in enumerate(TILES)} == unseen
        assert state.hands[0] == position.state.hands[0]
        same = (position.left, position.mover, position.pile)
        assert (state.left, state.mover, state.pile) == same
    assert len({position.sample(seed).state.hands[1] for seed in (1, 2, 3)}) > 1
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


def test_a_tile_that_was_tried_was_seen_before():
    position = one_position()
    assert position.play(position.legal_moves()[0]).unseen() == position.unseen()


def test_a_search_by_rollouts_beats_chance():
    """The same games every time: the deal, the bots' seeds and so the rollouts are fixed."""

    class Searches(SdkPlayer):
        def answer(self, position, state):
            tried = position.rollouts(1, position.legal_moves()[::4])
            return min(tried, key=lambda rollout: rollout.left).move

    for deal in range(3):
        record = played("search", deal, InProcessPlayer("r", random_move), Searches("sdk", None))
        assert (record.faults, record.ranks) == ([], [2, 1])


def turn_of_a_game(**told):
    """The lines up to a bot's first turn."""
    start = {
        "type": "start", "players": 2, "seat": 0, "board": ["R..", "..."], "pagodas": 24,
        "seed": 9, "move_ms": 1000, **told,
    }  # fmt: skip
    turn = {"type": "turn", "id": 2, "hand": ["RR", "YB", "BB"], "time_ms": 1000}
    return [json.dumps(line).encode() for line in (start, turn)]


def answered(script, core=CORE, **told):
    """What a program prints that is asked for one move: its replies, and its stderr."""
    hello = b'{"type":"hello","id":1,"protocol":1,"arena":"x"}'
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=b"\n".join([hello, *turn_of_a_game(**told), b'{"type":"quit"}\n']).decode(),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ARENA_RULES": core},
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


SCRIPT = """
from arena.sdk import run
def choose(position):
    print("thinking about", len(position.legal_moves()))
    return position.text(position.legal_moves()[0])
run(choose)
"""


def test_the_loop_answers_on_stdout_and_print_goes_to_stderr(snapshot):
    replies, said = answered(SCRIPT, board=["R...", "...."])
    assert replies == [
        {"type": "ready", "id": 1, "view": "incremental"},
        {"type": "move", "id": 2, "move": "Rb1Rc1"},
    ]
    assert said == snapshot


SEARCH = """
from arena.rules import CORE, State, pure
from arena.sdk import run
def choose(position):
    print(CORE)
    tried = position.rollouts(1)
    print(tried, position.playout(), position.sample().playout(policy="greedy"))
    return max(tried, key=lambda rollout: -rollout.left).move
run(choose)
"""


def test_a_bot_plays_the_same_with_the_pure_core():
    told = {"players": 3, "board": ["R....", "..V..", "....B", "Y...."], "pagodas": 19}
    replies, said = answered(SEARCH, **told)
    assert said.splitlines()[0] == CORE
    assert replies[1]["type"] == "move"
    assert answered(SEARCH, "pure", **told) == (replies, said.replace(CORE, "pure", 1))


def test_a_position_says_why_a_move_is_illegal_and_where_to_read_the_rule(snapshot):
    said = []

    def choose(position):
        first = position.legal_moves()[0]
        said.extend(map(position.why_illegal, ("Ra1Ra2", first, position.text(first), "pass")))
        with pytest.raises(InvalidMoveError):
            position.why_illegal("Ra1")
        return first

    noted(choose)
    assert said == snapshot


def test_the_loop_ends_with_its_input():
    program = [sys.executable, "-c", SCRIPT]
    assert subprocess.run(program, input=b"", capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("None", "None at turn 0: return one of position.legal_moves()"),
        ("0.5", "0.5 at turn 0: return one of position.legal_moves()"),
        ("99999", "99999 at turn 0: return one of position.legal_moves()"),
        ("-7", "-7 at turn 0: return one of position.legal_moves()"),
        ("'x' * 99, 1", f"('{'x' * 38}... at turn 0: return one of position.legal_moves()"),
        ("3", "3 at turn 0: return the move position.legal_moves()[3], not its index"),
    ],
)
def test_what_is_no_move_is_told_with_the_functions_place(tmp_path, returned, said, snapshot):
    function = f"def best(position):\n    return {returned}\n"
    (tmp_path / "bot.py").write_text(f"from arena.sdk import run\n\n\n{function}\n\nrun(best)\n")
    done = subprocess.run(
        [sys.executable, "bot.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        input=b"\n".join(turn_of_a_game()).decode(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == snapshot


def test_what_has_no_place_is_told_without_one(refused):
    class Best:
        def __call__(self, position):
            return None

    with refused(NoMoveError):
        noted(Best())


@pytest.mark.parametrize("as_move", [int, np.int64, np.uint16])
def test_any_integer_that_is_a_move_will_do(as_move):
    reply = noted(lambda position: as_move(position.legal_moves()[-1]))
    assert reply == noted(lambda position: position.text(position.legal_moves()[-1]))


def test_a_move_against_the_rules_is_left_to_the_arena():
    assert noted(lambda position: "Ra1Ra2")["move"] == "Ra1Ra2"
    assert noted(lambda position: position.move("Ra1Ra2"))["move"] == "Ra1Ra2"
    assert noted(lambda position: -1)["move"] == "pass"


def noted(choose, **told):
    """The reply of a bot that says something; ``told`` is more of what `start` tells it."""
    sent = []
    serve(choose, turn_of_a_game(**told), sent.append)
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


def test_options_have_the_types_that_bot_toml_declares(refused):
    def choose(position):
        ahead = position.play(position.legal_moves()[0]).options
        seen.update({name: (type(value), value) for name, value in ahead.items()})
        with refused(KeyError):
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
    seen = []
    noted(lambda position: seen.append(dict(position.options)) or position.legal_moves()[0])
    assert seen == [{}]


@pytest.mark.parametrize("odd", [object(), [object()], "\ud800"])
def test_a_note_that_cannot_be_written_costs_no_move(odd, capsys, snapshot):
    def choose(position):
        position.note(0.5, nodes=odd)
        return position.legal_moves()[0]

    assert "note" not in noted(choose)
    assert capsys.readouterr().err == snapshot


def test_numbers_of_numpy_can_be_noted():
    def choose(position):
        position.note(np.float64(0.25), nodes=np.int64(7), none=float("nan"))
        return position.legal_moves()[0]

    assert noted(choose)["note"] == {"value": 0.25, "nodes": 7, "none": None}


def test_messages_of_a_later_protocol_are_passed_over(refused):
    sent = []
    lines = [
        b'{"type":"weather","sky":"blue"}',
        b'{"type":"hello","id":1,"protocol":1,"arena":"9"}',
        b'{"type":"quit"}',
    ]
    serve(lambda position: position.legal_moves()[0], lines, sent.append)
    assert [json.loads(line)["type"] for line in sent] == ["ready"]
    with refused(msgspec.ValidationError):
        serve(lambda position: 0, [b'{"type":"start"}'], sent.append)
