"""A recorded game as the start of another: from every turn, with seats that have left it, and with
what a seat cannot see dealt anew.
"""

import json
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from arena.errors import Forfeit, RunError
from arena.faults import FaultKind
from arena.match.decisions import Recorded
from arena.match.referee import GamePlan, Referee
from arena.match.replay import ReplayableGame, first_difference, resumed
from arena.players.player import InProcessPlayer, Player, random_move
from arena.players.views import turn_view
from arena.records.timing import Timing
from arena.rules.boards import parse_board
from arena.tournament.schedule import deck_of
from tests.protocol.vectors import BOARDS, STACKED

TIMING = Timing(clock="wall")
BANK = Timing(game_ms=1000, increment_ms=10, clock="wall")


class Listener(Player):
    """A seat that keeps what it is told and how long it may think."""

    def __init__(self, player):
        self.player, self.name = player, player.name
        self.heard, self.budgets = [], []

    def begin(self, start):
        self.heard.append(start)
        self.player.begin(start)

    def choose(self, state, budget_ns):
        self.heard.append(turn_view(state, 0, 0, full=True))
        self.budgets.append(budget_ns // 1_000_000)
        return self.player.choose(state, budget_ns)

    def inform(self, line):
        self.heard.append(json.loads(line))
        self.player.inform(line)


class Quitter(InProcessPlayer):
    """A seat that forfeits at a turn."""

    def __init__(self, name, turn):
        super().__init__(name, random_move)
        self.turn = turn

    def choose(self, state, budget_ns):
        if state.turns >= self.turn:
            raise Forfeit(FaultKind.EXIT, "gone")
        return super().choose(state, budget_ns)


class Case(NamedTuple):
    script: ReplayableGame
    heard: list


def played(plan, board, players, timing=TIMING):
    listeners = [Listener(player) for player in players]
    record = Referee(plan, board, listeners, timing).play().record
    return record, listeners


def case(board="pond", players=2, deck=None, quits=None):
    """A game of random players, of whom one may quit at a turn; with what each seat heard."""
    names = [f"p{seat}" for seat in range(players)]
    rows = parse_board(board, "\n".join(BOARDS[board]))
    plan = GamePlan(
        f"{board}/{'+'.join(names)}/0/0",
        board,
        0,
        0,
        tuple(names),
        deck or deck_of("resume", board, 0),
        tuple(range(players)),
    )
    seats = [InProcessPlayer(name, random_move) for name in names]
    if quits:
        seats[quits[0]] = Quitter(names[quits[0]], quits[1])
    record, listeners = played(plan, rows, seats)
    script = ReplayableGame(record, rows, plan.seeds, TIMING)
    return Case(script, [listener.heard for listener in listeners])


CASES = {
    "two": case("bird"),
    "three": case("twins", 3),
    "passes": case("gap", 2, STACKED["gap"]),
    "one left early": case("lion", 3, quits=(1, 7)),
    "one left at the start": case("lion", 4, quits=(0, 0)),
    "forfeit": case("bird", 2, quits=(0, 20)),
}


def again(game, plan=None):
    """The game played on by players who do as recorded; nobody is asked about the past."""
    record, players = game.script.record, []
    for seat, name in enumerate(record.bots):
        old = Recorded(record, seat)
        for text in game.past:
            old.inform(text.encode())
        is_asked = seat not in game.absent
        players.append(InProcessPlayer(name, random_move) if is_asked else old)
    return played(plan or game.plan(record.bots), game.script.board, players)


@pytest.mark.parametrize("name", CASES)
def test_the_same_players_play_the_same_game_from_any_turn(name):
    script, _ = CASES[name]
    old = script.record
    last = old.turns - (old.end != "forfeit")
    for turn in range(0, last + 1, 1 if last < 20 else 7):
        game = resumed(script, turn)
        if any(fault.turn >= turn for fault in old.faults):
            continue  # then nobody quits
        new, _ = again(game)
        assert (new.moves, new.left, new.ranks, new.end) == (
            old.moves,
            old.left,
            old.ranks,
            old.end,
        )
        assert [fault.seat for fault in new.faults] == [fault.seat for fault in old.faults]
        assert first_difference(old, new) is None
        assert new.ms[: len(game.past)] == [None] * len(game.past)
        assert new.id.startswith(f"{old.board}@{turn}/")


@pytest.mark.parametrize("name", ["two", "passes", "one left early"])
def test_a_seat_is_told_of_the_past_as_if_it_had_been_there(name):
    script, heard = CASES[name]
    turn = min(20, script.record.turns - 1)
    game = resumed(script, turn)
    _, listeners = again(game)
    for seat, listener in enumerate(listeners):
        if seat in game.absent:
            assert listener.heard == []
            continue
        full = list(heard[seat])
        known = [line for line in full if isinstance(line, dict)][: len(game.past)]
        at = full.index(known[-1]) + 1
        assert listener.heard[: len(known) + 1] == [full[0], *known]
        assert listener.heard[len(known) + 1 :] == full[at:]


def test_a_seat_that_forfeits_at_the_turn_itself_is_asked_anew():
    script, _ = CASES["forfeit"]
    game = resumed(script, 20)
    assert (game.turn, game.gone, game.state.end) == (20, (), None)
    new, _ = again(game)
    assert new.faults == []
    assert new.turns > script.record.turns
    assert first_difference(script.record, new) == 20


def test_a_seat_that_had_left_stays_out_and_keeps_its_rank():
    script, _ = CASES["one left early"]
    game = resumed(script, 12)
    assert game.absent == [1]
    new, listeners = again(game)
    assert listeners[1].budgets == []
    assert (new.ranks[1], new.faults) == (3, script.record.faults)
    assert set(new.moves[1::3][3:]) == {"pass"}
    assert resumed(script, 7).absent == []


def test_everybody_starts_with_a_full_bank():
    script, _ = CASES["two"]
    game = resumed(script, 30)
    names = script.record.bots
    players = [Listener(InProcessPlayer(name, random_move)) for name in names]
    Referee(game.plan(names), script.board, players, BANK).play()
    assert [player.budgets[0] for player in players] == [1000, 1000]


@pytest.mark.parametrize(
    ("name", "turn", "last"), [("two", -1, None), ("two", 99, None), ("forfeit", 21, 20)]
)
def test_a_turn_outside_the_game_is_refused_with_the_range(name, turn, last, refused):
    script, _ = CASES[name]
    last = script.record.turns - 1 if last is None else last
    with refused(RunError):
        resumed(script, turn)


def test_a_record_that_breaks_the_rules_is_no_past(refused):
    script, _ = CASES["two"]
    broken = script._replace(record=replace(script.record, moves=["Ra1Ra2"]))
    with refused(RunError):
        resumed(broken, 0)
