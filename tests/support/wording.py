"""The words that people read, compared with the snapshot of a test: better words change a snapshot
and no test. ``make snapshots`` writes the snapshots anew.

A plugin of pytest, so that its assertions tell what differs; loaded by tests/conftest.py.
"""

import re
import sys
from contextlib import contextmanager
from tempfile import gettempdir

import pytest

MESSAGE = re.compile(r"(error|warning|note|hint|next): ")
"""How each message begins that a command writes to stderr."""


def messages(err):
    """The messages in what a command wrote to stderr, without what it tells about its progress.
    The lines of a message after the first are indented. Fails if there is no message.
    """
    kept = []
    in_message = False
    for line in err.splitlines():
        in_message = bool(MESSAGE.match(line)) or (in_message and line.startswith(" "))
        if in_message:
            kept.append(line)
    assert kept, f"no message in {err!r}"
    return "\n".join(kept)


def lines_with(text, name):
    """The lines of a text that name something, such as a bot, an option or a number, and none of
    the others, which may tell times and chances. Fails if no line has the name.
    """
    found = [line for line in text.splitlines() if name in line]
    assert found, f"no line with {name!r} in {text!r}"
    return "\n".join(found)


def without_figures(text):
    """The text with N for every number and every range of numbers, and T for every duration: for
    texts whose figures differ from run to run, or are tested separately.
    """
    number = r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?\b"
    text = re.sub(rf"(?:{number} (?:days?|h|min|s|ms)\b ?)+", _duration, text)
    text = re.sub(number, "N", text)
    return re.sub(r"\b([NT]) to \1\b", r"\1", text)


def _duration(found):
    return "T " if found[0].endswith(" ") else "T"


@pytest.fixture
def snapshot(snapshot, tmp_path_factory):
    """Syrupy's snapshot of the test, without what another machine or another run has otherwise."""
    folders = [re.escape(str(place)) for place in (tmp_path_factory.getbasetemp(), gettempdir())]
    hidden = {
        re.escape(sys.prefix): "VENV",  # before the folders: a checkout may lie in one of them
        rf"(?:{'|'.join(folders)})/[^/\s'\":]+": "TMP",
        r"\b20\d\d-\d\d-\d\d\b": "DATE",
        r"\b0x[0-9a-f]{6,}": "ADDRESS",
        r"(?<=127\.0\.0\.1:)\d{4,}": "PORT",
        r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{12,64}\b": "HASH",
    }

    def without_chance(data, path):
        if isinstance(data, str):
            for pattern, name in hidden.items():
                data = re.sub(pattern, name, data)
        return data

    return snapshot.with_defaults(matcher=without_chance)


@pytest.fixture
def refused(snapshot):
    """Like `pytest.raises`, for an exception whose words are in the snapshot, with its hint."""

    @contextmanager
    def check(kind):
        with pytest.raises(kind) as caught:
            yield caught
        text = str(caught.value)
        hint = getattr(caught.value, "hint", "")
        assert (f"{text}\nhint: {hint}" if hint else text) == snapshot

    return check
