"""What protocol/pictures/ and docs/pictures/game.svg are made of: the positions that RULES.md
shows, and games from the vectors.
"""

import re

from arena.exports.report.animation import animated_picture
from arena.exports.scene import pair_of
from arena.records.journal import find_record
from arena.rules.boards import built_in
from arena.rules.notation import PASS, parse_move
from tests.protocol.drawing import before_after_picture, board_picture, forbidden_picture
from tests.protocol.vectors import FOLDER, deal, lines, position_state

PROTOCOL = FOLDER.parent
PICTURES = PROTOCOL / "pictures"
DOCS = PROTOCOL.parent / "docs" / "pictures"
GAME = ("bird-2-greedy", 6)
"""The game at the beginning of the rules, and how many moves before its end it is shown."""
LEAGUE = PROTOCOL.parent / "results" / "league-2" / "4-players"
CLOSE = "lion/careful-python+flatmc-python+ismcts-python+learner-python/4/1"
"""The game of the README: of all on Lion without a fault, the one in which the last is nearest."""


def shown():
    """The positions that RULES.md shows, by name."""
    text = (PROTOCOL / "RULES.md").read_text(encoding="utf-8")
    return [name for name in re.findall(r"\]\(pictures/([\w-]+)\.svg\)", text) if name != "game"]


def made():
    """Every picture by its path."""
    positions = {line["name"]: line for line in lines("positions")}
    games = {line["name"]: line for line in lines("games")}
    pictures = {PICTURES / f"{name}.svg": position_picture(positions[name]) for name in shown()}
    name, before_end = GAME
    pictures[PICTURES / "game.svg"] = game_picture(games[name], before_end)
    pictures[DOCS / "game.svg"] = animated_picture(find_record(LEAGUE, CLOSE), built_in("lion"))
    return pictures


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
