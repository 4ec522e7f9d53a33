"""Results made up for tests: frames of games, counted."""

import random

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from arena.exports.text import standings_parts
from arena.ratings.fit import Fit
from arena.ratings.results import Outcomes
from arena.ratings.results import counts_of as counted_of
from arena.records.record import NS_PER_MS


def standings_text(tables):
    """The standings, and what stands below them, as a terminal shows both."""
    return "\n".join(standings_parts(tables))


def frame_of(games, bots=()):
    """A seat frame from (deal, bots by seat, shares by seat) tuples."""
    rows = []
    for game, (deal, seated, shares) in enumerate(games):
        for seat, (bot, share) in enumerate(zip(seated, shares, strict=True)):
            better = sum(other > share for other in shares)
            rows.append(
                (game, len(seated), seat, bot, 1 + better, float(share), 3, False, 10.0, deal)
            )
    columns = [
        "game",
        "seats",
        "seat",
        "bot",
        "rank",
        "share",
        "left",
        "forfeit",
        "think_ms",
        "cluster",
    ]
    frame = pd.DataFrame(rows, columns=columns)
    names = sorted({*bots, *frame["bot"]})
    frame["bot"] = pd.Categorical(frame["bot"], categories=names)
    return frame.astype(
        {
            "game": "int64",
            "seats": "int8",
            "seat": "int8",
            "rank": "int8",
            "cluster": "int64",
            "share": "float64",
        }
    )


def count_frame(frame):
    """Such a frame counted, without a look at the order of its rows."""
    bots = list(frame["bot"].cat.categories)
    game, seat = (frame[name].to_numpy() for name in ("game", "seat"))
    shape = game.max(initial=-1) + 1, seat.max(initial=1) + 1

    def by_seat(values, missing=0):
        table = np.full(shape, missing, dtype=np.int64)
        table[game, seat] = values
        return table

    names = {"left": "left", "forfeits": "forfeit", "think_ns": "think_ms"}
    sums = {name: by_seat(frame[of]) for name, of in names.items() if of in frame}
    if "think_ns" in sums:
        sums["think_ns"] = by_seat(np.rint(frame["think_ms"] * NS_PER_MS))
    cluster = np.zeros(shape[0], dtype=np.int64)
    cluster[game] = frame["cluster"]
    seats, ranks = by_seat(frame["bot"].cat.codes, len(bots)), by_seat(frame["rank"], 1)
    played = Outcomes(seats, ranks, cluster, np.arange(shape[0]), sums)
    return counted_of(bots, np.arange(frame["cluster"].nunique()), played)


def count_results(frame):
    """The results of such a frame."""
    return count_frame(frame).results


def counts_of(games, bots=()):
    """The same games counted."""
    return count_frame(frame_of(games, bots))


def duel(first_wins, second_wins, draws=0, names=("a", "b")):
    """Games of two, each as a pair with seats swapped so that seats cancel out; one deal a pair."""
    games = []
    outcomes = [(1, 0)] * first_wins + [(0, 1)] * second_wins + [(0.5, 0.5)] * draws
    for deal, (one, other) in enumerate(outcomes):
        games += [(deal, names, (one, other)), (deal, names[::-1], (other, one))]
    return games


def twins(deals, seed):
    """Games in which a and b get the same from every other bot on every deal, and each other's
    results against each other.
    """
    rng = random.Random(seed)
    toss = [(1, 0), (1, 0), (0, 1), (0.5, 0.5)]
    games = []
    for deal in range(deals):
        for other in "cd":
            first, second = rng.choice(toss), rng.choice(toss)
            for twin in "ab":
                games += [(deal, (twin, other), first), (deal, (other, twin), second)]
        mirrored = rng.choice(toss)
        games += [
            (deal, "ab", mirrored),
            (deal, "ba", mirrored),
            (deal, "cd", rng.choice(toss)),
            (deal, "dc", rng.choice(toss)),
        ]
    return games


@st.composite
def small_results(draw):
    games = []
    for deal in range(draw(st.integers(1, 6))):
        for _ in range(draw(st.integers(1, 3))):
            seated = draw(st.permutations("abcde"))[: draw(st.integers(2, 4))]
            winners = draw(st.sets(st.integers(0, len(seated) - 1), min_size=1))
            games.append(
                (
                    deal,
                    seated,
                    [1 / len(winners) if seat in winners else 0 for seat in range(len(seated))],
                )
            )
    return games


def fit_of(elo, errors, deals=1000):
    """A fit with these ratings, and errors independent of each other."""
    count = len(elo)
    covariance = np.diag(np.broadcast_to(np.asarray(errors, dtype=float) ** 2, count))
    marks = np.full((count, count), "")
    order = np.arange(count)
    return Fit(
        members=order,
        elo=np.asarray(elo, float),
        covariance=covariance,
        deals=np.broadcast_to(np.asarray(deals, dtype=float), count),
        freedom=np.full((count, count), np.max(deals) - 1.0),
        gain=1.0,
        seats={},
        seat_freedom={},
        games=100,
        clusters=np.max(deals),
        prior=0.0,
        marks=marks,
        open_seats=(),
    )
