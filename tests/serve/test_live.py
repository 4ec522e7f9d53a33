"""A run's page while it is played: streams, looks, and what they leave alone."""

import json
import signal
import socket
from contextlib import suppress
from itertools import islice

import pytest

from tests.serve.serving import Served
from tests.support.commandline import Arena
from tests.support.waiting import wait_for

pytestmark = pytest.mark.long
BOTS = ("greedy-4", "careful-2", "random")


def events(connection):
    """The events of a stream, as (name, content)."""
    name = None
    for line in connection.makefile("r", encoding="utf-8"):
        if line.startswith("event: "):
            name = line[7:].strip()
        elif line.startswith("data: "):
            yield name, json.loads(line[6:])


def stream(server, run):
    """A connection on which the stream of a run has been asked for."""
    connection = server.raw()
    host = f"127.0.0.1:{server.port}"
    connection.sendall(f"GET /runs/{run}/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return connection


@pytest.fixture(scope="module")
def playing(tmp_path_factory):
    """A home with a run that is being played, and its server."""
    arena = Arena(tmp_path_factory.mktemp("playing"))
    server = Served(arena.home)
    run = arena.start("run", *BOTS, "--deals", 100_000, "--out", "going", "--jobs", 1)
    started = arena.home / "results" / "going" / "run.json"
    wait_for(lambda: started.exists() or run.poll() is not None, "run.json of the run")
    assert run.poll() is None
    yield arena, server, run
    run.send_signal(signal.SIGINT)
    with suppress(TimeoutError):
        run.communicate(timeout=60)
    server.close()
    arena.close()


def test_a_run_says_where_it_can_be_watched(playing):
    _, server, run = playing
    said = run.stderr.readline()
    while "watch it at" not in said:
        assert said
        said = run.stderr.readline()
    assert said == f"watch it at http://127.0.0.1:{server.port}/runs/going\n"


def test_standings_change_while_games_end_and_readers_who_never_read_cost_nothing(playing):
    _, server, run = playing
    readers = [stream(server, "going") for _ in range(30)]
    for reader in readers[:10]:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        reader.close()
    with stream(server, "going") as connection:
        (name, first), (other, second) = islice(events(connection), 2)
    assert name == other == "parts"
    assert "greedy-4" in first["standings"]
    assert second["progress"] != first["progress"]
    assert "reading" not in second, "what has not changed is not sent again"
    assert run.poll() is None
    for reader in readers[10:]:
        reader.close()


def test_a_stream_ends_when_the_run_is_over(served):
    with stream(served, "done") as connection:
        assert [name for name, _ in events(connection)] == ["parts", "over"]


def test_a_server_with_open_streams_ends_on_a_signal(playing, snapshot):
    _, server, run = playing
    with stream(server, "going") as connection:
        seen = events(connection)
        assert next(seen)[0] == "parts"
        status, said = server.stop(signal.SIGTERM)
        assert {name for name, _ in seen} <= {"parts"}
    assert status == 0
    assert said == snapshot
    assert run.poll() is None
