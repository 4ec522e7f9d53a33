"""What a bot can do to the user, the arena and its rivals, in each tier of the sandbox: one table
of attacks, with what judges each of them.
"""

import os
import re
import resource
import signal
import socket
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.attacks.ground import LEAVES_S, commands, state
from tests.support.waiting import happens

BLOCKED, OPEN = "blocked", "open"
IF = "open, unless the machine itself refuses it"
ROOT = "open to root only, unless the machine itself refuses it"
STAYS_S = 5.0


# --- how an attack is judged, from outside wherever it can be: each tells whether it came off


def says(ground, said):
    """Only the kernel's answer tells."""
    return said.startswith("open")


def gets(pattern):
    """It brings back what it should not know."""
    return lambda ground, said: says(ground, said) and bool(re.search(pattern, said))


def leaks(ground, said):
    return ground.word in said


def spoils(ground, said):
    return ground.snapshot() != ground.before


def makes(name):
    return lambda ground, said: Path(ground[name]).exists()


def ends(name):
    return lambda ground, said: _soon(ground, lambda: state(ground[name]) in ("", "Z"))


def halts(name):
    return lambda ground, said: _soon(ground, lambda: state(ground[name]) in ("T", "t"))


def has_signal(ground, said):
    """SIGURG, which the referee lets wait."""
    pending = re.search(r"ShdPnd:\s*(\w+)", Path(f"/proc/{ground['referee']}/status").read_text())
    return bool(int(pending[1], 16) >> signal.SIGURG - 1 & 1)


def changes_memory(ground, said):
    address = int(ground["referee_address"])
    with open(f"/proc/{ground['referee']}/mem", "rb", buffering=0) as memory:
        return os.pread(memory.fileno(), 7, address) == b"changed"


def speaks_for_rival(ground, said):
    os.set_blocking(ground.rival.from_bot, False)
    try:
        return ground.mark.encode() in os.read(ground.rival.from_bot, 4000)
    except BlockingIOError:
        return False


def ends_in_status(ground, said):
    return ground.rival.ending() is not None


def is_unwatched(ground, said):
    return _soon(ground, lambda: ground.process.keeper.process.poll() not in (None, 0))


def is_heard(ground, said):
    ground.listener.settimeout(ground.patience_s)
    try:
        if ground.listener.type == socket.SOCK_DGRAM:
            return ground.listener.recv(100) == ground.mark.encode()
        with ground.listener.accept()[0] as line:
            return line.recv(100) == ground.mark.encode()
    except TimeoutError:
        return False


def sees_interfaces(ground, said):
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not others:
        pytest.skip("this machine has no network interface")
    return any(repr(name) in said for name in others)


def reads_interfaces(ground, said):
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not others:
        pytest.skip("this machine has no network interface")
    return any(f"{name}:" in said for name in others)


def moves_rival(ground, said):
    return len(os.sched_getaffinity(int(ground["rival"]))) != len(os.sched_getaffinity(0))


def slows_rival(ground, said):
    pid = int(ground["rival"])
    return os.getpriority(os.PRIO_PROCESS, pid) == 19 or os.sched_getscheduler(pid) == os.SCHED_IDLE


def starves_rival(ground, said):
    return resource.prlimit(int(ground["rival"]), resource.RLIMIT_NOFILE) == (4, 4)


def types(ground, said):
    try:
        return os.read(ground.typed, 10) == b"#"
    except BlockingIOError:
        return False


def draws(ground, said):
    try:
        return ground.mark.encode() in os.read(ground.terminal, 100)
    except BlockingIOError:
        return False


def stays(ground, said):
    """It has what it wanted, and nobody ended it."""
    return says(ground, said) and ground.process.ending(STAYS_S) is None


def outlives(ground, said):
    time.sleep(LEAVES_S)
    ground.process.stop()
    return bool(commands(ground.mark))


def litters(ground, said):
    """Something of it stays on the disk."""
    time.sleep(LEAVES_S)
    ground.process.stop()
    left = Path(ground.process._launch.temporary or ground["folder"])
    return left.exists() and any(left.iterdir())


