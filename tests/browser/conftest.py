"""The fixtures of tests that look at pages."""

from tests.serve.serving import patient_server, server
from tests.support.commandline import arena, browser

__all__ = ["arena", "browser", "patient_server", "server"]
