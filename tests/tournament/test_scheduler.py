"""The address of a Dask scheduler, and what is said where no scheduler answers."""

import socket

import pytest

from arena.errors import ClusterError
from arena.tournament.scheduler import connect, read_address


@pytest.fixture
def quick():
    """Dask's own setting for the time that a connection may take."""
    # It is imported first, because it loads Dask's default settings.
    pytest.importorskip("distributed", reason="pip install 'qin-arena[cluster]'")
    import dask

    with dask.config.set({"distributed.comm.timeouts.connect": "500ms"}):
        yield


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("10.0.0.1:8786", "tcp://10.0.0.1:8786"),
        ("tls://host:1", "tls://host:1"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
        ("ws://host/path", "ws://host/path"),
    ],
)
def test_an_address_may_lack_its_protocol(text, address):
    assert read_address(text) == address


@pytest.mark.parametrize(
    "text", ["localhost", "", "bots", "tcp://10.0.0.1", "tcp://10.0.0.1:port", "tcp://:8786"]
)
def test_text_that_is_no_address_is_refused_with_an_example(text):
    expected = "expected the address of a Dask scheduler, with a port"
    with pytest.raises(ClusterError, match=expected) as caught:
        read_address(text)
    assert "tcp://10.0.0.1:8786" in caught.value.hint


@pytest.mark.parametrize("content", ["", "[]", "{}", "no json", '{"address": 1}'])
def test_a_scheduler_file_must_name_an_address(tmp_path, content, refused):
    file = tmp_path / "scheduler"
    file.write_text(content)
    with refused(ClusterError):
        read_address(str(file))
    file.write_text('{"address": "tcp://10.0.0.1:8786"}')
    assert read_address(str(file)) == "tcp://10.0.0.1:8786"


def test_a_scheduler_file_that_does_not_exist_is_named(tmp_path, refused):
    with refused(ClusterError):
        read_address(str(tmp_path / "s.json"))


def test_an_address_at_which_nothing_listens_is_refused_before_dask_connects(quick, refused):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with refused(ClusterError):
        connect(f"127.0.0.1:{port}")


def test_a_port_that_accepts_and_never_answers_is_refused(quick):
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"127.0.0.1:{mute.getsockname()[1]}"
        expected = rf"no Dask scheduler answered at tcp://{address} within 0\.5 s"
        with pytest.raises(ClusterError, match=expected) as caught:
            connect(address)
    assert caught.value.hint.startswith("check which program listens there")


def test_an_encrypted_address_needs_the_certificates_of_dasks_configuration(quick, refused):
    with refused(ClusterError):
        connect("tls://127.0.0.1:9")


def test_a_certificate_that_cannot_be_read_is_named(quick, tmp_path, refused):
    import dask

    files = dict.fromkeys(("ca-file", "client.cert", "client.key"), str(tmp_path / "gone.pem"))
    with (
        dask.config.set({f"distributed.comm.tls.{name}": file for name, file in files.items()}),
        refused(ClusterError),
    ):
        connect("tls://127.0.0.1:9")


def test_an_address_that_dask_refuses_is_said_with_its_reason(quick):
    expected = "no Dask scheduler at foo://host:1: ValueError: unknown address scheme"
    with pytest.raises(ClusterError, match=expected):
        connect("foo://host:1")
