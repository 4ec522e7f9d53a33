"""The pages of a home: the list of runs, and the pages of one run, of bots and of the rules."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from copy import copy
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State as AppState
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from arena import __version__
from arena.commands.bots import registry_of
from arena.commands.home import results_folder
from arena.commands.published import TABLES, published_league
from arena.exports.parts import all_parts
from arena.exports.report.page import PREVIEW, PageSetting, fragment, policy_of, render
from arena.exports.rule_pictures import rule_pictures
from arena.players import player
from arena.records.record import DUEL, MAX_SEATS
from arena.rules.explain import rulebook
from arena.tournament.run import Run
from arena.web.kept import kept_game
from arena.web.live import ALIVE, event
from arena.web.opengames import NamedGame
from arena.web.places import run_name
from arena.web.previews import HOME_PICTURE, preview_of
from arena.web.run_list import LIST_S, MAX_RUNS, run_folders, when, words_of
from arena.web.static_files import COMMON, PACKAGE, addresses_of, takes_gzip
from arena.web.tutorial import lesson_values, lessons
from arena.web.welcome import HERO, league_words, welcome

PARTS = (
    "sentence", "progress", "board", "standings", "cards", "clear", "versions", "ended", "pairs",
    "faults", "reading", "rules",
)  # fmt: skip
"""The changing parts of a run's page, from top to bottom. Each is a template of this package or of
the report.
"""
# "arena" is the policy of live.js: it makes nodes of the HTML that the stream of a page brings.
POLICY = "connect-src 'self'; form-action 'self'; trusted-types arena"
PICTURE_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "cache-control": "max-age=86400",
}
"""The headers of a picture, which has its style in itself."""
PACKING = 5
"""The level of compression of pages."""
MAX_DIGITS = 7
"""The most digits of a number that is read from an address or a form."""
LEAGUE_TABLES = {f"{players}-players": players for players in TABLES}
"""By the last part of an address of the league, the number of players in a game."""
MAX_FRONT_PAGES = 16
"""The most first pages that are kept: each host name, with and without compression, has its own."""
SOON_S = 1.5
"""The page of a run waits for its parts for at most this many seconds."""


class SitePages:
    """The addresses of the pages of the run called ``run`` on the server. Templates take them in
    place of `report.page.OnePage`, the addresses within a report.
    """

    def __init__(self, run: str) -> None:
        self.run = f"/runs/{quote(run, safe='')}"

    def bot(self, name: str) -> str:
        """The address of the page of the bot called ``name`` in the run."""
        return f"{self.run}/bots/{quote(name, safe='')}"

    def games(self, bots: list[str], page: int = 1, order: str = "", winner: str = "") -> str:
        """The address of a page of the list of games in which all of ``bots`` played; pages are
        numbered from 1. ``order`` is one of `arena.web.game_order.ORDERS`, empty for the usual one.
        ``winner`` is the bot whose won games alone are listed, empty for all games.
        """
        further = {"order": order, "winner": winner, "page": page if page > 1 else ""}
        given = {name: value for name, value in further.items() if value}
        query = urlencode({"bot": bots, **given}, doseq=True)
        return f"{self.run}/games?{query}"

    def meeting(self, name: str, other: str) -> str:
        """The address of the list of games in which the bots ``name`` and ``other`` both played."""
        return self.games([name, other])

    def id_of_meeting(self, name: str, other: str) -> str:
        """The HTML id of the row about the opponent ``other`` on the page of the bot ``name``."""
        return f"vs-{quote(name, safe='')}-{quote(other, safe='')}"

    def more(self, name: str) -> str:  # noqa: ARG002
        """The command that shows further games of the bot ``name``: empty, because the server's
        pages list all games.
        """
        return ""

    def picture(self, game: str = "") -> str:
        """The address of the picture of the game with the id ``game``, or of the run."""
        return f"{self.run}/pictures/{quote(game)}" if game else f"{self.run}/picture"

    def game(self, name: str, turn: int = 0) -> str:
        """The address of the page of the game with the id ``name``, at the position after ``turn``
        placements.
        """
        return f"{self.run}/games/{quote(name)}{f'?t={turn}' if turn else ''}"


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    status: int = 200,
    *,
    bundle: str = COMMON,
    picture: str = HOME_PICTURE,
) -> HTMLResponse:
    """Make a page from a template of this package or of the report. ``values`` are those of the
    template, and ``status`` is the HTTP status.

    ``bundle`` is the bundle of styles and scripts of `arena.web.static_files` that the page needs,
    and ``picture`` the address of the picture for its preview.
    """
    setting = setting_of_pages(bundle, has_play=has_play(request))
    shown = {"version": __version__, "may_change": request.state.may_change, **values}
    return answer(request, render(template, shown, setting), setting, status, picture=picture)


def answer(
    request: Request,
    text: str,
    setting: PageSetting,
    status: int = 200,
    *,
    picture: str = HOME_PICTURE,
) -> HTMLResponse:
    """The response with the page ``text``, compressed if the browser takes that, and the security
    policy of its setting; no frame may show the page. ``status`` is the status of HTTP, and
    ``picture`` the address of the picture for the page's preview.
    """
    text = text.replace(PREVIEW, preview_of(request, picture), 1)
    headers = {
        "content-security-policy": f"{policy_of(setting)}; frame-ancestors 'none'",
        "vary": "accept-encoding",
    }
    body = text.encode()
    # No page contains the token, so the length of the compressed text betrays nothing.
    if takes_gzip(request.headers.get("accept-encoding", "")):
        body = packed(body)
        headers["content-encoding"] = "gzip"
    return HTMLResponse(body, status, headers)


@lru_cache(maxsize=8)
def packed(body: bytes) -> bytes:
    """``body`` compressed with gzip. The last 8 results are kept, so that kept pages are compressed
    once.
    """
    return gzip.compress(body, PACKING, mtime=0)


def has_play(request: Request) -> bool:
    """Whether this server lets people play games."""
    return request.app.state.open_games is not None


@cache
def setting_of_pages(bundle: str = COMMON, *, has_play: bool = False) -> PageSetting:
    """The styles, scripts, policy and links of the server's pages, which reports do not have.
    ``bundle`` is one of `arena.web.static_files`; ``has_play`` adds the link to the games that
    people play.
    """
    play = (("/play", "Play"),) if has_play else ()
    links = (*play, ("/runs", "Watch"), ("/bots", "Ladder"), ("/rules", "Rules"))
    return PageSetting(
        package=PACKAGE,
        sheets=addresses_of(bundle, "css"),
        scripts=addresses_of(bundle, "js"),
        policy=POLICY,
        links=links,
        images="data: 'self'",
    )


def whole_number(text: str) -> int | None:
    """Read a whole number of at most `MAX_DIGITS` digits from an address or a form; None for any
    other text.
    """
    is_number = text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
    return int(text) if is_number else None


async def front(request: Request) -> Response:
    """The first page: what the arena is, the published league, and all runs, the one that was
    played last first.
    """
    rows = await request.app.state.run_list.rows()
    names = await run_in_threadpool(registry_of(request.app.state.home).labels)
    in_play, left = _unfinished(request)
    unfinished = [[(name, game.moves_made) for name, game in games] for games in (in_play, left)]
    contents = (rows, names, unfinished)
    is_packed = takes_gzip(request.headers.get("accept-encoding", ""))
    key = (request.state.may_change, is_packed, request.url.netloc.lower())
    front_pages = request.app.state.front_pages
    kept = front_pages.get(key)
    if kept is None or kept[0] != contents:
        playing = [row["run"] for row in rows if row.get("state") == "playing"]
        values = {
            **welcome(),
            "runs": _list(rows),
            "in_play": in_play,
            "left": left,
            "playable": names,
            "watch": f"/runs/{quote(playing[0], safe='')}" if playing else f"/shown/{HERO}",
            "drawn": all_parts(),
        }
        kept = (contents, page(request, "home.html", values, bundle="home"))
        # Each name of this machine has a page of its own, because previews need whole addresses.
        if len(front_pages) >= MAX_FRONT_PAGES:
            front_pages.clear()
        front_pages[key] = kept
    # Without a copy, each request would add headers and a task to the same response.
    shown: Response = copy(kept[1])
    shown.raw_headers = list(kept[1].raw_headers)
    # The reader will probably open a run next.
    shown.background = BackgroundTask(request.app.state.page_worker.prepare)
    return shown


def _unfinished(request: Request) -> tuple[list[NamedGame], list[NamedGame]]:
    """The games that are being played on this server, and those that were left; none for a reader
    who may not see them, or where nobody can play.
    """
    open_games = request.app.state.open_games
    if open_games is None or not request.state.may_change:
        return [], []
    return open_games.in_play(), open_games.left()


async def runs(request: Request) -> Response:
    """The page with all runs, which a script keeps up to date with the stream of `front_events`."""
    rows = await request.app.state.run_list.rows()
    values = {**welcome(), "runs": _list(rows), "drawn": all_parts()}
    return page(request, "runs_here.html", values, bundle="home")


async def front_events(request: Request) -> Response:
    """A stream of events with the list of runs: one event at the start and one for each change."""
    return StreamingResponse(_lists(request.app.state), media_type="text/event-stream")


async def _lists(state: AppState) -> AsyncIterator[str]:
    """The events of `front_events`, and between them a comment every `LIST_S` seconds, which shows
    whether the reader is still there.
    """
    seen = ""
    while True:
        rows = await state.run_list.rows()
        played = [row["folder"] for row in rows if row.get("state") == "playing"]
        leaders = await state.live.leaders(played)
        for row in rows:
            row["leader"] = leaders.get(row["folder"]) or row["leader"]
        text = _list(rows)
        yield event("parts", {"runs": text}) if text != seen else ALIVE
        seen = text
        await asyncio.sleep(LIST_S)


def _list(rows: list[dict[str, Any]]) -> str:
    """The list of runs as HTML for a part of a page."""
    return fragment("runs.html", {"runs": rows, "most": MAX_RUNS}, setting_of_pages())


def bots(request: Request) -> Response:
    """The page with the bots: those of the home, then the built-in ones, then those
    of the ladder.
    """
    playable = registry_of(request.app.state.home).labels()
    values = {**welcome(), **_bots(request), "playable": playable}
    return page(request, "bots_here.html", values, bundle="home")


def _bots(request: Request) -> dict[str, Any]:
    """The values for the list of bots in a template."""
    rows, more = request.app.state.bot_list.rows(request.app.state.run_list.folders())
    return {"rows": rows, "more": more}


def bot(request: Request) -> Response:
    """The page of a bot of this home: its versions, its options, and its results in runs."""
    name = request.path_params["bot"]
    labels = registry_of(request.app.state.home).labels()
    if name not in labels and not player.NAME.fullmatch(name):
        raise HTTPException(404, "no such bot here")
    bot_list = request.app.state.bot_list
    older = [label for label in labels if label != name and label.startswith(f"{name}@")]
    results = bot_list.results_of(name, _runs(request))
    values = {
        "row": bot_list.row(name),
        "versions": [bot_list.row(label) for label in older],
        "places": [(each, words_of(each)) for each in results],
        "place_of_league": league_words(name),
    }
    return page(request, "bot_here.html", values)


def rules(request: Request) -> Response:
    """The page with the rules of the game; each rule has an anchor."""
    return page(request, "rulebook.html", {"book": rulebook()})


def rule_picture(request: Request) -> Response:
    """A picture of the rules, an SVG file."""
    name = request.path_params["name"]
    picture = rule_pictures().get(name)
    if picture is None:
        raise HTTPException(404, "no such picture here")
    return Response(picture.text, media_type="image/svg+xml", headers=PICTURE_HEADERS)


async def run_page(request: Request) -> Response:
    """The page of a run; or, if the run is the kept game of a person, the page of that game. A
    script in the page of a run keeps it up to date with the stream of `run_events`.
    """
    folder = _run_named(request)
    kept = await run_in_threadpool(kept_game, folder)
    if kept is not None:
        to = SitePages(run_name(folder))
        values = {**kept, "addresses": to}
        return page(request, "kept.html", values, picture=to.picture(kept["game"]))
    watched = request.app.state.live.watched(folder)
    info = Run(folder).info
    # A long journal takes a while to read: the stream brings the parts that are not ready in time.
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(watched.look()), SOON_S)
    shown = {
        "name": run_name(folder),
        "parts": dict.fromkeys(PARTS, "") | watched.since(0),
        "title": watched.title or run_name(folder),
        "is_over": watched.is_over,
        "drawn": all_parts(),
        "bots": info.bot_names,
        "started": when(info.started),
        "has_play": has_play(request),
    }
    return page(request, "run.html", shown, picture=SitePages(shown["name"]).picture())


async def run_events(request: Request) -> Response:
    """A stream of events with the parts of a run's page that have changed; see `Live.events`."""
    events = request.app.state.live.events(_run_named(request))
    return StreamingResponse(events, media_type="text/event-stream")


