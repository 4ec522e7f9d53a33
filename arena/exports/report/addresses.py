"""Where links on a page lead: to bots and games. A fragment asks for them, so that it goes with
any page.
"""

import shlex
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple, Protocol
from urllib.parse import quote

from arena.exports.report.words import visible

SAFE = "/:=,@~"


class Addresses(Protocol):
    """Those of a page; empty where there is nothing to go to."""

    def bot(self, name: str) -> str:
        """The page of a bot."""
        ...

    def meeting(self, name: str, other: str) -> str:
        """The games of two bots."""
        ...

    def id_of_meeting(self, name: str, other: str) -> str:
        """The id of the row that tells of them, where it stands."""
        ...

    def more(self, name: str) -> str:
        """The command that shows all games of a bot and another one."""
        ...

    def game(self, name: str, turn: int = 0) -> str:
        """A game by its id, after so many placements."""
        ...


class Around(NamedTuple):
    """The addresses of what a game belongs to, where it is a page among others: its run, the bots
    in its seats, and the games that ended before and after it, empty if there is none to be seen.
    """

    run: str
    bots: list[str]
    before: str
    after: str


class OnePage:
    """Those of a report, which is one file. ``opponents`` are, for each bot that has a page, those
    of whose games it tells; ``games`` are on the page.
    """

    def __init__(
        self,
        run: str,
        bots: Iterable[str],
        opponents: Mapping[str, Collection[str]],
        games: Collection[str],
    ) -> None:
        self._run, self._opponents, self._games = run, opponents, set(games)
        self._ids = ids_of(bots)

    def id_of(self, name: str) -> str:
        """The id of the element that is a bot's page."""
        return f"bot/{self._ids[name]}"

    def id_of_meeting(self, name: str, other: str) -> str:
        """The id of the row there that tells of an opponent."""
        return f"{self.id_of(name)}/{self._ids[other]}"

    def bot(self, name: str) -> str:
        """The page of a bot."""
        return f"#{quote(self.id_of(name), SAFE)}" if name in self._opponents else ""

    def meeting(self, name: str, other: str) -> str:
        """The row of an opponent on the page of a bot, else the page."""
        if other in self._opponents.get(name, ()):
            return f"#{quote(self.id_of_meeting(name, other), SAFE)}"
        return self.bot(name)

    def more(self, name: str) -> str:
        """The command that shows all games of a bot and another one."""
        bots = f"{name}+OTHER"
        return shlex.join(["arena", "report", self._run, "--games", bots, "--to", "games.html"])

    def game(self, name: str, turn: int = 0) -> str:
        """A game that is on the page."""
        return f"#game={quote(name)}&turn={turn}" if name in self._games else ""


def ids_of(names: Iterable[str]) -> dict[str, str]:
    """A part of an id for each bot: its name where it can be; those that look alike are
    numbered.
    """
    found, taken = dict[str, str](), set[str]()
    for name in names:
        wanted = here = "_".join(visible(name).split()) or "_"
        number = 1
        while here in taken:
            number += 1
            here = f"{wanted}~{number}"
        taken.add(here)
        found[name] = here
    return found
