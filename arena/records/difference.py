"""A difference: a place in a run's folder that does not say what it should."""

from typing import NamedTuple


class Difference(NamedTuple):
    """``line`` counts from 1, None if the file has no lines; ``field`` is what differs; the other
    two are shown to the user unchanged.
    """

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
    """The text, shortened in the middle if it is long."""
    return (
        text
        if len(text) <= most
        else f"{text[: most // 2]}...{text[-most // 2 :]} ({len(text)} characters)"
    )
