"""The workflows: valid by their schema, and calling nothing that is not here."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = {
    path.name: YAML(typ="safe").load(path) for path in sorted((GITHUB / "workflows").glob("*.yml"))
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = re.compile(r"(v\d+|release/v\d+)")


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


def test_actions_are_pinned_to_a_major_version():
    for where, step in steps():
        if "uses" in step:
            assert VERSION.fullmatch(step["uses"].partition("@")[2]), f"{where}: {step['uses']}"


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
