"""The command ``arena`` without its start-up: a process that has loaded all of it, and forks for
each command.

A fork runs the same ``__main__`` in a process of its own, with its own folder, environment, pipes
and session, so it can do all that a started one can, signals and workers included. It saves the
import of pandas and the rest, which was most of the time of a command.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import arena.cli

ROOT = Path(__file__).parents[2]
AT_START = ("ARENA_RULES", "ARENA_CHANNEL", "LANG", "LC_", "LD_", "PYTHON")
"""How variables begin that count while Python starts or imports arena."""
NOT_FOR_COMMANDS = (
    "arena.ladder", "arena.__main__", "arena.training", "arena.tournament.cluster",
    "arena.tournament.node",
    "arena.players.native", "arena.rules.native",
)  # fmt: skip
"""Modules that few commands load, and those that are there only where there was a compiler."""


def loaded_arena(environment):
    """The loaded process whose forks are what starting the command in this environment would be."""
    return _loaded(
        tuple(sorted(item for item in environment.items() if item[0].startswith(AT_START)))
    )


@cache
def _loaded(at_start):
    others = {name: word for name, word in os.environ.items() if not name.startswith(AT_START)}
    made = LoadedArena({**others, **dict(at_start)})
    atexit.register(made.close)
    return made


class LoadedArena:
    """Runs commands in forks of one process, any number at once. ``place`` is the socket at which
    a command is asked for, see `attend`.
    """

    def __init__(self, environment):
        self._folder = tempfile.TemporaryDirectory(prefix="loaded-")
        self.place = str(Path(self._folder.name) / "socket")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.place)
            listening.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.support.loaded", str(listening.fileno())],
                cwd=ROOT,
                env={**environment, "OPENBLAS_NUM_THREADS": "1"},  # a fork has no other threads
                pass_fds=[listening.fileno()],
                stdin=subprocess.PIPE,
            )

    def __call__(self, arguments, folder, environment, timeout_s):
        """The exit status, stdout and stderr of one command, whose stdin is empty."""
        pipes = [os.pipe(), os.pipe()]
        with Path(os.devnull).open() as empty, socket.socket(socket.AF_UNIX) as asking:
            asking.connect(self.place)
            request = [arguments, str(folder), environment]
            ask(asking, request, [empty.fileno(), *(ours for _, ours in pipes)])
            for _, ours in pipes:
                os.close(ours)
            out, err = read_to_the_end([theirs for theirs, _ in pipes], timeout_s)
            return answered(asking), out, err

    def close(self):
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait(30)
        self._folder.cleanup()

    def write_launcher(self, folder):
        """Writes a command ``arena`` that asks for a fork with the folder, the variables and the
        pipes that it was started with.
        """
        folder.mkdir()
        program = folder / "arena"
        program.write_text(LAUNCHER.format(python=sys.executable, place=self.place))
        program.chmod(0o755)


LAUNCHER = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as asking:
    asking.connect({place!r})
    request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(asking, [len(request).to_bytes(4, "big")], [0, 1, 2])
    asking.sendall(request)
    status = int.from_bytes(asking.recv(4), "big", signed=True)
sys.exit(status if status >= 0 else 128 - status)
"""


def ask(asking, request, descriptors):
    text = json.dumps(request).encode()
    socket.send_fds(asking, [len(text).to_bytes(4)], descriptors)
    asking.sendall(text)


def answered(asking):
    status = asking.recv(4)
    assert status, "the process that has loaded arena has ended"
    return int.from_bytes(status, signed=True)


def read_to_the_end(pipes, timeout_s):
    """All that comes out of the pipes, as text. Whatever has inherited them and goes on holds it
    up, as it would for a started command.
    """
    said = dict.fromkeys(pipes, b"")
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as waiting:
        for pipe in pipes:
            waiting.register(pipe, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(deadline - time.monotonic())
            assert ready, f"expected the command to end in {timeout_s} s; it said {said}"
            for key, _ in ready:
                said[key.fd] += (chunk := os.read(key.fd, 65536))
                if not chunk:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode() for text in said.values()]


def serve(listening):
    """Forks for each request until whoever started this closes stdin. Returns in the forks only."""
    while True:
        ready, _, _ = select.select([listening, 0], [], [])
        if 0 in ready:
            sys.exit()
        asked, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            return attend(asked)
        asked.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def attend(asked):
    """Starts one command, and tells how it ended; whoever hangs up before that wants it to end.
    Returns in the command only.

    The request is its arguments, folder and variables as JSON, with the length before it and three
    descriptors beside that.
    """
    length, descriptors, _, _ = socket.recv_fds(asked, 4, 3)
    request = json.loads(received(asked, int.from_bytes(length)))
    if (command := os.fork()) == 0:
        asked.close()
        return become(*request, descriptors)
    for descriptor in (0, *descriptors):
        os.close(descriptor)
    ended = os.pidfd_open(command)
    ready, _, _ = select.select([ended, asked], [], [])
    if ended not in ready:
        os.kill(command, signal.SIGTERM)
    status = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    with suppress(OSError):
        asked.sendall(status.to_bytes(4, signed=True))
    os._exit(0)


def received(asked, length):
    text = b""
    while len(text) < length:
        text += asked.recv(length - len(text))
    return text


def become(arguments, folder, environment, descriptors):
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    for own, descriptor in enumerate(descriptors):
        os.dup2(descriptor, own)
        os.close(descriptor)
    sys.argv[1:] = arguments
    sys.path[0] = folder


def leave(status):
    """Ends a fork as its `sys.exit` is about to, but does not take apart all that is loaded: that
    would copy it first, and take longer than most commands.
    """
    threading._shutdown()
    atexit._run_exitfuncs()
    with suppress(OSError):  # which Python itself tells of in its own way
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def load():
    """Imports all that commands import, pandas and the like with it."""
    main = arena.cli.main
    for module in pkgutil.walk_packages(arena.__path__, "arena."):
        if not module.name.startswith(NOT_FOR_COMMANDS):
            importlib.import_module(module.name)
    arena.cli.main = main  # the module of that name took its place


if __name__ == "__main__":
    load()
    gc.freeze()  # a fork need not go through all of it
    serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        runpy.run_module("arena", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        leave(ended.code)
        raise
