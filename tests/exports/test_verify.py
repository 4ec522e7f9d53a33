"""A run compared with its plan, the rules and its tables: what is as it was written passes, and
every change is found and named.
"""

import json
import logging
import random
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from arena.errors import Forfeit, RunError
from arena.exports.files import export_run
from arena.exports.tablecheck import csv_difference
from arena.exports.verify import Sample, verify_run
from arena.faults import FaultKind
from arena.match.referee import Referee
from arena.players.folder import bot_at
from arena.players.player import InProcessPlayer, built_in_bot, random_move
from arena.players.sandbox.tiers import OPEN
from arena.players.staging import stage
from arena.ratings.tables import run_tables
from arena.records.evidence import evidence_name
from arena.records.journal import Journal
from arena.records.runfile import BotInfo, RunInfo, read_run, write_run
from arena.rules.boards import built_in
from arena.rules.terms import REVISION
from arena.tournament.consistency import make_config
from arena.tournament.run import Run
from arena.tournament.runs import make_request
from arena.tournament.schedule import Schedule
from arena.tournament.session import open_session
from arena.tournament.workers import Setup, Worker

NAMES = ("ann", "bob", "quits")
RUNS_OF_1_0 = Path(__file__).parent / "runs_of_1_0"
"""Runs that version 1.0.0 played and exported: ``order`` and ``shared-ranks`` have tables in which
bots without a rating rank as they did then, ``first-tables`` has tables without the column mark.
"""


def quits_sometimes(state, seed):
    if seed % 2 and state.turns > 20:
        raise Forfeit(FaultKind.EXIT, "has left")
    return random_move(state, seed)


def make_run(folder, players):
    """A run as the arena leaves it: journal, evidence, copies of the bots, tables."""
    config = make_config({"bots": list(NAMES), "seed": "verify", "deals": 3, "players": players})
    bots = []
    for name in NAMES:
        source = folder / "sources" / name
        source.mkdir(parents=True)
        (source / "bot.py").write_text(f"print({name!r})\n")
        (source / "bot.toml").write_text(
            f'name = "{name}"\nversion = "3"\ncommand = ["python3", "bot.py"]\n'
        )
        bots.append(bot_at(source))
    run = folder / "run"
    for bot in bots:
        stage(bot, run / "bots" / f"{bot.label}-{bot.sha256[:12]}")
    infos = [BotInfo(bot.label, "3", bot.sha256, bot.command) for bot in bots]
    boards = {"bird": list(built_in("bird").rows)}
    about = (config, boards, infos, "verify", "none", "2026-01-01T00:00:00Z")
    write_run(run, RunInfo("0", 1, "pure", REVISION, *about))
    with Journal(run) as journal:
        for plan in Schedule(config):
            seated = [
                InProcessPlayer(name, quits_sometimes if name == "quits" else random_move)
                for name in plan.bots
            ]
            record = Referee(plan, built_in("bird"), seated, config.timing).play().record
            for fault in record.faults:
                place = run / evidence_name(record.id, fault.seat)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(json.dumps({"kind": fault.kind, "turn": fault.turn}))
            journal.append([record])
    export_run(Run(run), run, run_tables(run, read_run(run)))
    return run


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("verify"), 3)


@pytest.fixture
def run(kept, tmp_path):
    shutil.copytree(kept, tmp_path / "run")
    return tmp_path / "run"


def lines_of(run):
    return (run / "games.jsonl").read_text().splitlines(keepends=True)


def rewrite(run, number, **changes):
    """Changes fields of a record, in the form in which records are written."""
    lines = lines_of(run)
    record = json.loads(lines[number - 1])
    record |= {
        key: value(record[key]) if callable(value) else value for key, value in changes.items()
    }
    lines[number - 1] = json.dumps(record, separators=(",", ":")) + "\n"
    (run / "games.jsonl").write_text("".join(lines))
    return record


def first(run):
    return verify_run(Run(run)).differences[0]


def whole_game(run):
    """The line of a game without a forfeit."""
    return next(number for number, line in enumerate(lines_of(run), 1) if '"faults":[]' in line)


