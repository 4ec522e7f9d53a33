"""Which tests begin, and which folders `make test` leaves to `make test-all`."""

FIRST = ("e2e/test_docs", "e2e/test_demo", "e2e/test_cluster", "e2e/test_chaos", "e2e/test_soak")
"""Files in which one test takes half a minute: they begin, so that none of them is left to run
alone at the end.
"""
LONG = ("attacks", "bench", "browser", "e2e", "release", "serve", "simulations")
"""Folders whose tests `make test` leaves to `make test-all`, beside the tests marked `long`."""
