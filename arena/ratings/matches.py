"""Games put together to matches (R8.3), vectorised: what counts in a run is either its games or its matches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from arena.errors import RunError, UserError
from arena.ratings.components import Ints
from arena.ratings.frames import MOST_SEATS, Games, seats_of, shares_of
from arena.records.runfile import RunInfo
from arena.rules.rounds import place_of, title_of


class Scored(NamedTuple):
    """What counts: a frame with the columns of `frames.seat_frame`, and its clusters, numbered as in `frames.Games.deals`."""

    frame: pd.DataFrame
    deals: Mapping[tuple[str, int], int]


def scoring_of(info: RunInfo, asked: Sequence[str] | None = None) -> list[str]:
    """The boards of the matches that count in a run, none where its games do: as ``asked``, else as in run.json.

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


def score(frame: pd.DataFrame, games: Games, match: Sequence[str]) -> Scored:
    """What counts of the games and their `frames.seat_frame`: the matches on these boards, or the games themselves where there are none.

    A match has the same bots in the same seats on the same deal, one game for each of its boards, and counts when it has them all. In its
    rows ``left`` (int64) and ``think_ms`` are sums over the rounds, and ``forfeit`` says whether there was one in any. Seats rank by
    ``left``, fewest first; those that forfeited below all others, by the number of forfeits, and where that is equal as the games rank
    them: an earlier forfeit below a later one; then by ``left``. Equal is equal. A cluster is a deal of the match.
    """
    if not match:
        return Scored(frame, games.deals)
    numbers, deals = _whole_matches(games, match)
    starts = np.flatnonzero(frame["seat"].to_numpy() == 0)
    sizes = frame["seats"].to_numpy(dtype=np.int64)[starts][numbers[:, 0]]
    game, seat = seats_of(sizes)
    rows = starts[numbers[game]] + seat[:, None]
    left = frame["left"].to_numpy(dtype=np.int64)[rows].sum(axis=1)
    forfeits = frame["forfeit"].to_numpy()[rows]
    rank = _ranks(game, seat, _standing(left, forfeits, frame["rank"].to_numpy(dtype=np.int64)[rows]))
    clusters, cluster = np.unique(deals, return_inverse=True)
    counted = frame.iloc[rows[:, 0]].reset_index(drop=True)
    return Scored(
        counted.assign(
            game=game,
            rank=rank.astype(np.int8),
            share=shares_of(game, rank, len(sizes)),
            left=left,
            forfeit=forfeits.any(axis=1),
            think_ms=frame["think_ms"].to_numpy()[rows].sum(axis=1),
            cluster=cluster[game].astype(np.int64),
        ),
        {(title_of(match), deal): number for number, deal in enumerate(clusters.tolist())},
    )


def _whole_matches(games: Games, match: Sequence[str]) -> tuple[Ints, Ints]:
    """(M, R) the numbers of the games of each match that has all its rounds, and (M,) its deal, by deal."""
    rounds = len(match)
    places = [place_of(match, board, deal) if board in match else (-1, -1) for board, deal in games.deals]
    deals = np.array([deal for deal, _ in places], dtype=np.int64)
    turns = np.array([turn for _, turn in places], dtype=np.int64)
    of_game = np.array(games.deal, dtype=np.int64)
    number, at = np.unique(deals, return_inverse=True)
    seated = at[of_game] * len(games.seated) + np.array(games.seating, dtype=np.int64)
    keep = np.flatnonzero(turns[of_game] >= 0)
    round_of, first = np.unique((seated * rounds + turns[of_game])[keep], return_index=True)
    matches, start, count = np.unique(round_of // rounds, return_index=True, return_counts=True)
    whole = count == rounds
    found = keep[first][start[whole][:, None] + np.arange(rounds)]
    return found, number[matches[whole] // max(len(games.seated), 1)]


def _standing(left: Ints, forfeits: NDArray[np.bool_], ranks: Ints) -> Ints:
    """(N,) a number for each seat of a match, the less the better, from its rounds (N, R)."""
    order = forfeits.sum(axis=1) * (MOST_SEATS * forfeits.shape[1] + 1) + (ranks * forfeits).sum(axis=1)
    return np.asarray(order * (left.max(initial=0) + 1) + left, dtype=np.int64)


def _ranks(game: Ints, seat: Ints, standing: Ints) -> Ints:
    """(N,) the rank of each seat at its table."""
    table = np.full((int(game.max(initial=-1)) + 1, MOST_SEATS), np.iinfo(np.int64).max)
    table[game, seat] = standing
    return np.asarray(1 + (table[game] < standing[:, None]).sum(axis=1), dtype=np.int64)
