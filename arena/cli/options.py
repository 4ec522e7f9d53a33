"""Options that several commands share, options made from settings, and printing in the form that
the options ask for.
"""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import signature
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin

import click
import msgspec
from msgspec import Meta

from arena.cli.completion import complete_bots, complete_runs
from arena.cli.numbers import Number, WholeNumber
from arena.cli.target import write_target
from arena.cli.terminal import say
from arena.errors import UserError
from arena.players.labels import split_bots
from arena.records.record import DEALS
from arena.tournament.settings import DECLARED, QUESTION, TYPES, option_name, taken_by

Command = TypeVar("Command", bound=Callable[..., Any])
MANY = 1000
"""An upper bound that is at least this large only excludes numbers that make no sense, so the help
does not show it.
"""
EXISTING_FILE = click.Path(exists=True, dir_okay=False)
"""The type of an option that names a file."""
DEAL = WholeNumber(0, DEALS - 1)
"""The type of an option that is the number of a deal."""


def refuse(mistakes: Mapping[str, object]) -> None:
    """Raises UsageError with the first sentence in ``mistakes`` whose value is true; does nothing
    if there is none. The values say whether the user made that mistake.
    """
    for mistake, is_made in mistakes.items():
        if is_made:
            raise click.UsageError(mistake)


def one_argument(
    argument: str,
    make: Callable[..., Any],
    *options: Callable[[Any], Any],
    names: Iterable[str] = (),
) -> Callable[[Command], Command]:
    """A decorator that adds ``options`` to a command, in this order, and passes them on as one
    argument called ``argument``. Its value is the result of ``make``, which takes the options as
    keyword arguments; ``names`` are their names, by default those of the parameters of ``make``.
    """
    taken = list(names or signature(make).parameters)

    def decorate(command: Command) -> Command:
        @wraps(command)
        def wrapped(*args: Any, **given: Any) -> Any:
            made = make(**{name: given.pop(name) for name in taken if name in given})
            return command(*args, **{argument: made}, **given)

        for option in reversed(options):
            wrapped = option(wrapped)
        return cast("Command", wrapped)

    return decorate


