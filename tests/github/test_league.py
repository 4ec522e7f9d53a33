"""The workflow of a league in a repository, as docs/leagues.md has it: which submissions a push to
main places, and where the workflow remembers up to which commit it has placed them.

`arena` is a stand-in that writes down its arguments and copies what is submitted, because placing
takes hundreds of games.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ruamel.yaml import YAML

PAGE = (Path(__file__).parents[2] / "docs" / "leagues.md").read_text()
WORKFLOW = PAGE.split('league.yml"\n')[1].split("```")[0]
PLACE = PAGE.split('```sh title=".github/place.sh"\n')[1].split("```")[0]
SHELL = ("bash", "-e")
"""How GitHub runs a step that names no shell."""
ARENA = """\
#!/bin/sh
echo "$@" >> "$CALLS"
echo played >> results/ladder/games.jsonl
test "$1" = submit || exit "${RUN_STATUS:-0}"
cp -R "$2" bots
exit "${SUBMIT_STATUS:-0}"
"""
IMITATED = f"league: new games up to {'0' * 40}"


def script_of(job, command):
    """The one script of a job in which this command stands."""
    steps = YAML(typ="safe").load(WORKFLOW)["jobs"][job]["steps"]
    [script] = [step["run"] for step in steps if command in step.get("run", "")]
    return script


PLAY = script_of("play", "played.tar")
KEEP = script_of("keep", "played.tar")


class Repository:
    """A league's repository, `origin`, and the checkout of a job in which the steps run."""

    def __init__(self, folder):
        self.folder = folder
        self.checkout = folder / "checkout"
        self.calls = folder / "calls"
        program = folder / "bin" / "arena"
        program.parent.mkdir()
        program.write_text(ARENA)
        program.chmod(0o755)
        self.environment = {
            **os.environ,
            "CALLS": str(self.calls),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            "PATH": os.pathsep.join([str(program.parent), os.environ["PATH"]]),
        }
        self.git("init", "-q", "--bare", "-b", "main", "origin", folder=folder)
        self.check_out()
        self.commit("a league", **{"results/ladder/run.json": "{}", "bots/none": ""})
        self.commit("kept", **{"results/kept-up-to": self.head + "\n", ".github/place.sh": PLACE})

    def check_out(self):
        """Clones `origin` anew, as a job does."""
        shutil.rmtree(self.checkout, ignore_errors=True)
        self.git("clone", "-q", "origin", "checkout", folder=self.folder)

    def git(self, *arguments, folder=None):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=folder or self.checkout,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    @property
    def head(self):
        return self.git("rev-parse", "HEAD")

    @property
    def kept_up_to(self):
        """The commit that the file on origin's main names."""
        return self.git("show", "main:results/kept-up-to", folder=self.folder / "origin")

    def commit(self, subject, **texts):
        """Commits files, whose texts are given by path, and pushes them to main."""
        for path, text in texts.items():
            file = self.checkout / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, newline="")
            self.git("add", "-f", path)
        self.git("commit", "-q", "-m", subject)
        self.git("push", "-q", "origin", "HEAD:main")

    def submit(self, place, subject="a bot"):
        """Commits a submission as AUTHOR/NAME."""
        self.commit(subject, **{f"submissions/{place}/bot.toml": subject})

    def run(self, script, **environment):
        """Exit status and everything that a step's script prints."""
        file = self.folder / "step.sh"
        file.write_text(script)
        done = subprocess.run(
            [*SHELL, str(file)],
            cwd=self.checkout,
            env={**self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def push(self, **environment):
        """What a push to main starts: the step that plays, then the one that keeps. Returns the
        folders that were submitted to the league.
        """
        self.calls.write_text("")
        for script in (PLAY, KEEP):
            status, printed = self.run(script, **environment)
            assert status == 0, printed
        words = [line.split() for line in self.calls.read_text().splitlines()]
        return [line[1] for line in words if line[0] == "submit"]


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


def test_a_push_places_what_was_merged_since_games_were_kept(repository):
    repository.submit("ann/first")
    repository.submit("bea/second")
    played = repository.head
    assert repository.push() == ["submissions/ann/first", "submissions/bea/second"]
    assert repository.kept_up_to == played
    repository.submit("bea/third")
    assert repository.push() == ["submissions/bea/third"]


@pytest.mark.parametrize("status", ["4", "5"])
def test_a_version_that_is_worse_or_not_clearly_better_is_kept(repository, status):
    repository.submit("ann/first")
    assert repository.push(SUBMIT_STATUS=status) == ["submissions/ann/first"]
    assert repository.push() == []


def test_what_could_not_be_placed_is_placed_by_the_next_push(repository):
    repository.submit("ann/first")
    status, _ = repository.run(PLAY, RUN_STATUS="1")
    assert status == 1
    repository.submit("bea/second")
    assert repository.push() == ["submissions/ann/first", "submissions/bea/second"]


def test_a_commit_whose_subject_imitates_that_of_the_league_changes_nothing(repository):
    repository.submit("eve/attack", subject=IMITATED)
    played = repository.head
    assert repository.push() == ["submissions/eve/attack"]
    assert repository.kept_up_to == played
    repository.submit("ann/first")
    assert repository.push() == ["submissions/ann/first"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "0" * 40,
            f"expected a commit before HEAD since which to place submissions, got: {'0' * 40}",
        ),
        ("", "expected 40 hex digits in results/kept-up-to, got: \n"),
        ("HEAD~1\n", "expected 40 hex digits in results/kept-up-to, got: HEAD~1\n"),
        ("--all\n", "expected 40 hex digits in results/kept-up-to, got: --all\n"),
        ("0" * 41, f"expected 40 hex digits in results/kept-up-to, got: {'0' * 41}\n"),
        ("0" * 20 + "\n" + "0" * 19, "expected 40 hex digits in results/kept-up-to"),
        (None, "expected 40 hex digits in results/kept-up-to, got: none\n"),
    ],
)
def test_a_file_without_a_commit_fails_the_job_before_anything_is_played(repository, text, message):
    repository.submit("ann/first")
    file = repository.checkout / "results" / "kept-up-to"
    file.unlink()
    if text is not None:
        file.write_text(text)
    status, printed = repository.run(PLAY)
    assert status == 1
    assert message in printed
    assert not repository.calls.exists()
    assert not (repository.checkout / "played.tar").exists()


