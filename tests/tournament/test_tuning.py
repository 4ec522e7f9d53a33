"""Tuning: the path follows from the scores of blocks, whatever the order in which games end, and it
leads to the best setting of a bot that has one.
"""

import random
import re
from math import inf

import pytest
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.players.manifest import Option
from arena.records.config import Parameter, Tuning
from arena.records.record import VERSION, GameRecord
from arena.tournament.consistency import make_config
from arena.tournament.schedule import Schedule
from arena.tournament.tuning import (
    SearchPath,
    TunedGames,
    TunedOption,
    deals_for,
    leverage,
    parameters_of,
    reach,
    read_tuned_option,
)

C = Parameter("c", "float", 0.0, 4.0, 1.0)
DEPTH = Parameter("depth", "int", 1, 9, 3)
UP = "bot@up"


def config(*parameters, **settings):
    return make_config(
        {
            "bots": [UP, "bot@down"],
            "seed": "s",
            "tune": {"bot": "bot", "parameters": list(parameters or [C]), "step": 8},
            **settings,
        }
    )


class Played:
    """A search whose games are decided by how near each side is to the best settings: ``elo`` are
    lost a range away from them, and luck decides the rest.
    """

    def __init__(self, config, best, elo, known=()):
        self.best, self.elo = best, elo
        self.config, self.ids, self.records = config, set(), list(known)
        self.ids.update(record.id for record in known)
        self.search = TunedGames(Schedule(config), self.ids, lambda: 2, known)
        self.source = self.search.games

    def play(self, steps=inf, shuffle=None):
        """Plays until so many steps are complete; games end in the order they are issued, or in a
        shuffled one.
        """
        out = []
        while not self.source.is_over and self.search.path.steps < steps:
            out += self.source.issue(5)
            if shuffle:
                shuffle.shuffle(out)
            self.end(out.pop(0))
        return self

    def end(self, plan):
        chance = random.Random(plan.id)
        weights = [10 ** (-self.lost(settings) / 400) for settings in plan.settings]
        [winner] = chance.choices(range(len(weights)), weights)
        record = record_of(plan, [1 if seat == winner else 2 for seat in range(len(weights))])
        self.ids.add(record.id)
        self.records.append(record)
        self.source.ended(record)

    def lost(self, settings):
        """The Elo that a seat loses by its settings; opponents, who have none, lose as much as the
        sides do at first.
        """
        if not settings:
            settings = {one.name: one.start for one in self.config.tune.parameters}
        return sum(
            self.elo * ((settings[one.name] - self.best[one.name]) / one.width) ** 2
            for one in self.config.tune.parameters
        )


def record_of(plan, ranks):
    return GameRecord(
        VERSION, plan.id, plan.board, plan.deal, plan.seating, list(plan.bots), plan.deck, [],
        [0, 0], ranks, "last pagoda", [], [1.0, 1.0], [1.0, 1.0], 40, "none", "", "",
    )  # fmt: skip


def path_of(*parameters, step=8, boards=("bird",), seed="s"):
    return SearchPath(Tuning("bot", list(parameters or [C]), step), boards, seed)


def test_the_path_leads_to_the_best_setting():
    best = {"c": 3.0, "depth": 7}
    played = Played(config(C, DEPTH, deals=1500), best, elo=800).play()
    c, depth = played.search.path.suggestion()
    assert abs(c - 3.0) < 0.4
    assert abs(depth - 7) <= 1
    assert len(played.records) == 3000


POOLS = {
    (2, 1): ["x"],
    (3, 1): ["bot@copy1", "bot@copy2"],
    (3, 3): ["x", "y", "z"],
    (4, 1): ["bot@copy1", "bot@copy2", "bot@copy3"],
}
"""Opponents, by the number of players and how many sets of opponents take turns."""


def against(players, turns, **settings):
    bots = [UP, "bot@down", *POOLS[players, turns]]
    return config(**{"bots": bots, "players": players, "deals": 20, **settings})


@pytest.mark.parametrize(("players", "turns"), POOLS)
def test_with_opponents_both_sides_play_the_same_deals_in_the_same_seats(players, turns):
    played = Played(against(players, turns), {"c": 3.0}, 800)
    assert len(played.config.pool) == len(POOLS[players, turns])
    games = []
    while not played.source.is_over:
        for plan in played.source.issue(5):
            games.append(plan)
            played.end(plan)
    assert len(games) == len({plan.id for plan in games}) == 20 * 2 * players
    for deal in range(20):
        of_deal = [plan for plan in games if plan.deal == deal]
        up, down = (
            sorted((plan for plan in of_deal if side in plan.bots), key=lambda plan: plan.seating)
            for side in (UP, "bot@down")
        )
        assert len(up) == len(down) == players
        assert {plan.bots.index(UP) for plan in up} == set(range(players))
        for one, other in zip(up, down, strict=True):
            assert [UP if bot == "bot@down" else bot for bot in other.bots] == list(one.bots)
            assert (one.deck, one.seeds) == (other.deck, other.seeds)
            own = one.settings[one.bots.index(UP)]
            assert own != other.settings[other.bots.index("bot@down")]
            assert all(
                not settings
                for bot, settings in zip(one.bots, one.settings, strict=True)
                if bot != UP
            )
    sets = {frozenset(plan.bots) - {UP, "bot@down"} for plan in games}
    assert len(sets) == turns
    assert played.search.is_complete