def swaps(ground, said):
    """A link of its own lies where other bots look; in bubblewrap it may make one that only it
    sees.
    """
    temporary = ground.process._launch.temporary
    places = [ground["checkout"], *([f"{temporary}/sdk"] if temporary else [])]
    return any(os.path.lexists(f"{place}/other") for place in places)


def dumps(ground, said):
    ground.process.ending(5)
    return any("core" in path.name for path in ground.own.iterdir())


def _soon(ground, condition):
    return happens(condition, seconds=ground.patience_s)


class Attack(NamedTuple):
    """A line to run, how it is judged, and what is expected in bubblewrap, in Landlock and without
    a sandbox.
    """

    line: str
    judge: object
    bubblewrap: str
    landlock: str
    none: str


B, O, N = BLOCKED, OPEN, None  # noqa: E741 - the table is read by column
"""N is not tried: Landlock is for one's own bots, against mistakes."""
ATTACKS = {
    # files that are none of its business
    "reads an ssh key": Attack("files.py read {secret}", leaks, B, B, O),
    "reads a rival's source": Attack("files.py read {rival_source}", leaks, B, B, O),
    "reads the journal": Attack("files.py read {journal}", leaks, B, B, O),
    "reads the run's seed": Attack("files.py read {runfile}", leaks, B, N, O),
    "reads the seed in a shell": Attack("shell.sh read {runfile}", leaks, B, B, O),
    "reads the passwords": Attack("files.py read {shadow}", gets("root:"), B, N, ROOT),
    "reads through a symbolic link of its own": Attack(
        "files.py read_by_link {secret}", leaks, B, B, O
    ),
    "reads through a hard link of its own": Attack(
        "files.py read_by_hard_link {secret}", leaks, B, N, O
    ),
    "reads through /proc/self/root": Attack("files.py read_by_root {secret}", leaks, B, N, O),
    "reads through its parent's root": Attack("files.py read_by_parent {secret}", leaks, B, N, O),
    "reads through dots": Attack("files.py walk_up {secret}", leaks, B, B, O),
    "lists the home": Attack("files.py names {home}", gets("ssh"), B, B, O),
    "lists what lies around the arena's package": Attack(
        "files.py names {checkout}", gets("results"), B, B, O
    ),
    "puts something else where the SDK is found": Attack("files.py swap_sdk", swaps, B, B, B),
    "learns the size of a file": Attack("files.py size {secret}", gets(r"size=\d"), B, N, O),
    "reads a disk": Attack("files.py device x", gets(r"bytes=[1-9]"), B, N, ROOT),
    "forges a line of the journal": Attack("files.py append {journal} forged", spoils, B, B, O),
    "forges a line in a shell": Attack("shell.sh write {journal}", spoils, B, N, O),
    "empties the journal": Attack("files.py truncate {journal}", spoils, B, N, O),
    "removes the journal": Attack("files.py remove {journal}", spoils, B, B, O),
    "moves the journal": Attack("files.py move {journal}", spoils, B, N, O),
    "replaces the seed": Attack("files.py replace {runfile}", spoils, B, B, O),
    "adds a file to the run": Attack("files.py create {new}", spoils, B, B, O),
    "changes itself": Attack("files.py append {own}/victim.py x=1", spoils, B, B, O),
    "adds to its folder": Attack("files.py create ./module.py", spoils, B, N, O),
    "changes a rival": Attack("files.py append {rival_source} x=1", spoils, B, B, O),
    "removes a rival": Attack("files.py remove_all {rival_folder}", spoils, B, B, O),
    "takes a rival's rights away": Attack("files.py change_mode {rival_source}", spoils, B, N, O),
    "changes the mode of a file that it may read": Attack(
        "files.py change_open_mode victim.py", spoils, B, N, O
    ),
    "changes the journal's times": Attack("files.py change_times {journal}", spoils, B, N, O),
    "sets an attribute of the journal": Attack(
        "files.py set_attribute {journal}", spoils, B, N, IF
    ),
    "writes to /usr": Attack("files.py create {usr}", makes("usr"), B, B, ROOT),
    "writes to /dev/shm outside": Attack("files.py create {shared}", makes("shared"), B, B, O),
    "hides what it has open": Attack("greedy.py hide", says, B, B, O),
    # processes
    "reads a rival's memory": Attack("others.py memory {rival} {rival_address}", leaks, B, N, IF),
    "reads a rival's memory by a call": Attack(
        "others.py vm_read {rival} {rival_address}", leaks, B, N, IF
    ),
    "reads the referee's memory": Attack(
        "others.py memory {referee} {referee_address}", leaks, B, B, IF
    ),
    "reads the referee's memory by a call": Attack(
        "others.py vm_read {referee} {referee_address}", leaks, B, N, IF
    ),
    "writes to the referee's memory": Attack(
        "others.py write_memory {referee} {referee_address}", changes_memory, B, N, IF
    ),
    "traces a rival": Attack("others.py trace {rival}", says, B, N, IF),
    "reads the referee's environment": Attack("others.py environment {referee}", leaks, B, B, IF),
    "reads the referee's command line": Attack("others.py command_line {referee}", leaks, B, N, O),
    "lists a keeper's descriptors": Attack(
        "others.py descriptors {keeper}", gets(r"listed=\d"), B, N, IF
    ),
    "takes a referee's descriptor": Attack("others.py steal_descriptor {referee}", says, B, N, IF),
    "reads a rival's hand from its input": Attack("others.py steal_input {rival}", leaks, B, N, IF),
    "speaks in a rival's name": Attack(
        "others.py speak_for {rival} {mark}", speaks_for_rival, B, B, IF
    ),
    "reports a rival's end": Attack("others.py end_in_status {keeper}", ends_in_status, B, N, IF),
    "learns that a process exists": Attack("others.py is_there {referee}", says, B, N, O),
    "lists processes": Attack("others.py processes {referee}", gets("True"), B, B, O),
    "kills a rival": Attack("others.py send {rival} 9", ends("rival"), B, B, O),
    "kills a rival in a shell": Attack("shell.sh signal {rival} KILL", ends("rival"), B, N, O),
    "kills a rival's keeper": Attack("others.py send {keeper} 9", ends("keeper"), B, N, O),
    "kills its own keeper": Attack("others.py send parent 9", is_unwatched, B, B, O),
    "kills the referee": Attack("others.py send {referee} 9", ends("referee"), B, B, O),
    "kills the referee's group": Attack(
        "others.py send_group {referee} 9", ends("referee"), B, N, O
    ),
    "kills the referee by a handle": Attack(
        "others.py send_by_handle {referee} 9", ends("referee"), B, N, O
    ),
    "stops a rival": Attack("others.py send {rival} 19", halts("rival"), B, B, O),
    "stops the referee": Attack("others.py send {referee} 19", halts("referee"), B, N, O),
    "reaches everybody with a signal": Attack(
        "others.py send_everybody {referee}", has_signal, B, N, O
    ),
    "moves a rival to another processor": Attack("others.py pin {rival}", moves_rival, B, N, O),
    "leaves its processor": Attack("others.py unpin", says, B, B, O),
    "slows a rival down": Attack("others.py slow_down {rival}", slows_rival, B, N, O),
    "makes a rival idle": Attack("others.py idle {rival}", slows_rival, B, N, O),
    "slows all of the user's processes down": Attack("others.py slow_all", says, B, N, O),
    "takes a rival's limits away": Attack("others.py starve {rival}", starves_rival, B, N, O),
    # the network
    "dials a TCP port": Attack("network.py tcp {tcp} {mark}", is_heard, B, B, O),
    "dials a TCP port by IPv6": Attack("network.py tcp6 {tcp6} {mark}", is_heard, B, N, O),
    "sends a datagram": Attack("network.py udp {udp} {mark}", is_heard, B, B, O),
    "dials a Unix socket": Attack("network.py unix {unix} {mark}", is_heard, B, B, O),
    "dials an abstract socket": Attack("network.py abstract {listening} {mark}", is_heard, B, B, O),
    "lists network interfaces": Attack("network.py interfaces", sees_interfaces, B, N, O),
    "reads the host's network in its own /proc": Attack(
        "files.py read /proc/self/net/dev", reads_interfaces, B, N, O
    ),
    "reads the host's network in a thread's /proc": Attack(
        "files.py read /proc/thread-self/net/dev", reads_interfaces, B, N, O
    ),
    "opens a raw socket": Attack("network.py raw", says, B, N, ROOT),
    "listens to all packets": Attack("network.py packets", says, B, N, ROOT),
    "opens a socket to the virtual machine's host": Attack("network.py machine", says, B, N, IF),
    # out of the count of its CPU time, or into its rivals'
    "runs a program of its own": Attack("kernel.py run_own tmp 0755", says, B, B, O),
    "runs a program of its own that nobody may read": Attack(
        "kernel.py run_own tmp 0111", says, B, N, O
    ),
    "runs such a program in shared memory": Attack(
        "kernel.py run_own /dev/shm 0111", says, B, N, IF
    ),
    "runs a program of the system": Attack("kernel.py run_other", says, B, B, O),
    "arms thousands of timers": Attack("kernel.py arm_timers 5000", says, B, N, IF),
    "arms timers with descriptors": Attack("kernel.py arm_descriptors", says, B, N, O),
    "leaves work to the end of a thread": Attack("kernel.py robust_locks", says, B, N, O),
    "makes a call that nobody has judged": Attack("kernel.py newer_call", says, B, N, IF),
    "leases its own files": Attack("kernel.py lease .", says, B, B, IF),
    "delegates a folder": Attack("kernel.py delegate", says, B, B, O),
    "locks a part of a file": Attack("kernel.py lock_part", says, B, B, O),
    "locks a part of a mapped file": Attack("kernel.py lock_mapped_file", says, B, B, O),
    "gets signals about a folder": Attack("kernel.py watch_folder", says, B, B, O),
    "watches what others do with files": Attack("kernel.py watch_files", says, B, B, O),
    "chooses the signal of a descriptor": Attack("kernel.py choose_signal", says, B, B, O),
    # memory that outlives or joins processes
    "reads System V memory": Attack("kernel.py shared_memory {segment}", leaks, B, B, O),
    "makes semaphores": Attack("kernel.py semaphores", says, B, N, O),
    "reads a message queue": Attack("kernel.py message_queue {sent}", leaks, B, N, O),
    "reads POSIX shared memory": Attack("files.py read {kept}", leaks, B, N, O),
    "makes memory that nobody counts": Attack("kernel.py memory_file", says, B, B, O),
    "keeps filters of calls": Attack("kernel.py call_filter", says, B, B, O),
    "keeps filters of calls by prctl": Attack("kernel.py call_filter_by_prctl", says, B, N, O),
    "keeps filters of sockets": Attack("kernel.py socket_filter", says, B, N, O),
    "keeps rulesets": Attack("kernel.py ruleset", says, B, B, IF),
    "keeps a table for locks": Attack("kernel.py futex_table", says, B, N, IF),
    "keeps pages of a file in a pipe": Attack("kernel.py splice", says, B, B, O),
    "keeps pages of a file in a socket": Attack("kernel.py send_file", says, B, N, O),
    "has descriptors that nobody counts": Attack("kernel.py own_descriptors", says, B, N, IF),
    "has a thread with descriptors that nobody counts": Attack(
        "kernel.py thread_with_own_descriptors", says, B, B, O
    ),
    # what leads deeper into the kernel, or to more rights
    "uses io_uring": Attack("kernel.py io_uring", says, B, N, IF),
    "uses bpf": Attack("kernel.py bpf", says, B, N, ROOT),
    "uses perf_event_open": Attack("kernel.py perf", says, B, N, IF),
    "uses userfaultfd": Attack("kernel.py userfaultfd", says, B, N, IF),
    "uses keyrings": Attack("kernel.py keys", says, B, N, IF),
    "unshares its mounts": Attack("kernel.py unshare", says, B, N, ROOT),
    "makes a user namespace": Attack("kernel.py unshare_user", says, B, B, IF),
    "makes a user namespace by clone": Attack("kernel.py clone_user", says, B, N, IF),
    "mounts": Attack("kernel.py mount {folder}", says, B, N, ROOT),
    "changes its root": Attack("kernel.py change_root", says, B, N, ROOT),
    "sets the clock": Attack("kernel.py set_clock", says, B, N, ROOT),
    "writes to /proc/sys": Attack("kernel.py set_kernel_name", says, B, N, ROOT),
    "reads the kernel's log": Attack("kernel.py kernel_log", says, B, N, ROOT),
    "asks for real time": Attack("kernel.py real_time", says, B, B, ROOT),
    "becomes another user": Attack("inherited.py other_user {setuid}", says, B, N, IF),
    "types on the user's terminal": Attack("inherited.py type_into {terminal}", types, B, N, ROOT),
    "draws on the user's terminal": Attack(
        "inherited.py draw_on {terminal} {mark}", draws, B, N, O
    ),
    "has a terminal of its own": Attack("inherited.py own_terminal", says, B, N, B),
    "inherits descriptors": Attack("inherited.py descriptors", gets(r"more=\[\d"), B, B, B),
    "finds secrets in an environment": Attack("others.py environments", leaks, B, B, B),
    # more than its share
    "forks and forks": Attack("greedy.py forks 400", stays, B, B, B),
    "starts threads and threads": Attack("greedy.py threads 400", stays, B, B, B),
    "takes memory": Attack("greedy.py memory 480", stays, B, B, B),
    "takes memory in many processes": Attack("greedy.py memory_of_many 480", stays, B, B, B),
    "takes memory for page tables": Attack("greedy.py page_tables 480", stays, B, N, B),
    "takes memory that no process maps": Attack("greedy.py forgotten 480", stays, B, N, B),
    "fills socket pairs": Attack("greedy.py sockets 480", stays, B, B, B),
    "makes its sockets larger": Attack("greedy.py large_sockets", stays, B, N, IF),
    "fills sockets that nobody accepts": Attack("greedy.py queued 480", stays, B, N, O),
    "fills pipes": Attack("greedy.py pipes 480", stays, B, B, B),
    "makes a pipe larger": Attack("greedy.py large_pipe", stays, B, N, O),
    "leaves memory in a pipe": Attack("greedy.py gifts", stays, B, N, O),
    "watches too many files": Attack("greedy.py watches 20", stays, B, N, B),
    "fills /tmp": Attack("greedy.py disk 80", stays, B, B, O),
    "fills /tmp with removed files": Attack("greedy.py hidden_disk 80", stays, B, B, O),
    "fills /tmp with removed files and hides them": Attack(
        "greedy.py hidden_files 80", stays, B, N, O
    ),
    "fills /tmp with empty files": Attack("greedy.py many_files 5000", stays, B, B, O),
    "fills a folder that cannot be listed": Attack(
        "greedy.py unlistable_files 5000", stays, B, N, O
    ),
    "fills its folder": Attack("greedy.py own_folder 16", stays, B, B, O),
    "fills /dev/shm": Attack("greedy.py shared 16 {mark}", stays, B, B, O),
    "writes one large file": Attack("greedy.py one_file 80", stays, B, B, B),
    "fills its stderr": Attack("greedy.py stderr 80", stays, B, B, B),
    "reserves space beyond its stderr": Attack("kernel.py reserve", says, B, B, IF),
    "reserves space by ioctl": Attack("kernel.py reserve_by_ioctl", says, B, N, IF),
    "leaves folders too deep to remove": Attack("greedy.py deep_folders 1200", litters, B, B, O),
    "leaves a folder that cannot be listed": Attack(
        "greedy.py unlistable_files 10", litters, B, B, O
    ),
    "dumps core": Attack("greedy.py dump_core", dumps, B, B, B),
    "leaves a daemon": Attack("greedy.py daemon {mark}", outlives, B, B, B),
    "runs away in sixty chains": Attack("greedy.py chains {mark} 60", outlives, B, B, B),
    "runs away from its killer": Attack("greedy.py runner {mark} 4", outlives, B, B, B),
}
