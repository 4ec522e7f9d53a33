"""Pages of a run besides the one that lives: its games, and what it says of a bot. This runs at a
desk.
"""

from collections import Counter
from pathlib import Path

import numpy as np

from arena.errors import RunError
from arena.exports.report.addresses import Around
from arena.exports.report.courses import courses_of
from arena.exports.report.drawing import parts
from arena.exports.report.page import fragment
from arena.exports.report.profiles import Profiles, opponents_of
from arena.exports.report.secrecy import Secrecy
from arena.records.find import find_record, neighbours
from arena.records.record import GameRecord
from arena.web.following import followed_run, told_game
from arena.web.pages import SitePages, setting_of_pages

AT_ONCE = 60
"""Games on a page."""


def list_of_games(folder: str, bots: list[str], number: int) -> str:
    """The games in which all these bots sat, the latest first. Raises RunError."""
    material, sought = followed_run(folder), Counter(bots)
    outcomes = material.scan.outcomes
    met = material.scan.by_game(sought <= Counter(seated) for _, seated, _ in outcomes)
    found = np.flatnonzero(met)[::-1]
    pages = max(-(-len(found) // AT_ONCE), 1)
    number = min(max(number, 1), pages)
    shown = found[(number - 1) * AT_ONCE : number * AT_ONCE].tolist()
    records = material.scan.records(shown)
    values = {
        "bots": bots,
        "all": len(found),
        "ended": [told_game(records[game], is_open=bool(material.is_open[game])) for game in shown],
        "page": number,
        "pages": pages,
        "addresses": SitePages(material.folder.name),
    }
    return fragment("list.html", values, setting_of_pages())


def around(run: Path, record: GameRecord, secrecy: Secrecy) -> Around:
    """Where a game stands in its run; a game whose deal is still being played cannot be seen, so
    nothing leads to it. Raises RunError.
    """
    to = SitePages(run.name)
    before, after = (
        "" if not game or secrecy.is_open_game(find_record(run, game)) else to.game(game)
        for game in neighbours(run, record.id)
    )
    return Around(to.run, [to.bot(bot) for bot in record.bots], before, after)


def portrait(folder: str, name: str) -> str:
    """What the run says of a bot. Raises RunError."""
    material = followed_run(folder)
    opponents = opponents_of(material, {})
    if name not in opponents:
        raise RunError(f"expected a bot of the run, got {name!r}")
    pictures = courses_of(material).panels
    told = Profiles(material, {name: opponents[name]}, {}, pictures).of(name)
    addresses = SitePages(material.folder.name)
    values = {"bot": told, "addresses": addresses, "run": material.folder.name, "drawn": parts()}
    return fragment("portrait.html", values, setting_of_pages())
