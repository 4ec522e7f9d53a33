"""What would be published: the sdist and the wheel in dist/, looked into and tried in an empty
folder.

``make release-check`` builds them and runs this; elsewhere there is nothing to look at.
"""

import email
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

import arena
from tests.github.runner import Runner

ROOT = Path(__file__).parents[2]
DIST = Path(os.environ.get("ARENA_DIST", "nothing"))
NATIVE = {
    "arena/rules/native/_core.abi3.so",
    "arena/players/native/_exchange.abi3.so",
    "arena/players/native/keeper",
}
SOURCES = {
    str(path.relative_to(ROOT))
    for pattern in ("*.[ch]", "*.inc")
    for path in (ROOT / "arena").glob(f"*/native/{pattern}")
}
BUILDS = {"LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"} | SOURCES
"""What nobody can build without."""
READS = {
    "AGENTS.md",
    "CHANGELOG.md",
    "Makefile",
    "SECURITY.md",
    "bots/greedy-python/bot.py",
    "protocol/SPEC.md",
}
"""What somebody who has only the sdist wants to read."""
TYPED = (
    "from arena.sdk import Position\n\ndef left(position: Position) -> str:\n    return"
    " position.left\n"
)

pytestmark = pytest.mark.skipif(
    "ARENA_DIST" not in os.environ, reason="make release-check builds what is to be inspected"
)


def tracked(*places):
    done = subprocess.run(
        ["git", "ls-files", *places], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines())


def packaged():
    """What belongs into the wheel: all of arena/ that is tracked, and in place of links what they
    lead to.
    """
    names = tracked("arena")
    for link in [name for name in names if (ROOT / name).is_symlink()]:
        target = (ROOT / link).resolve().relative_to(ROOT)
        names.remove(link)
        names |= {link + name.removeprefix(str(target)) for name in tracked(str(target))}
    return names | NATIVE


def run(*command, folder, **environment):
    given = {**os.environ, **environment}
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=given,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def only(pattern):
    [path] = DIST.glob(pattern)
    return path.resolve()


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(
            archive.read(f"qin_arena-{arena.__version__}.dist-info/METADATA")
        )


@pytest.fixture(scope="module")
def wheel():
    return only("*.whl")


@pytest.fixture(scope="module")
def sdist():
    return only("*.tar.gz")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The programs' folder of a new environment that has the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "-q", wheel, folder=folder)
    return folder / "bin"


@pytest.mark.skipif(
    os.environ.get("GITHUB_REF_TYPE") != "tag", reason="nothing is about to be published"
)
def test_the_tag_names_the_version():
    assert os.environ["GITHUB_REF_NAME"] == f"v{arena.__version__}"


def test_one_wheel_serves_every_python_from_the_oldest_on(wheel):
    assert wheel.name.startswith(f"qin_arena-{arena.__version__}-cp311-abi3-")


def test_the_wheel_holds_the_package_and_its_native_parts_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == packaged()


def test_the_wheel_which_was_made_from_the_sdist_holds_every_file_as_it_stands_here(wheel):
    with zipfile.ZipFile(wheel) as archive:
        packed = {name: archive.read(name) for name in packaged() - NATIVE}
    assert [name for name, content in packed.items() if (ROOT / name).read_bytes() != content] == []


def test_the_sdist_holds_what_builds_and_what_one_reads_and_only_what_is_tracked(sdist):
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if not member.isdir()}
    assert names >= BUILDS | READS
    made = {name for name in names if name in ("PKG-INFO", "setup.cfg") or ".egg-info/" in name}
    assert names - made <= tracked() | packaged()
    assert packaged() - NATIVE <= names


def test_the_metadata_says_where_to_read_on_and_names_only_classifiers_that_exist(wheel):
    from trove_classifiers import classifiers

    metadata = metadata_of(wheel)
    links = {line.partition(", ")[0] for line in metadata.get_all("Project-URL")}
    assert links >= {"Homepage", "Documentation", "Changelog", "Issues"}
    assert set(metadata.get_all("Classifier")) <= set(classifiers)
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11"} <= set(
        metadata.get_all("Classifier")
    )
    assert (metadata["Version"], metadata["License-Expression"]) == (arena.__version__, "MIT")
    assert metadata.get_payload().startswith("# qin-arena")


def test_on_pypi_every_link_of_the_readme_leads_to_a_file_of_this_version(wheel):
    metadata = metadata_of(wheel)
    page = dict(line.split(", ") for line in metadata.get_all("Project-URL"))["Homepage"]
    links = re.findall(r"\]\(([^)#]+)", metadata.get_payload())
    own = {
        link.split("/", maxsplit=7)[7]
        for link in links
        if re.match(f"{page}/(raw|blob)/v{arena.__version__}/", link)
    }
    assert own
    assert {name for name in own if not (ROOT / name).exists()} == set()
    assert [link for link in links if not link.startswith("https://")] == []


def test_the_installed_arena_plays_in_an_empty_folder(installed, tmp_path):
    shown = run(ROOT / ".ci" / "smoke", installed, folder=tmp_path)
    assert f"arena {arena.__version__}, protocol 1, rules core native, Python" in shown
    assert "0 failed" in shown
    assert list(tmp_path.iterdir()) == []


def test_type_checkers_believe_the_types_of_the_installed_arena(installed, tmp_path):
    (tmp_path / "bot.py").write_text(TYPED)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--python-executable",
        installed / "python",
        "--cache-dir",
        tmp_path,
        "bot.py",
    ]
    done = subprocess.run(
        list(map(str, command)), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "import-untyped" not in done.stdout
    assert 'expected "str"' in done.stdout


def test_without_a_compiler_the_sdist_makes_a_wheel_that_plays_with_the_pure_core(
    sdist, installed, tmp_path
):
    run(
        installed / "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        tmp_path,
        sdist,
        folder=tmp_path,
        CC="false",
    )
    [path] = tmp_path.glob("*.whl")
    assert path.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(path) as archive:
        assert not NATIVE & set(archive.namelist())
        archive.extractall(tmp_path / "pure")
    shown = run(installed / "python", "-m", "arena", "--version", folder=tmp_path / "pure")
    assert "rules core pure, Python" in shown


def test_the_action_installs_the_arena_that_it_came_with(tmp_path):
    names = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    for name in names:
        (tmp_path / "action" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "action" / name, follow_symlinks=False)
    runner = Runner(tmp_path, tmp_path / "action" / ".github" / "actions" / "compare")
    venv.create(tmp_path / "python", with_pip=True)
    runner.path = [str(tmp_path / "python" / "bin")]
    runner.commit("random-python")
    runner.commit("greedy-python")
    status, printed, _ = runner.run()
    assert (status, runner.verdict) == (0, "better"), printed
