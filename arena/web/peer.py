"""Finds out which user of this machine has opened a connection: asks Linux for that connection, or
reads the tables in which Linux lists all of them.
"""

import os
import socket
import struct
from ipaddress import IPv4Address, ip_address
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
SOCK_DIAG = 4
"""The protocol of netlink that answers questions about sockets (sock_diag(7))."""
BY_FAMILY = 20
"""The type of the question about a socket, and of the answer."""
HEADER = struct.Struct("=IHHII")
"""A message's header (``nlmsghdr``): its length, its type, flags, and two numbers that are not
used.
"""
IS_REQUEST = 1
"""The flag of a question."""
QUESTION = struct.Struct("=BBBBI")
"""The question (``inet_diag_req_v2``) up to the addresses: address family, protocol, two fields
that are not used, and the states that the socket may be in.
"""
ADDRESSES = struct.Struct("!HH16s16s12s")
"""The rest of the question: the ports of this end and the other end, their addresses, and an
interface and a cookie, which may be any.
"""
ANY = bytes(4) + b"\xff" * 8
ANSWER = struct.Struct("=BB62xI4x")
"""The parts of the answer (``inet_diag_msg``) that are read: address family, state and user."""
IS_ESTABLISHED = 1
"""What `ESTABLISHED` is in an answer."""
Address = tuple[str, int]
"""An IP address and a port."""


def may_hold_token(client: Address, server: Address) -> bool:
    """Whether the user who opened the connection from ``client`` to ``server`` may be the user of
    this process, or root.

    If that user is unknown, the answer is True; but it is False for a client on this machine that
    has `TABLES`: the tables show no such connection, so it has been closed.
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
    # The tables take 2 ms to read, and more on a machine with many connections.
    uid = _asked_uid(client, server)
    return _listed_uid(wanted) if uid is None else uid


def _asked_uid(client: Address, server: Address) -> int | None:
    """The id of the user who opened the connection from ``client`` to ``server``, as the kernel
    answers. None if it does not answer, or knows no such open connection.
    """
    if not hasattr(socket, "AF_NETLINK"):
        return None
    ends = [ip_address(address[0]) for address in (client, server)]
    family = socket.AF_INET if isinstance(ends[0], IPv4Address) else socket.AF_INET6
    question = QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF)
    question += ADDRESSES.pack(client[1], server[1], ends[0].packed, ends[1].packed, ANY)
    header = HEADER.pack(HEADER.size + len(question), BY_FAMILY, IS_REQUEST, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            kernel.send(header + question)
            answer = kernel.recv(1024)
    except OSError:
        return None
    length, kind, *_ = HEADER.unpack_from(answer)
    if kind != BY_FAMILY or length < HEADER.size + ANSWER.size:
        return None
    _, state, uid = ANSWER.unpack_from(answer, HEADER.size)
    return uid if state == IS_ESTABLISHED else None


def _listed_uid(wanted: list[str]) -> int | None:
    """The id of the user of the open connection with these two ends, as `_written` writes them,
    in `TABLES`. None if they have no such connection.
    """
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
