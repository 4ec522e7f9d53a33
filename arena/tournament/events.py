"""What whoever plays a run is told while it is played."""

from typing import NamedTuple

from arena.match.referee import Outcome


class Played(NamedTuple):
    """A game ended and is in the journal."""

    outcome: Outcome


class Voided(NamedTuple):
    """A game broke off for a reason that is not a bot's; ``given_up`` when it is not tried again in this session."""

    game: str
    reason: str
    given_up: bool


class WorkerDied(NamedTuple):
    """A worker died; so many games had been handed out to it or beside it, of which those not ended are played again."""

    games: int


class Stopping(NamedTuple):
    """Asked to stop: so many games are still being played, and will be kept."""

    running: int


class MachineChanged(NamedTuple):
    """A machine of the cluster plays so many games at once from now on; ``speed`` is games of the pure core a second."""

    host: str
    places: int
    speed: int
    sandbox: str


class MachinesDiffer(NamedTuple):
    """The machines of the cluster differ so much in speed that the same time is not the same to a bot."""

    slow: str
    fast: str
    ratio: float


class WorkerRefused(NamedTuple):
    """A worker of the cluster may not play along."""

    worker: str
    host: str
    reason: str


class NoWorkers(NamedTuple):
    """The cluster has nobody who may play; it is waited for."""

    address: str
    seconds: float


Event = Played | Voided | WorkerDied | Stopping | MachineChanged | MachinesDiffer | WorkerRefused | NoWorkers
