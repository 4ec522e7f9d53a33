"""The page of each bot: its rating, its opponents, boards and seats, and the games that tell most
of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from arena.exports.analysis import regress_command
from arena.exports.grid import figure, signed, with_error
from arena.exports.report.charts import END, START, axis, interval, linear
from arena.exports.report.choice import Feats, Field, feats
from arena.exports.report.scan import Material
from arena.exports.report.sections import bots_of, version_rows
from arena.exports.text import ends_of
from arena.ratings.columns import PAIRS, STANDINGS, half_width
from arena.records.record import name_of

MOST_PAGES = 60
MOST_OPPONENTS = 1200
"""Rows on all pages together: 23 bots have 506. One takes about 800 bytes."""
FEWEST_OPPONENTS = 8
MOST_LISTED = 6
"""Games of one pair."""
MOST_FEATS = 3


class Meeting(NamedTuple):
    """A game of two bots that is on the page, and how it ended for the first."""

    id: str
    words: str


def opponents_of(
    material: Material, meetings: Mapping[tuple[str, str], Any]
) -> dict[str, list[str]]:
    """For each bot with a page, those of whose games it tells: the nearest in the standings, and
    all whose games are on the page; in the order of the standings.
    """
    names = material.bots
    met = set(material.tables.pairs[["bot", "opponent"]].itertuples(index=False, name=None))
    most = max(FEWEST_OPPONENTS, MOST_OPPONENTS // max(len(names[:MOST_PAGES]), 1))
    found = {}
    for place, name in enumerate(names[:MOST_PAGES]):
        known = [at for at, other in enumerate(names) if (name, other) in met]
        near = set(
            sorted(known, key=[abs(at - place) for at in range(len(names))].__getitem__)[:most]
        )
        found[name] = [names[at] for at in known if at in near or (name, names[at]) in meetings]
    return found


def meetings_of(games: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Meeting]]:
    """The games on the page by bot and opponent."""
    found = defaultdict[tuple[str, str], list[Meeting]](list)
    for game in games:
        ranks = dict(zip(game["bots"], game["ranks"], strict=True))
        for (bot, rank), (other, rival) in permutations(ranks.items(), 2):
            words = "won" if rank < rival else "lost" if rank > rival else "equal"
            found[bot, other].append(Meeting(game["id"], words))
    return found


class Profiles:
    """Makes the pages; ``opponents`` and ``meetings`` are those of `opponents_of` and
    `meetings_of`.
    """

    def __init__(
        self,
        material: Material,
        opponents: Mapping[str, Sequence[str]],
        meetings: Mapping[tuple[str, str], Sequence[Meeting]],
    ) -> None:
        self._material, self._opponents, self._meetings = material, opponents, meetings
        tables, history = material.tables, material.history
        told = feats(Field(material.scan, material.elo, ~material.is_open), MOST_FEATS)
        self._feats = {name: told.get(name, Feats([], [])) for name in opponents}
        self._numbers, self._boards = material.scan.bot_numbers(), material.scan.boards()
        self._seats = _seats(material)
        self._places = {bot: rows.index for bot, rows in self._seats.groupby("bot")}
        self._rows = {row["bot"]: row for row in _records(tables.standings)}
        self._pairs = {(row["bot"], row["opponent"]): row for row in _records(tables.pairs)}
        self._about = {bot["name"]: bot for bot in bots_of(material)}
        # all games that any page names, read at once
        wanted = {feat.game for each in self._feats.values() for one in each for feat in one}
        records = material.scan.records(wanted)
        self._ids = {game: record.id for game, record in records.items()}
        self._members = {row["version"]: row for row in version_rows(history)} if history else {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.of(name) for name in self._opponents)

    def of(self, name: str) -> dict[str, Any]:
        """The page of a bot, as the template needs it."""
        told, row = self._feats[name], self._rows[name]
        own = self._seats.loc[self._places.get(self._numbers.get(name, -1), [])]
        moves, has_sizes = own["moves"].sum(), len(set(own["size"])) > 1
        elo = next(column for column in STANDINGS if column.name == "elo")._replace(shown=0)
        return {
            **row,
            "name": name,
            "rated": with_error(elo.written(row, figure), half_width(row)),
            "bots": len(self._rows),
            "member": self._members.get(name),
            "move_ms": own["think_ms"].sum() / moves if moves else float("nan"),
            "slowest_ms": self._material.scan.slowest_ms.get(name, float("nan")),
            "about": self._about.get(name),
            # the other versions and settings of the bot
            "kin": [one for one in self._rows if one != name and name_of(one) == name_of(name)],
            "step": self._step(name),
            **self._opponents_table(name),
            "boards": [
                {**board, "what": self._boards[board["board"]]} for board in _means(own, "board")
            ],
            "seats": [
                {**seat, "what": f"seat {seat['seat']}" + f" of {seat['size']}" * has_sizes}
                for seat in _means(own, "size", "seat")
            ],
            "best": [feat._asdict() | {"id": self._ids[feat.game]} for feat in told.wins],
            "worst": [feat._asdict() | {"id": self._ids[feat.game]} for feat in told.losses],
            "faults": self._faults(name),
        }

    def _step(self, name: str) -> dict[str, Any] | None:
        """What a version in a league gained on the one before it, and the command that tells where
        it plays otherwise; None if there is no such version, or it has not played.
        """
        found = self._material.history
        rows = found.of(name).table.to_dict("records") if found else []
        before = next((str(row["before"]) for row in rows if row["version"] == name), "")
        if not found or before not in self._rows:
            return None
        return {
            "before": before,
            "gain": next(iter(found.of(name).sentences), ""),
            "command": regress_command(self._material.folder.name, name, before),
        }

    def _opponents_table(self, name: str) -> dict[str, Any]:
        frame = self._material.tables.pairs
        own = frame[frame["bot"] == name].rename(columns={"elo_diff": "elo"})
        scale = linear([0.0, *ends_of(own, is_anchored=False)], START, END)
        column = next(column for column in PAIRS if column.name == "elo_diff")._replace(shown=0)
        rows = []
        for row in (self._pairs[name, other] for other in self._opponents[name]):
            middle, low, high = row["elo_diff"], row["elo_low"], row["elo_high"]
            words = f"{signed(low)} to {signed(high)}" if np.isfinite(low + high) else "not known"
            picture = interval(scale, low, middle, high, words, is_plain=True)
            listed = self._meetings.get((name, row["opponent"]), ())[:MOST_LISTED]
            elo = column.written(row, figure)
            rows.append({**row, "elo": elo, "picture": picture, "listed": listed})
        left_out = len(own) - len(rows)
        return {"axis": axis(scale, "Elo ahead"), "opponents": rows, "left_out": left_out}

    def _faults(self, name: str) -> list[dict[str, Any]]:
        """Each kind of fault: how often, and what the latest one was."""
        found = [fault for fault in self._material.scan.faults if fault.bot == name]
        latest = {one.fault.kind: one for one in found}
        is_open = self._material.is_open
        return [
            {
                "kind": kind,
                "count": count,
                "game": latest[kind].id,
                "turn": latest[kind].fault.turn,
                "detail": "" if is_open[latest[kind].game] else latest[kind].fault.detail,
            }
            for kind, count in Counter(one.fault.kind for one in found).most_common()
        ]


def _means(seats: pd.DataFrame, *by: str) -> list[dict[str, Any]]:
    """The number of games, and means over them."""
    groups = seats.groupby([*by])
    means = groups.agg(games=("share", "size"), share=("share", "mean"), left=("left", "mean"))
    return _records(means.reset_index())


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", table.to_dict("records"))


def _seats(material: Material) -> pd.DataFrame:
    """A row for each ``game`` and ``seat``: ``board`` and ``bot`` by number, the ``size`` of the
    table, the ``share`` of the win, the pagodas ``left``, ``think_ms``, and how many ``moves`` the
    seat made if all made equally many.
    """
    scan = material.scan
    sizes, boards = scan.sizes(), scan.boards()
    numbers = [[boards.index(board)] * len(bots) for board, bots, _ in scan.outcomes]
    return pd.DataFrame(
        {
            "game": np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            "seat": scan.seats(),
            "board": scan.by_seat(numbers),
            "bot": scan.bots(),
            "size": np.repeat(sizes, sizes),
            "share": scan.won(),
            "left": scan.left,
            "think_ms": scan.think_ms,
            "moves": np.repeat(scan.turns / sizes, sizes),
        }
    )
