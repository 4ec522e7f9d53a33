"""The schemas of the protocol, and messages and records of whole games, which have to fit them."""

import json
from pathlib import Path

import jsonschema

from arena.match.referee import Referee
from arena.players.messages import Hello, Quit, encode
from arena.players.player import InProcessPlayer, random_move
from arena.players.views import turn_view
from arena.records.record import encode_record
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game

FOLDER = Path(__file__).parents[2] / "protocol" / "schemas"


SCHEMAS = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}


VALIDATORS = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


class Listener(InProcessPlayer):
    """A random player that keeps every message it would get as a bot with the full view."""

    def __init__(self, heard):
        super().__init__("listener", random_move)
        self.heard = heard

    def begin(self, start):
        self.heard.append(json.loads(encode(start)))
        super().begin(start)

    def choose(self, state, budget_ns):
        for full in (True, False):
            turn = turn_view(state, len(self.heard), budget_ns // 1_000_000, full=full)
            self.heard.append(json.loads(encode(turn)))
        return super().choose(state, budget_ns)

    def inform(self, line):
        self.heard.append(json.loads(line))


def whole_games():
    """Every message of a few games, and their records."""
    heard = [json.loads(encode(Hello(1, 1, "0"))), json.loads(encode(Quit()))]
    records = []
    for players in (2, 3, 4):
        for board in ("bird", "lion"):
            seated = [Listener(heard) for _ in range(players)]
            plan = single_game("schemas", board, players, ["listener"] * players)
            timing = Timing(game_ms=60_000, increment_ms=10) if players == 3 else Timing()
            played = Referee(plan, built_in(board), seated, timing).play(host="here")
            records.append(json.loads(encode_record(played.record)))
    return heard, records


HEARD, RECORDS = whole_games()
