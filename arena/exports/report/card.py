"""The picture of a report that a chat shows beside its address: who leads, and the best game."""

from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from textwrap import wrap
from typing import cast

from arena.errors import ArenaError, printable
from arena.exports.pictures.film import Film
from arena.exports.pictures.ground import framed, size
from arena.exports.pictures.parts import picture_file
from arena.match.replay import replay, start_state
from arena.records.record import GameRecord
from arena.rules.boards import Board

WIDTH, HEIGHT, EDGE = 1200, 630, 40
"""What chats crop least."""
SIDE = HEIGHT - 2 * EDGE
TEXT_END = WIDTH - SIDE - 2 * EDGE
SANS = "'Liberation Sans','DejaVu Sans',Arial,Helvetica,sans-serif"
STYLE = (
    f".c-brand,.c-said,.c-bot,.c-elo,.c-facts,.c-place{{font-family:{SANS};fill:#20242c}}"
    ".c-brand{font-size:22px;font-weight:700;fill:#0d6570}"
    ".c-name{font:700 44px 'Liberation Serif','DejaVu Serif',serif;fill:#20242c}"
    ".c-said{font-size:25px}.c-bot{font-size:25px;font-weight:700}"
    ".c-elo,.c-facts{font-size:21px;fill:#575e6b}.c-elo{text-anchor:end}"
    ".c-place{font-size:20px;font-weight:700;text-anchor:middle}"
)
MEDALS = ("#f2c14e", "#cdd3da", "#cfa77c")
NAME_LETTERS, SAID_LETTERS, SAID_LINES, BOT_LETTERS = 22, 40, 4, 20


def card_of(
    name: str,
    facts: str,
    sentences: Sequence[str],
    podium: Sequence[tuple[int, str, str]],
    record: GameRecord | None,
    board: Board | None,
) -> str:
    """The card as an SVG file: the run's name and ``facts``, what its table says, the ``podium`` of
    the page, and the end of a game.
    """
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#f7f5f0"/>',
        _text("brand", 78, "qin-arena"),
        _text("name", 134, _cut(name, NAME_LETTERS)),
        *_said(" ".join(sentences)),
        *_podium(podium),
        _text("facts", HEIGHT - EDGE - 4, facts),
        _last_position(record, board) if record and board else "",
    ]
    return picture_file((WIDTH, HEIGHT), printable(f"{name}: {facts}"), "".join(parts), STYLE)


def png_of(card: str) -> bytes | None:
    """The card as a PNG, which is what chats show; None without the library."""
    try:
        library = import_module("resvg_py")
    except ImportError:
        return None
    return cast("bytes", library.svg_to_bytes(svg_string=card, width=WIDTH, height=HEIGHT))


def has_letters() -> bool:
    """Whether the library finds a font on this machine: without one it leaves all text out."""
    blank = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
    return png_of(blank.format('<text y="16">A</text>')) != png_of(blank.format(""))


def _text(kind: str, y: int, words: str, x: int = EDGE) -> str:
    return f'<text class="c-{kind}" x="{x}" y="{y}">{escape(printable(words))}</text>'


def _cut(words: str, most: int) -> str:
    shown = printable(words)
    return shown if len(shown) <= most else f"{shown[: most - 1]}\u2026"


def _said(words: str) -> Iterator[str]:
    lines = wrap(printable(words), SAID_LETTERS, max_lines=SAID_LINES, placeholder=" \u2026")
    return (_text("said", 186 + 33 * at, line) for at, line in enumerate(lines))


def _podium(places: Sequence[tuple[int, str, str]]) -> Iterator[str]:
    for at, (rank, bot, elo) in enumerate(places[: len(MEDALS)]):
        y = 350 + 72 * at
        yield (
            f'<rect x="{EDGE}" y="{y}" width="{TEXT_END - EDGE}" height="60" rx="12" fill="#fff"'
            f' stroke="#dcd7cb"/><circle cx="{EDGE + 34}" cy="{y + 30}" r="19"'
            f' fill="{MEDALS[min(rank, len(MEDALS)) - 1]}"/>'
        )
        yield _text("place", y + 37, f"{rank}", EDGE + 34)
        yield _text("bot", y + 39, _cut(bot, BOT_LETTERS), EDGE + 68)
        yield _text("elo", y + 38, elo, TEXT_END - 16)


def _last_position(record: GameRecord, board: Board) -> str:
    """The board at the end of the game, to the right."""
    film = Film(board)
    film.add(start_state(record, board))
    try:
        for step in replay(record, board):
            film.add(step.state, step.move)
    except ArenaError:
        return ""
    shown = sorted(film.frames[-1], key=lambda number: film.elements[number].layer)
    width, height = size(board)
    scale = SIDE / max(width, height)
    x, y = WIDTH - EDGE - width * scale, (HEIGHT - height * scale) / 2
    return (
        f'<g transform="translate({x:.1f} {y:.1f}) scale({scale:.4f})">'
        f"{framed(board, ''.join(str(film.elements[number]) for number in shown))}</g>"
    )
