"""The first page, with the runs of the home, and the pages of its bots and of the rules."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import State as AppState
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from arena.commands.folders import registry_of, results_folder
from arena.commands.glance import NOTHING, Reach, count_games, glance
from arena.commands.rated import Rated, latest_ratings, ratings_in
from arena.errors import ArenaError, BotFolderError
from arena.exports.report.page import fragment
from arena.players import builtin
from arena.players.folder import Bot
from arena.players.registry import Registry
from arena.records.journal import journal_of
from arena.records.record import name_of
from arena.records.runfile import FILE
from arena.rules.rulebook import rulebook
from arena.web.live import State, event, state_of
from arena.web.pages import page, setting_of_pages
from arena.web.work import prepare

MOST_RUNS = 100
"""The newest ones are listed."""
MOST_OWN = 12
"""Games of people, which are listed after the runs."""
MOST_FOLDERS = 1000
"""So many are looked at to find the newest runs."""
COUNTING = "counting"
MOST_BOTS = 300
PLACES = ("yours", "built in", "ladder")
RATED_IN = 30
"""The ratings of bots are looked for in so many runs."""
LOOK_S = 3.0
QUIET_LOOKS = 5
"""A stream says something at least every so many looks, so that readers who are gone are noticed.
"""


class Shelf:
    """The runs of a home as they are listed; what was counted once is not counted again. All who
    ask share one look, and the next one is a while later.
    """

    def __init__(self, home: Path) -> None:
        self._home = home
        self._counted: dict[Path, Reach] = {}
        self._known: dict[Path, tuple[State, dict[str, Any]]] = {}
        self._looking = asyncio.Lock()
        self._rows: list[dict[str, Any]] = []
        self._until_s = 0.0

    async def rows(self) -> list[dict[str, Any]]:
        """What is said of each run; of people's games after all others."""
        async with self._looking:
            if time.monotonic() >= self._until_s:
                self._rows = await run_in_threadpool(self._look)
                self._until_s = time.monotonic() + LOOK_S / 2
        return [dict(row) for row in self._rows]

    def _look(self) -> list[dict[str, Any]]:
        # Each game that a person played is a run of its own: they would crowd the others out.
        known = dict[Path, tuple[State, dict[str, Any]]]()
        runs, own = list[dict[str, Any]](), list[dict[str, Any]]()
        for folder in run_folders(results_folder(self._home))[:MOST_FOLDERS]:
            known[folder] = found = self._known_row(folder)
            (own if found[1]["is_game"] else runs).append(found[1])
            if len(runs) == MOST_RUNS:
                break
        self._known = known
        return [*runs, *own[:MOST_OWN]]

    def _known_row(self, folder: Path) -> tuple[State, dict[str, Any]]:
        state = state_of(folder)
        before = self._known.get(folder)
        is_whole = self._counted.get(folder, NOTHING).is_whole
        if before and before[0] == state and is_whole:
            return before
        return state, self._row(folder)

    def _row(self, folder: Path) -> dict[str, Any]:
        """What is said of a run."""
        try:
            counted = count_games(folder, self._counted.get(folder, NOTHING))
            self._counted[folder] = counted
            told = glance(folder, counted)
        except ArenaError as error:
            nothing = {"is_game": False, "leader": None}
            return {"run": folder.name, "folder": folder, "problem": str(error), **nothing}
        return {
            "run": folder.name,
            "folder": folder,
            "problem": "",
            "when": when(told.info.started),
            "is_game": bool(told.info.config.get("game")),
            "state": (told.state or "") if counted.is_whole else COUNTING,
            "leader": (told.leader.bot, words_of(told.leader)) if told.leader else None,
            "games": told.games,
            "planned": told.planned,
            "bots": len(told.info.bots),
            "boards": ", ".join(told.info.boards),
            "players": told.info.config.get("players", 2),
        }


async def front(request: Request) -> Response:
    """All runs, the latest played first."""
    rows = await request.app.state.shelf.rows()
    here = await run_in_threadpool(_bots, request)
    values = {"name": _home(request).resolve().name, "runs": _list(rows), **here}
    answer = page(request, "home.html", values)
    # Whoever sees the list looks at a run next.
    answer.background = BackgroundTask(request.app.state.desk.prepare, prepare)
    return answer


async def front_events(request: Request) -> Response:
    """The list of runs, whenever it changes."""
    return StreamingResponse(_lists(request.app.state), media_type="text/event-stream")


async def _lists(state: AppState) -> AsyncIterator[str]:
    seen, quiet = "", 0
    while True:
        rows = await state.shelf.rows()
        played = [row["folder"] for row in rows if row.get("state") == "playing"]
        leaders = await state.live.leaders(played)
        for row in rows:
            row["leader"] = leaders.get(row["folder"]) or row["leader"]
        text = _list(rows)
        quiet = 0 if text != seen else quiet + 1
        if text != seen:
            seen = text
            yield event("parts", {"runs": text})
        elif quiet % QUIET_LOOKS == 0:
            yield ": nothing new\n\n"
        await asyncio.sleep(LOOK_S)


