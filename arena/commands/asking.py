"""A bot that is asked about recorded games: the user's, or the one that played them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.commands.allowing import SandboxChoice
from arena.commands.bots import Tell, bot_finder, find_bot
from arena.commands.folders import registry_of
from arena.players.builtin import is_built_in
from arena.players.folder import Bot
from arena.players.sandbox.tiers import Sandbox
from arena.players.staging import staged_for_a_while
from arena.tournament.review import Adviser
from arena.tournament.scripts import Scripts


def note_bank(scripts: Scripts, tell: Tell) -> None:
    """Says what differs from the original game in a run with a bank."""
    if scripts.has_bank:
        tell(
            "note: the run has a bank, and its records do not say how much was left at a turn:"
            " time_ms assumes that all answers of a game took equally long"
        )


@contextmanager
def bot_to_ask(
    home: Path, scripts: Scripts, text: str | None, played: str, choice: SandboxChoice
) -> Iterator[tuple[Bot, Sandbox]]:
    """The bot that the user names, in a temporary folder, or else the run's own copy; with its
    sandbox. Raises UserError.
    """
    if text is None:
        bot = scripts.played_bot(played)
        yield bot, choice.sandbox_for([bot])
        return
    bot = find_bot(registry_of(home), text, choice.tell)
    sandbox = choice.sandbox_for([bot])
    with staged_for_a_while(bot, sandbox=sandbox) as [staged]:
        yield staged, sandbox


@contextmanager
def adviser(home: Path, run: Path, name: str, choice: SandboxChoice) -> Iterator[Adviser | None]:
    """The bot of that name or path as a judge of a run's moves; None for a built-in one, which
    needs no process. Raises UserError.
    """
    # Notes about the bot come when it is made ready.
    if is_built_in(bot_finder(home, lambda _: None, in_process=False)(name)):
        yield None
        return
    scripts = Scripts(run)
    note_bank(scripts, choice.tell)
    with bot_to_ask(home, scripts, name, "", choice) as (bot, sandbox):
        yield Adviser(bot, sandbox, scripts)
