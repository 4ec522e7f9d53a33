"""Games between functions, beside the referee's games between the same functions."""

import time

import msgspec
import pytest

from arena.match.referee import Referee, play_alone
from arena.match.replay import audit
from arena.players.player import InProcessPlayer, built_in
from arena.records.record import encode_record
from arena.records.strict import decode_strictly
from arena.records.timing import Timing
from arena.rules.boards import built_in as built_in_board
from arena.rules.boards import parse_board
from arena.tournament.schedule import single_game

NAMES = ("random", "careful-2", "greedy-3", "random")


def timeless(record):
    return msgspec.structs.replace(record, think_ms=[], slowest_ms=[], ms=None, ended="")


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", ["bird", "lion"])
def test_the_record_is_that_of_the_referee_and_follows_from_the_rules(players, name):
    board, bots = (
        built_in_board(name),
        [f"{bot}-{seat}" for seat, bot in enumerate(NAMES[:players])],
    )
    choosers = [built_in(bot).choose for bot in NAMES[:players]]
    for deal in range(4):
        plan = single_game("alone", name, deal, bots)
        record = play_alone(plan, board, choosers, "here")
        seated = [InProcessPlayer(bot, choose) for bot, choose in zip(bots, choosers, strict=True)]
        refereed = Referee(plan, board, seated, Timing(clock="wall")).play(host="here").record
        assert timeless(record) == timeless(refereed)
        assert timeless(record) == timeless(play_alone(plan, board, choosers, "here"))
        assert audit(record, board) is None
        line = encode_record(record)
        assert encode_record(decode_strictly(line + b"\n")) == line


def test_passes_are_recorded_as_the_referee_records_them():
    board = parse_board("p", "RR.RR.RR\n........\nRR.RR.RR\n........\nYYYBBBYY")
    choose, passes = built_in("random").choose, 0
    for deal in range(35, 45):
        plan = single_game("p", "p", deal, "abcd")
        record = play_alone(plan, board, [choose] * 4)
        refereed = (
            Referee(
                plan, board, [InProcessPlayer(bot, choose) for bot in "abcd"], Timing(clock="wall")
            )
            .play()
            .record
        )
        assert timeless(record) == timeless(refereed)
        passes += record.moves.count("pass")
    assert passes


def test_another_seed_of_a_seat_leads_to_another_game_and_its_seat_alone_gets_it():
    plan, heard = single_game("seeds", "bird", 0, ("a", "b")), []

    def choose(state, seed):
        heard.append((state.mover, seed))
        return built_in("random").choose(state, seed)

    record = play_alone(plan, built_in_board("bird"), [choose] * 2)
    assert set(heard) == {(0, plan.seeds[0]), (1, plan.seeds[1])}
    other = msgspec.structs.replace(plan, seeds=(plan.seeds[0], plan.seeds[1] ^ 1))
    changed = play_alone(other, built_in_board("bird"), [choose] * 2)
    assert changed.moves[0] == record.moves[0]
    assert changed.moves != record.moves


def test_times_are_those_that_the_functions_took():
    def slow(state, seed):
        if state.turns < 4:
            time.sleep(0.003)
        return built_in("random").choose(state, seed)

    record = play_alone(
        single_game("times", "bird", 0, ("slow", "random")),
        built_in_board("bird"),
        [slow, built_in("random").choose],
    )
    assert record.think_ms[0] >= 6
    assert 3 <= record.slowest_ms[0] <= record.think_ms[0]
