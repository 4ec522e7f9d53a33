"""arena bench: how fast the arena is on this machine."""

import importlib

import click
import msgspec

from arena.cli.options import as_json

PARTS = ("rules", "referee", "startup")


@click.command(short_help="Measure the arena on this machine.")
@click.argument("parts", nargs=-1, type=click.Choice(PARTS))
@as_json
def bench(parts: tuple[str, ...], *, as_json: bool) -> None:
    """Measure the rules core, the referee and the start-up on this machine, each beside what it is compared with.

    \b
    arena bench
    arena bench rules --json
    """  # noqa: D301 - \b is click's mark for lines to keep
    from arena.exports.text import columns_text  # noqa: PLC0415 - help must not wait for these

    figures = []
    for part in parts or PARTS:
        click.echo(f"measuring {part}", err=True)
        figures += list(importlib.import_module(f"arena.bench.{part}").measure())
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode({figure.key: round(figure.value, 3) for figure in figures}), indent=2))
    else:
        rows = [(figure.name, f"{figure.value:,.1f}", figure.unit, figure.aim) for figure in figures]
        click.echo(columns_text(("What", "Measured", "Unit", "Aim"), rows, left=("What", "Unit", "Aim")))