def forfeit(run):
    return next(number for number, line in enumerate(lines_of(run), 1) if '"faults":[]' not in line)


def test_a_run_of_duels_has_no_difference_and_a_name_that_only_looks_like_two_is_found(tmp_path):
    run = make_run(tmp_path, 2)
    assert verify_run(Run(run)).differences == []
    rewrite(run, 1, bots=["ann", "bob", "quits"])
    assert first(run)[0:2] == ("games.jsonl", 1)


def test_a_run_as_it_was_written_has_no_difference(run):
    seen = []
    verdict = verify_run(Run(run), progress=seen.append)
    assert verdict.differences == []
    assert verdict.notes == []
    assert (verdict.games, verdict.planned, verdict.bots) == (
        len(lines_of(run)),
        len(lines_of(run)),
        3,
    )
    assert verdict.tables == ["standings.csv", "pairs.csv", "seats.csv", "faults.csv", "games.csv"]
    assert seen[-1] == (run / "games.jsonl").stat().st_size
    assert any('"kind":"exit"' in line for line in lines_of(run))


def swapped(deck):
    """The deck with its last tile and the last one that differs exchanged."""
    tiles = [deck[at : at + 2] for at in range(0, len(deck), 2)]
    other = max(at for at, tile in enumerate(tiles) if tile != tiles[-1])
    tiles[-1], tiles[other] = tiles[other], tiles[-1]
    return "".join(tiles)


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("left", lambda left: [left[0] + 1, *left[1:]]),
        (
            "ranks",
            lambda ranks: ranks[::-1] if ranks[::-1] != ranks else [1 + rank % 2 for rank in ranks],
        ),
        ("turns", lambda turns: turns - 1),
        ("end", lambda end: "no tiles" if end != "no tiles" else "no space"),
        ("deck", swapped),
        ("bots", lambda bots: bots[1:] + bots[:1]),
        ("moves", lambda moves: moves[:-1]),
        ("id", lambda name: name.replace("bird/", "lion/")),
    ],
)
def test_an_edited_record_is_found_by_its_line_and_field(run, field, change):
    number = whole_game(run)
    before = json.loads(lines_of(run)[number - 1])
    assert rewrite(run, number, **{field: change})[field] != before[field]
    found = first(run)
    assert (found.file, found.line) == ("games.jsonl", number)
    assert found.field in ({"ms", "left", "ranks", "end"} if field == "moves" else {field})
    assert str(found).startswith(f"games.jsonl, line {number}, {found.field}: expected ")


def drawn(run, games, seed="s"):
    """The lines that a sample has: those in which a wrong result is found."""
    lines = lines_of(run)
    found = []
    for number in range(1, len(lines) + 1):
        rewrite(run, number, left=lambda left: [23 - (left[0] == 23), *left[1:]])
        found += [
            difference.line
            for difference in verify_run(Run(run), sample=Sample(games, seed)).differences
        ]
        (run / "games.jsonl").write_text("".join(lines))
    return found


def test_of_a_sample_only_the_games_drawn_are_replayed_and_always_the_same(run):
    for path in run.glob("*.csv"):
        path.unlink()
    every = len(lines_of(run))
    verdict = verify_run(Run(run), sample=Sample(5, "s"))
    assert (verdict.games, verdict.replayed, verdict.differences) == (every, 5, [])
    lines = drawn(run, 5)
    assert (len(lines), drawn(run, 5)) == (5, lines)
    assert set(lines) < set(drawn(run, 6))
    assert drawn(run, 5, "t") != lines
    ids = {json.loads(lines_of(run)[number - 1])["id"] for number in lines}
    (run / "games.jsonl").write_text("".join(reversed(lines_of(run))))
    assert {json.loads(lines_of(run)[number - 1])["id"] for number in drawn(run, 5)} == ids
    assert verify_run(Run(run), sample=Sample(1000, "s")).replayed == every


