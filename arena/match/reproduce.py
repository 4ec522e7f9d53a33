"""Reproduces a fault: sends a bot the lines after which it forfeited, and compares what it does
now.
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import chain, count
from typing import Literal, NamedTuple

import msgspec

from arena.faults import FaultKind
from arena.match.decisions import Decision, decisions_of, retrace
from arena.match.replay import ReplayableGame
from arena.players.bot import BotPlayer, Speech
from arena.players.channel import Channel, Direction
from arena.players.crashes import with_own_paths
from arena.players.folder import Bot
from arena.players.messages import Hello, ToBot, encode
from arena.players.player import KEPT_BYTES
from arena.players.sandbox.tiers import Sandbox
from arena.records.evidence import KeptFault
from arena.records.record import Fault

START = '{"type":"start",'
TURN = re.compile(r'\{"type":"turn","id":([0-9]{1,15}),')
HELLO_ID = 1
FIRST_TURN_ID = 2

ReproductionVerdict = Literal["same", "other", "answered"]


class Reproduction(NamedTuple):
    """The result of reproducing a fault.

    ``verdict``    ``same``: the same fault at the same turn; ``other``: another fault, or the same
                   one earlier; ``answered``: no fault
    ``decisions``  the decisions for which the bot was asked, in order; empty if it forfeited at the
                   start and now starts
    ``sent``       the number of lines sent to the bot
    ``compared``   the number of these lines that could be compared with the evidence
    ``differs``    the first pair of compared lines that are not equal, (evidence, now); None if
                   there is none
    ``old_words``  what the bot answered to the last request then, by the evidence
    ``new_words``  what the bot answered to the last request now
    ``ending``     how the bot's process ended
    ``stderr``     the end of what the bot wrote to stderr
    """

    verdict: ReproductionVerdict
    decisions: list[Decision]
    sent: int
    compared: int
    differs: tuple[str, str] | None
    old_words: list[str]
    new_words: list[str]
    ending: str
    stderr: str


def reproduce(
    script: ReplayableGame,
    fault: Fault,
    kept: KeptFault | None,
    bot: Bot,
    sandbox: Sandbox,
    arena: str,
) -> Reproduction:
    """Sends ``bot`` what the seat of ``fault`` was sent in the game ``script`` until it forfeited.
    ``kept`` is the evidence, None if there is none; ``arena`` is the version that played the run.

    Raises RunError if the record does not follow from its deck and moves, Void if the machine
    fails, and BusyMachineError.
    """
    old = [(way, text) for way, _, text in kept.lines] if kept else []
    asked = sum(turn < fault.turn for turn in decisions_of(script.record, fault.seat))
    exchanged: list[tuple[Direction, str]] = []
    speech = _as_in_the_run(arena, _first_id(old, asked), exchanged)
    timing = script.timing
    is_start = fault.kind == FaultKind.STARTUP
    player = BotPlayer(bot, timing.startup_ms, sandbox, timing.clock, speech)
    # to reproduce a fault at the start, the bot is only started
    wanted = -1 if is_start else fault.turn
    times = kept.asked_ms if kept else ()
    try:
        decisions = retrace(script, fault.seat, player, wanted=wanted, asked_ms=times).decisions
        ending, _, written = player.evidence()
        stderr = with_own_paths(bot.base, bot.folder, written)
    finally:
        player.dismiss()
    last = next((decision for decision in decisions if decision.fault), None)
    is_same = last and last.fault == fault.kind and (is_start or last.turn == fault.turn)
    verdict: ReproductionVerdict = "answered"
    if last is not None:
        verdict = "same" if is_same else "other"
    compared, differs = _compare(_sent(old), _sent(exchanged))
    ways = [way for way, _ in exchanged]
    return Reproduction(
        verdict=verdict,
        decisions=decisions,
        sent=ways.count("to"),
        compared=compared,
        differs=differs,
        old_words=_words(old),
        new_words=_words(exchanged),
        ending=ending,
        stderr=stderr,
    )


def _as_in_the_run(arena: str, first: int, exchanged: list[tuple[Direction, str]]) -> Speech:
    """How to speak to the bot as the arena of the run did: hello names the version ``arena``,
    requests have the same ids (1 for hello, then ``first`` and the following numbers). All lines of
    both sides are appended to ``exchanged``.
    """

    def in_its_version(message: ToBot) -> bytes:
        """Encodes ``message``; hello names the run's version of the arena."""
        is_hello = isinstance(message, Hello)
        return encode(msgspec.structs.replace(message, arena=arena) if is_hello else message)

    def keep(direction: Direction, text: bytes, _: int, /, *, unread: bool = False) -> None:
        """Appends the lines of ``text``, and who sent them, to ``exchanged``, except lines that are
        not read.
        """
        if not unread:
            for line in text.rstrip(b"\n").split(b"\n"):
                start = line[:KEPT_BYTES].decode(errors="backslashreplace")
                exchanged.append((direction, start))

    return Speech(
        encode=in_its_version,
        numbers=lambda: chain([HELLO_ID], count(first)),
        connect=partial(Channel, tap=keep),
    )


def _first_id(old: Sequence[tuple[str, str]], asked: int) -> int:
    """The id of the game's first request, computed from the last id in ``old``, the lines of the
    evidence; ``asked`` is the number of requests in the game before the last one. Without an id in
    the evidence it is 2.

    Evidence that ends with two lines from the bot shows output that was not asked for. That is
    noticed before the last request is sent, so the last id is then one lower.
    """
    last_id = None
    for way, text in old:
        request = TURN.match(text)
        if way == "to" and request:
            last_id = int(request[1])
    if last_id is None:
        return FIRST_TURN_ID
    has_unasked = [way for way, _ in old[-2:]] == ["from", "from"]
    if has_unasked:
        last_id += 1
    return max(FIRST_TURN_ID, last_id - asked)


def _sent(exchanged: Sequence[tuple[str, str]]) -> list[str]:
    """The lines of ``exchanged`` to the bot since the start of its last game, or all lines to the
    bot if there is no start of a game.
    """
    sent: list[str] = []
    for way, text in exchanged:
        if way == "to":
            if text.startswith(START):
                sent.clear()
            sent.append(text)
    return sent


def _compare(old: Sequence[str], new: Sequence[str]) -> tuple[int, tuple[str, str] | None]:
    """How many of the ``old`` lines, those of the evidence, can be compared with ``new`` ones, and
    the first pair of lines that differs, None if none does.
    """
    if not old:
        return 0, None
    first = new.index(old[0]) if old[0] in new else 0
    pairs = list(zip(old, new[first:], strict=False))
    for then, now in pairs:
        if then != now:
            return len(pairs), (then, now)
    return len(pairs), None


def _words(exchanged: Sequence[tuple[str, str]]) -> list[str]:
    """The lines of ``exchanged`` that the bot wrote after the last line that it was sent."""
    words: list[str] = []
    for way, text in exchanged:
        if way == "to":
            words.clear()
        else:
            words.append(text)
    return words
