"""The fixtures of tests that ask a server that runs."""

from tests.serve.serving import home, patient_server, served, server

__all__ = ["home", "patient_server", "served", "server"]
