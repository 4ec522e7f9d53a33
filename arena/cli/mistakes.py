"""The errors for mistakes in a typed command: each is one sentence and a hint, in the form of all
errors of the arena.
"""

from collections.abc import Iterable

import click

from arena.cli.numbers import path_of
from arena.errors import MAX_NEAR, UserError, did_you_mean
from arena.tournament.removed import REMOVED, SINCE


class MistakeError(click.UsageError):
    """A mistake in a command; ``hint`` says what to type instead."""

    def __init__(self, message: str, hint: str, context: click.Context | None = None) -> None:
        super().__init__(message, context)
        self.hint = hint


class NoCommandError(MistakeError):
    """There is no command called ``name``, or this version has removed it. ``known`` are the
    commands that exist.
    """

    def __init__(self, name: str, known: Iterable[str], context: click.Context) -> None:
        instead = REMOVED.get(f"{path_of(context)} {name}".strip())
        if instead:
            super().__init__(
                f"'{context.command_path} {name}' was removed in {SINCE}", instead, context
            )
            return
        hint = f"{did_you_mean(name, known)}'{context.command_path} --help' lists the commands"
        super().__init__(f"'{context.command_path}' has no command {name!r}", hint, context)


def mistake(error: click.ClickException) -> UserError:
    """The error that the arena prints in place of an ``error`` of click."""
    if isinstance(error, MistakeError):
        return UserError(error.message, error.hint)
    text = _sentence(error.format_message())
    if isinstance(error, click.BadOptionUsage) and text.endswith("requires an argument"):
        text = f"{error.option_name} needs a value"
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return UserError(text)
    if isinstance(error, click.NoSuchOption):
        return _no_such_option(error.option_name, context)
    if text == "missing command":
        text = f"'{context.command_path}' needs a command"
    elif isinstance(error, click.MissingParameter) and error.param is not None:
        text = f"'{context.command_path}' needs {_name(error.param, context)}"
    elif isinstance(error, click.BadParameter):
        name = error.param_hint or (error.param and _name(error.param, context)) or ""
        shown = name if isinstance(name, str) else " / ".join(name)
        text = f"{shown.strip(chr(39))}: {_sentence(error.message)}"
    return UserError(text, _help(context))


def _no_such_option(option: str, context: click.Context) -> UserError:
    """The error for an option that the command does not have, or that this version has removed."""
    instead = REMOVED.get(f"{path_of(context)} {option}")
    if instead:
        return UserError(f"{option} of '{context.command_path}' was removed in {SINCE}", instead)
    # Imported here, because only a mistake needs it.
    from difflib import get_close_matches  # noqa: PLC0415

    # Without the dashes, which all options share.
    known = {}
    for param in context.command.get_params(context):
        if isinstance(param, click.Option) and not param.hidden:
            for name in param.opts + param.secondary_opts:
                known[name.lstrip("-")] = name
    near = get_close_matches(option.lstrip("-"), known, n=1)
    begun = [name for name in known if name.startswith(option.lstrip("-"))]
    meant = " or ".join(known[name] for name in begun[:MAX_NEAR] or near)
    question = f"did you mean {meant}? " if meant else ""
    return UserError(f"'{context.command_path}' has no option {option}", question + _help(context))


def _help(context: click.Context) -> str:
    """A hint to read the help of a command."""
    return f"'{context.command_path} --help' shows how to use it"


def _name(param: click.Parameter, context: click.Context) -> str:
    """The name of an option or argument as the user types it."""
    if isinstance(param, click.Option):
        return max(param.opts, key=len)
    return param.make_metavar(context).strip("[].")


def _sentence(text: str) -> str:
    """A sentence of click's in the arena's form: without a capital at its start and without a full
    stop.
    """
    text = text.removesuffix(".")
    return text[:1].lower() + text[1:]