def _list(rows: list[dict[str, Any]]) -> str:
    """The list of runs, as a part of a page."""
    return fragment("runs.html", {"runs": rows, "most": MOST_RUNS}, setting_of_pages())


def bots(request: Request) -> Response:
    """The bots of the home, then the built-in ones, and then the ladder."""
    return page(request, "bots_here.html", _bots(request))


def _bots(request: Request) -> dict[str, Any]:
    registry = registry_of(_home(request))
    labels = [label for label in registry.labels() if "@" not in label]
    ratings = latest_ratings(run_folders(results_folder(_home(request)))[RATED_IN::-1])
    rated_ones = {name for name, _ in ratings if builtin.NAME.fullmatch(name)}
    labels += sorted({*builtin.NAMES, *rated_ones} - {*labels})
    rows = [_bot_row(registry, label) for label in labels[:MOST_BOTS]]
    rows.sort(key=lambda row: PLACES.index(row.get("place", PLACES[0])))
    for row in rows:
        rated = ratings.get((row["bot"], row.get("hash", "")))
        row["rated"] = (rated.run, words_of(rated)) if rated else None
    return {"rows": rows, "more": max(len(labels) - MOST_BOTS, 0)}


def bot(request: Request) -> Response:
    """A bot: its versions, its options, and its places in runs."""
    registry, name = registry_of(_home(request)), request.path_params["bot"]
    if name not in registry.labels() and not builtin.NAME.fullmatch(name):
        raise HTTPException(404, "no such bot here")
    versions = [
        label for label in registry.labels() if label != name and label.startswith(f"{name}@")
    ]
    folders = run_folders(results_folder(_home(request)))[:RATED_IN]
    places = [
        (rated, words_of(rated))
        for folder in folders
        for rated in ratings_in(folder)
        if name_of(rated.bot) == name
    ]
    values = {
        "row": _bot_row(registry, name),
        "versions": [_bot_row(registry, label) for label in versions],
        "places": places,
    }
    return page(request, "bot_here.html", values)


def rules(request: Request) -> Response:
    """The rules of the game, each at its own address."""
    return page(request, "rulebook.html", {"book": rulebook()})


def _bot_row(registry: Registry, label: str) -> dict[str, Any]:
    try:
        found, place = _found(registry, label)
    except BotFolderError as error:
        return {"bot": label, "problem": str(error)}
    manifest = found.manifest
    return {
        "bot": label,
        "problem": "",
        "version": str(manifest.version),
        "place": place,
        "language": manifest.language,
        "author": manifest.author,
        "description": manifest.description,
        "hash": found.sha256,
        "options": [
            (name, str(option.default), option.help) for name, option in manifest.options.items()
        ],
    }


def _found(registry: Registry, label: str) -> tuple[Bot, str]:
    """A bot, and which of the `PLACES` it comes from. Raises BotFolderError."""
    if label not in registry.labels() and builtin.NAME.fullmatch(label):
        return builtin.built_in_bot(label), "built in"
    return registry.get(label), "ladder" if registry.is_of_ladder(label) else "yours"


def run_folders(results: Path) -> list[Path]:
    """The folders of runs, by when they were last played, the latest first. No link is followed."""
    found = [(played_at(folder), folder) for folder in _folders(results)]
    return [folder for at, folder in sorted(found, reverse=True) if at]


def find_run(results: Path, name: str) -> Path | None:
    """The folder of the run with this name."""
    # By the names that are there: what stands in an address may be no name of a file.
    return next((run for run in _folders(results) if run.name == name and played_at(run)), None)


def _folders(results: Path) -> list[Path]:
    try:
        entries = [entry for entry in os.scandir(results) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    # What is no UTF-8 can stand on no page.
    return [Path(entry.path) for entry in entries if is_text(entry.name)]


def is_text(name: str) -> bool:
    """Whether the bytes of a file's name are UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def played_at(folder: Path) -> float:
    """When the journal of a run last grew, or when the run was begun; 0 for another folder."""
    try:
        begun = (folder / FILE).lstat().st_mtime
    except OSError:
        return 0.0
    try:
        return max(begun, journal_of(folder).lstat().st_mtime)
    except OSError:
        return begun


def words_of(rated: Rated) -> str:
    """A rating with its error bar, as pages have it."""
    return rated.text.replace("+/-", "±").replace("-", "\N{MINUS SIGN}")


def when(moment: str) -> str:
    """A moment of a record, as people here write it."""
    try:
        here = datetime.fromisoformat(moment).astimezone()
    except (ValueError, OverflowError):
        return moment
    is_recent = here.year == datetime.now(UTC).astimezone().year
    return f"{here.day} {here:%b %H:%M}" if is_recent else f"{here.day} {here:%b %Y}"


def _home(request: Request) -> Path:
    home: Path = request.app.state.site.home
    return home


ROUTES = [
    Route("/", front),
    Route("/events", front_events),
    Route("/bots", bots),
    Route("/bots/{bot}", bot),
    Route("/rules", rules),
]
