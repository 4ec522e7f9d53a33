"""The options that say where and how games are played, none of which changes a result."""

import logging
from functools import wraps
from typing import Any, NamedTuple, Self, cast

import click

from arena.cli.options import Command, sandbox_options
from arena.commands.allowing import SandboxChoice
from arena.tournament.own import OwnConfig
from arena.tournament.place import Place

LOG_LEVELS = {-1: logging.WARNING, 0: logging.INFO, 1: logging.DEBUG}
"""What a run's log keeps: with -q, with neither, with -v."""


def place_options(command: Command) -> Command:
    """``--jobs``, ``--cluster`` and ``--tls-...``, as one argument ``place``."""

    @wraps(command)
    def wrapped(*args: Any, **options: Any) -> Any:
        return command(
            *args, place=Place(*(options.pop(name) for name in Place._fields)), **options
        )

    for option in (
        click.option("--tls-key", metavar="FILE", help="The key of that certificate."),
        click.option(
            "--tls-cert", metavar="FILE", help="The certificate to present to the cluster."
        ),
        click.option(
            "--tls-ca-file",
            metavar="FILE",
            help=(
                "The CA certificates for the cluster's own certificate; needed for tls://"
                " addresses."
            ),
        ),
        click.option(
            "--cluster",
            metavar="ADDRESS|FILE",
            help="Play on the workers of this Dask scheduler (address or file).",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            help="Worker processes on this machine.  [default: one per core]",
        ),
    ):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


class Conduct(NamedTuple):
    """How games are played, none of which changes a result: where, in which sandbox, and how much
    is said; ``adopt`` continues a run that was made elsewhere.
    """

    place: Place
    choice: SandboxChoice
    adopt: bool
    quiet: bool
    log_level: int

    def with_defaults(self, config: OwnConfig) -> Self:
        """The same with a configuration file's values where nothing was said."""
        place = self.place.with_defaults(config)
        return self._replace(place=place, choice=self.choice.with_default(config.sandbox))


def conduct_options(command: Command) -> Command:
    """``--adopt``, ``-v`` and ``-q``, with `place_options` and `sandbox_options`, as one argument
    ``conduct``.
    """

    @wraps(command)
    def wrapped(
        *args: Any,
        place: Place,
        choice: SandboxChoice,
        adopt: bool,
        verbose: int,
        quiet: bool,
        **options: Any,
    ) -> Any:
        level = LOG_LEVELS[-1 if quiet else min(verbose, 1)]
        return command(*args, conduct=Conduct(place, choice, adopt, quiet, level), **options)

    shown = place_options(sandbox_options(wrapped))
    for option in (
        click.option(
            "-q", "--quiet", is_flag=True, help="Show no progress, and log only warnings."
        ),
        click.option(
            "-v",
            "--verbose",
            count=True,
            help="Log every game, not only faults, in the run's logs/arena.log.",
        ),
        click.option(
            "--adopt",
            is_flag=True,
            help="Continue a run that was made elsewhere; its bots are copied again.",
        ),
    ):
        shown = option(shown)
    return cast("Command", shown)
