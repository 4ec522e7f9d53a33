"""The workflows: valid by their schema, and calling nothing that is not here."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from arena import __version__

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = {
    path.name: YAML(typ="safe").load(path) for path in sorted((GITHUB / "workflows").glob("*.yml"))
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40}  # v[\d.]+")
OURS = "uses: qin-arena/qin-arena/"
LEAGUE = (ROOT / "docs" / "leagues.md").read_text().split('league.yml"\n')[1].split("```")[0]


def jobs():
    return [
        (f"{name} {key}", job)
        for name, workflow in WORKFLOWS.items()
        for key, job in workflow["jobs"].items()
    ]


def steps():
    return [(where, step) for where, job in jobs() for step in job["steps"]]


@pytest.mark.parametrize(
    ("schema", "pattern"),
    [
        ("github-workflows", "workflows/*.yml"),
        ("github-actions", "actions/*/action.yml"),
        ("dependabot", "dependabot.yml"),
    ],
)
def test_the_files_keep_to_their_schemas(schema, pattern):
    files = [str(path) for path in GITHUB.glob(pattern)]
    assert files
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        f"vendor.{schema}",
        *files,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_they_run_is_here():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    called = "\n".join(step["run"] for _, step in steps() if "run" in step)
    called += (ROOT / ".ci" / "run").read_text() + PROJECT["tool"]["cibuildwheel"]["test-command"]
    assert set(re.findall(r"\bmake ([a-z-]+)", called)) - targets == set()
    for program in re.findall(r"\.ci/[a-z-]+", called):
        assert os.access(ROOT / program, os.X_OK), program


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here: apt install make")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", []),
        ("-k a or b", ["--once", "-k", "a or b"]),
        ("-k 'a or b'", ["--once", "-k", "a or b"]),
        ('-k "a or b" tests/rules', ["--once", "-k", "a or b", "tests/rules"]),
        (
            "tests/rules -k a or not b and c -x",
            ["--once", "tests/rules", "-k", "a or not b and c", "-x"],
        ),
        ("-k not a", ["--once", "-k", "not a"]),
        ("-k a tests/rules", ["--once", "-k", "a", "tests/rules"]),
    ],
)
def test_make_test_picks_the_tests_that_were_meant_with_quotes_or_without(
    tmp_path, arguments, words
):
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text('#!/bin/sh\nfor word; do echo "$word"; done\n')
    python.chmod(0o755)
    for mark in (".made", ".ready-dev"):
        (tmp_path / mark).touch()
    out = subprocess.run(
        ["make", "-s", "test", f"VENV={tmp_path}", f"ARGS={arguments}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out.splitlines() == [".ci/suite", *words]


def test_actions_are_pinned_by_their_commit_here_and_where_we_tell_people_to_use_them():
    files = [*GITHUB.rglob("*.yml"), *GITHUB.rglob("*.md"), ROOT / "docs" / "leagues.md"]
    lines = [line for file in files for line in re.findall(r"uses: .*", file.read_text())]
    foreign = [line for line in lines if not line.startswith(OURS)]
    assert len(foreign) > 10
    assert [line for line in foreign if not PINNED.fullmatch(line)] == []


def test_the_league_in_a_repository_plays_in_a_job_without_rights():
    workflow = YAML(typ="safe").load(LEAGUE)
    assert workflow["permissions"] == {"contents": "read"}
    play, keep = (workflow["jobs"][name] for name in ("play", "keep"))
    assert "permissions" not in play
    assert all(
        not step["with"]["persist-credentials"]
        for step in play["steps"]
        if "checkout" in step.get("uses", "")
    )
    assert keep["permissions"] == {"contents": "write"}
    assert "arena" not in " ".join(step.get("run", "") for step in keep["steps"])
    installed = re.findall(r"pip install (\S+)", LEAGUE)
    release = __version__.partition(".dev")[0]
    assert installed == [f"qin-arena=={release}"]


def test_jobs_may_read_only_have_an_end_and_paste_no_value_into_a_script():
    for name, workflow in WORKFLOWS.items():
        assert workflow["permissions"] == {"contents": "read"}, name
    for where, job in jobs():
        assert job["timeout-minutes"] <= 60, where
    for where, step in steps():
        assert "${{" not in step.get("run", ""), where


def test_tests_run_on_the_oldest_and_the_newest_python_that_the_package_names():
    prefix = "Programming Language :: Python :: 3."
    named = [
        f"3.{line.removeprefix(prefix)}"
        for line in PROJECT["project"]["classifiers"]
        if line.startswith(prefix)
    ]
    assert WORKFLOWS["ci.yml"]["jobs"]["test"]["strategy"]["matrix"]["python"] == [
        named[0],
        named[-1],
    ]
    assert PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_the_site_is_published_from_where_it_is_built():
    [folder] = re.findall(r"^site_dir: (.+)", (ROOT / "mkdocs.yml").read_text(), re.M)
    [upload] = [step for _, step in steps() if "upload-pages-artifact" in step.get("uses", "")]
    assert upload["with"]["path"] == folder


@pytest.mark.parametrize(
    ("platform", "machine"),
    [("linux", "x86_64"), ("linux", "aarch64"), ("macos", "x86_64"), ("macos", "arm64")],
)
def test_one_wheel_is_built_for_each_platform(platform, machine):
    pytest.importorskip("cibuildwheel")
    command = [
        sys.executable,
        "-m",
        "cibuildwheel",
        "--print-build-identifiers",
        "--platform",
        platform,
        "--archs",
        machine,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    [identifier] = done.stdout.split()
    assert identifier.startswith("cp311-")
