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
import selectors
import socket
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import arena.cli

ROOT = Path(__file__).parents[2]
AT_START = ("ARENA_RULES", "ARENA_CHANNEL", "LANG", "LC_", "LD_", "PYTHON")
"""How variables begin that count while Python starts or imports arena."""
NOT_FOR_COMMANDS = ("arena.ladder", "arena.__main__", "arena.training", "arena.tournament.cluster")


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
    """Runs commands in forks of one process, one at a time."""

    def __init__(self, environment):
        self._socket, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.loaded", str(theirs.fileno())],
                cwd=ROOT,
                env={**environment, "OPENBLAS_NUM_THREADS": "1"},  # a fork has no other threads
                pass_fds=[theirs.fileno()],
            )

    def __call__(self, arguments, folder, environment, timeout_s):
        """The exit status, stdout and stderr of one command."""
        request = json.dumps([arguments, str(folder), environment]).encode()
        pipes = [os.pipe(), os.pipe()]
        socket.send_fds(self._socket, [len(request).to_bytes(4)], [ours for _, ours in pipes])
        self._socket.sendall(request)
        for _, ours in pipes:
            os.close(ours)
        out, err = read_to_the_end([theirs for theirs, _ in pipes], timeout_s)
        status = self._socket.recv(4)
        assert status, "the process that has loaded arena has ended"
        return int.from_bytes(status, signed=True), out, err

    def close(self):
        """Ends the process."""
        self._socket.close()
        self._process.wait(30)


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


def serve(requests):
    """Forks for each request, and answers with its exit status. Returns in the forks only."""
    while True:
        length, pipes, _, _ = socket.recv_fds(requests, 4, 2)
        if not length:
            sys.exit()
        request = json.loads(received(requests, int.from_bytes(length)))
        if (fork := os.fork()) == 0:
            requests.close()
            return become(*request, *pipes)
        for pipe in pipes:
            os.close(pipe)
        status = os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1])
        requests.sendall(status.to_bytes(4, signed=True))


def received(requests, length):
    text = b""
    while len(text) < length:
        text += requests.recv(length - len(text))
    return text


def become(arguments, folder, environment, out, err):
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    for pipe, own in ((out, 1), (err, 2)):
        os.dup2(pipe, own)
        os.close(pipe)
    sys.argv[1:] = arguments
    sys.path[0] = folder


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
    runpy.run_module("arena", run_name="__main__", alter_sys=True)
