"""The games of a run that tunes a bot: step by step, each with the settings that the path has
reached.
"""

from collections.abc import Callable, Container, Iterable, Sequence

from msgspec.structs import replace

from arena.errors import ConfigError
from arena.match.referee import GamePlan
from arena.records.record import GameRecord, shares
from arena.tournament.batches import Batches, InChunks
from arena.tournament.schedule import Schedule
from arena.tournament.sources import GamesInRounds
from arena.tournament.tuning import SearchPath

UP, DOWN = 0, 1
"""The places of both sides among the bots of a run."""


class TunedGames:
    """The games of a run that tunes a bot: a source that is over at the end of the path.

    ``ids`` are those of the games in the journal, live, and ``known`` are their records. ``path``
    is how far they have led. ``tell`` is called after each step of this session.
    """

    def __init__(
        self,
        schedule: Schedule,
        ids: Container[str],
        places: Callable[[], int],
        known: Iterable[GameRecord] = (),
        tell: Callable[[SearchPath], object] = lambda _: None,
    ) -> None:
        config = schedule.config
        if config.tune is None:
            raise ConfigError(
                "expected a run that tunes a bot, got another one", "choose another --out"
            )
        self.path = SearchPath(config.tune, config.boards, config.seed)
        self._config, self._ids, self._places, self._tell = config, ids, places, tell
        self._seats = schedule.block_size
        self._lead: dict[tuple[str, int], dict[int, float]] = {}
        for record in known:
            self._count(record)
        self._move()
        self._begun = -1
        self._rounds = GamesInRounds(self._step(), self._next_step)

    @property
    def is_over(self) -> bool:
        """Whether the path is at its end, or a step of it cannot be completed."""
        return self.is_complete or self._rounds.is_over

    @property
    def is_complete(self) -> bool:
        """Whether the path is at its end."""
        return not self.path.deals(self._config.deals)

    def issue(self, room: int) -> list[GamePlan]:
        """The next games of this step, or of the next, with the settings of each seat."""
        return [self.planned(plan) for plan in self._rounds.issue(room)]

    def planned(self, plan: GamePlan) -> GamePlan:
        """A game of a step that has been reached, with the settings of each seat."""
        settings = [self.path.settings(side) for side in self.path.sides(plan.board, plan.deal)]
        up = self._config.bots[UP]
        return replace(
            plan, settings=tuple(settings[UP if bot == up else DOWN] for bot in plan.bots)
        )

    def ended(self, record: GameRecord) -> None:
        """Counts for its step."""
        self._rounds.ended(record)
        self._count(record)
        if self._move():
            self._tell(self.path)

    def give_back(self, batch: Sequence[GamePlan]) -> None:
        """They are the next."""
        self._rounds.give_back(batch)

    def give_up(self, plan: GamePlan) -> None:
        """The step cannot be completed."""
        self._rounds.give_up(plan)

    def _count(self, record: GameRecord) -> None:
        share = dict(zip(record.bots, shares(record.ranks), strict=False))
        # A journal may be anybody's: what is no game of both sides is for 'arena verify' to name.
        if share.keys() == set(self._config.bots):
            up, down = (share[bot] for bot in self._config.bots)
            self._lead.setdefault((record.board, record.deal), {})[record.seating] = up - down

    def _move(self) -> bool:
        """Takes all the steps whose blocks are complete; whether there was one."""
        before = self.path.steps
        while blocks := list(self.path.blocks(self.path.deals(self._config.deals))):
            if not all(len(self._lead.get(block, ())) == self._seats for block in blocks):
                break
            leads = {block: self._lead.pop(block) for block in blocks}
            self.path.move(
                {block: sum(lead.values()) / self._seats for block, lead in leads.items()}
            )
        return self.path.steps > before

    def _next_step(self) -> Batches | None:
        """The games of the next step; None at the end, and where all games of a step are known but
        do not make it.
        """
        is_stuck = self.path.steps == self._begun
        return None if self.is_complete or is_stuck else self._step()

    def _step(self) -> Batches:
        self._begun = self.path.steps
        deals = self.path.deals(self._config.deals)
        schedule = Schedule(replace(self._config, deals=max(deals.stop, 1)))
        return InChunks(schedule, self._ids, self._places, first=deals.start)