def test_whatever_the_sample_every_record_has_its_form_its_place_and_its_deck(run, snapshot):
    changes = {
        "deck": swapped,
        "bots": lambda bots: bots[1:] + bots[:1],
        "id": lambda name: name.replace("bird/", "lion/"),
        "v": 2,
    }
    lines = lines_of(run)
    for field, change in changes.items():
        for number in (1, len(lines)):
            rewrite(run, number, **{field: change})
            found = verify_run(Run(run), sample=Sample(1, "s")).differences[0]
            assert (found.line, found.field) == (number, field)
            (run / "games.jsonl").write_text("".join(lines))
    (run / "games.jsonl").write_text("".join([*lines, lines[2]]))
    found = verify_run(Run(run), sample=Sample(1, "s")).differences[0]
    assert (found.line, found.expected) == snapshot


def test_a_move_that_was_changed_is_found(run, snapshot):
    number = whole_game(run)
    rewrite(run, number, moves=lambda moves: [moves[1], *moves[1:]])
    assert first(run).field in ("moves[0]", "moves[1]")
    assert first(run).expected == snapshot


def test_a_move_in_another_spelling_is_found(run):
    number = whole_game(run)
    record = json.loads(lines_of(run)[number - 1])
    move = record["moves"][0]
    cut = next(at for at in range(2, len(move)) if move[at].isupper())
    rewrite(run, number, moves=[move[cut:] + move[:cut], *record["moves"][1:]])
    assert first(run)[2:4] == ("moves[0]", move)


def test_results_and_moves_that_agree_but_belong_to_another_deck_are_found(run):
    """Everything of one game put under the id of another."""
    one, *others = (json.loads(line) for line in lines_of(run))
    other = next(record for record in others if record["deal"] != one["deal"])
    keep = {key: one[key] for key in ("id", "deal", "seating", "bots", "board")}
    rewrite(run, 1, **{**other, **keep})
    assert first(run).field == "deck"


def test_a_fault_that_was_taken_out_leaves_a_game_that_is_not_over_or_passes_nobody_may_make(run):
    number = forfeit(run)
    rewrite(run, number, faults=[])
    found = first(run)
    assert found.line == number
    assert found.field.startswith(("moves", "end", "ranks"))


def test_a_fault_that_its_evidence_denies_is_found(run, snapshot):
    number = forfeit(run)
    rewrite(run, number, faults=lambda faults: [{**faults[0], "kind": "late"}, *faults[1:]])
    found = first(run)
    assert found.field == "faults[0]"
    assert found.expected == snapshot
    shutil.rmtree(run / "faults")
    assert [difference.file for difference in verify_run(Run(run)).differences] == ["games.csv"]


def test_evidence_of_another_turn_is_found(run):
    record = json.loads(lines_of(run)[forfeit(run) - 1])
    [fault] = record["faults"]
    evidence = {"kind": fault["kind"], "turn": fault["turn"] + 1}
    (run / evidence_name(record["id"], fault["seat"])).write_text(json.dumps(evidence))
    found = first(run)
    assert found.field == "faults[0]"
    assert f"{fault['kind']} at turn {fault['turn'] + 1} " in found.expected


def test_a_game_that_is_not_planned_is_found(run, snapshot):
    record = json.loads(lines_of(run)[0])
    rewrite(run, 1, deal=99, id=record["id"].replace(f"/{record['deal']}/", "/99/"))
    assert first(run)[2:4] == snapshot


def test_a_record_that_is_there_twice_is_found(run, snapshot):
    with (run / "games.jsonl").open("a") as file:
        file.write(lines_of(run)[1])
    verdict = verify_run(Run(run))
    assert [str(difference).split(": ")[0] for difference in verdict.differences] == snapshot
    assert verdict.differences[0].expected == snapshot
    assert verdict.games == verdict.planned


def test_names_that_only_joined_look_like_a_planned_line_up_are_found(run):
    rewrite(run, 1, bots=["ann+bob", "quits"])
    assert first(run)[0:2] == ("games.jsonl", 1)


NOTHING_FOLLOWS = ("slowest_ms", "think_ms", "ms", "sandbox", "host", "ended", "faults")
"""Fields that only tables or evidence can contradict."""


