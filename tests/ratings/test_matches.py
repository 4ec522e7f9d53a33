"""Matches of several rounds (R8.3): totals, ties, forfeits, what is missing, and tables that say
what the journal implies.
"""

import csv
import io
from collections import defaultdict

import numpy as np
import pytest

from arena.errors import UserError
from arena.exports.files import csv_text, standings_object
from arena.match.referee import Referee
from arena.players.player import InProcessPlayer, first_move, random_move
from arena.ratings.columns import file_names
from arena.ratings.tables import make_tables, run_tables
from arena.ratings.tally import Match, Matches, Score, Tally, scoring_of
from arena.records.blocks import games_in
from arena.records.journal import Journal, read_records
from arena.records.record import Fault, GameRecord, shares
from arena.records.runfile import read_run
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.rules.terms import final_ranks, place_of, turns_of
from arena.tournament.consistency import make_config
from arena.tournament.schedule import Schedule
from tests.exports.runs import write_run
from tests.ratings.synthetic import standings_text

BOTH = ("bird", "lion")
BOTS = {"ann": random_move, "bob": first_move, "cy": random_move}


def round_on(board, left, *, bots="ab", deal=0, forfeited=()):
    """A game that ended so; ``forfeited`` are seats in the order in which they left it."""
    faults = [Fault(seat, 0, "exit", "") for seat in forfeited]
    times = [10.0] * len(bots)
    name = f"{board}/{'+'.join(sorted(bots))}/{deal}/{''.join(bots)}"
    end = "forfeit" if forfeited else "no tiles"
    ranks = final_ranks(left, forfeited)
    return GameRecord(
        1,
        name,
        board,
        deal,
        0,
        list(bots),
        "",
        [],
        list(left),
        ranks,
        end,
        faults,
        times,
        times,
        0,
        "none",
        "",
        "",
    )


def matches_of(records, match=BOTH):
    """The matches that the games make."""
    whole = []
    matches = Matches(match, whole.append)
    for record in records:
        matches.add(record)
    return whole


def ranks_of(records, match=BOTH):
    """The ranks of the one match that there is."""
    [found] = matches_of(records, match)
    return found.ranks


def test_the_lowest_total_wins():
    [found] = matches_of([round_on("bird", (0, 7)), round_on("lion", (6, 0))])
    assert found == Match("bird + lion", 0, ("a", "b"), [1, 2], [6, 7], [20.0, 20.0], [])


def test_equal_totals_share_the_win():
    assert ranks_of(
        [round_on("bird", (0, 7, 9), bots="abc"), round_on("lion", (7, 0, 0), bots="abc")]
    ) == [1, 1, 3]


def test_whoever_forfeits_a_round_ranks_below_all_who_do_not():
    assert ranks_of([round_on("bird", (0, 24)), round_on("lion", (3, 9), forfeited=[0])]) == [2, 1]
    records = [
        round_on("bird", (0, 9, 9, 9), bots="abcd"),
        round_on("lion", (1, 9, 5, 9), bots="abcd", forfeited=[0]),
    ]
    assert ranks_of(records) == [4, 2, 1, 2]


@pytest.mark.parametrize(
    ("first", "second", "ranks"),
    [
        (round_on("bird", (9, 9), forfeited=[0]), round_on("lion", (5, 7), forfeited=[1]), [1, 2]),
        (round_on("bird", (9, 9), forfeited=[0]), round_on("lion", (7, 7), forfeited=[1]), [1, 1]),
        (round_on("bird", (1, 9), forfeited=[0]), round_on("lion", (1, 9), forfeited=[0]), [2, 1]),
        (
            round_on("bird", (2, 9, 0), bots="abc", forfeited=[0, 1]),
            round_on("lion", (2, 9, 0), bots="abc"),
            [3, 2, 1],
        ),
        (
            round_on("bird", (9, 1, 0), bots="abc", forfeited=[0, 1]),
            round_on("lion", (0, 9, 5), bots="abc", forfeited=[1]),
            [2, 3, 1],
        ),
    ],
    ids=[
        "one each: the total",
        "one each: equal",
        "two by one bot",
        "an earlier one is worse",
        "more of them are worse",
    ],
)
def test_those_that_forfeited_rank_by_forfeits_then_as_in_a_game_then_by_the_total(
    first, second, ranks
):
    assert ranks_of([first, second]) == ranks


