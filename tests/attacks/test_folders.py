"""Folders of strangers, as `arena submit` gets them: links, special files, sizes, names."""

import os
import stat
import subprocess

import pytest

from arena.errors import BotFolderError
from arena.players.folder import MAX_FILES, bot_at
from arena.players.registry import Registry

GOOD = 'name = "ann"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "ann"
    made.mkdir()
    (made / "bot.toml").write_text(GOOD)
    (made / "bot.py").write_text("print('hello')\n")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "key").write_text("secret")
    yield made
    # Python removes no tree deeper than its recursion limit: what is left would fail pytest's own
    # clean-up, some runs later.
    subprocess.run(["rm", "-rf", made], check=True)


def link_to_file(folder):
    (folder / "data").symlink_to("../secret")


def link_to_system(folder):
    (folder / "data").symlink_to("/etc/passwd")


def link_of_link(folder):
    (folder / "one").symlink_to("../secret")
    (folder / "two").symlink_to("one")


def ring_of_links(folder):
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")


def dangling_link(folder):
    (folder / "data").symlink_to("nothing")


def manifest_is_a_link(folder):
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").symlink_to("../secret")


def manifest_is_a_device(folder):
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").symlink_to("/dev/zero")


def manifest_is_a_pipe(folder):
    (folder / "bot.toml").unlink()
    os.mkfifo(folder / "bot.toml")


def manifest_is_huge(folder):
    with open(folder / "bot.toml", "ab") as file:
        file.truncate(1 << 40)


def pipe(folder):
    os.mkfifo(folder / "pipe")


def huge_file(folder):
    with open(folder / "data", "wb") as file:
        file.truncate(1 << 40)


def many_files(folder):
    for number in range(MAX_FILES):
        (folder / f"{number}").touch()


def deep_folders(folder):
    for _ in range(1200):
        folder /= "d"
        folder.mkdir()


def unreadable_file(folder):
    (folder / "data").touch(0)


def unlistable_folder(folder):
    (folder / "data").mkdir(0)


def memory_without_end(folder):
    (folder / "bot.toml").write_text(GOOD + "memory_mb = 1000000000\n")


def name_that_climbs(folder):
    (folder / "bot.toml").write_text(GOOD.replace("ann", "../../ann"))


def name_with_slash(folder):
    (folder / "bot.toml").write_text(GOOD.replace("ann", "a/b"))


def name_is_dots(folder):
    (folder / "bot.toml").write_text(GOOD.replace("ann", ".."))


def name_with_escape(folder):
    (folder / "bot.toml").write_text(GOOD.replace("ann", "\\u001b[31mann"))


def name_with_newline(folder):
    (folder / "bot.toml").write_text(GOOD.replace("ann", "ann\\n"))


def version_that_climbs(folder):
    (folder / "bot.toml").write_text(GOOD.replace('"1"', '"../../1"'))


TRICKS = [
    link_to_file, link_to_system, link_of_link, ring_of_links, dangling_link, manifest_is_a_link,
    manifest_is_a_device, manifest_is_a_pipe,
    manifest_is_huge, pipe, huge_file, many_files, deep_folders, unreadable_file,
    unlistable_folder, memory_without_end, name_that_climbs,
    name_with_slash, name_is_dots, name_with_escape, name_with_newline, version_that_climbs,
]  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.__name__)
def test_a_trick_is_refused_with_a_sentence_that_can_be_shown(folder, tmp_path, trick):
    if trick in (unreadable_file, unlistable_folder) and os.getuid() == 0:
        pytest.skip("root reads everything")
    trick(folder)
    with pytest.raises(BotFolderError) as caught:
        Registry(tmp_path / "bots").register(bot_at(folder))
    assert str(caught.value).replace("\n", "").isprintable()
    assert "secret'" not in str(caught.value)
    assert not (tmp_path / "bots").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "-x", "a\nb", "a b", "\x1b[31m", "ann@2"])
def test_a_name_on_the_command_line_is_checked_as_well(arena, name):
    _, err = arena("submit", "bots/rnd", f"--name={name}", status=1)
    assert err.startswith("error: ")
    assert sorted(os.listdir(arena.home / "bots")) == ["fst", "rnd"]


def test_a_link_to_a_folder_outside_is_refused(folder, tmp_path):
    (folder / "data").symlink_to("../secrets")
    with pytest.raises(BotFolderError, match="in the bot's folder, got a link to"):
        Registry(tmp_path / "bots").register(bot_at(folder))


def test_a_link_within_the_folder_becomes_a_file(folder, tmp_path):
    (folder / "again.py").symlink_to("bot.py")
    bot, _ = Registry(tmp_path / "bots").register(bot_at(folder))
    assert not (bot.folder / "again.py").is_symlink()


def test_special_modes_are_not_copied(folder, tmp_path):
    (folder / "bot.py").chmod(0o6777)
    bot, _ = Registry(tmp_path / "bots").register(bot_at(folder))
    assert stat.S_IMODE((bot.folder / "bot.py").stat().st_mode) == 0o755


def test_any_file_name_that_the_system_allows_is_copied(folder, tmp_path):
    for name in (b"not-utf8-\xff", b"two\nlines", b"\x1b[31mred"):
        (folder / os.fsdecode(name)).write_text("x")
    bot, changed = Registry(tmp_path / "bots").register(bot_at(folder))
    assert changed
    assert len(os.listdir(bot.folder)) == 5
    assert Registry(tmp_path / "bots").register(bot_at(folder)) == (bot, False)
