"""The pages that every browser has to get along with, at three widths, light and dark.

To have a page of yours looked at in the same way, write a function that makes it and name it in
PAGES.
"""

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from arena.exports.report.game_page import game_page
from arena.exports.report.report_page import report_page
from arena.records.league import Joined, Scaled, StatusChanged, events_file, lines_of
from arena.tournament.run import Run
from tests.exports.runs import duels, evidence_of, game_of, write_run
from tests.serve.games import begin
from tests.serve.serving import Served

HOSTILE = "<|script><script>window.hit=1<|script><img src=x onerror=window.hit=2>\"'`"
OPEN_ALL = "document.querySelectorAll('details').forEach(part => { part.open = true; });"
TO_THE_END = OPEN_ALL + "document.getElementById('last').click();"


class Page(NamedTuple):
    """A page to be looked at.

    ``make``   makes it below an empty folder; returns its file, or its address if it is served.
               What it starts ends with the stack. None for a page of the server of `ten_bots`.
    ``path``   its path on the server of `ten_bots`
    ``begin``  a script that brings it into the state to be looked at
    ``board``  the id of the element that left and right and a finger step through, if there is one
    """

    make: Callable[[Path, ExitStack], Path | str] | None = None
    path: str = ""
    begin: str = OPEN_ALL
    board: str = ""


def hostile_games():
    """Games of two and four seats, one with a bot whose name is an attack."""
    forfeit = game_of(
        ("a", "b", "c", "d"),
        board="lion",
        deal=9,
        faults=[(1, 5, "late", HOSTILE.replace("|", "/"))],
    )
    table = game_of(("d", "c", "b", "a"), board="lion", deal=8)
    hostile = game_of((HOSTILE, "a"), deal=7, faults=[(0, 2, "exit", "</script>" + HOSTILE)])
    return [*duels("abcd", 3), *duels("ab", 1, "lion"), forfeit, table, hostile]


def hostile_report(folder):
    """The report of a run with them."""
    games = hostile_games()
    text = "</script></pre></bdi><script>window.hit=3</script><img src=x onerror=window.hit=4>"
    evidence = {(games[-1].id, 0): evidence_of(text, [["from", 2.0, text], ["to", 1.0, text]])}
    evidence |= {(games[-3].id, 1): evidence_of(text, [["from", 2.0, text]], ending=text)}
    run = write_run(
        folder / "run",
        ["a", "b", "c", "d", HOSTILE],
        games,
        boards=("bird", "lion"),
        planned="ab",
        evidence=evidence,
    )
    path = run / "report.html"
    path.write_text(report_page(Run(run), 100).text)
    return path


def _report(folder, _):
    return hostile_report(folder)


def _game(folder, _):
    game = hostile_games()[-3]
    run = write_run(folder / "run", game.bots, [game], boards=("lion",), players=4)
    path = run / "game.html"
    path.write_text(game_page(Run(run), game))
    return path


def _served(folder, stack):
    (folder / ".arena-home").touch()
    server = Served(folder)
    stack.callback(server.close)
    return server


def _form(folder, stack):
    server = _served(folder, stack)
    return server.url.replace("/?", "/play?")


def _playing(folder, stack):
    server = _served(folder, stack)
    game = begin(server, bot="careful-16", bot2="greedy", seed="page", seat="1")
    game.play(until=lambda view: view["count"] > 9 and view["state"] == "yours")
    return server.url.replace("/?", f"{game.address}?")


def ten_bots(folder, stack):
    """A server of a home with a run of ten bots, which ends with the stack."""
    bots = [f"bot-{number}" for number in range(10)]
    write_run(folder / "results" / "run", bots, duels(bots, 1))
    return _served(folder, stack)


def _home(folder, stack):
    write_run(folder / "results" / "run", "abc", duels("abc", 2))
    return _served(folder, stack).url


def _public(folder, stack):
    (folder / ".arena-home").touch()
    server = Served(folder, "--public", "127.0.0.1")
    stack.callback(server.close)
    return server.url


def _run(folder, stack):
    server = _served(folder, stack)
    games = hostile_games()
    bots = ["a", "b", "c", "d", HOSTILE]
    write_run(folder / "results" / "run", bots, games, boards=("bird", "lion"), planned="ab")
    assert server.ask("/runs/run/events")[0] == 200, "from now on it is known how the run is"
    return server.url.replace("/?", "/runs/run?")


def _over(folder, stack):
    server = _served(folder, stack)
    game = begin(server, bot="careful-16", seed="over")
    game.play()
    return server.url.replace("/?", f"{game.address}?")


def league_report(folder):
    """The report of a league with versions that gained, and one whose name is an attack."""
    run, bots = folder / "run", ["b@1", "my@1", "my@2", "my@3", HOSTILE]
    write_run(run, bots, duels(bots, 6))
    info = json.loads((run / "run.json").read_text())
    info["config"]["league"] = {}
    (run / "run.json").write_text(json.dumps(info))
    when = "2026-11-22T12:00:00Z"
    events = [Joined(bot, "candidate", when) for bot in bots]
    events += [
        StatusChanged(HOSTILE, "aside", when, HOSTILE, HOSTILE),
        Scaled(when, {"b@1": 100.0}),
    ]
    with events_file(run) as file:
        file.append(lines_of(events))
    path = run / "report.html"
    path.write_text(report_page(Run(run), 0).text)
    return path


def _league(folder, _):
    return league_report(folder)


def pair_page(folder, bots, board="bird"):
    """The page of the first game of a deal, with the games of the other seatings; returns the games
    too.
    """
    seatings = [(*bots[at:], *bots[:at]) for at in range(len(bots))]
    games = [game_of(seats, board=board, seating=at) for at, seats in enumerate(seatings)]
    run = write_run(folder / "run", bots, games, boards=(board,), players=len(bots))
    path = run / "game.html"
    path.write_text(game_page(Run(run), games[0]))
    return path, games


def _pair(folder, _):
    return pair_page(folder, ("a", "b", "c"), "lion")[0]


SWAP = "document.querySelector('#seatings button').click();"
PAGES = {
    "home": Page(_home),
    "public": Page(_public),
    "run": Page(_run),
    "league": Page(_league),
    "report": Page(_report, begin=TO_THE_END, board="board"),
    "game": Page(_game, begin=TO_THE_END, board="board"),
    "deal": Page(_pair, begin=SWAP + TO_THE_END, board="board"),
    "form": Page(_form),
    "rules": Page(path="/rules"),
    "runs": Page(path="/runs"),
    "bots": Page(path="/bots"),
    "learn": Page(path="/learn"),
    "many": Page(path="/runs/run/report"),
    "list": Page(path="/runs/run/games?bot=bot-1&bot=bot-2"),
    "portrait": Page(path="/runs/run/bots/bot-1"),
    "over": Page(_over),
    "playing": Page(_playing),
}
