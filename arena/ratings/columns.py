"""The columns of the tables, each described once: CSV files, terminal, report, data frames and docs
are made from these descriptions.

To add a column, describe it here and compute it in `column_values` (in `history` for a column of
`HISTORY`). In a file it comes last; `arena verify` accepts older files, which lack it. ``make
golden`` writes the lists in the docs.

If a column needs a value by seat that is not summed yet, declare it in `results.SUMS`, from which
`sheet` (games of a CSV file) takes it, and add it up in `tally` (games of a journal). Anything else
is counted in `tally` and `sheet`, and totalled in `results`.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

from arena.ratings.column import Column, half_width, placed, rank_and_range, ranks_text

ERROR = Column("error", "+/-", 1, of=half_width, page_head="±")
GAMES = "games counted"
RATINGS = "all games"
# fmt: off
STANDINGS = (
    Column("rank", "Rank", meaning="1 is best; equal ratings share it", source="`elo`",
        style="strong"),
    Column("rank_and_range", "Rank", of=rank_and_range, text=0, page=0, brief=1, style="text"),
    Column("rank_low", meaning="best rank it may really have", source=RATINGS, file=3),
    Column("rank_high", meaning="worst rank it may really have", source=RATINGS, file=3),
    Column("ranks", "95%", of=ranks_text, page=2, page_head="Ranks"),
    Column("bot", "Bot", meaning="its name", source="`run.json`", brief=1, style="name"),
    Column("mark",
        meaning="`<` or `>`: `elo` is a bound; `~`: no rating; `?`: too few deals to be sure of it",
        source=RATINGS, file=2),
    Column("elo", "Elo", 1, 2, "rating; the mean of the bots with an error bar is 0", RATINGS,
        mark="mark", brief=1, style="strong"),
    Column("elo_low", "", None, 2, "low end of its 95 % interval; empty if open", RATINGS),
    Column("elo_high", "", None, 2, "high end of its 95 % interval; empty if open", RATINGS),
    ERROR,
    Column("los", "LOS%", 1, 4, "likelihood of being stronger than the next row", RATINGS, file=0,
        text=2, style="term", spare=4),
    Column("games", "Games", meaning=GAMES, source="`games.jsonl`", page=3, brief=3),
    Column("wins", "Wins", meaning="games alone at rank 1", source="`ranks`", page=3,
        page_head="Won", spare=5),
    Column("shared", "Shared", meaning="games at rank 1 with others", source="`ranks`", page=3,
        spare=2),
    Column("losses", "Losses", meaning="all other games", source="`ranks`", page=3,
        page_head="Lost", spare=1),
    Column("win_rate", "Share%", 1, 4,
        "wins per game, from 0 to 1; a win shared by *k* counts 1/*k*", "`ranks`", page=2, brief=2),
    Column("avg_rank", "", None, 3, "mean rank in a game", "`ranks`"),
    Column("avg_left", "Left", 1, 3, "mean number of pagodas left", "`left`", text=3, page=3,
        spare=3),
    Column("forfeits", "Faults", meaning="games forfeited", source="`faults`", text=3, page=3,
        brief=4, style="warn"),
    Column("think_ms", "", None, 1, "mean time spent on a game, in milliseconds", "`think_ms`"),
    Column("deals", meaning="deals on which it played", source="`deal`", file=3),
)
PAIRS = (
    Column("bot", "Bot", meaning="one bot", source="`run.json`", style="name"),
    Column("opponent", "Opponent", meaning="the other one", source="`run.json`", style="name"),
    Column("games", "Games", meaning="games in which they met", source="`games.jsonl`", spare=4),
    Column("wins", "Wins", meaning="games in which the bot ranked better", source="`ranks`",
        spare=3),
    Column("shared", "Shared", meaning="games in which they ranked equal", source="`ranks`",
        spare=2),
    Column("losses", "Losses", meaning="games in which the opponent ranked better",
        source="`ranks`", spare=1),
    Column("score", "Score%", 1, 4, "wins plus half of shared, per game, from 0 to 1",
        "`wins`, `shared`"),
    Column("elo_diff", "Elo diff", 1, 2, "the bot's rating minus the opponent's", RATINGS,
        mark="mark"),
    Column("elo_low", "", None, 2, "low end of the difference's 95 % interval", RATINGS),
    Column("elo_high", "", None, 2, "high end of the difference's 95 % interval", RATINGS),
    ERROR,
    Column("los", "LOS%", 1, 4, "how likely the bot is the stronger one, from 0 to 1", RATINGS,
        spare=5),
    Column("mark", file=0),
)
SEATS = (
    Column("seats", "Players", meaning="players in a game", source="`bots`"),
    Column("seat", "Seat", meaning="0 moves first", source="`bots`"),
    Column("games", "Games", meaning=GAMES, source="`games.jsonl`", text=3),
    Column("wins", meaning="games alone at rank 1", source="`ranks`"),
    Column("shared", meaning="games at rank 1 with others", source="`ranks`"),
    Column("win_rate", "Share%", 1, 4,
        "wins per game, from 0 to 1; a win shared by *k* counts 1/*k*", "`ranks`", text=3),
    Column("avg_left", "Left", 1, 3, "mean number of pagodas left", "`left`", text=3),
    Column("elo", "Elo", 1, 2, "what the seat is worth compared with seat 0", RATINGS, text=2),
    Column("elo_error", "+/-", 1, 2, "half of its 95 % interval", RATINGS, text=2),
)
FAULTS = (
    Column("bot", meaning="its name", source="`run.json`"),
    Column("games", meaning=GAMES, source="`games.jsonl`"),
    Column("forfeits", meaning="games forfeited", source="`faults`"),
    Column("rate", "", None, 4, "`forfeits` per game", "`faults`"),
)
HISTORY = (
    Column("version", "Version", meaning="the member", source="`league.jsonl`", style="name"),
    Column("bot", meaning="the bot that it is a version of", source="`league.jsonl`"),
    Column("status", "Status", meaning="what it is now", source="`league.jsonl`", style="name"),
    Column("joined", "Joined", meaning="when it joined, UTC", source="`league.jsonl`",
        style="name", spare=1),
    Column("mark", meaning="as in the standings", source=RATINGS),
    Column("elo", "Elo", 0, 2, "rating on the league's scale", RATINGS, mark="mark"),
    Column("elo_low", "", None, 2, "low end of its 95 % interval; empty if open", RATINGS),
    Column("elo_high", "", None, 2, "high end of its 95 % interval; empty if open", RATINGS),
    Column("error", "+/-", 0, of=half_width, page_head="±"),
    Column("before", meaning="the version before it", source="`league.jsonl`"),
    Column("gain", "Gain", 0, 2, "its rating minus that of the version before it", RATINGS),
    Column("gain_error", "+/-", 0, 2, "half of the 95 % interval of `gain`", RATINGS,
        page_head="±"),
    Column("gain_likely", "Likely", 0, 2, "`gain`, moved towards the mean gain of the league as far"
        " as it may be luck; empty if there are fewer than three", RATINGS, file=2),
    Column("games", "Games", meaning=GAMES, source="`games.jsonl`"),
    Column("forfeits", "Faults", meaning="games forfeited", source="`faults`"),
    Column("placed_games", "Placed", meaning="games until it was placed; 0 if it is not",
        source="`league.jsonl`"),
    Column("tested_against", meaning="the earlier version in its regression test; empty without a"
        " test", source="`league.jsonl`", file=2),
    Column("test_gain", "", None, 2, "its rating minus that of the earlier version, by the games of"
        " the test alone", "`games.jsonl`", file=2),
    Column("test_error", "", None, 2, "half of the 95 % interval of `test_gain`", "`games.jsonl`",
        file=2),
    Column("test_games", meaning="games of the test that were counted", source="`games.jsonl`",
        file=2),
)
# fmt: on
"""The columns of `history.history_table`, which has a row for each version in a league."""
FILES: Mapping[str, Sequence[Column]] = {
    "standings": STANDINGS,
    "pairs": PAIRS,
    "seats": SEATS,
    "faults": FAULTS,
}
"""By the name of each table that is written to a CSV file, which is also its name in
`tables.Tables`, its columns.
"""
IN_FILES = tuple(chain.from_iterable(FILES.values()))
"""The columns of all tables that are written to a CSV file."""
DECIMALS = {
    column.name: column.decimals for column in (*IN_FILES, *HISTORY) if column.decimals is not None
}

RATED = {column.name for column in IN_FILES if column.source in (RATINGS, "`elo`")}
"""The names of the columns, in any table that is written to a file, whose figures depend on the
ratings: on the prior, the anchors and the games of all bots, not on counts alone.
"""


def file_names(table: str) -> list[str]:
    """The names of the columns in the CSV file of ``table``, a key of `FILES`, from the left."""
    return [column.name for column in placed(FILES[table], "file")]
