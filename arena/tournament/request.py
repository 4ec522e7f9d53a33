"""What somebody asks for: the options of a run, and the request they make with bots and boards."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec import Struct

from arena.errors import ConfigError
from arena.match.clock import Timing
from arena.players.folder import Bot
from arena.players.manifest import check_name
from arena.players.messages import ClockKind
from arena.rules.boards import BUILT_IN, Board, built_in, read_board
from arena.tournament.config import (
    DEFAULT_BOARDS,
    Comparison,
    Deals,
    HalfWidth,
    Increment,
    LeagueTerms,
    Milliseconds,
    Players,
    RunConfig,
    Seatings,
    Tables,
    make_config,
)
from arena.tournament.own import OwnConfig, own_config_file, read_toml
from arena.tournament.tuning import Tuning

UNTIL_DEALS = 1000
"""The deals that ``until`` may use, on average over all line-ups, where no ``deals`` are named."""


class RunOptions(
    OwnConfig, frozen=True, forbid_unknown_fields=True, rename={"board_files": "board"}
):
    """The options of ``arena run``, from the command line or an arena.toml, which has them under
    the same names, with underscores. None: nothing is said, and `RunConfig` has the default.

    Where a name or a path is allowed, a value with a '/' is a path, relative to the file.
    """

    bots: list[str] | None = None
    seed: str | int | None = None
    players: Players | None = None
    boards: list[str] | None = None
    board_files: list[str] | None = None
    match: list[str] | None = None
    deals: Deals | None = None
    seatings: Seatings | None = None
    tables: Tables | None = None
    challenger: str | None = None
    move_ms: Milliseconds | None = None
    game_ms: Milliseconds | None = None
    increment_ms: Increment | None = None
    startup_ms: Milliseconds | None = None
    clock: ClockKind | None = None
    until: HalfWidth | None = None
    adaptive: bool | None = None
    in_process: bool | None = None
    keep_stderr: bool | list[str] | None = None
    out: str | None = None

    def over(self, other: Self) -> Self:
        """What is said here, and else what the other one says."""
        return msgspec.structs.replace(other, **_said(self, self.__struct_fields__))

    @property
    def timing(self) -> Timing:
        """The time control."""
        return Timing(**_said(self, Timing.__struct_fields__))

    def find_boards(self) -> dict[str, Board]:
        """The boards to play on: those named, else those of the match or of the files. Raises
        BoardError, ConfigError.
        """
        files = [Path(file) for file in self.board_files or ()]
        names: Sequence[str] = () if files else DEFAULT_BOARDS
        if self.match:
            names = [name for name in self.match if name not in {file.stem for file in files}]
        return find_boards(names if self.boards is None else self.boards, files)


def _said(options: OwnConfig, names: Sequence[str]) -> dict[str, Any]:
    """Those of the options about which something is said."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def read_options(path: Path) -> RunOptions:
    """The options in an arena.toml. Raises ConfigError, also for those that protect the user less,
    or hand bots to other machines: the file may come from anybody.
    """
    options = read_toml(
        path, RunOptions, "its keys are the options of 'arena run' with '_' for '-'"
    )
    weaker = _said(options, [name for name in OwnConfig.__struct_fields__ if name != "jobs"])
    if weaker.get("sandbox") in ("auto", "require"):
        del weaker["sandbox"]
    if weaker:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in weaker)
        raise ConfigError(
            f"{path}: expected no {', '.join(weaker)}: a file that can come from others may not"
            " decide that",
            f"say it with {flags}, or in a file of your own:"
            f" {own_config_file() or '$XDG_CONFIG_HOME/qin-arena/arena.toml'}",
        )
    # Said here, auto would weaken the user's own ``require``.
    return msgspec.structs.replace(options, sandbox=None) if options.sandbox == "auto" else options


def find_boards(names: Sequence[str], files: Sequence[Path]) -> dict[str, Board]:
    """The boards of a run by name. Raises BoardError, ConfigError."""
    boards = {name: built_in(name) for name in names}
    for path in files:
        board = read_board(path)
        check_name(board.name, str(path))
        if board.name in boards or board.name in BUILT_IN:
            raise ConfigError(
                f"{path}: expected a board name other than"
                f" {', '.join(sorted({*boards, *BUILT_IN}))}",
                "rename the file",
            )
        boards[board.name] = board
    return boards


class Request(Struct, frozen=True):
    """What is to be played, checked: the settings, with the boards and the bots that they name.

    Without a ``seed`` in the settings, a new run gets a secret one, and a known run keeps its own.
    """

    config: RunConfig
    boards: Mapping[str, Board]
    bots: Sequence[Bot]

    def config_for(self, seed: str) -> RunConfig:
        """The settings, with this seed where they have none."""
        return msgspec.structs.replace(self.config, seed=self.config.seed or seed)


def make_request(
    options: RunOptions,
    boards: Mapping[str, Board],
    bots: Sequence[Bot],
    compare: Comparison | None = None,
    tune: Tuning | None = None,
    league: LeagueTerms | None = None,
) -> Request:
    """What the options ask for. Raises ConfigError."""
    shared = [name for name in RunConfig.__struct_fields__ if name in options.__struct_fields__]
    settings = {
        **({} if options.until is None else {"deals": UNTIL_DEALS}),
        **_said(options, shared),
        "seed": "" if options.seed is None else str(options.seed),
        "boards": list(boards),
        "bots": [bot.label for bot in bots],
        "compare": compare,
        "tune": tune,
        "league": league,
    }
    return Request(make_config(settings), boards, bots)
