"""The lines to paste."""

from pathlib import Path

from arena.exports.contested import contested_of
from arena.exports.report.material import gather
from arena.exports.report.summary import summary_of
from arena.exports.verdicts import llr_text
from arena.records.runfile import read_run
from tests.exports.runs import SEED, duels, game_of, write_run

COMPARISON = Path(__file__).parents[2] / "results" / "league-1" / "tree-against-no-tree"


def test_a_run_is_told_in_a_table_with_the_first_two_and_its_command(tmp_path):
    folder = write_run(tmp_path / "run", "abc", duels("abc", 8), deals=8)
    head, *lines = summary_of(gather(folder)).splitlines()
    assert (head, lines[-1]) == ("```", "```")
    assert lines[0].startswith("Run run: 3 bots, 48 games, 8 deals; 2 players, bird")
    assert lines[1].split() == ["Rank", "Bot", "Elo", "+/-", "Games", "Wins", "Shared", "Losses"]
    first, second = (line.split()[1] for line in lines[2:4])
    [better] = [line for line in lines if line.startswith("Better in ")]
    assert f"{first} against {second}" in better
    [both] = [line for line in lines if line.startswith("Wins in both")]
    assert both.startswith("Wins in both games of 8 deals: 0: ")
    assert sum(int(part.rpartition(" ")[2]) for part in both.split(", ")) == 8
    assert lines[-2] == f"arena run a b c --boards bird --deals 8 --seed {SEED}"


def test_a_run_that_goes_on_keeps_its_seed(tmp_path):
    folder = write_run(tmp_path / "run", "ab", duels("ab", 2), deals=3)
    assert SEED not in summary_of(gather(folder))


def test_no_name_closes_the_fence(tmp_path):
    name = "```\n```\u202e"
    games = [game_of(pair, deal=deal) for deal in range(3) for pair in ((name, "a"), ("a", name))]
    lines = summary_of(gather(write_run(tmp_path / "run", [name, "a"], games))).splitlines()
    assert sum(line.startswith("```") for line in lines) == 2
    assert "\u202e" not in "".join(lines)


def test_a_comparison_has_its_verdict_and_the_evidence():
    found = contested_of(COMPARISON, read_run(COMPARISON))
    lines = summary_of(gather(COMPARISON)).splitlines()
    assert lines[2] == "Test not better: ismcts-python against ismcts-no-tree"
    assert lines[3].startswith(f"LLR {llr_text(found.test)} for 60 Elo rather than 0")
    assert f"{found.test.blocks} blocks, {found.games} games" in lines[3]
    assert any(line.startswith("Wins in both games of 53 deals: 0: 16") for line in lines)
    assert lines[-2].startswith("arena compare ismcts-python ismcts-no-tree")


def test_a_run_without_games_is_told_too(tmp_path):
    lines = summary_of(gather(write_run(tmp_path / "run", "ab", [], deals=2)))
    assert "0 games" in lines
