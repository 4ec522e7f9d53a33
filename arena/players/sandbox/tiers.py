"""The walls around a bot's process, in three tiers; which one works here is found out by trying, not by looking for a program."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from arena.errors import SandboxError
from arena.players.sandbox.launch import Launch, bubblewrap_launch, landlock_launch, plain_launch
from arena.players.sandbox.probe import failure

Tier = Literal["bubblewrap", "landlock", "none"]
Mode = Literal["auto", "require", "off"]
WALLS: tuple[Tier, ...] = ("bubblewrap", "landlock")
"""The tiers that are walls, best first."""
INSTALL = "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap), then look at 'arena doctor'"


class Sandbox(Struct, frozen=True):
    """A tier, ready for use. ``none`` limits what a bot uses, but not what it sees."""

    tier: Tier = "none"

    def launch(self, command: Sequence[str], folder: Path, *, writable: bool = False) -> Launch:
        """The command as it is to be started for a bot whose files are in the folder; ``writable`` lets it change them."""
        folder = folder.resolve()
        if self.tier == "bubblewrap":
            return bubblewrap_launch(command, folder, os.environ, writable=writable)
        if self.tier == "landlock":
            return landlock_launch(command, folder, os.environ, writable=writable)
        return plain_launch(command, os.environ)


OPEN = Sandbox()
"""No walls."""


class Choice(Struct, frozen=True):
    """The sandbox that is used, and a sentence for the user when it is not the best one."""

    sandbox: Sandbox
    warning: str = ""


def choose(mode: Mode, *, accept_none: bool) -> Choice:
    """The best tier that works here. Raises SandboxError when a wall is wanted and none works."""
    if mode == "off":
        return Choice(OPEN, "no sandbox: bots run with your own rights")
    reasons = {}
    for tier in WALLS:
        reasons[tier] = failure(Sandbox(tier).launch)
        if not reasons[tier]:
            weaker = "" if tier == WALLS[0] else f"sandbox {tier}, which hides less than bubblewrap ({reasons[WALLS[0]]}): {INSTALL}"
            return Choice(Sandbox(tier), weaker)
    why = "; ".join(f"{tier}: {reason}" for tier, reason in reasons.items())
    if mode == "auto" and accept_none:
        return Choice(OPEN, f"no sandbox works here ({why}): bots run with your own rights")
    raise SandboxError(
        f"expected a sandbox for bots, got none that works here ({why})",
        f"{INSTALL}; or name the bots that you would run by hand with --trust; or --unsafe-no-sandbox for all",
    )
