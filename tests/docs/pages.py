"""Pages whose code blocks run in the order they stand, in one home that starts empty.

Sybil finds the blocks. What a block is, the word after its fence says:

``console``          a line that begins with ``$`` is a command for bash, and the lines below it are
                     what it prints: its output, or its output and then its errors. A line ``...``
                     stands for any lines, ``...`` in a line for any text
``sh``               commands alone; what they print is not compared
``python``           runs with the names of the blocks before it; after ``>>>``, what is shown is
                     compared
``json``, ``toml``   must be well formed
``text``             a drawing or a form, which nothing can run

and `ELSEWHERE` are the kinds of protocol/ and .github/, which have tests of their own.

A block with ``title="my-bot/bot.py"`` is a file, and is written there. Comments above a block say
what its text cannot:

``<!-- exit status 4 -->``             how the last command ends; 0 otherwise
``<!-- typed: a1 | quit -->``          what a person types, line by line
``<!-- published: league-2 -->``       the home has this run of the repository's in results/
``<!-- skip: next "the reason" -->``   is not run

``python -m tests.docs.pages docs/first-bot.md`` runs a page and writes today's figures into it:
wherever what is shown differs from what was printed in its numbers alone, the page gets the lines
that were printed. The command names each block that differs in more than that.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path
from unittest import SkipTest

import msgspec
from sybil import Document, Region
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer

from tests.support.commandline import without_waiting
from tests.support.loaded import loaded_arena

INFO = re.compile(r'(?P<language>\w*)(?: title="(?P<title>[^"]+)")?[ \t]*\n')
COMMENTS = re.compile(r"(?:^<!--[^\n]*-->\n)*\Z", re.M)
NUMBER = r"(?:[<>~?][ \t]*)?[+-]?\d+(?:[-:.,/]\d+)*"
FIGURE = re.compile(rf"{NUMBER}(?:[ \t]+{NUMBER})*")
"""A figure, or several in a row: the numbers of an axis are as many as there is room for."""
BAR = re.compile(r"[├┤─●┊◄►]+")
LONGEST_S = 240
ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
ELSEWHERE = {
    "dialogue",
    "squares",
    "tiles",
    "moves",
    "order",
    "deck",
    "diagram",
    "positions",
    "yaml",
}


class Shell:
    """The terminal of one reader: folder and variables last from one command to the next.

    ``arena`` is a fork of a process that has loaded it; if ``starts``, the installed command.
    """

    def __init__(self, home, *, starts=False):
        self.home = self.folder = home
        installed = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
        self.variables = {"PATH": installed, "HOME": str(home)}
        self.variables |= {"LANG": "C.UTF-8", "NO_COLOR": "1", "COLUMNS": "140", "EDITOR": "true"}
        if not starts:
            launchers = home.with_name("launchers")
            loaded_arena(self.variables).write_launcher(launchers)
            self.variables["PATH"] = f"{launchers}:{installed}"

    def show_published(self, name):
        """Makes a published run one of the home's."""
        link = self.home / "results" / name
        link.parent.mkdir(exist_ok=True)
        if not link.exists():
            link.symlink_to(RESULTS / name)

    def run(self, script, *, typed="", status=0):
        """What the script prints: its output, and its errors. Raises AssertionError when it ends
        with another status.
        """
        kept = self.home.with_name("shell")
        kept.touch()
        script = (
            f"trap 'pwd >{kept}; env -0 >>{kept}; jobs -p | xargs -r kill || true' EXIT\n{script}"
        )
        process = subprocess.Popen(
            ["bash", "-ec", script],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            out, err = process.communicate(typed, timeout=LONGEST_S)
        finally:
            process.kill()
        assert process.returncode == status, (
            f"expected exit status {status}, got {process.returncode}\n{script}\n{out}{err}"
        )
        folder, _, variables = kept.read_text().partition("\n")
        self.folder = Path(folder)
        self.variables = dict(pair.split("=", 1) for pair in variables.split("\0") if pair)
        return out, without_waiting(err)


def read_console(source):
    """The commands of a block, each with what it is shown to print."""
    steps = []
    for line in source.splitlines():
        if line.startswith("$ "):
            steps.append([line[2:], []])
        elif not steps[-1][1] and (steps[-1][0].endswith("\\") or line.startswith("> ")):
            steps[-1][0] += "\n" + line.removeprefix("> ")
        else:
            steps[-1][1].append(line)
    return [(command, "\n".join(shown).strip("\n")) for command, shown in steps]


def is_like(shown, printed, *, vary=False):
    """Whether something was printed as shown, the amount of white space aside; ``vary``: numbers
    too.
    """
    shown, printed = (
        re.sub(r"[ \t]+", " ", re.sub(r"[ \t]*$", "", text, flags=re.M)).strip()
        for text in (shown, printed)
    )
    if vary:
        shown, printed = (re.sub(r"[ \t]+", " ", BAR.sub("", text)) for text in (shown, printed))
        shown, printed = FIGURE.sub("#", shown), FIGURE.sub("#", printed)
    pattern = re.escape(shown).replace("\\\n", "\n").replace(r"\.\.\.", "...")
    pattern = re.sub(r"\A\.\.\.\n", r"(?:[\\s\\S]*\\n)?", pattern)
    pattern = re.sub(r"\n\.\.\.$", r"(?:\\n[\\s\\S]*?)?", pattern, flags=re.M)
    return re.fullmatch(pattern.replace("...", ".*?"), printed) is not None


def with_figures_of(shown, printed):
    """The text that a page shows, with the lines of the printed text that differ from it in their
    numbers alone; None if the texts differ in more than numbers. Lines with ``...`` stay.
    """
    if not is_like(shown, printed, vary=True):
        return None
    lines = []
    rest = printed.splitlines()
    for line in shown.splitlines():
        if "..." in line:
            lines.append(line)
            continue
        found = next(n for n, other in enumerate(rest) if is_like(line, other, vary=True))
        lines.append(rest[found].rstrip())
        del rest[: found + 1]
    return "\n".join(lines)


class Blocks:
    """A parser for Sybil that gives every block of a page to the evaluator of its kind.

    ``replacements``: None, or a dict that gets ``{text of a block: its text with the figures that
    were printed}`` where an assertion would fail otherwise.
    """

    def __init__(self, shell, replacements=None):
        self.shell = shell
        self.replacements = replacements
        self.lexer = RawFencedCodeBlockLexer(INFO)
        self.kinds = dict.fromkeys({*ELSEWHERE, "text"}, lambda _: None)
        self.kinds |= {"console": self.console, "sh": self.sh}
        self.kinds |= {
            "json": self.json,
            "toml": lambda example: tomllib.loads(example.parsed) and None,
        }

    def __call__(self, document):
        for region in self.lexer(document):
            language, title = region.lexemes["language"], region.lexemes["title"]
            if language == "python" and not title:
                continue  # a parser of Sybil's own takes it
            assert title or language in self.kinds, (
                f"{document.path}: a block of kind {language!r},"
                f" {document.line_column(region.start)}"
            )
            run = self.file if title else self.kinds[language]
            yield Region(region.start, region.end, region.lexemes["source"], run, region.lexemes)

    def comments(self, example):
        return COMMENTS.search(example.document.text[: example.region.start])[0]

    def console(self, example):
        comments = self.comments(example)
        for name in re.findall(r"<!-- published: (\S+) -->", comments):
            self.shell.show_published(name)
        typed, status = (
            re.search(r"<!-- typed: (.*?) -->", comments),
            re.search(r"<!-- exit status (\d+) -->", comments),
        )
        steps = read_console(example.parsed)
        for number, (command, shown) in enumerate(steps, 1):
            is_last = number == len(steps)
            lines = (
                "".join(f"{line.strip()}\n" for line in typed[1].split("|"))
                if typed and is_last
                else ""
            )
            out, err = self.shell.run(
                command, typed=lines, status=int(status[1]) if status and is_last else 0
            )
            prints = (out, out + err, err)
            if not shown or any(is_like(shown, printed) for printed in prints):
                continue
            if self.replacements is not None:
                replacements = [with_figures_of(shown, printed) for printed in prints]
                if any(replacements):
                    self.replacements[shown] = next(filter(None, replacements))
                    continue
            raise AssertionError(
                f"line {example.line}: $"
                f" {command}\nshown:\n{shown}\n\nprinted:\n{out}\nerrors:\n{err}"
            )

    def sh(self, example):
        status = re.search(r"<!-- exit status (\d+) -->", self.comments(example))
        self.shell.run(example.parsed, status=int(status[1]) if status else 0)

    def file(self, example):
        path = self.shell.folder / example.region.lexemes["title"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(example.parsed)

    def json(self, example):
        for line in (
            example.parsed.strip().splitlines() if "\n{" in example.parsed else [example.parsed]
        ):
            msgspec.json.decode(str(line))


def run_page(page, folder, *, starts=False, replacements=None, failures=None):
    """Runs every block of a page in a home of its own below ``folder``, see `Shell`; returns the
    reasons of those that were skipped. ``replacements``: see `Blocks`. ``failures``: None, or a
    list that gets what is wrong with each block, in place of the first AssertionError.
    """
    home = folder / "home"
    home.mkdir()
    shell = Shell(home, starts=starts)
    parsers = (
        SkipParser(),
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        Blocks(shell, replacements),
    )
    reasons = []
    for example in Document.parse(str(page), *parsers):
        os.chdir(shell.folder)
        try:
            example.evaluate()
        except SkipTest as reason:
            reasons.append(str(reason))
        except AssertionError as failure:
            if failures is None:
                raise
            failures.append(str(failure))
    return reasons


def write_figures(page):
    """Runs a page, writes today's figures into it, and prints what differs in more than numbers."""
    replacements = {}
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        run_page(page, home, replacements=replacements, failures=failures)
        os.chdir(ROOT)
    text = page.read_text()
    for shown, printed in replacements.items():
        text = text.replace(shown, printed)
    page.write_text(text)
    print(f"{page}: {len(replacements)} blocks have new figures, {len(failures)} differ in more")
    for failure in failures:
        print(f"\n{failure}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_figures(Path(name).resolve())
