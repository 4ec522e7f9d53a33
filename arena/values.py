"""What the value of a bot's option and a time limit can be, wherever one is written: in a bot.toml,
in the name of a bot, in run.json and in the messages to bots.
"""

import re
from typing import Literal

Value = int | float | bool | str
"""The value of a bot's option."""
OPTION_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}", re.ASCII)
MAX_MS = 86_400_000
"""The longest time limit, in ms: one day."""
ClockKind = Literal["cpu", "wall"]
"""How the time of an answer is measured: as CPU time of the bot's processes, or by the wall clock.
"""


def value_text(value: Value) -> str:
    """A value in its shortest form, without a ``+``, which joins names in the ids of games."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    digits, exponent_sign, exponent = repr(value).removesuffix(".0").partition("e")
    return f"{digits}e{int(exponent)}" if exponent_sign else digits
