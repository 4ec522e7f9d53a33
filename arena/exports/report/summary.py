"""A run in a few lines of Markdown, to paste into a chat or an issue."""

from collections.abc import Iterator

import numpy as np

from arena.errors import printable
from arena.exports.contested import contested_of
from arena.exports.report.about import repeat_command
from arena.exports.report.material import Material
from arena.exports.report.words import counted
from arena.exports.text import counted_text, number, table_text
from arena.exports.verdicts import verdict_text
from arena.ratings.columns import STANDINGS, half_width, in_whole_elo
from arena.records.record import DUEL, shares

MOST_ROWS = 10
COLUMNS = ("rank", "bot", "elo", "error", "games", "wins", "shared", "losses")
CLOCKS = {"cpu": "processor time", "wall": "wall clock"}
POINTS = ("0", "½", "1", "1½", "2")


def summary_of(material: Material) -> str:
    """The lines, in a fence that no name in them can close: each is on a line that begins with
    something else.
    """
    return "\n".join(["```", *_lines(material), "```"])


def _lines(material: Material) -> Iterator[str]:
    tables, info = material.tables, material.info
    yield (
        f"Run {printable(material.folder.name)}: {counted(len(material.bots), 'bot')},"
        f" {counted_text(tables)}, {counted(tables.clusters, 'deal')}; {_settings(material)}"
    )
    contested = contested_of(material.folder, info)
    if contested and contested.test.blocks:
        yield "Test " + printable(
            verdict_text(contested.test, contested.new, contested.old, contested.games), keep="\n"
        )
        yield from _both_games(material, contested.new, contested.old)
    elif len(tables.standings):
        columns = [in_whole_elo(column) for column in STANDINGS if column.name in COLUMNS]
        yield table_text(columns, tables.standings.head(MOST_ROWS), "Games")
        yield from _first_two(material)
    yield f"arena {info.arena}, protocol {info.protocol}, rules revision {info.rules_revision}"
    seed = info.seed if material.secrecy.is_finished else None
    yield printable(repeat_command(info, seed=seed))


def _settings(material: Material) -> str:
    config, info = material.info.config, material.info
    time = (
        "built-in bots, no limit of time"
        if config.get("in_process")
        else f"{config.get('move_ms', '?')} ms a move ({CLOCKS.get(info.clock, 'wall clock')})"
    )
    boards = ", ".join(map(printable, info.boards))
    return f"{config.get('players', DUEL)} players, {boards}, {time}"


def _first_two(material: Material) -> Iterator[str]:
    """How the first bot of the table did against the second."""
    one, other = (*material.bots, "", "")[:2]
    pairs = material.tables.pairs
    for row in pairs[(pairs["bot"] == one) & (pairs["opponent"] == other)].to_dict("records"):
        half = half_width(row)
        elo = f", {number(row['elo_diff'], 0)} +/- {number(half, 0)} Elo"
        los = f", LOS {number(row['los'] * 100, 1)} %" if np.isfinite(row["los"]) else ""
        yield (
            f"Better in {row['wins']} games, equal in {row['shared']}, worse in {row['losses']}:"
            f" {printable(one)} against {printable(other)}{elo if np.isfinite(half) else ''}{los}"
        )
        yield from _both_games(material, one, other)


def _both_games(material: Material, one: str, other: str) -> Iterator[str]:
    """How many deals gave the first bot 0 to 2 wins of both games, with seats swapped."""
    scan = material.scan
    met = [len(bots) == DUEL and set(bots) == {one, other} for _, bots, _ in scan.outcomes]
    if not any(met):
        return
    games = np.flatnonzero(scan.by_game(met))
    won = np.array(
        [
            shares(ranks)[bots.index(one)] if is_met else 0
            for is_met, (_, bots, ranks) in zip(met, scan.outcomes, strict=True)
        ]
    )
    _, deal, count = np.unique(scan.places()[games], return_inverse=True, return_counts=True)
    points = np.bincount(deal, won[scan.outcome[games]])
    both = np.bincount(np.rint(2 * points[count == DUEL]).astype(np.int64), minlength=len(POINTS))
    if both.any():
        told = ", ".join(f"{point}: {deals}" for point, deals in zip(POINTS, both, strict=True))
        yield f"Wins in both games of {counted(int(both.sum()), 'deal')}: {told}"
