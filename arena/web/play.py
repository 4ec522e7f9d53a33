"""The pages on which a person plays. Whoever has no token sees none of it: a hand is secret."""

import random
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.commands.bots import bot_finder
from arena.commands.chance import chance_board
from arena.commands.folders import registry_of, results_folder
from arena.commands.played import Wish, past_games
from arena.errors import ConfigError, UserError
from arena.exports.report.drawing import empty_board, parts
from arena.match.clock import Timing
from arena.players.builtin import NAME
from arena.rules.boards import BUILT_IN, Board, find_board
from arena.rules.rulebook import rulebook
from arena.tournament.session import new_seed
from arena.web.home import when
from arena.web.opengame import OpenGame, RefusedError
from arena.web.opengames import OpenGames
from arena.web.pages import SitePages, page, whole_number
from arena.web.story import Told

CHANCE = "chance"
CHANCES = 10_000
BUILT_IN_BOTS = ("careful-16", "careful-4", "careful", "greedy-16", "greedy", "random")
MOST_MS = 60_000
MOST_PAST = 12
BEAT_S = 15.0
"""A page that hears nothing for longer than this may think that we are gone."""
AGAIN = ("new", "same", "seat")
NO_STORE = {"cache-control": "no-store", "x-accel-buffering": "no"}


FILES = ("play.css", "play.js")

Field = Annotated[str, Meta(max_length=100)]


class GameForm(Struct, frozen=True, forbid_unknown_fields=True):
    """What the form asks for; an empty field leaves it open."""

    bot: Field = ""
    bot2: Field = ""
    bot3: Field = ""
    seat: Field = ""
    board: Field = ""
    seed: Field = ""
    ms: Field = ""


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """What the page says: a move, and how many steps it knew of."""

    steps: int
    move: str = ""


def new_game(request: Request) -> Response:
    """The form for a game."""
    _let_in(request)
    chosen = request.query_params
    registry = registry_of(request.app.state.site.home)
    labels = registry.labels()
    groups = [
        ("built in", list(BUILT_IN_BOTS)),
        ("yours", [name for name in labels if not registry.is_of_ladder(name)]),
        ("the ladder", [name for name in labels if registry.is_of_ladder(name)]),
    ]
    named = chosen.get("bot", "")
    if named not in BUILT_IN_BOTS and named not in labels and NAME.fullmatch(named):
        groups[0][1].append(named)
    values = {
        "groups": [(title, names) for title, names in groups if names],
        "boards": [*BUILT_IN, CHANCE],
        "chosen": {key: chosen.get(key, "") for key in GameForm.__struct_fields__},
        "open_games": request.app.state.site.open_games.in_play(),
        "past": [
            (past, SitePages(past.run).game(past.game), when(past.ended))
            for past in past_games(results_folder(request.app.state.site.home), MOST_PAST)
        ],
    }
    return page(request, "newgame.html", values, further=FILES)


async def begin(request: Request) -> Response:
    """Starts the game that the form asks for."""
    _let_in(request)
    try:
        wanted = msgspec.json.decode(await request.body(), type=GameForm)
        name = await run_in_threadpool(_begin, request, wanted)
    except (msgspec.DecodeError, RecursionError):
        return JSONResponse({"problem": "expected what the form asks for"}, 400)
    except UserError as error:
        return _refused(error)
    return JSONResponse({"address": f"/play/{name}"})


def _begin(request: Request, wanted: GameForm) -> str:
    site = request.app.state.site
    known = {*registry_of(site.home).labels(), *BUILT_IN_BOTS}
    names = [name for name in (wanted.bot, wanted.bot2, wanted.bot3) if name]
    for name in names:
        # Names only: whoever has the token must not start a bot from just any folder.
        if name not in known and not NAME.fullmatch(name):
            raise ConfigError(f"expected a bot of the list, got {name!r}")
    if not names:
        raise ConfigError("expected a bot to play against, got none")
    find = bot_finder(site.home, lambda _: None, in_process=False)
    bots = [find(name) for name in names]
    seat = _number(wanted.seat, "a seat", 0, len(bots), 0)
    timing = Timing(move_ms=_number(wanted.ms, "a time in ms", 1, MOST_MS, 1000))
    seed = wanted.seed.strip() or new_seed()
    opened: str = site.open_games.begin(Wish(bots, seat, _board(wanted.board), seed, 0, timing))
    return opened


