"""The registry with the ladder behind it, and how bots leave it again."""

import os
import subprocess
import time
import tomllib
from pathlib import Path

import pytest

from arena.errors import BotFolderError
from arena.players.folder import bot_at, bot_files, home_of_script
from arena.players.registry import LADDER, Registry, ladder

ROOT = Path(__file__).parents[2]
MANIFEST = 'name = "{}"\nversion = "{}"\ncommand = ["python3", "bot.py"]\n'


def make_bot(folder, name, source="print('hello')\n", version=1):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.toml").write_text(MANIFEST.format(name, version))
    (folder / "bot.py").write_text(source)
    return folder


@pytest.fixture
def steps(tmp_path):
    """A ladder of three bots."""
    return {
        name: make_bot(tmp_path / "ladder" / name, name, name)
        for name in ("low", "high", "greedy-python")
    }


@pytest.fixture
def registry(tmp_path, steps):
    make_bot(tmp_path / "bots" / "ann", "ann")
    return Registry(tmp_path / "bots", steps)


def submit(registry, tmp_path, name, source):
    return registry.register(bot_at(make_bot(tmp_path / "work" / name, name, source)))[0]


def test_the_ladder_is_what_git_tracks_of_the_bots_and_what_the_wheel_is_told_to_hold():
    tracked = subprocess.run(
        ["git", "ls-files", "bots"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode:
        pytest.skip("not a checkout of git")
    files = [Path(line) for line in tracked.stdout.splitlines()]
    assert {file.parts[1] for file in files} == set(LADDER)
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-data"
    ]["arena"]
    globs = [glob for glob in packed if glob.startswith("ladder/")]
    assert {f"ladder/{name}/bot.*" for name in LADDER} <= set(globs)
    for file in files:
        assert any(Path("ladder", *file.parts[1:]).match(glob) for glob in globs), file


def test_the_ladder_of_a_checkout_is_its_bots_folder_without_a_developer_s_own():
    assert {name: folder.resolve() for name, folder in ladder().items()} == {
        name: ROOT / "bots" / name for name in LADDER
    }


def test_one_bot_of_many_is_found_without_listing_all(registry, tmp_path, monkeypatch):
    """A league of 1,000 versions looks each of them up when it begins."""
    submit(registry, tmp_path, "ann", "new")

    def no_list(folder):
        raise AssertionError(f"{folder} was listed")

    monkeypatch.setattr(Path, "iterdir", no_list)
    assert registry.get("ann@1").label == "ann@1"
    assert registry.get("ann@2").folder == tmp_path / "bots" / "ann"
    assert registry.find("low").manifest.name == "low"
    assert "ann" in registry
    assert "low" in registry
    for label in ("ann@3", "", ".", "..", "../bots/ann", ".hidden", "a\0b"):
        assert label not in registry


def test_own_bots_are_found_first_and_the_ladder_behind_them(registry, tmp_path):
    assert registry.labels() == ["ann", "low", "high", "greedy-python"]
    assert registry.get("low").folder == tmp_path / "ladder" / "low"
    make_bot(tmp_path / "bots" / "low", "low", "mine")
    assert registry.labels() == ["ann", "low", "high", "greedy-python"]
    assert registry.find("low").folder == tmp_path / "bots" / "low"
    assert [registry.is_of_ladder(label) for label in registry.labels()] == [
        False,
        False,
        True,
        True,
    ]
    assert [bot.label for bot in registry.newest(print)] == ["ann", "low", "high", "greedy-python"]


def test_nothing_shows_up_twice_where_the_registry_is_the_ladder(steps, tmp_path):
    registry = Registry(tmp_path / "ladder", steps)
    assert registry.labels() == ["greedy-python", "high", "low"]
    assert registry.is_of_ladder("low")


def test_a_changed_bot_of_the_ladder_is_its_next_version_and_the_old_one_stays_there(
    registry, tmp_path
):
    mine = submit(registry, tmp_path, "low", "changed")
    assert (mine.manifest.version, mine.folder) == ("2", tmp_path / "bots" / "low")
    assert registry.get("low@1").folder == tmp_path / "ladder" / "low"
    assert registry.get("low@2").folder == mine.folder


def test_the_same_content_as_in_the_ladder_is_not_copied(registry, tmp_path):
    bot, changed = registry.register(bot_at(tmp_path / "ladder" / "low"))
    assert (bot.folder, changed) == (tmp_path / "ladder" / "low", False)
    assert not (tmp_path / "bots" / "low").exists()


def test_a_label_of_a_league_with_thousands_of_digits_takes_no_number(registry, tmp_path):
    """The labels of a league may come from anybody."""
    bot = bot_at(make_bot(tmp_path / "work" / "new", "new"))
    taken = ["new@1", "new@7", f"new@{'9' * 5000}"]
    assert registry.register(bot, taken)[0].manifest.version == "8"


@pytest.mark.parametrize(
    ("text", "meant"),
    [("hihg", "high"), ("an", "ann"), ("Low", "low"), ("lwo@1", "low"), ("grdy", "greedy-python")],
)
def test_a_slip_of_the_fingers_is_answered_with_the_bot_that_was_meant(
    registry, text, meant, refused
):
    with refused(BotFolderError) as caught:
        registry.find(text)
    assert f"'{meant}'?" in caught.value.hint


def test_what_is_like_nothing_gets_the_list(registry, refused):
    with refused(BotFolderError):
        registry.find("zzz")


def test_a_slip_in_a_path_is_answered_with_what_lies_there(registry, tmp_path, refused):
    with refused(BotFolderError):
        registry.find(str(tmp_path / "bots" / "amn"))


def test_what_a_killed_submit_left_goes_with_the_next_one(registry, tmp_path):
    for name, age_s in ((".incoming-old", 7200), (".incoming-young", 60)):
        (registry.root / name / "bot").mkdir(parents=True)
        os.utime(registry.root / name, (time.time() - age_s,) * 2)
    submit(registry, tmp_path, "mine", "new")
    left = {path.name for path in registry.root.iterdir() if path.name.startswith(".")}
    assert left == {".incoming-young"}


def test_a_bot_of_the_ladder_is_never_removed(registry, tmp_path, refused):
    for label in ("low", "low@1"):
        with refused(BotFolderError):
            registry.remove(label)
    assert (tmp_path / "ladder" / "low" / "bot.py").exists()
    with refused(BotFolderError):
        Registry(tmp_path / "ladder", {"low": tmp_path / "ladder" / "low"}).remove("low")
    assert (tmp_path / "ladder" / "low" / "bot.py").exists()


def test_the_next_older_version_takes_the_place_of_the_newest(registry, tmp_path):
    for number in range(2, 12):
        submit(registry, tmp_path, "ann", str(number))
    assert registry.versions("ann")[:3] == ["ann", "ann@10", "ann@9"]
    registry.remove("ann@11")
    assert (registry.get("ann").manifest.version, registry.get("ann").folder.name) == ("10", "ann")
    registry.remove("ann@3")
    assert "ann@3" not in registry.labels()
    assert registry.get("ann").manifest.version == "10"
    assert [path.name for path in (tmp_path / "bots").iterdir() if path.name.startswith(".")] == []


def test_a_bot_that_cannot_be_read_can_be_removed(registry, tmp_path):
    (tmp_path / "bots" / "ann" / "bot.toml").write_text("name = 3")
    registry.remove("ann")
    assert registry.labels() == ["low", "high", "greedy-python"]


def test_of_a_linked_bot_only_the_link_is_removed(registry, tmp_path):
    elsewhere = make_bot(tmp_path / "elsewhere", "bea")
    (tmp_path / "bots" / "bea").symlink_to(elsewhere)
    registry.remove("bea")
    assert "bea" not in registry.labels()
    assert (elsewhere / "bot.py").exists()


def test_once_it_is_removed_the_bot_of_the_ladder_has_its_name_again(registry, tmp_path):
    submit(registry, tmp_path, "low", "changed")
    registry.remove("low")
    assert registry.is_of_ladder("low")


def test_a_script_that_its_bot_toml_starts_or_builds_belongs_to_the_folder(tmp_path):
    folder = make_bot(tmp_path / "ann", "ann")
    (folder / "idea.py").write_text("")
    (folder / "bot.c").write_text("")
    (folder / "bot.toml").write_text(
        MANIFEST.format("ann", 1) + 'build = [["cc", "-o", "bot", "src/../bot.c"]]\n'
    )
    assert [home_of_script(folder / name) for name in ("bot.py", "bot.c", "bot.toml")] == [
        folder
    ] * 3
    assert [home_of_script(folder / name) for name in ("idea.py", "nothing.py", ".")] == [None] * 3


def test_a_home_in_a_bot_s_folder_is_no_part_of_the_bot(tmp_path):
    folder = make_bot(tmp_path / "ann", "ann")
    before = bot_at(folder).sha256
    make_bot(folder / "bots" / "ann", "ann")
    (folder / "results" / "run").mkdir(parents=True)
    (folder / "results" / "run" / "run.json").write_text("{}")
    assert [str(file) for file in bot_files(folder)] == ["bot.py", "bot.toml"]
    assert bot_at(folder).sha256 == before
    (folder / "nested" / "results").mkdir(parents=True)
    (folder / "nested" / "results" / "weights.bin").write_text("")
    assert len(bot_files(folder)) == 3


@pytest.mark.parametrize("text", ["x" * 300, "./" + "y" * 300, "x" * 5000])
def test_a_name_that_no_file_can_have_is_refused(tmp_path, text, refused):
    with refused(BotFolderError):
        Registry(tmp_path).find(text)


def owned(registry, tmp_path, author, name, source, version="9"):
    bot = bot_at(make_bot(tmp_path / "work" / author / name, name, source, version))
    return registry.register(registry.owned(bot, author))


def test_a_name_belongs_to_its_first_author_and_the_versions_are_numbered_here(
    registry, tmp_path, refused
):
    first, _ = owned(registry, tmp_path, "bea", "bold", "1")
    assert (first.manifest.author, str(first.manifest.version)) == ("bea", "1")
    text = (first.folder / "bot.toml").read_text()
    (tmp_path / "work" / "bea" / "bold" / "bot.toml").write_text(text.replace("bea", "ann"))
    second, is_new = owned(registry, tmp_path, "bea", "bold", "2")
    assert (second.manifest.author, str(second.manifest.version), is_new) == ("bea", "2", True)
    again, is_new = owned(registry, tmp_path, "bea", "bold", "2", version="77")
    assert (str(again.manifest.version), is_new) == ("2", False)
    for name in ("bold", "ann", "high"):
        with refused(BotFolderError):
            owned(registry, tmp_path, "eve", name, "3")


def test_a_name_is_free_again_when_all_its_versions_are_removed(registry, tmp_path, refused):
    """The versions are numbered on: the league has games of the earlier ones."""
    for source in ("1", "2"):
        owned(registry, tmp_path, "bea", "bold", source)
    registry.remove("bold@1")
    with refused(BotFolderError):
        owned(registry, tmp_path, "eve", "bold", "3")
    registry.remove("bold")
    bot = bot_at(make_bot(tmp_path / "bold", "bold", "3"))
    new, is_new = registry.register(registry.owned(bot, "eve", ["bold@1", "bold@2"]))
    assert (new.manifest.author, str(new.manifest.version), is_new) == ("eve", "3", True)
    with refused(BotFolderError):
        owned(registry, tmp_path, "bea", "bold", "4")


def test_a_version_that_cannot_be_read_is_not_among_every_version(registry, tmp_path):
    owned(registry, tmp_path, "bea", "bold", "1")
    owned(registry, tmp_path, "bea", "bold", "2")
    owned(registry, tmp_path, "bea", "bold", "3")
    versions = [label for label in registry.every_version() if label.startswith("bold@")]
    assert versions == ["bold@1", "bold@2", "bold@3"]
    for broken in ("bold@2", "bold"):
        (registry.root / broken / "bot.toml").write_text("broken")
    assert [label for label in registry.every_version() if "bold" in label] == ["bold@1"]
