"""The pictures of the README are those that the arena draws; ``make golden`` writes them."""

import os
from pathlib import Path

from arena.exports.report.sections import standings_picture
from arena.ratings.tables import run_tables
from arena.records.runfile import read_run

ROOT = Path(__file__).parents[2]


def test_the_picture_of_the_standings_shows_the_published_league():
    path = ROOT / "docs" / "pictures" / "standings.svg"
    league = ROOT / "results" / "league-2" / "2-players"
    drawn = standings_picture(
        run_tables(league, read_run(league)), "League 2: two players, 1,260 games"
    )
    if os.environ.get("ARENA_GOLDEN") == "write":
        path.write_text(drawn, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == drawn, "ARENA_GOLDEN=write writes it anew"
