"""The referee with scripted players: turns, passes, forfeits, ranks, clocks."""

import json

import pytest

from arena.errors import Forfeit
from arena.faults import FaultKind
from arena.match.clock import Clock
from arena.match.referee import GamePlan, Referee
from arena.match.replay import replay
from arena.players.labels import timing_for
from arena.players.player import Answer, InProcessPlayer, first_move, random_move
from arena.records.timing import Timing
from arena.rules.boards import built_in, parse_board
from arena.rules.notation import parse_move
from arena.rules.terms import final_ranks
from arena.tournament.schedule import single_game
from tests.protocol.dialogue import full_deck


class Quitter(InProcessPlayer):
    """Plays at random, and forfeits when asked for the n-th time, or at the start."""

    def __init__(self, name, when):
        super().__init__(name, random_move)
        self.when = when
        self.asked = 0
        self.heard = []
        self.dismissed = False

    def begin(self, start):
        super().begin(start)
        if self.when == "start":
            raise Forfeit(FaultKind.STARTUP, "does not want to")

    def choose(self, state, budget_ns):
        self.asked += 1
        if self.asked == self.when:
            raise Forfeit(FaultKind.EXIT, "has left")
        return super().choose(state, budget_ns)

    def inform(self, line):
        assert not self.dismissed, "nobody speaks to a seat that has forfeited"
        self.heard.append(json.loads(line))

    def dismiss(self):
        self.dismissed = True


def play(players, board="bird", deal=0, timing=None):
    plan = single_game("referee", board, deal, [player.name for player in players])
    return Referee(plan, built_in(board), players, timing or Timing()).play().record


def test_two_players_a_forfeit_ends_the_game_at_once():
    record = play([Quitter("a", 3), InProcessPlayer("b", random_move)])
    assert (record.end, record.ranks, record.turns) == ("forfeit", [2, 1], 4)
    assert len(record.moves) == 4


def test_three_players_the_others_play_on_and_the_quitter_passes():
    others = [Quitter("a", None), Quitter("b", None)]
    record = play([others[0], Quitter("q", 2), others[1]])
    assert record.end != "forfeit"
    assert record.ranks[1] == 3
    assert sorted((record.ranks[0], record.ranks[2])) in ([1, 1], [1, 2])
    assert set(record.moves[4::3]) == {"pass"}
    forfeited = [message for message in others[0].heard if message.get("forfeited")]
    assert forfeited
    assert all(message["seat"] == 1 and message["move"] == "pass" for message in forfeited)
    assert record.ranks[0] < record.ranks[2] if record.left[0] < record.left[2] else True
    list(replay(record, built_in("bird")))


def test_the_last_one_standing_wins_at_once():
    record = play(
        [Quitter("a", 5), Quitter("b", 2), InProcessPlayer("c", random_move), Quitter("d", 3)]
    )
    assert (record.end, record.ranks) == ("forfeit", [2, 4, 1, 3])
    assert [fault.seat for fault in record.faults] == [1, 3, 0]


def test_a_start_that_fails_in_a_game_of_two_asks_nobody_for_a_move():
    other = Quitter("b", None)
    record = play([Quitter("a", "start"), other])
    assert (record.end, record.ranks, record.moves, other.asked) == ("forfeit", [2, 1], [], 0)
    assert record.faults[0].turn == 0


def test_all_starts_fail_but_one():
    record = play(
        [Quitter("a", "start"), Quitter("b", "start"), Quitter("c", None), Quitter("d", "start")]
    )
    assert (record.end, record.ranks) == ("forfeit", [4, 3, 1, 2])


def test_ranks_by_pagodas_left_with_forfeits_below_in_the_order_of_leaving():
    assert final_ranks([5, 3, 3, 9], []) == [3, 1, 1, 4]
    assert final_ranks([5, 0, 3, 9], [1]) == [2, 4, 1, 3]
    assert final_ranks([0, 0, 3, 9], [1, 0]) == [3, 4, 1, 2]
    assert final_ranks([4, 4], [0]) == [2, 1]


def test_a_forfeited_seat_cannot_win_by_its_last_pagoda():
    assert final_ranks([0, 7, 5], [0]) == [3, 2, 1]


def test_whoever_cannot_place_passes_without_being_asked():
    board = parse_board("tight", "R.....")
    deck = full_deck("RR RR RR YB YB YB")
    asked = Quitter("b", None)
    plan = GamePlan("tight/0/0/0", "tight", 0, 0, ("a", "b"), deck, (1, 2))
    record = Referee(plan, board, [InProcessPlayer("a", first_move), asked], Timing()).play().record
    assert record.moves == ["Rb1Rc1", "Yd1Be1"]
    assert record.end == "no space"


