"""What a reader is told to type works, in the order it stands; how a page says what is in
tests/docs/pages.py.
"""

import re
import shlex
from pathlib import Path

import pytest
from click import Context
from sybil import Document
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

from arena.cli.main import arena
from arena.tournament.removed import REMOVED
from tests.docs.pages import is_like, read_console, run_page

ROOT = Path(__file__).parents[2]
FRONT = ("README.md", "AGENTS.md", "SECURITY.md", "CHANGELOG.md", "results/README.md")
PAGES = [
    *(ROOT / name for name in FRONT),
    *sorted((ROOT / ".github").rglob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "protocol").rglob("*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
STARTED = ("AGENTS.md",)
"""Pages whose commands are started as their readers do; those of the others are forks of a process
that has loaded them, see tests/support/loaded.py.
"""
FEW = 7
"""At most this many blocks of all pages may be skipped."""


@pytest.mark.timeout(1200)  # no test depends on speed: a page plays many games
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_block_runs_in_the_order_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for reason in run_page(page, tmp_path, starts=page.name in STARTED):
        assert len(reason.split()) > 3, f"skipped without a reason: {reason!r}"


def test_few_blocks_are_skipped_and_each_says_why():
    skips = [
        line for page in PAGES for line in re.findall(r"^<!--+ *skip:.*", page.read_text(), re.M)
    ]
    assert [line for line in skips if not re.fullmatch(r'<!-- skip: next "[^"]+" -->', line)] == []
    assert len(skips) <= FEW


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_command_in_the_text_exists_with_its_options(page):
    document = Document(page.read_text(), str(page))
    text = document.text
    for region in FencedCodeBlockLexer(".*")(document):
        text = text.replace(document.text[region.start : region.end], "")
    unreleased = text.partition("\n## [1.0.0]")[0] if page.name == "CHANGELOG.md" else text
    commands_and_options_exist(unreleased, removed=())


def test_every_command_of_a_release_in_the_changelog_exists_or_is_named_with_its_replacement():
    text = (ROOT / "CHANGELOG.md").read_text()
    commands_and_options_exist(text[text.index("\n## [1.0.0]") :], removed=REMOVED)


def commands_and_options_exist(text, removed):
    """Asserts that every command in a text exists with its options, or is one of the removed."""
    for command in re.findall(r"`arena ([a-z][^`]*)`", text):
        name, *words = shlex.split(command)
        if name in removed:
            continue
        found = arena.get_command(Context(arena), name)
        assert found, f"`arena {command}`"
        options = {
            option
            for parameter in found.params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        unknown = used - {*options, "--help"}
        assert {f"{name} {option}" for option in unknown} <= {*removed}, f"`arena {command}`"


def test_every_target_of_make_in_the_text_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    for page in PAGES:
        named = re.findall(r"(?:`|^)make ([a-z][a-z-]*)", page.read_text(), re.M)
        assert set(named) <= targets, page


def test_every_link_to_a_file_of_the_repository_leads_to_one():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            assert "://" in target or (page.parent / target).exists(), f"{page}: {target}"


def test_shown_output_is_compared_as_the_rules_for_pages_say():
    assert is_like("a  b\n", "a b")
    assert not is_like("a b", "a c")
    assert is_like("one\n...\nlast", "one\n2\n3\nlast")
    assert is_like("one\n...\nlast", "one\nlast")
    assert is_like("...\nlast", "one\nlast")
    assert is_like("one\n...", "one")
    assert not is_like("one\n...\nlast", "one\n2\n3")
    assert is_like("took ... ms", "took 3 ms")
    assert not is_like("took ... ms", "took\n3 ms")
    assert not is_like("rank 1", "rank 2")
    assert is_like("rank 1-2 >12.5 +3", "rank 1 -80.25 9", vary=True)


def test_a_console_block_is_commands_and_what_they_print():
    assert read_console("$ one \\\n    two\nout\n$ three\n") == [
        ("one \\\n    two", "out"),
        ("three", ""),
    ]


ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


def test_the_page_on_architecture_names_every_package():
    packages = {init.parent.name for init in (ROOT / "arena").glob("*/__init__.py")}
    for name in packages:
        assert re.search(rf"`{name}[`/]", ARCHITECTURE), name


def test_what_the_page_on_architecture_names_is_there():
    quoted = re.findall(r"`([^`\n]+)`", ARCHITECTURE)
    places = [text for text in quoted if "/" in text and " " not in text]
    assert len(places) > 40, "it says where things are"
    for place in places:
        assert any((folder / place).exists() for folder in (ROOT, ROOT / "arena")), place
    sources = "".join(path.read_text() for path in (ROOT / "arena").rglob("*.py"))
    names = [text for text in quoted if re.fullmatch(r"[A-Z]\w+(\.\w+)?|make_\w+", text)]
    for name in names:
        for part in name.split("."):
            assert re.search(
                rf"(class|def) {part}\b|^{part}\b.*=|import .*\b{part}\b", sources, re.M
            ), name
