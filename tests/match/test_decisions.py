"""Recorded games led once more: a seat is sent the very bytes that it was sent, and faults happen
again.
"""

import io
import json
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from arena import __version__
from arena.errors import RunError
from arena.match.decisions import decisions_of, retrace
from arena.match.referee import Referee
from arena.match.replay import ReplayableGame, ms_at, old_ms
from arena.match.reproduce import reproduce
from arena.players.bot import BotPlayer, logged_player
from arena.players.channel import WireLog
from arena.players.folder import bot_at
from arena.players.player import InProcessPlayer, random_move
from arena.players.sandbox.tiers import OPEN
from arena.records.evidence import EvidenceWriter, read_evidence
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game
from tests.exports.runs import game_of

ZOO = Path(__file__).parents[1] / "bots"
BOTS = Path(__file__).parents[2] / "bots"
TIMING = Timing(move_ms=400, startup_ms=5000)
BANK = Timing(move_ms=2000, game_ms=3000, increment_ms=20, startup_ms=5000)


def zoo(program):
    return bot_at(ZOO, name=program, command=["python3", f"{program}.py"])


def logged(bot, seat, file):
    return logged_player(bot, TIMING.startup_ms, OPEN, WireLog(file), seat)


def test_a_bot_asked_in_the_place_of_another_has_its_time_unless_it_names_its_own():
    record = game_of(["x:move_ms=50,game_ms=900", "y"])
    script = ReplayableGame(record, built_in("bird"), (1, 2), TIMING)
    limits = [
        [(timing.move_ms, timing.game_ms) for timing in script.timings_with(seat, label)]
        for seat, label in ((0, "new"), (0, "new:move_ms=9"), (1, "new:game_ms=5"))
    ]
    assert limits == [[(50, 900), (400, None)], [(9, 900), (400, None)], [(50, 900), (400, 5)]]


def lines_of(file, seat, way="to"):
    return [
        line["line"]
        for line in map(json.loads, file.getvalue().splitlines())
        if line["seat"] == seat and line["way"] == way
    ]


def play(bots, seat, file, *, deal=0, timing=TIMING, board="bird"):
    """A game of real bots, None for players in this process; the wire of a seat is logged. Returns
    its script and the outcome.
    """
    names = [bot.label if bot else f"in-{at}" for at, bot in enumerate(bots)]
    plan = single_game("retrace", board, deal, names)
    players = [
        InProcessPlayer(name, random_move) if bot is None else BotPlayer(bot, 5000)
        for bot, name in zip(bots, names, strict=True)
    ]
    players[seat] = logged(bots[seat], seat, file)
    try:
        outcome = Referee(plan, built_in(board), players, timing).play()
    finally:
        for player in players:
            if isinstance(player, BotPlayer):
                player.stop()
    return ReplayableGame(outcome.record, built_in(board), plan.seeds, timing), outcome


@pytest.mark.parametrize(
    ("bots", "seat"),
    [
        ([bot_at(BOTS / "greedy-python"), None], 0),
        ([None, zoo("polite"), None], 1),
        ([zoo("exits"), None, bot_at(BOTS / "greedy-python"), zoo("startup_exits")], 2),
    ],
)
def test_a_seat_is_sent_the_same_bytes_again_whatever_others_did(bots, seat):
    """Two views, two to four players, and others that forfeit at the start and later."""
    then, now = io.BytesIO(), io.BytesIO()
    script, outcome = play(bots, seat, then, board="lion")
    player = logged(bots[seat], seat, now)
    asked = retrace(script, seat, player)
    player.stop()
    assert len(outcome.record.faults) == len([bot for bot in bots if bot and "exits" in bot.label])
    assert lines_of(now, seat) == lines_of(then, seat)
    assert [decision.turn for decision in asked.decisions] == decisions_of(script.record, seat)
    assert all((decision.new, decision.fault) == (decision.old, "") for decision in asked.decisions)
    assert not asked.is_broken


def test_only_the_wanted_decision_is_reached_and_no_further():
    file = io.BytesIO()
    script = ReplayableGame(game_of(["a", "b"]), built_in("bird"), (1, 2), TIMING)
    player = logged(zoo("polite"), 1, file)
    asked = retrace(script, 1, player, wanted=5)
    player.stop()
    assert [decision.turn for decision in asked.decisions] == [1, 3, 5]
    assert all(decision.new and decision.spent_ms > 0 for decision in asked.decisions)
    last = lines_of(file, 1)
    assert (json.loads(last[-2])["type"], json.loads(last[-1])["type"]) == ("turn", "quit")


