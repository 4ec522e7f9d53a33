"""The ladder: the bots that come with the arena, to play against from the first minute."""

from pathlib import Path

import arena
from arena.players.manifest import FILE

NAMES = (
    "random-python",
    "first-js",
    "greedy-python",
    "careful-python",
    "lookahead-python",
    "flatmc-python",
    "ismcts-python",
)
"""From weak to strong. Only these: in a checkout ``arena/ladder`` is a link to ``bots/``, where a
developer's own bots lie too.
"""
FOLDER = Path(arena.__file__).parent / "ladder"


def ladder() -> dict[str, Path]:
    """The folder of each bot of the ladder by its name."""
    return {name: FOLDER / name for name in NAMES if (FOLDER / name / FILE).is_file()}
