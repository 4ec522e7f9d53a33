"""What a record says of the machine that a game was played on: its name, and on a cluster its speed."""

import re

SPEED = re.compile(r"(.*) @ ([1-9][0-9]{0,8})/s", re.DOTALL)


def host_text(name: str, speed: int) -> str:
    """``name @ 1200/s``."""
    return f"{name} @ {speed}/s"


def split_host(text: str) -> tuple[str, int | None]:
    """The name, and the speed if it was measured."""
    found = SPEED.fullmatch(text)
    return (found[1], int(found[2])) if found else (text, None)
