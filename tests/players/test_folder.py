"""bot.toml, content hashes, copies and the registry."""

import json
import os
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from arena.errors import BotFolderError
from arena.players.folder import bot_at, bot_files
from arena.players.manifest import read_manifest
from arena.players.registry import Registry
from arena.players.staging import lack, missing_file, stage, staged_for_a_while
from arena.players.temporary import remove_tree

GOOD = 'name = "ann"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "ann"
    made.mkdir()
    (made / "bot.toml").write_text(GOOD)
    (made / "bot.py").write_text("print('hello')\n")
    return made


def test_a_manifest_is_read_with_its_defaults(folder):
    manifest = read_manifest(folder)
    assert (manifest.name, manifest.version, manifest.command) == (
        "ann",
        "1",
        ["python3", "bot.py"],
    )
    assert (manifest.build, manifest.fresh, manifest.memory_mb, manifest.startup_ms) == (
        [],
        False,
        1024,
        None,
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        'name = "ann"\nversion = "1"\n',
        GOOD + "comand = 3\n",
        GOOD + "[alow]\nx = 1\n",
        GOOD.replace('["python3", "bot.py"]', '"python3 bot.py"'),
        GOOD.replace('["python3", "bot.py"]', "[]"),
        GOOD + 'programs = "java"\n',
        GOOD + 'programs = [""]\n',
        GOOD + 'programs = ["a\\u0000"]\n',
        GOOD + "memory_mb = 1\n",
        GOOD.replace("ann", "an/n"),
        GOOD.replace("ann", "-x"),
        GOOD.replace("ann", "a" * 41),
        GOOD.replace('"1"', '"one two"'),
        "name = ",
        'version = "1"\r\nname = me\r\n',
        "\ncommand = [\n1,\n",
        "\x00",
    ],
)
def test_a_bad_manifest_is_named_with_its_file(folder, text, refused):
    (folder / "bot.toml").write_text(text)
    with refused(BotFolderError) as caught:
        read_manifest(folder)
    assert str(folder / "bot.toml") in str(caught.value)


@pytest.mark.parametrize(
    ("key", "cure"),
    [
        ("comand", "did you mean 'command'?"),
        ("Version", "did you mean 'version'?"),
        ("zzz", "there are name, command, version,"),
        ("sandbox", "no bot says itself what it may do: whoever plays it does"),
    ],
)
def test_a_key_that_bot_toml_does_not_have_is_answered_with_what_was_meant(folder, key, cure):
    (folder / "bot.toml").write_text(f"{GOOD}{key} = 3\n")
    with pytest.raises(BotFolderError) as caught:
        read_manifest(folder)
    assert caught.value.hint.startswith(cure)


def test_a_manifest_may_be_written_by_an_editor_of_windows(folder, tmp_path):
    text = b"\xef\xbb\xbf" + GOOD.encode().replace(b"\n", b"\r\n")
    (folder / "bot.toml").write_bytes(text)
    assert read_manifest(folder).command == ["python3", "bot.py"]
    registered, _ = Registry(tmp_path / "bots").register(bot_at(folder))
    assert registered.sha256 == bot_at(folder).sha256


def test_a_manifest_in_another_encoding_is_refused_with_the_one_to_use(folder, refused):
    (folder / "bot.toml").write_bytes(GOOD.replace("ann", "\u00e4nn").encode("latin-1"))
    with refused(BotFolderError):
        read_manifest(folder)


def test_a_folder_without_a_manifest_says_what_to_write(folder, refused):
    (folder / "bot.toml").unlink()
    with refused(BotFolderError) as caught:
        bot_at(folder)
    assert 'command = ["python3", "bot.py"]' in caught.value.hint


def test_a_script_alone_is_a_bot(folder):
    assert bot_at(folder / "bot.py").command == ["python3", "bot.py"]
    engine = folder / "engine"
    engine.write_text("#!/bin/sh\n")
    engine.chmod(0o755)
    assert bot_at(engine).command == ["./engine"]
    assert bot_at(folder / "bot.py", name="other", command=["pypy3", "bot.py"]).command == [
        "pypy3",
        "bot.py",
    ]


def test_a_script_of_unknown_kind_says_how_to_run_it(folder, refused):
    (folder / "bot.xyz").write_text("?")
    with refused(BotFolderError) as caught:
        bot_at(folder / "bot.xyz")
    assert "chmod +x bot.xyz" in caught.value.hint
    assert "--command" not in caught.value.hint, "most commands have no such option"


