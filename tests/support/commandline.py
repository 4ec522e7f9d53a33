"""An arena of its own for each test: a folder with bots/, and the command run in it as a user
would.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.burners import with_parent
from tests.support.loaded import loaded_arena

ROOT = Path(__file__).parents[2]
# as in a background job, whose children would not hear a Ctrl-C either
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# nor, under nohup, a terminal that closes: what is caught here is not ignored in what is started
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
TIMES = ("think_ms", "slowest_ms", "ms", "ended")
BARE = ["python3", "-S", "bot.py"]
"""How a bot starts that imports the standard library only: the packages installed here would cost
it most of its start, and runs of tests start thousands.
"""


WAITING = re.compile(r"^[a-z].* \.\.\.\n", re.MULTILINE)


def without_waiting(err):
    """What a command wrote to stderr, without the lines that tell what takes it over a second:
    they come on slow machines only.
    """
    return WAITING.sub("", err)


class Arena:
    """The command ``arena`` in a folder, without the bots of the ladder unless ``ladder`` is
    ``on``.
    """

    def __init__(self, home):
        self.home = home
        self.own = {
            f"XDG_{name}_HOME": str(home.parent / name.lower())
            for name in ("STATE", "CONFIG", "CACHE")
        }
        self.ladder = "off"
        self.started = []

    @property
    def environment(self):
        return {
            **os.environ,
            **self.own,
            "PYTHONPATH": str(ROOT),
            "NO_COLOR": "1",
            "ARENA_LADDER": self.ladder,
        }

    def start(self, *arguments):
        command = with_parent(sys.executable, "-m", "arena", *map(str, arguments))
        process = subprocess.Popen(
            command,
            cwd=self.home,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def close(self):
        """Kills what a test that failed has left running."""
        for process in self.started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=60)

    def ended(self, *arguments):
        """Exit status, output and errors of a command, whatever the status."""
        environment = self.environment
        run = loaded_arena(environment)
        status, out, err = run([str(word) for word in arguments], self.home, environment, 250)
        return status, out, without_waiting(err)

    def __call__(self, *arguments, status=0):
        ended, out, err = self.ended(*arguments)
        assert ended == status, f"exit status {ended}\n{out}\n{err}"
        return out, err

    def add_bot(self, name, source, *, to="bots", **manifest):
        folder = self.home / to / name
        folder.mkdir(parents=True)
        (folder / "bot.py").write_text(source)
        command = ["python3", "bot.py"] if "from arena" in source else BARE
        entries = {"name": name, "version": "1", "command": command, **manifest}
        lines = [f"{key} = {json.dumps(value)}" for key, value in entries.items()]
        (folder / "bot.toml").write_text("\n".join(lines) + "\n")
        return folder

    def records(self, run):
        return [
            json.loads(line)
            for line in (self.home / "results" / run / "games.jsonl").read_text().splitlines()
        ]

    def timeless(self, run):
        """The records without their times, sorted by id."""
        records = [
            {key: value for key, value in record.items() if key not in TIMES}
            for record in self.records(run)
        ]
        return sorted(records, key=lambda record: record["id"])


RANDOM = (ROOT / "bots" / "random-python" / "bot.py").read_text()
THINKING = RANDOM.replace("import json\n", "import json\nimport time\n").replace(
    'answer(type="move"', 'time.sleep(0.003)\n        answer(type="move"'
)
"""The random bot, which waits a little before each move, so that a run takes long enough to be
interrupted.
"""
FIRST = RANDOM.replace('rng.choice(message["legal"])', 'message["legal"][0]')
TURN = '    elif message["type"] == "turn":\n'
"""The line of both bots at which a turn begins."""
SLOW = FIRST.replace("import sys\n", "import sys, time\n").replace(
    TURN, TURN + "        time.sleep(0.06)\n"
)
"""A bot that sleeps on each turn."""
SMALL = "R.....\n......\n..V...\n....Y.\n......\n.....B\n"
"""A board on which games are short."""
TINY = "R....\n..V..\n...Y.\n....B\n"
"""A board on which games are even shorter."""


@pytest.fixture
def arena(tmp_path):
    """An arena with two quick bots, `rnd` and `fst`."""
    made = Arena(tmp_path)
    made.add_bot("rnd", RANDOM)
    made.add_bot("fst", FIRST)
    yield made
    made.close()


def add_zoo_bot(arena, program):
    """Adds a misbehaving program to an arena's bots; returns its name."""
    folder = arena.home / "bots" / program.replace("_", "-")
    folder.mkdir()
    for name in ("polite.py", f"{program}.py"):
        shutil.copy(ROOT / "tests" / "bots" / name, folder / name)
    (folder / "bot.toml").write_text(
        f'name = "{folder.name}"\nversion = "1"\ncommand = ["python3", "-S", "{program}.py"]\n'
    )
    return folder.name


@pytest.fixture
def zoo_bot(arena):
    """Adds a misbehaving program to the arena's bots."""
    return partial(add_zoo_bot, arena)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """One Chromium for all tests of a worker."""
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.driver.quit()
