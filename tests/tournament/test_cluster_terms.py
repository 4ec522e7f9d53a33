"""Who may play on a cluster, and how bots get there."""

import io
import pickle
import re
import tarfile
from pathlib import Path
from threading import Thread

import pytest

from arena.errors import BotFolderError, ClusterError
from arena.players.folder import bot_at, content_hash
from arena.players.sandbox.tiers import OPEN
from arena.records.record import host_text, split_host
from arena.tournament.cluster.connection import read_address
from arena.tournament.cluster.pool import difference
from arena.tournament.cluster.shipping import bots_folder, pack, provide
from arena.tournament.cluster.terms import best_sandbox, disagreement, speed, versions
from arena.tournament.events import MachineChanged, MachinesDiffer


@pytest.fixture
def bot(tmp_path, monkeypatch):
    """A bot of a script, an executable and a file in a folder, built by a step; the cache is in the
    test's own folder.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "bot"
    (folder / "data").mkdir(parents=True)
    (folder / "bot.py").write_text("print()\n")
    (folder / "data" / "book").write_bytes(bytes(range(256)))
    (folder / "go").write_text("#!/bin/sh\n")
    (folder / "go").chmod(0o755)
    build = "echo >> built; echo x >> ../../../times"
    (folder / "bot.toml").write_text(
        'name = "b"\nversion = "3"\nmemory_mb = 1024\ncommand = ["./go"]\nbuild = [["sh", "-c", "'
        + build
        + '"]]\n'
    )
    return bot_at(folder)


def test_a_bot_arrives_with_its_content_and_modes_and_is_built_once(bot, tmp_path):
    assert provide(bot, None, OPEN, bots_folder()) is None
    there = provide(bot, pack(bot), OPEN, bots_folder())
    assert there.folder.is_relative_to(bots_folder())
    assert (there.folder / "data" / "book").read_bytes() == bytes(range(256))
    assert (there.folder / "go").stat().st_mode & 0o111 == 0o111
    assert (there.folder / "bot.py").stat().st_mode & 0o111 == 0
    assert (there.folder / "built").exists()
    threads = [Thread(target=provide, args=(bot, pack(bot), OPEN, bots_folder())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert provide(bot, None, OPEN, bots_folder()) == there
    assert [path.name for path in bots_folder().iterdir() if path.is_dir()] == [f"b-{bot.sha256}"]
    [times] = tmp_path.rglob("times")
    assert times.read_text() == "x\n"


def test_a_copy_that_was_changed_is_made_anew(bot):
    there = provide(bot, pack(bot), OPEN, bots_folder())
    (there.folder / "bot.py").write_text("print('stolen')\n")
    assert provide(bot, None, OPEN, bots_folder()) is None
    assert provide(bot, pack(bot), OPEN, bots_folder()) == there
    assert (there.folder / "bot.py").read_text() == "print()\n"
    (there.folder / "data" / "book").unlink()
    assert provide(bot, None, OPEN, bots_folder()) is None


def test_a_single_script_arrives_too(bot, tmp_path):
    script = bot_at(tmp_path / "bot" / "bot.py")
    there = provide(script, pack(script), OPEN, bots_folder())
    assert [path.name for path in there.folder.iterdir()] == ["bot.py"]


def test_files_that_changed_on_the_way_are_refused_and_leave_nothing(bot):
    archive = pack(bot)
    (bot.folder / "bot.py").write_text("print(1)\n")
    with pytest.raises(
        BotFolderError, match="expected the files from the start of the run, got others"
    ):
        provide(bot, pack(bot), OPEN, bots_folder())
    assert not [path for path in bots_folder().iterdir() if path.is_dir()]
    assert provide(bot, archive, OPEN, bots_folder())


def test_an_archive_cannot_write_elsewhere(bot, tmp_path):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        entry = tarfile.TarInfo("../../../../stolen")
        archive.addfile(entry, io.BytesIO())
    with pytest.raises(BotFolderError, match="expected plain files"):
        provide(bot, data.getvalue(), OPEN, bots_folder())
    assert not list(tmp_path.rglob("stolen"))


def test_the_hash_of_a_bot_is_the_same_in_another_process(bot):
    there = pickle.loads(pickle.dumps(bot))
    assert content_hash(Path(there.folder), there.manifest) == bot.sha256


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"arena": "0.0.1"}, "expected qin-arena .*, got 0.0.1 .* install the same version there"),
        ({"code": "x"}, r"got .* \(code x\): install the same version there"),
        ({"python": "3.9"}, "got 3.9: start the worker with the expected one"),
        ({"core": "slow"}, "got the slow one: where the core is pure, install a C compiler"),
        ({"host": "elsewhere"}, "^$"),
    ],
)
def test_a_worker_must_have_the_same_arena_python_and_core(change, text):
    assert re.search(text, disagreement(versions(), versions()._replace(**change)))


def test_machines_of_one_kind_are_alike_and_others_are_told():
    quick, slow, alike = (
        MachineChanged(host, 1, speed, "none")
        for host, speed in (("q", 1300), ("s", 650), ("a", 1100))
    )
    assert difference([]) is None
    assert difference([quick, alike]) is None
    assert difference([alike, slow, quick]) == MachinesDiffer("s", "q", 2.0)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("10.0.0.1:8786", "tcp://10.0.0.1:8786"),
        ("tls://host:1", "tls://host:1"),
        ("tcp://[::1]:8786", "tcp://[::1]:8786"),
    ],
)
def test_an_address_may_lack_its_protocol(text, address):
    assert read_address(text) == address


@pytest.mark.parametrize(
    "text", ["host", "", "bots", "tcp://10.0.0.1", "tcp://10.0.0.1:port", "tcp://:8786"]
)
def test_what_is_no_address_is_told_with_an_example(text):
    with pytest.raises(
        ClusterError, match="expected the address of a Dask scheduler, with a port"
    ) as caught:
        read_address(text)
    assert "tcp://10.0.0.1:8786" in caught.value.hint


@pytest.mark.parametrize("content", ["", "[]", "{}", "no json"])
def test_a_scheduler_file_must_name_an_address(tmp_path, content):
    file = tmp_path / "scheduler"
    file.write_text(content)
    with pytest.raises(ClusterError, match="expected a scheduler file"):
        read_address(str(file))
    file.write_text('{"address": "tcp://10.0.0.1:8786"}')
    assert read_address(str(file)) == "tcp://10.0.0.1:8786"


def test_the_speed_of_a_machine_is_measured_to_two_digits_and_stands_in_records():
    measured = speed()
    assert measured > 10
    assert float(f"{measured:.1e}") == measured
    assert split_host(host_text("m", measured)) == ("m", measured)


def test_where_the_session_has_no_walls_a_worker_has_none():
    assert best_sandbox("none") == (OPEN, "")


def test_a_worker_without_a_sandbox_says_what_it_lacks(monkeypatch):
    monkeypatch.setattr("arena.tournament.cluster.terms.failure", lambda launch: "no")
    sandbox, reason = best_sandbox("bubblewrap")
    assert sandbox == OPEN
    assert reason.startswith(
        "expected the bubblewrap sandbox, which does not work there (bubblewrap: no): install"
        " bubblewrap"
    )
    assert "landlock: no" in best_sandbox("landlock")[1]
