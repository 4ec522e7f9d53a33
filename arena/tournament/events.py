"""The events that a run emits while it is played."""

from typing import NamedTuple

from arena.match.referee import Outcome


class GamePlayed(NamedTuple):
    """A game ended and is in the journal."""

    outcome: Outcome


class Voided(NamedTuple):
    """A game broke off through no fault of a bot; ``given_up`` if it is not tried again in this
    session.
    """

    game: str
    reason: str
    given_up: bool


class WorkerDied(NamedTuple):
    """A worker died; this many games had been handed out to it and its neighbours; those
    that had not come back are played again.
    """

    games: int


class Stopping(NamedTuple):
    """The run was asked to stop: this many games are still being played and will count."""

    running: int


class MachineChanged(NamedTuple):
    """A machine of the cluster now plays this many games at a time; ``speed`` is in games of the
    pure core per second.
    """

    host: str
    places: int
    speed: int
    sandbox: str


class MachinesDiffer(NamedTuple):
    """The cluster's machines differ so much in speed that equal
    times are not equal for the bots.
    """

    slow: str
    fast: str
    ratio: float


class WorkerRefused(NamedTuple):
    """A worker of the cluster may not play."""

    worker: str
    host: str
    reason: str


class WorkerBusy(NamedTuple):
    """A worker of the cluster has not yet answered whether it may play."""

    worker: str


class NoWorkers(NamedTuple):
    """The cluster has no worker that may play; we are waiting for one."""

    address: str
    seconds: float


Event = (
    GamePlayed
    | Voided
    | WorkerDied
    | Stopping
    | MachineChanged
    | MachinesDiffer
    | WorkerRefused
    | WorkerBusy
    | NoWorkers
)
