"""The evidence of faults, shortened to fit a page."""

from pathlib import Path
from typing import Any

import msgspec

from arena.errors import RunError
from arena.exports.report.scan import Forfeited
from arena.exports.report.words import shortened
from arena.records.evidence import evidence_name
from arena.records.regular import read_regular

MOST_LINES, LINE_LENGTH, STDERR_LENGTH = 8, 480, 3000


def read_evidence(run: Path, forfeited: Forfeited) -> dict[str, Any] | None:
    """The evidence of a fault with its last lines shortened; None if there is no such file, or if
    it is outside the run.
    """
    name = evidence_name(forfeited.id, forfeited.fault.seat)
    try:
        content = msgspec.json.decode(read_regular(run, name))
        lines = [_line(*line) for line in content["lines"]]
        return {
            "path": name,
            "ending": str(content["ending"]),
            "lines": lines[-MOST_LINES:],
            "left_out": max(len(lines) - MOST_LINES, 0),
            "stderr": shortened(str(content["stderr"]), STDERR_LENGTH),
        }
    except (
        OSError,
        RunError,
        msgspec.DecodeError,
        RecursionError,
        KeyError,
        TypeError,
        ValueError,
    ):
        return None


def _line(way: str, at_ms: float, text: str) -> dict[str, Any]:
    return {"way": str(way), "at": float(at_ms), "text": shortened(str(text), LINE_LENGTH)}
