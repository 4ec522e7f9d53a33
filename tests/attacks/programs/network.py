"""Speaks to whoever listens outside of the sandbox."""

import socket

from attempt import main


def tcp(port, text):
    with socket.create_connection(("127.0.0.1", int(port)), timeout=2) as line:
        line.sendall(text.encode())


def tcp6(port, text):
    with socket.socket(socket.AF_INET6) as line:
        line.settimeout(2)
        line.connect(("::ffff:127.0.0.1", int(port)))
        line.sendall(text.encode())


def udp(port, text):
    with socket.socket(type=socket.SOCK_DGRAM) as line:
        line.sendto(text.encode(), ("127.0.0.1", int(port)))


def unix(path, text):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(path)
        line.sendall(text.encode())


def abstract(name, text):
    unix(f"\0{name}", text)


def interfaces():
    return [name for _, name in socket.if_nameindex()]


def raw():
    socket.socket(type=socket.SOCK_RAW, proto=socket.IPPROTO_ICMP)


def packets():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)


def machine():
    """A socket to the host of a virtual machine."""
    socket.socket(socket.AF_VSOCK)


if __name__ == "__main__":
    main(globals())