async def report(request: Request) -> Response:
    """The report of a run; or, if the address names a game, the page of that game. Both take long
    to make.
    """
    setting = setting_of_pages(has_play=has_play(request))
    folder = _run_named(request)
    named = request.path_params.get("game")
    if named is None:
        arguments: tuple[Any, ...] = ("report", folder, setting)
    else:
        can_play = has_play(request) and request.state.may_change
        arguments = ("game", folder, setting, named, can_play)
    text = await request.app.state.reports.page(*arguments)
    picture = SitePages(run_name(folder)).picture(named or "")
    return await run_in_threadpool(answer, request, text, setting, picture=picture)


async def games(request: Request) -> Response:
    """A page of the list of games: of all games, or of those in which all bots that the address
    names played. The address may also name an order, a winner and the number of the page.
    """
    query = request.query_params
    bots = query.getlist("bot")[:MAX_SEATS]
    number = whole_number(query.get("page", "")) or 1
    order = query.get("order", "")
    winner = query.get("winner", "")
    return await _part(request, "Games", "list_of_games", tuple(bots), number, order, winner)


async def portrait(request: Request) -> Response:
    """The page about a bot of a run, both named by the address, with its results in that run."""
    name = request.path_params["bot"]
    return await _part(request, name, "portrait", name)


