"""The pages on which a person plays. They need the token, because hands are secret."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.commands.bots import bot_finder, registry_of
from arena.commands.game import Wish, past_games
from arena.commands.home import results_folder
from arena.errors import ConfigError, UserError
from arena.exports.ground import empty_board
from arena.exports.parts import all_parts
from arena.players.player import NAME
from arena.records.timing import Timing
from arena.rules.boards import BUILT_IN, find_board
from arena.rules.explain import rulebook
from arena.tournament.session import new_seed
from arena.web.home import SitePages, page, whole_number
from arena.web.opengame import OpenGame, RefusedError
from arena.web.opengames import OpenGames
from arena.web.shelf import when

BUILT_IN_BOTS = ("careful-16", "careful-4", "careful", "greedy-16", "greedy", "random")
MAX_MS = 60_000
MAX_PAST = 12
BEAT_S = 15.0
"""The longest time in which a stream sends nothing, so that pages see that the server is alive."""
AGAIN = ("new", "same", "seat")
NO_STORE = {"cache-control": "no-store", "x-accel-buffering": "no"}
FORM_FILES = ("play.css", "newgame.js")
BOARD_FILES = (
    "play.css", "play_server.js", "play_words.js", "play_placing.js", "play_overlay.js",
    "play_hand.js", "play_grid.js", "play.js",
)  # fmt: skip

FormField = Annotated[str, Meta(max_length=100)]


class GameForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of the form for a game. An empty field takes the default."""

    bot: FormField = ""
    bot2: FormField = ""
    bot3: FormField = ""
    seat: FormField = ""
    board: FormField = ""
    seed: FormField = ""
    ms: FormField = ""


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """A question of a page: the number of steps that the page knows, and a move if it is one."""

    steps: int
    move: str = ""


def new_game(request: Request) -> Response:
    """The page with the form for a game."""
    _let_in(request)
    state = request.app.state
    chosen = request.query_params
    registry = registry_of(state.home)
    named = chosen.get("bot", "")
    own = registry.labels()
    further = [named] if NAME.fullmatch(named) and named not in (*BUILT_IN_BOTS, *own) else []
    groups = {"built in": [*BUILT_IN_BOTS, *further], "yours": [], "the ladder": []}
    for name in own:
        groups["the ladder" if registry.is_of_ladder(name) else "yours"].append(name)
    past = past_games(results_folder(state.home), MAX_PAST)
    values = {
        "groups": [(title, names) for title, names in groups.items() if names],
        "boards": BUILT_IN,
        "chosen": {key: chosen.get(key, "") for key in GameForm.__struct_fields__},
        "open_games": state.open_games.in_play(),
        "past": [(one, SitePages(one.run).game(one.game), when(one.ended)) for one in past],
    }
    return page(request, "newgame.html", values, further=FORM_FILES)


async def begin(request: Request) -> Response:
    """Start the game that the form describes; the answer has the address of its page."""
    _let_in(request)
    state = request.app.state

    def begun(body: bytes) -> dict[str, str]:
        """Starts the game in a form's data, and returns its address."""
        wish = _wish(state.home, msgspec.json.decode(body, type=GameForm))
        return {"address": f"/play/{state.open_games.begin(wish)}"}

    return await _answered(request, begun)


async def _answered(request: Request, work: Callable[[bytes], Any]) -> Response:
    """Call ``work`` with the body of a request, in a thread; answer its result, or a problem."""
    try:
        return JSONResponse(await run_in_threadpool(work, await request.body()))
    except (msgspec.DecodeError, RecursionError):
        return JSONResponse({"problem": "the request is not one that this page sends"}, 400)
    except (RefusedError, UserError) as error:
        words = f"{error}; {error.hint}" if error.hint else str(error)
        return JSONResponse({"problem": words}, 409)


