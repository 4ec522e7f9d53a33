"""A difference: a place in a run's folder that does not say what it should."""

from typing import NamedTuple


class Difference(NamedTuple):
    """``line`` counts from 1, None where a file has none; ``field`` is what differs there; the others are shown as they are."""

    file: str
    line: int | None
    field: str
    expected: str
    got: str

    def __str__(self) -> str:
        """One line for people."""
        place = ", ".join([self.file, *([f"line {self.line}"] if self.line else []), self.field])
        return f"{place}: expected {short(self.expected)}, got {short(self.got)}"


def short(text: str, most: int = 160) -> str:
    """The text, its middle left out when it is long."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-most // 2 :]} ({len(text)} characters)"