def league_address(players: int = DUEL) -> str:
    """The address of the report of the published league's run with this number of ``players`` in a
    game.
    """
    return "/league" if players == DUEL else f"/league/{players}-players"


async def league(request: Request) -> Response:
    """The report of a run of the published league: of the games of two unless the address names
    another number of players.
    """
    table = request.path_params.get("table")
    players = LEAGUE_TABLES.get(table) if table else DUEL
    if players is None:
        raise HTTPException(404, "no such league here")
    setting = setting_of_pages(has_play=has_play(request))
    text = await request.app.state.reports.lasting("league_report", setting, players)
    return await run_in_threadpool(answer, request, text, setting)


async def league_game(request: Request) -> Response:
    """The page of a game of the published league that is worth a look."""
    key = request.path_params["key"]
    if published_league().game(key) is None:
        raise HTTPException(404, "no such game here")
    setting = setting_of_pages(has_play=has_play(request))
    pages = request.app.state.shown_pages
    if (key, setting) not in pages:
        pages[key, setting] = await request.app.state.report_worker.ask(
            "league_game_page", setting, key
        )
    picture = f"/shown/{key}/picture"
    return await run_in_threadpool(answer, request, pages[key, setting], setting, picture=picture)


def learn(request: Request) -> Response:
    """The page of a lesson; the first one if the address names none."""
    key = request.path_params.get("key", lessons()[0].key)
    values = lesson_values(key)
    if values is None:
        raise HTTPException(404, "no such lesson here")
    return page(request, "learn.html", {**values, "drawn": all_parts()}, bundle="learn")


