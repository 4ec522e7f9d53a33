"""What protocol/pictures/ and docs/pictures/game.svg are made of: the positions that RULES.md
shows, and games from the vectors.
"""

import re

from arena.exports.pictures.board import before_after_picture, board_picture, forbidden_picture
from arena.exports.pictures.tiles import pair_of
from arena.rules.notation import PASS, parse_move
from tests.protocol.vectors import FOLDER, deal, lines, position_state

PROTOCOL = FOLDER.parent
PICTURES = PROTOCOL / "pictures"
DOCS = PROTOCOL.parent / "docs" / "pictures"
GAMES = {PICTURES / "game.svg": ("bird-2-greedy", 6), DOCS / "game.svg": ("lion-4-greedy", 1)}
"""Which game each of the larger pictures shows, and how many moves before its end."""


def shown():
    """The positions that RULES.md shows, by name."""
    text = (PROTOCOL / "RULES.md").read_text(encoding="utf-8")
    return [name for name in re.findall(r"\]\(pictures/([\w-]+)\.svg\)", text) if name != "game"]


def made():
    """Every picture by its path."""
    positions = {line["name"]: line for line in lines("positions")}
    games = {line["name"]: line for line in lines("games")}
    pictures = {PICTURES / f"{name}.svg": position_picture(positions[name]) for name in shown()}
    return pictures | {
        path: game_picture(games[name], before_end) for path, (name, before_end) in GAMES.items()
    }


def position_picture(line):
    """Before and after, or where the tile may not lie."""
    before = position_state(line)
    move = parse_move(before.board, line["move"])
    if "illegal" in line:
        return forbidden_picture(before, line["about"], move)
    after = before.copy()
    after.play(move)
    return before_after_picture(before, after, line["about"], move)


def game_picture(line, before_end):
    """A game some moves before its end."""
    state, tiles, last = deal(line), [], PASS
    for text in line["moves"][: len(line["moves"]) - before_end]:
        last = parse_move(state.board, text)
        tiles += pair_of(state.board, last)
        state.play(last)
    players = {2: "two", 3: "three", 4: "four"}[state.players]
    return board_picture(
        state,
        f"a game of {players} players on {line['name'].split('-')[0]} after {state.turns} tiles",
        tiles,
        last,
    )


def write():
    """Makes the files anew, and removes those that nothing shows any more."""
    pictures = made()
    for path, text in pictures.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for path in PICTURES.glob("*.svg"):
        if path not in pictures:
            path.unlink()
