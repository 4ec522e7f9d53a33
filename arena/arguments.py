"""The arguments of the functions of `arena.api`: their types and checks. Also opens runs for these
functions.
"""

import os
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from msgspec import Meta
from tqdm import tqdm

from arena.commands.bots import Tell
from arena.commands.home import find_home
from arena.commands.playing import Play, SandboxChoice, open_run
from arena.commands.runs import named_run
from arena.errors import ConfigError
from arena.exports.files import games_frame
from arena.players.sandbox.tiers import Mode
from arena.tournament.events import GamePlayed, RunnerEvent
from arena.tournament.pools import Place
from arena.tournament.run import Run
from arena.tournament.runs import Request
from arena.tournament.settings import DECLARED, OWN_TYPES, TYPES, Named, Settings, checked, taken_by

HINT = "'help(arena.api)' lists the settings"
"""The hint for an argument that is wrong."""


class GameSettings(Settings, total=False):
    """The settings of the games of a run or a comparison, and of how and where they are played.

    ``home``       the folder that holds bots/ and results/
    ``jobs``       the number of worker processes on this machine; by default one for each core
    ``sandbox``    ``"auto"``: the best sandbox that works; trusted bots play without one if none
                   works. ``"require"``: the same without that exception. ``"strangers"``: a sandbox
                   that isolates bots of unknown people. ``"off"``: none
    ``trust``      bots that may play without a sandbox if none works
    ``allow``      what a bot may do beyond its sandbox, such as ``"my-bot=network"``
    ``adopt``      whether to continue a run that was made by another user or on another machine
    ``progress``   whether to show a progress bar on stderr
    """

    home: Named
    jobs: int
    sandbox: Mode
    trust: Sequence[str]
    allow: Sequence[str]
    adopt: bool
    progress: bool


ARGUMENTS: Mapping[str, Any] = {
    **TYPES,
    **OWN_TYPES,
    "adopt": bool,
    "progress": bool,
    **dict.fromkeys(("home", "new", "old", "judge", "bot"), str),
    "pool": TYPES["bots"],
    **dict.fromkeys(("games", "max_blocks"), Annotated[int, Meta(ge=1)]),
    "prior": Annotated[float, Meta(gt=0, lt=1e6)],
    "anchors": dict[str, Annotated[float, Meta(gt=-1e6, lt=1e6)]],
    "without": list[str],
    "seats": bool,
}
"""The type of every argument that is a plain value, except for those of a review."""


class ArenaWarning(UserWarning):
    """Something that the command of the same name would tell its user beside the answer, such as
    that a bot was left out.
    """


def opened_run(run: Any, home: Named | None) -> Run:
    """The run with this name or path, opened; ``home`` is the home, None for the one that a command
    would find. Raises ConfigError, RunError.
    """
    if not isinstance(run, str | os.PathLike):
        raise ConfigError(f"expected the name or path of a run, got {run!r:.80}", HINT)
    return named_run(checked_arguments(home=home)["home"], str(_plain(run)))


@contextmanager
def warnings_of_call() -> Iterator[Tell]:
    """A context manager for the body of a function of `arena.api`. It yields a callback that
    collects sentences for the user, and at the end issues them as warnings at the place where that
    function was called.

    If warnings are errors (``-W error``) and the body fails, the sentences become notes of the
    body's error.
    """
    texts = list[str]()
    try:
        yield texts.append
    except BaseException as error:
        for text in texts:
            try:
                warnings.warn(text, ArenaWarning, stacklevel=4)
            except ArenaWarning:
                error.add_note(text)
        raise
    for text in texts:
        warnings.warn(text, ArenaWarning, stacklevel=4)


def sandbox_choice(arguments: Mapping[str, Any], tell: Tell) -> SandboxChoice:
    """The sandbox options among these arguments of a call; ``tell`` takes sentences
    for the user.
    """
    trusted = tuple(arguments.get("trust", ()))
    allowed = tuple(arguments.get("allow", ()))
    return SandboxChoice(
        arguments.get("sandbox"),
        trusted,
        unsafe=False,
        allowed=allowed,
        home=arguments["home"],
        tell=tell,
    )


class _Bar(tqdm):  # type: ignore[type-arg] # a class at run time, too
    """A progress bar with a lock of its own. The lock that tqdm makes would fix the start method of
    the program's `multiprocessing`.
    """

    _lock = threading.RLock()


@contextmanager
def opened(
    folder: Path, request: Request, arguments: Mapping[str, Any], tell: Tell
) -> Iterator[Play]:
    """A context manager that opens the run in ``folder`` for playing, with the ``arguments`` of a
    call. At the end, also by a KeyboardInterrupt, workers and bots are stopped.
    """
    sandbox = sandbox_choice(arguments, tell).sandbox_for(request.bots, folder)
    place = Place(arguments.get("jobs"))
    adopt = arguments.get("adopt", False)
    with (
        _Bar(unit="game", disable=not arguments.get("progress"), dynamic_ncols=True) as bar,
        open_run(folder, request, place, sandbox, tell, adopt=adopt) as run,
    ):

        def listen(event: RunnerEvent) -> None:
            """Moves the progress bar when a game has ended."""
            bar.update(isinstance(event, GamePlayed))

        bar.reset(run.session.run.schedule.planned)
        bar.update(run.session.known)
        yield run.play(listen)


def games_together(runs: Any, home: Named | None) -> pd.DataFrame:
    """The games of several runs, given by name or path, in one data frame. Games on the same deal
    of the same seed are in one ``block``, because runs with the same seed have the same decks.
    Raises ConfigError, RunError.
    """
    if not isinstance(runs, Sequence):
        expected = "a run, several runs, a CSV file or a frame of games"
        raise ConfigError(f"expected {expected}, got {runs!r:.80}", "name a run as text")
    frames = []
    for opened in [opened_run(run, home) for run in runs]:
        frame = games_frame(opened)
        frames.append(frame.assign(block=f"{opened.info.seed}/" + frame["block"]))
    if not frames:
        raise ConfigError("no run is named", "name at least one")
    return pd.concat(frames, ignore_index=True)


def checked_call(command: str, settings: GameSettings, **further: Any) -> dict[str, Any]:
    """The arguments for the games of ``command``, which is ``run`` or ``compare``: the ``settings``
    and the ``further`` arguments, checked, by name. Raises ConfigError, also for a setting that
    belongs to another command.
    """
    own = [name for name in GameSettings.__annotations__ if name not in DECLARED]
    types = {name: ARGUMENTS[name] for name in (*taken_by(command), *own, *further)}
    return checked_arguments(types, **{"home": None, **further, **settings})


def checked_arguments(types: Mapping[str, Any] = ARGUMENTS, /, **arguments: Any) -> dict[str, Any]:
    """The arguments, checked by their ``types``, by name. Those that are None are left out, and
    paths become texts. If ``home`` is among the arguments, the result has the home as a Path; None
    stands for the home that a command would find. Raises ConfigError.
    """
    plain = {name: _plain(value) for name, value in arguments.items() if value is not None}
    known = ", ".join(sorted(types.keys() - {"new", "old", "judge", "bot"}))
    values = checked(types, plain, HINT, names=f"the settings are {known}")
    if "home" in arguments:
        values["home"] = Path(values.get("home") or os.environ.get("ARENA_HOME") or find_home())
    return values


def _plain(value: Any) -> Any:
    """The value with each path in it, also in a list, replaced by a text, the absolute path."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(Path(value).absolute()) if isinstance(value, os.PathLike) else value
