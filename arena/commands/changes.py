"""How versions in a league changed: each is compared with the one before it once it is placed."""

from collections.abc import Callable
from pathlib import Path

from arena.commands.bots import Tell
from arena.errors import UserError, Void, printable
from arena.players.sandbox.tiers import Sandbox
from arena.records.changes import append_changes, read_changes
from arena.records.league import League, versions_before
from arena.tournament.changes import changes_between
from arena.tournament.pool import available_cores
from arena.tournament.scripts import Scripts
from arena.tournament.session import now


class Changing:
    """The comparisons of the versions in a league's folder. What cannot be compared is said, and
    not tried again.
    """

    def __init__(self, folder: Path, sandbox_for: Callable[..., Sandbox], tell: Tell) -> None:
        self._folder, self._sandbox_for, self._tell = folder, sandbox_for, tell
        self._failed = set[str]()

    def compare(self, league: League, jobs: int | None) -> None:
        """Compares who plays, has been placed and was not compared before."""
        known = {*read_changes(self._folder), *self._failed}
        before = versions_before(league.members)
        for bot, member in league.members.items():
            if member.plays and member.placed and bot in before and bot not in known:
                self._compare(before[bot], bot, jobs or available_cores())

    def _compare(self, before: str, bot: str, jobs: int) -> None:
        try:
            scripts = Scripts(self._folder)
            if before not in [there.name for there in scripts.info.bots]:
                return  # it could not be started
            old, new = scripts.played_bot(before), scripts.played_bot(bot)
            found = changes_between(scripts, old, new, self._sandbox_for(old, new), jobs, now())
            append_changes(self._folder, found)
        except (UserError, Void) as error:
            self._failed.add(bot)
            self._tell(
                f"note: {printable(bot)} is not compared with {printable(before)}:"
                f" {printable(str(error))}"
            )
