"""Pages and parts of pages, as answers: the report's templates, with links to the other pages."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse

from arena import __version__
from arena.exports.report.page import Setting, policy_of, read, render

PACKAGE = "arena.web"
STYLE, SCRIPTS = "web.css", ("live.js",)
# The one policy for trusted types is that of live.js, for parts of pages that come from here.
POLICY = "connect-src 'self'; form-action 'self'; trusted-types arena"


def page(
    request: Request, template: str, values: Mapping[str, Any], status: int = 200
) -> HTMLResponse:
    """A page made from a template of this package or of the report."""
    setting = setting_of_pages()
    shown = {"version": __version__, "may_change": request.state.may_change, **values}
    return answer(render(template, shown, setting), setting, status)


def answer(text: str, setting: Setting, status: int = 200) -> HTMLResponse:
    """A page with the policy of its kind, and never in a frame."""
    policy = f"{policy_of(setting)}; frame-ancestors 'none'"
    return HTMLResponse(text, status, {"content-security-policy": policy})


@cache
def setting_of_pages() -> Setting:
    """What the pages served here have beyond those of reports."""
    links = (("/", "Runs"), ("/rules", "Rules"))
    return Setting(
        PACKAGE, read(STYLE, PACKAGE), tuple(read(name, PACKAGE) for name in SCRIPTS), POLICY, links
    )
