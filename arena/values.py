"""The values of bots' options and of time limits, as they are written in a bot.toml, in a label, in
run.json and in messages to bots.
"""

import re
from typing import Literal

Value = int | float | bool | str
"""The value of a bot's option."""
OPTION_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}", re.ASCII)
"""What the name of an option looks like."""
MAX_MS = 86_400_000
"""The longest time limit, in ms: one day."""
ClockKind = Literal["cpu", "wall"]
"""The clock that measures the time for an answer: ``cpu`` for the CPU time of the bot's processes,
or ``wall`` for the wall clock.
"""


def value_text(value: Value) -> str:
    """The value of an option in its shortest form, as it stands in a label: ``true``, ``7``,
    ``0.5``. The exponent of a float has no ``+``, because that sign joins names in the ids of
    games.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    digits, exponent_sign, exponent = repr(value).removesuffix(".0").partition("e")
    return f"{digits}e{int(exponent)}" if exponent_sign else digits
