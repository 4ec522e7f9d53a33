"""The zoo: every way to misbehave, by a real program that does it, ends as a clean forfeit at
tables of two, three and four.
"""

import json
import os
import re
import time
from pathlib import Path

import msgspec
import pytest

from arena.faults import FaultKind
from arena.match.referee import Referee
from arena.match.replay import replay, start_state
from arena.players import failures, timekeeper
from arena.players.bot import BotPlayer
from arena.players.folder import bot_at
from arena.players.player import InProcessPlayer, random_move
from arena.players.sandbox.tiers import OPEN, Sandbox
from arena.players.staging import staged_for_a_while
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.rules.notation import TILES
from arena.tournament.schedule import single_game
from tests.attacks.tiers import needs

ZOO = Path(__file__).parents[1] / "bots"
TIMING = Timing(move_ms=400, startup_ms=800)
STARTUP_MS = 5000
MEMORY_MB = 100
OVER_S = 1.0
"""How long after its deadline a culprit's game may take to be rid of it."""
SLACK_S = 60.0
"""More of it, for a machine that has other things to do; the figure printed is what counts."""

NO_ANSWER = r"no answer came within \d+ ms \(it used \d+ of its 150 ms of CPU time\)"

PROGRAMS = {
    # program: (kind, part of the sentence that people read)
    "startup_exits": (
        "start-up",
        "exited with status 1 .* last line on stderr: no model file: weights.bin",
    ),
    "startup_exits_well": (
        "start-up",
        r"exited with status 0 without an answer: is run\(choose\) its last line",
    ),
    "startup_killed": (
        "start-up",
        r"was killed by signal 6 \(SIGABRT\) when an answer was due: look for a crash",
    ),
    "startup_silent": ("start-up", "no answer came within the 800 ms allowed for start-up"),
    "startup_reads_only": (
        "start-up",
        r"the 800 ms allowed for start-up \(it used \d+ ms of CPU time in \d+ ms\): answer",
    ),
    "startup_half_line": (
        "start-up",
        (
            "only part of a line came within the 800 ms allowed for start-up.*with a newline at"
            " the end"
        ),
    ),
    "startup_banner": (
        "start-up",
        (
            "expected one JSON object on one line, got 'Qinominator 3000, .* print debugging output"
            " to stderr"
        ),
    ),
    "startup_floods": (
        "start-up",
        "got 'loading the opening book': .* print debugging output to stderr",
    ),
    "startup_wrong_ready": ("start-up", 'expected a reply such as {"type":"ready"'),
    "late": (
        "late",
        (
            r"the answer came \d+ ms after 400 ms had passed: think less .* or allow more with"
            r" --move-ms"
        ),
    ),
    "late_then_next": (
        "late",
        (
            r"the answer came \d+ ms after 400 ms had passed: think less .* or allow more with"
            r" --move-ms"
        ),
    ),
    "half_line": ("late", "only part of a line came.*with a newline at the end"),
    "hangs_midway": ("late", "only part of a line came.*with a newline at the end"),
    "drip": ("late", "only part of a line came"),
    "silent": ("silent", NO_ANSWER + ": answer every turn; think less"),
    "ignores_signals": ("silent", NO_ANSWER),
    "stops_itself": ("silent", NO_ANSWER),
    "closes_input": ("silent", NO_ANSWER),
    "leaves_children": ("silent", NO_ANSWER),
    "very_late": ("silent", r"^the answer came \d+ ms after 400 ms had passed: think less"),
    "unflushed": (
        "silent",
        (
            "answered only after its input was closed: flush stdout after each line .*still"
            " thinking.*think less"
        ),
    ),
    "not_json": (
        "not json",
        (
            "expected one JSON object on one line, got 'thinking about .* print debugging output to"
            " stderr"
        ),
    ),
    "invalid_utf8": (
        "not json",
        "expected one JSON object on one line, got .* can't decode byte 0xe8",
    ),
    "nan": ("not json", "expected one JSON object on one line, got .*NaN"),
    "nul_bytes": ("not json", r"expected one JSON object on one line, got '\\x00"),
    "json_list": ("not json", r"""expected one JSON object on one line, got '\["move"""),
    "deep_json": ("not json", "expected one JSON object on one line, .* nest less deeply"),
    "huge_number": ("wrong shape", r"expected a reply such as .*\(600\d\d bytes\)"),
    "missing_id": ("wrong shape", "Object missing required field `id`"),
    "id_as_text": ("wrong shape", r"Expected `int`, got `str` - at `\$.id`"),
    "wrong_shape": ("wrong shape", r"Expected `str`, got `array` - at `\$.move`"),
    "wrong_type": ("wrong shape", 'expected a reply of type "move" to the request'),
    "unknown_id": ("unknown id", "repeat the id of the request"),
    "stale_id": ("unknown id", "repeat the id of the request"),
    "answers_twice": ("unknown id", "answer (each request |it )?once"),
    "speaks_unasked": (
        "unknown id",
        'expected silence until the next request, got .*"info".* log to stderr',
    ),
    "illegal_move": ("illegal move", r"is not free grassland \(R4.1\)"),
    "tile_of_another": ("illegal move", r"the tile \w\w is not in the hand .* \(R3.1\)"),
    "no_move": ("illegal move", "expected a move such as .* got 'I resign'"),
    "off_the_board": ("illegal move", r"expected a square from a1 to m13, got 'z25'"),
    "passes": ("illegal move", r"must place one \(R3.1, R3.2\)"),
    "exits": ("exit", "^the bot crashed at exits.py line 7: KeyError: 'the square I meant'$"),
    "exits_well": (
        "exit",
        (
            r"exited with status 0 without an answer: is run\(choose\) its last line\? Without the"
            " SDK, read lines until 'quit'"
        ),
    ),
    "exits_at_the_start": ("exit", "exited with status 1 .*this board is too large for me"),
    "exits_midway": (
        "exit",
        "exited with status 4 after writing .* without a newline when an answer was due",
    ),
    "answers_then_exits": ("exit", "exited with status 0 without an answer"),
    "child_keeps_output": ("exit", "exited with status 0"),
    "stderr_flood": ("exit", "exited with status .* its stderr is full: log less"),
    "killed": (
        "killed",
        r"was killed by signal 11 \(SIGSEGV\) when an answer was due: look for a crash",
    ),
    "killed_as_by_the_kernel": (
        "killed",
        r"was killed by signal 9 \(SIGKILL\) when an answer was due: the kernel does that when",
    ),
    "killed_by_memory_that_a_file_lacks": (
        "killed",
        r"was killed by signal 7 \(SIGBUS\) when an answer was due: it used .* 8 MB in bubblewrap",
    ),
    "kills_keeper": ("killed", "a bot must leave the arena's processes alone"),
    "many_processes": (
        "killed",
        r"because it had \d+ processes: start fewer, or raise processes in bot.toml",
    ),
    "memory": ("memory", r"used \d+ MB of memory: use less, or raise memory_mb in bot.toml"),
    "flood": ("flood", "more than 64 KiB that nobody asked for"),
    "blank_lines": (
        "flood",
        "more than 64 KiB that nobody asked for: answer each request once, log to stderr",
    ),
    "long_line": ("line too long", "expected lines of at most 64 KiB"),
    "closes_output": ("closed output", "closed its output but kept running"),
    "never_reads": ("never reads", r"\d+ bytes of input were left unread: read stdin line by line"),
}
BY_THE_WALL = {"late", "late_then_next", "very_late"}
"""Programs that sleep for less than a bot may, where an answer costs CPU time."""
LATE = {"late", "late_then_next"}
"""Programs that are late by a second, so that a stall of this machine does not put them in time;
they get a longer grace.
"""
HANGING = {
    "half_line",
    "hangs_midway",
    "drip",
    "silent",
    "ignores_signals",
    "stops_itself",
    "closes_input",
    "leaves_children",
    "unflushed",
    "never_reads",
}
"""Programs whose answer never comes, however long the arena waits: it waits for HANGING_MS."""
HANGING_MS = 150
MOVE_MS = {"stderr_flood": 5000, "memory": 3000, "many_processes": 5000}
"""Programs that need a while for what they do, with the ms for their moves."""
MOVE_MS |= dict.fromkeys(HANGING, HANGING_MS)
FAULTLESS = {"burns"}


