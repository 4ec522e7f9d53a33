"""The fixtures of tests that look at pages."""

from tests.support.commandline import arena, browser
from tests.web.serving import server

__all__ = ["arena", "browser", "server"]
