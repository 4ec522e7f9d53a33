"""The fixtures of tests that run the command."""

from tests.support.commandline import arena, browser, zoo_bot

__all__ = ["arena", "browser", "zoo_bot"]