class Timed(BotPlayer):
    """A player with a note of how long after its deadline its game was rid of it, in seconds;
    before the deadline is negative.
    """

    over_s = 0.0
    _deadline = 0.0

    def begin(self, start):
        self._deadline = time.monotonic() + self.startup_ms / 1000
        super().begin(start)

    def choose(self, state, budget_ns):
        allowed_ns = budget_ns if self.clock == "wall" else timekeeper.patience(budget_ns)
        self._deadline = time.monotonic() + allowed_ns / 1e9
        return super().choose(state, budget_ns)

    def dismiss(self):
        super().dismiss()
        self.over_s = time.monotonic() - self._deadline


def misbehaving(program, sandbox=OPEN):
    bot = bot_at(ZOO, name=program.replace("_", "-"), command=["python3", "-S", f"{program}.py"])
    bot = msgspec.structs.replace(
        bot,
        manifest=msgspec.structs.replace(
            bot.manifest, memory_mb=MEMORY_MB if program == "memory" else 1024
        ),
    )
    startup_ms = TIMING.startup_ms if program.startswith("startup") else STARTUP_MS
    clock = "wall" if program in BY_THE_WALL else "cpu"
    return Timed(bot, startup_ms, sandbox, clock)


@pytest.fixture(name="play")
def play_with_a_fitting_grace(monkeypatch):
    def fitted(program, *table, **options):
        if program in LATE:
            monkeypatch.setattr(failures, "GRACE_NS", 60_000_000_000)
        if program in HANGING:
            monkeypatch.setattr(timekeeper, "MIN_PATIENCE_NS", 0)
        return played(program, *table, **options)

    return fitted


