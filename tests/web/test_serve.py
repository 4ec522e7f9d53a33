"""The command: what it prints, how it ends, and how others learn of it."""

import signal

from arena.commands.serving import served_at, watched_at
from tests.serve.serving import Served
from tests.support.waiting import wait_for


def test_the_first_line_is_the_address_and_the_server_ends_on_a_signal(home, tmp_path):
    for number in (signal.SIGINT, signal.SIGTERM):
        server = Served(tmp_path)
        assert server.url == f"http://127.0.0.1:{server.port}/?token={server.token}"
        assert len(server.token) >= 40
        assert server.ask()[0] == 200
        assert served_at(tmp_path) == f"http://127.0.0.1:{server.port}/"
        status, said = server.stop(number)
        assert (status, said) == (0, "the server has ended\n")
        assert served_at(tmp_path) == ""


def test_a_server_that_was_killed_is_not_told_of(tmp_path):
    server = Served(tmp_path)
    assert server.ask()[0] == 200
    assert watched_at(tmp_path, tmp_path / "results" / "a b").endswith("/runs/a%20b")
    server.process.kill()
    server.process.wait()
    assert (tmp_path / ".arena-serve").exists()
    # A child that the server was just starting holds the lock until it runs its program.
    wait_for(lambda: served_at(tmp_path) == "", "the lock of the server's file is free")
    assert watched_at(tmp_path, tmp_path / "results" / "x") == ""
    server.close()
