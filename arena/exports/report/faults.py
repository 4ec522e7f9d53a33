"""The faults of a run: how often each bot committed each kind, and the evidence of the latest."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from arena.exports.report.evidence import read_evidence
from arena.exports.report.material import Material
from arena.exports.report.scan import Forfeited

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
    evidence = read_evidence(folder, forfeited)
    said = {
        "game": forfeited.id,
        "bot": forfeited.bot,
        "seat": fault.seat,
        "turn": fault.turn,
        "kind": fault.kind,
        "detail": fault.detail,
    }
    return said | {"evidence": evidence}
