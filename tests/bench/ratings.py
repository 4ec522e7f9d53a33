"""How long it takes to rate a million games, from a table in memory and from a journal on disk, and
how much memory it needs.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import pandas as pd
from msgspec.structs import replace

from arena.ratings.model import rate
from arena.ratings.results import Floats, Ints
from arena.ratings.tables import make_tables
from arena.ratings.tally import score_journal
from arena.records.journal import JOURNAL_FILE
from arena.records.record import encode_record
from tests.bench.figures import Figure, alternate, in_own_process
from tests.bench.parrots import rehearse
from tests.bench.resident import peak_mb
from tests.ratings.synthetic import count_frame, count_results

GAMES = 1_000_000
QUICK_GAMES = 2_000
ROUNDS = 3
BOTS = tuple(f"bot-{number:02}" for number in range(12))
STRENGTHS = np.linspace(-1.5, 1.5, len(BOTS))
SHARED = 0.04


class Made(NamedTuple):
    """Made-up 2-player games: ``seats`` (n, 2) bots' numbers, ``shares`` (n, 2) of the win; two
    games per deal, with seats swapped.
    """

    seats: Ints
    shares: Floats


class Spent(NamedTuple):
    """Seconds by kind of work, and the peak memory."""

    seconds: dict[str, float]
    peak_mb: float


def measure(*, quick: bool = False) -> Iterator[Figure]:
    """Seconds and peak memory, with each kind of work in its own process."""
    games, rounds = (QUICK_GAMES, 1) if quick else (GAMES, ROUNDS)
    loaded = in_own_process(rate_table, games, rounds)
    journal = in_own_process(rate_journal, games, rounds)
    yield Figure("ratings.games", "games rated", games, "games")
    yield Figure(
        "ratings.rate_s", "ratings and errors, once loaded", loaded.seconds["rate"], "s", "< 1"
    )
    yield Figure("ratings.tables_s", "all tables, once loaded", loaded.seconds["tables"], "s")
    yield Figure("ratings.peak_mb", "peak memory, once loaded", loaded.peak_mb, "MB")
    yield Figure(
        "ratings.journal_s", "all tables from a journal", journal.seconds["journal"], "s", "< 10"
    )
    yield Figure("ratings.journal_peak_mb", "peak memory, from a journal", journal.peak_mb, "MB")


def rate_table(games: int, rounds: int) -> Spent:
    """Rates a table of seats; the time to make the games up does not count."""
    frame = frame_of(make_games(games))
    works: dict[str, Callable[[], object]] = {
        "rate": lambda: rate(count_results(frame)),
        "tables": lambda: make_tables(count_frame(frame)),
    }
    return Spent({key: median(spent) for key, spent in alternate(works, rounds).items()}, peak_mb())


def rate_journal(games: int, rounds: int) -> Spent:
    """Reads and rates a journal; writing it happens in another process and does not count."""
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        path = Path(folder, JOURNAL_FILE)
        in_own_process(write_journal, path, games)
        spent = alternate(
            {"journal": lambda: make_tables(score_journal(path, ()).counted.counts(BOTS))}, rounds
        )
        return Spent({"journal": median(spent["journal"])}, peak_mb())


def make_games(games: int) -> Made:
    """Deals between random pairs of bots of known strengths, a few wins shared."""
    rng, deals = np.random.default_rng(1), games // 2
    one = rng.integers(0, len(BOTS), deals)
    pairs = np.column_stack([one, (one + rng.integers(1, len(BOTS), deals)) % len(BOTS)])
    seats = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2)
    chance = 1 / (1 + np.exp(STRENGTHS[seats[:, 1]] - STRENGTHS[seats[:, 0]]))
    first = np.where(rng.random(len(seats)) < SHARED, 0.5, rng.random(len(seats)) < chance)
    return Made(seats, np.column_stack([first, 1 - first]))


def frame_of(made: Made) -> pd.DataFrame:
    """The games in the form that `count_frame` takes."""
    games, shares = len(made.seats), made.shares.reshape(-1)
    game = np.repeat(np.arange(games), 2)
    return pd.DataFrame(
        {
            "game": game,
            "seats": np.full(2 * games, 2, dtype=np.int8),
            "seat": np.tile(np.array([0, 1], dtype=np.int8), games),
            "bot": pd.Categorical.from_codes(made.seats.reshape(-1), categories=pd.Index(BOTS)),
            "rank": np.where(shares > 0, 1, 2).astype(np.int8),
            "share": shares,
            "left": np.where(shares > 0, 0, 5).astype(np.int8),
            "forfeit": np.zeros(2 * games, dtype=bool),
            "think_ms": np.full(2 * games, 50.0),
            "cluster": game // 2,
        }
    )


def write_journal(path: Path, games: int) -> None:
    """The games as a journal, with lines as long as those of real games."""
    _, record = rehearse()
    made = make_games(games)
    with path.open("wb") as file:
        for number, (seats, shares) in enumerate(
            zip(made.seats.tolist(), made.shares.tolist(), strict=True)
        ):
            bots, deal, seating = [BOTS[bot] for bot in seats], number // 2, number % 2
            ranks, left = (
                [1 if share else 2 for share in shares],
                [0 if share else 5 for share in shares],
            )
            name = f"bird/{'+'.join(sorted(bots))}/{deal}/{seating}"
            line = replace(
                record,
                id=name,
                deal=deal,
                seating=seating,
                bots=bots,
                ranks=ranks,
                left=left,
                think_ms=[50.0, 50.0],
            )
            file.write(encode_record(line) + b"\n")
