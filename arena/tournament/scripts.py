"""Recorded games with everything needed to replay them, from a run's folder."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from arena.errors import ConfigError, RunError, did_you_mean
from arena.match.retrace import Script
from arena.players.builtin import COMMAND
from arena.players.folder import Bot, played_copy
from arena.players.messages import PROTOCOL
from arena.players.options import nearest_label
from arena.records.find import read_records
from arena.records.record import GameRecord
from arena.records.runfile import BotInfo, RunInfo, read_run
from arena.rules.boards import Board
from arena.tournament.config import make_config
from arena.tournament.schedule import Schedule
from arena.tournament.tuned import TunedGames


class Scripts:
    """The games of a run as scripts. Raises RunError or ConfigError if there is no run that this
    version can replay.
    """

    def __init__(self, run: Path) -> None:
        self.run = run
        self.info: RunInfo = read_run(run)
        if self.info.protocol != PROTOCOL:
            raise RunError(
                f"expected a run with version {PROTOCOL} of the protocol, got version"
                f" {self.info.protocol}: {run}"
            )
        config = make_config(self.info.config)
        self.timing = config.timing
        self._schedule = Schedule(config)
        self._boards = {name: Board(name, tuple(rows)) for name, rows in self.info.boards.items()}

    @property
    def has_bank(self) -> bool:
        """Whether the time for an answer depended on earlier answers."""
        return any(self.timing.of(bot.name).game_ms is not None for bot in self.info.bots)

    def of(self, record: GameRecord) -> Script:
        """A record of the run with its board, time control and the bots' seeds. Raises RunError if
        it is not part of the run's plan.
        """
        try:
            plan = self._schedule.game(
                record.board, tuple(sorted(record.bots)), record.deal, record.seating
            )
            board = self._boards[record.board]
            plan = self._tuned.planned(plan) if self._tuned else plan
        except (IndexError, KeyError):
            plan = None
        if plan is None or (plan.id, list(plan.bots), plan.deck) != (
            record.id,
            record.bots,
            record.deck,
        ):
            raise RunError(
                f"expected games of the plan in {self.run}/run.json, got {record.id}",
                "'arena verify' lists what is wrong",
            )
        return Script(record, board, plan.seeds, self.timing, plan.settings)

    @cached_property
    def _tuned(self) -> TunedGames | None:
        """The settings of each game, in a run that tunes a bot."""
        if self._schedule.config.tune is None:
            return None
        return TunedGames(self._schedule, (), lambda: 1, read_records(self.run))

    def games_of(self, bot: str) -> Iterator[tuple[GameRecord, int]]:
        """The games of a bot in the order of the journal, with its seat."""
        for record in read_records(self.run):
            if bot in record.bots:
                yield record, record.bots.index(bot)

    def played_bot(self, name: str) -> Bot:
        """A bot of the run, in the version that played. Raises RunError if its copy is missing."""
        info = self.bot_info(name)
        if info.command[:-1] == COMMAND:
            raise RunError(
                f"expected a bot that runs as a process, got {name}, which is built in",
                "name the bot with --bot",
            )
        return copy_of(self.run, info, "name the bot with --bot")

    def bot_info(self, name: str) -> BotInfo:
        """A bot's entry in run.json. Raises ConfigError with the names in the run."""
        names = [bot.name for bot in self.info.bots]
        wanted = nearest_label(name, names)
        found = next((bot for bot in self.info.bots if bot.name == wanted), None)
        if found is None:
            cure = (
                f"{did_you_mean(name, names)}the run has {', '.join(names)}; --old names the one to"
                " repeat"
            )
            raise ConfigError(f"expected a bot of the run {self.run}, got {name!r}", cure)
        return found


def copy_of(run: Path, info: BotInfo, cure: str) -> Bot:
    """A bot as a run has played it. Raises RunError with the cure when its copy is gone or was
    changed.
    """
    if not (run / info.copy).is_dir():
        raise RunError(
            f"expected the copy of {info.name} that was played in {run / info.copy}, found none",
            cure,
        )
    bot = played_copy(run, info)
    if not bot.has_hash(info.sha256) and not bot.manifest.build:
        raise RunError(
            f"expected the files of {info.name} that played in {bot.folder}, got other files", cure
        )
    return bot
