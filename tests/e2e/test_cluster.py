"""Runs on a real Dask cluster on loopback: a scheduler and two workers, each started by its own
command line.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys

import pytest

from tests.support.burners import with_parent
from tests.support.commandline import BARE, ROOT, THINKING
from tests.support.kills import journal_lines, parent_of, processes, wait_for_games, wait_until_gone
from tests.support.waiting import wait_for

distributed = pytest.importorskip("distributed", reason="pip install 'qin-arena[cluster]'")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

OPENSSL = (
    "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 "
    "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
)
DASK = [sys.executable, "-m", "dask"]
LOOK_S = 0.2
"""The pause between two looks at the machine's processes: a look takes processor time from them."""


class Cluster:
    """Dask's own commands, run in a folder."""

    def __init__(self, home):
        self.home = home
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.started = []

    def start(self, *arguments, **environment):
        variables = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            **environment,
        }
        with (self.home / "dask.log").open("a") as log:
            process = subprocess.Popen(
                with_parent(*DASK, *map(str, arguments)),
                cwd=self.home,
                env=variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def scheduler(self, *arguments):
        return self.start(
            "scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard", *arguments
        )

    def worker(self, *arguments, **environment):
        local = ("--local-directory", self.home / "dask", "--no-dashboard", "--nthreads", 1)
        return self.start(
            "worker", self.address, "--host", "127.0.0.1", *local, *arguments, **environment
        )

    def end(self, first=0):
        """Ends what was started, from the first on. Workers go before their scheduler: without it
        they take their time.
        """
        while len(self.started) > first:
            process = self.started.pop()
            process.terminate()
            process.wait(240)


def worker_processes(cluster):
    """Dask's worker processes, which nannies have started, and ours below them."""
    found = processes(cluster.home)
    spawned = {pid: parent_of(pid) for pid, command in found.items() if "spawn_main" in command}
    ours = [
        pid
        for pid, parent in spawned.items()
        if parent in spawned or "--no-nanny" in found.get(parent, "")
    ]
    return [pid for pid in spawned if pid not in ours], ours


def wait_until_left(cluster):
    """Wait until none of the arena's processes is left on the cluster."""
    wait_for(
        lambda: not worker_processes(cluster)[1],
        "the end of the arena's processes there",
        interval_s=LOOK_S,
    )


def bots_in(home):
    """Command lines of the bots that run in a folder."""
    return [command for command in processes(home).values() if "bot.py" in command]


def kinds(records):
    """The records but for the machine that they were played on, which a cluster gives a speed."""
    return [{**record, "host": record["host"].partition(" @ ")[0]} for record in records]


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """A scheduler and two workers of one thread, for all tests that leave them as they were."""
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    made.scheduler()
    made.worker()
    made.worker()
    yield made
    made.end()
    wait_until_gone(made.home)


@pytest.fixture
def cluster(arena, machines):
    """The two workers; those that a test adds are ended, and none of our processes may stay."""
    arena.add_bot("thinks", THINKING)
    with distributed.Client(machines.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=240)
    yield machines
    machines.end(first=3)
    wait_until_left(machines)


def test_a_run_on_two_workers_equals_the_local_run_and_leaves_nothing(arena, cluster):
    script = arena.home / "bots" / "fst" / "run"
    script.write_text("#!/bin/sh\nexec python3 -S bot.py\n")
    script.chmod(0o755)
    manifest = arena.home / "bots" / "fst" / "bot.toml"
    built = 'programs = ["python3"]\nbuild = [["sh", "-c", "echo built > made"]]\n'
    manifest.write_text(manifest.read_text().replace(json.dumps(BARE), '["./run"]') + built)
    settings = ("run", "--deals", 1, "--seed", "s", "--boards", "bird,lion", "--out")
    arena(*settings, "here")
    _, err = arena(*settings, "there", "--cluster", cluster.address, "-v")
    assert "2 games at once, speed " in err
    assert kinds(arena.timeless("there")) == kinds(arena.timeless("here"))
    assert all(
        record["host"].partition(" @ ")[2].endswith("/s") for record in arena.records("there")
    )
    log = (arena.home / "results" / "there" / "logs" / "arena.log").read_text()
    players = {line.split()[3] for line in log.splitlines() if "started as process" in line}
    assert len(players) == 2, log
    [built] = (cluster.home / "cache" / "qin-arena" / "builds").glob("*/made")
    assert built.read_text() == "built\n"
    assert not list((cluster.home / "dask").glob("**/bots-*")), "nor a bot"
    assert not worker_processes(cluster)[1], "no process of ours stays on the cluster"
    out, _ = arena("verify", "there")
    assert "no difference" in out
    _, err = arena(*settings, "there", "--deals", 2)
    assert "playing on here" not in err
    assert len(arena.records("there")) == 2 * 2 * 3 * 2, "the same run goes on without the cluster"


def test_a_worker_that_joins_and_workers_that_are_killed_lose_and_double_nothing(arena, cluster):
    settings = ("run", "--deals", 16, "--seed", "s", "--out")
    arena(*settings, "here")
    process = arena.start(*settings, "there", "--cluster", cluster.address)
    wait_for_games(arena, "there", 8, process)
    daskers, _ = worker_processes(cluster)
    for dasker in daskers:  # the run waits for the third, however long it takes to start
        os.kill(dasker, signal.SIGSTOP)
    cluster.worker("--no-nanny")
    wait_for(
        lambda: len(worker_processes(cluster)[1]) == 3 or process.poll() is not None,
        "the third worker's process",
        interval_s=LOOK_S,
    )
    for dasker in daskers:
        os.kill(dasker, signal.SIGCONT)
    played = journal_lines(arena, "there")
    os.kill(worker_processes(cluster)[1][0], signal.SIGKILL)
    wait_for_games(arena, "there", played + 5, process)
    os.kill(daskers[0], signal.SIGKILL)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert "its worker died" in err or "a worker died: " in err, err
    assert "3 games at once" in err, err
    assert kinds(arena.timeless("there")) == kinds(arena.timeless("here"))
    assert not worker_processes(cluster)[1]


@pytest.fixture
def mortal(arena):
    """A scheduler that may be killed, and a worker."""
    arena.add_bot("thinks", THINKING)
    made = Cluster(arena.home)
    made.scheduler()
    made.worker()
    yield made
    made.end()
    wait_until_gone(arena.home)


def test_after_the_schedulers_death_the_same_command_finishes_the_run(arena, mortal):
    cluster = mortal
    settings = ("run", "--deals", 5, "--seed", "s", "--out")
    arena(*settings, "here")
    process = arena.start(*settings, "there", "--cluster", cluster.address)
    wait_for_games(arena, "there", 8, process)
    cluster.started[0].kill()
    _, err = process.communicate(timeout=240)
    assert process.returncode == 1, err
    assert f"lost the Dask scheduler at {cluster.address}: a lost connection" in err
    assert "all finished games are in the journal" in err
    wait_for(
        lambda: not any(worker_processes(cluster)), "the end of the workers", interval_s=LOOK_S
    )
    assert 8 <= len(arena.records("there")) < 30
    cluster.scheduler()
    cluster.worker("--no-nanny")
    arena(*settings, "there", "--cluster", cluster.address)
    assert kinds(arena.timeless("there")) == kinds(arena.timeless("here"))


def test_ctrl_c_the_death_of_the_arena_and_a_stopped_worker_leave_no_bot_on_the_cluster(
    arena, cluster
):
    settings = ("run", "--deals", 60, "--seed", "s", "--out", "there", "--cluster", cluster.address)
    process = arena.start(*settings)
    wait_for_games(arena, "there", 5, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130, err
    assert "stopping: " in err
    wait_until_left(cluster)
    kept = len(arena.records("there"))
    process = arena.start(*settings)
    wait_for_games(arena, "there", kept + 5, process)
    process.kill()
    process.communicate()
    wait_until_left(cluster)
    for home in (arena.home, cluster.home):
        wait_for(lambda home=home: not bots_in(home), f"the end of the bots in {home}")
    kept = len(arena.records("there"))
    process = arena.start(*settings)
    wait_for_games(arena, "there", kept + 5, process)
    stopped = worker_processes(cluster)[0][0]
    os.kill(stopped, signal.SIGSTOP)
    try:
        process.send_signal(signal.SIGINT)
        wait_for(lambda: "stopping" in process.stderr.readline(), "the word stopping on stderr")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=240)
    finally:
        os.kill(stopped, signal.SIGCONT)
    assert process.returncode == 130, err
    assert "interrupted: repeat the same command" in err
    records = arena.records("there")
    assert len(records) == len({record["id"] for record in records}) > kept


def test_workers_that_would_play_otherwise_are_refused_with_the_reason(arena, cluster):
    other = arena.home / "other" / "arena"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'arena'\")\n")
    cluster.worker("--no-nanny", PYTHONPATH=str(other.parent))
    cluster.worker("--no-nanny", ARENA_RULES="pure")
    changed = arena.home / "changed"
    shutil.copytree(ROOT / "arena", changed / "arena", ignore=shutil.ignore_patterns("__pycache__"))
    with (changed / "arena" / "sdk" / "loop.py").open("a") as file:
        file.write("# changed\n")
    cluster.worker("--no-nanny", PYTHONPATH=str(changed))
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(5)
    _, err = arena(
        "run", "--deals", 2, "--seed", "s", "--out", "there", "--cluster", cluster.address
    )
    assert "may not play: expected qin-arena " in err
    assert "got No module named 'arena': pip install 'qin-arena[cluster]==" in err
    assert "may not play: expected the native rules core, got the pure rules core" in err
    assert ": install the same version there, then restart the worker" in err
    assert len(arena.records("there")) == 12


