"""What a build step can do, which runs before the bot does and may write to the bot's folder."""

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from arena.errors import BotFolderError
from arena.players import process
from arena.players.folder import bot_at
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import stage
from tests.attacks.ground import COMES_S, commands
from tests.attacks.table import ends, is_heard, leaks, spoils

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tiers exist on Linux only")

LIMITS = process.BUILD_LIMITS

BUILDS = {
    # a step: how it is judged, and whether it comes off in bubblewrap, in Landlock, without a
    # sandbox
    "files.py read {secret}": (leaks, False, False, True),
    "files.py read {runfile}": (leaks, False, False, True),
    "files.py append {journal} forged": (spoils, False, False, True),
    "files.py remove_all {rival_folder}": (spoils, False, False, True),
    "files.py create {new}": (spoils, False, False, True),
    # compilers have to change modes, and Landlock does not see where
    "files.py change_mode {journal}": (spoils, False, True, True),
    "others.py environments": (leaks, False, False, False),
    "others.py send {referee} 9": (ends("referee"), False, False, True),
    "network.py tcp {tcp} {mark}": (is_heard, False, False, True),
    "network.py unix {unix} {mark}": (is_heard, False, False, True),
}


def build(ground, line):
    """What the step said; the folder that was staged holds it."""
    step = f"python3 {line.format_map(ground)} > said.txt"
    manifest = (
        f'name = "own"\ncommand = ["python3", "victim.py"]\nbuild = [["sh", "-c", "{step}"]]\n'
    )
    (ground.own / "bot.toml").write_text(manifest)
    ground.before = ground.snapshot()
    staged = stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    return (staged.folder / "said.txt").read_text()


def built_by_script(ground, script):
    """The folder in which a bot plays whose only build step is this script."""
    (ground.own / "make.py").write_text(script)
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["python3", "victim.py"]\nbuild = [["python3", "make.py"]]\n'
    )
    return stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier)).folder


@pytest.mark.parametrize("line", BUILDS)
def test_a_build_that_attacks(ground, line):
    judge, *outcomes = BUILDS[line]
    expected = outcomes[("bubblewrap", "landlock", "none").index(ground.tier)]
    if expected:
        ground.patience_s = COMES_S
    said = build(ground, line)
    assert judge(ground, said) == expected, said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("greedy.py memory 480", "used .* MB of memory"),
        ("greedy.py memory_of_many 480", "used .* MB of memory"),
        ("greedy.py own_folder 80", "its files took|status"),
        ("greedy.py many_files 5000", "files: delete"),
    ],
)
def test_a_build_that_takes_too_much_is_ended(ground, line, words):
    if ground.tier == "none" and "many_files" in line:
        pytest.skip("nobody watches the machine's /tmp")
    with pytest.raises(BotFolderError, match=words):
        build(ground, line)
    assert list((ground.path / "staged").iterdir()) == []


