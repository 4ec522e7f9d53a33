"""What bots wrote to stderr, as lines for the terminal."""

from collections.abc import Sequence

import click

from arena.errors import printable
from arena.players.stderr import Stderr
from arena.records.stderr import BEFORE_AND_AFTER, Part


def stderr_lines(part: Part, turn: int | None = None) -> list[str]:
    """What a bot wrote to stderr, line by line. Where that was not at this turn, each says when."""
    when = BEFORE_AND_AFTER.get(part.when, f"turn {(part.turn or 0) + 1}")
    head = "stderr" if turn is not None and part.turn == turn else f"stderr, {when}"
    return [f"{head}: {line}" for line in part.lines()]


class StderrLines:
    """The stderr of the players of a game that is being played, each line shown once; None for a
    player that has no process. Empty: nothing is to be shown.
    """

    def __init__(self, heard: Sequence[Stderr | None], names: Sequence[str]) -> None:
        self._heard = heard
        self._names = names
        self._shown = [0 for _ in heard]

    def new(self, seat: int, turn: int | None = None) -> list[str]:
        """What is new of a seat. Lines of another turn than this one say which it is."""
        heard = self._heard[seat] if self._heard else None
        if heard is None:
            return []
        parts = heard.parts[self._shown[seat] :]
        self._shown[seat] += len(parts)
        return [line for part in parts for line in stderr_lines(part, turn)]

    def show_rest(self) -> None:
        """Prints what was not shown yet, seat by seat."""
        for seat, name in enumerate(self._names):
            for line in self.new(seat):
                click.echo(f"{name} {printable(line)}")
