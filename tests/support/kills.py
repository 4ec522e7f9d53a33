"""What a test needs to kill an arena in the middle of a run: the processes of the arena's home, the
number of games in the run's journal, and the waiting for both.
"""

import os
import signal
import time
from pathlib import Path

from tests.support.waiting import wait_for


def processes(home):
    """Command lines by process id: of the processes whose working directory is in `home`."""
    commands = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:  # this runs many times a second, so a process elsewhere costs one system call
            if str(Path(f"/proc/{pid}/cwd").readlink()).startswith(str(home)):
                words = Path(f"/proc/{pid}/cmdline").read_bytes()
                commands[int(pid)] = os.fsdecode(words.replace(b"\0", b" "))
        except OSError:
            continue
    return {pid: command for pid, command in commands.items() if command}


def wait_until_gone(home):
    """Wait until no process is left whose working directory is in `home`."""
    wait_for(lambda: not processes(home), f"the end of all processes in {home}", interval_s=0.05)


def workers(arena):
    """Process ids of the workers of the arena's runs. A child that a worker has started has the
    worker's command line, too, until it becomes a keeper: it is left out.
    """
    found = [pid for pid, command in processes(arena.home).items() if "spawn_main" in command]
    return [pid for pid in found if parent_of(pid) not in found]


def parent_of(pid):
    """The process id of the parent of a process; 0 if the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def journal_lines(arena, run):
    """The number of games in the journal of a run, 0 if it has none yet."""
    path = arena.home / "results" / run / "games.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_games(arena, run, games, process=None):
    """Wait until the journal of `run` has `games` games or more. With the `process` that plays the
    run, return also when that process has ended.
    """

    def is_so():
        has_ended = process is not None and process.poll() is not None
        return has_ended or journal_lines(arena, run) >= games

    wait_for(is_so, f"{games} games in {run}", interval_s=0.05)


def kill_while_playing(arena, games, pause_s, *command):
    """Start a command that plays a run called ``killed``. Kill it `pause_s` seconds after `games`
    more games are in the journal, or after it has ended, and wait until none of its processes is
    left.
    """
    process = arena.start(*command)
    wait_for_games(arena, "killed", journal_lines(arena, "killed") + games, process)
    time.sleep(pause_s)  # so that the kill comes at a random moment of a game
    process.send_signal(signal.SIGKILL)
    process.communicate()
    wait_until_gone(arena.home)
