"""Tunes the options of a bot by SPSA: what is tuned, which settings a block plays, and how its
results move the search. The path of a search is a function of the settings, the run's seed and the
scores of blocks; no clock or file is used.

Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization", IEEE
Transactions on Aerospace and Electronic Systems 34 (1998). Each parameter is mapped to a scale from
0 to 1. Block k plays two settings against each other, "up" and "down", which lie ``reach(k)`` to
either side of the present point of the search; for each parameter, a random draw decides which side
is up. The search moves towards the side that won, by ``gain(k)`` if that side won everything.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from msgspec.structs import replace

from arena.errors import ConfigError, did_you_mean
from arena.match.referee import GamePlan
from arena.players.manifest import ARENA_OPTIONS, Option
from arena.records.config import Parameter, Tuning
from arena.records.record import DUEL, GameRecord, shares
from arena.tournament.next_games import Games, QueueOpener, in_chunks, in_rounds
from arena.tournament.schedule import Schedule
from arena.values import Value

REACH, REACH_FALL = 0.2, 0.101
GAIN, GAIN_DELAY, GAIN_FALL = 0.06, 50, 0.602
"""The constants of Spall's gain a/(A + k)^alpha; those of the reach c/k^gamma stand above. The
exponents are Spall's. The other values lose about the least in simulated searches of 250 to 4,000
blocks for 25 to 400 Elo (tests/tournament/searches.py): with half the reach, the results of blocks
are mostly luck; with a quarter of the gain, short searches do not reach the goal.
"""
BLOCKS_A_STEP = 16
"""The usual number of blocks per step. In simulated searches of 500 blocks, steps of 1 to 32 blocks
give equally good results; longer steps keep more workers busy and start fewer processes.
"""
FEW_BLOCKS = 250
"""With fewer blocks per option than this, a search is mostly luck: that is the result of
simulations in which less than 100 Elo are at stake.
"""
TAIL = 0.5
"""The suggestion is the mean over this last part of the path, because the end of the path is just
one of many points around the goal.
"""
DECIMALS = 9
"""The decimals of a point on the path. Powers differ between machines in the last digits; the
rounded path does not.
"""
UP, DOWN = 0, 1
"""The positions of the two sides of the search among the bots of the run."""
BlockPlace = tuple[str, int]
"""A board and a deal on it."""
Values = tuple[float, ...]
"""A number for each tuned parameter, in their order."""


class TunedOption(NamedTuple):
    """An option that the user wants to tune, and the lower and upper end of its range; None if the
    user gave no range.
    """

    name: str
    range: tuple[float, float] | None = None


def read_tuned_option(text: str) -> TunedOption:
    """The option and range in a text such as ``depth`` or ``c=0.5..3``. Raises ConfigError for a
    text of another form; whether a bot has the option is not checked.
    """
    name, equals, span = text.partition("=")
    if name and not equals:
        return TunedOption(name)
    match [Option("float").value_of(end.strip()) for end in span.split("..")]:
        case [float(low), float(high)] if name:
            return TunedOption(name, (low, high))
    raise ConfigError(
        f"expected the name of an option, with or without a range, got {text!r}",
        "for example --param depth,c=0.5..3",
    )


def parameters_of(
    options: Sequence[TunedOption],
    declared: Mapping[str, Option],
    now: Mapping[str, Value],
    bot: str,
) -> list[Parameter]:
    """The parameters of a search for these ``options``, in their order. ``declared`` are the
    options of the bot labelled ``bot``, and ``now`` has their present values, where the search
    starts. Raises ConfigError for an option that is not declared, is no number, is named twice, or
    has no range or a wrong one.
    """
    names = [option.name for option in options]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"the option {twice[0]} is named twice")
    return [_parameter(option, declared, now, bot) for option in options]


def _parameter(
    tuned_option: TunedOption, declared: Mapping[str, Option], now: Mapping[str, Value], bot: str
) -> Parameter:
    """The parameter for one option, ``tuned_option``; see `parameters_of`. Raises ConfigError."""
    option = declared.get(tuned_option.name)
    name = tuned_option.name
    if option is None:
        raise _unknown(name, declared, bot)
    if option.type not in ("int", "float"):
        values = (option.choices or ["true", "false"])[:2]
        raise ConfigError(
            f"only numbers can be tuned, and {name} is {option.wanted}",
            f"compare its values instead: 'arena compare {bot}:{name}={values[0]}"
            f" {bot}:{name}={values[-1]}'",
        )
    low, high = tuned_option.range or (option.min, option.max)
    if low is None or high is None:
        raise ConfigError(
            f"{name} needs a range: it has no min and max in the bot.toml of {bot}",
            f"name one, as in --param {name}=1..10, or add min and max",
        )
    for end in map(float, (low, high)):
        whole = end.is_integer() or option.type == "float"
        if not whole or not option.allows(int(end) if option.type == "int" else end):
            raise ConfigError(f"{name} may be {option.wanted}, got the range {low:g} to {high:g}")
    return Parameter(name, option.type, float(low), float(high), float(now[name]))


def _unknown(name: str, declared: Mapping[str, Option], bot: str) -> ConfigError:
    """The error for an option called ``name`` that the bot does not have."""
    if not declared:
        return ConfigError(
            f"{bot} declares no options to tune",
            "declare them in its bot.toml, for example\n[options]\n"
            'c = {type = "float", default = 1.4, min = 0.1, max = 4}',
        )
    has = f"{bot} has {', '.join(declared)}"
    if name in ARENA_OPTIONS:
        return ConfigError(f"{name} is a limit of the arena, not an option of {bot}", has)
    near = did_you_mean(name, declared)
    return ConfigError(f"{bot} has no option {name!r}", near + has)


def reach(block: int) -> float:
    """How far the two sides of the block with the number ``block``, counted from 0 in the search,
    lie from the path, as a fraction of the range (Spall's c_k).
    """
    return float(REACH / (block + 1) ** REACH_FALL)


def gain(block: int) -> float:
    """How far the path moves if one side wins the whole block with the number ``block``, counted
    from 0 in the search, as a fraction of the range (Spall's a_k).
    """
    return float(GAIN * (GAIN_DELAY / (GAIN_DELAY + block)) ** GAIN_FALL)


class SearchPath:
    """The path of a search: ``places`` has the point at the start and after each step, on a scale
    from 0 to 1 for each parameter.

    A step consists of ``tuning.step`` deals on each board; a block is the games of both sides on
    one of them. A step is complete when all its blocks are, so the path depends neither on the
    order in which games end nor on the number of workers.
    """

    def __init__(
        self, tuning: Tuning, boards: Sequence[str], seed: str, games_a_block: int = DUEL
    ) -> None:
        self.tuning = tuning
        self._boards = boards
        self._seed = seed
        self._games_a_block = games_a_block
        self.places: list[Values] = [tuple(one.unit(one.start) for one in tuning.parameters)]

    @property
    def steps(self) -> int:
        """The number of complete steps."""
        return len(self.places) - 1

    @property
    def games_a_step(self) -> int:
        """The number of games in a step."""
        return self.tuning.step * len(self._boards) * self._games_a_block

    def blocks(self, deals: range) -> Iterator[BlockPlace]:
        """The blocks on these deals, deal by deal, each given by its board and deal."""
        for deal in deals:
            for board in self._boards:
                yield board, deal

    def deals(self, last: int) -> range:
        """The numbers of the deals of the present step, the first that is not complete, as far as
        they are below ``last``. If ``last`` is the number of deals of the whole search, the result
        is empty once the search is over.
        """
        first = self.steps * self.tuning.step
        return range(first, min(first + self.tuning.step, last))

    def sides(self, board: str, deal: int) -> tuple[Values, Values]:
        """The values of the parameters for the two sides, up and down, of the block on this board
        and deal. The search must have reached the step of that block.
        """
        place = self.places[deal // self.tuning.step]
        reached = reach(self._number(board, deal))
        ups = []
        downs = []
        for parameter, at in zip(self.tuning.parameters, place, strict=True):
            up, down = self._pair(parameter, at, reached, board, deal)
            ups.append(up)
            downs.append(down)
        return tuple(ups), tuple(downs)

    def _pair(
        self, parameter: Parameter, place: float, reached: float, board: str, deal: int
    ) -> tuple[float, float]:
        """The values of one parameter for the two sides of a block, which lie ``reached`` to either
        side of ``place``, both on the scale from 0 to 1.
        """
        digest = sha256(f"tune\n{self._seed}\n{board}\n{deal}\n{parameter.name}".encode()).digest()
        # One lot for both sides, so that they differ as they are meant to.
        lot = int.from_bytes(digest[1:7], "big") / 2**48
        is_turned = digest[0] & 1
        if parameter.type == "int":
            reached = max(reached, 0.5 / parameter.width)
        pair = (parameter.nearest(place + reached, lot), parameter.nearest(place - reached, lot))
        return pair[::-1] if is_turned else pair

    def _number(self, board: str, deal: int) -> int:
        """The number of the block on this board and deal, counted from the start of the search."""
        return deal * len(self._boards) + self._boards.index(board)

    def move(self, scores: Mapping[BlockPlace, float]) -> None:
        """Takes a step. ``scores`` has for each block of the step by how much the side up won more
        than the side down: from -1 to 1 if the two play each other; with opponents, the difference
        of their shares times `leverage`.
        """
        place = list(self.places[-1])
        for (board, deal), score in scores.items():
            number = self._number(board, deal)
            sides = self.sides(board, deal)
            # By what was played and not by what was meant: where rounding or the end of the range
            # made both sides the same, the block says nothing.
            for at, (parameter, up, down) in enumerate(
                zip(self.tuning.parameters, *sides, strict=True)
            ):
                apart = (up - down) / 2 / parameter.width
                place[at] += gain(number) * score * apart / reach(number)
        self.places.append(tuple(round(min(max(at, 0.0), 1.0), DECIMALS) for at in place))

    def values(self, step: int) -> Values:
        """The point after ``step`` steps (0: the start), as values of the options, not rounded."""
        values = []
        for parameter, at in zip(self.tuning.parameters, self.places[step], strict=True):
            values.append(parameter.low + at * parameter.width)
        return tuple(values)

    def settings(self, values: Values) -> dict[str, Value]:
        """The options with these values, by name, in the types that the bot gets. Values of whole
        numbers must be rounded, as those of `sides` and `suggestion` are.
        """
        settings = {}
        for parameter, value in zip(self.tuning.parameters, values, strict=True):
            settings[parameter.name] = parameter.value(value)
        return settings

    def suggestion(self) -> Values:
        """The values that the search suggests: the mean over the last half of the path, rounded as
        the options are.
        """
        tail = self.places[-max(1, round(self.steps * TAIL)) :]
        suggested = []
        for parameter, values in zip(self.tuning.parameters, zip(*tail, strict=True), strict=True):
            suggested.append(parameter.nearest(sum(values) / len(tail)))
        return tuple(suggested)


class TunedGames:
    """The games of a run that tunes a bot, step by step, each with the settings at the point that
    the ``path`` has reached; ``games`` issues them.

    ``ids``    the ids of the games in the journal, updated as games end
    ``slots``  returns the number of games that can be played at the same time
    ``known``  the records of the games in the journal
    ``tell``   called with the path after each step of this session
    """

    def __init__(
        self,
        schedule: Schedule,
        ids: Container[str],
        slots: Callable[[], int],
        known: Iterable[GameRecord] = (),
        tell: Callable[[SearchPath], object] = lambda _: None,
    ) -> None:
        config = schedule.config
        assert config.tune is not None, "a run that tunes a bot"
        self.path = SearchPath(config.tune, config.boards, config.seed, config.games_a_block)
        self._leverage = leverage(config.players) if config.pool else 1.0
        self._config = config
        self._ids = ids
        self._slots = slots
        self._tell = tell
        self._seats = schedule.block_size
        self._sides = config.bots[: DOWN + 1]
        self._lead: dict[BlockPlace, dict[tuple[str, int], float]] = {}
        self._won = 0.0
        self._games = 0
        for record in known:
            self._note(record)
        self._move()
        self._begun = -1
        self.games = Games(in_rounds(lambda _: None, self._next_step), self._count)

    @property
    def is_complete(self) -> bool:
        """Whether the path has reached its last step, so that no games are left to play."""
        return not self.path.deals(self._config.deals)

    @property
    def share(self) -> float:
        """The mean share of the win of both sides in their games so far; a half without games."""
        return self._won / self._games if self._games else 0.5

    def planned(self, plan: GamePlan) -> GamePlan:
        """Returns ``plan`` with the settings that each seat plays with; opponents have none beyond
        their own. The search must have reached the step to which the game belongs.
        """
        values = self.path.sides(plan.board, plan.deal)
        settings = dict(zip(self._sides, map(self.path.settings, values), strict=True))
        by_seat = [settings.get(bot, {}) for bot in plan.bots]
        return replace(plan, settings=tuple(by_seat))

    def _count(self, record: GameRecord) -> None:
        """Counts a game, and takes the steps that it completes."""
        self._note(record)
        if self._move():
            self._tell(self.path)

    def _note(self, record: GameRecord) -> None:
        """Adds the score of a game to its block."""
        share = dict(zip(record.bots, shares(record.ranks), strict=False))
        sides = [bot for bot in self._sides if bot in share]
        # A journal may be anybody's: what is no game of the sides is for 'arena verify' to name.
        if len(sides) != (1 if self._config.pool else DUEL):
            return
        up = share.get(self._sides[UP], 0.0)
        down = share.get(self._sides[DOWN], 0.0)
        self._won += up + down
        self._games += len(sides)
        lead = self._lead.setdefault((record.board, record.deal), {})
        lead["+".join(sides), record.seating] = up - down

    def _move(self) -> bool:
        """Takes the steps whose blocks are complete, and returns whether there was one."""
        before = self.path.steps
        by = self._leverage / self._seats
        while blocks := list(self.path.blocks(self.path.deals(self._config.deals))):
            fewest_games = min(len(self._lead.get(block, ())) for block in blocks)
            if fewest_games < self._config.games_a_block:
                break
            scores = {}
            for block in blocks:
                scores[block] = by * sum(self._lead.pop(block).values())
            self.path.move(scores)
        return self.path.steps > before

    def _next_step(self) -> QueueOpener | None:
        """Opens the games of the next step; None at the end, or if the last step that was opened
        was not completed by its games.
        """
        if self.is_complete or self.path.steps == self._begun:
            return None
        self._begun = self.path.steps
        deals = self.path.deals(self._config.deals)
        schedule = Schedule(replace(self._config, deals=deals.stop))
        return in_chunks(schedule, self._ids, self._slots, deals.start, self.planned)


def leverage(players: int) -> float:
    """The factor for the difference between the shares of the two sides of a search, if they do not
    play each other but opponents in games of ``players`` players.

    Against opponents of equal strength, a difference in Elo changes the share of a side by less
    than if the two sides play each other. Multiplied by this, the same difference in Elo moves the
    search as far, so that its gain and reach need not depend on the opponents.
    """
    usual = 1 / players
    return 1 / (2 * usual * (1 - usual))


def deals_for(games: int, boards: int, games_a_block: int) -> int:
    """The number of deals on each of ``boards`` boards that take at most ``games`` games in all, if
    a deal on a board takes ``games_a_block``. Raises ConfigError if that is less than one deal.
    """
    deals = games // (boards * games_a_block)
    if deals < 1:
        raise ConfigError(
            f"expected at least {boards * games_a_block} games, a deal in all seatings on each"
            f" board, got {games}",
            f"a search needs hundreds of games for each option: try --games {1000 * boards}",
        )
    return deals