def test_no_byte_can_be_changed_unnoticed_but_in_times_and_descriptions(run):
    for path in run.glob("*.csv"):
        path.unlink()
    data = (run / "games.jsonl").read_bytes()
    rng = random.Random(1)
    found = 0
    for _ in range(150):
        at, byte = rng.randrange(len(data) - 1), rng.choice(b'0123456789abRYB"/[]{},:x\n\xff')
        changed = data[:at] + bytes([byte]) + data[at + 1 :]
        (run / "games.jsonl").write_bytes(changed)
        differences = verify_run(Run(run)).differences
        found += bool(differences)
        if not differences and changed != data:
            number = data.count(b"\n", 0, at)
            one, other = (json.loads(lines.split(b"\n")[number]) for lines in (data, changed))
            assert {key for key in one if one[key] != other[key]} <= set(NOTHING_FOLLOWS)
    assert found > 100


def test_a_line_in_another_form_or_by_no_schema_is_found(run, snapshot):
    lines = lines_of(run)
    (run / "games.jsonl").write_text(json.dumps(json.loads(lines[0])) + "\n" + "".join(lines[1:]))
    assert first(run)[1:3] == (1, "line")
    (run / "games.jsonl").write_text("{}\n" + "".join(lines[1:]))
    assert first(run) == snapshot
    (run / "games.jsonl").write_text(
        lines[0].replace('"turns":', '"turns":"1","x":', 1) + "".join(lines[1:])
    )
    assert first(run)[1:] == (1, "turns", "`int`", '"1"')


def test_times_that_nothing_else_follows_from_are_found_by_the_tables(run):
    lines = lines_of(run)
    # A record may have no times of single moves, which the totals would contradict.
    lines[1] = re.sub(',"ms":[^]]*]', "", lines[1])
    (run / "games.jsonl").write_text("".join(lines))
    rewrite(run, 2, think_ms=lambda times: [time + 5000.0 for time in times])
    verdict = verify_run(Run(run))
    assert [(difference.file, difference.field) for difference in verdict.differences] == [
        ("standings.csv", "think_ms"),
        ("games.csv", "think_ms_0"),
    ]


@pytest.mark.parametrize(
    ("field", "change", "wrong"),
    [
        ("ms", lambda times: [ms and 0.001 for ms in times], "think_ms"),
        ("think_ms", lambda times: [time + 3.0 for time in times], "think_ms"),
        ("slowest_ms", lambda times: [time + 0.3 for time in times], "slowest_ms"),
        ("ended", "2026-02-30T12:00:00Z", "ended"),
    ],
)
def test_times_that_contradict_each_other_or_are_none_are_found(run, field, change, wrong):
    for path in run.glob("*.csv"):
        path.unlink()
    number = whole_game(run)
    # Each move took 0.3 ms, so that the totals are known.
    record = json.loads(lines_of(run)[number - 1])
    seats = len(record["bots"])
    times = [None if move == "pass" else 0.3 for move in record["moves"]]
    totals = [round(sum(ms or 0 for ms in times[seat::seats]), 1) for seat in range(seats)]
    rewrite(run, number, ms=times, think_ms=totals, slowest_ms=[0.3] * seats)
    assert verify_run(Run(run)).differences == []
    rewrite(run, number, **{field: change})
    found = first(run)
    assert (found.line, found.field) == (number, wrong)


def test_a_record_with_another_clock_than_the_run_is_found(run):
    lines = lines_of(run)
    lines[0] = re.sub('("ended":"[^"]*")', r'\1,"clock":"cpu"', lines[0])
    (run / "games.jsonl").write_text("".join(lines))
    found = first(run)
    assert (found.line, found.field) == (1, "clock")
    assert (found.expected, found.got) == ("wall, as in run.json", "cpu")


def test_a_command_that_the_copys_bot_toml_denies_is_found(run):
    info = read_run(run)
    ann, *others = info.bots
    ann = msgspec.structs.replace(ann, command=["python3", "other.py"])
    write_run(run, msgspec.structs.replace(info, bots=[ann, *others]))
    [found] = verify_run(Run(run)).differences
    assert (found.file, found.field) == ("run.json", "command of ann")
    assert (found.expected, found.got) == ("python3 bot.py", "python3 other.py")


