"""The sandbox around a bot's process, in three tiers. We find out which tier works here by trying
it, not by looking for a program.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from arena.errors import SandboxError
from arena.players.options import split_options
from arena.players.sandbox.grants import NO_GRANTS, Grants
from arena.players.sandbox.launch import Launch, bubblewrap_launch, landlock_launch, plain_launch
from arena.players.sandbox.probe import failure

Tier = Literal["bubblewrap", "landlock", "none"]
Mode = Literal["auto", "require", "off"]
TIERS: tuple[Tier, ...] = ("bubblewrap", "landlock")
"""The tiers that confine a bot, best first."""
INSTALL = (
    "install bubblewrap (on Debian and Ubuntu: apt install bubblewrap), then run 'arena doctor'"
)


class Sandbox(Struct, frozen=True):
    """A sandbox tier, ready for use. ``none`` limits what a bot uses, but not what it sees.

    ``grants`` are what the user lets bots do beyond it, by their labels without options. They count
    where a bot plays, and never where it is built.
    """

    tier: Tier = "none"
    grants: Mapping[str, Grants] = {}

    def launch(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        writable: bool = False,
        grants: Grants = NO_GRANTS,
    ) -> Launch:
        """How to start the command of a bot whose files are in the folder; ``writable`` lets it
        change them. Raises SandboxError.
        """
        folder = folder.resolve()
        if self.tier == "bubblewrap":
            return bubblewrap_launch(command, folder, os.environ, writable=writable, grants=grants)
        if self.tier == "landlock":
            return landlock_launch(command, folder, os.environ, writable=writable, grants=grants)
        return plain_launch(command, os.environ, grants)

    def of(self, label: str) -> Grants:
        """What the bot with this label may do, with whatever options."""
        return self.grants.get(split_options(label)[0], NO_GRANTS) if self.grants else NO_GRANTS

    def text(self, labels: Sequence[str]) -> str:
        """The tier for a record of a game of these bots, and what each seat might do beyond it:
        ``bubblewrap 0=network,env``.
        """
        granted = [(seat, self.of(label).kinds) for seat, label in enumerate(labels)]
        return " ".join(
            [self.tier, *(f"{seat}={','.join(kinds)}" for seat, kinds in granted if kinds)]
        )


OPEN = Sandbox()
"""No sandbox."""


class Choice(Struct, frozen=True):
    """The sandbox to use, and a warning for the user if it is not the best tier."""

    sandbox: Sandbox
    warning: str = ""


def choose(mode: Mode, *, accept_none: bool) -> Choice:
    """The best tier that works here. Raises SandboxError if a
    sandbox is required and none works.
    """
    if mode == "off":
        return Choice(OPEN, "no sandbox: bots run with your own rights")
    reasons = {}
    for tier in TIERS:
        reasons[tier] = failure(Sandbox(tier).launch)
        if not reasons[tier]:
            weaker = (
                ""
                if tier == TIERS[0]
                else (
                    f"sandbox {tier}, which hides less than bubblewrap ({reasons[TIERS[0]]}):"
                    f" {INSTALL}"
                )
            )
            return Choice(Sandbox(tier), weaker)
    why = "; ".join(f"{tier}: {reason}" for tier, reason in reasons.items())
    if mode == "auto" and accept_none:
        return Choice(OPEN, f"no sandbox works here ({why}): bots run with your own rights")
    raise SandboxError(
        f"expected a sandbox for bots, got none that works here ({why})",
        f"{INSTALL}; or use --trust to name the bots that you trust enough to run by hand; or"
        " --unsafe-no-sandbox for all bots",
    )