def test_a_scheduler_that_cannot_be_reached_is_told_before_a_run_begins(arena):
    (arena.home / "empty.json").write_text("{}")
    arena.own["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "500ms"
    for options, what, cure in (
        (
            ["--cluster", "tcp://127.0.0.1:9"],
            "no Dask scheduler at tcp://127.0.0.1:9: [Errno 111]",
            "start one with 'dask scheduler'",
        ),
        (
            ["--cluster", "localhost"],
            "expected the address of a Dask scheduler, with a port, got 'localhost'",
            "an address looks like tcp://10.0.0.1:8786",
        ),
        (
            ["--cluster", "foo://127.0.0.1:9"],
            "no Dask scheduler at foo://127.0.0.1:9: ValueError: unknown address",
            "start one with 'dask scheduler'",
        ),
        (
            ["--cluster", "empty.json"],
            "empty.json is not a scheduler file: it has no address",
            "--scheduler-file empty.json' writes it",
        ),
        (
            ["--cluster", "missing.json"],
            "there is no scheduler file missing.json",
            "--scheduler-file missing.json' writes it",
        ),
        (
            ["--cluster", "tls://127.0.0.1:9"],
            "Dask's configuration has no certificates for tls://127.0.0.1:9",
            "for tls:// Dask's configuration names the certificates",
        ),
        (
            ["--cluster", "127.0.0.1:9", "--jobs", 2],
            "--jobs and --cluster cannot be combined",
            "leave out --jobs",
        ),
    ):
        _, err = arena("run", "--out", "there", *options, status=1)
        assert what in err
        assert cure in err
        assert "Traceback" not in err
    assert not (arena.home / "results").exists()


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl makes the certificate")
def test_an_encrypted_cluster_by_its_scheduler_file(arena):
    subprocess.run(OPENSSL.split(), cwd=arena.home, check=True, capture_output=True)
    files = ("--tls-ca-file", "cert.pem", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
    made = Cluster(arena.home)
    made.address = f"tls://127.0.0.1:{made.port}"
    made.scheduler(*files, "--protocol", "tls", "--scheduler-file", "scheduler.json")
    made.worker(*files, "--no-nanny")
    names = {"CA_FILE": "cert.pem", "CLIENT__CERT": "cert.pem", "CLIENT__KEY": "key.pem"}
    try:
        wait_for((arena.home / "scheduler.json").exists, "the scheduler's file")
        own = arena.home / "qin-arena" / "arena.toml"
        own.parent.mkdir()
        own.write_text(f'cluster = "{arena.home}/scheduler.json"\n')
        _, err = arena("run", "--out", "plain", "--cluster", made.address, status=1)
        assert "for tls:// Dask's configuration names the certificates" in err
        usual, arena.own["XDG_CONFIG_HOME"] = arena.own["XDG_CONFIG_HOME"], str(arena.home)
        for name, file in names.items():
            arena.own[f"DASK_DISTRIBUTED__COMM__TLS__{name}"] = str(arena.home / file)
        arena("run", "--deals", 1, "--seed", 1, "--out", "there")
        arena.own["XDG_CONFIG_HOME"] = usual
        assert len(arena.records("there")) == 2
    finally:
        made.end()


def test_a_league_plays_on_the_cluster_and_goes_on_without_it(arena, cluster):
    settings = ("league", "run", "ladder", "--benchmarks", "random,greedy-4", "-q", "--games")
    arena(*settings, 32, "--cluster", cluster.address)
    records = arena.records("ladder")
    assert all(" @ " in record["host"] for record in records)
    assert {"rnd@1", "fst@1"} & {bot for record in records for bot in record["bots"]}
    arena(*settings, 8)
    assert len(arena.records("ladder")) == len(records) + 8
    arena("verify", "ladder")


def test_a_mixed_run_on_a_cluster_equals_the_local_one(arena, cluster):
    settings = ("run", "rnd", "careful-2", "greedy", "--deals", 2, "--seed", "s", "--out")
    arena(*settings, "here")
    arena(*settings, "there", "--cluster", cluster.address)
    assert kinds(arena.timeless("there")) == kinds(arena.timeless("here"))
    kept = [path.name for path in (arena.home / "cache").rglob("*-*") if path.is_dir()]
    assert not any(name.startswith(("careful", "greedy")) for name in kept)
