"""Pages and parts of pages, as answers: the report's templates, with links to the other pages."""

from collections.abc import Mapping
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse

from arena import __version__
from arena.exports.report.page import Setting, policy_of, read, render

PACKAGE = "arena.web"
PARTS = (
    "progress", "standings", "lead", "versions", "ended", "pairs", "convergence", "faults",
    "reading", "rules",
)  # fmt: skip
"""The parts of the page of a run that change, from its top to its end: each is a template of this
package or of the report.
"""
MOST_DIGITS = 7
STYLE, SCRIPTS = "web.css", ("live.js",)
# The one policy for trusted types is that of live.js, for parts of pages that come from here.
POLICY = "connect-src 'self'; form-action 'self'; trusted-types arena"


class SitePages:
    """The addresses of a run's pages on the server; see `report.addresses.Addresses`."""

    def __init__(self, run: str) -> None:
        self.run = f"/runs/{quote(run, safe='')}"

    def bot(self, name: str) -> str:
        """The page of a bot in the run."""
        return f"{self.run}/bots/{quote(name, safe='')}"

    def games(self, bots: list[str], page: int = 1) -> str:
        """The games of some bots."""
        asked = urlencode({"bot": bots, **({"page": page} if page > 1 else {})}, doseq=True)
        return f"{self.run}/games?{asked}"

    def meeting(self, name: str, other: str) -> str:
        """The games of two bots."""
        return self.games([name, other])

    def id_of_meeting(self, name: str, other: str) -> str:
        """The id of the row that tells of them."""
        return f"vs-{quote(name, safe='')}-{quote(other, safe='')}"

    def more(self, name: str) -> str:  # noqa: ARG002
        """No command is needed: all games are here."""
        return ""

    def game(self, name: str, turn: int = 0) -> str:
        """The page of a game, after so many placements."""
        place = f"#{urlencode({'game': name, 'turn': turn})}" if turn else ""
        return f"{self.run}/games/{quote(name)}{place}"


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    status: int = 200,
    *,
    further: tuple[str, ...] = (),
) -> HTMLResponse:
    """A page made from a template of this package or of the report, with ``further`` styles and
    scripts of this package.
    """
    has_play = request.app.state.site.open_games is not None
    setting = setting_of_pages(further, has_play=has_play)
    shown = {"version": __version__, "may_change": request.state.may_change, **values}
    return answer(render(template, shown, setting), setting, status)


def answer(text: str, setting: Setting, status: int = 200) -> HTMLResponse:
    """A page with the policy of its kind, and never in a frame."""
    policy = f"{policy_of(setting)}; frame-ancestors 'none'"
    return HTMLResponse(text, status, {"content-security-policy": policy})


@cache
def setting_of_pages(further: tuple[str, ...] = (), *, has_play: bool = False) -> Setting:
    """What the pages served here have beyond those of reports."""
    play = (("/play", "Play"),) if has_play else ()
    links = (("/", "Runs"), ("/bots", "Bots"), *play, ("/rules", "Rules"))
    style, *styles = (read(name, PACKAGE) for name in (STYLE, *_named(further, ".css")))
    scripts = tuple(read(name, PACKAGE) for name in (*SCRIPTS, *_named(further, ".js")))
    return Setting(PACKAGE, "\n".join([style, *styles]), scripts, POLICY, links)


def _named(files: tuple[str, ...], ending: str) -> list[str]:
    return [name for name in files if name.endswith(ending)]


def whole_number(text: str) -> int | None:
    """The number that stands in an address or a form; None for anything else, and for long ones."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS
    return int(text) if is_number else None
