"""The figures of about-qin.md, made from the journals of League 2:

    python about_qin.py

Games with a forfeit, or with a bot that has no rating, are left out.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import softmax, stdtrit

from arena import api
from arena.rules import State
from arena.rules.boards import Board
from arena.rules.notation import parse_deck, play_text

HERE = Path(__file__).parent
ELO = 400 / np.log(10)
EVENTS = ["found", "major", "absorb", "connect", "conquer"]
HOLDINGS = ["small", "major", "village"]
ROUNDS = [4, 8, 12]
MAJOR = 5  # spaces of a province that carries two pagodas
WHERE = ["players", "board"]


def seats_of(run):
    """One row for each game and seat: what the seat held and did, and its share of the win beside
    what ratings and seats expect.
    """
    boards = json.loads((run / "run.json").read_text())["boards"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", api.ArenaWarning)
        rated = api.rate(run)
    elo = rated.standings.set_index("bot")["elo"]
    bonus = rated.seats.set_index(["seats", "seat"])["elo"]
    rows = []
    for game in api.games(run, moves=True).to_dict("records"):
        seated = [game.get(f"bot_{seat}") for seat in range(4)]
        bots = [bot for bot in seated if isinstance(bot, str)]
        strength = [elo[bot] + bonus[len(bots), seat] for seat, bot in enumerate(bots)]
        if game["faults"] or np.isnan(strength).any():
            continue
        told = replayed(game, len(bots), Board(game["board"], tuple(boards[game["board"]])))
        head = {
            "players": len(bots),
            "board": game["board"],
            "deal": game["block"],
            "game": game["id"],
        }
        for seat, expected in enumerate(softmax(np.array(strength) / ELO)):
            share = game[f"share_{seat}"]
            rows.append(head | {"seat": seat, "share": share, "expected": expected} | told[seat])
    return pd.DataFrame(rows)


def replayed(game, players, board):
    """For each seat, how often it did what `EVENTS` says, and how many more of each holding than
    the others it had after some rounds; of rounds after the end nothing is told.
    """
    state = State(board, players, parse_deck(game["deck"]))
    told = [{} for _ in range(players)]
    done = np.zeros((players, len(EVENTS)), dtype=int)
    for at, move in enumerate(game["moves"], 1):
        events = []
        play_text(state, move, events)
        for event in events:
            if event.name in EVENTS:
                done[event.seat, EVENTS.index(event.name)] += 1
        rounds, rest = divmod(at, players)
        if rounds in ROUNDS and not rest and state.end is None:
            names = [f"{name} {rounds}" for name in HOLDINGS]
            for seat, held in enumerate(ahead(held_by(state))):
                told[seat] |= dict(zip(names, held, strict=True))
    more = [f"{event} more" for event in EVENTS]
    for seat in range(players):
        told[seat] |= dict(zip(EVENTS, done[seat], strict=True))
        told[seat] |= dict(zip(more, ahead(done)[seat], strict=True))
    return told


def held_by(state):
    """(players, 3) how many of each of `HOLDINGS` every seat has."""
    held = np.zeros((state.players, 3), dtype=int)
    for _, province in state.provinces():
        if province.owner >= 0:
            held[province.owner, int(province.size >= MAJOR)] += 1
    for owner in state.villages:
        if owner >= 0:
            held[owner, 2] += 1
    return held


def ahead(counts):
    """By how many each seat has more than the others have on average."""
    return (counts - counts.mean(axis=0)) * len(counts) / (len(counts) - 1)


def slopes(rows, columns):
    """How much of a win goes with one more of each column, where ratings and seats are equal, and
    half the 95 % interval: least squares, and what leaving out each deal in turn changes.
    """
    # Strong bots hold more, and their wins are expected: so the expectation has a column too.
    by = np.column_stack([rows[columns], rows["expected"] - 1 / rows["players"]]).astype(float)
    rest = (rows["share"] - rows["expected"]).to_numpy()
    deals = rows["deal"].to_numpy()
    whole = np.linalg.lstsq(by, rest, rcond=None)[0]
    moved = [
        np.linalg.lstsq(by[deals != deal], rest[deals != deal], rcond=None)[0] - whole
        for deal in np.unique(deals)
    ]
    count = len(moved)
    error = np.sqrt((count - 1) / count * np.square(moved).sum(axis=0))
    return whole[: len(columns)], (stdtrit(count - 1, 0.975) * error)[: len(columns)]


def percent(figures, errors, names):
    """Cells with figures and errors in %."""
    told = {}
    for name, figure, error in zip(names, figures, errors, strict=True):
        told |= {name: f"{100 * figure:+.1f}", f"+/- {name}": f"{100 * error:.1f}"}
    return told


def one_more(rows):
    """What one more holding is worth after some rounds that most games reach."""
    for after in ROUNDS:
        names = [f"{name} {after}" for name in HOLDINGS]
        there = rows.dropna(subset=names)
        if len(there) > len(rows) / 2:
            yield {"round": after, "games": there["game"].nunique()} | percent(
                *slopes(there, names), [f"{name}%" for name in HOLDINGS]
            )


def winners(rows):
    """How often winners and others do something, and what goes with one more."""
    lost = 1 - rows["share"]
    for event in EVENTS:
        often = [(rows[event] * weight).sum() / weight.sum() for weight in (rows["share"], lost)]
        told = dict(zip(("winners", "others"), np.round(often, 1), strict=True))
        yield {"event": event} | told | percent(*slopes(rows, [f"{event} more"]), ["gain%"])


def show(title, table):
    """Prints a table."""
    print(f"{title}\n{table.to_string(index=False)}\n")


def main():
    """Prints all tables."""
    runs = [HERE / f"{players}-players" for players in (2, 3, 4)]
    games = pd.concat([api.games(run).assign(players=int(run.name[0])) for run in runs])
    turns = games.groupby(WHERE)["turns"].quantile([0.05, 0.5, 0.95]).unstack()
    turns.columns = ["5 %", "median", "95 %"]
    show("Turns of a game", turns.astype(int).reset_index())
    rows = pd.concat([seats_of(run) for run in runs])
    seats = rows.groupby(["players", "seat"])["share"].agg(games="size", won="mean").reset_index()
    show("The seats", seats.assign(won=(100 * seats["won"]).round(1)))
    for title, table in (("What one more is worth", one_more), ("What winners do", winners)):
        told = [
            dict(zip(WHERE, where, strict=True)) | row
            for where, group in rows.groupby(WHERE)
            for row in table(group)
        ]
        show(title, pd.DataFrame(told))


if __name__ == "__main__":
    main()