def _board(name: str) -> Board:
    """A board of the list; ``chance`` is a new one. Raises ConfigError."""
    kind, _, number = name.partition("-")
    if kind == CHANCE:
        luck = random.SystemRandom().randrange(CHANCES)
        return chance_board(_number(number, "the number of a board", 0, CHANCES, luck))
    if name and name not in BUILT_IN:
        raise ConfigError(f"expected the board {', '.join(BUILT_IN)} or {CHANCE}, got {name!r}")
    return find_board(name or BUILT_IN[0])


def _number(text: str, what: str, least: int, most: int, usual: int) -> int:
    if not text.strip():
        return usual
    number = whole_number(text)
    if number is None or not least <= number <= most:
        raise ConfigError(f"expected {what} from {least} to {most}, got {text[:20]!r}")
    return number


def board_page(request: Request) -> Response:
    """The page of a game."""
    game, wish = _game(request)
    values = {
        "name": request.path_params["name"],
        "opponents": game.opponents,
        "board": empty_board(wish.board),
        "board_name": wish.board.name,
        "drawn": parts(),
        "book": rulebook(),
    }
    return page(request, "play.html", values, further=FILES)


async def events(request: Request) -> Response:
    """The present state, and then what changes."""
    game, _ = _game(request)
    return StreamingResponse(_news(game), media_type="text/event-stream", headers=NO_STORE)


async def _news(game: OpenGame) -> AsyncIterator[bytes]:
    told, version = Told(), -1
    while True:
        if game.version == version:
            yield b": still here\n\n"
        else:
            view, told = game.view(told)
            version = view["version"]
            yield b"data: " + msgspec.json.encode(view) + b"\n\n"
        await game.news(version, BEAT_S)


async def place(request: Request) -> Response:
    """A move."""
    return await _answered(request, lambda game, ask: game.place(ask.move, ask.steps))


async def why_not(request: Request) -> Response:
    """Why a move is not legal."""
    return await _answered(request, lambda game, ask: game.why_not(ask.move, ask.steps))


async def hints(request: Request) -> Response:
    """The moves that do best in random games."""
    return await _answered(request, lambda game, ask: game.hints(ask.steps))


async def leave(request: Request) -> Response:
    """Gives the game up."""
    return await _answered(request, lambda game, _: game.leave())


async def review(request: Request) -> Response:
    """Begins to grade the moves of a game that is over."""
    return await _answered(request, lambda game, _: game.review())


async def again(request: Request) -> Response:
    """Another game against the same bots."""
    _, wish = _game(request)
    open_games: OpenGames = request.app.state.site.open_games
    how = request.path_params["how"]
    if how not in AGAIN:
        raise HTTPException(404, "no such page here")
    try:
        name = await run_in_threadpool(open_games.begin, wish.again(how))
    except UserError as error:
        return _refused(error)
    return JSONResponse({"address": f"/play/{name}"})


def _refused(error: UserError) -> Response:
    words = f"{error}; {error.hint}" if error.hint else str(error)
    return JSONResponse({"problem": words}, 409)


async def _answered(request: Request, act: Callable[[OpenGame, Ask], Any]) -> Response:
    """What a game says to the page's question."""
    game, _ = _game(request)
    try:
        ask = msgspec.json.decode(await request.body(), type=Ask)
    except (msgspec.DecodeError, RecursionError):
        return JSONResponse({"problem": "expected a question of the page"}, 400)
    try:
        answer = await run_in_threadpool(act, game, ask)
    except RefusedError as error:
        return JSONResponse({"problem": str(error)}, 409)
    return JSONResponse({"answer": answer})


def _game(request: Request) -> tuple[OpenGame, Wish]:
    """The game that the address names. Raises HTTPException."""
    _let_in(request)
    found: tuple[OpenGame, Wish] | None = request.app.state.site.open_games.find(
        request.path_params["name"]
    )
    if found is None:
        raise HTTPException(404, "this game is not here any more: the server was started again")
    return found


def _let_in(request: Request) -> None:
    if not request.state.may_change:
        raise HTTPException(403, "to play, open the address that 'arena serve' printed")


ROUTES = [
    Route("/play", new_game),
    Route("/play", begin, methods=["POST"]),
    Route("/play/{name}", board_page),
    Route("/play/{name}/events", events),
    Route("/play/{name}/move", place, methods=["POST"]),
    Route("/play/{name}/why", why_not, methods=["POST"]),
    Route("/play/{name}/hint", hints, methods=["POST"]),
    Route("/play/{name}/leave", leave, methods=["POST"]),
    Route("/play/{name}/review", review, methods=["POST"]),
    Route("/play/{name}/again/{how}", again, methods=["POST"]),
]
