"""Who may play on a cluster, and how bots get there."""

import pickle
import re
from pathlib import Path

import pytest

from arena.errors import BotFolderError, SandboxError
from arena.players.folder import bot_at, content_hash
from arena.players.sandbox import tiers
from arena.players.sandbox.tiers import OPEN
from arena.players.staging import pack, unpack
from arena.records.record import host_text, split_host
from arena.tournament import node
from arena.tournament.workers import disagreement, versions


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


def test_a_bot_arrives_with_its_content_and_modes_and_is_built_there(bot, tmp_path):
    there = unpack(bot, pack(bot), OPEN, tmp_path / "there")
    assert there.folder.parent == tmp_path / "there"
    assert (there.folder / "data" / "book").read_bytes() == bytes(range(256))
    assert (there.folder / "go").stat().st_mode & 0o111 == 0o111
    assert (there.folder / "bot.py").stat().st_mode & 0o111 == 0
    assert (there.folder / "built").read_text() == "\n"
    assert unpack(bot, pack(bot), OPEN, tmp_path / "there") == there
    assert [path.name for path in (tmp_path / "there").iterdir()] == [f"b-{bot.sha256}"]


def test_a_single_script_arrives_too(bot, tmp_path):
    script = bot_at(tmp_path / "bot" / "bot.py")
    there = unpack(script, pack(script), OPEN, tmp_path / "there")
    assert [path.name for path in there.folder.iterdir()] == ["bot.py"]


def test_files_that_changed_on_the_way_are_refused_and_leave_nothing(bot, tmp_path, refused):
    packed = pack(bot)
    (bot.folder / "bot.py").write_text("print(1)\n")
    with refused(BotFolderError):
        unpack(bot, pack(bot), OPEN, tmp_path / "there")
    assert not list((tmp_path / "there").iterdir())
    assert unpack(bot, packed, OPEN, tmp_path / "there")


def test_what_arrives_cannot_be_written_elsewhere(bot, tmp_path, refused):
    with refused(BotFolderError):
        unpack(bot, {"../../../../stolen": (b"", False)}, OPEN, tmp_path / "a" / "b" / "c")
    assert not list(tmp_path.rglob("stolen"))


def test_the_hash_of_a_bot_is_the_same_in_another_process(bot):
    there = pickle.loads(pickle.dumps(bot))
    assert content_hash(Path(there.folder), there.manifest) == bot.sha256


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"arena": "qin-arena 0"}, "expected qin-arena .*, got qin-arena 0: install the same"),
        ({"python": "Python 3.9"}, "got Python 3.9: start the worker with the expected one"),
        ({"core": "the slow rules core"}, "got the slow rules core: install a C compiler"),
        ({"host": "elsewhere"}, "^$"),
    ],
)
def test_a_worker_must_have_the_same_arena_python_and_core(change, text):
    assert re.search(text, disagreement(versions(), {**versions(), **change}))


def test_the_speed_of_a_machine_is_measured_to_two_digits_and_stands_in_records():
    measured = node.speed()
    assert measured > 10
    assert float(f"{measured:.1e}") == measured
    assert split_host(host_text("m", measured)) == ("m", measured)


def test_a_worker_has_a_sandbox_at_least_as_good_as_the_session(monkeypatch, refused):
    assert tiers.at_least("none") == OPEN
    works = {"landlock": ""}
    monkeypatch.setattr(
        tiers, "failure", lambda launch: works.get(launch.__self__.tier, "not here")
    )
    assert tiers.at_least("landlock").tier == "landlock"
    with refused(SandboxError):
        tiers.at_least("bubblewrap")
    works.clear()
    with refused(SandboxError):
        tiers.at_least("landlock")
