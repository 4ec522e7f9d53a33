"""The fixtures of tests that ask a server that runs."""

from tests.serve.serving import home, served, server

__all__ = ["home", "served", "server"]
