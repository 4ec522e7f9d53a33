"""A league while it is played: what is known about its members, and which games it plays next."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple

from arena.commands.members import ARENA, Members
from arena.errors import RunError
from arena.match.referee import GamePlan
from arena.players.folder import Bot
from arena.records.league import Drawn, Member, PlaceFound, RegressionBegun, Scaled, versions_before
from arena.records.record import DEALS, DUEL, utc_now
from arena.tournament.next_games import DEALS_A_DRAW, Games, as_drawn
from arena.tournament.placing import (
    PLACED_ELO,
    PLACING_GAMES,
    Contenders,
    Rival,
    can_found,
    error_of,
    first_guess,
)
from arena.tournament.regressions import open_regressions
from arena.tournament.runner import FIRST_GAMES
from arena.tournament.session import Session

if TYPE_CHECKING:
    from arena.ratings.results import Counts
    from arena.ratings.scale import OnScale


LOOK_GAMES = 8
"""The ratings are computed again only after at least this many new games."""
LOOK_SHARE = 10
"""The ratings are computed again only when this many times the CPU time of their last computation
has passed.
"""
HOUR_S = 3600
"""Seconds in an hour."""


class Budget(NamedTuple):
    """When a command stops playing a league: after this many ``games`` or ``hours``, when every
    interval reaches at most ``until`` Elo to either side, or when the bot ``placing`` has been
    placed. None sets no such limit. With ``between``, only games between these two bots are drawn.
    """

    games: int | None = None
    hours: float | None = None
    until: float | None = None
    placing: str | None = None
    between: Sequence[str] = ()


class LeagueLook(NamedTuple):
    """The result of one computation of a league's ratings: the number of ``games`` drawn so far,
    the number of bots still to be placed (``placing``), and the half-width in Elo of the ``widest``
    interval, infinite if a bot has none.
    """

    games: int
    placing: int
    widest: float


class LeaguePlay:
    """Draws the games of a league for one command, which may open several sessions.

    ``watch`` is called with the result of each computation of the ratings. ``drawn`` is the number
    of games drawn so far by this command.
    """

    def __init__(
        self,
        members: Members,
        budget: Budget,
        watch: Callable[[LeagueLook], object] = lambda _: None,
    ) -> None:
        self.members = members
        self.drawn = 0
        self._budget = budget
        self._watch = watch
        self._ends_s = time.monotonic() + (inf if budget.hours is None else budget.hours * HOUR_S)
        self._known: dict[str, OnScale] = {}
        self._next_look_s = 0.0
        self._next_look_games = 1
        self._session: Session
        self._authors: dict[str, str] = {}
        self._field: Contenders
        self._shown: frozenset[tuple[str, bool]] | None = None
        self._tested = Counter[str]()
        """The number of games drawn for the regression test of each version."""

    @property
    def is_over(self) -> bool:
        """Whether the command is to draw no more games, because one limit of its `Budget` is
        reached: the games are drawn, the hours are over, every interval is narrow enough
        (``until``), or the bot ``placing`` no longer waits to be placed.
        """
        budget = self._budget
        members = self.members.league.members
        return (
            (budget.games is not None and self.drawn >= budget.games)
            or time.monotonic() >= self._ends_s
            or (budget.until is not None and self._widest() <= budget.until)
            or (budget.placing is not None and not members[budget.placing].is_waiting)
        )

    def source(self, session: Session, bots: Sequence[Bot]) -> Games:
        """The games of a session, beginning with those that earlier sessions drew but did not play;
        games of a bot that the session does not have are left out. New games are drawn until the
        budget is used up, or until the league needs a bot that the session does not have; that bot
        needs a new session. ``bots`` are all bots of the league, also those that do not play.
        """
        config = session.run.config
        schedule = session.run.schedule
        self._session = session
        self._authors = {bot.label: bot.manifest.author for bot in bots}
        self._shown = None
        self._field = Contenders(config.players)
        self._tested.clear()
        for drawn in config.drawn:
            self._count(drawn)
        unplayed: list[list[GamePlan]] = []
        for drawn in config.drawn:
            if session.setup.bots.keys() >= {*drawn.line_up.split("+")}:
                unplayed += schedule.drawn_batches(drawn, session.journal.ids)
        return Games(
            as_drawn(unplayed, self._draw),
            # The last draw of a league is played to its end.
            ends=lambda _: self.has_newcomers(session),
        )

    def _count(self, drawn: Drawn) -> None:
        """Counts the games of a draw for its bots, and for its regression test if it belongs to
        one.
        """
        games = self._session.run.schedule.drawn_games(drawn)
        self._field.add(tuple(drawn.line_up.split("+")), games)
        if drawn.tested:
            self._tested[drawn.tested] += games

    def has_newcomers(self, session: Session) -> bool:
        """Whether games are to be drawn for a member whose bot the session does not have."""
        self.members.look()
        return not session.setup.bots.keys() >= self.members.active(self._tested)

    def _all(self) -> list[Member]:
        """All members of the league, whatever their status."""
        return list(self.members.league.members.values())

    def _widest(self) -> float:
        """The half-width in Elo of the widest interval among the members that play; infinite if one
        of them has none that is reliable, or if no member plays.
        """
        errors = []
        for member in self._all():
            if member.plays:
                rating = self._known.get(member.bot)
                errors.append(inf if rating is None or rating.is_rough else rating.error)
        return max(errors, default=inf)

    def _draw(self) -> list[list[GamePlan]]:
        """Draws a line-up, writes the draw to the league's file, and returns its batches; an empty
        list if the budget is used up or too few bots play. Raises RunError if the league has used
        all its deal numbers.
        """
        self._take_stock()
        if self.is_over:
            return []
        tested = ""
        line_up = None
        test = self._open_regression()
        if test:
            line_up = self._field.line_up_with(test.bot, test.old)
            tested = test.bot if line_up else ""
        line_up = line_up or self._field.next_line_up()
        if line_up is None:
            return []
        first = self.members.league.deals
        rounds = self._session.run.config.rounds
        deals = max(1, DEALS_A_DRAW // len(rounds))
        if (first + deals) * max(map(rounds.count, rounds)) > DEALS:
            raise RunError(
                f"this league has used all its {DEALS:,} deal numbers", "start another league"
            )
        drawn = Drawn("+".join(line_up), first, deals, tested)
        self.members.append(drawn)
        self._count(drawn)
        schedule = self._session.run.schedule
        self.drawn += schedule.drawn_games(drawn)
        return schedule.drawn_batches(drawn, frozenset())

    def _open_regression(self) -> RegressionBegun | None:
        """The regression test that the next draw belongs to; None if none is open, or if it is the
        turn of other draws: while a candidate is to be placed, every second draw is for it. A
        command that places one version, or plays two bots against each other, draws no tests.
        """
        budget = self._budget
        if budget.placing is not None or budget.between:
            return None
        if self._field.is_placing and self._field.turn % 2:
            return None
        there = self._session.setup.bots
        for test in open_regressions(self.members.league, self._tested):
            if test.bot in there and test.old in there:
                return test
        return None

    def _take_stock(self) -> None:
        """Updates the contenders with the current members and ratings, if one of them
        has changed.
        """
        self.members.look()
        has_looked = self._look()
        there = self._session.setup.bots
        between = self._budget.between if self._session.run.config.players == DUEL else ()
        eligible = there.keys() & between if between else there.keys()
        rivals = [rival for rival in self.rivals() if rival.bot in eligible]
        shown = frozenset((rival.bot, rival.is_benchmark) for rival in rivals)
        if has_looked or shown != self._shown:
            self._field.show(rivals, has_scale=bool(self.members.league.scale))
            self._shown = shown

    def _look(self) -> bool:
        """Computes the ratings, if enough games and CPU time have passed since the last computation
        (`LOOK_GAMES`, `LOOK_SHARE`), and returns whether it did. Records what follows from them:
        placed candidates, and benchmarks that fix the scale.
        """
        session = self._session
        games = len(session.journal.ids)
        if games < self._next_look_games or time.monotonic() < self._next_look_s:
            return False
        # This loads pandas, which the command line does not need at its start.
        from arena.ratings.scale import league_counts, on_scale  # noqa: PLC0415

        began = time.process_time()
        config = session.run.config
        league = self.members.league
        counts = league_counts(
            session.journal.path, config.bots, config.match, own_decks=config.has_own_decks
        )
        before = versions_before(league.members)
        waiting_after = {bot: before[bot] for bot in before if league.members[bot].is_waiting}
        benchmarks = league.with_status("benchmark")
        self._known = on_scale(counts, benchmarks, league.scale, waiting_after)
        self._fix_scale(counts)
        self._judge_candidates()
        self.members.begin_regressions()
        self._next_look_s = time.monotonic() + LOOK_SHARE * (time.process_time() - began)
        self._next_look_games = games + LOOK_GAMES
        waiting = sum(member.is_waiting for member in self._all())
        self._watch(LeagueLook(session.known + self.drawn, waiting, self._widest()))
        return True

    def _judge_candidates(self) -> None:
        """Appends to the league's file which candidates have been placed, and sets aside each
        candidate that has forfeited all of its games, if these are at least `FIRST_GAMES`.
        """
        for member in self._all():
            rating = self._known.get(member.bot)
            if rating is None or not member.is_waiting:
                continue
            if rating.games == rating.forfeits >= FIRST_GAMES:
                why = f"it forfeited all of its {rating.games} games"
                self.members.change(member.bot, "aside", ARENA, why)
            elif rating.is_known_to(PLACED_ELO) or rating.games >= PLACING_GAMES:
                placed = PlaceFound(
                    bot=member.bot,
                    when=utc_now(),
                    elo=round(rating.elo, 1),
                    error=_rounded(rating.error),
                    games=rating.games,
                    gain=_rounded(rating.gain),
                    gain_error=_rounded(rating.gain_error),
                )
                self.members.append(placed)

    def _fix_scale(self, counts: "Counts") -> None:
        """Lets the benchmarks become the founders of the league's scale, with the ratings and
        weights that ``counts`` gives them, once they are known well enough. Founders that an
        earlier version of the arena wrote down get their weights now.
        """
        # numpy and pandas are loaded already.
        from arena.ratings.scale import frozen_scale  # noqa: PLC0415

        league = self.members.league
        if league.scale.weights:
            return
        benchmarks = league.with_status("benchmark")
        if not league.scale:
            ratings = [self._known[bot] for bot in benchmarks if bot in self._known]
            founders = [(rating.error, rating.games) for rating in ratings]
            if len(founders) < len(benchmarks) or not can_found(founders):
                return
        scale = frozen_scale(counts, benchmarks, league.scale)
        if scale is not None:
            self.members.append(Scaled(utc_now(), dict(scale.elo), dict(scale.weights)))

    def rivals(self) -> list[Rival]:
        """The members that play, with their ratings from the last computation, or guessed ratings
        for those that had no games then.
        """
        earlier = versions_before(self.members.league.members)
        elos = {bot: rating.elo for bot, rating in self._known.items()}
        placing = self._budget.placing
        authors = self._authors
        placed = [member.placed for member in self._all() if member.placed]
        turns = dict[str, str]()
        for event in sorted(placed, key=lambda event: event.when):
            author = authors.get(event.bot)
            if author:
                turns[author] = event.when
        rivals = []
        for member in self._all():
            if not member.plays:
                continue
            bot = member.bot
            before = earlier.get(member.bot, "")
            rating = self._known.get(bot)
            elo, error = (
                (rating.elo, error_of(rating.error, rating.games))
                if rating
                else first_guess(elos, before)
            )
            rival = Rival(
                bot,
                is_benchmark=member.status == "benchmark",
                is_placed=member.placed is not None or placing not in (None, bot),
                is_seen=rating is not None,
                elo=elo,
                error=error,
                before=before,
                turn=turns.get(authors.get(bot, ""), ""),
            )
            rivals.append(rival)
        return rivals


def _rounded(elo: float) -> float | None:
    """A number of Elo with one decimal; None if it is infinite or NaN."""
    return round(elo, 1) if isfinite(elo) else None