def test_a_commit_that_main_does_not_have_fails_the_job(repository):
    repository.git("checkout", "-q", "-b", "other")
    repository.git("commit", "-q", "--allow-empty", "-m", "elsewhere")
    elsewhere = repository.head
    repository.git("checkout", "-q", "main")
    (repository.checkout / "results" / "kept-up-to").write_text(elsewhere)
    status, printed = repository.run(PLAY)
    assert status == 1
    assert f"since which to place submissions, got: {elsewhere}" in printed
    assert not repository.calls.exists()


def test_a_failure_of_git_fails_the_job_that_keeps_the_games(repository):
    repository.submit("ann/first")
    status, printed = repository.run(PLAY)
    assert status == 0, printed
    (repository.checkout / ".git" / "index.lock").touch()
    status, printed = repository.run(KEEP)
    assert status != 0
    assert "index.lock" in printed


def texts_in(folder):
    """The bytes of all files below a folder, by path."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


UPPER = {
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "filter.upper.clean",
    "GIT_CONFIG_VALUE_0": "tr a-z A-Z",
    "GIT_CONFIG_KEY_1": "filter.upper.smudge",
    "GIT_CONFIG_VALUE_1": "tr A-Z a-z",
}
"""The configuration of a machine with a filter, such as that of Git LFS."""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".gitignore", "*\n"),
        (".gitattributes", "* text\n"),
        (".gitattributes", "* text eol=crlf\n"),
        (".gitattributes", "* eol=lf\n"),
        (".gitattributes", "* crlf=input\n"),
        (".gitattributes", "* ident\n"),
        (".gitattributes", "* filter=upper\n"),
        (".gitattributes", "* working-tree-encoding=latin1 text\n"),
        ("more/.gitattributes", "* text\n"),
        ("more/.gitignore", "!*\n*.py\n"),
    ],
)
def test_no_submission_says_how_git_keeps_its_files(repository, name, text):
    repository.environment |= UPPER
    bot = "bots of $Id$ \u00e9\r\n\r\nend\n"
    place = "submissions/eve/ebot"
    files = {f"{place}/bot.toml": "", f"{place}/bot.py": bot, f"{place}/more/a.py": bot}
    repository.commit("a bot", **files)
    repository.commit("attributes", **{f"{place}/{name}": text})
    repository.check_out()
    status, printed = repository.run(PLAY)
    assert status == 0, printed
    played = texts_in(repository.checkout / "bots" / "ebot")
    assert {*played} == {"bot.toml", "bot.py", "more/a.py"}
    archive = (repository.checkout / "played.tar").read_bytes()
    repository.check_out()
    (repository.checkout / "played.tar").write_bytes(archive)
    status, printed = repository.run(KEEP)
    assert status == 0, printed
    repository.check_out()
    assert texts_in(repository.checkout / "bots" / "ebot") == played


def test_the_files_of_the_repository_about_git_change_no_bot(repository):
    rules = {".gitignore": "*.so\n", ".gitattributes": "* text\nbots/** -text\nresults/** -text\n"}
    repository.commit("rules", **rules)
    place = "submissions/ann/first"
    repository.commit("a bot", **{f"{place}/bot.toml": "1\r\n", f"{place}/a.so": "1\r\n2\n"})
    repository.check_out()
    repository.push()
    played = texts_in(repository.checkout / "bots")
    assert b"\n" in played["first/a.so"]
    repository.check_out()
    assert texts_in(repository.checkout / "bots") == played


def test_a_link_in_place_of_a_folder_is_no_submission(repository):
    files = {"bots/ann/bot.toml": "", "bots/ann/.gitignore": "*.log\n"}
    repository.commit("a bot", **files)
    link = repository.checkout / "submissions" / "eve" / "ebot"
    link.parent.mkdir(parents=True)
    link.symlink_to("../../bots/ann")
    repository.git("add", "submissions")
    repository.commit("a link")
    repository.check_out()
    assert repository.push() == []
    repository.check_out()
    assert (repository.checkout / "bots" / "ann" / ".gitignore").exists()