def test_an_edited_table_is_named_by_line_and_field(run):
    path = run / "standings.csv"
    lines = path.read_text().splitlines()
    cells = lines[2].split(",")
    cells[5] = "9999"
    path.write_text("\n".join([*lines[:2], ",".join(cells), *lines[3:]]) + "\n")
    [found] = verify_run(Run(run)).differences
    assert (found.file, found.line, found.field, found.got) == ("standings.csv", 3, "games", "9999")
    path.write_text("\n".join(lines[:-1]) + "\n")
    assert first(run)[1:3] == (len(lines), "line")
    path.unlink()
    assert verify_run(Run(run)).differences == []


def test_a_last_decimal_may_be_off_by_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("bot,elo,games\na,10.01,5\n")
    assert csv_difference(path, ["bot,elo,games\na,10.02,5\n"]) is None
    assert csv_difference(path, ["bot,elo,games\na,10.03,5\n"]) == (
        "t.csv",
        2,
        "elo",
        "10.03",
        "10.01",
    )
    assert csv_difference(path, ["bot,elo,games\na,10.01,6\n"]) == ("t.csv", 2, "games", "6", "5")
    assert csv_difference(path, ["bot,elo,games\na,,5\n"]) == ("t.csv", 2, "elo", "", "10.01")
    assert csv_difference(path, ["bot,elo,game\na,10.01,5\n"]) == (
        "t.csv",
        1,
        "game",
        "game",
        "games",
    )


def test_a_copy_of_a_bot_that_was_changed_is_found_and_a_missing_one_is_noted(run, snapshot):
    [ann] = (run / "bots").glob("ann-*")
    (ann / "bot.py").write_text("print('better')\n")
    [found] = verify_run(Run(run)).differences
    assert (found.file, found.line, found.field) == (f"bots/{ann.name}", None, "sha256")
    (ann / "bot.toml").write_text("name = 3\n")
    assert first(run).field == "sha256"
    shutil.rmtree(ann)
    verdict = verify_run(Run(run))
    assert (verdict.bots, verdict.differences) == (2, [])
    assert verdict.notes == snapshot


def test_every_byte_that_a_bot_can_read_is_compared(run, snapshot):
    [ann] = (run / "bots").glob("ann-*")
    text = (ann / "bot.toml").read_text()
    for changed in (f"# met deal 3\n{text}", text + "\n", text.replace(" = ", "  =  ", 1)):
        (ann / "bot.toml").write_text(changed)
        [found] = verify_run(Run(run)).differences
        assert found.file.startswith(f"bots/{ann.name}")
    (ann / "bot.toml").write_text(text)
    assert verify_run(Run(run)).differences == []
    (ann / "__pycache__").mkdir()
    (ann / "__pycache__" / "bot.pyc").write_bytes(b"deal 3")
    [found] = verify_run(Run(run)).differences
    assert (found.field, found.got) == snapshot


def test_a_copy_with_build_results_is_compared_unless_version_1_0_made_it(run, snapshot):
    [ann] = (run / "bots").glob("ann-*")
    (ann / "bot.toml").write_text('name = "ann"\ncommand = ["./a"]\nbuild = [["make"]]\n')
    assert first(run).field == "sha256"
    write_run(run, msgspec.structs.replace(read_run(run), arena="1.0.0"))
    verdict = verify_run(Run(run))
    assert verdict.differences == []
    assert verdict.notes == snapshot


def make_built_in_run(run):
    """A run of built-in bots as the arena leaves it."""
    bots = [built_in_bot(name) for name in ("random", "careful-2")]
    options = {"deals": 2, "seed": "verify", "in_process": True}
    request = make_request(options, {"bird": built_in("bird")}, bots)
    with open_session(run, request, Setup(OPEN, logging.WARNING)) as session:
        worker = Worker(session.setup)
        session.journal.append([worker.play(plan).record for plan in session.run.schedule])
    export_run(Run(run), run, run_tables(run, read_run(run)))


