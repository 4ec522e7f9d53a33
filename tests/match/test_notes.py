"""What bots say of their moves, from their lines to the record: by real processes."""

import json

import msgspec

from arena.exports.report.viewer_data import game_object
from arena.match.referee import Referee, tenths_of_ms
from arena.players.player import InProcessPlayer, random_move
from arena.records.notes import Note, note_of
from arena.records.record import encode_record
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.schedule import single_game
from tests.protocol.dialogue import play_script

PLAYED = "Rb1Rc1"


class Noter(InProcessPlayer):
    """Plays at random, and says the same of every move."""

    def __init__(self, name, said):
        super().__init__(name, random_move)
        self.note = note_of(said)
        self.heard = []

    def choose(self, state, budget_ns):
        return msgspec.structs.replace(super().choose(state, budget_ns), note=self.note)

    def inform(self, line):
        self.heard.append(line)


def game(*said, board="bird", watch=None):
    seated = [Noter(f"bot-{seat}", told) for seat, told in enumerate(said)]
    plan = single_game("notes", board, 0, [player.name for player in seated])
    return Referee(plan, built_in(board), seated, Timing(), watch).play().record, seated


def answer(note):
    """A scripted bot's record on a board with one move, which is answered with that note."""
    return f'! write {{"type":"move","id":2,"move":"{PLAYED}","note":{note}}}\\n'


def test_a_process_says_something_and_the_record_has_it(tmp_path):
    actions = [[], ['< {"type":"ready","id":1}'], [answer('{"value":0.25,"depth":3}')]]
    _, record, _ = play_script({"board": "R.."}, actions, tmp_path)
    assert record.notes == [{"turn": 0, "value": 0.25, "depth": 3}]
    assert record.faults == []
    assert len(record.ms) == len(record.moves)


def test_a_pass_has_neither_time_nor_note(tmp_path):
    actions = [[], ['< {"type":"ready","id":1}'], [answer('{"n":1}')]]
    settings = {"board": "R.....", "deck": "RR RR YY YB YB YB"}
    _, record, _ = play_script(settings, actions, tmp_path)
    assert record.moves[0] == PLAYED
    assert [move == "pass" for move in record.moves] == [ms is None for ms in record.ms]
    assert record.notes == [{"turn": 0, "n": 1}]


def test_a_note_as_long_as_a_line_may_be_costs_no_move(tmp_path):
    long = json.dumps({"text": "x" * 60_000, "n": 1})
    actions = [[], ['< {"type":"ready","id":1}'], [answer(long)]]
    _, record, _ = play_script({"board": "R.."}, actions, tmp_path)
    assert record.faults == []
    assert record.notes == [{"turn": 0, "text": "x" * 160, "n": 1}]


def test_no_other_seat_hears_a_note():
    record, seated = game({"text": "my hand is YY"}, None, None)
    assert record.notes[0] == {"turn": 0, "text": "my hand is YY"}
    silent, others = game(None, None, None)
    assert silent.moves == record.moves
    assert [player.heard for player in seated] == [player.heard for player in others]


def test_each_note_stands_at_the_turn_of_its_move():
    record, _ = game({"n": 0}, {"n": 1}, {"n": 2}, board="lion")
    movers = [at % 3 for at, move in enumerate(record.moves) if move != "pass"]
    assert record.notes == [{"turn": turn, "n": seat} for turn, seat in enumerate(movers)]


def test_records_of_bots_that_say_nothing_have_no_notes():
    record, _ = game(None, None)
    assert b'"notes"' not in encode_record(record)


def test_the_note_of_a_move_that_does_not_count_is_not_kept(tmp_path):
    line = '! write {"type":"move","id":2,"move":"Rb1Yc1","note":{"n":1}}\\n'
    _, record, _ = play_script({}, [[], ['< {"type":"ready","id":1}'], [line]], tmp_path)
    assert [fault.kind for fault in record.faults] == ["illegal move"]
    assert (record.notes, record.ms) == (None, None)


def test_no_time_is_above_the_slowest_as_the_clock_rounds_it():
    for nanoseconds in (0, 49_999, 50_000, 50_001, 150_000, 250_000, 350_000, 10**9 + 50_000):
        assert 0 <= round(nanoseconds / 1e6, 1) - tenths_of_ms(nanoseconds) < 0.11
        assert abs(tenths_of_ms(nanoseconds) - nanoseconds / 1e6) <= 0.0500001


def test_watchers_see_notes_with_the_moves():
    seen = []
    record, _ = game({"n": 1}, None, watch=lambda *told: seen.append(told[4]))
    assert len(seen) == len(record.moves)
    assert set(map(str, seen)) == {"n 1", "None"}


def test_the_viewer_gets_times_and_notes_move_by_move():
    record, _ = game({"value": 0.5, "text": "<b>"}, None)
    steps = game_object(record, built_in("bird"))["steps"]
    assert [step["ms"] for step in steps if step["move"] != "pass"] == [
        ms for ms in record.ms if ms is not None
    ]
    assert [step.get("note") for step in steps[:2]] == [("value 0.5: <b>", 0.5), None]


def test_a_note_is_one_line_for_people(snapshot):
    assert str(Note({"text": "good", "depth": 7, "value": 0.61, "nodes": 12.5})) == snapshot
    assert str(Note({"text": "good"})) == "good"
    assert str(Note({"n": 1})) == "n 1"
