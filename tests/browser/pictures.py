"""Pictures of pages beside stored ones, which `make golden` writes anew.

Fonts differ from machine to machine, so no picture shows a letter. Edges differ a little from one
Chromium to the next: pixelmatch leaves out what is anti-aliased, and a small share of the other
pixels may differ.
"""

import os
from io import BytesIO
from pathlib import Path

from PIL import Image
from pixelmatch.contrib.PIL import pixelmatch

STORED = Path(__file__).with_name("pictures")
KEPT = Path(__file__).parents[2] / "build" / "pictures"
MAX_DIFFERENT = 0.004
"""Of the pixels. A tile is more than 0.01 of a board."""
ROUNDING = 2
"""Pixels by which one Chromium makes a long page higher than the next."""
COLOURS = 256
MAX_BYTES = 60_000
NO_LETTERS = """
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`body, body * { font-size: 0 !important } svg text { fill: none !important }
      * { animation: none !important; transition: none !important }
      :focus-visible, :focus { outline: none !important }
      .field { position: static !important }`);
    document.adoptedStyleSheets = [sheet];
"""
"""Without its letters a page has the same layout with any font, since its sizes are in rem. A board
that sticks would move by a part of a pixel.
"""


def difference(one, other):
    """The share of pixels that differ, and a picture of them; all if the sizes differ by more than
    what a Chromium rounds. It may have rounded at the top, and all below has moved.
    """
    apart = max(abs(a - b) for a, b in zip(one.size, other.size, strict=True))
    if apart > ROUNDING:
        return 1.0, one
    tries = [compared(one, other, down) for down in range(-apart, apart + 1)]
    return min(tries, key=lambda found: found[0])


def compared(one, other, down):
    """The same where the first picture lies so many pixels lower than the other."""
    one, other = (
        picture.crop((0, max(0, cut), *picture.size))
        for picture, cut in ((one, down), (other, -down))
    )
    common = (0, 0, *map(min, one.size, other.size))
    one, other = one.crop(common), other.crop(common)
    shown = Image.new("RGBA", one.size)
    count = pixelmatch(one, other, shown, threshold=0.15)
    return count / (one.width * one.height), shown


def check_picture(name, png):
    """Compares a picture with the stored one; what differs is kept for a look."""
    path, drawn = STORED / f"{name}.png", Image.open(BytesIO(png)).convert("RGBA")
    if os.environ.get("ARENA_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        drawn.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    stored = Image.open(path).convert("RGBA")
    share, shown = difference(drawn, stored)
    if share <= MAX_DIFFERENT:
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    drawn.save(KEPT / f"{name}.png")
    shown.save(KEPT / f"{name}-difference.png")
    raise AssertionError(
        f"{share:.1%} of {name} differ from {path}: look at {KEPT}/{name}.png and"
        f" {name}-difference.png; 'make golden' writes it anew"
    )
