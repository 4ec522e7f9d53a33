"""A picture of standings for the README: a row for each bot, its rating with the error bar, light
or dark as the page is.
"""

from markupsafe import Markup

from arena.exports.report.scales import linear
from arena.exports.report.svg import element

WIDTH, TOP, ROW, LEFT, RIGHT, ELO, FOOT = 820, 62, 34, 250, 590, 705, 44
STYLE = """
svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
font-variant-numeric:tabular-nums}
.page{fill:#fff;stroke:#dcd7cb}.ink{fill:#20242c;font-size:14px}.name{font-weight:600}
.title{fill:#20242c;font-size:17px;font-weight:600}
.muted{fill:#575e6b;font-size:12px}.grid{stroke:#e6e2d8}.zero{stroke:#8b8778}.stripe{fill:#f7f5f0}
.bar{stroke:#0d6570;stroke-width:2.5;stroke-linecap:round}.dot{fill:#0d6570}.reach{fill:#c9e2e2}
@media(prefers-color-scheme:dark){
.page{fill:#15181d;stroke:#353b46}.ink,.title{fill:#e9e7e2}.muted{fill:#a9b0bc}
.grid{stroke:#2e343e}
.zero{stroke:#6d7583}.stripe{fill:#1c2027}.bar{stroke:#7cc9cf}.dot{fill:#7cc9cf}
.reach{fill:#24474c}}
"""


def standings_picture(tables, title):
    """The standings as an SVG file."""
    rows = list(tables.standings.itertuples())
    height = TOP + ROW * len(rows) + FOOT
    ends = [end for row in rows for end in (row.elo_low, row.elo, row.elo_high)]
    scale = linear(ends, LEFT, RIGHT, count=5)
    parts = [
        element("style", Markup(STYLE)),
        element("rect", class_="page", x=0.5, y=0.5, width=WIDTH - 1, height=height - 1, rx=12),
        text(24, 30, title, "title"),
        *(text(x, 52, label, "muted", anchor) for x, label, anchor in HEADS),
        *(stripe(number) for number in range(0, len(rows), 2)),
        *(grid(scale, tick, height) for tick in scale.ticks),
        *(
            part
            for number, row in enumerate(rows)
            for part in drawn_row(scale, row, TOP + ROW * number + ROW / 2)
        ),
    ]
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {WIDTH} {height}",
        "width": WIDTH,
        "height": height,
    }
    return element("svg", *parts, role="img", aria_label=title, **attributes) + "\n"


HEADS = (
    (24, "rank", "start"),
    (68, "bot", "start"),
    ((LEFT + RIGHT) / 2, "Elo, with 95 % error bars", "middle"),
    (ELO, "Elo", "end"),
    (WIDTH - 24, "share of wins", "end"),
)


def text(x, y, words, class_, anchor="start"):
    return element("text", words, class_=class_, x=x, y=y, text_anchor=anchor)


def stripe(number):
    return element(
        "rect", class_="stripe", x=12, y=TOP + ROW * number, width=WIDTH - 24, height=ROW, rx=6
    )


def grid(scale, tick, height):
    line = element(
        "line",
        class_="grid" if tick else "zero",
        x1=scale(tick),
        x2=scale(tick),
        y1=TOP,
        y2=height - FOOT + 6,
    )
    return line + text(
        scale(tick), height - FOOT + 24, f"{tick:+.0f}" if tick else "0", "muted", "middle"
    )


def drawn_row(scale, row, middle):
    """The parts of a bot's row."""
    low, high = scale(row.elo_low), scale(row.elo_high)
    ranks = f"{row.rank_low}-{row.rank_high}" if row.rank_low < row.rank_high else str(row.rank_low)
    return [
        text(24, middle + 5, ranks, "ink"),
        text(68, middle + 5, row.bot, "ink name"),
        element("rect", class_="reach", x=low, y=middle - 7, width=high - low, height=14, rx=4),
        element("line", class_="bar", x1=low, x2=high, y1=middle, y2=middle),
        element("circle", class_="dot", cx=scale(row.elo), cy=middle, r=5),
        text(
            ELO,
            middle + 5,
            f"{row.elo:+.0f} ± {(row.elo_high - row.elo_low) / 2:.0f}".replace(
                "-", "\N{MINUS SIGN}"
            ),
            "ink",
            "end",
        ),
        text(WIDTH - 24, middle + 5, f"{100 * row.win_rate:.0f} %", "ink", "end"),
    ]
