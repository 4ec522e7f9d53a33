"""A league while it is played: what is known of its members, and what is drawn next."""

import time
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from arena.commands.members import ARENA, Members
from arena.errors import RunError
from arena.match.referee import GamePlan
from arena.records.league import Drawn, Member, PlaceFound, Scaled, versions_before
from arena.records.record import DEALS, DUEL
from arena.tournament.league import DEALS_A_DRAW, DrawnGames, LeagueGames
from arena.tournament.lineups import LineUp
from arena.tournament.placing import (
    PLACED_ELO,
    PLACING_GAMES,
    Contenders,
    Rival,
    error_of,
    first_guess,
)
from arena.tournament.session import Session, now

if TYPE_CHECKING:
    from arena.ratings.scale import OnScale

FIRST_GAMES = 6
"""A candidate that has forfeited all of its games, so many or more, is set aside."""
LOOK_GAMES = 8
"""A look at the ratings is worth so many new games."""
LOOK_SHARE = 10
"""The next look comes after so many times the processor time that the last one took."""
HOLD_GAMES = 40
"""A benchmark holds the scale once it has so many games."""
HOUR_S = 3600


class Budget(NamedTuple):
    """When the playing ends: after so many games or hours, when the interval of everybody who plays
    is at most ``until`` Elo to either side, or when one bot has been placed. With two players, only
    ``between`` these are games drawn, if there are any.
    """

    games: int | None = None
    hours: float | None = None
    until: float | None = None
    placing: str | None = None
    between: Sequence[str] = ()


class LeagueLook(NamedTuple):
    """What a look at the ratings found: how many games were drawn, how many bots are still to be
    placed, and the widest half-width of an interval, infinite if one is unknown.
    """

    games: int
    placing: int
    widest: float


class LeaguePlay:
    """The playing of a league by one command, over all its sessions.

    ``watch`` hears of each look at the ratings; ``drawn`` is the number of games drawn so far, and
    ``placed`` are the next versions that were placed in the last session, which ends with that:
    between sessions no core is busy, and they can be compared with the versions before them.
    """

    def __init__(
        self,
        members: Members,
        budget: Budget,
        watch: Callable[[LeagueLook], object] = lambda _: None,
    ) -> None:
        self.members = members
        self.drawn = 0
        self.placed: list[str] = []
        self._budget, self._watch = budget, watch
        self._ends_s = time.monotonic() + (inf if budget.hours is None else budget.hours * HOUR_S)
        self._known: dict[str, OnScale] = {}
        self._next_look_s, self._next_look_games = 0.0, 1

    @property
    def is_over(self) -> bool:
        """Whether no more games are to be drawn."""
        budget = self._budget
        return (
            (budget.games is not None and self.drawn >= budget.games)
            or time.monotonic() >= self._ends_s
            or (budget.until is not None and self._widest() <= budget.until)
            or (budget.placing is not None and not self._member(budget.placing).is_waiting)
        )

    def source(self, session: Session) -> LeagueGames:
        """The games of a session, which is over when the league ends, or as soon as somebody plays
        who is not in it, or a next version has been placed.
        """
        self.placed = []
        table = _Drawing(self, session)
        games = DrawnGames(table.unplayed(), table.draw)
        return LeagueGames(games, lambda: self._has_placed() or self.has_newcomers(session))

    def _has_placed(self) -> bool:
        """Whether somebody has been placed, and more is drawn after that; else what was drawn is
        played to the end.
        """
        return bool(self.placed) and not self.is_over

    def _member(self, bot: str) -> Member:
        return self.members.league.members[bot]

    def has_newcomers(self, session: Session) -> bool:
        """Whether somebody plays who is not in the session."""
        self.members.look()
        there = session.setup.bots
        return any(member.plays and member.bot not in there for member in self._all())

    def _all(self) -> list[Member]:
        return list(self.members.league.members.values())

    def _widest(self) -> float:
        return max((self._error(each.bot) for each in self._all() if each.plays), default=inf)

    def look(self, session: Session) -> bool:
        """Looks at the ratings if that is due; whether it was."""
        games = len(session.journal.ids)
        if games < self._next_look_games or time.monotonic() < self._next_look_s:
            return False
        # Pandas: the command line starts without.
        from arena.ratings.scale import league_counts, on_scale  # noqa: PLC0415

        began = time.process_time()
        config, league = session.config, self.members.league
        counts = league_counts(
            session.folder, config.bots, config.match, own_decks=config.has_own_decks
        )
        self._known = on_scale(counts, league.with_status("benchmark"), league.scale)
        self._hold_scale()
        self._judge_candidates()
        self._next_look_s = time.monotonic() + LOOK_SHARE * (time.process_time() - began)
        self._next_look_games = games + LOOK_GAMES
        waiting = sum(member.is_waiting for member in self._all())
        self._watch(LeagueLook(session.known + self.drawn, waiting, self._widest()))
        return True

    def _judge_candidates(self) -> None:
        """Writes down who has been placed, and sets aside who has done nothing but forfeit."""
        before = versions_before(self.members.league.members)
        for member in self._all():
            found = self._known.get(member.bot)
            if found is None or not member.is_waiting:
                continue
            if found.games == found.forfeits >= FIRST_GAMES:
                why = f"it forfeited all of its {found.games} games"
                self.members.change(member.bot, "aside", ARENA, why)
            elif 0 < found.error <= PLACED_ELO or found.games >= PLACING_GAMES:
                error = round(found.error, 1) if isfinite(found.error) else None
                placed = PlaceFound(member.bot, now(), round(found.elo, 1), error, found.games)
                self.members.append(placed)
                if member.bot in before:
                    self.placed.append(member.bot)

    def _hold_scale(self) -> None:
        """Lets the benchmarks hold the scale once all of them have some games, and later on whoever
        becomes one.
        """
        league = self.members.league
        known = [bot for bot in league.with_status("benchmark") if self._games(bot) >= HOLD_GAMES]
        if not league.scale and len(known) < len(league.with_status("benchmark")):
            return
        new = [bot for bot in known if bot not in league.scale]
        if new:
            elo = {bot: round(self._known[bot].elo, 1) for bot in new}
            self.members.append(Scaled(now(), elo))

    def _games(self, bot: str) -> int:
        return self._known[bot].games if bot in self._known else 0

    def _error(self, bot: str) -> float:
        return self._known[bot].error if bot in self._known else inf

    def rivals(self) -> list[Rival]:
        """Everybody who plays, as the last look showed them."""
        before = versions_before(self.members.league.members)
        elos = {bot: found.elo for bot, found in self._known.items()}
        return [
            self._rival(member, elos, before.get(member.bot, ""))
            for member in self._all()
            if member.plays
        ]

    def may_draw(self, bot: str, players: int) -> bool:
        """Whether games of so many players may be drawn for a bot."""
        return players > DUEL or not self._budget.between or bot in self._budget.between

    def _rival(self, member: Member, elos: dict[str, float], before: str) -> Rival:
        found = self._known.get(member.bot)
        elo, error = (
            (found.elo, error_of(found.error, found.games)) if found else first_guess(elos, before)
        )
        return Rival(
            member.bot,
            is_benchmark=member.status == "benchmark",
            is_placed=member.placed is not None or self._budget.placing not in (None, member.bot),
            is_seen=found is not None,
            elo=elo,
            error=error,
            before=before,
        )


