"""The fixtures of tests that look at the parts of a server."""

from tests.serve.serving import home, served, server

__all__ = ["home", "served", "server"]
