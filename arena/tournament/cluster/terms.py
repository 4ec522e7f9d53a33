"""What a worker of a cluster must have in common with whoever runs the tournament, and what it answers to that."""

import hashlib
import sys
import time
from pathlib import Path

from msgspec import Struct

import arena
from arena.players.sandbox.probe import failure
from arena.players.sandbox.tiers import INSTALL, OPEN, WALLS, Sandbox, Tier
from arena.rules import CORE, pure
from arena.rules.boards import built_in
from arena.rules.notation import parse_deck
from arena.tournament.deals import deck_of
from arena.tournament.workers import Setup

CODE_DIGITS = 8
ROUNDS, GAMES = 5, 20
DIFFERENT = 1.25
"""Machines of which one is so much faster than another do not give bots the same time."""


class Terms(Struct, frozen=True):
    """What a session asks of its workers. ``token`` names the session, ``setup`` is its own; ``code`` and the others are `versions`."""

    token: str
    setup: Setup
    arena: str
    code: str
    python: str
    core: str


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


def make_terms(token: str, setup: Setup) -> Terms:
    """The terms of a session on this machine."""
    return Terms(token, setup, **versions())


def versions() -> dict[str, str]:
    """What decides, beside the bots, how a game goes: the arena's version and code, Python, the core of the rules."""
    return {"arena": arena.__version__, "code": code_digest(), "python": f"{sys.version_info.major}.{sys.version_info.minor}", "core": CORE}


def code_digest() -> str:
    """The first digits of a sha256 of the arena's own Python and C code; two checkouts of one version may differ."""
    root, digest = Path(arena.__file__).parent, hashlib.sha256()
    for path in sorted(path for path in root.rglob("*") if path.suffix in (".py", ".c")):
        digest.update(b"%s\0%s\0" % (path.relative_to(root).as_posix().encode(), hashlib.sha256(path.read_bytes()).digest()))
    return digest.hexdigest()[:CODE_DIGITS]


def disagreement(terms: Terms) -> str:
    """In what this machine differs from the terms, with the cure; empty when it does not."""
    here = versions()
    if (here["arena"], here["code"]) != (terms.arena, terms.code):
        return (
            f"expected qin-arena {terms.arena} (code {terms.code}), got {here['arena']} (code {here['code']}): "
            "install the same there, then start the worker again"
        )
    if here["python"] != terms.python:
        return f"expected Python {terms.python}, got {here['python']}: start the worker with that one"
    if here["core"] != terms.core:
        return (
            f"expected the {terms.core} rules core, got the {here['core']} one: "
            "install a C compiler and qin-arena anew there, or run all with ARENA_RULES=pure"
        )
    return ""


def walls(least: Tier) -> tuple[Sandbox, str]:
    """The best sandbox that works here, and why none does that is at least so good; where that is none, there is none."""
    if least == "none":
        return OPEN, ""
    reasons = []
    for tier in WALLS[: WALLS.index(least) + 1]:
        reason = failure(Sandbox(tier).launch)
        if not reason:
            return Sandbox(tier), ""
        reasons.append(f"{tier}: {reason}")
    return OPEN, f"expected the sandbox {least}, which does not work there ({'; '.join(reasons)}): {INSTALL}"


def speed() -> int:
    """Random games of two that the pure core plays here in a second, to two digits: the same work on every machine."""
    board, deck = built_in("bird"), parse_deck(deck_of("speed", "bird", 0))
    times = []
    for _ in range(ROUNDS):
        began_ns = time.perf_counter_ns()
        for seed in range(GAMES):
            pure.State(board, 2, deck).playout(seed)
        times.append(time.perf_counter_ns() - began_ns)
    return int(float(f"{GAMES * 1e9 / min(times):.1e}"))


def host_name(host: str, measured: int) -> str:
    """What records say of a machine of a cluster: its name and its speed."""
    return f"{host} @ {measured}/s"
