"""What people and agents read first names only what is here."""

import re
from pathlib import Path

import pytest

from arena.cli.main import COMMANDS, arena

ROOT = Path(__file__).parents[2]
PAGES = ["AGENTS.md", "SECURITY.md", "CHANGELOG.md", ".github/CONTRIBUTING.md", ".github/actions/compare/README.md"]
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#]+)", path.read_text()):
        assert link.startswith("https://") or (path.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_their_options_exist(page):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    for block in FENCED.findall((ROOT / page).read_text()):
        for line in block.splitlines():
            program, *words = line.partition("#")[0].split() or [""]
            if program == "make":
                assert words[0] in targets, line
            elif program == "arena":
                assert words[0] in COMMANDS, line
                command = arena.get_command(None, words[0])
                options = {option for parameter in command.params for option in parameter.opts}
                assert {word for word in words if word.startswith("-")} <= options, line
