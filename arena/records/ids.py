"""The ids of a journal's games, stored in about one bit each."""

from collections.abc import Iterable, Iterator

DIGITS = 4


class Ids:
    """A set of ids that is exact for any text, and small when ids are
    ``board/line-up/deal/seating`` with many deals.

    Ids that differ only in the last digits of the deal share a page: an int with one bit for each.
    A million games take about ten megabytes at most, and a few kilobytes if every line-up plays all
    deals. Any other text is stored as it is.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._pages: dict[tuple[str, str, int, str], int] = {}
        self._others: set[str] = set()
        for name in ids:
            self.add(name)

    def add(self, name: str) -> bool:
        """Adds an id; False when it was there before."""
        page, bit = _place(name)
        if not bit:
            is_new = name not in self._others
            self._others.add(name)
            return is_new
        bits = self._pages.get(page, 0)
        self._pages[page] = bits | bit
        return not bits & bit

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        page, bit = _place(name)
        return bool(self._pages.get(page, 0) & bit) if bit else name in self._others

    def __iter__(self) -> Iterator[str]:
        for (line_up, deal, digits, seating), bits in self._pages.items():
            rest = bits
            while rest:
                last = (rest & -rest).bit_length() - 1
                yield f"{line_up}/{deal}{last:0{digits}}/{seating}"
                rest &= rest - 1
        yield from self._others

    def __len__(self) -> int:
        return len(self._others) + sum(bits.bit_count() for bits in self._pages.values())


def _place(name: str) -> tuple[tuple[str, str, int, str], int]:
    """The page of an id and its bit on that page, 0 if it has none. Page and bit together determine
    the id exactly.
    """
    line_up, *rest = name.rsplit("/", 2)
    if len(rest) == 2:  # noqa: PLR2004 - the deal and the seating
        deal, seating = rest
        last = deal[-DIGITS:]
        if last.isdecimal() and last.isascii():
            return (line_up, deal[:-DIGITS], len(last), seating), 1 << int(last)
    return ("", "", 0, ""), 0