def test_passes_are_recorded_and_told():
    board = parse_board("passes", "RR~RR\n..~..\nYY~..\n~~~..")
    deck = full_deck("RB RB RB RR RR RR")
    listener = Quitter("b", None)
    plan = GamePlan("passes/0/0/0", "passes", 0, 0, ("a", "b"), deck, (1, 2))
    record = (
        Referee(plan, board, [InProcessPlayer("a", first_move), listener], Timing()).play().record
    )
    assert [
        message["move"] for message in listener.heard if message["type"] == "played"
    ] == record.moves
    list(replay(record, board))


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("board", ["bird", "lion"])
def test_a_record_replays_to_its_own_result(players, board):
    for deal in range(5):
        record = play(
            [InProcessPlayer(f"p{seat}", random_move) for seat in range(players)], board, deal
        )
        steps = list(replay(record, built_in(board)))
        assert len(steps) == len(record.moves)
        assert record.turns == sum(move != "pass" for move in record.moves)
        assert steps[-1].state.left == record.left


def test_every_seat_hears_the_same_public_lines():
    listeners = [Quitter(f"l{seat}", None) for seat in range(4)]
    play(listeners)
    assert all(listener.heard == listeners[0].heard for listener in listeners)
    assert listeners[0].heard[-1]["type"] == "end"


def test_seeds_and_seats_are_told_at_the_start():
    told = []

    class Told(InProcessPlayer):
        def begin(self, start):
            told.append((start.seat, start.players, start.pagodas, start.seed))
            super().begin(start)

    play([Told("a", random_move), Told("b", random_move), Told("c", random_move)])
    assert [(seat, players, pagodas) for seat, players, pagodas, _ in told] == [
        (0, 3, 19),
        (1, 3, 19),
        (2, 3, 19),
    ]
    assert len({seed for *_, seed in told}) == 3


def test_a_move_may_not_take_longer_than_the_limit_or_the_bank():
    clock = Clock([Timing(move_ms=100, game_ms=250, increment_ms=10)] * 2)
    assert clock.budget_ns(0) == 100_000_000
    clock.spend(0, 90_000_000)
    clock.spend(0, 95_000_000)
    assert clock.budget_ns(0) == 85_000_000
    assert clock.budget_ns(1) == 100_000_000
    clock.spend(0, 85_000_000)
    assert clock.budget_ns(0) == 10_000_000
    assert clock.think_ms() == [270.0, 0.0]
    assert clock.slowest_ms() == [95.0, 0.0]


def test_without_a_bank_the_limit_never_shrinks():
    clock = Clock([Timing(move_ms=100)] * 2)
    for _ in range(50):
        clock.spend(1, 99_000_000)
    assert clock.budget_ns(1) == 100_000_000


def test_each_seat_has_its_own_limits_and_is_told_of_no_others():
    told, run = [], Timing(move_ms=100)

    class Listener(InProcessPlayer):
        def begin(self, start):
            told.append((start.move_ms, start.game_ms, start.increment_ms))
            super().begin(start)

    labels = ["a:move_ms=7,game_ms=50,increment_ms=3", "b", "c:depth=2,move_ms=900"]
    timings = [timing_for(label, run) for label in labels]
    play([Listener(label, random_move) for label in labels], timing=timings)
    assert told == [(7, 50, 3), (100, None, 0), (900, None, 0)]
    clock = Clock(timings)
    for _ in range(3):
        clock.spend(0, 20_000_000)
        clock.spend(1, 20_000_000)
    assert [clock.budget_ns(seat) for seat in range(3)] == [3_000_000, 100_000_000, 900_000_000]


def test_the_bank_of_a_seat_is_what_it_is_asked_with():
    budgets = []

    class Slow(InProcessPlayer):
        def choose(self, state, budget_ns):
            budgets.append(budget_ns)
            return Answer(super().choose(state, budget_ns).move, 30_000_000)

    play(
        [Slow("a", random_move), InProcessPlayer("b", random_move)],
        timing=Timing(move_ms=1000, game_ms=2000, increment_ms=5),
    )
    assert budgets[:3] == [1_000_000_000, 1_000_000_000, 1_000_000_000]
    assert budgets[-1] == min(1_000_000_000, 2_000_000_000 - (len(budgets) - 1) * 25_000_000)


def test_watchers_see_every_move():
    seen = []
    plan = single_game("watch", "bird", 0, ["a", "b"])
    players = [InProcessPlayer("a", random_move), InProcessPlayer("b", random_move)]
    board = built_in("bird")
    record = (
        Referee(plan, board, players, Timing(), lambda *told: seen.append(told[2])).play().record
    )
    assert [parse_move(board, text) for text in record.moves] == seen
