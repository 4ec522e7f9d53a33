"""protocol/RULES.md and the rules read from it: every number is there, and every number that is
named anywhere leads to one.
"""

import re
import subprocess
import sys
import tomllib

import pytest

from arena.errors import UserError
from arena.rules.explain import cited, every_rule, explained, find_rules, rulebook, where_to_read
from tests.protocol.vectors import lines
from tests.support.commandline import ROOT

NUMBERS = [
    "R1.1", "R1.2", "R1.3", "R1.4", "R1.5", "R2.1", "R2.2", "R3.1", "R3.2", "R4.1", "R4.2", "R4.3",
    "R4.4", "R4.5",
    "R5.1", "R5.2", "R5.3", "R5.4", "R5.5", "R5.6", "R6.1", "R6.2", "R6.3", "R6.4", "R7.1", "R7.2",
    "R8.1", "R8.2", "R8.3",
]  # fmt: skip
"""They are permanent: a number is never given to another rule, and never taken away."""

RULINGS = {"R1.4", "R3.2", "R4.4", "R5.6"}
"""Decided by us; so is all of R7."""

TEXT = (ROOT / "protocol" / "RULES.md").read_text(encoding="utf-8")
NAMED = re.compile(r"\bR[1-9]\.\d\b")
UNUSED = {"R4.9", "R9.1"}
"""What tests ask for that is not there."""


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("expected a checkout of the repository")
    return [
        ROOT / name
        for name in listed.stdout.decode().split("\0")
        if name and not name.endswith(".gz")
    ]


def test_every_rule_has_its_number_and_its_text():
    assert list(every_rule()) == NUMBERS
    assert all(
        len(rule.text) > 60 and rule.text.endswith((".", ")")) for rule in every_rule().values()
    )
    assert [part.number for part in rulebook().parts] == [f"R{number}" for number in range(1, 9)]


def test_every_anchor_has_text_and_every_rule_an_anchor():
    anchors = re.findall(r'<a id="(\w+)"></a>', TEXT)
    assert anchors == sorted(anchors)
    rules = [number.lower().replace(".", "") for number in NUMBERS]
    assert anchors == sorted([*rules, *(f"r{part}" for part in range(1, 9))])
    for number in range(1, 9):
        assert re.search(rf'^<a id="r{number}"></a>\n\n## R{number} \w', TEXT, re.M)
    for number in NUMBERS:
        assert f'<a id="{number.lower().replace(".", "")}"></a>**{number}** ' in TEXT


def test_every_rule_that_is_named_anywhere_is_in_the_rules():
    named = {}
    for path in tracked():
        if path.is_file():
            for number in NAMED.findall(path.read_bytes().decode("utf-8", "replace")):
                named.setdefault(number, path.relative_to(ROOT))
    assert len(named) > 20
    assert {number: path for number, path in named.items() if number not in NUMBERS} == {
        number: path for number, path in named.items() if number in UNUSED
    }


@pytest.mark.parametrize(
    "code", ["import arena.sdk", "import arena.rules", "from arena.cli import main; main()"]
)
def test_the_rules_are_read_when_they_are_asked_for_and_not_before(code):
    told = (
        "module = sys.modules.get('arena.rules.explain');"
        "print(bool(module and module.rulebook.cache_info().misses), file=sys.stderr)"
    )
    probe = f"import sys\nsys.argv = ['arena', '--help']\ntry:\n    {code}\nfinally:\n    {told}"
    assert (
        subprocess.run(
            [sys.executable, "-c", probe], capture_output=True, text=True, check=True
        ).stderr.strip()
        == "False"
    )


def test_what_travels_in_the_package_is_what_the_protocol_says():
    folder = ROOT / "arena" / "rules"
    assert (folder / "RULES.md").resolve() == ROOT / "protocol" / "RULES.md"
    assert (
        folder / "positions.jsonl"
    ).resolve() == ROOT / "protocol" / "vectors" / "positions.jsonl"
    packaged = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"][
        "package-data"
    ]["arena.rules"]
    assert {"RULES.md", "positions.jsonl"} <= set(packaged)


def test_the_rulings_are_marked_and_give_a_reason():
    for rule in every_rule().values():
        assert any(text.startswith("Our ruling") for text in rule.paragraphs) == (
            rule.number in RULINGS
        )
    assert rulebook().parts[6].preface.startswith("Our ruling, because")


def test_the_game_is_told_in_five_sentences_and_begins_with_the_goal(snapshot):
    sentences = re.findall(r"[^.]+\.", rulebook().summary)
    assert len(sentences) == 5
    assert sentences[0] == snapshot


def test_rules_that_change_the_board_show_it_before_and_after():
    about = {line["name"]: line for line in lines("positions")}
    shown = {
        rule.number: [about[picture.name] for picture in rule.pictures]
        for rule in every_rule().values()
    }
    for number in NUMBERS:
        if number[1] in "34567" and number != "R3.2":  # who passes changes nothing
            assert shown[number], number
    for number in ("R4.1", "R4.2", "R4.3", "R4.4"):
        assert number in shown[number][0]["illegal"]
    for number in NUMBERS:
        if number[1] in "5678":
            assert all(
                number in line["rules"] and line["after"] != line["position"]
                for line in shown[number]
            ), number


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ("R4.4", ["R4.4"]),
        (" r4.4 ", ["R4.4"]),
        ("4.4", ["R4.4"]),
        ("R7", ["R7.1", "R7.2"]),
        ("Clockwise", ["R2.2", "R7.1"]),
        ("no tiles", ["R8.1"]),
    ],
)
def test_rules_are_found_by_number_part_or_word(asked, numbers):
    assert [rule.number for rule in find_rules(asked)] == numbers


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("R4.9", "there are R4.1 to R4.5"),
        ("R9.1", "there are R1 to R8"),
        ("pagodda", "did you mean 'pagoda"),
        ("", "'arena rules' prints them all"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is_near(asked, hint, refused):
    with refused(UserError) as caught:
        find_rules(asked)
    assert hint in caught.value.hint


def test_a_text_that_names_a_rule_ends_with_the_command_that_explains_it(snapshot):
    assert cited("by R5.2 and R4.4, not R9.1, and R5.2 again") == ["R5.2", "R4.4"]
    assert where_to_read("it ends (R8.1)") == snapshot
    assert explained("it ends (R8.1)") == snapshot
    assert explained("nothing is named, not even R9.1") == snapshot
