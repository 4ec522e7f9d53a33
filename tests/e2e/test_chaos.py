"""Rounds of random harm to a run: every game is in the journal once, as in a quiet run, and no
process stays.

``make chaos`` plays 100 rounds and kills 50 keepers and workers, the tests a few;
ARENA_CHAOS_ROUNDS, ARENA_CHAOS_KILLS and ARENA_CHAOS_SEED choose others.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress

import pytest

from arena.players.processes import read_file
from tests.attacks.tiers import bubblewrap_fails
from tests.support.burners import with_parent
from tests.support.commandline import FIRST, ROOT
from tests.support.kills import journal_lines, processes, wait_for_games, wait_until_gone, workers
from tests.support.mounts import may_mount
from tests.support.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

RUN = ("run", "--deals", 12, "--seed", "kills", "--jobs", 2, "--out")
GAMES = 24
ROUNDS = int(os.environ.get("ARENA_CHAOS_ROUNDS", "6"))
KILLS = int(os.environ.get("ARENA_CHAOS_KILLS", "6"))
SEED = os.environ.get("ARENA_CHAOS_SEED", "1")
JUMPING_CLOCK = """
import random, time
true = time.time
time.time = lambda: true() + random.choice((-1, 1)) * random.random() * 1e6
"""
TMPFS = (
    'mount -t tmpfs -o size="$SIZE" none results && cp -a kept/. results/ && { "$@"; S=$?; rm -rf'
    " kept/*; cp -a results/. kept/; exit $S; }"
)
READ_ONLY = 'mount --bind results results && mount -o remount,ro,bind results && exec "$@"'


class Chaos:
    """A run that is harmed and continued, round after round; when it is complete it is compared,
    and another one starts.
    """

    def __init__(self, arena, quiet, rng):
        self.arena, self.quiet, self.rng = arena, quiet, rng
        self.number = 0
        self.done = Counter()
        self.harmed_bots = 0

    @property
    def run(self):
        return f"chaos-{self.number}"

    @property
    def journal(self):
        return self.arena.home / "results" / self.run / "games.jsonl"

    def start(self, *prefix, **environment):
        command = with_parent(*prefix, sys.executable, "-m", "arena", *map(str, RUN), self.run)
        return subprocess.Popen(
            command, cwd=self.arena.home, env={**self.arena.environment, **environment},
            start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def started(self, least=0):
        """A run in progress, at a random moment, once it has played so many games: before the first
        Python itself may still be starting.
        """
        process = self.start()
        target = min(GAMES, journal_lines(self.arena, self.run) + self.rng.randint(least, 12))
        wait_for_games(self.arena, self.run, target, process)
        time.sleep(self.rng.random() * 0.15)
        return process

    def find(self, word):
        """Processes of the run whose command line has the word; the bots' own may be out of sight
        of their sandbox.
        """
        return [pid for pid, command in processes(str(self.arena.home)).items() if word in command]

    def kill(self, pids, number=signal.SIGKILL):
        """Signals one of the processes; False when there is none."""
        try:
            os.kill(self.rng.choice(pids), number)
        except (IndexError, ProcessLookupError):
            return False
        return True

    def ended(self, process, *statuses):
        _, err = process.communicate(timeout=200)
        assert process.returncode in statuses, f"exit status {process.returncode}\n{err}"
        assert "Traceback" not in err, err
        return err

    def round(self, harm):
        getattr(self, harm)()
        self.done[harm] += 1
        wait_until_gone(self.arena.home)
        if journal_lines(self.arena, self.run) >= GAMES:
            self.finish()

    def finish(self):
        """Completes the run, if there is one, and compares it."""
        if self.journal.exists():
            self.ended(self.start(), 0)
            self.compare()

    def compare(self):
        """The run is complete: each game once, and each as in the quiet run, but those whose bot
        was killed.
        """
        records = self.arena.timeless(self.run)
        assert len({record["id"] for record in records}) == len(records) == GAMES
        harmed = {record["id"] for record in records if record["faults"]}
        assert len(harmed) <= self.harmed_bots
        assert {fault["kind"] for record in records for fault in record["faults"]} <= {
            "killed",
            "start-up",
        }
        expected = [record for record in self.quiet if record["id"] not in harmed]
        assert [record for record in records if record["id"] not in harmed] == expected
        shutil.rmtree(self.journal.parent)
        self.number, self.harmed_bots = self.number + 1, 0
        self.done["runs compared"] += 1

    def main_killed(self):
        process = self.started()
        process.kill()
        process.communicate()

    def worker_killed(self):
        process = self.started()
        self.kill(self.find("spawn_main"))
        self.ended(process, 0)

    def keeper_killed(self):
        process = self.started()
        self.harmed_bots += self.kill(self.find("/native/keeper"))
        self.ended(process, 0)

    def bot_killed(self):
        process = self.started()
        self.harmed_bots += self.kill(
            [pid for pid in self.find(" bot.py") if pid not in self.find("/native/keeper")]
        )
        self.ended(process, 0)

    def terminated(self):
        process = self.started()
        process.send_signal(signal.SIGTERM)
        self.ended(process, 130, 0, -signal.SIGTERM)

    def interrupted(self):
        process = self.started(least=1)
        os.killpg(process.pid, signal.SIGINT)
        self.ended(process, 130, 0, -signal.SIGINT)

    def interrupted_twice(self):
        process = self.started(least=1)
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(self.rng.random() * 0.05)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        self.ended(process, 130, 0, -signal.SIGINT)

    def tail_torn(self):
        self.main_killed()
        if self.journal.exists() and self.journal.stat().st_size:
            size = self.journal.stat().st_size
            os.truncate(self.journal, max(0, size - self.rng.randint(1, 1500)))

    def tail_corrupted(self):
        self.main_killed()
        if self.journal.exists():
            junk = self.rng.choice(
                [
                    b"\0" * self.rng.randint(1, 9000),
                    self.rng.randbytes(200).replace(b"\n", b""),
                    b'{"v":1,"id":"bird/',
                ]
            )
            with self.journal.open("ab") as file:
                file.write(junk)

    def two_arenas(self):
        process = self.started()
        other = self.start()
        err = self.ended(other, 0, 1)
        assert other.returncode == 0 or "another arena is writing" in err
        self.ended(process, 0)

    def clock_jumps(self):
        folder = self.arena.home / "clock"
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(JUMPING_CLOCK)
        self.ended(self.start(PYTHONPATH=f"{folder}:{ROOT}"), 0)

    def disk_full(self):
        """The results lie on a file system of which little is left."""
        kept = self.arena.home / "kept"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(self.arena.home / "results", kept)
        size = sum(
            path.stat().st_size for path in kept.rglob("*") if path.is_file()
        ) + self.rng.randint(20_000, 120_000)
        process = self.start("unshare", "-rm", "sh", "-c", TMPFS, "sh", SIZE=str(size))
        err = self.ended(process, 0, 1)
        assert process.returncode == 0 or "no space left" in err.lower(), err
        self.done["disk really full"] += process.returncode
        shutil.rmtree(self.arena.home / "results")
        kept.rename(self.arena.home / "results")

    def results_read_only(self):
        process = self.start("unshare", "-rm", "sh", "-c", READ_ONLY, "sh")
        err = self.ended(process, 1)
        assert "read-only file system" in err


HARMS = [name for name, member in vars(Chaos).items() if callable(member) and name in (
    "main_killed", "worker_killed", "keeper_killed", "bot_killed", "terminated", "interrupted",
    "interrupted_twice", "tail_torn",
    "tail_corrupted", "two_arenas", "clock_jumps", "disk_full", "results_read_only",
)]  # fmt: skip


@pytest.mark.timeout(max(300, 30 * ROUNDS))
def test_no_harm_loses_or_doubles_a_game_or_leaves_a_process(arena):
    arena(*RUN, "quiet")
    quiet = arena.timeless("quiet")
    assert len(quiet) == GAMES
    rng = random.Random(SEED)
    chaos = Chaos(arena, quiet, rng)
    harms = (
        HARMS
        if may_mount()
        else [harm for harm in HARMS if harm not in ("disk_full", "results_read_only")]
    )
    for number in range(ROUNDS):
        harm = harms[number % len(harms)] if len(harms) + 1 >= ROUNDS else rng.choice(harms)
        try:
            chaos.round(harm)
        except BaseException:
            print(f"seed {SEED}, round {number}: {harm} after {dict(chaos.done)}")
            raise
    chaos.finish()
    assert not processes(str(arena.home))
    print(f"{ROUNDS} rounds: {dict(chaos.done)}")


def is_sandbox(words):
    """Whether this is the command line of bubblewrap."""
    return words[0].endswith("bwrap")


class Victims:
    """The processes of an arena's run that can be killed, by what they are."""

    def __init__(self, arena, script):
        self.arena, self.script = arena, script

    def of_bots(self):
        """Command lines by process id: of all processes of bots, inside the sandbox and outside."""
        commands = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            text = read_file(f"/proc/{pid}/cmdline")
            if text and self.script.encode() in text:
                commands[int(pid)] = os.fsdecode(text).split("\0")
        return commands

    def keepers(self):
        """The keepers inside the sandboxes, or those that need none."""
        bots = self.of_bots()
        return [pid for pid, words in bots.items() if "--" in words and not is_sandbox(words)]

    def sandboxes(self):
        """The programs of bubblewrap around the keepers."""
        return [pid for pid, words in self.of_bots().items() if is_sandbox(words)]

    def workers(self):
        return workers(self.arena)