def test_a_bot_that_does_not_start_is_at_fault_at_its_first_decision():
    script = ReplayableGame(game_of(["a", "b", "c"]), built_in("bird"), (1, 2, 3), TIMING)
    player = BotPlayer(zoo("startup_exits"), 5000)
    [decision] = retrace(script, 2, player).decisions
    player.stop()
    assert (decision.turn, decision.old, decision.new, decision.fault) == (
        2,
        script.record.moves[2],
        "",
        "start-up",
    )


def test_an_illegal_move_is_passed_over_and_any_other_fault_ends_the_asking():
    script = ReplayableGame(game_of(["a", "b", "c"]), built_in("bird"), (1, 2, 3), TIMING)
    for program, fault in (
        ("illegal_move", "illegal move"),
        ("exits", "exit"),
        ("startup_exits", "start-up"),
    ):
        player = BotPlayer(zoo(program), 5000)
        asked = retrace(script, 0, player)
        player.dismiss()
        faults = [decision.fault for decision in asked.decisions if decision.fault]
        assert set(faults) == {fault}
        assert asked.is_broken == (program != "illegal_move")
        if program == "illegal_move":
            assert [decision.turn for decision in asked.decisions] == decisions_of(script.record, 0)
            assert faults == [fault] * (len(asked.decisions) - 2)


@pytest.mark.parametrize(
    "change",
    [
        {"left": [0, 0]},
        {"moves": ["Ba1Ba2"]},
        {"faults": [{"seat": 0, "turn": 3, "kind": "exit", "detail": "x"}]},
    ],
)
def test_a_record_that_breaks_the_rules_is_not_led_again(change, refused):
    record = msgspec.convert(
        {**msgspec.to_builtins(game_of(["a", "b"])), **change}, type=type(game_of(["a", "b"]))
    )
    player = BotPlayer(zoo("polite"), 5000)
    with refused(RunError):
        retrace(ReplayableGame(record, built_in("bird"), (1, 2), TIMING), 0, player)
    player.stop()


def test_turns_and_times_of_a_seat_follow_from_the_record():
    record = game_of(["a", "b", "c"], faults=[(1, 4, "exit", "x")])
    assert decisions_of(record, 1) == [1, 4]
    assert sorted(turn for seat in range(3) for turn in decisions_of(record, seat)) == sorted(
        [*range(record.turns), 4]
    )
    assert old_ms(record, 1) == record.think_ms[1]


def test_a_bank_runs_down_by_the_times_of_the_record():
    record = game_of(["a", "b"])
    record = msgspec.structs.replace(record, ms=[10.0 + at for at in range(len(record.moves))])
    file = io.BytesIO()
    timing = Timing(move_ms=5000, game_ms=5000)
    player = logged(zoo("polite"), 0, file)
    retrace(ReplayableGame(record, built_in("bird"), (1, 2), timing), 0, player, wanted=6)
    player.stop()
    turns = [json.loads(line) for line in lines_of(file, 0)]
    given = [turn["time_ms"] for turn in turns if turn["type"] == "turn"]
    assert given == [5000, 4990, 4978, 4964]
    assert [ms_at(record, turn) for turn in (0, 2, 99)] == [10.0, 12.0, None]
    assert ms_at(game_of(["a", "b"]), 0) is None


def evidence_of(folder, script, outcome, seat):
    [number] = [number for number, fault in enumerate(outcome.record.faults) if fault.seat == seat]
    EvidenceWriter(folder).write(script.record.id, script.seeds, outcome.evidence)
    kept = read_evidence(folder, f"faults/{script.record.id}/seat-{seat}.json")
    return outcome.record.faults[number], kept


@pytest.mark.parametrize(
    "program",
    [
        "exits",
        "silent",
        "illegal_move",
        "answers_twice",
        "startup_exits",
        "not_json",
        "half_line",
        "killed",
    ],
)
def test_a_fault_happens_again_on_the_same_bytes(tmp_path, program):
    file, bots = io.BytesIO(), [None, zoo(program), None]
    script, outcome = play(bots, 1, file)
    fault, kept = evidence_of(tmp_path, script, outcome, 1)
    found = reproduce(script, fault, kept, bots[1], OPEN, __version__)
    assert found.verdict == "same"
    assert (found.differs, found.compared > 0) == (None, True)
    sent = lines_of(file, 1)
    # its second answer may be found before or after the next request
    if program != "answers_twice":
        assert found.sent == len(sent)
        assert found.new_words == found.old_words


