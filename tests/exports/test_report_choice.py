"""Which games a report shows."""

import numpy as np
import pytest

from arena.errors import RunError
from arena.exports.report.choice import GamesToShow, choose, choose_games
from arena.exports.report.material import gather
from arena.tournament.run import Run
from tests.exports.runs import duels, game_of, write_run


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    kinds = ("late", "exit", "illegal move")
    faulty = [
        game_of(("a", "b"), deal=deal, faults=[(0, 2, kind, "")])
        for deal, kind in enumerate(kinds * 3, 100)
    ]
    return gather(
        Run(
            write_run(
                tmp_path_factory.mktemp("choice") / "run",
                "abcd",
                [*duels("abcd", 6), *faulty],
                deals=6,
            )
        )
    )


def field_of(material, elo=None, allowed=None):
    allowed = np.ones(len(material.is_open), dtype=bool) if allowed is None else allowed
    return GamesToShow(material.scan, elo or material.elo, allowed)


def told(chosen):
    return [(game, reason) for game, reasons in chosen.items() for reason in reasons]


def record_of(material, game):
    return material.scan.records([game])[game]


@pytest.mark.parametrize("count", [0, 1, 5, 20, 60, 1000])
def test_no_more_games_are_chosen_than_asked_for_or_there_are(material, count):
    assert len(choose_games(field_of(material), count)) == min(count, material.tables.games)


def test_each_kind_of_fault_is_shown_by_its_latest_game(material):
    chosen = choose_games(field_of(material), 20)
    shown = {
        reason: record_of(material, game).deal
        for game, reason in told(chosen)
        if reason.startswith("fault")
    }
    assert shown == {"fault: late": 106, "fault: exit": 107, "fault: illegal move": 108}


def test_close_games_come_first_and_those_with_a_fault_last(material):
    chosen = choose_games(field_of(material), 20)
    assert next(iter(chosen.values()))[0].startswith("close: ")
    faulty = [bool(record_of(material, game).faults) for game in chosen]
    assert any(faulty)
    assert faulty == sorted(faulty)


def test_the_other_seatings_of_close_games_are_there_too(material):
    chosen = choose_games(field_of(material), 20)
    others = [game for game, reasons in chosen.items() if "same deal, other seats" in reasons]
    assert len(others) == 20 // 8
    for game in others:
        record = record_of(material, game)
        own = [
            one.seating
            for one in (record_of(material, other) for other in chosen)
            if (one.deal, sorted(one.bots)) == (record.deal, sorted(record.bots))
        ]
        assert sorted(own) == [0, 1]


def test_an_upset_is_the_widest_difference_that_was_overcome(material):
    elo = {"a": 900.0, "b": 500.0, "c": 100.0, "d": 0.0}
    chosen = choose_games(field_of(material, elo), 20)
    upsets = [(game, reason) for game, reason in told(chosen) if reason.startswith("upset")]
    assert upsets
    for game, reason in upsets:
        record = record_of(material, game)
        winner, loser = (record.bots[record.ranks.index(rank)] for rank in (1, 2))
        assert reason == f"upset: by {elo[loser] - elo[winner]:.0f} Elo"
    records = [record_of(material, game) for game in range(material.tables.games)]
    margins = [
        elo[game.bots[game.ranks.index(2)]] - elo[game.bots[game.ranks.index(1)]]
        for game in records
        if game.ranks in ([1, 2], [2, 1]) and not game.faults
    ]
    assert upsets[0][1] == f"upset: by {max(margins):.0f} Elo"


def test_the_closest_the_longest_and_the_latest_are_what_they_are_called(material):
    chosen = choose_games(field_of(material), 40)
    records = [record_of(material, game) for game in range(material.tables.games)]
    clean = [record for record in records if not record.faults]
    by_reason = {
        reason.split(":")[0]: record_of(material, game)
        for game, reasons in reversed(chosen.items())
        for reason in reasons
    }
    assert by_reason["long"].turns == max(record.turns for record in clean)
    lead = min(
        abs(record.left[0] - record.left[1]) if record.ranks != [1, 1] else 0 for record in clean
    )
    assert abs(by_reason["close"].left[0] - by_reason["close"].left[1]) == lead
    assert {reason for _, reason in told(chosen) if reason.startswith("latest of")} == {
        f"latest of {one} + {other}" for one, other in ("ab", "ac", "ad", "bc", "bd", "cd")
    }


def test_games_that_may_not_be_shown_are_never_chosen(material):
    allowed = np.zeros(len(material.is_open), dtype=bool)
    assert choose_games(field_of(material, allowed=allowed), 40) == {}
    allowed[7] = True
    assert list(choose_games(field_of(material, allowed=allowed), 40)) == [7]


def test_games_are_found_by_id_in_the_order_asked_for(material, refused):
    ids = [record_of(material, game).id for game in (30, 2)]
    assert list(choose(material, ids)) == [30, 2]
    with refused(RunError):
        choose(material, ["bird/none"])


def test_of_a_record_that_is_there_twice_the_first_counts(tmp_path):
    games = duels("ab", 3)
    material = gather(Run(write_run(tmp_path / "run", "ab", [games[0], *games], deals=3)))
    assert material.tables.games == 6
    assert [record_of(material, game).id for game in range(6)] == [game.id for game in games]
