"""Combines games into matches (R8.3) while they are read: a run is scored either by games or by
matches.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from arena.errors import RunError, UserError
from arena.ratings.tally import Counted, GameList, Lost, Match, Row, Tally, row_decoder
from arena.records.ids import Ids
from arena.records.journal import read_rows
from arena.records.record import GameRecord
from arena.records.runfile import RunInfo
from arena.rules.rounds import place_of, title_of, turns_of


def scoring_of(info: RunInfo, asked: Sequence[str] | None = None) -> list[str]:
    """The boards of the matches that a run is scored by, none if it is scored by games: as
    ``asked``, else as in run.json.

    Raises UserError for a board that the run does not have, RunError.
    """
    known = info.config.get("match") or []
    if not isinstance(known, list) or not all(isinstance(board, str) for board in known):
        raise RunError(f"run.json: expected a list of boards as match, got {known!r}")
    match = known if asked is None else list(asked)
    foreign = [board for board in match if board not in info.boards]
    if foreign:
        raise UserError(
            f"expected a match on boards of the run, {', '.join(info.boards)}, got {foreign[0]!r}",
            "'arena run --match' plays on other boards; '--match none' counts games singly",
        )
    return match


class Score:
    """The games of a run, and what is scored: the matches on these boards, or the games themselves
    if there are no boards.

    ``hosts`` are the machines the games were played on. ``own_decks`` is as in `GameList`.
    """

    def __init__(self, match: Sequence[str], *, own_decks: bool = False) -> None:
        self.counted = Tally(own_decks=own_decks)
        self.games = GameList(own_decks=own_decks) if match else self.counted
        self.hosts: set[str] = set()
        self._matches = Matches(match, self.counted.add) if match else None

    def add(self, game: Row | GameRecord) -> None:
        """Counts a game, and the match it completes, if any."""
        self.games.add(game)
        self.hosts.add(game.host)
        if self._matches:
            self._matches.add(game)


def score_journal(journal: Path, match: Sequence[str], *, own_decks: bool = False) -> Score:
    """The games of a journal; the first record of each id counts. Raises RunError for a damaged
    line.
    """
    score = Score(match, own_decks=own_decks)
    for _, row in read_rows(journal, row_decoder(Row)):
        score.add(row)
    return score


def timed_hosts(info: RunInfo, score: Score) -> set[str]:
    """The machines on which bots' time was limited."""
    return set() if info.config.get("in_process") else score.hosts


class Matches:
    """Takes games, and passes on each match once it has a game for each of its boards; until then
    it holds the games.

    A match has the same bots in the same seats on the same deal. Seats rank by total pagodas left,
    fewest first. Seats that forfeited rank below all others: by the number of forfeits, then as
    their games rank them (an earlier forfeit below a later one), then by the total. Equal is equal.
    A game that occurs twice under different ids counts once.
    """

    def __init__(self, match: Sequence[str], take: Callable[[Match], object]) -> None:
        self._turns = turns_of(match)
        self._rounds = len(match)
        self._title = title_of(match)
        self._take = take
        self._seated: dict[tuple[str, ...], int] = {}
        self._open: dict[str, dict[int, Counted]] = {}
        self._over = Ids()

    def add(self, game: Counted) -> None:
        """Takes a game."""
        turns = self._turns.get(game.board)
        if turns is None:
            return
        deal, turn = place_of(turns, game.deal)
        bots = tuple(game.bots)
        name = f"{self._seated.setdefault(bots, len(self._seated))}/{deal}/"
        rounds = self._open.get(name)
        if rounds is None:
            rounds = self._open[name] = {}
        rounds.setdefault(turn, game)
        if len(rounds) == self._rounds:
            del self._open[name]
            if self._over.add(name):
                self._take(
                    _whole(self._title, deal, bots, [rounds[turn] for turn in range(self._rounds)])
                )


def _whole(title: str, deal: int, bots: tuple[str, ...], games: Sequence[Counted]) -> Match:
    """The match of these rounds."""
    left = list(map(sum, zip(*[game.left for game in games], strict=True)))
    think_ms: list[float] = list(map(sum, zip(*[game.think_ms for game in games], strict=True)))
    # A list is quicker, there are millions of matches.
    if not any([game.faults for game in games]):  # noqa: C419
        return Match(title, deal, bots, _ranks(left), left, think_ms, [])
    lost = [_lost(games, seat) for seat in range(len(bots))]
    standing = [(len(ranks), sum(ranks), total) for ranks, total in zip(lost, left, strict=True)]
    return Match(
        title,
        deal,
        bots,
        _ranks(standing),
        left,
        think_ms,
        [Lost(seat) for seat, ranks in enumerate(lost) if ranks],
    )


def _lost(games: Sequence[Counted], seat: int) -> list[int]:
    """The ranks of a seat in the games it forfeited."""
    return [game.ranks[seat] for game in games if any(fault.seat == seat for fault in game.faults)]


def _ranks(standing: Sequence[Any]) -> list[int]:
    """The rank of each seat; lower is better."""
    order = sorted(standing)
    return [1 + order.index(own) for own in standing]
