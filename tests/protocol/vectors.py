"""What protocol/vectors/ is made of: the boards, positions and moves that are chosen here, and the
figures that follow from the rules.

`WRITERS` makes each file anew. A line is a dict; what each field means is said in
protocol/vectors/README.md.
"""

import json
import random
import re
from pathlib import Path

import msgspec

from arena.players.views import played_view, position_view
from arena.rules import State
from arena.rules.boards import Board, built_in, parse_board
from arena.rules.notation import (
    PASS,
    TILES,
    deck_text,
    move_text,
    parse_deck,
    parse_move,
    parse_square,
    parse_tile,
)
from arena.rules.positions import position_text
from arena.rules.terms import NOBODY
from arena.tournament.schedule import deck_of
from tests.rules.perft import perft
from tests.rules.positions import position

FOLDER = Path(__file__).parents[2] / "protocol" / "vectors"

BOARDS = {
    "bird": built_in("bird").rows,
    "lion": built_in("lion").rows,
    "tiny": ("R..", "...", "..B"),
    "pond": ("R.V.", ".~..", "..Y.", "B..."),
    "twins": ("RR.V", "....", ".V.Y"),
    "gap": ("R..........R", "~~~~~R~~~~~~"),
    "open": ("." * 16,) * 7 + ("...R....Y....B..",) + ("." * 16,) * 8,
}
LARGE = ("bird", "lion")
STACKED = {"gap": "RR" * 4 + "YY" * 2 + ("RR" + "YY") * 8 + "YY" * 2 + "BBRYYBRB" * 12}
"""Decks that are not shuffled: on this board seat 0 holds nothing but red and has to pass."""

PERFT = [
    *(
        (board, players, 0, "uniform")
        for board in ("tiny", "pond", "twins")
        for players in (2, 3, 4)
    ),
    ("gap", 2, 0, "uniform"),
    *(
        (board, players, turns, "uniform")
        for board in LARGE
        for players in (2, 3, 4)
        for turns in (0, 20, 40, -5)
    ),
    *((board, players, -4, "greedy") for board in LARGE for players in (2, 3, 4)),
    ("open", 2, -4, "uniform"),
]
"""Board, players, turns to play first, those from the end if negative, and how they are chosen."""

GAMES = [
    *(
        (board, players, policy)
        for board in LARGE
        for players in (2, 3, 4)
        for policy in ("uniform", "greedy")
    ),
    *((board, players, "uniform") for board, players in (("pond", 3), ("gap", 2), ("open", 2))),
]
"""Board, players, and how the moves are chosen."""

TENTH = 10
"""Positions are written out before every tenth move."""
MAX_PLAYED = 20_000
"""The last count of a line is the first one above this, or 0."""