def test_built_in_bots_have_no_copies_and_are_compared_with_those_of_this_arena(tmp_path, snapshot):
    run = tmp_path / "run"
    make_built_in_run(run)
    assert not (run / "bots").exists()
    verdict = verify_run(Run(run))
    assert (verdict.games, verdict.bots, verdict.differences, verdict.notes) == (4, 2, [], [])
    info = read_run(run)
    hashed = info.bots[1].sha256
    for changes, field, got in (
        ({"sha256": "0" * 64}, "sha256 of careful-2", "0" * 64),
        (
            {"command": ["arena", "in-process", "clever"]},
            "command of careful-2",
            "expected a built-in bot, got 'clever'",
        ),
        ({"command": ["x", "careful-2"]}, "command of careful-2", "x careful-2"),
    ):
        write_run(
            run,
            msgspec.structs.replace(
                info, bots=[info.bots[0], msgspec.structs.replace(info.bots[1], **changes)]
            ),
        )
        [found] = verify_run(Run(run)).differences
        assert (found.file, found.field, found.got) == ("run.json", field, got)
    newer = msgspec.structs.replace(info.bots[1], version="2", sha256="0" * 64)
    write_run(run, msgspec.structs.replace(info, bots=[info.bots[0], newer]))
    verdict = verify_run(Run(run))
    assert verdict.differences == []
    assert verdict.notes == snapshot
    assert hashed == built_in_bot("careful-2").sha256


def test_missing_games_and_half_a_line_are_notes(run, snapshot):
    lines = lines_of(run)
    (run / "games.jsonl").write_text("".join(lines[:-2]) + lines[-2][:50])
    for path in run.glob("*.csv"):
        path.unlink()
    verdict = verify_run(Run(run))
    assert verdict.differences == []
    assert verdict.notes == snapshot


def test_a_run_file_that_contradicts_itself_is_found(run):
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**info, "seed": "other"}))
    assert first(run)[:3] == ("run.json", None, "seed")


def test_what_is_no_run_is_an_error(tmp_path, refused):
    with refused(RunError):
        verify_run(Run(tmp_path))


def test_a_run_of_an_older_version_is_refused_by_the_version_that_reads_it(run, refused):
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text.replace('"arena": "0"', '"arena": "0.1.0"'))
    with refused(RunError):
        run_tables(run, read_run(run))
    with refused(RunError):
        verify_run(Run(run))


def test_a_bound_is_checked_like_any_other_figure(run):
    path = run / "standings.csv"
    text = path.read_text()
    marked = text.splitlines()
    cells = marked[-1].split(",")
    cells[-4] = "?" if cells[-4] == "<" else "<"
    path.write_text("\n".join([*marked[:-1], ",".join(cells)]) + "\n")
    assert first(run).field == "mark"


def run_of_1_0(name, tmp_path):
    shutil.copytree(RUNS_OF_1_0 / name, tmp_path / name)
    return tmp_path / name


def rows_of(path):
    return [line.split(",") for line in path.read_text().splitlines()]