async def _part(request: Request, title: str, work: str, *given: Any) -> Response:
    """A page with the HTML that the function ``work`` of `arena.web.rendering` makes from the run
    that the address names and from ``given``. ``title`` is the page's title.
    """
    folder = _run_named(request)
    main = await request.app.state.lists.page(work, folder, *given)
    return page(request, "part.html", {"name": run_name(folder), "title": title, "main": main})


def _run_named(request: Request) -> Path:
    """The folder of the run that the address names. Raises HTTPException if there is
    no such run.
    """
    return folder_of(request, request.path_params["run"])


def folder_of(request: Request, name: str) -> Path:
    """The folder of the run called ``name``. Raises HTTPException if there is no such run."""
    # The name is compared with those of the folders: a text from a reader may be no file name.
    for folder in _runs(request):
        if run_name(folder) == name:
            return folder
    raise HTTPException(404, "no such run here")


def _runs(request: Request) -> list[Path]:
    """The folders of the home's runs, the one that was played last first."""
    return run_folders(results_folder(request.app.state.home))


ROUTES = [
    Route("/", front),
    Route("/events", front_events),
    Route("/runs", runs),
    Route("/league", league),
    Route("/league/{table}", league),
    Route("/shown/{key}", league_game),
    Route("/learn", learn),
    Route("/learn/{key}", learn),
    Route("/bots", bots),
    Route("/bots/{bot}", bot),
    Route("/rules", rules),
    Route("/rules/pictures/{name}", rule_picture),
    Route("/runs/{run}", run_page),
    Route("/runs/{run}/events", run_events),
    Route("/runs/{run}/report", report),
    Route("/runs/{run}/games", games),
    Route("/runs/{run}/games/{game:path}", report),
    Route("/runs/{run}/bots/{bot}", portrait),
]
