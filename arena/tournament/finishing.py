"""A run taken up again just as it began: its settings and boards out of run.json, its bots out of
its own folder.
"""

from pathlib import Path

import msgspec

from arena.errors import ConfigError
from arena.players.builtin import COMMAND, built_in_bot
from arena.players.folder import Bot
from arena.records.runfile import FILE, BotInfo, RunInfo, read_run
from arena.rules.boards import Board
from arena.tournament.config import RunConfig, make_config
from arena.tournament.request import Request
from arena.tournament.scripts import copy_of

OTHERS = (
    ("compare", "comparison", "compare"),
    ("tune", "search", "tune"),
    ("league", "league", "league run"),
)
"""The settings of runs that another command plays, what these are called, and that command."""
CURE = "the command that started the run finishes it with the bots it names"


def begun(run: Path) -> Request:
    """What the run in a folder began with. Raises RunError, ConfigError, BotFolderError."""
    info = read_run(run)
    config = make_config(info.config)
    for setting, kind, command in OTHERS:
        if getattr(config, setting):
            raise ConfigError(
                f"expected a tournament, got a {kind}: {run}",
                f"the 'arena {command}' that started it goes on with it",
            )
    return as_it_is(run, info, config)


def as_it_is(run: Path, info: RunInfo, config: RunConfig) -> Request:
    """The same for a run with this run.json, whatever its kind."""
    if config.game:
        raise ConfigError(
            f"expected a tournament, got a game that a person played: {run}",
            "it is finished; 'arena play --human' plays another",
        )
    _check_names(run, "boards", config.boards, list(info.boards))
    _check_names(run, "bots", config.bots, [bot.name for bot in info.bots])
    boards = {name: Board(name, tuple(rows)) for name, rows in info.boards.items()}
    # What a run decides for itself it keeps: opening it again puts these back.
    open_again = msgspec.structs.replace(
        config, line_ups=None, allotted=None, settled=None, drawn=[]
    )
    return Request(open_again, boards, [_bot(run, bot) for bot in info.bots])


def _check_names(run: Path, what: str, named: list[str], there: list[str]) -> None:
    """Raises ConfigError unless the settings of a run name just what its run.json describes."""
    if sorted(named) != sorted(there):
        raise ConfigError(
            f"{run / FILE}: expected the same {what} in its settings as beside them,"
            f" {', '.join(there) or 'none'}, got {', '.join(named) or 'none'}",
            "something else changed the file: restore it",
        )


def _bot(run: Path, info: BotInfo) -> Bot:
    """A bot as run.json says it is; one that was built has other files by now."""
    if info.command[:-1] == COMMAND:
        return msgspec.structs.replace(built_in_bot(info.command[-1]), label=info.name)
    return msgspec.structs.replace(copy_of(run, info, CURE), sha256=info.sha256)
