"""The published league that comes with the arena: its standings, a few of its games that are worth
a look, and its runs. `python -m tests.commands.publish` writes the file from ``results/league-2``;
the runs are links to the files there.

The league is on pages also where no run has been played, and it says how strong the bundled bots
are.
"""

from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec import Struct

from arena.records.record import GameRecord
from arena.records.runfile import RUN_FILE
from arena.tournament.run import Run

FILE = "published.json"
RUNS = Path(__file__).parent / "league_runs"
"""The folder with the league's runs: of each only run.json and the journal."""
TABLES = {2: "two", 3: "three", 4: "four"}
"""For each run of the league, the number of players in a game, as a figure and as a word."""


class LeaguePlace(Struct, frozen=True):
    """A bot's row in the league's standings of games with two players.

    ``bot``                    its label
    ``elo``                    its rating in Elo; with a mark, the bound
    ``low``, ``high``          the ends of the rating's 95 % interval; None for an open end
    ``mark``                   ``<`` if the bot is weaker than all rated ones, ``>`` if it is
                               stronger; else empty
    ``rank_low``, ``rank_high``  its best and its worst likely place, from 1
    ``win_rate``               its share of the wins, from 0 to 1
    """

    bot: str
    elo: float
    low: float | None
    high: float | None
    mark: str
    rank_low: int
    rank_high: int
    win_rate: float


class WorthALook(Struct, frozen=True):
    """A game worth a look: its ``key`` in addresses, a ``title``, a sentence about it (``words``),
    and its record.
    """

    key: str
    title: str
    words: str
    record: GameRecord


class PublishedLeague(Struct, frozen=True):
    """The league called ``name``: the number of its ``games`` with two players, a sentence on what
    settles who is first (``verdict``), the standings, best first (``places``), and the games
    ``worth`` a look.
    """

    name: str
    games: int
    verdict: str
    places: list[LeaguePlace]
    worth: list[WorthALook]

    def game(self, key: str) -> WorthALook | None:
        """The game with this key; None if there is none."""
        return next((one for one in self.worth if one.key == key), None)


@cache
def published_league() -> PublishedLeague:
    """The published league, read from the file beside this module."""
    data = files("arena.commands").joinpath(FILE).read_bytes()
    return msgspec.json.decode(data, type=PublishedLeague)


def league_run(players: int) -> Run:
    """The league's run of games with this number of ``players``, one of `TABLES`."""
    folder = RUNS / f"{players}-players"
    # In the repository these files are links, which a run refuses.
    return Run((folder / RUN_FILE).resolve().parent)
