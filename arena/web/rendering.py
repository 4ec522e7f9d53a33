"""The functions that make pages of runs. They run in the process of a `page_worker.PageWorker`."""

import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from arena import __version__
from arena.commands.published import TABLES, league_run, published_league
from arena.commands.runs import is_quiet
from arena.errors import NoAnswerError, RunError
from arena.exports.grid import figure, with_error
from arena.exports.raster import picture_of_game, picture_of_position
from arena.exports.report.broadcast import Shown, cards, game_on_top, waiting_board
from arena.exports.report.choice import GamesToShow, choose_games
from arena.exports.report.comparison import comparison_of
from arena.exports.report.game_page import game_page
from arena.exports.report.material import Follower, Material
from arena.exports.report.meetings import opponents_of
from arena.exports.report.page import Around, PageSetting, fragment, render, rules_named
from arena.exports.report.places import headline, running_headline
from arena.exports.report.profiles import Profiles
from arena.exports.report.report_page import Heading, facts_of, report_page
from arena.exports.report.scan import Reasons, chosen_records
from arena.exports.report.sections import details_of
from arena.exports.report.viewer_data import NAMED_RULES, album_of, viewer_values
from arena.exports.text import seat_names
from arena.exports.winners import lag_of, winners_of
from arena.ratings.column import half_width
from arena.records.journal import board_of, neighbours
from arena.records.record import GameRecord, name_of
from arena.rules.boards import find_board
from arena.tournament.run import Run
from arena.web.game_order import ORDERS, games_in_order, order_named
from arena.web.live import Sight
from arena.web.pages import PARTS, SitePages, league_address, setting_of_pages
from arena.web.places import run_name

LATEST = 12
"""The number of games that the page of a run lists as just ended."""
SPEED_S = 60.0
"""The speed of a run is measured over this many seconds."""
MAX_FOLLOWED = 4
"""The most runs whose games are kept in memory."""
GAMES_ON_PAGE = 60
"""The number of games on a page of a list."""

_followed: dict[str, "FollowedRun"] = {}
"""The runs whose games are kept in memory, by folder; the one that was asked for last is at the
end.
"""


