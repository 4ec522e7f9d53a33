"""The faults of a run: how often each bot committed each kind, and the evidence of the latest,
shortened to fit a page.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec

from arena.errors import RunError
from arena.exports.report.material import Material
from arena.exports.report.scan import Forfeited
from arena.exports.report.words import shortened
from arena.records.evidence import evidence_name
from arena.records.regular import read_regular

MOST_LINES, LINE_LENGTH, STDERR_LENGTH = 8, 480, 3000
EACH, ALL = 2, 40
"""The number of faults per bot and kind, and in total, whose evidence is shown."""


def faults(material: Material) -> dict[str, Any]:
    """One row per bot and kind of fault, most frequent first, with the evidence of its latest
    faults on finished deals.
    """
    groups: defaultdict[tuple[str, str], list[Forfeited]] = defaultdict(list)
    for forfeited in material.scan.faults:
        groups[forfeited.bot, forfeited.fault.kind].append(forfeited)
    games = material.scan.games_of()
    rows, room = [], ALL
    for (bot, kind), found in sorted(groups.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        shown = [
            forfeited for forfeited in reversed(found) if not material.is_open[forfeited.game]
        ][: min(EACH, room)]
        room -= len(shown)
        rows.append(
            {
                "bot": bot,
                "kind": kind,
                "count": len(found),
                "games": games[bot],
                "share": len(found) / max(games[bot], 1),
                "shown": [fault_object(material.folder, forfeited) for forfeited in shown],
            }
        )
    return {"rows": rows, "total": len(material.scan.faults), "evident": ALL - room}


def fault_object(folder: Path, forfeited: Forfeited) -> dict[str, Any]:
    """A fault with its evidence."""
    fault = forfeited.fault
    return {
        "game": forfeited.id,
        "bot": forfeited.bot,
        "seat": fault.seat,
        "turn": fault.turn,
        "kind": fault.kind,
        "detail": fault.detail,
        "evidence": _evidence(folder, forfeited),
    }


def _evidence(run: Path, forfeited: Forfeited) -> dict[str, Any] | None:
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
