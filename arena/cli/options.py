"""Options, arguments and look-ups shared by several commands."""

import shlex
from collections.abc import Callable, Sequence
from functools import wraps
from math import isfinite
from typing import Any, TypeVar, cast

import click

from arena.cli.terminal import say
from arena.commands.allowing import SandboxChoice
from arena.match.clock import Timing
from arena.players.options import split_bots
from arena.players.sandbox.tiers import Mode
from arena.records.record import DEALS

SCORING = (
    "Score matches of one game on each of these boards by total pagodas left, or 'none' for single"
    " games.  [default: as in the run]"
)
"""The help of ``--match`` for commands that show an existing run."""
MODES = ("auto", "require", "off")
Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
DEAL = click.IntRange(0, DEALS - 1)
run_argument = click.argument("run", required=False, metavar="[RUN]")
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), help="Worker processes.  [default: one per core]"
)
move_ms_option = click.option(
    "--move-ms",
    type=click.IntRange(1),
    default=Timing().move_ms,
    show_default=True,
    help="Time for a move, in ms.",
)


class Positive(click.FloatRange):
    """A number above 0 that has an end."""

    def __init__(self) -> None:
        super().__init__(0, min_open=True)

    # Click's signature.
    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number; fails for one that compares with none, too."""
        number: float = super().convert(value, param, ctx)
        return number if isfinite(number) else self.fail(f"{value!r} is no number.", param, ctx)


def sandbox_options(command: Command) -> Command:
    """``--sandbox``, ``--allow``, ``--trust`` and ``--unsafe-no-sandbox``, as one argument
    ``choice``.
    """

    @wraps(command)
    def wrapped(
        *args: Any,
        sandbox: Mode | None,
        trust: list[str] | None,
        allow: tuple[str, ...],
        unsafe_no_sandbox: bool,
        **options: Any,
    ) -> Any:
        home = click.get_current_context().obj
        trusted = tuple(trust or ())
        choice = SandboxChoice(sandbox, trusted, unsafe_no_sandbox, allow, home, say)
        return command(*args, choice=choice, **options)

    for option in (
        click.option(
            "--unsafe-no-sandbox",
            is_flag=True,
            help="If no sandbox works, run all bots with your own rights.",
        ),
        click.option(
            "--trust",
            callback=split_bot_names,
            metavar="BOT,...",
            help="If no sandbox works, run these bots with your own rights.",
        ),
        click.option(
            "--allow",
            multiple=True,
            metavar="BOT=GRANT,...",
            help=(
                "Let one bot use more: network, env:NAME, read:PATH, gpu or cpus:N. Repeat it for"
                " others."
            ),
        ),
        click.option(
            "--sandbox",
            type=click.Choice(MODES),
            help="The sandbox for bots; see 'arena doctor'.  [default: auto]",
        ),
    ):
        wrapped = option(wrapped)
    return cast("Command", wrapped)


def prior_option(command: Command) -> Command:
    """``--prior none|N``; ``auto`` is an older name of none."""
    return click.option(
        "--prior",
        default="none",
        show_default=True,
        metavar="none|N",
        callback=_parse_prior,
        help=(
            "Rate also bots that won or lost everything, with N virtual draws for every bot."
            " Otherwise they get a bound."
        ),
    )(command)


def _parse_prior(_: click.Context, __: click.Parameter, value: str) -> float | None:
    if value in ("auto", "none"):
        return None
    try:
        weight = float(value)
    except ValueError:
        weight = -1.0
    # A generous bound that keeps out inf and nan.
    if not 0 < weight < 1e6:  # noqa: PLR2004
        raise click.BadParameter(f"expected none or a number above 0, got {value!r}")
    return weight


def anchor_option(command: Command) -> Command:
    """``--anchor NAME=VALUE``, as an argument ``anchors``."""
    return click.option(
        "--anchor",
        "anchors",
        multiple=True,
        metavar="NAME=ELO",
        callback=_parse_anchors,
        help=(
            "Fix the rating of a bot, which sets the level of all bots it can be compared with."
            " Without it, their mean is 0. Repeat it for groups of bots that never met."
        ),
    )(command)


def without_option(command: Command) -> Command:
    """``--without BOT``, as a tuple of names ``without``."""
    return click.option(
        "--without",
        multiple=True,
        metavar="BOT",
        callback=lambda _context, _parameter, names: tuple(dict.fromkeys(names)),
        help="Leave out all games in which this bot sat. Repeat it to leave out several.",
    )(command)


def _parse_anchors(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> dict[str, float]:
    anchors: dict[str, float] = {}
    for value in values:
        name, _equals, text = value.rpartition("=")
        try:
            elo = float(text)
        except ValueError:
            elo = float("inf")
        # Far beyond any rating, and keeps out inf and nan.
        if not name or not -1e6 < elo < 1e6:  # noqa: PLR2004
            raise click.BadParameter(f"expected NAME=ELO such as my-bot=1500, got {value!r}")
        if name in anchors:
            raise click.BadParameter(f"expected each anchor once, got {name} twice")
        anchors[name] = elo
    return anchors


def match_option(help_text: str) -> Callable[[Command], Command]:
    """``--match BOARD,...|none``, as a list of boards, empty for ``none``, or None."""
    return click.option("--match", callback=_parse_match, metavar="BOARD,...|none", help=help_text)


def _parse_match(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> list[str] | None:
    return [] if value == "none" else split_commas(context, parameter, value)


def split_words(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """A command line split into words, for options that take one."""
    try:
        return shlex.split(value) if value else None
    except ValueError as error:
        raise click.BadParameter(
            f"expected words with matching quotes, got {value!r}: {error}"
        ) from None


def check_utf8(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The text, for options whose text is hashed or kept in a file."""
    try:
        (value or "").encode()
    except UnicodeEncodeError:
        raise click.BadParameter(f"expected text in UTF-8, got {value!r}") from None
    return value


def split_commas(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """``a,b`` as a list, for options that take one."""
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if not parts:
        raise click.BadParameter(f"expected names separated by commas, got {value!r}")
    return parts


def split_bot_names(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """``a,b:depth=3,c=1.4`` as a list of bots, for options that take one."""
    if value is None:
        return None
    names = split_bots(value)
    if not names:
        raise click.BadParameter(f"expected bots separated by commas, got {value!r}")
    return names
