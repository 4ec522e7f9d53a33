"""No picture and no page that we ship or make shows a figure that is none, or text that is cut off.

A figure that is none is ``nan``, ``inf`` or ``infinity``: as a word in the text or an attribute of
any element, anywhere in the geometry of a drawing, and in JSON. Programs in a page are not looked
at, since theirs may be meant, nor what they draw once the page is open.

Text in a picture counts as cut off if it begins or ends outside the viewBox. Where it does follows
from x, y, text-anchor, the font size and 0.6 of that for a letter, which is about the mean of the
widest fonts in use; so it can be wrong by a few letters in a line of many. What is drawn by ``use``
is not seen, and of transforms only ``translate`` and ``scale`` are. Pages are not measured: a
browser lays them out, and tests/browser/test_pages.py asks one.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest

from arena.exports.report.animation import animated_picture
from arena.exports.report.game_page import game_page
from arena.exports.report.report_page import report_page
from arena.exports.report.sections import standings_picture
from arena.ratings.tables import run_tables
from arena.records.runfile import read_run
from arena.rules.boards import built_in
from arena.tournament.run import Run
from tests.exports.runs import game_of, game_won_by, games_won, write_run
from tests.serve.serving import Served

ROOT = Path(__file__).parents[2]
SHIPPED = [
    path
    for folder in ("docs", "protocol", "bots", "results")
    for ending in ("svg", "html")
    for path in sorted((ROOT / folder).rglob(f"*.{ending}"))
]
WORD = re.compile(r"(?<!\w)(?<!\w-)(nan|inf|infinity)(?!-?\w)", re.IGNORECASE)
ANYWHERE = re.compile(r"nan|inf", re.IGNORECASE)
GEOMETRY = {"viewbox", "transform", "d", "points", "values", "keytimes", "x", "y", "width"} | {
    "height", "r", "rx", "ry", "cx", "cy", "x1", "x2", "y1", "y2", "dx", "dy", "begin",
}  # fmt: skip
LETTER = 0.6
NUMBER = r"-?[\d.]+"


class Place(NamedTuple):
    """Where an element draws, and how large letters are in it."""

    x: float = 0
    y: float = 0
    scale: float = 1
    font: float = 16
    anchor: str = "start"


class Shown(HTMLParser):
    """Reads a picture or a page; ``wrong`` is what should not be shown."""

    def __init__(self, content):
        super().__init__()
        self.wrong, self.open, self.rules, self.box = [], [("", Place())], [], None
        for style in re.findall(r"<style[^>]*>(.*?)</style>", content, re.DOTALL):
            self.rules += re.findall(r"([^{}]+)\{([^{}]*)\}", style)
        for data in re.findall(r"<script[^>]*/json[^>]*>(.*?)</script>", content, re.DOTALL):
            json.loads(data, parse_constant=lambda name: self.wrong.append(f"{name} in JSON"))
        self.is_picture = content.startswith("<svg")
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attrs):
        values = {name: value or "" for name, value in attrs}
        for name, value in values.items():
            if (ANYWHERE if name in GEOMETRY and "url(" not in value else WORD).search(value):
                self.wrong.append(f"{name}={value!r} of <{tag}>")
        place = self.placed(tag, values) if self.is_picture else Place()
        self.open.append((tag, place))
        if self.box is None and "viewbox" in values:
            self.box = [float(part) for part in values["viewbox"].split()]

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        places = [at for at, (name, _) in enumerate(self.open) if name == tag]
        del self.open[places[-1] if places else len(self.open) :]

    def handle_data(self, data):
        tag, place = self.open[-1]
        if tag not in ("script", "style"):
            self.wrong += [f"the text {data!r}"] if WORD.search(data) else []
            if self.is_picture and tag in ("text", "tspan") and data.strip():
                self.measure(data.strip(), place)

    def placed(self, tag, values):
        """Where an element stands, by what is around it, the rules for it, and its attributes."""
        place = self.open[-1][1]
        styles = [body for selector, body in self.rules if matches(selector, tag, values)]
        styles += [f"{key}:{value}" for key, value in values.items() if key != "style"]
        styles.append(values.get("style", ""))
        for style in styles:
            if found := re.search(r"font-size:\s*([\d.]+)|font:[^;]*?([\d.]+)px", style):
                place = place._replace(font=float(found[1] or found[2]))
            if found := re.search(r"text-anchor:\s*(\w+)", style):
                place = place._replace(anchor=found[1])
        for name, one, other in re.findall(
            rf"(translate|scale)\(({NUMBER})[ ,]*({NUMBER})?\)", values.get("transform", "")
        ):
            if name == "scale":
                place = place._replace(scale=place.scale * float(one))
            else:
                place = moved(place, float(one), float(other or 0))
        at = [float(values.get(name) or 0) for name in "xy"] if tag in ("text", "tspan") else (0, 0)
        return moved(place, *at)

    def measure(self, text, place):
        wide = len(text) * LETTER * place.font * place.scale
        start = place.x - wide * {"start": 0, "middle": 0.5, "end": 1}[place.anchor]
        left, top, width, height = self.box
        if not (left <= start and start + wide <= left + width and top <= place.y <= top + height):
            self.wrong.append(
                f"the text {text!r} is outside, from {start:.0f} to {start + wide:.0f}"
            )


def matches(selector, tag, values):
    """Whether the last part of any of the selectors names the element; what is around is not
    looked at.
    """
    classes = set(values.get("class", "").split())
    for last in (each.split()[-1] for each in selector.split(",") if each.strip()):
        name, *wanted = re.split(r"[.>]", last)
        if name in ("", tag) and set(wanted) <= classes and (name or wanted):
            return True
    return False


def moved(place, x, y):
    return place._replace(x=place.x + x * place.scale, y=place.y + y * place.scale)


def wrong_in(content):
    return Shown(content).wrong


LONG = "a-bot-with-a-name:that=tells,all_its=options,of_which=there-are-many"
EVEN = [
    game_won_by(*(pair if deal % 2 else pair[::-1]), deal=deal, seating=seating)
    for pair in (("a", LONG), ("a", "c"), (LONG, "c"))
    for deal in range(12)
    for seating in (0, 1)
]
"""Three bots that are as good as each other."""
RUNS = {
    "both": [
        *EVEN, *games_won("top", "a", 12), *games_won("top", "low", 12), *games_won("a", "low", 12),
        *games_won("c", "lowest", 12), *games_won("low", "lowest", 12),
    ],
    "one-deal": games_won("a", LONG, 1),
    "even-deal": [
        *games_won("a", "low", 1), game_won_by("a", "b", deal=0, seating=0),
        game_won_by("b", "a", deal=0, seating=1),
    ],
    "duel": games_won("a", "b", 12),
    "chain": [*games_won("a", "b", 4), *games_won("b", "c", 4), *games_won("c", "d", 4)],
    "no-middle": [
        game for one, other in ("ab", "ac", "db", "dc") for game in games_won(one, other, 3)
    ],
    "nothing": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with runs of bots without a rating, and one without games in each."""
    folder = tmp_path_factory.mktemp("home")
    for name, games in RUNS.items():
        played = {bot for game in games for bot in game.bots} or {"a", "b"}
        write_run(folder / "results" / name, played | {"idle"}, games, deals=12, planned=played)
    return folder


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_we_ship_shows_no_figure_that_is_none_and_no_text_that_is_cut_off(path):
    assert wrong_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", RUNS)
