"""The characters that intervals and gauges are drawn with."""

from collections.abc import Callable
from typing import NamedTuple


class Pen(NamedTuple):
    """The characters of an interval, and ``paint(text, what)``, which may colour it; ``what`` is
    ``head``, ``bar`` or ``zero``.
    """

    line: str = "─"
    start: str = "├"
    end: str = "┤"
    dot: str = "●"
    down: str = "◄"
    up: str = "►"
    zero: str = "┊"
    paint: Callable[[str, str], str] = lambda text, _: text


ASCII = Pen("-", "|", "|", "o", "<", ">", ":")