def played(program, players, seat, sandbox=OPEN, others=random_move):
    culprit = misbehaving(program, sandbox)
    seated = [
        culprit if at == seat else InProcessPlayer(f"good-{at}", others) for at in range(players)
    ]
    plan = single_game("zoo", "bird", players, [player.name for player in seated])
    timing = msgspec.structs.replace(TIMING, move_ms=MOVE_MS.get(program, TIMING.move_ms))
    try:
        return Referee(plan, built_in("bird"), seated, timing).play(), culprit.over_s
    finally:
        culprit.stop()


def test_the_zoo_has_a_program_for_every_kind():
    assert {kind for kind, _ in PROGRAMS.values()} == {kind.value for kind in FaultKind}
    assert {path.stem for path in ZOO.glob("*.py")} == {*PROGRAMS, *FAULTLESS, "polite"}


def check_no_secrets(outcome, seat):
    """The evidence tells of hands only the culprit's own, nothing of the deck, and no seed but the
    bot's own.
    """
    record, [evidence] = outcome.record, outcome.evidence
    text = msgspec.json.encode(evidence).decode()
    assert record.deck[:24] not in text
    own = [
        [TILES[tile] for tile in state.hands[seat]]
        for state in states_before(record)
        if state.mover == seat
    ]
    told = [
        json.loads(line[2])
        for line in evidence.lines
        if line[0] == "to" and '"type":"turn"' in line[2] and line[2].endswith("}")
    ]
    assert all(message["hand"] in own for message in told)
    starts = [json.loads(line[2]) for line in evidence.lines if '"type":"start"' in line[2]]
    assert all(start["seat"] == seat for start in starts)


def states_before(record):
    state = start_state(record, built_in("bird"))
    yield state.copy()
    for step in replay(record, built_in("bird")):
        yield step.state.copy()


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_a_fault_is_a_forfeit_with_evidence(play, program, players):
    kind, sentence = PROGRAMS[program]
    seat = players - 1
    outcome, over_s = play(program, players, seat)
    record = outcome.record
    [fault] = record.faults
    print(f"{program} | {kind} | {players} players | {over_s:+.2f} s")
    assert (fault.seat, fault.kind) == (seat, kind), fault.detail
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
    assert evidence.after_ms > 0
    check_no_secrets(outcome, seat)
    assert over_s < OVER_S + SLACK_S