@pytest.mark.parametrize(("players", "turns"), POOLS)
def test_with_opponents_the_path_leads_to_the_best_setting(players, turns):
    played = Played(against(players, turns, deals=600), {"c": 3.0}, elo=800).play()
    [c] = played.search.path.suggestion()
    assert abs(c - 3.0) < 0.5
    assert len(played.records) == 600 * 2 * players
    assert 1 / players < played.search.share < 0.9


@pytest.mark.parametrize("games", [0, 7, 96, 100, 230])
def test_a_search_with_opponents_that_is_taken_up_again_ends_on_the_same_path(games):
    whole = Played(against(3, 3), {"c": 3.0}, 800).play()
    again = Played(against(3, 3), {"c": 3.0}, 800, known=whole.records[:games]).play()
    assert again.search.path.places == whole.search.path.places


def test_the_same_difference_moves_a_search_as_far_whoever_the_opponents_are():
    """Of equal bots each has a share of 1 / players, and a small difference in Elo changes it by
    p (1 - p) of what it would be on the logistic scale; where the sides meet, theirs differ by half
    of it.
    """
    for players in (2, 3, 4):
        usual = 1 / players
        assert leverage(players) * usual * (1 - usual) == pytest.approx(0.5)


@pytest.mark.parametrize("bots", [["x"], []])
def test_a_game_of_three_needs_two_opponents_of_both_sides(bots, refused):
    with refused(ConfigError):
        config(bots=[UP, "bot@down", *bots], players=3)


def test_where_nothing_is_to_be_found_the_path_stays_in_the_middle_of_nowhere():
    path = Played(config(deals=1000), {"c": 0.0}, elo=0).play().search.path
    assert all(0 <= place[0] <= 1 for place in path.places)


def test_the_path_does_not_depend_on_the_order_in_which_games_end():
    first = Played(config(C, DEPTH, deals=60), {"c": 3.0, "depth": 7}, 800).play()
    other = Played(config(C, DEPTH, deals=60), {"c": 3.0, "depth": 7}, 800)
    other.play(shuffle=random.Random(1))
    assert other.search.path.places == first.search.path.places
    assert len(first.search.path.places) == 1 + 8


@pytest.mark.parametrize("games", [0, 1, 15, 16, 17, 50])
def test_a_search_that_is_taken_up_again_ends_on_the_same_path(games):
    whole = Played(config(deals=40), {"c": 3.0}, 800).play()
    again = Played(config(deals=40), {"c": 3.0}, 800, known=whole.records[:games]).play()
    assert again.search.path.places == whole.search.path.places
    assert sorted(record.id for record in again.records) == sorted(
        record.id for record in whole.records
    )


def test_more_games_lengthen_the_path_and_change_none_of_it():
    short = Played(config(deals=40), {"c": 3.0}, 800).play()
    longer = Played(config(deals=80), {"c": 3.0}, 800, known=short.records).play()
    assert longer.search.path.places[:6] == short.search.path.places
    assert len(longer.search.path.places) == 11


def test_what_is_no_game_of_both_sides_counts_for_nothing_and_ends_the_search():
    whole = Played(config(deals=16), {"c": 3.0}, 800).play()
    foreign = [
        replace(record, bots=["a", "b"]) if record.deal == 9 else record for record in whole.records
    ]
    search = Played(config(deals=16), {"c": 3.0}, 800, known=foreign).search
    assert search.path.steps == 1
    assert search.games.issue(5) == []
    assert search.games.is_over
    assert not search.is_complete


def test_both_sides_play_a_deal_in_both_seatings_with_the_same_settings():
    source = Played(config(boards=["bird", "lion"], deals=8), {"c": 3.0}, 800).source
    plans = []
    while batch := source.issue(3):
        plans += batch
        for plan in batch:
            source.ended(record_of(plan, [1, 2]))
    by_block = {}
    for plan in plans:
        of_up = plan.settings[plan.bots.index(UP)]
        by_block.setdefault((plan.board, plan.deal), []).append((of_up, plan.bots[0]))
    assert len(by_block) == 16
    for (up, first), (same, second) in by_block.values():
        assert up == same
        assert first != second
    assert len({up["c"] for (up, _), _ in by_block.values()}) > 2