@pytest.mark.timeout(max(300, 20 * KILLS))
def test_no_kill_of_a_keeper_or_a_worker_loses_a_game_or_leaves_a_process(arena):
    """Kills in turn a worker, a keeper and the sandbox around one, at random moments."""
    rng = random.Random(SEED)
    script = f"kills-{os.getpid()}.py"
    for name in ("one", "two"):
        folder = arena.add_bot(name, FIRST, command=["python3", "-S", script])
        (folder / "bot.py").rename(folder / script)
    victims = Victims(arena, script)
    settings = ("run", "one", "two", "--seed", "kills", "--jobs", 2)
    kinds = ["workers", "keepers", *([] if bubblewrap_fails() else ["sandboxes"])]
    killed = Counter()
    deals = 0
    while killed.total() < KILLS:
        deals += 10
        process = arena.start(*settings, "--deals", deals, "--out", "kills")
        # before the first game, each bot is started once, and a bot that cannot start ends the run
        wait_for_games(arena, "kills", journal_lines(arena, "kills") + 1, process)
        while process.poll() is None and killed.total() < KILLS:
            time.sleep(rng.random() * 0.3)
            kind = kinds[killed.total() % len(kinds)]
            pids = getattr(victims, kind)()
            if pids:
                with suppress(ProcessLookupError):
                    os.kill(rng.choice(pids), signal.SIGKILL)
                    killed[kind] += 1
        _, err = process.communicate(timeout=240)
        # of a few games that are left, each may lose three workers; the next command plays it
        assert process.returncode == 0 or "could not be played: its worker died" in err, err
        wait_for(lambda: not victims.of_bots(), "the end of all bots")
        wait_until_gone(arena.home)
    arena(*settings, "--deals", deals, "--out", "kills")
    arena(*settings, "--deals", deals, "--out", "quiet")
    records = arena.timeless("kills")
    assert len({record["id"] for record in records}) == len(records) == 2 * deals
    harmed = {record["id"] for record in records if record["faults"]}
    print(f"killed {dict(killed)}: {len(records)} games, {len(harmed)} of them with a fault")
    assert len(harmed) <= killed["keepers"] + killed["sandboxes"]
    unharmed = [record for record in records if record["id"] not in harmed]
    assert unharmed == [each for each in arena.timeless("quiet") if each["id"] not in harmed]


def test_only_dates_come_from_the_wall_clock():
    """A clock that is set meanwhile changes no budget and no result: a record's date and a
    left-over folder's age read it.
    """
    for part in ("players", "match", "rules"):
        for path in (ROOT / "arena" / part).rglob("*.py"):
            text = path.read_text()
            assert "time.time(" not in text, path
            assert text.count("datetime.now(") == (
                1 if path.name in ("referee.py", "temporary.py") else 0
            ), path
