"""What makes a game void, and how often a void game is tried again.

A game is void if it broke off for a reason outside the bots:

- code that finds the machine at fault raises `errors.Void`, as in `players.process`;
  the referee adds what had been played (`match.referee.BrokenOff`);
- any other exception that `is_our_error`, a mistake in the arena, is made a Void in the worker;
- the worker that played the game, and no other game, died.

A void game does not count. It is tried again, up to `ATTEMPTS` times in all. The game of a person
on a page, which no worker plays, also breaks off when the person leaves (`web.opengame`).
"""

import logging
from collections import Counter
from pathlib import Path

from arena.errors import UserError, Void
from arena.match.referee import BrokenOff, GamePlan
from arena.records.record import VERSION, utc_now
from arena.records.voids import SoFar, VoidGame, append_void
from arena.tournament.events import Voided

log = logging.getLogger(__name__)

ATTEMPTS = 3
"""How often in all a game is tried if it fails for a reason outside the bots."""


def is_our_error(error: BaseException) -> bool:
    """Whether an exception in a game is a mistake in the arena, for which the game is void. False
    for a Void, for a UserError, which ends the run, and for what ends the process, such as
    KeyboardInterrupt.
    """
    return isinstance(error, Exception) and not isinstance(error, Void | UserError)


def void_of(error: BaseException, so_far: SoFar | None = None) -> Void:
    """The Void for a game that ended with ``error``, which `is_our_error`. ``so_far`` is the part
    of the game that was played; None if that is not known.
    """
    return BrokenOff(repr(error), so_far=so_far)


def void_of_dead_worker() -> Void:
    """The Void for a game during which its worker died, while it played no other game."""
    return Void("its worker died")


class VoidAttempts:
    """Counts the void attempts at games in one session of a run, and appends each to the
    voids.jsonl in the run's ``folder``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._attempts: Counter[str] = Counter()

    def add(self, plan: GamePlan, error: BaseException) -> Voided:
        """Counts an attempt at the game ``plan`` that ended with ``error``. The game is given up
        at attempt number `ATTEMPTS`.
        """
        cause = None if isinstance(error, Void) else error
        log.warning("%s is void: %r", plan.id, error, exc_info=cause)
        self._attempts[plan.id] += 1
        tried = self._attempts[plan.id]
        reason = str(error) or repr(error)
        void = VoidGame(
            v=VERSION,
            id=plan.id,
            board=plan.board,
            deal=plan.deal,
            seating=plan.seating,
            bots=list(plan.bots),
            deck=plan.deck,
            reason=reason,
            attempt=tried,
            ended=utc_now(),
            so_far=error.so_far if isinstance(error, BrokenOff) else None,
        )
        append_void(self._folder, void)
        cure = error.hint if isinstance(error, Void) else ""
        return Voided(plan.id, reason, given_up=tried >= ATTEMPTS, cure=cure)
