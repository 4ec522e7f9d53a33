"""What a cluster worker must have in common with the tournament's main process, and its answers."""

import hashlib
import platform
import sys
import time
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

import arena
from arena.players.sandbox.probe import failure
from arena.players.sandbox.tiers import INSTALL, OPEN, TIERS, Sandbox, Tier
from arena.rules import CORE, pure
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.deals import deck_of
from arena.tournament.workers import Setup

CODE_DIGITS = 8
ROUNDS, GAMES = 5, 20


class Versions(NamedTuple):
    """What affects games besides the bots: the arena's version and a digest of its code, Python,
    and the rules core.
    """

    host: str
    arena: str
    code: str
    python: str
    core: str


class Terms(Struct, frozen=True):
    """What a session requires of its workers. ``token`` names the session, and ``setup`` belongs to
    it.
    """

    token: str
    setup: Setup


class Refused(Struct, frozen=True):
    """A worker may not play; the reason includes the cure."""

    host: str
    reason: str


class Lacking(Struct, frozen=True):
    """A worker can play once it has the files of these bots."""

    labels: list[str]


class Admitted(Struct, frozen=True):
    """A worker may play. ``speed`` is its machine's speed as measured by `speed`; ``sandbox`` is
    its sandbox tier.
    """

    host: str
    speed: int
    sandbox: Tier


def versions() -> Versions:
    """The versions of this process."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Versions(platform.node(), arena.__version__, code_digest(), python, CORE)


def code_digest() -> str:
    """The first digits of a sha256 of the arena's Python and C code, since two checkouts of one
    version may differ.
    """
    root, digest = Path(arena.__file__).parent, hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c", ".h")):
        digest.update(
            b"%s\0%s\0"
            % (
                path.relative_to(root).as_posix().encode(),
                hashlib.sha256(path.read_bytes()).digest(),
            )
        )
    return digest.hexdigest()[:CODE_DIGITS]


def disagreement(here: Versions, there: Versions) -> str:
    """Why games could go differently there, with the cure; empty if they could not."""
    if (here.arena, here.code) != (there.arena, there.code):
        return (
            f"expected qin-arena {here.arena} (code {here.code}), got {there.arena} (code"
            f" {there.code}): install the same version there, then restart the worker"
        )
    if here.python != there.python:
        return (
            f"expected Python {here.python}, got {there.python}: start the worker with the"
            " expected one"
        )
    if here.core != there.core:
        return (
            f"expected the {here.core} rules core, got the {there.core} one: where the core is"
            " pure, install a C compiler and then reinstall qin-arena, or run everything with"
            " ARENA_RULES=pure"
        )
    return ""


def best_sandbox(least: Tier) -> tuple[Sandbox, str]:
    """The best sandbox that works here and is at least as good as ``least``, and why there is none
    if so.
    """
    if least == "none":
        return OPEN, ""
    reasons = []
    for tier in TIERS[: TIERS.index(least) + 1]:
        reason = failure(Sandbox(tier).launch)
        if not reason:
            return Sandbox(tier), ""
        reasons.append(f"{tier}: {reason}")
    return (
        OPEN,
        (
            f"expected the {least} sandbox, which does not work there ({'; '.join(reasons)}):"
            f" {INSTALL}"
        ),
    )


def speed() -> int:
    """Random 2-player games that the pure core plays here per second, to two digits: the same work
    on every machine.

    Measured in processor time, so that other programs hardly matter.
    """
    board, deck = built_in("bird"), parse_deck(deck_of("speed", "bird", 0))
    times = []
    for _ in range(ROUNDS):
        began_ns = time.thread_time_ns()
        for seed in range(GAMES):
            pure.State(board, 2, deck).playout(seed)
        times.append(time.thread_time_ns() - began_ns)
    return int(float(f"{GAMES * 1e9 / min(times):.1e}"))