def split_words(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
    """A click callback that splits a command line, the ``value`` of the option, into words as a
    shell does. Returns None if the value is None or empty. Raises BadParameter.
    """
    try:
        return shlex.split(value) if value else None
    except ValueError as error:
        raise click.BadParameter(
            f"expected words with matching quotes, got {value!r}: {error}"
        ) from None


def check_utf8(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """A click callback that returns ``value``, the text of the option, unchanged. Raises
    BadParameter for a text that is not valid UTF-8, which could not be hashed or stored.
    """
    try:
        (value or "").encode()
    except UnicodeEncodeError:
        raise click.BadParameter(f"expected text in UTF-8, got {value!r}") from None
    return value


def _splitter(
    split: Callable[[str], list[str]], what: str, *, but: Mapping[str, Any] = MappingProxyType({})
) -> Callable[..., Any]:
    """A click callback that splits a text into a list with ``split``; None, for an option that was
    not given, stays None. A text in ``but`` has the value given there. The callback raises
    BadParameter, which names the items by ``what``, if the list is empty.
    """

    def callback(_: click.Context, __: click.Parameter, value: str | None) -> Any:
        parts = None if value is None else but[value] if value in but else split(value)
        if parts == [] and value not in but:
            raise click.BadParameter(f"expected {what} separated by commas, got {value!r}")
        return parts

    return callback


def _names(text: str) -> list[str]:
    """The names in a text such as ``a,b``."""
    return [part.strip() for part in text.split(",") if part.strip()]


split_commas = _splitter(_names, "names")
"""A click callback that reads ``a,b`` as a list of names."""
split_bot_names = _splitter(split_bots, "bots")
"""A click callback that reads ``a,b:depth=3,c=1.4`` as a list of bots with their options."""
split_match = _splitter(_names, "names", but={"none": []})
"""A click callback that reads ``a,b`` as a list of boards, and ``none`` as an empty list."""


def _parse_anchors(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> dict[str, float]:
    """A click callback that reads values such as ``bot=1500`` as ratings by name. Raises
    BadParameter.
    """
    anchors: dict[str, float] = {}
    for value in values:
        name, _equals, text = value.rpartition("=")
        try:
            elo = float(text)
        except ValueError:
            elo = inf
        # Far beyond any rating, and keeps out inf and nan.
        if not name or not -1e6 < elo < 1e6:  # noqa: PLR2004
            raise click.BadParameter(f"expected NAME=ELO such as my-bot=1500, got {value!r}")
        if name in anchors:
            raise click.BadParameter(f"{name} is an anchor twice")
        anchors[name] = elo
    return anchors


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
run_argument = click.argument("run", required=False, metavar="[RUN]", shell_complete=complete_runs)
jobs_option = click.option(
    "--jobs", type=WholeNumber(1), help="Worker processes.  [default: one per core]"
)
prior_option = click.option(
    "--prior",
    type=Number(0, min_open=True),
    metavar="N",
    help="Rate also bots that won or lost everything, with N virtual draws for every bot."
    " Otherwise they get a bound.",
)
RATING = {
    "match": click.option(
        "--match",
        callback=split_match,
        metavar="BOARD,...|none",
        help="Score matches of one game on each of these boards by total pagodas left, or 'none'"
        " for single games.  [default: as in the run]",
    ),
    "anchors": click.option(
        "--anchor",
        "anchors",
        multiple=True,
        metavar="NAME=ELO",
        callback=_parse_anchors,
        help="Fix the rating of a bot, which sets the level of all bots it can be compared with."
        " Without it, their mean is 0. Repeat it for groups of bots that never met.",
    ),
    "without": click.option(
        "--without",
        multiple=True,
        metavar="BOT",
        callback=lambda _context, _parameter, names: tuple(dict.fromkeys(names)),
        help="Leave out all games in which this bot sat. Repeat it to leave out several.",
    ),
    "prior": prior_option,
}
"""The options that say how to rate, by name."""


class Rating(NamedTuple):
    """How to rate a run: the options of `RATING`, with the names of the arguments of
    `commands.runs.rated_run`.
    """

    prior: float | None = None
    anchors: Mapping[str, float] = MappingProxyType({})
    match: list[str] | None = None
    without: tuple[str, ...] = ()


def rating_options(*names: str) -> Callable[[Command], Command]:
    """A decorator that adds the options of `RATING` with these names to a command, which gets them
    as one argument ``rating``.
    """
    return one_argument("rating", Rating, *(RATING[name] for name in names))


class OutputOptions(NamedTuple):
    """The form in which a command shows its table. ``csv_path`` is a CSV file to write, ``-`` for
    CSV on stdout in place of everything else, None for no CSV. For standings, ``wide`` shows all
    columns and ``pairs`` also the results of each pair.
    """

    as_json: bool = False
    csv_path: str | None = None
    wide: bool = False
    pairs: bool = False

    def check(self) -> None:
        """Raises UsageError for options that contradict each other, and UserError if the folder of
        the CSV file does not exist. Call it before the work begins, which may take hours.
        """
        if self.csv_path == "-" and self.as_json:
            message = "--csv - and --json cannot be combined: each prints to stdout"
            raise click.UsageError(message)
        if self.csv_path and not Path(self.csv_path).absolute().parent.is_dir():
            raise UserError(
                f"--csv: the folder of {self.csv_path} does not exist",
                "create the folder, or choose another",
            )

    def tell(
        self,
        name: str,
        csv: Callable[[], str],
        value: Callable[[], object],
        show: Callable[[], object],
    ) -> None:
        """Prints a table in the requested form, and writes a CSV file if one is requested. ``csv``
        makes the CSV, ``value`` the object for JSON, and ``show`` prints the table; each is called
        only if it is needed. ``name`` names the table in the line about the CSV file.
        """
        if self.csv_path == "-":
            click.echo(csv(), nl=False)
            return
        if self.as_json:
            tell_json(value())
        else:
            show()
        if self.csv_path:
            write_target(Path(self.csv_path), csv().encode())
            say(f"{name}: {self.csv_path}")


def output_option(csv_of: str, *options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """A decorator that adds ``--csv``, ``options`` and ``--json`` to a command, which gets them as
    one argument ``output``. ``csv_of`` says in the help which table is written as CSV.
    """
    text = f"Write {csv_of} as CSV to a file, or '-' for stdout."
    csv = click.option("--csv", "csv_path", metavar="FILE|-", help=text)
    return one_argument("output", OutputOptions, csv, *options, as_json)


standings_options = output_option(
    "the standings",
    click.option("--wide", is_flag=True, help="Show all columns of the standings."),
    click.option("--pairs", is_flag=True, help="Also show the results of each pair."),
)


def tell_json(value: object) -> None:
    """Prints a value to stdout as indented JSON."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


READ: dict[str | None, dict[str, Any]] = {
    "NAME,...": {"callback": split_commas},
    "BOT,...": {"callback": split_bot_names},
    "BOARD,...|none": {"callback": split_match},
    "FILE": {
        "type": EXISTING_FILE,
        "multiple": True,
        "callback": lambda *given: list(given[-1]) or None,
    },
    "BOT": {"shell_complete": complete_bots},
    "RUN": {"shell_complete": complete_runs},
}
"""How the text of a setting is read, by the setting's metavar."""


def setting_options(command_name: str) -> Callable[[Command], Command]:
    """A decorator that adds an option for each setting that the command called ``command_name``
    takes, except `QUESTION`, the settings that say what a comparison has to decide. The command
    gets the options that the user gave as one argument ``options``, a dictionary.
    """
    names = [name for name in taken_by(command_name) if name not in QUESTION]

    def given(**options: Any) -> dict[str, Any]:
        return {name: value for name, value in options.items() if value is not None}

    return one_argument("options", given, *map(setting_option, names), names=names)


def setting_option(name: str, **others: Any) -> Callable[[Command], Command]:
    """The click option for the setting called ``name``; its value is None unless the user gives
    one. ``others`` are arguments of `click.option`.
    """
    declared = DECLARED[name]
    flag = f"--{option_name(name)}"
    made = {"help": declared.text, "metavar": declared.metavar, **_reading(name), **others}
    return click.option(flag, name, **made)


def pool_option(pair: str, base: str) -> Callable[[Command], Command]:
    """The click option --pool, by which the user names opponents. ``pair`` and ``base`` are words
    for its help, which says what happens without opponents: the ``pair`` of bots play each other,
    and in games of three and four against copies of the bot ``base``.
    """
    return click.option(
        "--pool",
        callback=split_bot_names,
        metavar="BOT,...",
        help="Opponents for both, best of about their strength: a weak pool tells little. "
        f" [default: {pair} play each other; with three and four players, both play against"
        f" copies of {base}]",
    )


def default_option(name: str, **others: Any) -> Callable[[Command], Command]:
    """The click option for the setting called ``name``; its value is the setting's default unless
    the user gives one. ``others`` are arguments of `click.option`.
    """
    declared = DECLARED[name]
    shown = {"default": declared.default, "show_default": True, "help": declared.help}
    return setting_option(name, **{**shown, **others})


def _reading(name: str) -> dict[str, Any]:
    """How click reads the setting called ``name``, as arguments of `click.option`: by the setting's
    metavar, or else by its type and bounds.
    """
    kind, *about = get_args(TYPES[name])
    if DECLARED[name].metavar in READ:
        return READ[DECLARED[name].metavar]
    if kind is bool:
        return {"is_flag": True, "default": None}
    if get_origin(kind) is Literal:
        return {"type": click.Choice(get_args(kind))}
    bounds = next((each for each in about if isinstance(each, Meta)), None)
    if bounds is None:
        return {"type": Number()} if kind is float else {"callback": check_utf8}
    if kind is int:
        least = int(bounds.ge or 0)
        most = int(bounds.le or MANY)
        return {"type": WholeNumber(least, most if most < MANY else None)}
    return {"type": Number(bounds.gt, bounds.lt, min_open=True, max_open=bounds.lt is not None)}
