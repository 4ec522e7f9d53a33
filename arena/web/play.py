"""The pages on which a person plays against bots. They need the token, because hands are secret."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from arena.commands.bots import bot_finder, registry_of
from arena.commands.game import GameRequest, PastGame, past_games
from arena.commands.home import results_folder
from arena.commands.rungs import (
    Rung,
    companions,
    easier_than,
    harder_than,
    next_rung,
    rungs,
    scores,
)
from arena.errors import ConfigError, UserError
from arena.exports.ground import empty_board
from arena.exports.parts import all_parts
from arena.players.folder import labels_of
from arena.players.player import NAME
from arena.records.record import MAX_SEATS
from arena.records.timing import Timing
from arena.rules.boards import BUILT_IN, find_board
from arena.rules.explain import rulebook
from arena.tournament.session import new_seed
from arena.web.lessons import RefusedError
from arena.web.opengame import OpenGame
from arena.web.opengames import OpenGames
from arena.web.pages import SitePages, folder_of, page, whole_number
from arena.web.played_on import played_on
from arena.web.run_list import when
from arena.web.tutorial import lesson_pictures, lessons

BUILT_IN_BOTS = ("careful-16", "careful-4", "careful", "greedy-16", "greedy", "random")
"""The built-in bots that the form offers."""
MAX_MS = 60_000
"""The longest time for a move that the form accepts, in ms."""
MAX_COUNTED = 300
"""The most past games that count for the person's score against each bot."""
MAX_PAST = 12
"""The most past games that the page lists."""
BEAT_S = 15.0
"""The longest time in seconds in which a stream sends nothing, so that pages see that the server
runs.
"""
AGAIN = ("new", "same", "seat", "easier", "harder")
"""What the next game may have: new tiles, the same tiles, the same tiles from the next seat, or new
tiles and an easier or harder bot.
"""
NO_STORE = {"cache-control": "no-store", "x-accel-buffering": "no"}
"""The headers of a stream."""
FormField = Annotated[str, Meta(max_length=100)]
"""The text of a field of the form."""


