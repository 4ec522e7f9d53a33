"""A run taken up again just as it began: its settings and boards out of run.json, its bots out of
its own folder.
"""

from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from arena.errors import ConfigError
from arena.players.builtin import COMMAND, built_in_bot
from arena.players.folder import Bot
from arena.records.runfile import BotInfo, read_run
from arena.rules.boards import Board
from arena.tournament.scripts import copy_of

DECIDED = ("line_ups", "allotted", "settled")
"""What a run decides for itself, and keeps."""
CURE = "the command that started the run finishes it with the bots it names"


class Begun(NamedTuple):
    """What a run began with, as `session.open_session` takes it."""

    settings: dict[str, Any]
    boards: dict[str, Board]
    bots: list[Bot]


def begun(run: Path) -> Begun:
    """What the run in a folder began with. Raises RunError, ConfigError, BotFolderError."""
    info = read_run(run)
    if info.config.get("compare"):
        raise ConfigError(
            f"expected a tournament, got a comparison: {run}",
            "the 'arena compare' that started it goes on with it",
        )
    settings = {key: value for key, value in info.config.items() if key not in DECIDED}
    boards = {name: Board(name, tuple(rows)) for name, rows in info.boards.items()}
    return Begun(settings, boards, [_bot(run, bot) for bot in info.bots])


def _bot(run: Path, info: BotInfo) -> Bot:
    """A bot as run.json says it is; one that was built has other files by now."""
    if info.command[:-1] == COMMAND:
        return msgspec.structs.replace(built_in_bot(info.command[-1]), label=info.name)
    return msgspec.structs.replace(copy_of(run, info, CURE), sha256=info.sha256)