WALLED = [
    "exits",
    "killed",
    "silent",
    "memory",
    "leaves_children",
    "flood",
    "startup_exits",
    "stderr_flood",
    "ignores_signals",
    "closes_output",
    "child_keeps_output",
]


@pytest.mark.parametrize("tier", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("program", WALLED)
def test_in_a_sandbox_it_is_the_same_fault(play, program, tier):
    needs(tier)
    kind, sentence = PROGRAMS[program]
    outcome, over_s = play(program, 2, 1, Sandbox(tier))
    [fault] = outcome.record.faults
    print(f"{program} | {kind} | {tier} | {over_s:+.2f} s")
    assert fault.kind == kind, fault.detail
    assert re.search(sentence, fault.detail), fault.detail
    assert over_s < OVER_S + SLACK_S


def test_who_computes_on_others_turns_costs_nobody_a_game():
    """The burner's children share the other bot's processor; that bot still answers, though more
    slowly.
    """
    seated = [
        misbehaving("burns"),
        BotPlayer(bot_at(ZOO, name="polite", command=["python3", "-S", "polite.py"]), STARTUP_MS),
    ]
    plan = single_game("zoo", "bird", 0, ["burns", "polite"])
    try:
        record = Referee(plan, built_in("bird"), seated, Timing(move_ms=5000)).play().record
    finally:
        for player in seated:
            player.stop()
    assert record.faults == []


@pytest.mark.parametrize(
    ("players", "seat"), [(players, seat) for players in (2, 3, 4) for seat in range(players)]
)
@pytest.mark.parametrize(("program", "kind"), [("startup_exits", "start-up"), ("exits", "exit")])
def test_wherever_the_culprit_sits_among_real_bots(program, kind, players, seat):
    polite = bot_at(ZOO, name="polite", command=["python3", "-S", "polite.py"])
    seated = [
        misbehaving(program) if at == seat else BotPlayer(polite, STARTUP_MS)
        for at in range(players)
    ]
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
    plan = single_game("zoo", "bird", 0, ["a", "b", "c"])
    try:
        record = Referee(plan, built_in("bird"), seated, TIMING).play().record
    finally:
        for player in seated:
            player.stop()
    assert (record.end, record.ranks, record.moves) == ("forfeit", [3, 2, 1], [])
    assert [fault.seat for fault in record.faults] == [0, 1]


def test_the_process_that_hid_is_gone(play):
    outcome, _ = play("leaves_children", 2, 1)
    hidden = int(outcome.evidence[0].stderr.split()[0])
    with pytest.raises(ProcessLookupError):
        os.kill(hidden, 0)


def test_a_missing_program_is_a_start_up_fault(tmp_path, snapshot):
    (tmp_path / "bot.toml").write_text(
        'name = "ghost"\nversion = "1"\ncommand = ["no-such-program-here"]\n'
    )
    seated = [BotPlayer(bot_at(tmp_path), 2000), InProcessPlayer("good", random_move)]
    plan = single_game("zoo", "bird", 0, ["ghost", "good"])
    try:
        record = Referee(plan, built_in("bird"), seated, TIMING).play().record
    finally:
        seated[0].stop()
    assert record.faults[0].kind == "start-up"
    assert record.faults[0].detail == snapshot


def test_a_bot_that_exits_between_games_is_started_again(tmp_path):
    (tmp_path / "once.py").write_text((ZOO / "polite.py").read_text().replace('"quit"', '"end"'))
    with staged_for_a_while(bot_at(tmp_path / "once.py")) as [bot]:
        player = BotPlayer(bot, STARTUP_MS)
        for deal in range(3):
            seated = [player, InProcessPlayer("good", random_move)]
            record = (
                Referee(
                    single_game("again", "bird", deal, ["once", "good"]),
                    built_in("bird"),
                    seated,
                    Timing(),
                )
                .play()
                .record
            )
            assert record.faults == []
            assert player.process.ending(60.0) is not None
        player.stop()
