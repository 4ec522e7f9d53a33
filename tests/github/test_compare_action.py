"""The action for a bot's own repository: its shell steps, run as a runner would, in a git repository made for it."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "actions" / "compare"
ACTION = YAML(typ="safe").load(FOLDER / "action.yml")
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "run" in step}
INSTALLED = "install"
"""The step that the tests leave out, since they have an arena; only `make release-check` takes it too."""
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
QUICK = {"path": "bot", "elo1": "200", "move-ms": "5000", "sandbox": "auto"}
GREEDY, RANDOM = "greedy-python", "random-python"


class Runner:
    """A machine that checked out a bot's repository, and runs the steps of the action in it."""

    def __init__(self, folder, action=FOLDER):
        self.folder, self.action = folder, action
        self.workspace, self.temp = folder / "repository", folder / "temp"
        self.workspace.mkdir()
        self.temp.mkdir()
        self.outputs, self.event = {}, {}
        self.path = [str(Path(sys.executable).parent)]
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments, folder=None):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
        done = subprocess.run(["git", *identity, *arguments], cwd=folder or self.workspace, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, bot, **changes):
        """Commits one of the ladder's bots as `bot/`; returns the commit."""
        if bot:
            shutil.copytree(ROOT / "bots" / bot, self.workspace / "bot", dirs_exist_ok=True)
            (self.workspace / "bot" / "bot.toml").write_text('name = "mine"\nversion = "1"\ncommand = ["python3", "bot.py"]\n')
        for name, text in changes.items():
            (self.workspace / name.replace("__", "/").replace("_", ".")).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a version")
        return self.git("rev-parse", "HEAD")

    def valued(self, text, inputs):
        """The text with each ${{ expression }} as a runner fills it in: inputs, events, outputs of steps, and || between them."""

        def value(expression):
            for term in expression.split(" || "):
                kind, _, name = term.partition(".")
                known = {"inputs": inputs, "github": self.event, "steps": self.outputs}[kind]
                assert kind != "inputs" or name in inputs, f"no input {name}"
                if known.get(name):
                    return known[name]
            return ""

        return EXPRESSION.sub(lambda found: value(found[1]), text)

    def run(self, *left_out, **given):
        """Runs the steps until one fails; returns the exit status, all that was printed, and the job summary."""
        inputs = {name: settings["default"] for name, settings in ACTION["inputs"].items()} | QUICK | given
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in files.values():
            file.write_text("")
        printed = ""
        for name, step in STEPS.items():
            if name in left_out:
                continue
            (self.folder / "step.sh").write_text(step["run"])
            environment = {
                **os.environ,
                **{key: self.valued(text, inputs) for key, text in step["env"].items()},
                **{key: str(file) for key, file in files.items()},
                "GITHUB_ACTION_PATH": str(self.action),
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(self.temp),
                "PATH": os.pathsep.join([*self.path, os.environ["PATH"]]),
            }
            done = subprocess.run(
                [*SHELL, str(self.folder / "step.sh")],
                cwd=self.workspace,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=280,
                check=False,
            )
            printed += done.stdout
            lines = [line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines()]
            self.outputs |= {f"{name}.outputs.{key}": text for key, _, text in lines}
            files["GITHUB_OUTPUT"].write_text("")
            if done.returncode:
                break
        return done.returncode, printed, files["GITHUB_STEP_SUMMARY"].read_text()

    @property
    def verdict(self):
        return self.outputs.get("compare.outputs.verdict")


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path)


def test_a_better_version_is_checked_compared_and_told_in_the_summary(runner):
    old = runner.commit(RANDOM)
    runner.commit(GREEDY)
    runner.event = {"event.before": old}
    status, printed, summary = runner.run(INSTALLED)
    assert (status, runner.verdict) == (0, "better"), printed
    assert "    mine: " in summary
    assert "steps passed, 0 failed" in summary
    assert f"Against the version of {old[:9]}: **better**" in summary
    assert "    LLR " in summary
    assert (Path(runner.outputs["compare.outputs.run"]) / "games.jsonl").is_file()


def test_a_version_that_is_not_better_fails_the_job_unless_told_otherwise(runner):
    runner.commit(GREEDY)
    runner.commit(RANDOM)
    status, printed, summary = runner.run(INSTALLED, "check")
    assert (status, runner.verdict) == (4, "not-better"), printed
    assert "**not better**" in summary
    assert "::error::not better" in printed
    assert runner.run(INSTALLED, "check", **{"fail-on": "undecided"})[0] == 0


