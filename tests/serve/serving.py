"""A real server in a process of its own, and requests as a browser or an attacker sends them."""

import http.client
import os
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from tests.exports.runs import duels, game_of, write_run
from tests.support.burners import with_parent
from tests.support.commandline import ROOT

HOSTILE = "<img src=x onerror=alert(1)>\u202e"
HALF = duels("abc", 2)[:8]
"""The games of a run in which those of the second deal are not over."""


class Served:
    """``arena serve`` in a home, or another command that serves. ``cookie`` is what the printed
    address gives a browser. ``module`` is the Python module that is started as the arena.
    """

    def __init__(
        self,
        home,
        *options,
        command=("serve", "--port", "0"),
        module="arena",
        python=sys.executable,
        root=ROOT,
    ):
        environment = {**os.environ, "PYTHONPATH": str(root), "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            with_parent(python, "-m", module, *command, *map(str, options)),
            cwd=home,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.url = self.process.stdout.readline().strip()
        self.port = urlsplit(self.url).port
        self.token = urlsplit(self.url).query.removeprefix("token=")
        self.cookie = f"arena-{self.port}={self.token}"

    def address(self, path):
        """The whole address of the page at ``path``, with the token."""
        return self.url.replace("/?", f"{path}{'&' if '?' in path else '?'}")

    def ask(self, path="/", method="GET", body=None, **headers):
        """Status, headers and text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.putrequest(method, path, skip_host="host" in headers)
        if body is not None:
            headers.setdefault("content_length", str(len(body)))
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, dict(answer.getheaders()), text

    def fetch(self, path, **headers):
        """Status, headers and bytes of the answer to a browser that has the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", path, headers={"cookie": self.cookie, **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def raw(self):
        """A connection of one's own."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=120)

    def stop(self, number=signal.SIGINT):
        """Ends the server; returns its exit status, and what it said on stderr."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=60)


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A home with a finished run, one that is half played, and some that strangers made."""
    folder = tmp_path_factory.mktemp("home")
    results = folder / "results"
    write_run(results / "done", "abc", duels("abc", 2), deals=2)
    write_run(results / "half", "abc", HALF, deals=2)
    (results / "link").symlink_to(results / "done")
    games = [game_of((HOSTILE, "a"), deal=0, faults=[(0, 2, "exit", HOSTILE)])]
    write_run(results / "<b>x", [HOSTILE, "a"], games, planned="ab")
    write_run(results / "torn", "ab", [])
    (results / "torn" / "games.jsonl").write_bytes(b"nonsense\n")
    write_run(results / "piped", "ab", [])
    (results / "piped" / "games.jsonl").unlink()
    os.mkfifo(results / "piped" / "games.jsonl")
    for name, text in (("broken", "{" + HOSTILE), ("deep", "[" * 100_000)):
        (results / name).mkdir()
        (results / name / "run.json").write_text(text)
    return folder


@pytest.fixture(scope="session")
def served(home):
    """One server for all tests that leave it as it is."""
    started = Served(home)
    yield started
    started.close()


@pytest.fixture(scope="module")
def server(home):
    """A server of the home that the test module's `home` makes."""
    started = Served(home)
    yield started
    started.close()


@pytest.fixture(scope="module")
def patient_server(home):
    """A server of the home that the test module's `home` makes. It waits for a caution as long as
    it takes, and its judge tries few deals.
    """
    started = Served(home, module="tests.serve.patient")
    yield started
    started.close()
