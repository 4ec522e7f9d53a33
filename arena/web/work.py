"""What is done at a desk. Pandas is loaded there, when there is something to do, and not in the
server, which is up at once and stays small.
"""

import time
from pathlib import Path
from typing import NamedTuple

from arena.errors import RunError
from arena.exports.report.page import Setting


class Sight(NamedTuple):
    """The parts of a run's page by name; ``is_over`` if no game is missing; who leads, and with
    which rating. It took ``seconds`` of processor time.
    """

    parts: dict[str, str]
    is_over: bool
    leader: tuple[str, str]
    seconds: float


def prepare() -> None:
    """Loads what takes long to load."""
    from arena.web import views  # noqa: F401, PLC0415


def look_at(folder: str) -> Sight:
    """The parts of a run's page as they are now. Raises RunError."""
    from arena.web.following import parts_of  # noqa: PLC0415

    began = time.process_time()
    parts, is_over, leader = parts_of(folder)
    return Sight(parts, is_over, leader, time.process_time() - began)


def make_report(folder: str, setting: Setting) -> str:
    """The report of the run in a folder. Raises RunError, NoAnswerError."""
    from arena.exports.report.make import report_page  # noqa: PLC0415

    return report_page(Path(folder), setting=setting).text


def make_game(folder: str, setting: Setting, game: str) -> str:
    """The page of a game whose deal is over. Raises RunError."""
    from arena.exports.report.make import game_page  # noqa: PLC0415
    from arena.exports.report.secrecy import secrecy_of  # noqa: PLC0415
    from arena.records.find import find_record  # noqa: PLC0415
    from arena.records.runfile import read_run  # noqa: PLC0415
    from arena.web.views import around  # noqa: PLC0415

    run = Path(folder)
    record = find_record(run, game)
    secrecy = secrecy_of(run, read_run(run))
    if secrecy.is_open_game(record):
        raise RunError(
            f"expected a game whose deal is over, got {record.id}",
            "other games of this deal are still to be played: come back when the run is over",
        )
    return game_page(run, record, setting, around(run, record, secrecy))


def games_part(folder: str, bots: tuple[str, ...], number: int) -> str:
    """A list of games in which all these bots sat. Raises RunError."""
    from arena.web.views import list_of_games  # noqa: PLC0415

    return list_of_games(folder, list(bots), number)


def bot_part(folder: str, bot: str) -> str:
    """What a run says of a bot. Raises RunError."""
    from arena.web.views import portrait  # noqa: PLC0415

    return portrait(folder, bot)
