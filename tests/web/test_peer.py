"""Who made a connection: as the kernel answers, and as its tables say."""

import os
import socket
import sys

import pytest

from arena.web import peer
from arena.web.peer import may_hold_token, uid_of

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it"),
    pytest.mark.usefixtures("means"),
]


@pytest.fixture(params=["answers", "tables"])
def means(request, monkeypatch):
    """The means by which a user is found. The tables are read where the kernel does not answer."""
    if request.param == "tables":
        monkeypatch.setattr(peer, "SOCK_DIAG", 31)  # no protocol of netlink
    else:
        monkeypatch.setattr(peer, "_listed_uid", lambda _ends: None)


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_the_user_of_a_connection_is_known(family, host):
    try:
        listener = socket.create_server((host, 0), family=family)
    except OSError:
        pytest.skip(f"no {host} here")
    with listener, socket.create_connection(listener.getsockname()[:2]) as ours:
        theirs, client = listener.accept()
        with theirs:
            server = theirs.getsockname()
            assert uid_of(client[:2], server[:2]) == os.geteuid()
            assert uid_of(server[:2], (server[0], 1)) is None
        assert ours.getsockname()[:2] == client[:2]


def test_a_connection_that_is_closed_already_is_nobodys():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        socket.create_connection(listener.getsockname()).close()
        theirs, client = listener.accept()
        with theirs:
            assert uid_of(client, theirs.getsockname()) is None
            assert not may_hold_token(client, theirs.getsockname())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_is_told_apart():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        if (child := os.fork()) == 0:
            os.setuid(65534)
            with socket.create_connection(listener.getsockname()) as connection:
                connection.recv(1)
            os._exit(0)
        theirs, client = listener.accept()
        with theirs:
            assert uid_of(client, theirs.getsockname()) == 65534
            assert not may_hold_token(client, theirs.getsockname())
        os.waitpid(child, 0)
