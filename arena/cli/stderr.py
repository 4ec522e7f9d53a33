"""What bots wrote to stderr, as lines for the terminal."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import click

from arena.errors import printable
from arena.players.player import Player
from arena.records.stderr import BEFORE_AND_AFTER, StderrPart


def stderr_lines(part: StderrPart, turn: int | None = None) -> list[str]:
    """What a bot wrote to stderr, line by line. Where that was not at this turn, each says when."""
    when = BEFORE_AND_AFTER.get(part.when, f"turn {(part.turn or 0) + 1}")
    head = "stderr" if turn is not None and part.turn == turn else f"stderr, {when}"
    return [f"{head}: {line}" for line in part.lines()]


class RecordedLines:
    """What was kept of a finished game, as lines that are shown once; of one ``seat``, if that is
    given.
    """

    def __init__(self, parts: Sequence[StderrPart], names: Sequence[str], seat: int | None) -> None:
        self._names = names
        self._left = defaultdict[tuple[int, int | None, str], list[StderrPart]](list)
        for part in parts:
            if part.seat < len(names) and seat in (None, part.seat):
                self._left[part.seat, part.turn, part.when].append(part)

    def before(self) -> list[str]:
        """What bots wrote before they were first asked."""
        return self._named([key for key in self._left if key[-1] == "start"])

    def of(self, seat: int, turn: int) -> list[str]:
        """What a seat wrote at its move after so many placements."""
        parts = self._left.pop((seat, turn, "turn"), [])
        return [line for part in parts for line in stderr_lines(part, turn)]

    def rest(self) -> list[str]:
        """What is left: of turns that ended in a forfeit, and after the end."""
        return self._named([key for key in self._left if key[-1] != "start"])

    def _named(self, keys: Iterable[tuple[int, int | None, str]]) -> list[str]:
        return [
            f"{self._names[part.seat]} {printable(line)}"
            for key in keys
            for part in self._left[key]
            for line in stderr_lines(part)
        ]


class StderrLines:
    """The stderr of the players of a game that is being played, each line shown once. Without
    players nothing is shown.
    """

    def __init__(self, players: Sequence[Player], names: Sequence[str]) -> None:
        self._players = players
        self._names = names
        self._shown = [0 for _ in players]

    def new(self, seat: int, turn: int | None = None) -> list[str]:
        """What is new of a seat. Lines of another turn than this one say which it is."""
        if not self._players:
            return []
        parts = self._players[seat].stderr()[self._shown[seat] :]
        self._shown[seat] += len(parts)
        return [line for part in parts for line in stderr_lines(part, turn)]

    def show_rest(self) -> None:
        """Prints what was not shown yet, seat by seat."""
        for seat, name in enumerate(self._names):
            for line in self.new(seat):
                click.echo(f"{name} {printable(line)}")
