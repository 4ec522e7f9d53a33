"""The connection to a Dask scheduler: checks for visible mistakes before connecting, and reports a
lost connection in one sentence.
"""

import asyncio
import json
import logging
import socket
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from arena.errors import ClusterError

CONNECT_S = 5.0
ANSWER_S = 30.0
LEAVE_S = 3.0
LOOK_S = 0.2
EXAMPLE = (
    "an address looks like tcp://10.0.0.1:8786, or tls://10.0.0.1:8786 with TLS; 'dask scheduler'"
    " prints its own"
)
START = "start one with 'dask scheduler' and workers with 'dask worker ADDRESS'"
TLS = (
    "a scheduler with TLS has an address tls://..., and needs --tls-ca-file, --tls-cert and"
    " --tls-key"
)
GO_ON = (
    "all finished games are in the journal: start the scheduler and its workers again, then run the"
    " same command"
)


class Tls(NamedTuple):
    """The files for an encrypted and authenticated connection, as in Dask's own commands; None if
    there is none.
    """

    ca_file: str | None = None
    cert: str | None = None
    key: str | None = None


class Cluster:
    """A connection to a Dask scheduler: ``address`` is one, or a scheduler file. Raises
    ClusterError.
    """

    def __init__(self, address: str, tls: Tls) -> None:
        self.address = address
        self.has_tls = any(tls)
        try:
            # An extra, and slow to load.
            from distributed import Client, Security  # noqa: PLC0415
        except ImportError as error:
            raise ClusterError(
                f"expected Dask to reach {address}, got {error}", "pip install 'qin-arena[cluster]'"
            ) from None
        _quieten()
        target = read_address(address)
        _check_reach(target, tls)
        files = {
            "tls_ca_file": tls.ca_file,
            "tls_client_cert": tls.cert,
            "tls_client_key": tls.key,
            "require_encryption": True,
        }
        try:
            self.client: Any = Client(
                target,
                security=Security(**files) if any(tls) else None,
                timeout=CONNECT_S,
                set_as_default=False,
            )
        # Dask fails in as many ways as a network can.
        except Exception as error:  # noqa: BLE001
            raise ClusterError(
                f"expected a Dask scheduler at {address}, got {type(error).__name__}: {error}",
                f"{START}; {TLS}",
            ) from None
        self._asked: Future[dict[str, int]] | None = None
        self._asked_at = 0.0

    def threads(self) -> dict[str, int] | None:
        """The workers' addresses and numbers of threads; None while waiting for the answer. Raises
        ClusterError if none comes.
        """
        self.check()
        if self._asked is None:
            self._asked = asyncio.run_coroutine_threadsafe(
                self.client.scheduler.ncores(), self.client.loop.asyncio_loop
            )
            self._asked_at = time.monotonic()
        if not self._asked.done():
            if time.monotonic() > self._asked_at + ANSWER_S:
                raise ClusterError(
                    f"expected an answer from the Dask scheduler at {self.address}, got none in"
                    f" {ANSWER_S:g} s",
                    GO_ON,
                )
            return None
        asked, self._asked = self._asked, None
        try:
            return dict(asked.result())
        # Dask fails in as many ways as a network can.
        except Exception as error:  # noqa: BLE001
            what = f"{type(error).__name__}: {error}"
            raise ClusterError(
                f"expected an answer from the Dask scheduler at {self.address}, got {what}", GO_ON
            ) from None

    def check(self) -> None:
        """Raises ClusterError if the connection is lost."""
        if self.client.status != "running":
            raise ClusterError(
                f"expected the Dask scheduler at {self.address} to stay connected, got a lost"
                " connection",
                GO_ON,
            )

    def tell(self, function: Callable[..., Any], argument: str, workers: Sequence[str]) -> None:
        """Makes workers call a function alongside their games. Nobody waits for the result, because
        a worker may have stopped.
        """

        def call() -> None:
            with suppress(Exception):
                self.client.run(function, argument, workers=list(workers), on_error="ignore")

        threading.Thread(target=call, daemon=True).start()

    def close(self) -> None:
        """Leaves the cluster, which keeps running."""
        with suppress(Exception):  # it may already be gone
            self.client.close(timeout=LEAVE_S)


def read_address(text: str) -> str:
    """The address of a scheduler with its protocol, given directly or in a scheduler file. Raises
    ClusterError.
    """
    address = text
    if Path(text).is_file():
        try:
            address = json.loads(Path(text).read_text())["address"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            cure = f"'dask scheduler --scheduler-file {text}' writes it"
            raise ClusterError(
                f"expected a scheduler file {text}, got {type(error).__name__}: {error}", cure
            ) from None
    elif text.endswith(".json"):
        raise ClusterError(
            f"expected a scheduler file {text}, found none",
            f"'dask scheduler --scheduler-file {text}' writes it",
        )
    address = address if "://" in address else f"tcp://{address}"
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname and parts.port)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise ClusterError(
            f"expected the address of a Dask scheduler, with a port, got {text!r}", EXAMPLE
        )
    return address


def _check_reach(address: str, tls: Tls) -> None:
    """Catches mistakes that Dask would retry for a while and then report at length. Raises
    ClusterError.
    """
    for option, file in zip(("--tls-ca-file", "--tls-cert", "--tls-key"), tls, strict=True):
        if file is not None and not Path(file).is_file():
            raise ClusterError(
                f"expected a file for {option}, found none at {file}",
                "use the files that the scheduler was started with",
            )
    parts = urlsplit(address)
    if parts.scheme == "tls" and None in tls:
        raise ClusterError(
            f"expected --tls-ca-file, --tls-cert and --tls-key for {address}, got only some of"
            " them",
            TLS,
        )
    if parts.scheme not in ("tcp", "tls"):
        return
    deadline = time.monotonic() + CONNECT_S
    while True:
        try:
            socket.create_connection((parts.hostname or "", parts.port or 0), CONNECT_S).close()
        except OSError as error:
            # it may still be starting
            if not isinstance(error, ConnectionRefusedError) or time.monotonic() > deadline:
                raise ClusterError(
                    f"expected a Dask scheduler at {address}, got {error}", START
                ) from None
            time.sleep(LOOK_S)
        else:
            return


def _quieten() -> None:
    """Dask prints every lost connection to the terminal. This sends them to the log, and we report
    what matters.
    """
    for name in [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in ("distributed", "tornado")
    ]:
        logging.getLogger(name).handlers[:] = [logging.NullHandler()]
        logging.getLogger(name).propagate = True
    warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
