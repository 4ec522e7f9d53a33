"""A place to attack: a user's files, a run with its journal, a rival bot, a referee, listeners, and
the attacker's own folder.
"""

import contextlib
import ctypes
import os
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import tty
from pathlib import Path

import arena
from arena.players.process import BotProcess
from arena.players.sandbox.grants import NO_GRANTS
from arena.players.sandbox.tiers import Sandbox
from arena.players.temporary import remove_tree

PROGRAMS = Path(__file__).with_name("programs")
INTERPRETERS = {".py": "python3", ".sh": "sh"}
PATIENCE_S = 240
LEAVES_S = 0.3
"""How long an attack that is blocked is given to come through."""
COMES_S = 60
"""How long one that is open may take: it comes, however busy the machine is."""
libc = ctypes.CDLL(None, use_errno=True)


class Ground(dict):
    """What attacks are told, by name; it is made when it is asked for. ``word`` is the secret,
    ``mark`` is what an attacker leaves.
    """

    def __init__(self, tmp_path, tier):
        super().__init__()
        self.tier = tier
        self.sandbox = Sandbox(tier)
        self.grants = NO_GRANTS
        self.path = tmp_path
        self.word, self.mark = secrets.token_hex(16), f"mark{secrets.token_hex(8)}"
        self["mark"] = self.mark
        self.patience_s = LEAVES_S
        self._stack = contextlib.ExitStack()
        self._files()

    def _files(self):
        self.home, self.run = (
            self.path / "home",
            self.path / "home" / "arena" / "results" / "league",
        )
        for place in (self.home / ".ssh", self.run / "bots" / "rival", self.path / "tmp"):
            place.mkdir(parents=True)
        texts = {
            "secret": ".ssh/id_rsa",
            "journal": "games.jsonl",
            "runfile": "run.json",
            "rival_source": "bots/rival/bot.py",
        }
        for name, file in texts.items():
            path = (self.home if name == "secret" else self.run) / file
            path.write_text(f'{{"it": "{self.word}"}}\n')
            self[name] = str(path)
        self.own = self.run / "bots" / "own"
        shutil.copytree(PROGRAMS, self.own, ignore=shutil.ignore_patterns("__pycache__"))
        self.update(
            home=str(self.home),
            rival_folder=str(self.run / "bots" / "rival"),
            own=str(self.own),
            shadow="/etc/shadow",
        )
        self.update(
            usr=f"/usr/local/share/{self.mark}",
            shared=f"/dev/shm/{self.mark}",
            new=str(self.run / self.mark),
        )
        self.update(
            queue=f"/{self.mark}",
            abstract=self.mark,
            checkout=str(Path(arena.__file__).parents[1]),
            sdk=str(Path(arena.__file__).parent / "sdk"),
            folder=str(self.path / "tmp"),
        )

    def __missing__(self, name):
        getattr(self, f"make_{name.split('_')[0]}")()
        return self[name]

    def close(self):
        self._stack.close()
        remove_tree(str(self.path / "tmp"))
        for name in ("usr", "shared"):
            Path(self[name]).unlink(missing_ok=True)

    def later(self, function, *arguments):
        self._stack.callback(function, *arguments)

    # --- who and what is attacked

    def make_rival(self):
        """A bot in the same tier, whose host process id is looked up from outside."""
        sign = secrets.token_hex(8)
        shutil.copy(PROGRAMS / "victim.py", self.run / "bots" / "rival")
        rival = self.rival = BotProcess(
            ["python3", "victim.py", sign], self.run / "bots" / "rival", self.sandbox
        )
        self.later(self._stop, rival)
        os.write(rival.to_bot, f"{self.word}\n".encode())
        self["rival_address"] = read_line(rival.from_bot)
        [self["rival"]] = [
            str(pid)
            for pid, words in commands(sign)
            if "python" in words[0] and words[1] == "victim.py"
        ]
        self["keeper"] = str(rival.keeper.process.pid)
        os.write(rival.to_bot, f"your hand: {self.word}\n".encode())

    make_keeper = make_rival

    def make_referee(self):
        """A process outside of all sandboxes, with a secret in its memory and environment."""
        command = [sys.executable, str(PROGRAMS / "victim.py"), self.word]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        referee = self.referee = subprocess.Popen(
            command, env={"API_TOKEN": self.word}, start_new_session=True, **pipes
        )
        self.later(self._end, referee)
        referee.stdin.write(f"{self.word}\n".encode())
        referee.stdin.flush()
        self.update(referee=str(referee.pid), referee_address=read_line(referee.stdout.fileno()))

    def _listen(self, family, address, kind=socket.SOCK_STREAM):
        self.listener = self._stack.enter_context(socket.socket(family, kind))
        self.listener.bind(address)
        if kind == socket.SOCK_STREAM:
            self.listener.listen()
        return self.listener.getsockname()

    def make_tcp(self):
        self["tcp"] = str(self._listen(socket.AF_INET, ("127.0.0.1", 0))[1])

    def make_tcp6(self):
        self.listener = self._stack.enter_context(
            socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)
        )
        self["tcp6"] = str(self.listener.getsockname()[1])

    def make_udp(self):
        self["udp"] = str(self._listen(socket.AF_INET, ("127.0.0.1", 0), socket.SOCK_DGRAM)[1])

    def make_unix(self):
        folder = tempfile.mkdtemp()
        self.later(shutil.rmtree, folder)
        self["unix"] = self._listen(socket.AF_UNIX, f"{folder}/s")

    def make_listening(self):
        self["listening"] = self._listen(socket.AF_UNIX, f"\0{self.mark}")[1:].decode()

    def make_terminal(self):
        self.terminal, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self.terminal, False)
        os.set_blocking(slave, False)
        self.typed = slave
        for handle in (self.terminal, slave):
            self.later(os.close, handle)
        self["terminal"] = os.ttyname(slave)

    def make_segment(self):
        number = libc.shmget(0, 4096, 0o1600)
        libc.shmat.restype = ctypes.c_void_p
        address = libc.shmat(number, None, 0)
        ctypes.memmove(address, self.word.encode(), len(self.word))
        self.later(libc.shmctl, number, 0, None)
        self["segment"] = str(number)

    def make_sent(self):
        queue = libc.mq_open(self["queue"].encode(), os.O_RDWR | os.O_CREAT, 0o600, None)
        assert queue >= 0
        self.later(libc.mq_unlink, self["queue"].encode())
        self.later(os.close, queue)
        libc.mq_send(queue, self.word.encode(), len(self.word), 0)
        self["sent"] = self["queue"]

    def make_kept(self):
        path = Path(f"{self['shared']}-kept")
        path.write_text(self.word)
        self.later(path.unlink)
        self["kept"] = str(path)

    def make_setuid(self):
        """As root, a program that becomes somebody else; else one that becomes root."""
        self["setuid"] = shutil.which("su") or "/bin/su"
        if os.getuid() == 0:
            path = self.path / "other"
            shutil.copy(shutil.which("sleep"), path)
            os.chown(path, 65534, 65534)
            path.chmod(0o4755)
            self["setuid"] = str(path)

    # --- the attack

    def attack(self, line):
        """Starts an attack; returns the process and what it said, once it has said it."""
        program, *arguments = line.format_map(self).split()
        self.before = self.snapshot()
        self.process = BotProcess(
            [INTERPRETERS[Path(program).suffix], program, *arguments],
            self.own,
            self.sandbox,
            memory_mb=256,
            grants=self.grants,
        )
        self.later(self._stop, self.process)
        return read_line(self.process.from_bot)

    def snapshot(self):
        """All that can be seen of the files of the user and the run."""
        found = {}
        for path in [self.home, *self.home.rglob("*")]:
            state = path.lstat()
            readable = path.is_file() and os.access(path, os.R_OK)
            content = (unmarked(path), state.st_mtime_ns, os.listxattr(path)) if readable else ()
            found[path] = (state.st_mode, state.st_uid, content)
        return found

    def _stop(self, process):
        process.stop()
        for handle in (process.to_bot, process.from_bot):
            with contextlib.suppress(OSError):
                os.close(handle)

    def _end(self, process):
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


def unmarked(path):
    """What a file holds, read so that the time of this reading is not kept."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOATIME)) as file:
        return file.read()


def read_line(handle, seconds=PATIENCE_S):
    """What is written to a pipe until a line ends; all of it when it is closed."""
    data, deadline = b"", time.monotonic() + seconds
    while (
        not data.endswith(b"\n")
        and select.select([handle], [], [], max(0, deadline - time.monotonic()))[0]
    ):
        chunk = os.read(handle, 65536)
        if not chunk:
            break
        data += chunk
    return data.decode(errors="replace").strip()


def commands(sign):
    """Process ids and words of all command lines that contain the sign."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                words = (
                    Path(f"/proc/{entry}/cmdline").read_bytes().decode(errors="replace").split("\0")
                )
                if any(sign in word for word in words):
                    found.append((int(entry), words))
    return found


def state(pid):
    """The letter of a process; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
