"""The fixtures of tests that look at pages."""

from tests.serve.serving import server
from tests.support.commandline import arena, browser

__all__ = ["arena", "browser", "server"]