def test_a_path_that_is_not_there_is_named(tmp_path, refused):
    with refused(BotFolderError):
        bot_at(tmp_path / "nowhere")


def test_the_hash_is_of_content_and_command_not_of_version_time_or_place(folder, tmp_path):
    first = bot_at(folder).sha256
    os.utime(folder / "bot.py", (1, 1))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"1")
    (folder / "bot.toml").write_text(GOOD.replace('"1"', '"2"'))
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert bot_at(folder).sha256 == bot_at(tmp_path / "elsewhere").sha256 == first


@pytest.mark.parametrize(
    "change", ["content", "command", "name", "executable", "new file", "comment"]
)
def test_the_hash_changes_with_what_is_played(folder, change):
    first = bot_at(folder).sha256
    if change == "content":
        (folder / "bot.py").write_text("print('hello!')\n")
    elif change == "command":
        (folder / "bot.toml").write_text(GOOD.replace('"bot.py"]', '"bot.py", "--fast"]'))
    elif change == "name":
        (folder / "bot.py").rename(folder / "bot2.py")
    elif change == "comment":
        (folder / "bot.toml").write_text(GOOD + "# e4 e5\n")
    elif change == "executable":
        (folder / "bot.py").chmod(0o755)
    else:
        (folder / "data.txt").write_text("")
    assert bot_at(folder).sha256 != first


@pytest.mark.parametrize("target", ["secret", "."])
def test_a_link_to_a_file_or_folder_outside_is_refused(folder, tmp_path, refused, target):
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / target)
    with refused(BotFolderError):
        bot_at(folder)


def test_a_link_inside_the_folder_is_a_file_like_another(folder, tmp_path):
    (folder / "same.py").symlink_to("bot.py")
    staged = stage(bot_at(folder), tmp_path / "staged")
    assert (staged.folder / "same.py").read_text() == "print('hello')\n"
    assert not (staged.folder / "same.py").is_symlink()


def test_a_link_to_a_folder_inside_is_a_folder_with_the_same_files(folder, tmp_path):
    (folder / "packages" / "kit").mkdir(parents=True)
    (folder / "packages" / "kit" / "kit.py").write_text("x = 1\n")
    (folder / "modules").mkdir()
    (folder / "modules" / "kit").symlink_to("../packages/kit")
    before = bot_at(folder).sha256
    staged = stage(bot_at(folder), tmp_path / "staged")
    copy = staged.folder / "modules" / "kit"
    assert (copy / "kit.py").read_text() == "x = 1\n"
    assert not copy.is_symlink()
    (folder / "packages" / "kit" / "kit.py").write_text("x = 2\n")
    assert bot_at(folder).sha256 != before


@pytest.mark.parametrize(
    "links",
    [
        {"a/up": ".."},
        {"a/self": "."},
        {"a/to-b": "../b", "b/to-a": "../a"},
        {"env": ".venv", "deep": ".venv/lib", "a/past": "../.git"},
        {"mine": "bots", "last": "results/r1"},
    ],
    ids=["up", "self", "circle", "ignored", "home"],
)
def test_a_link_to_a_folder_that_it_is_in_or_that_is_left_out_is_left_out(folder, links):
    for file in (".venv/lib/x.py", ".git/config", "bots/b/bot.toml", "results/r1/run.json"):
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text("")
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "own.py").write_text("")
    for name, target in links.items():
        (folder / name).symlink_to(target)
    copied = [str(file) for file in bot_files(folder)]
    own = [f"{link}/own.py" for link in links if link.startswith(("a/to", "b/to"))]
    assert copied == sorted(["a/own.py", "b/own.py", "bot.py", "bot.toml", *own])


def test_links_that_make_a_folder_endlessly_large_are_refused(folder, refused, monkeypatch):
    monkeypatch.setattr("arena.players.folder.MAX_FOLDERS", 500)
    names = [f"level{number}" for number in range(20)]
    for name, below in pairwise(names):
        (folder / name).mkdir()
        for number in range(10):
            (folder / name / f"link{number}").symlink_to(folder / below)
    (folder / names[-1]).mkdir()
    with refused(BotFolderError):
        bot_at(folder)


