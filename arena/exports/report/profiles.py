"""Makes the page of each bot: its rating, its opponents, boards and seats, its best wins and its
worst losses.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from arena.exports.grid import figure, signed, with_error
from arena.exports.report.charts import END, START, axis, interval, linear
from arena.exports.report.choice import Feat, Feats, GamesToShow, feats
from arena.exports.report.material import Material
from arena.exports.report.meetings import Meeting
from arena.exports.report.scan import Forfeited
from arena.exports.report.sections import bots_of, version_rows
from arena.exports.review_text import regress_command
from arena.exports.text import ends_of
from arena.ratings.column import column_named, half_width
from arena.ratings.columns import PAIRS, STANDINGS
from arena.records.record import name_of, shares

MAX_LISTED = 6
"""The most games of one pair of bots that a page lists."""
MAX_FEATS = 3


class Profiles:
    """Makes the values for the pages of bots; iterating yields one dict, see `of`, for each bot
    with a page. ``opponents`` comes from `meetings.opponents_of` and says which bots have a page;
    ``meetings`` comes from `meetings.meetings_of`.
    """

    def __init__(
        self,
        material: Material,
        opponents: Mapping[str, Sequence[str]],
        meetings: Mapping[tuple[str, str], Sequence[Meeting]],
    ) -> None:
        self._material = material
        self._opponents = opponents
        self._meetings = meetings
        tables = material.tables
        history = material.history
        by_bot = feats(GamesToShow(material.scan, material.elo, ~material.is_open), MAX_FEATS)
        self._feats = {name: by_bot.get(name, Feats([], [])) for name in opponents}
        self._numbers = material.scan.bot_numbers
        self._boards = material.scan.boards()
        self._seats = _seats(material)
        # for all bots at once: a call of pandas for each takes a quarter of a report's time
        self._sums = self._seats.groupby("bot")[["moves", "think_ms"]].sum().to_dict("index")
        self._by_board = _means(self._seats, "board")
        self._by_seat = _means(self._seats, "size", "seat")
        self._rows = _keyed(_records(tables.standings), "bot")
        paged = tables.pairs[tables.pairs["bot"].isin([*opponents])]
        pairs = paged.rename(columns={"elo_diff": "elo"})
        self._pairs_of = dict.fromkeys(opponents, pairs.iloc[:0])
        for bot, rows in pairs.groupby("bot"):
            self._pairs_of[str(bot)] = rows
        self._pairs: dict[tuple[str, str], dict[str, Any]] = {}
        for row in _records(paged):
            self._pairs[row["bot"], row["opponent"]] = row
        self._about = _keyed(bots_of(material), "name")
        # the records of all games that any page names are read at once
        wanted = set[int]()
        for own in self._feats.values():
            for feat in (*own.wins, *own.losses):
                wanted.add(feat.game)
        self._records = material.scan.records(wanted)
        self._members = _keyed(version_rows(history), "version") if history else {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(self.of, self._opponents)

    def of(self, name: str) -> dict[str, Any]:
        """The values for the page of the bot ``name``, by their names in the template bot.html.
        Raises KeyError if the bot has no page, as only bots in ``opponents`` do.
        """
        bot_feats = self._feats[name]
        row = self._rows[name]
        number = self._numbers.get(name, -1)
        own = self._sums.get(number, {"moves": 0.0, "think_ms": 0.0})
        by_board = self._by_board.get(number, [])
        by_seat = self._by_seat.get(number, [])
        has_sizes = len({seat["size"] for seat in by_seat}) > 1
        elo = column_named("elo", STANDINGS)._replace(shown=0)
        return {
            **row,
            "name": name,
            "rated": with_error(elo.written(row, figure), half_width(row)),
            "bots": len(self._rows),
            "member": self._members.get(name),
            "move_ms": own["think_ms"] / own["moves"] if own["moves"] else float("nan"),
            "slowest_ms": self._material.scan.slowest_ms.get(name, float("nan")),
            "about": self._about.get(name),
            "kin": self._kin(name),
            "step": self._step(name),
            **self._opponents_table(name),
            "boards": [{**board, "what": self._boards[board["board"]]} for board in by_board],
            "seats": [_named_seat(seat, has_sizes=has_sizes) for seat in by_seat],
            "best": list(map(self._feat_object, bot_feats.wins)),
            "worst": list(map(self._feat_object, bot_feats.losses)),
            "faults": self._faults(name),
        }

    def _kin(self, name: str) -> list[str]:
        """The bots in the standings that differ from the bot ``name`` only in their version or
        their options.
        """
        same = [bot for bot in self._rows if name_of(bot) == name_of(name)]
        return [bot for bot in same if bot != name]

    def _feat_object(self, feat: Feat) -> dict[str, Any]:
        """The fields of ``feat`` by their names, and the ``id`` of its game."""
        return feat._asdict() | {"id": self._records[feat.game].id}

    def _step(self, name: str) -> dict[str, Any] | None:
        """What the version ``name`` of a league gained over the one before, and the command that
        lists where the two play differently; None if there is no version before, if that is not in
        the standings, or if the run is no league.
        """
        history = self._material.history
        member = self._members.get(name)
        if not history or not member or (before := str(member["before"])) not in self._rows:
            return None
        return {
            "before": before,
            "gain": next(iter(history.of(name).sentences), ""),
            "command": regress_command(self._material.run.name, name, before),
        }

    def _opponents_table(self, name: str) -> dict[str, Any]:
        """The table of the opponents of the bot ``name``, with charts and the number of opponents
        left out.
        """
        own = self._pairs_of[name]
        scale = linear([0.0, *ends_of(own.to_dict("records"), is_anchored=False)], START, END)
        column = column_named("elo_diff", PAIRS)._replace(shown=0)
        rows = []
        for other in self._opponents[name]:
            row = self._pairs[name, other]
            middle = row["elo_diff"]
            low = row["elo_low"]
            high = row["elo_high"]
            words = f"{signed(low)} to {signed(high)}" if np.isfinite(low + high) else "not known"
            picture = interval(scale, low, middle, high, words, is_plain=True)
            listed = self._meetings.get((name, row["opponent"]), ())[:MAX_LISTED]
            elo = column.written(row, figure)
            rows.append({**row, "elo": elo, "picture": picture, "listed": listed})
        left_out = len(own) - len(rows)
        return {"axis": axis(scale, "Elo ahead"), "opponents": rows, "left_out": left_out}

    def _faults(self, name: str) -> list[dict[str, Any]]:
        """A row for each kind of fault of the bot ``name``: how often it occurred, and its latest
        game. The detail is empty while that game's deal is still being played.
        """
        latest: dict[str, Forfeited] = {}
        counts = Counter[str]()
        for forfeited in self._material.scan.faults:
            if forfeited.bot == name:
                latest[forfeited.fault.kind] = forfeited
                counts[forfeited.fault.kind] += 1
        is_open = self._material.is_open
        rows = []
        for kind, count in counts.most_common():
            last = latest[kind]
            detail = "" if is_open[last.game] else last.fault.detail
            row = {"kind": kind, "count": count, "game": last.id, "turn": last.fault.turn}
            rows.append({**row, "detail": detail})
        return rows


def _means(seats: pd.DataFrame, *by: str) -> dict[int, list[dict[str, Any]]]:
    """By the number of a bot, for each group of its rows in ``seats``, a table of `_seats`, that
    have equal values in the columns ``by``: a dictionary with these values, the number of
    ``games``, and the means of ``share`` and of ``left``, the pagodas left. In ascending order of
    the values.
    """
    groups = seats.groupby(["bot", *by])
    means = groups.agg(games=("share", "size"), share=("share", "mean"), left=("left", "mean"))
    found = defaultdict[int, list[dict[str, Any]]](list)
    for row in _records(means.reset_index()):
        found[row.pop("bot")].append(row)
    return found


def _named_seat(row: dict[str, Any], *, has_sizes: bool) -> dict[str, Any]:
    """A row about a seat, with its name; ``has_sizes`` says that the table has rows of games with
    different numbers of players, which are then named, too.
    """
    size = f" of {row['size']}" if has_sizes else ""
    return {**row, "what": f"seat {row['seat']}{size}"}


def _keyed(rows: Iterable[dict[str, Any]], column: str) -> dict[str, dict[str, Any]]:
    """The ``rows`` by their value in ``column``."""
    return {row[column]: row for row in rows}


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of ``table`` as dicts."""
    return cast("list[dict[str, Any]]", table.to_dict("records"))


def _seats(material: Material) -> pd.DataFrame:
    """A row for each seat of each game: ``seat``, the numbers of its ``board`` and ``bot``, the
    ``size`` of the table (number of players), the ``share`` of the win, the pagodas ``left``,
    ``think_ms``, and ``moves``, the game's placements divided by its players.
    """
    scan = material.scan
    sizes = scan.sizes
    boards = scan.boards()
    board = scan.by_game(map(boards.index, scan.outcome_boards))
    won = [shares(list(ranks)) for ranks in scan.outcome_ranks]
    return pd.DataFrame(
        {
            "seat": scan.by_seat(range(len(bots)) for bots in scan.outcome_bots),
            "board": np.repeat(board, sizes),
            "bot": scan.bots,
            "size": np.repeat(sizes, sizes),
            "share": scan.by_seat(won, np.float64),
            "left": scan.left,
            "think_ms": scan.think_ms,
            "moves": np.repeat(scan.turns / sizes, sizes),
        }
    )
