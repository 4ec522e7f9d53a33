"""A stand-in for the machine on which the action for a bot's own repository runs: its shell steps,
one after another.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "actions" / "compare"
ACTION = YAML(typ="safe").load(FOLDER / "action.yml")
STEPS = {step["id"]: step for step in ACTION["runs"]["steps"] if "run" in step}
SHELL = ("bash", "--noprofile", "--norc", "-eo", "pipefail")
EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
QUICK = {"path": "bot", "elo1": "200", "move-ms": "5000", "sandbox": "auto"}


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
        identity = (
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "protocol.file.allow=always",
        )
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=folder or self.workspace,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, bot, **changes):
        """Commits one of the ladder's bots as `bot/`; returns the commit."""
        if bot:
            shutil.copytree(ROOT / "bots" / bot, self.workspace / "bot", dirs_exist_ok=True)
            (self.workspace / "bot" / "bot.toml").write_text(
                'name = "mine"\nversion = "1"\ncommand = ["python3", "bot.py"]\n'
            )
        for name, text in changes.items():
            (self.workspace / name.replace("__", "/").replace("_", ".")).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a version")
        return self.git("rev-parse", "HEAD")

    def valued(self, text, inputs):
        """The text with each ${{ expression }} as a runner fills it in: inputs, events, outputs of
        steps, and || between them.
        """

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
        """Runs the steps until one fails; returns the exit status, all that was printed, and the
        job summary.
        """
        inputs = (
            {name: settings["default"] for name, settings in ACTION["inputs"].items()}
            | QUICK
            | given
        )
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
            lines = [
                line.partition("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines()
            ]
            self.outputs |= {f"{name}.outputs.{key}": text for key, _, text in lines}
            files["GITHUB_OUTPUT"].write_text("")
            if done.returncode:
                break
        return done.returncode, printed, files["GITHUB_STEP_SUMMARY"].read_text()

    @property
    def verdict(self):
        return self.outputs.get("compare.outputs.verdict")
