"""What is worked out for the pages of a run, in a process of its own: see `live.Desk`."""

import time
from collections import Counter, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena.commands.runs import is_quiet
from arena.errors import NoAnswerError, RunError
from arena.exports.grid import figure, with_error
from arena.exports.report.make import facts_of, game_page, report_page
from arena.exports.report.material import Follower, Material
from arena.exports.report.page import Around, PageSetting, fragment, rules_named
from arena.exports.report.profiles import GamesToShow, Profiles, choose_games, opponents_of
from arena.exports.report.scan import Reasons
from arena.exports.report.sections import details_of, lead
from arena.exports.text import seat_names
from arena.ratings.columns import half_width
from arena.records.journal import neighbours
from arena.records.record import GameRecord
from arena.tournament.run import Run
from arena.web.home import PARTS, SitePages, setting_of_pages
from arena.web.live import Sight

LATEST = 12
SPEED_S = FEATURED_S = 60.0
MAX_FOLLOWED = 4

_followed: dict[str, "FollowedRun"] = {}


class FollowedRun(Follower):
    """A run that somebody looks at: how fast it is played, and the game that its page begins
    with.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._paces = deque[tuple[float, int]]()
        self._featured: Reasons = {}
        self._featured_until = 0.0

    def games_per_s(self, games: int) -> float:
        """How many games ended in a second, since the looks of a minute ago."""
        now = time.monotonic()
        self._paces.append((now, games))
        while self._paces[0][0] < now - SPEED_S:
            self._paces.popleft()
        since, before = self._paces[0]
        return (games - before) / (now - since) if now > since else 0.0

    def lead(self, material: Material) -> dict[str, Any]:
        """What the page begins with: for a minute the same game, which plays itself."""
        if time.monotonic() > self._featured_until:
            field = GamesToShow(material.scan, material.elo, ~material.is_open)
            latest: Reasons = {int(game): ["just ended"] for game in field.clean[:1]}
            is_over = material.secrecy.is_finished
            self._featured = choose_games(field, 1) if is_over else latest
            self._featured_until = time.monotonic() + FEATURED_S
        return lead(material, self._featured)


def nothing() -> None:
    """Only loads all this."""


def look_at(folder: str) -> Sight:
    """The parts of a run's page as they are now. Raises RunError."""
    began = time.process_time()
    material = followed_run(folder)
    values = _values(material, _followed[folder])
    setting = setting_of_pages()
    parts = {name: fragment(f"{name}.html", values, setting).strip() for name in PARTS}
    row = material.tables.standings.iloc[0]
    elo = f"{row['mark']} {figure(row['elo'])}".strip()
    leader = str(row["bot"]), with_error(elo, half_width(row))
    return Sight(parts, material.secrecy.is_finished, leader, time.process_time() - began)


def report(folder: str, setting: PageSetting) -> str:
    """The report of the run in a folder. Raises RunError, NoAnswerError."""
    return report_page(Run(Path(folder)), setting=setting).text


def game(folder: str, setting: PageSetting, name: str) -> str:
    """The page of a game whose deal is over. Raises RunError."""
    run = Run(Path(folder))
    record = run.record(name)
    if run.secrecy().is_open_game(record):
        raise RunError(
            f"expected a game whose deal is over, got {record.id}",
            "other games of this deal are still to be played: come back when the run is over",
        )
    return game_page(run, record, setting, _around(run, record))


def followed_run(folder: str) -> Material:
    """A run with all games that have ended, from whoever follows it already, or somebody new.
    Raises RunError.
    """
    follower = _followed.pop(folder, None)
    if follower is None or not follower.is_valid:
        follower = FollowedRun(Run(Path(folder)))
    for name in list(_followed)[: 1 - MAX_FOLLOWED]:
        del _followed[name]
    try:
        found = follower.material()
    except NoAnswerError as error:
        raise RunError(str(error), error.hint) from None
    _followed[folder] = follower
    return found


def _values(material: Material, follower: FollowedRun) -> dict[str, Any]:
    """What the templates of the parts show."""
    facts = facts_of(material)
    games = len(material.is_open)
    speed = follower.games_per_s(games)
    missing = material.secrecy.missing
    return {
        **facts,
        "addresses": SitePages(material.run.name),
        "rules": rules_named(details_of(facts["faults"])),
        "lead": follower.lead(material),
        "is_live": missing != 0 and not is_quiet(material.run.folder),
        "speed": speed,
        "seconds": missing / speed if missing and speed else None,
        "ended": _told_games(material, range(games)[-LATEST:][::-1]),
    }


def _told_games(material: Material, games: Sequence[int]) -> list[dict[str, Any]]:
    """These games in a list."""
    records = material.scan.records(games)
    return [_told_game(records[game], is_open=bool(material.is_open[game])) for game in games]


def _told_game(record: GameRecord, *, is_open: bool) -> dict[str, Any]:
    """A game in a list: who won, against whom, by how many pagodas, and whether games of its deal
    are still to be played.
    """
    names = seat_names(record.bots)
    order = sorted(range(len(names)), key=lambda seat: record.ranks[seat])
    won = [names[seat] for seat in order if record.ranks[seat] == 1]
    lost = [seat for seat in order if record.ranks[seat] > 1]
    lead = record.left[lost[0]] - record.left[order[0]] if lost else 0
    return {
        "id": record.id,
        "won": won,
        "lost": [names[seat] for seat in lost],
        "by": "forfeit" if record.faults else f"+{lead}" if lost else "shared",
        "board": record.board,
        "turns": record.turns,
        "is_open": is_open,
    }


AT_ONCE = 60
"""Games on a page."""


def list_of_games(folder: str, bots: Sequence[str], number: int) -> str:
    """The games in which all these bots sat, the latest first. Raises RunError."""
    material = followed_run(folder)
    sought = Counter(bots)
    outcomes = material.scan.outcomes
    met = material.scan.by_game(sought <= Counter(seated) for _, seated, _ in outcomes)
    found = np.flatnonzero(met)[::-1]
    pages = max(-(-len(found) // AT_ONCE), 1)
    number = min(max(number, 1), pages)
    shown = found[(number - 1) * AT_ONCE : number * AT_ONCE].tolist()
    values = {
        "bots": bots,
        "all": len(found),
        "ended": _told_games(material, shown),
        "page": number,
        "pages": pages,
        "addresses": SitePages(material.run.name),
    }
    return fragment("list.html", values, setting_of_pages())


def _around(run: Run, record: GameRecord) -> Around:
    """Where a game stands in its run; a game whose deal is still being played cannot be seen, so
    nothing leads to it. Raises RunError.
    """
    to = SitePages(run.name)
    before, after = (
        "" if not game or run.secrecy().is_open_game(run.record(game)) else to.game(game)
        for game in neighbours(run.folder, record.id)
    )
    return Around(to.run, [to.bot(bot) for bot in record.bots], before, after)


def portrait(folder: str, name: str) -> str:
    """What the run says of a bot. Raises RunError."""
    material = followed_run(folder)
    opponents = opponents_of(material, {})
    if name not in opponents:
        raise RunError(f"expected a bot of the run, got {name!r}")
    told = Profiles(material, {name: opponents[name]}, {}).of(name)
    addresses = SitePages(material.run.name)
    values = {"bot": told, "addresses": addresses, "run": material.run.name}
    return fragment("portrait.html", values, setting_of_pages())