def test_special_files_are_refused(folder, refused):
    os.mkfifo(folder / "pipe")
    with refused(BotFolderError):
        bot_at(folder)


def test_a_folder_that_is_too_large_is_refused(folder, refused):
    with (folder / "data").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    with refused(BotFolderError):
        bot_at(folder)


def test_a_staged_bot_is_built_and_its_source_is_not_touched(folder, tmp_path):
    (folder / "bot.toml").write_text(
        GOOD + 'build = [["sh", "-c", "cp bot.py built.py"], ["touch", "done"]]\n'
    )
    staged = stage(bot_at(folder), tmp_path / "staged")
    assert sorted(path.name for path in staged.folder.iterdir()) == [
        "bot.py",
        "bot.toml",
        "built.py",
        "done",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["bot.py", "bot.toml"]


def test_what_a_build_makes_can_be_read_by_all(folder, tmp_path):
    """The kernel ends its count of CPU time at a program that may be run but not read."""
    text = (folder / "bot.toml").read_text()
    build = "mkdir made; cp /bin/true made/own; chmod 111 made/own; chmod 111 made"
    (folder / "bot.toml").write_text(f'{text}build = [["sh", "-c", "{build}"]]\n')
    made = stage(bot_at(folder), tmp_path / "staged" / "b").folder / "made"
    modes = [path.stat().st_mode & 0o777 for path in (made, made / "own")]
    assert modes == [0o555, 0o555]


def test_a_finished_copy_is_used_again(folder, tmp_path):
    stage(bot_at(folder), tmp_path / "staged")
    before = (tmp_path / "staged").stat().st_ino
    stage(bot_at(folder), tmp_path / "staged")
    assert (tmp_path / "staged").stat().st_ino == before


def test_a_finished_copy_that_was_changed_is_made_anew(folder, tmp_path):
    stage(bot_at(folder), tmp_path / "staged")
    (tmp_path / "staged" / "bot.py").write_text("print('another')\n")
    stage(bot_at(folder), tmp_path / "staged")
    assert (tmp_path / "staged" / "bot.py").read_bytes() == (folder / "bot.py").read_bytes()


def test_a_failed_build_shows_its_output_and_leaves_nothing(folder, tmp_path, refused):
    (folder / "bot.toml").write_text(
        GOOD + 'build = [["sh", "-c", "echo no compiler >&2; exit 4"]]\n'
    )
    with refused(BotFolderError):
        stage(bot_at(folder), tmp_path / "deep" / "staged")
    assert list((tmp_path / "deep").iterdir()) == []


def test_a_missing_program_is_named_with_its_cure_before_anything_is_built(
    folder, tmp_path, refused
):
    (folder / "bot.toml").write_text(GOOD + 'build = [["touch", "done"], ["no-such-compiler"]]\n')
    with refused(BotFolderError):
        stage(bot_at(folder), tmp_path / "deep" / "staged")
    assert not (tmp_path / "deep").exists()


@pytest.mark.parametrize(
    ("said", "missed"),
    [
        (
            "error: linker `cc` not found\n  |\n  = note: No such file or directory (os error 2)",
            "cc",
        ),
        ("make: g++: No such file or directory", "g++"),
        ("sh: 1: cargo: not found", "cargo"),
        ("sh: 1: my-own-tool: not found", ""),
        ("cc: error: no input files", ""),
    ],
)
def test_a_program_that_a_build_itself_does_not_find_is_named_with_its_cure(
    folder, tmp_path, monkeypatch, said, missed
):
    build = json.dumps([["python3", "-c", f"raise SystemExit({said!r})"]])
    (folder / "bot.toml").write_text(GOOD + f"build = {build}\n")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(BotFolderError) as caught:
            stage(bot_at(folder), tmp_path / "staged")
    assert said in str(caught.value)
    assert caught.value.hint.startswith(
        f"{missed} is not on PATH: install it (on Debian" if missed else "fix the error it shows"
    )


def test_a_missing_program_is_found_before_the_first_game(folder, tmp_path, monkeypatch, refused):
    (folder / "bot.toml").write_text(GOOD.replace("python3", "node"))
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with refused(BotFolderError):
            stage(bot_at(folder), tmp_path / "staged")
    (folder / "bot.toml").write_text(GOOD.replace('"python3", "bot.py"', '"./bot.py"'))
    with refused(BotFolderError):
        stage(bot_at(folder), tmp_path / "staged")


@pytest.mark.parametrize(
    ("command", "cure"),
    [
        (["python3", "bto.py"], "did you mean 'bot.py'? fix the command in bot.toml"),
        (["python3", "-u", "-OO", "--check=x", "bto.py", "bot.py"], "did you mean 'bot.py'? "),
        (["python3.12", "nowhere/else.py"], "fix the command in bot.toml"),
        (["python3", ".venv/bot.py"], ".venv is not copied with a bot: begin the command with py"),
        (["node", "bto.mjs"], "fix the command in bot.toml"),
        (["./venv/bin/python", "bot.py"], "fix the command in bot.toml"),
        ([".venv/bin/python", "bot.py"], ".venv is not copied with a bot: begin the command with"),
    ],
)
def test_a_file_that_the_command_names_and_that_is_not_there_is_said_before_the_start(
    folder, command, cure, snapshot
):
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bot.py").write_text("")
    bot = bot_at(folder, command=command)
    for reason, hint in (missing_file(bot, folder), _refused(bot, folder.parent / "staged")):
        if command[1] == ".venv/bot.py" and not reason:
            continue  # it is there, but is not copied
        assert reason == snapshot
        assert hint.startswith(cure)


def _refused(bot, target):
    """Why a bot is not staged, and the cure."""
    (target.parent / "bin").mkdir()
    for program in ("node", "python3.12"):
        (target.parent / "bin" / program).touch(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{target.parent / 'bin'}:{os.environ['PATH']}")
        with pytest.raises(BotFolderError) as caught:
            stage(bot, target)
    return str(caught.value), caught.value.hint


@pytest.mark.parametrize(
    "command",
    [
        ["python3", "bot.py", "weights.py"],
        ["python3", "-m", "engine", "x.py"],
        ["python3", "-W", "ignore", "bot.py"],
        ["python3", "-c", "import engine"],
        ["python3", "."],
        ["sh", "-c", "exec python3 engine.py"],
        ["sh", "engine"],
        ["env", "python3", "engine.py"],
        ["node", "engine"],
        ["node", "--require", "x.js", "engine.js"],
        ["java", "Engine"],
        ["./bot.py", "engine.py"],
    ],
)
def test_a_word_that_may_be_no_script_is_not_missed(folder, command):
    (folder / "bot.py").chmod(0o755)
    assert missing_file(bot_at(folder, command=command), folder) == ("", "")


def test_a_script_that_a_build_makes_is_looked_for_after_it(folder, tmp_path, refused):
    text = (folder / "bot.toml").read_text().replace("bot.py", "made.py")
    (folder / "bot.toml").write_text(f'{text}build = [["cp", "bot.py", "made.py"]]\n')
    assert lack(bot_at(folder)) == ("", "")
    stage(bot_at(folder), tmp_path / "staged")
    (folder / "bot.toml").write_text(f'{text}build = [["cp", "bot.py", "mode.py"]]\n')
    with refused(BotFolderError):
        stage(bot_at(folder), tmp_path / "again")


def test_a_temporary_copy_goes_when_its_time_is_over(folder):
    with staged_for_a_while(bot_at(folder), bot_at(folder)) as staged:
        places = [bot.folder for bot in staged]
        assert len(set(places)) == 2
        assert all((place / "bot.py").exists() for place in places)
    assert not any(place.exists() for place in places)


def test_registering_copies_and_changed_content_becomes_the_next_version(folder, tmp_path):
    registry = Registry(tmp_path / "bots")
    first, changed = registry.register(bot_at(folder))
    assert (first.label, first.manifest.version, changed) == ("ann", "1", True)
    assert registry.register(bot_at(folder))[1] is False
    for number in (2, 3):
        (folder / "bot.py").write_text(f"print({number})\n")
        registered, changed = registry.register(bot_at(folder))
        assert (registered.manifest.version, changed) == (str(number), True)
    assert registry.labels() == ["ann", "ann@1", "ann@2"]
    assert [bot.label for bot in registry.newest(print)] == ["ann"]
    assert (registry.get("ann@1").folder / "bot.py").read_text() == "print('hello')\n"
    assert registry.get("ann@1").sha256 == first.sha256
    assert registry.get("ann@3").folder == registry.get("ann").folder
    assert registry.get("ann@3").label == "ann@3"


def test_an_author_s_own_version_is_kept_if_it_is_new(folder, tmp_path):
    registry = Registry(tmp_path / "bots")
    registry.register(bot_at(folder))
    (folder / "bot.toml").write_text(GOOD.replace('"1"', '"2.1-beta"'))
    (folder / "bot.py").write_text("2")
    assert registry.register(bot_at(folder))[0].manifest.version == "2.1-beta"
    (folder / "bot.py").write_text("3")
    assert registry.register(bot_at(folder))[0].manifest.version == "2"
    assert registry.labels() == ["ann", "ann@1", "ann@2.1-beta"]


def test_comments_in_a_manifest_survive_registration(folder, tmp_path):
    (folder / "bot.toml").write_text("# mine\n" + GOOD)
    registry = Registry(tmp_path / "bots")
    registry.register(bot_at(folder))
    (folder / "bot.py").write_text("2")
    registry.register(bot_at(folder))
    text = (tmp_path / "bots" / "ann" / "bot.toml").read_text()
    assert text.startswith("# mine\n")
    assert 'version = "2"' in text


def test_a_script_gets_a_manifest(folder, tmp_path):
    registry = Registry(tmp_path / "bots")
    bot, _ = registry.register(bot_at(folder / "bot.py", name="solo"))
    assert sorted(path.name for path in bot.folder.iterdir()) == ["bot.py", "bot.toml"]
    assert registry.get("solo").command == ["python3", "bot.py"]


def test_an_unknown_name_lists_what_there_is(folder, tmp_path, refused):
    registry = Registry(tmp_path / "bots")
    registry.register(bot_at(folder))
    with refused(BotFolderError) as caught:
        registry.find("bob")
    assert "ann" in caught.value.hint


def test_a_bot_is_found_by_label_or_path(folder, tmp_path, monkeypatch):
    registry = Registry(tmp_path / "bots")
    registry.register(bot_at(folder))
    monkeypatch.chdir(tmp_path)
    assert registry.find("ann").folder == tmp_path / "bots" / "ann"
    assert registry.find("./ann").folder.resolve() == folder
    assert registry.find(str(folder / "bot.py")).folder == folder, (
        "a script of a bot means the whole bot"
    )
    (folder / "idea.py").write_text("print('another')\n")
    assert registry.find(str(folder / "idea.py")).label == "idea"


def test_names_that_differ_only_by_case_are_refused(folder, tmp_path, refused):
    registry = Registry(tmp_path / "bots")
    registry.register(bot_at(folder))
    with refused(BotFolderError):
        registry.register(bot_at(folder, name="Ann"))


def test_a_folder_renamed_by_hand_is_noticed(folder, tmp_path, refused):
    registry = Registry(tmp_path / "bots")
    registry.register(bot_at(folder))
    (tmp_path / "bots" / "ann").rename(tmp_path / "bots" / "bea")
    with refused(BotFolderError):
        registry.get("bea")


def test_an_empty_registry_has_no_bots(tmp_path):
    assert Registry(tmp_path / "bots").labels() == []
    assert Registry(tmp_path / "bots").newest(print) == []


def test_removing_a_folder_leaves_what_a_link_leads_to(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone" / "link").symlink_to(kept)
    (tmp_path / "link").symlink_to(kept)
    remove_tree(str(tmp_path / "gone"))
    remove_tree(str(tmp_path / "link"))
    assert list(tmp_path.iterdir()) == [kept]


def test_a_folder_nested_deeper_than_the_stack_of_python_is_removed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(sys.getrecursionlimit() + 500):
        Path("d").mkdir()
        os.chdir("d")
    os.chdir(tmp_path)
    remove_tree(str(tmp_path / "d"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may list every folder")
def test_a_folder_that_its_owner_may_not_list_is_removed(tmp_path):
    locked = tmp_path / "folder" / "locked"
    locked.mkdir(parents=True)
    (locked / "file").touch()
    locked.chmod(0)
    remove_tree(str(tmp_path / "folder"))
    assert list(tmp_path.iterdir()) == []


def test_removing_an_ordinary_folder_starts_no_program(tmp_path, monkeypatch):
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "below" / "file").touch()
    started = []
    monkeypatch.setattr(
        "arena.players.temporary.run_tool", lambda *command: started.append(command)
    )
    remove_tree(str(tmp_path / "folder"))
    assert (started, list(tmp_path.iterdir())) == ([], [])
