"""Every kind of fault, by a real program that commits it: a clean forfeit, at tables of two, three and four."""

import os
import re
import time
from pathlib import Path

import pytest

from arena.errors import FaultKind
from arena.match.clock import Timing
from arena.match.referee import Referee
from arena.match.replay import replay
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at, staged_for_a_while
from arena.players.inprocess import InProcessPlayer, random_move
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game

ZOO = Path(__file__).parents[1] / "bots"
TIMING = Timing(move_ms=400, startup_ms=800)
STARTUP_MS = 5000

PROGRAMS = {
    # program: (kind, part of the sentence that people read)
    "startup_exits": ("start-up", "exited with status 1 .* its last words on stderr: no model file: weights.bin"),
    "startup_silent": ("start-up", "no answer came within the 800 ms for starting"),
    "startup_wrong_ready": ("start-up", 'expected a reply such as {"type":"ready"'),
    "late": ("late", r"the answer came \d+ ms after 400 ms had passed: keep a reserve"),
    "half_line": ("late", "only a part of a line came.*with a newline at its end"),
    "drip": ("late", "only a part of a line came"),
    "silent": ("silent", "no answer came within 400 ms: answer every request, and flush"),
    "leaves_children": ("silent", "no answer came within 400 ms"),
    "unflushed": ("silent", "answered only after its input was closed: flush stdout after each line"),
    "not_json": ("not json", "expected one JSON object on one line, got 'thinking about .* print debugging output to stderr"),
    "wrong_shape": ("wrong shape", r"Expected `str`, got `array` - at `\$.move`"),
    "unknown_id": ("unknown id", "repeat the id that came with it"),
    "illegal_move": ("illegal move", r"is not free grassland \(R4.1\)"),
    "passes": ("illegal move", r"must place one \(R3.1, R3.2\)"),
    "exits": ("exit", "exited with status 1 .* KeyError: 'the square I meant'"),
    "answers_then_exits": ("exit", "exited with status 0 when an answer was due"),
    "killed": ("killed", r"was killed by signal 11 \(SIGSEGV\)"),
    "kills_keeper": ("killed", "a bot has to leave the arena's processes alone"),
    "flood": ("flood", "over 64 KiB of lines that nobody asked for"),
    "long_line": ("line too long", "expected lines of at most 64 KiB"),
    "closes_output": ("closed output", "closed its output but went on running"),
    "never_reads": ("never reads", r"\d+ bytes of input were not read: read stdin line by line"),
}


def misbehaving(program):
    bot = bot_at(ZOO, name=program.replace("_", "-"), command=["python3", f"{program}.py"])
    return BotPlayer(bot, TIMING.startup_ms if program.startswith("startup") else STARTUP_MS)


def play(program, players, seat, others=random_move):
    culprit = misbehaving(program)
    seated = [culprit if at == seat else InProcessPlayer(f"good-{at}", others) for at in range(players)]
    plan = single_game("zoo", "bird", players, [player.name for player in seated])
    try:
        began = time.monotonic()
        outcome = Referee(plan, built_in("bird"), seated, TIMING).play()
        return outcome, time.monotonic() - began
    finally:
        culprit.stop()


def test_the_zoo_has_a_program_for_every_kind():
    assert {kind for kind, _ in PROGRAMS.values()} == {kind.value for kind in FaultKind}
    assert {path.stem for path in ZOO.glob("*.py")} == {*PROGRAMS, "polite"}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_a_fault_is_a_forfeit_with_evidence(program, players):
    kind, sentence = PROGRAMS[program]
    seat = players - 1
    outcome, seconds = play(program, players, seat)
    record = outcome.record
    [fault] = record.faults
    assert (fault.seat, fault.kind) == (seat, kind)
    assert re.search(sentence, fault.detail), fault.detail
    assert record.ranks[seat] == players
    assert min(record.ranks) == 1
    if players == 2:
        assert record.end == "forfeit"
        assert record.turns == fault.turn
    else:
        assert record.end in ("last pagoda", "no tiles", "no space")
        passes = [move for at, move in enumerate(record.moves) if at % players == seat]
        assert set(passes[fault.turn // players :]) <= {"pass"}
    list(replay(record, built_in("bird")))
    [evidence] = outcome.evidence
    assert (evidence.seat, evidence.kind, evidence.turn) == (seat, kind, fault.turn)
    assert evidence.lines
    assert evidence.lines[0][0] in ("to", "from")
    # a generous bound: everything the bot is granted, and what the arena adds to look for the cause
    assert seconds < STARTUP_MS / 1000 + 10


@pytest.mark.parametrize(("players", "seat"), [(players, seat) for players in (2, 3, 4) for seat in range(players)])
@pytest.mark.parametrize(("program", "kind"), [("startup_exits", "start-up"), ("exits", "exit")])
def test_wherever_the_culprit_sits_among_real_bots(program, kind, players, seat):
    polite = bot_at(ZOO, name="polite", command=["python3", "polite.py"])
    seated = [misbehaving(program) if at == seat else BotPlayer(polite, STARTUP_MS) for at in range(players)]
    plan = single_game("zoo", "bird", seat, [player.name for player in seated])
    try:
        for _ in range(2):  # a table that is used again
            record = Referee(plan, built_in("bird"), seated, TIMING).play().record
            assert [(fault.seat, fault.kind) for fault in record.faults] == [(seat, kind)]
            assert (record.ranks[seat], min(record.ranks)) == (players, 1)
    finally:
        for player in seated:
            player.stop()


def test_when_all_fail_to_start_the_last_one_wins_unasked():
    seated = [misbehaving("startup_exits") for _ in range(3)]
    record = Referee(single_game("zoo", "bird", 0, ["a", "b", "c"]), built_in("bird"), seated, TIMING).play().record
    assert (record.end, record.ranks, record.moves) == ("forfeit", [3, 2, 1], [])
    assert [fault.seat for fault in record.faults] == [0, 1]


def test_the_process_that_hid_is_gone():
    outcome, _ = play("leaves_children", 2, 1)
    hidden = int(outcome.evidence[0].stderr.split()[0])
    with pytest.raises(ProcessLookupError):
        os.kill(hidden, 0)


def test_a_missing_program_is_a_start_up_fault(tmp_path):
    (tmp_path / "bot.toml").write_text('name = "ghost"\nversion = "1"\ncommand = ["no-such-program-here"]\n')
    seated = [BotPlayer(bot_at(tmp_path), 2000), InProcessPlayer("good", random_move)]
    record = Referee(single_game("zoo", "bird", 0, ["ghost", "good"]), built_in("bird"), seated, TIMING).play().record
    assert record.faults[0].kind == "start-up"
    assert "could not be started: [Errno 2] No such file or directory" in record.faults[0].detail


def test_a_bot_that_exits_between_games_is_started_again(tmp_path):
    (tmp_path / "once.py").write_text((ZOO / "polite.py").read_text().replace('"quit"', '"end"'))
    with staged_for_a_while(bot_at(tmp_path / "once.py")) as [bot]:
        player = BotPlayer(bot, STARTUP_MS)
        for deal in range(3):
            seated = [player, InProcessPlayer("good", random_move)]
            record = Referee(single_game("again", "bird", deal, ["once", "good"]), built_in("bird"), seated, Timing()).play().record
            assert record.faults == []
            assert player._process.ending(5.0) is not None
        player.stop()