class FollowedRun(Follower):
    """A run whose page somebody reads, with its speed, the game at the top of the page, and the
    test if it is a comparison.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._paces = deque[tuple[float, int]]()
        self._comparison = comparison_of(run)
        self._compared = run.info.config
        self._shown: Shown | None = None
        # The number of the shown game in the journal.
        self._shown_game = 0
        self._shown_until = 0.0

    def games_per_s(self, games: int) -> float:
        """How many games ended per second since the oldest call in the last `SPEED_S` seconds; 0 if
        there was no earlier call in that time. ``games`` is the number of games that have ended so
        far.
        """
        now = time.monotonic()
        self._paces.append((now, games))
        while self._paces[0][0] < now - SPEED_S:
            self._paces.popleft()
        since, before = self._paces[0]
        return (games - before) / (now - since) if now > since else 0.0

    def sentence(self, material: Material) -> str:
        """The first sentence of the page: the verdict of a comparison, else who leads."""
        # A comparison may be given more games, and then its test goes on.
        if material.run.info.config != self._compared:
            self._comparison = comparison_of(material.run)
            self._compared = material.run.info.config
        if self._comparison:
            self._comparison.count(material.scan)
            return self._comparison.sentence
        if material.secrecy.is_finished:
            return headline(material)
        return running_headline(material)

    def shown(self, material: Material) -> Shown | None:
        """The game that plays itself at the top of the page: the last game that ended and may be
        shown; or, when the run is over, the closest one. A game stays until it has been played to
        its end, or until its deal has games to play again, because the run got more bots. None
        before there is such a game.
        """
        if self._shown and material.is_open[self._shown_game]:
            self._shown = None
        if self._shown is None or time.monotonic() > self._shown_until:
            field = GamesToShow(material.scan, material.elo, ~material.is_open)
            latest: Reasons = {game: ["just ended"] for game in field.clean[:1].tolist()}
            chosen = choose_games(field, 1) if material.secrecy.is_finished else latest
            for record, reasons in chosen_records(material.scan, chosen):
                self._show(next(iter(chosen)), record, "; ".join(reasons), material)
        return self._shown

    def _show(self, game: int, record: GameRecord, reason: str, material: Material) -> None:
        """Put the game of ``record``, the one with the number ``game`` in the journal, at the top
        of the page, unless it is there already.
        """
        if self._shown is None or (self._shown.id, self._shown.reason) != (record.id, reason):
            on_top = game_on_top(record, reason, material.run.info.boards)
            if on_top:
                self._shown = on_top
                self._shown_game = game
        if self._shown:
            self._shown_until = time.monotonic() + self._shown.seconds


def nothing() -> None:
    """Do nothing. Calling any function of this module loads the module in the process of the page
    worker.
    """


def look_at(folder: str) -> Sight:
    """Make the parts of the page of the run in ``folder``. Raises RunError."""
    began = time.process_time()
    material = followed_run(folder)
    values = _values(material, _followed[folder])
    setting = setting_of_pages()
    parts = {name: fragment(f"{name}.html", values, setting).strip() for name in PARTS}
    row = material.tables.standings.iloc[0]
    elo = f"{row['mark']} {figure(row['elo'])}".strip()
    leader = str(row["bot"]), with_error(elo, half_width(row))
    seconds = time.process_time() - began
    return Sight(parts, values["title"], material.secrecy.is_finished, leader, seconds)


def report(folder: str, setting: PageSetting) -> str:
    """The HTML of the report of the run in ``folder``. Raises RunError, NoAnswerError."""
    return report_page(Run(Path(folder)), setting=setting).text


# The arguments of a call of this module go through a pipe, by their places only.
def game(folder: str, setting: PageSetting, name: str, can_play: bool) -> str:  # noqa: FBT001
    """The HTML of the page of the game with the id ``name`` of the run in ``folder``. With
    ``can_play``, the page lets the reader play the game on, if the run is finished. Raises RunError
    if there is no such game, or if other games on its deal are still to be played.
    """
    run = Run(Path(folder))
    record = _record_to_show(run, name)
    play_on = run_name(run.folder) if can_play and run.secrecy().is_finished else ""
    return game_page(run, record, setting, _around(run, record), play_on)


def _record_to_show(run: Run, name: str) -> GameRecord:
    """The record of the game with the id ``name``. Raises RunError if there is no such game, or if
    other games on its deal are still to be played.
    """
    record = run.record(name)
    if run.secrecy().is_open_game(record):
        raise RunError(
            f"other games on the deal of {record.id} are still to be played",
            "come back when the run is over",
        )
    return record


def game_picture(folder: str, name: str, turn: int | None) -> bytes:
    """A PNG picture of the game with the id ``name`` of the run in ``folder``, after ``turn``
    tiles, or at its end if ``turn`` is None. Raises RunError if there is no such game, or if other
    games on its deal are still to be played.
    """
    run = Run(Path(folder))
    record = _record_to_show(run, name)
    return picture_of_game(record, board_of(record, run.boards), turn)


def run_picture(folder: str) -> bytes:
    """A PNG picture of the last game of the run in ``folder`` that ended and may be shown; of an
    empty board before there is one. Raises RunError.
    """
    boards = Run(Path(folder)).boards
    # A run without games has no material yet.
    with suppress(RunError):
        material = followed_run(folder)
        field = GamesToShow(material.scan, material.elo, ~material.is_open)
        for record in material.scan.records(field.clean[:1].tolist()).values():
            return picture_of_game(record, board_of(record, boards))
    for board in boards.values():
        return picture_of_position(board)
    raise RunError("the run has no board")


def league_picture(key: str, turn: int | None) -> bytes:
    """A PNG picture of the published league's game with this key after ``turn`` tiles; None for its
    end. The key must be known.
    """
    shown = published_league().game(key)
    assert shown is not None, "the server knows the key"
    return picture_of_game(shown.record, find_board(shown.record.board), turn)


def league_report(setting: PageSetting, players: int) -> str:
    """The HTML of the report of the published league's run with this number of ``players`` in a
    game, one of `arena.commands.published.TABLES`.
    """
    heading = Heading(
        title=f"{published_league().name}, {TABLES[players]} at a table",
        links=[(league_address(number), f"{TABLES[number]} at a table") for number in TABLES],
        here=league_address(players),
    )
    return report_page(league_run(players), setting=setting, heading=heading).text


def league_game_page(setting: PageSetting, key: str) -> str:
    """The HTML of the page of the published league's game with this key, which must be known."""
    league = published_league()
    shown = league.game(key)
    assert shown is not None, "the server knows the key"
    record = shown.record
    boards = {record.board: list(find_board(record.board).rows)}
    album = album_of([(record, [])], boards, [], lambda _: False, judged=1)
    values = {
        "name": league.name,
        "is_of_league": True,
        "version": __version__,
        "record": record,
        "title": "",
        "result": shown.words,
        "faults": [],
        "around": Around(
            league_address(len(record.bots)),
            [f"/bots/{quote(name_of(bot))}" for bot in record.bots],
            before="",
            after="",
        ),
        "review": None,
        "play_on": "",
        **viewer_values(album, []),
    }
    return render("game.html", values, setting)


