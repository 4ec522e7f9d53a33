"""The command line: the only code that parses arguments, prints or exits."""

from arena.cli.main import main

__all__ = ["main"]
