"""arena watch: a run seen from another terminal while it is played."""

import os
import pty
import signal
import subprocess
import sys
import time

from tests.e2e.conftest import ROOT


def test_a_finished_run_is_shown_once(arena):
    arena("run", "--deals", 2, "--out", "done")
    out, err = arena("watch", "done", "--every", 0.1)
    assert out.startswith("results/done: 4 of 4 games, 0 forfeits, finished\n")
    assert out.count("Rank  Bot") == 1
    assert err == ""


def test_a_run_in_progress_is_followed_until_ctrl_c_and_goes_on(arena):
    playing = arena.start("run", "--deals", 3000, "--out", "going")
    journal = arena.home / "results" / "going" / "games.jsonl"
    deadline = time.monotonic() + 240
    while not journal.exists() or len(journal.read_bytes()) < 4000:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    watching = arena.start("watch", "--every", 0.1)
    seen = ""
    while " to go\n" not in seen:
        line = watching.stdout.readline()
        assert line, watching.communicate()
        seen += line
    assert "of 6000 games, 0 forfeits, " in seen
    watching.send_signal(signal.SIGINT)
    assert watching.communicate(timeout=240)[1].endswith("interrupted\n")
    assert playing.poll() is None
    playing.send_signal(signal.SIGINT)
    playing.communicate(timeout=240)
    assert (watching.returncode, playing.returncode) == (130, 130)


def test_an_interrupted_run_says_how_to_go_on(arena):
    arena("run", "--deals", 2, "--out", "cut")
    journal = arena.home / "results" / "cut" / "games.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:3]))
    os.utime(journal, (1, 1))
    out, _ = arena("watch", "cut", "--once")
    assert "3 of 4 games" in out.splitlines()[0]
    assert out.splitlines()[0].endswith("ago: 'arena run' continues it")


def test_in_a_terminal_the_screen_is_given_back_after_ctrl_c(arena):
    arena("run", "--deals", 2, "--out", "cut")
    journal = arena.home / "results" / "cut" / "games.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:3]))
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "arena", "watch"],
        cwd=arena.home,
        env=environment,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while b"Rank" not in seen:
        seen += os.read(ours, 65536)
    process.send_signal(signal.SIGINT)
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:
        pass  # the other end is closed
    os.close(ours)
    assert process.wait(240) == 130
    assert seen.startswith(b"\x1b[?1049h")
    assert b"\x1b[?1049l" in seen
