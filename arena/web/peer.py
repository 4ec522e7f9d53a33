"""Who is at the other end of a connection on this machine, where the system tells.

Browsers send a cookie of 127.0.0.1 to every port there, also to that of another user, who then
has the token. So the token counts only for those who could read our first line: this user, and
root.
"""

import os
from ipaddress import ip_address
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, STATE, USER = 1, 2, 3, 7
"""Columns of these tables."""
ESTABLISHED = "01"
"""Any other may be closed already; then it is of no user, and shown as one of root's."""
Address = tuple[str, int]


def may_hold_token(client: Address, server: Address) -> bool:
    """Whether this may be the user of this process or root; so it is if nothing can be known of
    them.
    """
    uid = uid_of(client, server)
    if uid is None:
        return not (ip_address(client[0]).is_loopback and any(map(os.path.exists, TABLES)))
    return uid in (os.geteuid(), 0)


def uid_of(client: Address, server: Address) -> int | None:
    """The user that made a connection from this machine; None if it came from elsewhere or is
    closed, or this system does not tell.
    """
    wanted = [_written(client), _written(server)]
    if None in wanted:
        return None
    for table in TABLES:
        try:
            rows = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            columns = row.split()
            # An IPv4 address may stand there as the end of an IPv6 one.
            local, remote = (_end_of(columns[at]) for at in (LOCAL, REMOTE))
            if [local, remote] == wanted and columns[STATE] == ESTABLISHED:
                return int(columns[USER])
    return None


def _written(address: Address) -> str | None:
    """An address as the end of its entry in these tables: the last 32 bits, and the port."""
    try:
        last = ip_address(address[0]).packed[-4:]
    except ValueError:
        return None
    return f"{last[::-1].hex().upper()}:{address[1]:04X}"


def _end_of(entry: str) -> str:
    number, _, port = entry.partition(":")
    return f"{number[-8:]}:{port}"