BREAKS_LATE = """
import polite

def move(message):
    if message["id"] == 50 or message["time_ms"] != {asked_ms}.pop(0) and {strict}:
        raise SystemExit(9)
    polite_move(message)

polite_move, polite.move = polite.move, move
polite.play()
"""


def late_breaker(folder, asked_ms=(), *, strict=False):
    shutil.copy(ZOO / "polite.py", folder / "polite.py")
    (folder / "late_breaker.py").write_text(
        BREAKS_LATE.format(asked_ms=[*asked_ms, *[0] * 99], strict=strict)
    )
    return bot_at(folder, name="late-breaker", command=["python3", "late_breaker.py"])


def test_a_fault_in_a_later_game_of_a_process_is_repeated_with_its_ids_and_the_time_that_was_left(
    tmp_path,
):
    """It happens at a request that a process reaches in its second game; with a bank, no time for
    an answer is like another.
    """
    bot = late_breaker(tmp_path)
    player = BotPlayer(bot, 5000)
    board = built_in("bird")
    for deal in range(4):
        plan = single_game("later", "bird", deal, ["late-breaker", "in"])
        outcome = Referee(plan, board, [player, InProcessPlayer("in", random_move)], BANK).play()
        if outcome.record.faults:
            break
    player.stop()
    assert deal > 0
    script = ReplayableGame(outcome.record, board, plan.seeds, BANK)
    fault, kept = evidence_of(tmp_path, script, outcome, 0)
    assert len(kept.asked_ms) == len(decisions_of(script.record, 0))
    strict = late_breaker(tmp_path, kept.asked_ms, strict=True)
    found = reproduce(script, fault, kept, strict, OPEN, __version__)
    assert (found.verdict, found.differs) == ("same", None)
    without = reproduce(script, fault, None, late_breaker(tmp_path), OPEN, __version__)
    assert (without.verdict, without.compared) == ("answered", 0)


@pytest.mark.parametrize(
    ("program", "other", "verdict"),
    [("exits", "polite", "answered"), ("illegal_move", "not_json", "other")],
)
def test_another_bot_may_answer_or_break_in_another_way(tmp_path, program, other, verdict):
    script, outcome = play([zoo(program), None], 0, io.BytesIO())
    fault, kept = evidence_of(tmp_path, script, outcome, 0)
    found = reproduce(script, fault, kept, zoo(other), OPEN, __version__)
    assert (found.verdict, found.differs) == (verdict, None)
    assert found.decisions[-1].turn == fault.turn


def test_a_start_that_failed_may_succeed(tmp_path):
    script, outcome = play([zoo("startup_exits"), None], 0, io.BytesIO())
    fault, kept = evidence_of(tmp_path, script, outcome, 0)
    found = reproduce(script, fault, kept, zoo("polite"), OPEN, __version__)
    assert (found.verdict, found.decisions, found.sent, found.compared) == ("answered", [], 1, 1)


def test_evidence_that_is_damaged_says_so(tmp_path, refused):
    (tmp_path / "seat-0.json").write_text('{"game":1}')
    with refused(RunError):
        read_evidence(tmp_path, "seat-0.json")


def test_the_wire_is_logged_both_ways_in_order_with_what_was_never_read():
    file = io.BytesIO()
    _, outcome = play([zoo("half_line"), None], 0, file)
    assert outcome.record.faults[0].kind == "late"
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [line["ms"] for line in lines] == sorted(line["ms"] for line in lines)
    assert {(line["seat"], line["bot"]) for line in lines} == {(0, "half_line")}
    assert [json.loads(line["line"])["type"] for line in lines[:5]] == [
        "hello",
        "ready",
        "start",
        "turn",
        "move",
    ]
    assert [line["way"] for line in lines[:5]] == ["to", "from", "to", "to", "from"]
    assert lines[-1]["unread"]
    assert lines[-1]["way"] == "from"
    assert not any("unread" in line for line in lines[:-1])
    assert os.linesep not in lines[-1]["line"]