def test_what_a_build_leaves_running_ends_with_it(ground):
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["python3", "victim.py"]\nbuild = [["timeout", "3", "python3",'
        f' "greedy.py", "daemon", "{ground.mark}"]]\n'
    )
    with pytest.raises(BotFolderError, match="status 124"):
        stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    assert commands(ground.mark) == []


def test_a_build_that_speaks_without_end_fills_no_memory(ground):
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["python3", "victim.py"]\nbuild = [["sh", "-c", "yes | head -c'
        ' 300000000; exit 4"]]\n'
    )
    before = _peak_mb()
    with pytest.raises(BotFolderError, match="ended with status 4:\ny") as caught:
        stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    assert len(str(caught.value)) < 4000
    assert _peak_mb() < before + 100


def test_folders_too_deep_to_remove_are_removed(ground):
    line = (
        "cd staged; python3 -c \\\"import os\\nfor _ in range(1200): os.mkdir('deep');"
        " os.chdir('deep')\\\"; exit 5"
    )
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["python3", "victim.py"]\nbuild = [["sh", "-c", "mkdir staged;'
        f' {line}"]]\n'
    )
    with pytest.raises(BotFolderError, match="status 5|files: delete"):
        stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    assert list((ground.path / "staged").iterdir()) == []


NESTED = """
import os
for _ in range({}):
    os.mkdir("{}")
    os.chdir("{}")
"""
HOLES = "for number in range(20): open(f'hole-{number}', 'w').truncate(10 << 20)"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (NESTED.format(900, "d", "d"), "at most 100 levels of folders"),
        # If the keeper looks while the step runs, it counts what it cannot read as too many files.
        (
            NESTED.format(20, "d" * 250, "d" * 250),
            r"files can be read: File name too long|it had \d+ files",
        ),
        (HOLES, "at most 48 MB, got 200 MB"),
    ],
    ids=["levels", "long paths", "holes"],
)
def test_a_build_that_cannot_be_copied_is_refused_before_anything_reads_it(ground, script, words):
    """Deep folders ended the whole run; eight files with a hole of 1 GB each took four minutes."""
    with pytest.raises(BotFolderError, match=words):
        built_by_script(ground, script)
    assert list((ground.path / "staged").iterdir()) == []


@pytest.mark.parametrize("kind", ["S_IFIFO", "S_IFSOCK"])
def test_a_build_leaves_nothing_that_connects_games(ground, kind):
    """A bot may write to a pipe in a folder to which it cannot write."""
    make = f"import os, stat; os.mknod('talk', stat.{kind} | 0o600)"
    hide = "os.mkdir('shut'); os.rename('talk', 'shut/talk'); os.chmod('shut', 0)"
    for script in (make, f"{make}; {hide}"):
        refused = "|make.py' ended with status" if ground.tier == "landlock" else ""
        with pytest.raises(BotFolderError, match=f"(shut/)?talk', a pipe, socket or{refused}"):
            built_by_script(ground, script)
    assert list((ground.path / "staged").iterdir()) == []


def test_what_a_build_leaves_can_be_changed_by_its_owner_only_and_runs_as_whoever_runs_it(ground):
    folder = built_by_script(ground, "import os; os.chmod('victim.py', 0o6777)")
    assert (folder / "victim.py").stat().st_mode & 0o7777 == 0o755


def test_a_build_that_takes_all_rights_to_its_files_away_plays_all_the_same(ground):
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["python3", "victim.py"]\n'
        'build = [["chmod", "0", "victim.py", "."]]\n'
    )
    staged = stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    assert (staged.folder / "victim.py").stat().st_mode & 0o444 == 0o444


def test_a_link_that_a_build_makes_leads_nowhere_in_a_game(ground):
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["python3", "victim.py"]\nbuild = [["ln", "-s",'
        f' "{ground["secret"]}", "link"]]\n'
    )
    ground.own = stage(
        bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier)
    ).folder
    assert leaks(ground, ground.attack("files.py read link")) == (ground.tier == "none")


def test_a_compiler_works_in_the_sandbox(ground):
    """The sandbox is not so strict that nothing can be built."""
    if not any(
        os.access(Path(folder, "cc"), os.X_OK) for folder in os.environ["PATH"].split(os.pathsep)
    ):
        pytest.skip("no C compiler here")
    (ground.own / "main.c").write_text(
        '#include <stdio.h>\nint main(void) { puts("built"); return 0; }\n'
    )
    (ground.own / "bot.toml").write_text(
        'name = "own"\ncommand = ["./main"]\nbuild = [["cc", "-O1", "-o", "main", "main.c"]]\n'
    )
    staged = stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    assert os.access(staged.folder / "main", os.X_OK)


def test_a_rust_bot_is_built_in_the_sandbox(ground, monkeypatch):
    """Its toolchain usually lies in the user's home, which is closed."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    if shutil.which("cargo") is None:
        pytest.skip("no cargo here")
    monkeypatch.setenv("HOME", str(home))
    (ground.own / "src").mkdir()
    (ground.own / "src" / "main.rs").write_text("fn main() {}\n")
    (ground.own / "Cargo.toml").write_text(
        '[package]\nname = "own"\nversion = "1.0.0"\nedition = "2021"\n'
    )
    steps = '[["cargo", "build", "--release", "--offline"], ["rm", "-rf", "target/release/build"]]'
    (ground.own / "bot.toml").write_text(
        f'name = "own"\ncommand = ["target/release/own"]\nbuild = {steps}\n'
    )
    monkeypatch.setattr(process, "BUILD_LIMITS", LIMITS)
    staged = stage(bot_at(ground.own), ground.path / "staged" / "own", Sandbox(ground.tier))
    assert os.access(staged.folder / "target" / "release" / "own", os.X_OK)


def _peak_mb():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