def _wish(home: Path, wanted: GameForm) -> Wish:
    """Read the form: the bots, the seat, the board, the seed and the time. Raises UserError."""
    known = {*registry_of(home).labels(), *BUILT_IN_BOTS}
    names = [name for name in (wanted.bot, wanted.bot2, wanted.bot3) if name]
    for name in names:
        # Only names: a reader with the token must not start a bot from any folder.
        if name not in known and not NAME.fullmatch(name):
            raise ConfigError(f"expected a bot of the list, got {name!r}")
    if not names:
        raise ConfigError("name at least one bot to play against")
    board = wanted.board or BUILT_IN[0]
    if board not in BUILT_IN:
        raise ConfigError(f"expected the board {' or '.join(BUILT_IN)}, got {board!r}")
    bots = list(map(bot_finder(home, lambda _: None), names))
    seat = _number(wanted.seat, "a seat", 0, len(bots), 0)
    timing = Timing(move_ms=_number(wanted.ms, "a time in ms", 1, MAX_MS, 1000))
    seed = wanted.seed.strip() or new_seed()
    return Wish(bots, seat, find_board(board), seed, 0, timing)


def _number(text: str, what: str, least: int, most: int, usual: int) -> int:
    """The number in a form's field, within limits; ``usual`` if the field is empty. Raises
    UserError.
    """
    if not text.strip():
        return usual
    if (number := whole_number(text)) is None or not least <= number <= most:
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
        "drawn": all_parts(),
        "book": rulebook(),
    }
    return page(request, "play.html", values, further=BOARD_FILES)


async def events(request: Request) -> Response:
    """A stream of views of a game: the present one, then each new one."""
    game, _ = _game(request)
    return StreamingResponse(_news(game), media_type="text/event-stream", headers=NO_STORE)


async def _news(game: OpenGame) -> AsyncIterator[bytes]:
    """The changes of a game as events."""
    version = -1
    while True:
        if game.version == version:
            yield b": still here\n\n"
        else:
            view = game.view()
            version = view["version"]
            yield b"data: " + msgspec.json.encode(view) + b"\n\n"
        await game.news(version, BEAT_S)


QUESTIONS: Mapping[str, Callable[[OpenGame, Ask], Any]] = {
    "move": lambda game, ask: game.place(ask.move, ask.steps),
    "hint": lambda game, ask: game.hints(ask.steps),
    "leave": lambda game, _: game.leave(),
    "review": lambda game, _: game.review(),
}
"""What a page can ask for: to play a move, the best moves in random games, to give the game up, and
to grade the moves of a finished game.
"""


async def ask(request: Request) -> Response:
    """Answer one of the `QUESTIONS` of a page."""
    (game, _), question = _game(request), QUESTIONS.get(request.path_params["what"])
    if question is None:
        raise HTTPException(404, "no such page here")
    return await _answered(
        request, lambda body: {"answer": question(game, msgspec.json.decode(body, type=Ask))}
    )


async def again(request: Request) -> Response:
    """Start another game against the same bots."""
    (_, wish), how = _game(request), request.path_params["how"]
    open_games: OpenGames = request.app.state.open_games
    if how not in AGAIN:
        raise HTTPException(404, "no such page here")
    return await _answered(
        request, lambda _: {"address": f"/play/{open_games.begin(wish.again(how))}"}
    )


def _game(request: Request) -> tuple[OpenGame, Wish]:
    """The game that the address names. Raises HTTPException."""
    _let_in(request)
    found: tuple[OpenGame, Wish] | None = request.app.state.open_games.find(
        request.path_params["name"]
    )
    if found is None:
        raise HTTPException(404, "this game is not here any more: the server was started again")
    return found


def _let_in(request: Request) -> None:
    """Raises HTTPException unless the request carries the token."""
    if not request.state.may_change:
        raise HTTPException(403, "to play, open the address that 'arena serve' printed")


ROUTES = [
    Route("/play", new_game),
    Route("/play", begin, methods=["POST"]),
    Route("/play/{name}", board_page),
    Route("/play/{name}/events", events),
    Route("/play/{name}/{what}", ask, methods=["POST"]),
    Route("/play/{name}/again/{how}", again, methods=["POST"]),
]