def followed_run(folder: str) -> Material:
    """The data about the run in ``folder`` that its pages show. Raises RunError.

    If the run's games are in memory, only those that have ended since then are read.
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
    """The values for the templates of the parts of a run's page."""
    facts = facts_of(material)
    games = len(material.is_open)
    speed = follower.games_per_s(games)
    missing = material.secrecy.missing
    name = run_name(material.run.folder)
    is_live = missing != 0 and not is_quiet(material.run.folder)
    state = "playing" if is_live else "stopped"
    if material.secrecy.is_finished:
        state = "finished"
    return {
        **facts,
        "addresses": SitePages(name),
        "rules": rules_named(details_of(facts["faults"])),
        "rules_title": NAMED_RULES,
        "name": name,
        "title": f"{name}: {state}",
        "has_play": True,
        "is_broadcast": True,
        "sentence": follower.sentence(material),
        "shown": follower.shown(material),
        "waiting": waiting_board(material),
        "cards": cards(material),
        "is_live": is_live,
        "speed": speed,
        "seconds": missing / speed if missing and speed else None,
        "ended": _rows_of_games(material, range(games)[-LATEST:][::-1]),
    }


def _rows_of_games(material: Material, games: Sequence[int]) -> list[dict[str, Any]]:
    """Rows for a list of games (see `_row_of_game`); ``games`` has the games' positions in the
    journal, from 0.
    """
    records = material.scan.records(games)
    return [_row_of_game(records[game], is_open=bool(material.is_open[game])) for game in games]


def _row_of_game(record: GameRecord, *, is_open: bool) -> dict[str, Any]:
    """The row of a game in a list: the names of the winners and the losers; by how many pagodas the
    winners won, or that a forfeit or a shared win decided it (``by``); and ``is_open``, whether
    other games of the same deal are still to be played.
    """
    names = seat_names(record.bots)
    winners = winners_of(record)
    losers = [seat for seat in range(len(names)) if seat not in winners]
    lost = sorted(losers, key=lambda seat: record.ranks[seat])
    lead = lag_of(record, lost[0]) if lost else 0
    return {
        "id": record.id,
        "won": [names[seat] for seat in winners],
        "lost": [names[seat] for seat in lost],
        "by": "forfeit" if record.faults else f"+{lead}" if lost else "shared",
        "board": record.board,
        "turns": record.turns,
        "is_open": is_open,
    }


def list_of_games(folder: str, bots: Sequence[str], number: int, order: str, winner: str) -> str:
    """The HTML of a page of the list of games of the run in ``folder`` in which all of ``bots``
    played. ``order`` is one of `arena.web.game_order.ORDERS`; any other text means the usual order.
    With a ``winner`` among ``bots``, only the games that this bot won or shared are listed; any
    other text means all.

    ``number`` is that of the page, from 1; a number that is too large means the last page. Raises
    RunError.
    """
    material = followed_run(folder)
    order = order_named(order, bots)
    winner = winner if winner in bots else ""
    found = games_in_order(material, bots, order, winner)
    pages = max(-(-len(found) // GAMES_ON_PAGE), 1)
    number = min(max(number, 1), pages)
    shown = found[(number - 1) * GAMES_ON_PAGE : number * GAMES_ON_PAGE].tolist()
    values = {
        "bots": bots,
        "all": len(found),
        "ended": _rows_of_games(material, shown),
        "page": number,
        "pages": pages,
        "order": order,
        "orders": ORDERS,
        "winner": winner,
        "addresses": SitePages(run_name(material.run.folder)),
    }
    return fragment("list.html", values, setting_of_pages())


def _around(run: Run, record: GameRecord) -> Around:
    """The links from a game's page to its run, its bots, and the games before and after it.

    No link leads to a game on a deal with games still to be played, because that game is secret.
    Raises RunError.
    """
    to = SitePages(run_name(run.folder))
    links = []
    for game in neighbours(run.folder, record.id):
        is_hidden = not game or run.secrecy().is_open_game(run.record(game))
        links.append("" if is_hidden else to.game(game))
    before, after = links
    return Around(to.run, [to.bot(bot) for bot in record.bots], before, after)


def portrait(folder: str, name: str) -> str:
    """The HTML of the part of a page about the bot ``name`` of the run in ``folder``. Raises
    RunError.
    """
    material = followed_run(folder)
    opponents = opponents_of(material, {})
    if name not in opponents:
        raise RunError(f"the run has no bot {name!r}")
    profile = Profiles(material, {name: opponents[name]}, {}).of(name)
    addresses = SitePages(run_name(material.run.folder))
    values = {"bot": profile, "addresses": addresses, "run": run_name(material.run.folder)}
    return fragment("portrait.html", values, setting_of_pages())
