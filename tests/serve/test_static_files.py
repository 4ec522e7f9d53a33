"""The styles and scripts of pages: files that a browser loads once and keeps."""

import gzip
import re

import pytest

from arena.exports.report.report_page import report_page
from arena.tournament.run import Run
from arena.web.static_files import takes_gzip
from tests.exports.runs import duels

FILES = re.compile('<link rel="stylesheet" href="([^"]+)">|<script src="([^"]+)"></script>')


def files_of(text):
    return [style or script for style, script in FILES.findall(text)]


def test_pages_name_files_that_are_kept_for_good(served):
    game = duels("abc", 2)[0].id
    paths = ("/", "/learn", "/play", "/runs/done", "/runs/done/report", f"/runs/done/games/{game}")
    for path in paths:
        _, headers, body = served.fetch(path)
        text = body.decode()
        files = files_of(text)
        assert files[0].startswith("/static/arena."), path
        assert "<style" not in text.replace('<style id="graph"', "")
        assert re.search(r"<script>|<script (?!src=|type=\"application/json\")", text) is None, path
        policy = headers["content-security-policy"]
        assert "style-src 'self'; script-src 'self'" in policy
        for file in files:
            status, about, content = served.fetch(file)
            assert (status, about["cache-control"]) == (200, "public, max-age=31536000, immutable")
            kind = "text/css" if file.endswith(".css") else "text/javascript"
            assert about["content-type"] == f"{kind}; charset=utf-8"
            assert len(content) > 100
    assert served.fetch("/")[1]["cache-control"] == "no-store"


def test_pages_and_their_files_are_compressed_for_whoever_takes_that(served):
    for path in ("/", *files_of(served.fetch("/")[2].decode())):
        _, headers, plain = served.fetch(path)
        assert "content-encoding" not in headers
        status, headers, body = served.fetch(path, **{"accept-encoding": "br, gzip"})
        assert (status, headers["content-encoding"]) == (200, "gzip")
        assert headers["vary"] == "accept-encoding"
        assert gzip.decompress(body) == plain
        assert len(body) < len(plain) / 2


def test_a_file_that_a_browser_has_is_not_sent_again(served):
    [file, *_] = files_of(served.fetch("/")[2].decode())
    tag = served.fetch(file)[1]["etag"]
    status, _, body = served.fetch(file, **{"if-none-match": tag})
    assert (status, body) == (304, b"")
    assert served.fetch(file, **{"if-none-match": 'W/"other"'})[0] == 200


def test_only_the_files_of_pages_are_served(served):
    for name in ("arena.css", "page.js", "..%2fhome.py", "arena.0000000000000000.css"):
        assert served.fetch(f"/static/{name}")[0] == 404


@pytest.mark.parametrize(
    ("accepted", "takes"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("br", False),
        ("", False),
        ("x-gzip-not", False),
    ],
)
def test_gzip_is_sent_only_to_whoever_asked_for_it(accepted, takes):
    assert takes_gzip(accepted) is takes


def test_a_report_in_a_file_still_contains_all_that_it_needs(home):
    text = report_page(Run(home / "results" / "done")).text
    assert files_of(text) == []
    assert "/static/" not in text
    assert "<style>" in text
    assert "style-src &#39;sha256-" in text