def test_a_repository_that_is_the_bot_may_ask_for_no_loss_instead_of_a_gain(runner):
    for bot in (RANDOM, GREEDY):
        shutil.copy(ROOT / "bots" / bot / "bot.py", runner.workspace)
        runner.commit(None, bot_toml='name = "mine"\nversion = "1"\ncommand = ["python3", "bot.py"]\n')
    status, printed, _ = runner.run(INSTALLED, "check", path=".", elo0="-200", elo1="0")
    assert (status, runner.verdict) == (0, "better"), printed


def test_an_undecided_comparison_passes_unless_told_otherwise(runner):
    runner.commit(RANDOM)
    runner.commit(GREEDY)
    asked = {"elo1": "1", "max-blocks": "1", "options": "--boards bird\n--seed 1"}
    status, printed, summary = runner.run(INSTALLED, "check", **asked)
    assert (status, runner.verdict) == (0, "undecided"), printed
    assert "**undecided**" in summary
    assert runner.run(INSTALLED, "check", **asked, **{"fail-on": "not-better,undecided"})[0] == 5


def test_a_bot_that_fails_the_check_fails_the_job_before_anything_is_compared(runner):
    runner.commit(RANDOM)
    runner.commit(RANDOM, bot__bot_py="print('ready when you are')\n")
    status, printed, summary = runner.run(INSTALLED)
    assert status == 1
    assert "::error::arena check failed" in printed
    assert "    FAIL  " in summary
    assert "    " + "      cure: " in summary
    assert runner.verdict is None


def test_a_bot_that_did_not_change_or_only_its_version_is_not_compared(runner):
    old = runner.commit(RANDOM)
    runner.commit(None, notes_md="more to read")
    assert runner.run(INSTALLED, "check")[0] == 0
    assert runner.verdict == "same"
    runner.commit(None, bot__bot_toml='name = "mine"\nversion = "2"\ncommand = ["python3", "bot.py"]\n')
    status, _, summary = runner.run(INSTALLED, "check", base=old)
    assert (status, runner.verdict) == (0, "same")
    assert old[:9] in summary


def test_a_bot_without_an_earlier_version_is_not_compared(runner):
    runner.event = {"event.before": "0" * 40}
    runner.commit(RANDOM)
    assert runner.run(INSTALLED, "check")[0] == 0
    assert runner.verdict == "new"
    runner.git("rm", "-rq", "bot")
    runner.commit(None)
    runner.commit(RANDOM)
    assert runner.run(INSTALLED, "check")[0] == 0
    assert runner.verdict == "new"


def test_a_shallow_checkout_fetches_the_base_it_lacks(runner, tmp_path):
    old = runner.commit(RANDOM)
    runner.git("branch", "stable")
    runner.commit(RANDOM, notes_md="more to read")
    shallow = tmp_path / "shallow"
    runner.git("config", "uploadpack.allowAnySHA1InWant", "true")
    runner.git("clone", "-q", "--depth", "1", runner.workspace.as_uri(), str(shallow))
    runner.workspace = shallow
    for base in (old, "stable", ""):
        runner.outputs = {}
        status, printed, _ = runner.run(INSTALLED, "check", base=base)
        assert (status, runner.outputs.get("base.outputs.commit"), runner.verdict) == (0, old, "same"), printed


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"path": "elsewhere"}, "expected a bot at elsewhere"),
        ({"base": "no-such-branch"}, "expected a commit, tag or branch as base, got no-such-branch, which neither"),
        ({"fail-on": "worse"}, "expected not-better or undecided in the input fail-on, got worse"),
    ],
)
def test_what_is_wrong_with_the_inputs_is_said(runner, given, error):
    runner.commit(RANDOM)
    status, printed, _ = runner.run(INSTALLED, "check", **given)
    assert status in (1, 2)
    assert f"::error::{error}" in printed


def test_no_step_pastes_a_value_into_its_script():
    """Values reach scripts as variables: pasted in, the name of a branch could run as a program."""
    for step in STEPS.values():
        assert "${{" not in step["run"], step["name"]
        assert step["shell"] == "bash"


def test_every_input_is_used_and_in_the_readme():
    text = (FOLDER / "action.yml").read_text()
    readme = (FOLDER / "README.md").read_text()
    for name in ACTION["inputs"]:
        assert f"${{{{ inputs.{name} " in text, name
        assert f"`{name}`" in readme, name


@pytest.mark.skipif("ARENA_DIST" not in os.environ, reason="part of make release-check: it installs an arena")
def test_the_action_installs_the_arena_that_it_came_with(tmp_path):
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name in names:
        (tmp_path / "action" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / "action" / name)
    runner = Runner(tmp_path, tmp_path / "action" / ".github" / "actions" / "compare")
    venv.create(tmp_path / "python", with_pip=True)
    runner.path = [str(tmp_path / "python" / "bin")]
    runner.commit(RANDOM)
    runner.commit(GREEDY)
    status, printed, _ = runner.run()
    assert (status, runner.verdict) == (0, "better"), printed