def test_reports_and_pictures_of_bots_without_a_rating_show_only_what_is_known(home, name):
    run = home / "results" / name
    assert wrong_in(standings_picture(run_tables(run, read_run(run)), f"{name}: all games")) == []
    assert wrong_in(report_page(Run(run)).text) == []


def test_a_game_as_a_page_and_as_a_picture_shows_only_what_is_known(home):
    for record in (EVEN[0], game_of([LONG, "a", "b", LONG], faults=[(1, 3, "exit", "gone")])):
        assert wrong_in(animated_picture(record, built_in("bird"))) == []
    assert wrong_in(game_page(Run(home / "results" / "both"), EVEN[0])) == []


@pytest.mark.long
def test_the_served_pages_of_such_runs_show_only_what_is_known(home):
    server = Served(home)
    try:
        paths = ["/", "/bots", "/bots/careful", "/rules", "/play"]
        paths += [f"/runs/{run}{page}" for run in RUNS for page in ("", "/games", "/bots/a")]
        paths += [f"/runs/both/bots/{bot}" for bot in ("idle", "top", "low", quote(LONG))]
        paths.append(f"/runs/duel/games/{RUNS['duel'][0].id}")
        for path in paths:
            status, _, page = server.ask(path, cookie=server.cookie)
            assert (path, status, wrong_in(page)) == (path, 200, [])
    finally:
        server.close()


@pytest.mark.parametrize(
    "content",
    [
        '<svg viewBox="0 0 90 20"><text x="5" y="9">\xb1 nan</text></svg>',
        '<svg viewBox="0 0 90 20"><rect x="nan" y="1"/></svg>',
        '<svg viewBox="0 0 90 20"><path d="Mnan 3L4 5"/></svg>',
        '<svg viewBox="0 0 90 20"><g transform="translate(inf 0)"></g></svg>',
        '<svg viewBox="0 0 90 20"><text x="80" y="9">greedy</text></svg>',
        '<svg viewBox="0 0 90 20"><text x="9" y="9" text-anchor="end">greedy</text></svg>',
        '<svg viewBox="0 0 90 20"><text x="9" y="25">up</text></svg>',
        '<svg viewBox="0 0 9 9"><style>.t{font-size:9px}</style><text class="t" y="5">is</text>',
        '<svg viewBox="0 0 90 20"><g transform="translate(70 0)"><text y="9">greedy</text></g>',
        "<p>Elo: -inf</p>",
        "<p title='\u2212Infinity'>a</p>",
        '<script type="application/json">{"elo": NaN}</script>',
        '<script type="application/json">{"elo": [-Infinity]}</script>',
    ],
)
def test_what_should_not_be_shown_is_found(content):
    assert len(wrong_in(content)) == 1


@pytest.mark.parametrize(
    "content",
    [
        '<svg viewBox="0 0 200 20"><text x="1" y="9">inference</text></svg>',
        "<p>inf-bot, my_nan, financial</p>",
        "<script>Number.isNaN(Infinity)</script>",
        '<script type="application/json">["nan", "Infinity"]</script>',
    ],
)
def test_words_and_names_that_only_look_like_it_pass(content):
    assert wrong_in(content) == []
