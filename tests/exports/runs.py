"""Runs made up for tests of reports: real games by random moves, without any process."""

import json
import random
from itertools import combinations, count

from arena.records.record import VERSION, Fault, GameRecord, encode_record
from arena.rules import State
from arena.rules.boards import built_in
from arena.rules.notation import move_text, parse_deck
from arena.rules.terms import final_ranks
from arena.tournament.schedule import deck_of

SEED = "a-seed-that-must-stay-secret"


def game_of(bots, *, board="bird", deal=0, seating=0, faults=(), luck=0):
    """A record of random play; ``faults`` are (seat, turn, kind, detail), each at a turn of that
    seat.
    """
    deck = deck_of(SEED, board, deal)
    state, rng = (
        State(built_in(board), len(bots), parse_deck(deck)),
        random.Random(f"{bots} {deal} {seating} {luck}"),
    )
    moves, forfeited, waiting = [], [], [Fault(*fault) for fault in faults]
    while state.end is None and len(forfeited) < len(bots) - 1:
        fault = next(
            (fault for fault in waiting if fault.seat == state.mover and fault.turn == state.turns),
            None,
        )
        if fault and fault.seat not in forfeited:
            forfeited.append(fault.seat)
            if len(forfeited) < len(bots) - 1:
                state.retire(fault.seat)
            continue
        move = -1 if state.must_pass() else state.nth(rng.randrange(state.legal_count()))
        moves.append(move_text(state.board, move))
        state.play(move)
    return GameRecord(
        v=VERSION,
        id=f"{board}/{'+'.join(sorted(bots))}/{deal}/{seating}",
        board=board,
        deal=deal,
        seating=seating,
        bots=list(bots),
        deck=deck,
        moves=moves,
        left=list(state.left),
        ranks=final_ranks(state.left, forfeited),
        end=state.end or "forfeit",
        faults=[fault for fault in waiting if fault.seat in forfeited],
        think_ms=[1.5 + rng.random()] * len(bots),
        slowest_ms=[0.5] * len(bots),
        turns=state.turns,
        sandbox="bubblewrap",
        host="here",
        ended=f"2026-11-20T12:{deal % 60:02}:00Z",
    )


def game_won_by(winner, loser, **settings):
    """A game of random moves that this bot won alone, sitting where ``seating`` says."""
    seated = (winner, loser) if settings["seating"] == 0 else (loser, winner)
    games = (game_of(seated, luck=luck, **settings) for luck in count())
    place = seated.index(winner)
    return next(game for game in games if game.ranks[place] < game.ranks[1 - place])


def games_won(winner, loser, deals):
    return [
        game_won_by(winner, loser, deal=deal, seating=seating)
        for deal in range(deals)
        for seating in (0, 1)
    ]


def duels(bots, deals, board="bird"):
    """All games of a round robin."""
    seatings = [(pair, 0) for pair in combinations(sorted(bots), 2)] + [
        (pair[::-1], 1) for pair in combinations(sorted(bots), 2)
    ]
    return [
        game_of(pair, board=board, deal=deal, seating=seating)
        for deal in range(deals)
        for pair, seating in seatings
    ]


def write_run(
    folder,
    bots,
    records,
    *,
    deals=1,
    boards=("bird",),
    players=2,
    evidence=None,
    planned=None,
    match=(),
):
    """A run's folder; ``planned`` bots are those of its schedule, ``evidence`` maps (game, seat) to
    the contents of the file.
    """
    folder.mkdir(parents=True)
    config = {
        "bots": sorted(planned or bots),
        "seed": SEED,
        "players": players,
        "boards": list(boards),
        "deals": deals,
    }
    config |= {"match": list(match)} if match else {}
    info = {
        "arena": "1.0.0",
        "protocol": 1,
        "rules_core": "pure",
        "rules_revision": 1,
        "config": config,
        "boards": {name: list(built_in(name).rows) for name in boards},
        "bots": [
            {"name": name, "version": "1", "sha256": "ab" * 32, "command": ["python3", "bot.py"]}
            for name in sorted(bots)
        ],
        "seed": SEED,
        "sandbox": "bubblewrap",
        "started": "2026-11-20T11:00:00Z",
    }
    (folder / "run.json").write_text(json.dumps(info))
    (folder / "games.jsonl").write_bytes(
        b"".join(encode_record(record) + b"\n" for record in records)
    )
    for (game, seat), content in (evidence or {}).items():
        path = folder / "faults" / game / f"seat-{seat}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def evidence_of(stderr="", lines=(), ending="exited with status 1"):
    """The contents of an evidence file."""
    return {
        "bot": "x",
        "seat": 0,
        "turn": 2,
        "kind": "exit",
        "detail": "",
        "ending": ending,
        "lines": list(lines),
        "stderr": stderr,
    }


def data_of(page):
    """The games in a page."""
    start = page.index('id="games-data">') + len('id="games-data">')
    return json.loads(page[start : page.index("</script>", start)])