def lines(name):
    """The lines of a file in protocol/vectors/, as dicts."""
    return [
        json.loads(line)
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def write(name):
    made = WRITERS[name]()
    text = b"".join(msgspec.json.encode(line) + b"\n" for line in made)
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{name}.jsonl").write_bytes(text)


def plain(value):
    """What a message or a figure looks like once it is written as JSON and read again."""
    return json.loads(msgspec.json.encode(value))


def deal(line, state_class=State):
    """The state at the start of a line of perft.jsonl or games.jsonl."""
    return state_class(
        parse_board(line["name"], "\n".join(line["board"])),
        line["players"],
        parse_deck(line["deck"]),
    )


def whole_game(state, policy, seed):
    """Moves to the end, at random or one that gains most at once."""
    rng, played = random.Random(seed), []
    while state.end is None:
        moves = state.legal_moves()
        if policy == "greedy" and moves:
            gains = [state.net_gain(move) for move in moves]
            moves = [move for move, gain in zip(moves, gains, strict=True) if gain == max(gains)]
        move = rng.choice(moves) if moves else PASS
        played.append(move_text(state.board, move))
        state.play(move)
    return played


# perft.jsonl


def perft_lines():
    for board, players, turns, policy in PERFT:
        when = f"after-{turns}" if turns > 0 else f"last-{-turns}" if turns else "start"
        name = f"{board}-{players}-{when}" + ("-greedy" if policy == "greedy" else "")
        line = {
            "name": name,
            "board": BOARDS[board],
            "players": players,
            "deck": STACKED.get(board) or deck_of("vectors", name, 0),
        }
        line["moves"] = whole_game(deal(line), policy, name)[:turns]
        yield {**line, "counts": counts_of(after_moves(line))}


def after_moves(line, state_class=State):
    """The state after the moves of a line of perft.jsonl."""
    state = deal(line, state_class)
    for move in line["moves"]:
        state.play(parse_move(state.board, move))
    return state


def counts_of(state):
    """The counts by depth, from 0 on."""
    counts = [1]
    while 0 < counts[-1] <= MAX_PLAYED:
        counts.append(perft(state, len(counts)))
    return counts


# games.jsonl


def game_lines():
    for board, players, policy in GAMES:
        name = f"{board}-{players}" + ("-greedy" if policy == "greedy" else "")
        line = {
            "name": name,
            "board": BOARDS[board],
            "players": players,
            "deck": STACKED.get(board) or deck_of("vectors", name, 1),
        }
        moves = whole_game(deal(line), policy, name)
        while board in STACKED and "pass" not in moves:
            moves = whole_game(deal(line), policy, str(moves))
        yield replayed({**line, "moves": moves})


def replayed(line, state_class=State):
    """The line with everything that follows from its moves."""
    state, legal, left, texts, seen = deal(line, state_class), [], [], [], []
    for number, move in enumerate(line["moves"]):
        if number % TENTH == 0:
            texts.append(position_text(state))
            seen.append(position_text(state, state.mover))
        legal.append(state.legal_count())
        state.play(parse_move(state.board, move))
        left.append(state.left[:])
    follows = {
        "legal": legal,
        "left": left,
        "end": state.end,
        "ranks": state.ranks(),
        "final": plain(position_view(state)),
        "texts": texts,
        "seen": seen,
    }
    return {**line, **follows}


# positions.jsonl


READ = {
    "hands": lambda text: text.split(","),
    "left": lambda text: [int(own) for own in text.split(",")],
    "mover": int,
    "pile": str,
}


def chosen_positions():
    """Those of positions.txt: name, what it is about, drawing, move, and the rest of it."""
    text = re.sub("^#.*\n", "", Path(__file__).with_name("positions.txt").read_text(), flags=re.M)
    for block in re.split(r"\n{2,}", text.strip()):
        head, *rows, last = block.splitlines()
        move, *words = last.split()
        setting = {name: READ[name](value) for name, value in (word.split("=") for word in words)}
        yield (*head.split(": ", 1), "\n".join(rows), move, setting)


def position_lines():
    for name, about, before, move, setting in chosen_positions():
        state = position(State, before, **setting)
        line = {
            "name": name,
            "about": about,
            "rules": sorted(set(re.findall(r"R\d\.\d", about)), key=about.index),
            "position": plain(position_view(state)),
            "hands": [[TILES[tile] for tile in hand] for hand in state.hands],
            "pile": deck_text(state.pile_tiles()),
            "mover": state.mover,
            "move": move,
        }
        yield judged(line)


def position_state(line, state_class=State):
    """The state that a line of positions.jsonl describes, from its fields alone."""
    shown = line["position"]
    board = Board(line["name"], tuple(shown["rows"]))

    def mask(squares):
        return sum(1 << parse_square(board, square) for square in squares)

    provinces = [
        ("RYB".index(area["colour"]), mask(area["squares"]), area["seat"], area["pagodas"])
        for area in shown["provinces"]
    ]
    owners = {mask(village["squares"]): village["seat"] for village in shown["villages"]}
    villages = [
        NOBODY if owners[village] is None else owners[village] for village in board.villages
    ]
    hands = [[parse_tile(tile) for tile in hand] for hand in line["hands"]]
    pile = [parse_tile(line["pile"][at : at + 2]) for at in range(0, len(line["pile"]), 2)]
    return state_class.set_up(
        board, board.starts, provinces, villages, shown["left"], hands, pile, line["mover"]
    )


def judged(line, state_class=State):
    """The line with all legal moves, and with what the move does or why it is illegal."""
    state, events = position_state(line, state_class), []
    move = parse_move(state.board, line["move"])
    line = {
        **line,
        "text": position_text(state),
        "seen": position_text(state, state.mover),
        "legal": [move_text(state.board, legal) for legal in state.legal_moves()],
    }
    reason = state.why_illegal(move)
    if reason:
        return {**line, "illegal": re.findall(r"R\d\.\d", reason)}
    seat = state.mover
    state.play(move, events)
    shown = plain(played_view(state, seat, move, events))["events"]
    return {**line, "events": shown, "after": plain(position_view(state)), "end": state.end}


WRITERS = {"perft": perft_lines, "games": game_lines, "positions": position_lines}