def test_a_step_goes_towards_the_side_that_won():
    path = path_of(step=1)
    up, down = path.sides("bird", 0)
    assert abs(up[0] - down[0]) == pytest.approx(2 * reach(0) * C.width)
    path.move({("bird", 0): 1.0})
    assert (path.values(1)[0] > 1.0) == (up > down)
    path = path_of(step=1)
    path.move({("bird", 0): -1.0})
    assert (path.values(1)[0] > 1.0) == (down > up)


def test_a_block_that_says_nothing_of_an_option_does_not_move_it():
    narrow = Parameter("c", "float", 0.0, 1.0, 0.0)
    path = path_of(narrow, step=1)
    up, down = path.sides("bird", 0)
    assert sorted((up, down)) == [(0.0,), (0.2,)]
    path.move({("bird", 0): 0.0})
    assert path.places == [(0.0,), (0.0,)]


def test_an_integer_is_played_as_one_and_both_sides_differ():
    path = path_of(Parameter("n", "int", 0, 100, 50), Parameter("k", "int", 1, 3, 2), step=1000)
    for deal in range(200):
        up, down = path.sides("bird", deal)
        assert all(value == int(value) for value in (*up, *down))
        assert up[0] != down[0]
        assert up[1] != down[1]
        assert all(1 <= side[1] <= 3 for side in (up, down))
    assert path.settings(up)["n"].__class__ is int


def test_a_place_between_two_integers_is_played_as_either_in_proportion():
    values = [DEPTH.nearest(0.28, lot / 100) for lot in range(100)]
    assert set(values) == {3, 4}
    assert sum(values) / 100 == pytest.approx(1 + 8 * 0.28, abs=0.01)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("c", TunedOption("c")),
        ("c=0.5..3", TunedOption("c", (0.5, 3.0))),
        ("c=-1..1", TunedOption("c", (-1, 1))),
    ],
)
def test_an_option_is_named_with_or_without_a_range(text, asked):
    assert read_tuned_option(text) == asked


@pytest.mark.parametrize("text", ["", "=1..2", "c=", "c=1", "c=1..", "c=1..2..3", "c=a..b"])
def test_anything_else_is_no_option_with_a_range(text, refused):
    with refused(ConfigError):
        read_tuned_option(text)


@pytest.mark.parametrize("end", ["nan", "inf", "1e999", "0x10", "1_0", "١"])  # noqa: RUF001
def test_a_range_has_plain_numbers_as_ends(end):
    with pytest.raises(ConfigError):
        read_tuned_option(f"c=0..{end}")


DECLARED = {
    "c": Option("float", 1.4, 0.1, 4),
    "depth": Option("int", 3, 1, 9),
    "free": Option("float", 1.0),
    "fast": Option("bool", default=True),
    "policy": Option("choice", "greedy", choices=["greedy", "careful"]),
}
NOW = {"c": 1.4, "depth": 3, "free": 1.0, "fast": True, "policy": "greedy"}


@pytest.mark.parametrize(
    ("asked", "declared", "hint"),
    [
        ("c", {}, r"\[options\]"),
        ("dept", DECLARED, "depth"),
        ("move_ms", DECLARED, "b has c, depth"),
        ("fast", DECLARED, "compare b:fast=true b:fast=false"),
        ("policy", DECLARED, "b:policy=greedy b:policy=careful"),
        ("free", DECLARED, "--param free=1..10"),
        ("c=0..9", DECLARED, ""),
        ("depth=1.5..3", DECLARED, ""),
    ],
)
def test_what_cannot_be_tuned_is_said_with_the_cure(asked, declared, hint, refused):
    with refused(ConfigError) as raised:
        parameters_of([read_tuned_option(asked)], declared, NOW, "b")
    assert re.search(hint, raised.value.hint)


def test_an_option_is_tuned_in_its_own_range_or_the_one_that_is_named(refused):
    found = parameters_of(
        [read_tuned_option("c"), read_tuned_option("depth=2..4")], DECLARED, NOW, "b"
    )
    assert found == [
        Parameter("c", "float", 0.1, 4.0, 1.4),
        Parameter("depth", "int", 2.0, 4.0, 3.0),
    ]
    with refused(ConfigError):
        parameters_of([read_tuned_option("c"), read_tuned_option("c=1..2")], DECLARED, NOW, "b")


@pytest.mark.parametrize(
    "parameter", [Parameter("c", "float", 2.0, 2.0, 2.0), Parameter("c", "float", 2.0, 3.0, 1.0)]
)
def test_a_range_has_more_than_one_value_and_the_one_to_start_at(parameter, refused):
    with refused(ConfigError):
        config(parameter)


def test_a_deal_needs_both_seatings(refused):
    assert deals_for(5, 2, 2) == 1
    assert deals_for(13, 2, 6) == 1, "with three players both sides play from each seat"
    with refused(ConfigError):
        deals_for(3, 2, 2)


def test_a_run_from_before_tuning_is_read_as_it_was():
    assert make_config({"bots": ["a", "b"], "seed": "s"}).tune is None
