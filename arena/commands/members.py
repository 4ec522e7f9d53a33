"""Who is in a league: kept in step with bots/, and with what other arenas write down of it."""

import getpass
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from arena.commands.bots import Tell, bot_finder
from arena.commands.folders import registry_of
from arena.errors import ConfigError, UserError, did_you_mean
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.players.options import split_options
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import lack, staged_for_a_while
from arena.records.league import (
    PLAYS,
    STATUS_TEXT,
    Event,
    Joined,
    League,
    Status,
    StatusChanged,
    events_file,
    lines_of,
    read_league,
    size_of,
)
from arena.records.record import name_of
from arena.tournament.session import now

LOOK_S = 2.0
"""A new version joins after about so long."""
ARENA = "arena"
BUILT_IN = ("random", "greedy-4", "greedy", "careful-4", "careful")
"""The benchmarks where there is no ladder."""


class Members:
    """The members of the league in a folder; ``names`` are the bots whose versions join by
    themselves, all in bots/ if there are none.
    """

    def __init__(self, home: Path, folder: Path, names: Sequence[str], tell: Tell) -> None:
        self.folder, self._names, self._tell = folder, names, tell
        self._registry = registry_of(home)
        self._find = bot_finder(home, tell, in_process=False)
        self._size, self._looked_s, self._stamp = 0, 0.0, -1
        self.league = League()
        self.refresh()

    def refresh(self) -> None:
        """Reads what others have appended."""
        size = size_of(self.folder)
        if size != self._size:
            self.league = read_league(self.folder)
            self._size = size

    def append(self, *events: Event) -> None:
        """Writes events down, and takes them into account. Who has joined meanwhile does not join
        again: an arena that plays a league and one that submits to it see a new version alike.
        """
        with events_file(self.folder) as file:
            self.refresh()
            known = self.league.members
            new = [each for each in events if not isinstance(each, Joined) or each.bot not in known]
            for event in new:
                self.league.add(event)
            file.append(lines_of(new))
            self._size = size_of(self.folder)

    def look(self) -> None:
        """Lets in who was submitted, and marks who was removed, if it is time to look."""
        if time.monotonic() - self._looked_s < LOOK_S:
            return
        self.refresh()
        root = self._registry.root
        stamp = root.stat().st_mtime_ns if root.is_dir() else 0
        # A version that is registered or removed renames a folder in bots/.
        if stamp != self._stamp:
            self._compare()
        self._stamp, self._looked_s = stamp, time.monotonic()

    def _compare(self) -> None:
        there, ladder = self._registry.every_version(), self._registry.of_ladder()
        members = self.league.members
        # Candidates are placed in the order in which they join: copies of the ladder's bots, as
        # 'arena init' makes them, come after the author's own.
        for label in sorted(there, key=ladder.__contains__):
            if label not in members and self._is_named(label):
                self._tell(f"{label} joins")
                self.append(Joined(label, "candidate", now()))
        known = {*there, *ladder}
        for label, member in list(members.items()):
            base = split_options(label)[0]
            if member.plays and base not in known and "@" in base:
                self.change(label, "withdrawn", ARENA, "it is no longer in bots/")

    def _is_named(self, label: str) -> bool:
        return not self._names or name_of(label) in self._names

    def change(self, label: str, status: Status, by: str, why: str = "") -> None:
        """Gives a member another status."""
        self._tell(f"{label} is {is_now(status)}" + (f": {why}" if why else ""))
        self.append(StatusChanged(label, status, now(), by, why))

    def newcomers(self, known: Sequence[str], sandbox_for: Callable[[Bot], Sandbox]) -> list[Bot]:
        """The members that play, but are not among those known to the run; those that cannot be
        built or started here are set aside.
        """
        found = []
        for label in [bot for bot, member in self.league.members.items() if member.plays]:
            if label in known:
                continue
            try:
                bot = self._ready(label, sandbox_for)
            except UserError as error:
                self.change(label, "aside", ARENA, str(error))
            else:
                found.append(bot)
        return found

    def _ready(self, label: str, sandbox_for: Callable[[Bot], Sandbox]) -> Bot:
        """A bot that can play here. Raises UserError."""
        bot = self._find(label)
        if not is_built_in(bot):
            reason, _ = lack(bot)
            if reason:
                raise ConfigError(reason)
            with staged_for_a_while(bot, sandbox=sandbox_for(bot)):
                pass
        return bot

    def label_of(self, text: str) -> str:
        """The member that a user means: a bot's name is its newest version. Raises ConfigError."""
        members = self.league.members
        base, options = split_options(text)
        if text in members:
            return text
        versions = [
            label
            for label in members
            if name_of(label) == base and split_options(label)[1] == options
        ]
        if versions:
            return versions[-1]
        near = did_you_mean(text, members)
        raise ConfigError(
            f"expected a member of the league {self.folder.name}, got {text!r}",
            f"{near}there are {', '.join(members) or 'none'}",
        )

    def labels(self, texts: Sequence[str]) -> list[str]:
        """What bots that a user names are called in a league. Raises UserError."""
        return [member_label(self._find(text)) for text in texts]

    def has_hash(self, label: str, sha256: str) -> bool:
        """Whether the files of a member are those with this hash; true if they cannot be read."""
        try:
            return self._find(label).has_hash(sha256)
        except UserError:
            return True

    def admit(self, texts: Sequence[str], status: Status) -> None:
        """Lets in bots that a user names. Raises UserError."""
        for label in self.labels(texts):
            if label not in self.league.members:
                self.append(Joined(label, status, now()))

    def first_benchmarks(self) -> list[str]:
        """Who holds the scale where the user names nobody: the ladder, as far as it can be started
        here, or else built-in bots.
        """
        found = []
        for label in self._registry.of_ladder():
            bot = self._find(label)
            if not lack(bot)[0]:
                found.append(label)
        return found or list(BUILT_IN)


def user_name() -> str:
    """Who is at work, for the history of a league."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name
        return str(os.getuid())


def is_now(status: Status) -> str:
    """What a member with this status is, in a sentence."""
    return f"a {STATUS_TEXT[status]}" if status in PLAYS else STATUS_TEXT[status]


def member_label(bot: Bot) -> str:
    """The name of a bot in a league: with its version, unless it is built in."""
    if is_built_in(bot) or "@" in bot.base:
        return bot.label
    _, colon, options = bot.label.partition(":")
    return f"{bot.base}@{bot.manifest.version}{colon}{options}"
