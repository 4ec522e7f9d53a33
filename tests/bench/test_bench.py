"""The measurements measure something: every part has its figures,
and a help text that names them.
"""

import json
import os
import shutil
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from arena.ratings.tables import make_tables
from arena.ratings.tally import score_journal
from tests.bench import figures, memory, ratings, referee, resident, rules, tables, waits
from tests.bench.command import bench
from tests.bench.figures import Figure
from tests.bench.version import Version
from tests.ratings.synthetic import count_frame
from tests.support.commandline import ROOT


def by_key(measured):
    return {figure.key: figure.value for figure in measured}


def output_of(*arguments):
    done = CliRunner().invoke(bench, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_the_rules_are_measured_on_both_cores(both):
    found = by_key(rules.measure(quick=True))
    for core in ("pure", "native", "native_calls"):
        games, placements, ns = (
            found[f"rules.{core}.{what}"]
            for what in ("games_per_s", "placements_per_s", "ns_per_placement")
        )
        assert 20 < placements / games < 90  # tiles in a game
        assert ns == pytest.approx(1e9 / placements)
    assert found["rules.native_to_pure.games"] > 1
    assert "rules.native_to_openspiel.games" not in found or "pyspiel" in sys.modules


class FakeGame:
    """A game of five moves, and the little of OpenSpiel that the measurement asks for."""

    def __init__(self):
        self.left = 5

    def new_initial_state(self):
        return FakeGame()

    def is_terminal(self):
        return not self.left

    def legal_actions(self):
        return [3, 4]

    def apply_action(self, action):
        assert action in (3, 4)
        self.left -= 1


def test_openspiel_stands_beside_the_cores_where_it_is_installed(monkeypatch):
    asked = []
    spiel = SimpleNamespace(
        load_game=lambda name: asked.append(name) or FakeGame(),
        RandomRolloutEvaluator=lambda games, seed: games,
        MCTSBot=lambda game, games, **_: SimpleNamespace(step=lambda state: asked.append(games)),
    )
    monkeypatch.setitem(sys.modules, "pyspiel", spiel)
    found = by_key(rules.measure(quick=True))
    assert asked == ["hex(board_size=11)", 100, 100]
    for key in ("openspiel", "openspiel_calls"):
        assert found[f"rules.{key}.placements_per_s"] / found[
            f"rules.{key}.games_per_s"
        ] == pytest.approx(5)
    assert found["rules.native_to_openspiel.games"] > 0


def test_the_referee_is_measured_beside_the_bare_exchange():
    found = by_key(referee.measure(quick=True))
    for key in ("python", "c") if shutil.which("cc") or shutil.which("gcc") else ("python",):
        assert found[f"referee.{key}.us_per_decision"] > 0 < found[f"referee.{key}.bare_us"]
        quantiles = [found[f"referee.{key}.own_us_{name}"] for name in ("p50", "p99", "p99_9")]
        assert quantiles == sorted(quantiles)
        assert quantiles[0] > 0


def test_memory_is_read_in_the_main_process_and_in_the_worker():
    found = by_key(memory.measure(quick=True))
    for key in ("main", "worker"):
        early, late = (found[f"memory.{key}.mb_after_{games}"] for games in (10, 40))
        assert 5 < early < 500
        assert found[f"memory.{key}.growth_mb"] == late - early


def test_made_up_games_are_rated_alike_from_a_table_and_from_a_journal(tmp_path):
    made = ratings.make_games(2000)
    ratings.write_journal(tmp_path / "games.jsonl", 2000)
    one = make_tables(count_frame(ratings.frame_of(made))).standings
    other = make_tables(
        score_journal(tmp_path / "games.jsonl", ()).counted.counts(ratings.BOTS)
    ).standings
    assert one["bot"].iloc[0] > one["bot"].iloc[-1]  # the strong ones have high numbers
    columns = ["rank", "bot", "elo", "elo_low", "games", "wins", "shared"]
    assert one[columns].round(6).to_dict() == other[columns].round(6).to_dict()


@pytest.mark.timeout(900)
def test_what_people_wait_for_is_measured_as_whole_commands():
    found = by_key(tables.measure(quick=True))
    for key in ("reference", "bots", "sdk", "run_20", "runs", "pairs_few", "standings_many"):
        assert found[f"tables.{key}_s"] > 0
    for key in ("check_wall_s", "home_few_s", "home_many_s"):
        assert found[f"tables.{key}"] > 0
    if waits.has_bubblewrap():
        assert 0 < found["tables.start_python_s"] < 30
        assert 0 <= found["tables.look_percent"] < 100
    assert found["tables.standings_many_mb"] > 10
    assert 0.1 < found["tables.report_few_size"] < 1
    told = " ".join(output_of("--help").split())
    for key in found:
        assert key.split(".")[-1] in told


def test_versions_take_turns(tmp_path):
    versions = {"this": Version.this(), "other": Version.at(ROOT)._replace(python=sys.executable)}
    code = "import arena, pathlib; pathlib.Path('{version}').write_text(arena.__file__)"
    used = tables.in_turn({"one": ["-c", code]}, tmp_path, 2, versions)
    assert {path.read_text() for path in tmp_path.iterdir()} == {str(ROOT / "arena/__init__.py")}
    assert {*used["one"]} == {path.name for path in tmp_path.iterdir()}
    assert all(each.seconds > 0 < each.wall_s for each in used["one"].values())


def test_another_version_stands_in_the_last_columns(monkeypatch, tmp_path):
    def measure(*, quick, against):
        return [Figure("tables.bots_s", "arena bots", 0.5, "s", "0.1", 2.0)] if against else []

    monkeypatch.setattr(tables, "measure", measure)
    row = output_of("tables", "--against", str(tmp_path)).splitlines()[-1]
    assert row.split()[-2:] == ["2.000", "0.25"]
    found = json.loads(output_of("tables", "--against", str(tmp_path), "--json"))
    assert found == {"tables.bots_s": 0.5, "tables.bots_s.reference": 2.0}
    done = CliRunner().invoke(bench, ["rules", "--against", str(tmp_path)])
    assert done.exit_code == 2
    assert "--against measures tables only" in done.output


def test_ratings_are_timed():
    found = by_key(ratings.measure(quick=True))
    assert found["ratings.games"] == 2000
    assert all(found[f"ratings.{key}"] > 0 for key in ("rate_s", "tables_s", "journal_s"))
    assert found["ratings.peak_mb"] > 10 < found["ratings.journal_peak_mb"]


def test_a_process_of_its_own_has_a_peak_of_its_own():
    ballast = bytearray(200 * 1024 * 1024)
    ballast[::4096] = b"x" * len(ballast[::4096])
    assert resident.peak_mb() > 200 or sys.platform != "linux"
    assert figures.in_own_process(resident.peak_mb) < 150
    assert resident.resident_mb(os.getpid()) > 200
    del ballast


def test_pieces_of_work_take_turns():
    done = []
    seconds = figures.alternate({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, 3)
    assert "".join(done) == "ababab"
    assert [len(spent) for spent in seconds.values()] == [3, 3]
    assert figures.median_ratio([1, 4, 9], [1, 2, 3]) == 2


def test_the_table_and_the_json_have_the_same_keys_and_the_help_names_them():
    table, found = (
        output_of("rules", "startup", "--quick"),
        json.loads(output_of("rules", "startup", "--quick", "--json")),
    )
    told = " ".join(output_of("--help").split())
    for key, value in found.items():
        assert f"\n{key} " in table
        assert key.split(".")[-1] in told
        assert value > 0