class _Drawing:
    """Where the games of one session are drawn."""

    def __init__(self, play: LeaguePlay, session: Session) -> None:
        self._play, self._session, self._members = play, session, play.members
        config, self._schedule = session.config, session.schedule
        self._deals = max(1, DEALS_A_DRAW // len(config.rounds))
        self._games_a_deal = len(config.rounds) * session.schedule.block_size
        self._field = Contenders(config.players)
        for drawn in config.drawn:
            self._field.add(tuple(drawn.line_up.split("+")), drawn.deals * self._games_a_deal)
        self._shown: frozenset[tuple[str, bool]] | None = None

    def unplayed(self) -> list[list[GamePlan]]:
        """The batches that were drawn and not played."""
        ids = self._session.journal.ids
        return [
            batch
            for drawn in self._session.config.drawn
            for batch in self._schedule.drawn_batches(drawn, ids)
        ]

    def draw(self) -> list[list[GamePlan]]:
        """The batches of the next line-up, none if the league ends or too few play. Raises RunError
        once there are no more deals.
        """
        self._take_stock()
        if self._play.is_over:
            return []
        line_up = self._field.next_line_up()
        if line_up is None:
            return []
        first = self._members.league.deals
        self._refuse_too_many(first)
        drawn = Drawn("+".join(line_up), first, self._deals)
        self._members.append(drawn)
        self._count(line_up)
        return self._schedule.drawn_batches(drawn, frozenset())

    def _count(self, line_up: LineUp) -> None:
        games = self._deals * self._games_a_deal
        self._field.add(line_up, games)
        self._play.drawn += games

    def _take_stock(self) -> None:
        """Shows the field who plays, and what the ratings say by now."""
        self._members.look()
        has_looked = self._play.look(self._session)
        players, there = self._session.config.players, self._session.setup.bots
        rivals = [
            rival
            for rival in self._play.rivals()
            if rival.bot in there and self._play.may_draw(rival.bot, players)
        ]
        shown = frozenset((rival.bot, rival.is_benchmark) for rival in rivals)
        if has_looked or shown != self._shown:
            self._field.show(rivals, has_scale=bool(self._members.league.scale))
            self._shown = shown

    def _refuse_too_many(self, first: int) -> None:
        rounds = max(map(self._session.config.rounds.count, self._session.config.rounds))
        if (first + self._deals) * rounds > DEALS:
            raise RunError(
                f"expected at most {DEALS:,} deals in a league, got no number for another one",
                "start another league",
            )
