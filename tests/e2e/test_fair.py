"""Time that is fair on a busy machine: honest bots do not forfeit, and bots that would take the
processor from their rivals change nothing for them.

``make fair`` runs this with 1,000 games of honest bots; ARENA_FAIR_GAMES chooses another number.
"""

import os

import msgspec
import pytest

from arena.match.decisions import Recorded
from arena.match.referee import Referee
from arena.players.player import InProcessPlayer, first_move
from arena.players.sandbox.tiers import Sandbox
from arena.records.timing import Timing
from arena.tournament.schedule import single_game
from tests.attacks.tiers import needs
from tests.support.burners import all_cores, burners
from tests.support.commandline import FIRST

# The last two are fixtures.
from tests.support.timed import BIRD

GAMES = int(os.environ.get("ARENA_FAIR_GAMES", "0"))
pytestmark = [pytest.mark.skipif(not GAMES, reason="slow: use make fair"), pytest.mark.alone]

SMALL = "R....\n..V..\n...Y.\n....B\n"
BURNERS = 2
MEASURED = ("think_ms", "slowest_ms", "ms", "ended", "faults")
# Some hypervisors hold a processor for up to 30 ms and let its program pay for them: what
# honest bots leave unused has to be more than that.
MOVE_MS, SHARE = 100, 0.6
HONEST = FIRST.replace("import sys\n", "import sys, time\n").replace(
    '    elif message["type"] == "turn":\n',
    '    elif message["type"] == "turn":\n        end = time.process_time() +'
    f" {SHARE * MOVE_MS / 1000}\n        while time.process_time() < end:\n            pass\n",
)
ATTACKS = {
    "crowd": "crowd(30)",
    "tick": "[os.fork() or tick(0.002) for _ in range(8)]",
    "reap": "[os.fork() or reap(0.05) for _ in range(4)]",
    "storm": "storm(9000)",
    "ring": "ring(28)",
    "rival": "[os.fork() or (os.setsid(), compute(99)) for _ in range(4)]",
}
TOOLS = """
def tick(seconds):
    os.setsid()
    while True:
        child = os.fork()
        if child == 0:
            compute(seconds)
            os._exit(0)
        os.waitpid(child, 0)
def reap(seconds):
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if os.fork() == 0:
            compute(seconds)
            os._exit(0)
        time.sleep(seconds)
def storm(count):
    import ctypes
    libc = ctypes.CDLL(None)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    one, once = ctypes.c_void_p(), (ctypes.c_long * 4)(0, 0, 0, 20_000_000)
    armed = 0
    for _ in range(count):
        armed += not libc.timer_create(1, None, ctypes.byref(one))
        libc.timer_settime(one, 0, once, None)
    print(armed, "timers", file=sys.stderr, flush=True)
turns = 0
"""


@pytest.fixture
def busy_machine():
    """Two programs that compute without end on each processor."""
    with burners(all_cores() * BURNERS):
        yield


@pytest.mark.timeout(max(600, 3 * GAMES))
def test_honest_bots_do_not_forfeit_on_a_busy_machine(arena, busy_machine):
    arena.add_bot("honest", HONEST)
    arena.add_bot("upright", HONEST)
    (arena.home / "small.txt").write_text(SMALL)
    command = (
        "run",
        "honest",
        "upright",
        "--board",
        "small.txt",
        "--deals",
        GAMES // 2,
        "--move-ms",
        MOVE_MS,
        "--out",
        "fair",
        "--quiet",
    )
    process = arena.start(*command)
    _, err = process.communicate(timeout=3600)
    assert process.returncode == 0, err
    records = arena.records("fair")
    used = [moment for record in records for moment in record["slowest_ms"]]
    print(f"{len(records)} games, the slowest answer used {max(used):.1f} of {MOVE_MS} ms")
    assert len(records) == GAMES // 2 * 2
    assert [record["faults"] for record in records if record["faults"]] == []
    assert not (arena.home / "results" / "fair" / "voids.jsonl").exists()
    assert min(used) > SHARE * MOVE_MS


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("attack", sorted(ATTACKS))
@pytest.mark.usefixtures("one_core")
def test_who_would_take_the_processor_from_its_rivals_changes_nothing_for_them(
    request, attack, players
):
    make = request.getfixturevalue("player")
    needs("bubblewrap")
    at_start = f"exec({TOOLS!r}, globals())"
    attacker = make(
        "attacker",
        at_start=at_start,
        after_turn=f"turns += 1; turns != 3 or {ATTACKS[attack]}",
        sandbox="require",
    )
    rivals = [
        make(f"rival-{number}", in_turn="compute(0.07)", sandbox="require")
        for number in range(players - 1)
    ]
    assert attacker.sandbox == Sandbox("bubblewrap")
    plan = single_game("fair", "bird", 0, ["attacker", *(rival.name for rival in rivals)])
    record = Referee(plan, BIRD, [attacker, *rivals], Timing(move_ms=150)).play().record
    print(f"{attack}, {players} players: {record.faults}")
    assert {fault.seat for fault in record.faults} <= {0}
    assert "exit" not in {fault.kind for fault in record.faults}
    calm = [Recorded(record, 0), *(InProcessPlayer(rival.name, first_move) for rival in rivals)]
    again = Referee(plan, BIRD, calm, Timing(move_ms=150)).play().record
    assert (again.moves[: len(record.moves)], again.ranks) == (record.moves, record.ranks)
    assert players == 2 or again == msgspec.structs.replace(
        record, **{name: getattr(again, name) for name in MEASURED}
    )
