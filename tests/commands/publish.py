"""Writes arena/commands/published.json from results/league-2: python -m tests.commands.publish

The games are chosen by what happened in them, so nothing in the file is typed by hand but the
titles.
"""

import csv
import re
from pathlib import Path

import msgspec

from arena.commands import published
from arena.commands.published import LeaguePlace, PublishedLeague, WorthALook
from arena.commands.runs import rated_run
from arena.exports.grid import counted
from arena.exports.text import seat_names
from arena.tournament.run import Run

ROOT = Path(__file__).parents[2]
LEAGUE = ROOT / "results" / "league-2"
FILE = Path(published.__file__).with_name(published.FILE)


def league():
    """The league, computed from its runs."""
    two, four = Run(LEAGUE / "2-players"), Run(LEAGUE / "4-players")
    rows = list(csv.DictReader((two.folder / "standings.csv").read_text().splitlines()))
    places = [
        LeaguePlace(
            bot=row["bot"],
            elo=float(row["elo"]),
            low=float(row["elo_low"]) if row["elo_low"] else None,
            high=float(row["elo_high"]) if row["elo_high"] else None,
            mark=row["mark"],
            rank_low=int(row["rank_low"]),
            rank_high=int(row["rank_high"]),
            win_rate=float(row["win_rate"]),
        )
        for row in rows
    ]
    sentences = " ".join(rated_run(two)[0].sentences)
    more = re.search("about [0-9,]+ more deals would settle", sentences)
    return PublishedLeague(
        name="League 2",
        games=sum(1 for _ in two.records()),
        verdict=f"{more[0].capitalize()} first place." if more else "",
        places=places,
        worth=worth(two, four, {place.bot: place.elo for place in places if not place.mark}),
    )


def worth(two, four, elo):
    """An upset, a close game, a clear win and a table of four, each of two rated bots."""
    duels = [game for game in two.records() if not game.faults and set(game.bots) <= set(elo)]
    clear = [game for game in duels if sorted(game.ranks) == [1, 2]]
    tables = [game for game in four.records() if not game.faults and game.ranks.count(1) == 1]
    upset = max(clear, key=lambda game: (gap(game, elo), game.turns, game.id))
    close = max(clear, key=lambda game: (-lead(game), sum(map(elo.get, game.bots)), game.id))
    large = max(clear, key=lambda game: (lead(game), sum(map(elo.get, game.bots)), game.id))
    table = max(tables, key=lambda game: (-lead(game), game.turns, game.id))
    by = counted(round(gap(upset, elo)), "point")
    return [
        entry("upset", "The upset of the league", f"its rating is {by} lower", upset),
        entry("close", f"Won by {counted(lead(close), 'pagoda')}", "the closest at the top", close),
        entry("large", f"Won by {counted(lead(large), 'pagoda')}", "the largest win", large),
        entry("four", "Four at one table", counted(table.turns, "tile"), table),
    ]


def entry(key, title, words, record):
    """A game with a sentence: who beat whom, and the words."""
    names = seat_names(record.bots)
    winner = names[record.ranks.index(1)]
    lost = [name for name in names if name != winner]
    others = f"{len(lost)} others" if len(lost) > 1 else lost[0]
    return WorthALook(key, title, f"{winner} beats {others}: {words}", record)


def gap(record, elo):
    """By how many Elo the loser is rated above the winner."""
    first = record.ranks.index(1)
    return elo[record.bots[1 - first]] - elo[record.bots[first]]


def lead(record):
    """How many more pagodas than the winner the next one had left to place."""
    return sorted(record.left)[1] - min(record.left)


def text():
    """The text of the file."""
    return msgspec.json.format(msgspec.json.encode(league()), indent=1).decode() + "\n"


if __name__ == "__main__":
    FILE.write_text(text())
