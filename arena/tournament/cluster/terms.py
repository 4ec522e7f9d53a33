"""What a worker of a cluster must have in common with whoever runs the tournament, and what it answers to that."""

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
    """What decides, beside the bots, how games go: the arena's version and a digest of its code, Python, the core of the rules."""

    host: str
    arena: str
    code: str
    python: str
    core: str


class Terms(Struct, frozen=True):
    """What a session asks of its workers. ``token`` names the session, ``setup`` is its own."""

    token: str
    setup: Setup


class Refused(Struct, frozen=True):
    """A worker may not play, for this reason, which names the cure."""

    host: str
    reason: str


class Lacking(Struct, frozen=True):
    """A worker could play if it had the files of these bots."""

    labels: list[str]


class Admitted(Struct, frozen=True):
    """A worker may play. ``speed`` is that of its machine as `speed` measures it, ``sandbox`` the tier of its walls."""

    host: str
    speed: int
    sandbox: Tier


def versions() -> Versions:
    """Those of this process."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return Versions(platform.node(), arena.__version__, code_digest(), python, CORE)


def code_digest() -> str:
    """The first digits of a sha256 of the arena's own Python and C code; two checkouts of one version may differ."""
    root, digest = Path(arena.__file__).parent, hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c")):
        digest.update(b"%s\0%s\0" % (path.relative_to(root).as_posix().encode(), hashlib.sha256(path.read_bytes()).digest()))
    return digest.hexdigest()[:CODE_DIGITS]


def disagreement(here: Versions, there: Versions) -> str:
    """Why games would go otherwise there, with the cure; empty when they would not."""
    if (here.arena, here.code) != (there.arena, there.code):
        return (
            f"expected qin-arena {here.arena} (code {here.code}), got {there.arena} (code {there.code}): "
            "install the same there, then start the worker again"
        )
    if here.python != there.python:
        return f"expected Python {here.python}, got {there.python}: start the worker with that one"
    if here.core != there.core:
        return (
            f"expected the {here.core} rules core, got the {there.core} one: "
            "install a C compiler and then qin-arena anew where it is pure, or run all with ARENA_RULES=pure"
        )
    return ""


def walls(least: Tier) -> tuple[Sandbox, str]:
    """The best sandbox that works here, and why none does that is at least so good; where that is none, there is none."""
    if least == "none":
        return OPEN, ""
    reasons = []
    for tier in TIERS[: TIERS.index(least) + 1]:
        reason = failure(Sandbox(tier).launch)
        if not reason:
            return Sandbox(tier), ""
        reasons.append(f"{tier}: {reason}")
    return OPEN, f"expected the sandbox {least}, which does not work there ({'; '.join(reasons)}): {INSTALL}"


def speed() -> int:
    """Random games of two that the pure core plays here in a second, to two digits: the same work on every machine.

    Counted by processor time, so that what else runs there hardly matters.
    """
    board, deck = built_in("bird"), parse_deck(deck_of("speed", "bird", 0))
    times = []
    for _ in range(ROUNDS):
        began_ns = time.thread_time_ns()
        for seed in range(GAMES):
            pure.State(board, 2, deck).playout(seed)
        times.append(time.thread_time_ns() - began_ns)
    return int(float(f"{GAMES * 1e9 / min(times):.1e}"))
