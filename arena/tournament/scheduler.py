"""Connects to a Dask scheduler. Mistakes that can be seen in an address are found before Dask is
asked to connect, because Dask retries for a while and then prints a long report.
"""

import json
import logging
import socket
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from arena.errors import ClusterError

CONNECT = {"distributed": {"comm": {"timeouts": {"connect": "5s"}}}}
"""Dask's settings where the user's configuration has none: Dask's own timeout for a wrong address
is 30 s.
"""
TIMEOUT = "distributed.comm.timeouts.connect"
"""The setting of Dask that says how long a connection may take."""
RETRY_S = 0.2
"""The pause between two attempts to reach a scheduler that may still be starting."""
PORTS = ("tcp", "tls")
"""The protocols whose addresses are a host and a port that a plain socket can reach."""
EXAMPLE = (
    "an address looks like tcp://10.0.0.1:8786, or tls://10.0.0.1:8786 with TLS; 'dask scheduler'"
    " prints its own"
)
START = "start one with 'dask scheduler' and workers with 'dask worker ADDRESS'"
TLS = (
    "a scheduler with TLS has an address tls://...; for tls:// Dask's configuration names the"
    " certificates"
)


def connect(text: str) -> Any:
    """A Dask client of the scheduler with the address ``text``, or of the scheduler named in the
    file ``text``. Raises ClusterError if Dask is not installed, or if there is no such scheduler or
    it cannot be reached.
    """
    address = read_address(text)
    try:
        # Dask is an optional dependency, and slow to load.
        import dask  # noqa: PLC0415
        from distributed import Client  # noqa: PLC0415
    except ImportError as error:
        cure = "pip install 'qin-arena[cluster]'"
        raise ClusterError(f"Dask cannot reach {text}: {error}", cure) from None

    class QuietClient(Client):
        """A client that reports a failed connection once, and not again when Python deletes the
        client.
        """

        def __del__(self) -> None:
            with suppress(Exception):
                super().__del__()  # type: ignore[no-untyped-call]

    _quieten()
    dask.config.update_defaults(CONNECT)
    _check_certificates(address)
    _check_reach(address)
    try:
        _check_answer(address)
        return QuietClient(address, set_as_default=False)  # type: ignore[no-untyped-call]
    except ClusterError:
        raise
    # Dask raises many kinds of errors when a connection fails.
    except Exception as error:  # noqa: BLE001
        got = f"{type(error).__name__}: {error}"
        raise ClusterError(f"no Dask scheduler at {text}: {got}", f"{START}; {TLS}") from None


def read_address(text: str) -> str:
    """The address of a scheduler, with its protocol. ``text`` is an address or the path of a
    scheduler file. Raises ClusterError.
    """
    address = text
    if Path(text).is_file():
        address = _address_in(text)
    elif text.endswith(".json"):
        raise ClusterError(f"there is no scheduler file {text}", _writes(text))
    address = address if "://" in address else f"tcp://{address}"
    if not _is_whole(address):
        raise ClusterError(
            f"expected the address of a Dask scheduler, with a port, got {text!r}", EXAMPLE
        )
    return address


def _address_in(file: str) -> str:
    """The address that the scheduler file ``file`` contains. Raises ClusterError."""
    try:
        content = json.loads(Path(file).read_text())
    except (OSError, ValueError) as error:
        got = f"{type(error).__name__}: {error}"
    else:
        address = content.get("address") if isinstance(content, dict) else None
        if isinstance(address, str):
            return address
        got = "it has no address"
    raise ClusterError(f"{file} is not a scheduler file: {got}", _writes(file))


def _writes(file: str) -> str:
    """A hint that says how the scheduler file ``file`` is made."""
    return f"'dask scheduler --scheduler-file {file}' writes it"


def _is_whole(address: str) -> bool:
    """Whether an address has a host and a port. Of an address with a protocol that is not in
    `PORTS`, only something after the protocol is required; Dask checks the rest.
    """
    try:
        parts = urlsplit(address)
        if parts.scheme not in PORTS:
            return bool(parts.netloc or parts.path)
        return bool(parts.hostname and parts.port)
    except ValueError:
        return False


def _check_certificates(address: str) -> None:
    """Raises ClusterError if the certificates in Dask's configuration cannot be read, or if an
    address with TLS needs some and the configuration has none.
    """
    from distributed.security import Security  # noqa: PLC0415

    try:
        context = Security().get_connection_args("client")["ssl_context"]
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
        raise ClusterError(
            f"cannot use the certificates of Dask's configuration for {address}: {got}", TLS
        ) from error
    if context is None and urlsplit(address).scheme == "tls":
        raise ClusterError(f"Dask's configuration has no certificates for {address}", TLS)


def _check_reach(address: str) -> None:
    """Raises ClusterError if nothing listens at an address. A scheduler that is still starting gets
    as long as Dask's configuration allows for a connection.
    """
    parts = urlsplit(address)
    if parts.scheme not in PORTS:
        return
    patience = _patience_s()
    deadline = time.monotonic() + patience
    place = (parts.hostname or "", parts.port or 0)
    while True:
        try:
            socket.create_connection(place, timeout=patience).close()
        except OSError as error:
            is_starting = isinstance(error, ConnectionRefusedError)
            if not is_starting or time.monotonic() > deadline:
                raise ClusterError(
                    f"no Dask scheduler at {address}: {error}", f"{START}; {EXAMPLE}"
                ) from None
            time.sleep(RETRY_S)
        else:
            return


def _check_answer(address: str) -> None:
    """Raises ClusterError if the program that listens at an address does not answer as a Dask
    scheduler does in the time for a connection: Dask's client would wait for ever. Raises Dask's
    own error if the connection fails in another way.
    """
    import asyncio  # noqa: PLC0415

    from distributed.comm.core import connect as connect_comm  # noqa: PLC0415
    from distributed.security import Security  # noqa: PLC0415

    patience = _patience_s()
    arguments = Security().get_connection_args("client")

    async def greet() -> None:
        async with asyncio.timeout(patience):
            comm = await connect_comm(address, timeout=patience, **arguments)
        comm.abort()

    # This runs in another thread, because the caller's thread may have a running event loop.
    with ThreadPoolExecutor(1) as thread:
        greeting = thread.submit(lambda: asyncio.run(greet()))
    if isinstance(greeting.exception(), TimeoutError):
        raise ClusterError(
            f"no Dask scheduler answered at {address} within {patience:g} s",
            f"check which program listens there; {START}; if the scheduler is only slow, raise"
            f" {TIMEOUT} in Dask's configuration; {TLS}",
        )
    greeting.result()


def _patience_s() -> float:
    """How many seconds Dask's configuration allows for a connection."""
    import dask  # noqa: PLC0415
    from dask.utils import parse_timedelta  # noqa: PLC0415

    return float(parse_timedelta(dask.config.get(TIMEOUT)))


def _quieten() -> None:
    """Sends the messages of Dask and tornado to the log instead of the terminal, and drops Dask's
    warning about large graphs.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).handlers[:] = [logging.NullHandler()]
            logging.getLogger(name).propagate = True
    warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