class GameForm(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of the form for a game: the names of up to three bots, at least one; the person's
    ``seat``, from 0; the ``board``; the number of ``players``; the ``seed`` of the tiles; and the
    time for a bot's move in ms (``ms``). Every other field that is empty takes a default.
    """

    bot: FormField = ""
    bot2: FormField = ""
    bot3: FormField = ""
    seat: FormField = ""
    board: FormField = ""
    players: FormField = ""
    seed: FormField = ""
    ms: FormField = ""


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """What a page sends with a question (see `QUESTIONS`): ``steps``, the number of steps of the
    game that the page knows; ``move``, the move to play, to try or to warn about; and ``at``, the
    number of a moment of the finished game, or of the move from which the game is to go on, both
    from 0.
    """

    steps: int
    move: str = ""
    at: int = 0


def new_game(request: Request) -> Response:
    """The page with the form for a new game, with the games that are being played, and with the
    last games that were.
    """
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
    games = past_games(results_folder(state.home), MAX_COUNTED)
    past = games[:MAX_PAST]
    values = {
        "ladder": _ladder(own, games),
        "lessons": lessons(),
        "pictures": lesson_pictures(),
        "drawn": all_parts(),
        "is_open": bool(chosen),
        "groups": [(title, names) for title, names in groups.items() if names],
        "boards": BUILT_IN,
        "chosen": {key: chosen.get(key, "") for key in GameForm.__struct_fields__},
        "in_play": state.open_games.in_play(),
        "left": state.open_games.left(),
        "past": [(one, SitePages(one.run).game(one.game), when(one.ended)) for one in past],
    }
    return page(request, "newgame.html", values, bundle="choose")


def _ladder(bots: Collection[str], games: Sequence[PastGame]) -> list[dict[str, Any]]:
    """The rows of the list of opponents, the easiest first: the bot, a sentence about it, the
    person's score against it in ``games``, and whether it is the person's next rung. ``bots`` are
    the names of the bots of this home.
    """
    ladder = rungs(bots)
    results = scores(games)
    following = next_rung(ladder, results)
    rows = []
    for rung in ladder:
        score = results.get(rung.bot)
        rows.append({**rung._asdict(), "score": score, "is_next": rung == following})
    return rows


async def begin(request: Request) -> Response:
    """Start the game that the form describes; the answer has the address of its page."""
    _let_in(request)
    state = request.app.state

    def start_game(body: bytes) -> dict[str, str]:
        """Starts the game that the form ``body`` asks for, and returns the address of its page."""
        game_request = _game_request(state.home, msgspec.json.decode(body, type=GameForm))
        return {"address": f"/play/{state.open_games.begin(game_request)}"}

    return await _answered(request, start_game)


async def _answered(request: Request, work: Callable[[bytes], Any]) -> Response:
    """Call ``work`` with the body of a request, in a thread. Answer with its result, or with the
    problem if the body cannot be read or ``work`` raises an error of the user.
    """
    try:
        return JSONResponse(await run_in_threadpool(work, await request.body()))
    except (msgspec.DecodeError, RecursionError):
        return JSONResponse({"problem": "the request is not one that this page sends"}, 400)
    except RefusedError as error:
        answer = {"problem": str(error)}
        if error.rule:
            answer["rule"] = error.rule
        return JSONResponse(answer, 409)
    except UserError as error:
        return JSONResponse({"problem": error.with_hint}, 409)


def _game_request(home: Path, wanted: GameForm) -> GameRequest:
    """The request for the game that the form ``wanted`` describes. If the form names fewer bots
    than the game has players, bots of about the strength of the first one fill the seats. Raises
    UserError.
    """
    known = {*registry_of(home).labels(), *BUILT_IN_BOTS}
    names = [name for name in (wanted.bot, wanted.bot2, wanted.bot3) if name]
    for name in names:
        # Paths are refused, because a reader with the token must not start a bot from any folder.
        if name not in known and not NAME.fullmatch(name):
            raise ConfigError(f"expected a bot of the list, got {name!r}")
    if not names:
        raise ConfigError("name at least one bot to play against")
    players = _number(wanted.players, "a number of players", 2, MAX_SEATS, 2)
    names += companions(rungs(registry_of(home).labels()), names, players - 1 - len(names))
    board = wanted.board or BUILT_IN[0]
    if board not in BUILT_IN:
        raise ConfigError(f"expected the board {' or '.join(BUILT_IN)}, got {board!r}")
    bots = list(map(bot_finder(home, lambda _: None), names))
    seat = _number(wanted.seat, "a seat", 0, len(bots), 0)
    timing = Timing(move_ms=_number(wanted.ms, "a time in ms", 1, MAX_MS, 1000))
    seed = wanted.seed.strip() or new_seed()
    return GameRequest(bots, seat, find_board(board), seed, 0, timing)


def _number(text: str, what: str, least: int, most: int, usual: int) -> int:
    """The number in a form's field with this text, from ``least`` to ``most``; ``usual`` if the
    field is empty. ``what`` names the field in errors. Raises ConfigError.
    """
    if not text.strip():
        return usual
    if (number := whole_number(text)) is None or not least <= number <= most:
        raise ConfigError(f"expected {what} from {least} to {most}, got {text[:20]!r}")
    return number


def board_page(request: Request) -> Response:
    """The page on which the game that the address names is played."""
    game, game_request = _game(request)
    home = request.app.state.home
    values = {
        "name": request.path_params["name"],
        "opponents": game.opponents,
        "board": empty_board(game_request.board),
        "board_name": game_request.board.name,
        "drawn": all_parts(),
        "book": rulebook(),
    }
    for how, swap in _swaps(home, game_request).items():
        values[how] = swap.other if swap else ""
    return page(request, "play.html", values, bundle="play")


async def events(request: Request) -> Response:
    """A stream of views of a game: the present one, then each new one."""
    game, _ = _game(request)
    return StreamingResponse(_news(game), media_type="text/event-stream", headers=NO_STORE)


async def _news(game: OpenGame) -> AsyncIterator[bytes]:
    """The events of `events`, and a comment every `BEAT_S` seconds without a new view."""
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
    "caution": lambda game, ask: game.caution(ask.move, ask.steps),
    "why": lambda game, ask: game.why(ask.move, ask.steps)._asdict(),
    "undo": lambda game, _: game.undo(),
    "leave": lambda game, _: game.leave(),
    "question": lambda game, ask: game.lessons().question(ask.at),
    "try": lambda game, ask: game.lessons().attempt(ask.at, ask.move),
    "why-then": lambda game, ask: game.lessons().why(ask.at, ask.move)._asdict(),
    "best": lambda game, ask: game.lessons().answer(ask.at),
}
"""What a page can ask for: to play a move, to see the next hint, to hear whether a move costs much
or why it is not legal, to take the person's last move back, and to give the game up; and in a
finished game to see the position of a moment, to try a move there, to hear why one is not legal,
and to see the best one.
"""


async def ask(request: Request) -> Response:
    """Answer the question of a page that the address names, one of `QUESTIONS`."""
    (game, _), question = _game(request), QUESTIONS.get(request.path_params["what"])
    if question is None:
        raise HTTPException(404, "no such page here")
    return await _answered(
        request, lambda body: {"answer": question(game, msgspec.json.decode(body, type=Ask))}
    )


async def again(request: Request) -> Response:
    """Start another game after the one that the address names, against the same bots, or with an
    easier or harder one among them; the address also says how (`AGAIN`). The answer has the address
    of its page.
    """
    (_, game_request), how = _game(request), request.path_params["how"]
    open_games: OpenGames = request.app.state.open_games
    if how not in AGAIN:
        raise HTTPException(404, "no such page here")

    def start_game(_: bytes) -> dict[str, str]:
        """Starts the game, and returns the address of its page."""
        return {"address": f"/play/{open_games.begin(_next_game(request, game_request, how))}"}

    return await _answered(request, start_game)


class _Swap(NamedTuple):
    """A ``bot`` of a game, and the ``other`` one that can take its place."""

    bot: str
    other: str


def _swaps(home: Path, game_request: GameRequest) -> dict[str, _Swap | None]:
    """By "easier" and "harder": the first bot of a game that can be replaced by the next such bot,
    if there is one.
    """
    ladder = rungs(registry_of(home).labels())
    there = labels_of(game_request.bots)
    swaps: dict[str, _Swap | None] = {}
    for how, beside in (("easier", easier_than), ("harder", harder_than)):
        swaps[how] = _first_swap(there, ladder, beside)
    return swaps


def _first_swap(
    bots: Sequence[str], ladder: list[Rung], beside: Callable[[list[Rung], str], Rung | None]
) -> _Swap | None:
    """The first of ``bots`` for which ``beside`` finds a bot on the ``ladder`` that does not play
    yet, with that bot; None if there is none.
    """
    for bot in bots:
        rung = beside(ladder, bot)
        if rung and rung.bot not in bots:
            return _Swap(bot, rung.bot)
    return None


def _next_game(request: Request, game_request: GameRequest, how: str) -> GameRequest:
    """The request of the next game after ``game_request``; ``how`` is one of `AGAIN`. Raises
    ConfigError if it is ``easier`` or ``harder`` and there is no such bot, and UserError for a bot
    that cannot be read.
    """
    if how not in ("easier", "harder"):
        return game_request.again(how)
    home = request.app.state.home
    swap = _swaps(home, game_request)[how]
    if swap is None:
        raise ConfigError(f"there is no {how} bot to play against")
    find = bot_finder(home, lambda _: None)
    bots = []
    for bot in game_request.bots:
        bots.append(find(swap.other) if bot.label == swap.bot else bot)
    return game_request.again("new")._replace(bots=bots)


async def continue_left(request: Request) -> Response:
    """Continue the game that the address names, which the person had left. The answer has the
    address of the page of the game that goes on from it.
    """
    _game(request)
    open_games: OpenGames = request.app.state.open_games
    name = request.path_params["name"]
    return await _answered(
        request, lambda _: {"address": f"/play/{open_games.continue_left(name)}"}
    )


async def play_on(request: Request) -> Response:
    """Start a game that goes on from the finished game that the address names, before the person's
    move that the body names. The answer has the address of its page.
    """
    _game(request)
    open_games: OpenGames = request.app.state.open_games
    name = request.path_params["name"]

    def start_game(body: bytes) -> dict[str, str]:
        """Starts the game, and returns the address of its page."""
        ask = msgspec.json.decode(body, type=Ask)
        return {"address": f"/play/{open_games.begin_from(name, ask.at)}"}

    return await _answered(request, start_game)


class PlayedOn(Struct, frozen=True, forbid_unknown_fields=True):
    """A position of a finished game: the name of its ``run``, the id of the ``game``, and the
    number of tiles on the board (``turn``).
    """

    run: FormField
    game: Annotated[str, Meta(max_length=2000)]
    turn: Annotated[int, Meta(ge=0, le=1000)]


async def play_game_on(request: Request) -> Response:
    """Start a game that goes on from a position of a run's game, which the body names. The answer
    has the address of its page.
    """
    _let_in(request)
    state = request.app.state

    def start_game(body: bytes) -> dict[str, str]:
        """Starts the game, and returns the address of its page."""
        wanted = msgspec.json.decode(body, type=PlayedOn)
        folder = folder_of(request, wanted.run)
        registry = registry_of(state.home)
        game_request, past = played_on(folder, wanted.game, wanted.turn, registry)
        return {"address": f"/play/{state.open_games.begin_after(game_request, past)}"}

    return await _answered(request, start_game)


class GradedGame(Struct, frozen=True, forbid_unknown_fields=True):
    """A game of a run that is to be graded: the name of its ``run``, and the id of the ``game``."""

    run: FormField
    game: Annotated[str, Meta(max_length=2000)]


async def grade_game(request: Request) -> Response:
    """Grade the game of a run that the body names, unless it has its grades. The answer is a
    `GradedSoFar` as an object; a page asks again until ``is_done`` is true.
    """
    _let_in(request)
    gradings = request.app.state.open_games.gradings

    def look(body: bytes) -> dict[str, Any]:
        """Begins the grading, or looks how far it is."""
        wanted = msgspec.json.decode(body, type=GradedGame)
        so_far = gradings.grade(folder_of(request, wanted.run), wanted.game)
        return dict(so_far._asdict())

    return await _answered(request, look)


def _game(request: Request) -> tuple[OpenGame, GameRequest]:
    """The game that the address names, and the request that it was made from. Raises HTTPException
    if there is no such game, or if the request does not have the token.
    """
    _let_in(request)
    game_and_request: tuple[OpenGame, GameRequest] | None = request.app.state.open_games.find(
        request.path_params["name"]
    )
    if game_and_request is None:
        raise HTTPException(404, "this game is not here any more: the server was started again")
    return game_and_request


def _let_in(request: Request) -> None:
    """Raises HTTPException unless the request has the token (``may_change``)."""
    if not request.state.may_change:
        raise HTTPException(403, "to play, open the address that 'arena serve' printed")


ROUTES = [
    Route("/play", new_game),
    Route("/play", begin, methods=["POST"]),
    Route("/play/from/game", play_game_on, methods=["POST"]),
    Route("/play/grade/game", grade_game, methods=["POST"]),
    Route("/play/{name}", board_page),
    Route("/play/{name}/events", events),
    Route("/play/{name}/continue", continue_left, methods=["POST"]),
    Route("/play/{name}/{what}", ask, methods=["POST"]),
    Route("/play/{name}/again/{how}", again, methods=["POST"]),
    Route("/play/{name}/play/on", play_on, methods=["POST"]),
]
