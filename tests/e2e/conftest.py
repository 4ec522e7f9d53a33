"""The fixtures of tests that run the command."""

from tests.support.commandline import arena, browser, zoo_bot
from tests.support.timed import one_core, player

__all__ = ["arena", "browser", "one_core", "player", "zoo_bot"]
