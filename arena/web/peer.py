"""Finds out which user of this machine has opened a connection, from the tables of Linux."""

import os
from ipaddress import ip_address
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""The files in which Linux lists connections; other systems have none."""
LOCAL, REMOTE, STATE, USER = 1, 2, 3, 7
"""The numbers, from 0, of the columns of `TABLES` with the address of this end, the address of the
other end, the state, and the user.
"""
ESTABLISHED = "01"
"""The state of an open connection. A connection in another state may be closed; the tables then
show it as one of root's, whoever opened it.
"""
LENGTH = len("0100007F:1F90")
"""The number of characters of an IPv4 address with its port in the tables."""
Address = tuple[str, int]
"""An IP address and a port."""


def may_hold_token(client: Address, server: Address) -> bool:
    """Whether the user who opened the connection from ``client`` to ``server`` may be the user of
    this process, or root.

    If that user is unknown, the answer is True, with one exception: a client on this machine, if
    the machine has `TABLES`. Its connection has been closed.
    """
    uid = uid_of(client, server)
    if uid is None:
        return not (ip_address(client[0]).is_loopback and any(map(os.path.exists, TABLES)))
    return uid in (os.geteuid(), 0)


def uid_of(client: Address, server: Address) -> int | None:
    """The id of the user who opened the connection from ``client``, on this machine, to ``server``.

    None if the connection came from elsewhere or is closed, or if this system has no `TABLES`.
    """
    try:
        wanted = [_written(client), _written(server)]
    except ValueError:
        return None
    for table in filter(os.path.exists, TABLES):
        for row in table.read_text(encoding="ascii").splitlines()[1:]:
            columns = row.split()
            # The tables may contain an IPv4 address as the end of an IPv6 address.
            ends = [columns[at][-LENGTH:] for at in (LOCAL, REMOTE)]
            if ends == wanted and columns[STATE] == ESTABLISHED:
                return int(columns[USER])
    return None


def _written(address: Address) -> str:
    """An address as an entry in `TABLES` ends: with its last 32 bits, and the port.

    Raises ValueError for a text that is no address.
    """
    last = ip_address(address[0]).packed[-4:]
    return f"{last[::-1].hex().upper()}:{address[1]:04X}"
