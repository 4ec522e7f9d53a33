"""The page of each bot: its rating, its opponents, boards and seats, and the games that tell most
of it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from markupsafe import Markup

from arena.exports.changes import changes_shown, known_changes, regress_command
from arena.exports.history import version_rows
from arena.exports.overview import ends_of
from arena.exports.report.about import bots_of
from arena.exports.report.charts import axis, interval
from arena.exports.report.choice import Field
from arena.exports.report.feats import Feats, feats
from arena.exports.report.hands import TellingHands
from arena.exports.report.material import Material
from arena.exports.report.scales import linear
from arena.exports.report.sections import END, START
from arena.exports.report.takings import Takings
from arena.exports.report.words import milliseconds, number, signed, with_error
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
    pairs = material.tables.pairs
    met = {(str(bot), str(other)) for bot, other in pairs[["bot", "opponent"]].to_numpy()}
    paged = names[:MOST_PAGES]
    most = max(FEWEST_OPPONENTS, MOST_OPPONENTS // max(len(paged), 1))
    place = {name: at for at, name in enumerate(names)}
    found = {}
    for name in paged:
        known = [other for other in names if (name, other) in met]
        near = sorted(known, key=lambda other: abs(place[other] - place[name]))[:most]
        found[name] = [other for other in known if other in near or (name, other) in meetings]
    return found


def meetings_of(games: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], list[Meeting]]:
    """The games on the page by bot and opponent."""
    found = defaultdict[tuple[str, str], list[Meeting]](list)
    for game in games:
        ranks = dict(zip(game["bots"], game["ranks"], strict=True))
        for (bot, rank), (other, rival) in permutations(ranks.items(), 2):
            found[bot, other].append(Meeting(game["id"], _ended(rank, rival)))
    return found


def _ended(rank: int, other: int) -> str:
    return "won" if rank < other else "lost" if rank > other else "equal"


class Profiles:
    """Makes the pages; ``opponents`` and ``meetings`` are those of `opponents_of` and
    `meetings_of`, and ``pictures`` show how ratings settled.
    """

    def __init__(
        self,
        material: Material,
        opponents: Mapping[str, Sequence[str]],
        meetings: Mapping[tuple[str, str], Sequence[Meeting]],
        pictures: Mapping[str, Markup],
    ) -> None:
        self._pictures = pictures
        self._material, self._opponents, self._meetings = material, opponents, meetings
        scan, field = material.scan, Field(material.scan, material.elo, ~material.is_open)
        self._feats = feats(scan, material.elo, field.clean, MOST_FEATS)
        self._hands = TellingHands(material)
        self._takings = Takings(scan)
        tables = material.tables
        self._rows = {str(row["bot"]): row for row in _rows_of(tables.standings)}
        self._pairs = {
            (str(row["bot"]), str(row["opponent"])): row for row in _rows_of(tables.pairs)
        }
        self._about = {bot["name"]: bot for bot in bots_of(material)}
        self._ids = self._named_games()
        self._changes = known_changes(material.folder) if material.history else {}
        members = version_rows(material.history) if material.history else []
        self._members = {str(row["version"]): row for row in members}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self.of(name) for name in self._opponents)

    def of(self, name: str) -> dict[str, Any]:
        """The page of a bot, as the template needs it."""
        told = self._feats.get(name, Feats([], []))
        return {
            "name": name,
            "row": self._rows[name],
            "facts": [*self._facts(name)],
            "about": self._about.get(name),
            "kin": self._kin(name),
            "step": self._step(name),
            **self._opponents_table(name),
            "boards": self._takings.by_board(name),
            "seats": self._takings.by_seat(name),
            "wins": [feat._asdict() | {"id": self._ids[feat.game]} for feat in told.wins],
            "losses": [feat._asdict() | {"id": self._ids[feat.game]} for feat in told.losses],
            "hands": [
                (
                    *words,
                    [
                        hand | {"id": self._ids[hand["game"]], "best_id": self._ids[hand["best"]]}
                        for hand in found
                    ],
                )
                for *words, found in self._hands.of(name)
            ],
            "faults": self._faults(name),
            "picture": self._pictures.get(name),
        }

    def _named_games(self) -> dict[int, str]:
        """The ids of all games that any page names, read at once."""
        wanted = {
            feat.game
            for name in self._opponents
            for found in self._feats.get(name, Feats([], []))
            for feat in found
        }
        wanted |= {
            hand[which]
            for name in self._opponents
            for *_, found in self._hands.of(name)
            for hand in found
            for which in ("game", "best")
        }
        records = self._material.scan.records(wanted)
        return {game: record.id for game, record in records.items()}

    def _facts(self, name: str) -> Iterator[tuple[str, str]]:
        row = self._rows[name]
        columns = {column.name: column for column in STANDINGS}
        elo = columns["elo"]._replace(shown=0).written(row, number)
        yield "Elo", with_error(elo, half_width(row))
        if member := self._members.get(name):
            yield "On the league's scale", with_error(member["elo"], member["error"])
            yield "Status", member["status"]
            yield "Joined", member["joined"]
        yield "Rank", f"{row['rank']} of {len(self._rows)}"
        if row["rank_low"] < row["rank_high"]:
            yield "Possible ranks", f"{row['rank_low']}–{row['rank_high']}"  # noqa: RUF001 - a dash
        yield "Games", number(row["games"])
        yield "Won", number(row["wins"])
        if row["shared"]:
            yield "Shared", number(row["shared"])
        yield "Lost", number(row["losses"])
        yield "Share of the wins", f"{number(row['win_rate'] * 100, 1)} %"
        yield "Pagodas left", number(row["avg_left"], 1)
        yield "Forfeits", number(row["forfeits"])
        yield "A move takes", milliseconds(self._takings.move_ms(name))
        yield "Slowest answer", milliseconds(self._material.scan.slowest_ms.get(name, float("nan")))

    def _kin(self, name: str) -> list[str]:
        """The other versions and settings of the bot in this run."""
        return [other for other in self._rows if other != name and name_of(other) == name_of(name)]

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
            "changes": changes_shown(self._changes[name]) if name in self._changes else None,
        }

    def _opponents_table(self, name: str) -> dict[str, Any]:
        rows = [self._pairs[name, other] for other in self._opponents[name]]
        frame = self._material.tables.pairs
        own = frame[frame["bot"] == name].rename(columns={"elo_diff": "elo"})
        scale = linear([0.0, *ends_of(own, is_anchored=False)], START, END)
        column = next(column for column in PAIRS if column.name == "elo_diff")._replace(shown=0)
        return {
            "axis": axis(scale, "Elo ahead"),
            "opponents": [
                {
                    **row,
                    "elo": column.written(row, number),
                    "picture": _lead_picture(scale, row),
                    "listed": self._meetings.get((name, row["opponent"]), ())[:MOST_LISTED],
                }
                for row in rows
            ],
            "left_out": len(own) - len(rows),
        }

    def _faults(self, name: str) -> list[dict[str, Any]]:
        """Each kind of fault: how often, and what the latest one was."""
        found = [fault for fault in self._material.scan.faults if fault.bot == name]
        latest = {one.fault.kind: one for one in found}
        counts = Counter(one.fault.kind for one in found)
        return [
            {
                "kind": kind,
                "count": count,
                "game": latest[kind].id,
                "turn": latest[kind].fault.turn,
                "detail": "" if self._is_open(latest[kind].game) else latest[kind].fault.detail,
            }
            for kind, count in counts.most_common()
        ]

    def _is_open(self, game: int) -> bool:
        return bool(self._material.is_open[game])


def _rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", table.to_dict("records"))


def _lead_picture(scale: Any, row: Any) -> Any:
    middle, low, high = row["elo_diff"], row["elo_low"], row["elo_high"]
    words = f"{signed(low)} to {signed(high)}" if np.isfinite(low + high) else "not known"
    return interval(scale, low, middle, high, words, is_plain=True)