def test_a_match_of_one_round_is_the_game():
    records = [
        round_on("bird", (4, 9, 0, 9), bots="abcd", forfeited=[0, 1]),
        round_on("bird", (0, 7), deal=1),
        round_on("bird", (2, 2, 5), bots="abc", deal=2),
    ]
    for record, found in zip(records, matches_of(records, ["bird"]), strict=True):
        for field in ("board", "deal", "ranks", "left", "think_ms"):
            assert getattr(found, field) == getattr(record, field), field
        assert [lost.seat for lost in found.faults] == sorted(fault.seat for fault in record.faults)


def test_a_match_counts_only_with_all_its_rounds_and_the_same_seats(snapshot):
    whole = [round_on("bird", (0, 7)), round_on("lion", (0, 9))]
    others = [
        round_on("bird", (3, 0), bots="ba"),
        round_on("bird", (0, 5), bots="ac"),
        round_on("lion", (0, 5), bots="ac", deal=1),
        round_on("owl", (0, 5)),
    ]
    [found] = matches_of([*others, *whole])
    assert (found.bots, found.left) == (("a", "b"), [0, 16])
    score = Score(BOTH)
    for record in [*others, *whole]:
        score.add(record)
    tables = make_tables(score.counted.counts(), None, score.games.blocks(), match=BOTH)
    assert tables.notes == snapshot
    assert matches_of(others) == matches_of([]) == []
    assert make_tables(Tally().counts(), None, score.games.blocks(), match=BOTH).games == 0


def test_a_game_that_is_there_twice_completes_no_match_and_none_again():
    first, second = round_on("bird", (0, 7)), round_on("lion", (0, 7))
    assert matches_of([first, first]) == []
    [found] = matches_of([first, round_on("bird", (9, 9)), second, first, second])
    assert found.left == [0, 14]


def test_a_board_named_twice_is_played_on_two_deals():
    records = [round_on("bird", (deal, 4), deal=deal) for deal in range(5)]
    found = matches_of(records, ["bird", "bird"])
    assert [(match.board, match.deal, match.left) for match in found] == [
        ("bird + bird", 0, [1, 8]),
        ("bird + bird", 1, [5, 8]),
    ]


def test_totals_beyond_a_byte_are_whole():
    records = [round_on("bird", (24, 23), deal=deal) for deal in range(12)]
    [found] = matches_of(records, ["bird"] * 12)
    assert found.left == [288, 276]


def rounds_of(match, deal):
    """The board and the deal on it for each round of one of the match's deals (R8.3)."""
    return [
        (board, deal * match.count(board) + match[:number].count(board))
        for number, board in enumerate(match)
    ]


@pytest.mark.parametrize(
    "match",
    [["bird"], ["bird", "lion"], ["bird", "bird"], ["lion", "bird", "lion", "bird", "bird"]],
)
def test_the_rounds_of_all_deals_are_all_deals_of_the_boards_once(match):
    rounds = [
        (deal, number, place)
        for deal in range(20)
        for number, place in enumerate(rounds_of(match, deal))
    ]
    assert len({place for _, _, place in rounds}) == len(rounds)
    for board in set(match):
        assert sorted(deal for _, _, (name, deal) in rounds if name == board) == list(
            range(20 * match.count(board))
        )
    turns = turns_of(match)
    assert all(
        place_of(turns[board], place) == (deal, number) for deal, number, (board, place) in rounds
    )


def play_run(folder, **settings):
    """A match run played in this process, on disk as the arena leaves it."""
    config = make_config({"bots": list(BOTS), "seed": "a-seed-that-must-stay-secret", **settings})
    write_run(
        folder,
        BOTS,
        [],
        boards=config.boards,
        deals=config.deals,
        players=config.players,
        match=config.match,
    )
    with Journal(folder) as journal:
        for plan in Schedule(config):
            players = [InProcessPlayer(name, BOTS[name]) for name in plan.bots]
            journal.append([Referee(plan, built_in(plan.board), players, Timing()).play().record])
    return folder


