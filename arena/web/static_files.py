"""The styles and scripts of the server's pages, as files that a browser loads once.

The name of a file contains a hash of its text. So a browser may keep it for good, and a page of a
newer server names other files. A page has the files of the bundle `COMMON`, and those of one more
bundle if it needs more.
"""

import gzip
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from arena.exports.report.page import every_script, every_style, read

PACKAGE = "arena.web"
"""The package whose templates, styles and scripts the server's pages use."""
FOLDER = "/static"
"""Where the files are on the server."""
COMMON = "arena"
"""The bundle of all pages. Its files begin with the styles and scripts of a report."""
BUNDLES: Mapping[str, tuple[str, ...]] = {
    COMMON: ("web.css", "stream.js", "live.js", "playon.js", "grade.js", "share.js"),
    "home": ("home.css",),
    "learn": (
        "play.css", "learn.css", "play_words.js", "play_rules.js", "play_placing.js",
        "play_overlay.js", "play_hand.js", "play_choosing.js", "play_effects.js", "play_grid.js",
        "learnt.js", "learn.js",
    ),
    "choose": ("play.css", "learn.css", "choose.css", "learnt.js", "play_warn.js", "newgame.js"),
    "play": (
        "play.css", "play_server.js", "play_words.js", "play_rules.js", "play_placing.js",
        "play_overlay.js", "play_hand.js", "play_choosing.js", "play_effects.js", "play_log.js",
        "play_tally.js", "play_looking.js", "play_end.js", "play_lesson.js", "play_sounds.js",
        "play_warn.js", "play_grid.js", "play.js",
    ),
}  # fmt: skip
"""The styles and scripts of this package in each bundle, by the bundle's name."""
MEDIA_TYPES = {"css": "text/css", "js": "text/javascript"}
"""The media type of a file by the end of its name."""
KEPT = {"cache-control": "public, max-age=31536000, immutable", "vary": "accept-encoding"}
"""The headers of a file: a browser need never ask for it again."""
HASH_DIGITS = 16
"""The number of hexadecimal digits of the hash in a file's name."""


class StaticFile(NamedTuple):
    """A file: its ``name``, its text as it is (``plain``) and compressed with gzip (``packed``),
    and its media type.
    """

    name: str
    plain: bytes
    packed: bytes
    media_type: str

    @property
    def address(self) -> str:
        """The address of the file on the server."""
        return f"{FOLDER}/{self.name}"

    @property
    def tag(self) -> str:
        """The entity tag. It is weak, because it stands for both forms of the text."""
        return f'W/"{self.name}"'


@cache
def file_of(bundle: str, kind: str) -> StaticFile | None:
    """The file with all styles (``kind`` ``css``) or all scripts (``js``) of a bundle; None if the
    bundle has none.
    """
    names = [name for name in BUNDLES[bundle] if name.endswith(f".{kind}")]
    texts = [read(name, PACKAGE) for name in names]
    if bundle == COMMON:
        texts.insert(0, every_style() if kind == "css" else every_script())
    if not texts:
        return None
    text = "\n".join(texts).encode()
    name = f"{bundle}.{sha256(text).hexdigest()[:HASH_DIGITS]}.{kind}"
    return StaticFile(name, text, gzip.compress(text, mtime=0), MEDIA_TYPES[kind])


def addresses_of(bundle: str, kind: str) -> tuple[str, ...]:
    """The addresses of the styles (``kind`` ``css``) or the scripts (``js``) of a page, with those
    of ``bundle`` after the common ones.
    """
    addresses = []
    for name in dict.fromkeys((COMMON, bundle)):
        file = file_of(name, kind)
        if file:
            addresses.append(file.address)
    return tuple(addresses)


@cache
def _every_file() -> dict[str, StaticFile]:
    """All files by their names."""
    files = {}
    for bundle, kind in product(BUNDLES, MEDIA_TYPES):
        file = file_of(bundle, kind)
        if file:
            files[file.name] = file
    return files


def static_file(request: Request) -> Response:
    """The file that the address names, compressed if the browser takes that. Raises HTTPException
    if there is no such file.
    """
    file = _every_file().get(request.path_params["name"])
    if file is None:
        raise HTTPException(404, "no such file here")
    headers = {**KEPT, "etag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    if not takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(file.plain, headers=headers, media_type=file.media_type)
    packed = {**headers, "content-encoding": "gzip"}
    return Response(file.packed, headers=packed, media_type=file.media_type)


def takes_gzip(accepted: str) -> bool:
    """Whether a client that sent this header Accept-Encoding takes text compressed with gzip."""
    for coding in accepted.split(","):
        name, _, weight = coding.partition(";")
        if name.strip().lower() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


ROUTES = [Route(f"{FOLDER}/{{name}}", static_file)]