def write_rows(path, rows):
    path.write_text("".join(",".join(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("order", "which ranked bots without a rating in another way: their ranks are left as"),
        ("shared-ranks", "which ranked bots without a rating in another way"),
        ("first-tables", "which rated in another way: their ratings and ranks are not compared"),
    ],
)
def test_an_untouched_run_of_version_1_0_has_no_difference_and_a_note(
    tmp_path, name, said, snapshot
):
    run = run_of_1_0(name, tmp_path)
    checked = verify_run(Run(run))
    assert checked.differences == []
    [note] = checked.notes
    assert note == snapshot
    export_run(Run(run), run, run_tables(run, read_run(run)))
    assert (verify_run(Run(run)).differences, verify_run(Run(run)).notes) == ([], [])


@pytest.mark.parametrize("name", ["order", "shared-ranks"])
def test_a_changed_table_of_version_1_0_is_found(tmp_path, name):
    """Also in ranks and in an order that 1.0.0 did not give."""
    run = run_of_1_0(name, tmp_path)
    path = run / "standings.csv"
    rows = rows_of(path)
    for row in range(1, len(rows)):
        for column in ("rank", "bot", "elo_high", "games", "mark", "deals"):
            changed = [cells.copy() for cells in rows]
            changed[row][rows[0].index(column)] = "7"
            write_rows(path, changed)
            [found] = verify_run(Run(run)).differences
            assert (found.file, found.line, found.field) == ("standings.csv", row + 1, column)
            assert found.got == "7"
    write_rows(path, [rows[0], *rows[:1:-1], rows[1]])
    assert verify_run(Run(run)).differences


def test_a_changed_count_in_the_first_tables_of_version_1_0_is_found(tmp_path):
    run = run_of_1_0("first-tables", tmp_path)
    for name, column in (
        ("standings", "games"),
        ("standings", "avg_left"),
        ("pairs", "wins"),
        ("seats", "games"),
        ("games", "turns"),
    ):
        path = run / f"{name}.csv"
        rows = rows_of(path)
        changed = [cells.copy() for cells in rows]
        changed[2][rows[0].index(column)] = "99"
        write_rows(path, changed)
        [found] = verify_run(Run(run)).differences
        assert (found.file, found.line, found.field, found.got) == (path.name, 3, column, "99")
        write_rows(path, rows)
    write_rows(run / "standings.csv", rows_of(run / "standings.csv")[:-1])
    assert first(run).field == "line"
    (run / "standings.csv").write_text("rank,elo\n1\n")
    assert first(run).file == "standings.csv"


def test_only_a_run_of_version_1_0_may_have_its_tables(run):
    """A table without the column ``mark`` and with made-up ratings is no table of this version."""
    path = run / "standings.csv"
    rows = rows_of(path)
    mark = rows[0].index("mark")
    elo = rows[0].index("elo")
    forged = [[cell for place, cell in enumerate(cells) if place != mark] for cells in rows]
    forged[1][elo] = "4000"
    write_rows(path, forged)
    checked = verify_run(Run(run))
    assert checked.differences
    assert not any("1.0.0" in note for note in checked.notes)


def without(rows, *columns):
    """The ``rows`` of a table without these columns."""
    kept = [place for place, head in enumerate(rows[0]) if head not in columns]
    return [[cells[place] for place in kept] for cells in rows]


def test_a_table_from_before_a_column_is_compared_in_the_columns_that_it_has(run, snapshot):
    for name, missing in (("standings", 2), ("pairs", 1)):
        path = run / f"{name}.csv"
        rows = rows_of(path)
        older = [cells[:-missing] for cells in rows]
        write_rows(path, older)
        checked = verify_run(Run(run))
        assert checked.differences == []
        assert checked.notes == snapshot(name=name)
        older[1][older[0].index("games")] = "77"
        write_rows(path, older)
        [found] = verify_run(Run(run)).differences
        assert (found.file, found.line, found.field, found.got) == (path.name, 2, "games", "77")
        write_rows(path, older[:-1])
        assert verify_run(Run(run)).differences
        write_rows(path, rows)


def test_unknown_columns_and_another_order_of_columns_are_differences(run):
    path = run / "standings.csv"
    rows = rows_of(path)
    swapped = [[cells[1], cells[0], *cells[2:-1]] for cells in rows]
    unknown = [[*cells[:-1], "luck" if cells is rows[0] else "1"] for cells in rows]
    added = [[*cells, "luck" if cells is rows[0] else "1"] for cells in rows]
    gap = without(rows, "avg_left")
    for changed in (swapped, unknown, added, gap, [[] for _ in rows], [["x"] for _ in rows]):
        write_rows(path, changed)
        found = first(run)
        assert (found.file, found.line) == ("standings.csv", 1)


def test_a_file_of_games_lacks_no_column(run):
    path = run / "games.csv"
    write_rows(path, without(rows_of(path), "turns"))
    assert first(run)[:3] == ("games.csv", 1, "line")