@pytest.fixture(scope="module", params=[("bird", "lion"), ("lion", "bird", "lion")], ids="+".join)
def run(request, tmp_path_factory):
    settings = {
        "match": list(request.param),
        "boards": ["bird", "lion"],
        "deals": 10,
        "players": len(request.param),
    }
    return play_run(tmp_path_factory.mktemp("match") / "run", **settings)


def implied(run, match):
    """Slowly and obviously: (deal of the match, seats) with the
    ranks and totals, from the records.
    """
    totals, rounds = defaultdict(list), defaultdict(int)
    for record in (record for record in read_records(run) if record.board in match):
        key = record.deal // match.count(record.board), tuple(record.bots)
        totals[key].append(record.left)
        rounds[key] += 1
    for key, lefts in totals.items():
        if rounds[key] == len(match):
            left = [sum(column) for column in zip(*lefts, strict=True)]
            yield key, left, [1 + sum(other < own for other in left) for own in left]


def test_the_table_equals_the_csv_equals_what_the_journal_implies(run):
    match, tables = read_run(run).counting.match, run_tables(run, read_run(run))
    rows = {
        row["bot"]: row
        for row in csv.DictReader(io.StringIO(csv_text(tables.standings, file_names("standings"))))
    }
    matches = list(implied(run, match))
    assert tables.games == len(matches) > 0
    assert tables.clusters == 10
    for bot, row in rows.items():
        places = [
            (ranks, left, bots.index(bot)) for (_, bots), left, ranks in matches if bot in bots
        ]
        got = [shares(ranks)[seat] for ranks, _, seat in places]
        assert [int(row[column]) for column in ("games", "wins", "losses")] == [
            len(places),
            got.count(1),
            got.count(0),
        ]
        assert float(row["win_rate"]) == pytest.approx(np.mean(got), abs=1e-4)
        assert float(row["avg_rank"]) == pytest.approx(
            np.mean([ranks[seat] for ranks, _, seat in places]), abs=1e-3
        )
        assert float(row["avg_left"]) == pytest.approx(
            np.mean([left[seat] for _, left, seat in places]), abs=1e-3
        )
    text = standings_text(tables)
    assert "Matches" in text.splitlines()[0]
    assert f"{len(matches)} matches of {' + '.join(match)}, 10 deals" in text
    assert standings_object(tables, pairs=False)["match"] == match


def test_errors_are_clustered_by_the_deal_of_the_match(run):
    """The same matches as if each had been one game on that deal."""
    match = read_run(run).counting.match
    games = Tally()
    for (deal, bots), left, _ in implied(run, match):
        games.add(round_on("one", left, bots=bots, deal=deal))
    wanted, got = make_tables(games.counts(BOTS)), run_tables(run, read_run(run))
    for column in ("bot", "elo", "elo_low", "elo_high", "rank_low", "rank_high", "wins"):
        assert got.standings[column].tolist() == wanted.standings[column].tolist(), column
    assert csv_text(got.pairs) == csv_text(wanted.pairs)


def test_any_run_can_be_seen_by_another_scoring(run, refused):
    singly = run_tables(run, read_run(run), match=[])
    assert singly.games == games_in(singly.blocks)
    assert "Games" in standings_text(singly)
    birds = run_tables(run, read_run(run), match=["bird", "bird"])
    assert birds.games == len(list(implied(run, ["bird", "bird"]))) > 0
    assert "games do not belong to a complete match of bird + bird" in birds.notes[0]
    with refused(UserError):
        run_tables(run, read_run(run), match=["bird", "owl"])


def test_the_scoring_is_that_of_run_json_unless_asked_otherwise(run):
    info = read_run(run)
    assert scoring_of(info) == info.config.match
    assert scoring_of(info, []) == []
