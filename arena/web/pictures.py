"""The pictures for previews of pages: PNG files of positions, made in the process of a worker."""

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.commands.published import published_league
from arena.web.pages import folder_of
from arena.web.previews import HOME_PICTURE, turn_of
from arena.web.welcome import HERO

KEPT_S = 3600
"""For how many seconds a picture may be kept by those who load it."""


async def game_picture(request: Request) -> Response:
    """The picture of a game of a run, after as many tiles as the address says."""
    folder = await run_in_threadpool(folder_of, request, request.path_params["run"])
    game = request.path_params["game"]
    return _png(
        await request.app.state.pictures.page("game_picture", folder, game, turn_of(request))
    )


async def run_picture(request: Request) -> Response:
    """The picture of a run: its last game that may be shown."""
    folder = await run_in_threadpool(folder_of, request, request.path_params["run"])
    return _png(await request.app.state.pictures.page("run_picture", folder))


async def league_picture(request: Request) -> Response:
    """The picture of a game of the published league; that of the first page if none is named."""
    key = request.path_params.get("key", HERO)
    if published_league().game(key) is None:
        raise HTTPException(404, "no such game here")
    turn = turn_of(request) if "key" in request.path_params else None
    return _png(await request.app.state.pictures.lasting("league_picture", key, turn))


def _png(picture: bytes) -> Response:
    """The answer with a PNG picture."""
    headers = {"cache-control": f"public, max-age={KEPT_S}"}
    return Response(picture, media_type="image/png", headers=headers)


ROUTES = [
    Route(HOME_PICTURE, league_picture),
    Route("/shown/{key}/picture", league_picture),
    Route("/runs/{run}/picture", run_picture),
    Route("/runs/{run}/pictures/{game:path}", game_picture),
]
