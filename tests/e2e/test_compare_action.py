"""The action for a bot's own repository: its shell steps, run as a runner would, in a git
repository made for it.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.github.runner import ACTION, FOLDER, ROOT, STEPS, Runner
from tests.support.loaded import loaded_arena

INSTALLED = "install"
"""The step that is left out here, where an arena is installed;
`make release-check` takes it too.
"""
GREEDY, RANDOM = "greedy-python", "random-python"


@pytest.fixture
def runner(tmp_path):
    """A machine whose command `arena` is a fork of a process that has loaded it."""
    made, launchers = Runner(tmp_path), tmp_path / "launchers"
    loaded_arena(os.environ).write_launcher(launchers)
    made.path.insert(0, str(launchers))
    return made


def test_a_better_version_is_checked_compared_and_told_in_the_summary(runner):
    old = runner.commit(RANDOM)
    runner.commit(GREEDY)
    runner.event = {"event.before": old}
    status, printed, summary = runner.run(INSTALLED)
    assert (status, runner.verdict) == (0, "better"), printed
    assert "    mine: " in summary
    assert "steps passed, 0 failed" in summary
    assert f"Against the version of {old[:9]}: **better**" in summary
    assert re.search(r"    .* against .*: better\n", summary)
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
        runner.commit(
            None, bot_toml='name = "mine"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'
        )
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
    runner.commit(
        None, bot__bot_toml='name = "mine"\nversion = "2"\ncommand = ["python3", "bot.py"]\n'
    )
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
        assert (status, runner.outputs.get("base.outputs.commit"), runner.verdict) == (
            0,
            old,
            "same",
        ), printed


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"path": "elsewhere"}, "expected a bot at elsewhere"),
        (
            {"base": "no-such-branch"},
            "expected a commit, tag or branch as base, got no-such-branch, which neither",
        ),
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
