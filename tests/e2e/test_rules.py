"""arena rules: what is printed, and that messages which name a rule end with the command that
explains it.
"""

import json

import pytest

from tests.support.commandline import add_zoo_bot
from tests.support.wording import lines_with, messages


def test_all_rules_are_printed_at_eighty_columns_without_marks(arena, snapshot):
    shown, err = arena("rules")
    assert err == ""
    title, first, *_ = shown.split("\n\n")
    assert f"{title}\n\n{first.splitlines()[0]}" == snapshot
    assert lines_with(shown, "R4.4") == snapshot
    assert shown.index("R1.1  ") < shown.index("R8.3  ") < shown.index("Check figures")
    assert max(map(len, shown.splitlines())) <= 80
    assert not any(mark in shown for mark in ("**", "<a", "](", "`"))


def test_one_rule_comes_with_its_boards(arena, snapshot):
    shown, _ = arena("rules", "r4.4")
    assert "not allowed: Rc2Bc3" in shown
    assert "before                  after Rc3Yc4\n" in shown
    assert "       2 R0 R0 .  R1 R1\n" in shown
    assert max(map(len, shown.splitlines())) <= 80
    shown, _ = arena("rules", "R1.2")
    assert lines_with(shown, "R1.2") == snapshot
    assert "not allowed" not in shown


def test_rules_with_a_word_and_as_json(arena):
    shown, _ = arena("rules", "clockwise")
    assert [line[:4] for line in shown.splitlines() if line.startswith("R")] == ["R2.2", "R7.1"]
    found = json.loads(arena("rules", "clockwise", "--json")[0])
    assert [rule["rule"] for rule in found] == ["R2.2", "R7.1"]
    assert found[1]["pictures"][0]["name"] == "home-before-placing"
    assert len(json.loads(arena("rules", "--json")[0])) == 29


@pytest.mark.parametrize("asked", ["R4.9", "vilage"])
def test_what_is_unknown_is_answered_with_what_is_near(arena, asked, snapshot):
    shown, err = arena("rules", asked, status=1)
    assert shown == ""
    assert messages(err) == snapshot


def test_a_forfeit_and_an_error_name_the_command_that_explains_the_rule(arena, snapshot):
    bot = add_zoo_bot(arena, "illegal_move")
    _, err = arena("play", bot, "rnd", "--seed", 1, status=1)
    assert lines_with(err, "'arena rules R4.1'") == snapshot
    _, err = arena("run", bot, "rnd", "--deals", 1, "--seed", 1, status=1)
    assert lines_with(err, "'arena rules R4.1'").splitlines()[0] == snapshot
    shown, _ = arena("check", bot, status=1)
    assert lines_with(shown, "'arena rules R4.1'") == snapshot
    (arena.home / "board.txt").write_text("...")
    _, err = arena("play", "rnd", "rnd", "--board", "board.txt", status=1)
    assert messages(err) == snapshot
