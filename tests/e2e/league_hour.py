"""A league that plays for an hour while versions are submitted, members change and everything is
killed every few minutes. At the end all of it is checked: no game and no version is lost, each
submission is placed or set aside with a reason, and the tables follow from the journal.

Run: make league-hour, or python -m tests.e2e.league_hour [--minutes 60] [--folder FOLDER]
It plays on one core at a low priority, and its bots mostly sleep.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path
from statistics import mean

from arena.records.league import read_league
from tests.support.burners import with_parent
from tests.support.commandline import RANDOM, ROOT, Arena
from tests.support.kills import processes
from tests.support.waiting import wait_for

BENCHMARKS = ("random", "greedy-4", "greedy")
RUN = (
    *("league", "run", "ladder", "--benchmarks", ",".join(BENCHMARKS)),
    *("--seed", "hour", "--jobs", "1", "--move-ms", "200", "-q"),
)
KILLS = 14
NAP = "        time.sleep(0.01)\n"
TURN = '    elif message["type"] == "turn":\n'
LAZY = RANDOM.replace("import sys\n", "import sys\nimport time\n").replace(TURN, TURN + NAP)
FIRST = LAZY.replace('rng.choice(message["legal"])', 'message["legal"][0]')
LAST = LAZY.replace('rng.choice(message["legal"])', 'message["legal"][-1]')
LIMPS = LAZY.replace(NAP, NAP + "        if rng.random() < 0.003:\n            break\n")
LATE = LAZY.replace(NAP, "        while time.process_time() % 60 < 0.5:\n            pass\n")
CRASHES = "raise SystemExit('it has a mistake')\n"
GREEDY = (ROOT / "bots" / "greedy-python" / "bot.py").read_text()
CAREFUL = (ROOT / "bots" / "careful-python" / "bot.py").read_text() + "\n# a copy\n"
SHUFFLED = "    position.rng.shuffle(moves)\n"


def greedy_at(blunders):
    """Greedy that plays this share of its moves at random, and sleeps before each."""
    slip = "    time.sleep(0.01)\n    if position.rng.random() < SHARE:\n        return moves[0]\n"
    return GREEDY.replace("from arena", "import time\n\nfrom arena").replace(
        SHUFFLED, SHUFFLED + slip.replace("SHARE", str(blunders))
    )


PLACED, ASIDE, WITHDRAWN = "placed", "aside", "withdrawn"
FIRST_SUBMISSIONS = [("climber", greedy_at(0.9), {}, PLACED), ("walker", LAZY, {}, PLACED)]
SUBMISSIONS = [
    ("crasher", CRASHES, {}, ASIDE),
    ("climber", greedy_at(0.7), {}, PLACED),
    ("absent", RANDOM, {"command": ["no-such-program"]}, ASIDE),
    ("walker", FIRST, {}, WITHDRAWN),
    ("climber", greedy_at(0.5), {}, PLACED),
    ("laggard", LATE, {}, ASIDE),
    ("careful", CAREFUL, {}, PLACED),
    ("limper", LIMPS, {}, PLACED),
    ("unbuilt", RANDOM, {"build": [["false"]]}, ASIDE),
    ("climber", greedy_at(0.35), {}, PLACED),
    ("crasher", LAZY + "\n# mended\n", {}, PLACED),
    ("walker", LAST, {}, PLACED),
    ("climber", greedy_at(0.2), {}, PLACED),
    ("climber", greedy_at(0.0), {}, PLACED),
]
"""What is submitted, in order, and what shall become of it. The kinds of fault are those that
authors meet: no start, no program, no build, too late, and now and then none of an answer.
"""


class Hour:
    """The league, the process that plays it, and what was seen."""

    def __init__(self, folder, minutes, seed):
        self.arena = Arena(folder / "home")
        self.arena.home.mkdir(parents=True, exist_ok=True)
        self.results = self.arena.home / "results" / "ladder"
        self.seconds, self.rng = 60 * minutes, random.Random(seed)
        self.log = (folder / "arena.log").open("a")
        self.began = time.monotonic()
        self.process, self.asking = None, None
        self.seen, self.wrong = Counter(), []
        self.expected = {}

    def tell(self, text):
        print(f"{(time.monotonic() - self.began) / 60:5.1f} min  {text}", flush=True)

    def command(self, *words):
        return [sys.executable, "-m", "arena", *map(str, words)]

    def start(self):
        self.process = subprocess.Popen(
            with_parent(*self.command(*RUN)),
            cwd=self.arena.home,
            env=self.arena.environment,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        self.seen["starts"] += 1

    def ask(self, *words):
        """Another terminal of the user: exit status, output and all that was said."""
        done = subprocess.run(
            self.command(*words),
            cwd=self.arena.home,
            env=self.arena.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stdout + done.stderr

    def expect(self, *words, status=0):
        ended, out, said = self.ask(*words)
        if ended != status:
            self.note(f"arena {' '.join(words)} ended with {ended}: {said[-300:]}")
        return out

    def note(self, text):
        self.tell(f"WRONG: {text}")
        self.wrong.append(text)

    def lines(self, name):
        """The complete lines of a file of the league."""
        path = self.results / name
        return path.read_bytes().rpartition(b"\n")[0] if path.exists() else b""

    def submit(self, name, source, manifest, becomes):
        folder = self.arena.home / "ideas" / name
        shutil.rmtree(folder, ignore_errors=True)
        self.arena.add_bot(name, source, to="ideas", **manifest)
        said = self.expect("submit", f"ideas/{name}", "--no-check")
        label = self.expect_of(name, becomes)
        self.tell(f"{label} is submitted")
        if f"version {label.partition('@')[2]} in" not in said:
            self.note(f"{label} was not registered: {said}")
        self.seen["submissions"] += 1

    def expect_of(self, name, becomes):
        """What the next version of a bot is called, and shall become."""
        version = 1 + sum(label.partition("@")[0] == name for label in self.expected)
        self.expected[f"{name}@{version}"] = becomes
        return f"{name}@{version}"

    def submit_and_wait(self, name):
        """The author waits for the place of what was submitted last."""
        self.asking = (
            name,
            subprocess.Popen(
                self.command("submit", f"ideas/{name}", "--no-check", "--league", "ladder"),
                cwd=self.arena.home,
                env=self.arena.environment,
                stdout=subprocess.PIPE,
                stderr=self.log,
                text=True,
                start_new_session=True,
            ),
        )

    def kill(self):
        """Kills the arena and its workers, and looks at what is left."""
        files = ("games.jsonl", "league.jsonl")
        if self.process.poll() is not None:
            return self.tell("not killed: an author's arena plays just now")
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        before = {name: self.lines(name) for name in files}
        own = f"{self.arena.home}/results"
        wait_for(lambda: not processes(own) or self.asking, "the end of the killed league")
        time.sleep(self.rng.uniform(0, 3))
        self.start()
        self.seen["kills"] += 1
        games = len(before["games.jsonl"].splitlines())
        self.tell(f"killed after {games} games, and started again")
        time.sleep(2)
        for name in files:
            if not self.lines(name).startswith(before[name]):
                self.note(f"lines of {name} are gone after a kill")
        return None

    def look(self):
        """Starts what has ended: another arena may have been placing a version just then."""
        if self.process.poll() is not None:
            self.seen["refused, as another arena plays"] += 1
            time.sleep(20)
            self.start()
        if self.asking and self.asking[1].poll() is not None:
            name, process = self.asking
            out = process.communicate()[0].strip().replace("\n", "; ")
            self.tell(f"submit --league {name} ended with {process.returncode}: {out}")
            if process.returncode not in (0, 4, 5):
                self.note(f"submit --league ended with {process.returncode}")
            self.seen["submit --league answers"] += 1
            self.asking = None

    def plan(self):
        """What happens when, in shares of the time. The last quarter is for placing the last."""
        events = []
        for number, submission in enumerate(SUBMISSIONS):
            at = 0.005 + 0.7 * (number + self.rng.uniform(0, 0.4)) / len(SUBMISSIONS)
            events.append((at, lambda submission=submission: self.submit(*submission)))
            if submission[3] == WITHDRAWN:
                events.append((at + 0.03, self.withdraw))
        events += [(0.97 * (n + self.rng.random()) / KILLS, self.kill) for n in range(KILLS)]
        events += [(0.33, lambda: self.expect("league", "benchmark", "climber@1"))]
        events += [(0.45, lambda: self.expect("league", "retire", "greedy-4", "--why", "enough"))]
        events += [(0.55, lambda: self.expect("league", "benchmark", "greedy-4"))]
        events += [(0.60, lambda: self.expect("league", "retire", "walker@1"))]
        events += [(0.50, self.second_arena), (0.72, lambda: self.submit_and_wait("climber"))]
        events += [(0.40, lambda: self.expect("report", "ladder"))]
        return sorted(events, key=lambda event: event[0])

    def withdraw(self):
        self.expect("remove", "walker@2", "--yes")
        self.tell("walker@2 is removed while it plays")

    def second_arena(self):
        if self.process.poll() is not None:
            return self.tell("no second arena: an author's arena plays just now")
        games = self.lines("games.jsonl")
        wait_for(lambda: self.lines("games.jsonl") != games, "the league's next game")
        status, _, said = self.ask(*RUN, "--games", 8)
        if status != 1 or "another arena" not in said:
            self.note(f"a second arena ended with {status}: {said[-300:]}")
        return self.tell("a second arena was tried")

    def play(self):
        # With nobody to place, the benchmarks would play hundreds of games a second.
        for submission in FIRST_SUBMISSIONS:
            self.submit(*submission)
        self.start()
        for share, happen in self.plan():
            while time.monotonic() - self.began < share * self.seconds:
                self.look()
                time.sleep(1)
            happen()
        while time.monotonic() - self.began < self.seconds or self.asking:
            self.look()
            time.sleep(1)

    def play_on(self, minutes):
        """Plays without harm until everybody is placed, at most so long, and what was drawn."""
        if self.process is None:
            self.start()
        ends = time.monotonic() + 60 * minutes
        while self.waiting() and time.monotonic() < ends:
            self.look()
            time.sleep(1)
        self.process.send_signal(signal.SIGINT)
        self.process.wait()
        self.expect(*RUN, "--games", "8")

    def waiting(self):
        """Who is still to be placed."""
        members = read_league(self.results).members
        return [
            label for label in self.expected if label not in members or members[label].is_waiting
        ]

    def check(self):
        """Whether all is there and right; prints what was found."""
        self.expect("verify", "ladder")
        records = [json.loads(line) for line in self.lines("games.jsonl").splitlines()]
        if len({record["id"] for record in records}) != len(records):
            self.note("a game is in the journal twice")
        league = read_league(self.results)
        drawn = sum(2 * each.deals for each in league.drawn)
        if drawn != len(records):
            self.note(f"{drawn} games were drawn and {len(records)} are in the journal")
        faults = Counter(
            record["bots"][fault["seat"]] for record in records for fault in record["faults"]
        )
        for label, becomes in self.expected.items():
            self.check_member(league.members.get(label), label, becomes)
        if faults.keys() - {"crasher@1", "laggard@1", "limper@1"}:
            self.note(f"there are faults that the bots did not commit: {dict(faults)}")
        self.check_tables()
        self.summarise(league, records, faults)

    def check_member(self, member, label, becomes):
        if member is None:
            self.note(f"{label} never joined")
        elif becomes == PLACED and member.is_waiting:
            self.seen["still to be placed"] += 1  # a busy machine; none is lost
        elif becomes == PLACED and member.placed is None and member.by == "arena":
            self.note(f"{label} is not placed: {member.status} {member.why}")
        elif becomes != PLACED and (member.status != becomes or not member.why):
            self.note(f"{label} is {member.status}, not {becomes}: {member.why!r}")

    def check_tables(self):
        """The tables of the plan and the journal alone are those of the league's folder."""
        bare = self.results.parent / "bare"
        shutil.rmtree(bare, ignore_errors=True)
        bare.mkdir()
        for name in ("run.json", "games.jsonl", "league.jsonl"):
            shutil.copy(self.results / name, bare)
        for words in (("standings",), ("league", "history", "--league")):
            one, other = (self.expect(*words, name, "--json") for name in ("ladder", "bare"))
            told = [json.loads(text) for text in (one, other)]
            for each in told:
                each.pop("run", None)
                each.pop("league", None)
            if told[0] != told[1]:
                self.note(f"{' '.join(words)} says other things without what was derived")

    def summarise(self, league, records, faults):
        self.tell("what became of each")
        games, minutes = [], []
        for label in self.expected:
            member = league.members.get(label)
            if member and member.placed:
                games.append(member.placed.games)
                minutes.append(minutes_between(member.joined, member.placed.when))
                print(
                    f"  {label:12} {member.status:10} placed at {member.placed.elo:6.0f} Elo"
                    f" after {games[-1]} games, {minutes[-1]:.1f} minutes"
                )
            elif member:
                why = "still to be placed" if member.is_waiting else member.why.strip()
                print(f"  {label:12} {member.status:10} {why[:90]}")
        counts = ", ".join(f"{count} {name}" for name, count in self.seen.items())
        print(f"{counts}; {len(records)} games, {sum(faults.values())} with a fault")
        if games:
            print(
                f"to place one took {mean(games):.0f} games ({min(games)} to {max(games)}),"
                f" {mean(minutes):.1f} minutes"
            )
        print("\n".join(f"WRONG: {text}" for text in self.wrong) or "all as it should be")


def minutes_between(first, last):
    one, other = (datetime.fromisoformat(text) for text in (first, last))
    return (other - one).total_seconds() / 60


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", default="hour")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--more", type=float, default=20, help="minutes after that, to place all")
    parser.add_argument(
        "--resume", action="store_true", help="only these, in a folder that is there"
    )
    given = parser.parse_args()
    os.nice(10)
    folder = given.folder or Path(tempfile.mkdtemp(prefix="league-hour-"))
    print(f"the league is in {folder}", flush=True)
    hour = Hour(folder, given.minutes, given.seed)
    try:
        if given.resume:
            for name, _, _, becomes in (*FIRST_SUBMISSIONS, *SUBMISSIONS):
                hour.expect_of(name, becomes)
        else:
            hour.play()
        hour.play_on(given.more)
        hour.check()
    finally:
        hour.arena.close()
        if hour.process and hour.process.poll() is None:
            os.killpg(hour.process.pid, signal.SIGKILL)
    return 1 if hour.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
