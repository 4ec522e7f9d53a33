"""The help of commands with many options, which shows the options in sections. In place of the
options of the sandbox, which many commands have, a line says where they are explained.

The section of a setting stands in its declaration in `tournament.settings`; `SECTIONS` has the
sections of all other options.
"""

from collections.abc import Iterable
from itertools import chain

import click

from arena.tournament.settings import DECLARED, option_name

SANDBOX = "Sandbox ('arena doctor --help' explains these options)"
"""The title of the section that refers to the options of the sandbox."""
SETTINGS = "settings"
"""In a section, the place of the settings that are declared with the section's title."""
SECTIONS = {
    "Question": (SETTINGS, "pool"),
    "Search": ("param", "step", "compare", "compare-games"),
    "Games": (
        *("benchmarks", "games", "minutes", "hours", SETTINGS),
        *("deal", "from", "turn", "human", "web"),
    ),
    "Regression tests": ("regression-every", "regression-games"),
    "Time": (SETTINGS,),
    "Run": (SETTINGS, "config", "finish", "adopt", "yes", "jobs", "cluster"),
    "Output": ("strict", "prior", "stderr", "log", "verbose", "quiet", "json", "help"),
}
"""The options by section, in the order of the help, without their dashes."""
PROTECTION = ("sandbox", "strangers", "allow", "trust", "unsafe-no-sandbox")
"""The options of the sandbox."""


class SectionedCommand(click.Command):
    """A command whose help shows its options in `SECTIONS`. Options that are in no section come
    first.
    """

    # Click's signature.
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the sections that have options."""
        options = _options_of(self, ctx)
        sections = {title: _names_in(title) for title in SECTIONS}
        known = {*PROTECTION, *chain.from_iterable(sections.values())}
        others = [name for name in options if name not in known]
        for title, names in {"Options": others, **sections}.items():
            shown = [options[name] for name in names if name in options]
            _write_section(title, shown, ctx, formatter)
        _write_protection(options, formatter)


class BriefCommand(SectionedCommand):
    """A command with few options, which its help shows in one section, except for those of the
    sandbox.
    """

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes all options except those of the sandbox, and one line for these."""
        options = _options_of(self, ctx)
        own = [option for name, option in options.items() if name not in PROTECTION]
        _write_section("Options", own, ctx, formatter)
        _write_protection(options, formatter)


class ExplainingCommand(click.Command):
    """The command whose help explains the options of the sandbox, although it does
    not take them.
    """

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes what the options of the sandbox do."""
        # The other command is loaded for this alone.
        from arena.cli.run import run  # noqa: PLC0415

        options = _options_of(run, ctx)
        of_sandbox = [options[name] for name in PROTECTION]
        _write_section("Sandbox, in commands that start bots", of_sandbox, ctx, formatter)


def _names_in(title: str) -> list[str]:
    """The names of the options in the section with this title, in the order of the help."""
    names: list[str] = []
    for name in SECTIONS[title]:
        if name == SETTINGS:
            names += [option_name(each) for each in DECLARED if DECLARED[each].section == title]
        else:
            names.append(name)
    return names


def _options_of(command: click.Command, ctx: click.Context) -> dict[str, click.Option]:
    """The options that a command's help shows, by name without dashes."""
    options = {}
    for param in command.get_params(ctx):
        if isinstance(param, click.Option) and not param.hidden:
            longest = max(param.opts, key=len)
            options[longest.lstrip("-")] = param
    return options


def _write_section(
    title: str, options: Iterable[click.Option], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Writes a section of a command's help, unless none of its options has a help text."""
    every_record = [option.get_help_record(ctx) for option in options]
    records = list(filter(None, every_record))
    if records:
        with formatter.section(title):
            formatter.write_dl(records)


def _write_protection(options: dict[str, click.Option], formatter: click.HelpFormatter) -> None:
    """Writes the line about those options of the sandbox that the command has, if any."""
    names = [f"--{name}" for name in PROTECTION if name in options]
    if names:
        with formatter.section(SANDBOX):
            formatter.write_text(", ".join(names))
