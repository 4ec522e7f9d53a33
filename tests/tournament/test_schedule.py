"""Which games there are: ids, seats, deals, balance."""

from collections import Counter
from itertools import combinations, islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.errors import ConfigError
from arena.records.config import LeagueTerms, RunConfig
from arena.records.journal import Ids
from arena.records.league import Drawn
from arena.records.runfile import RunInfo
from arena.rules.notation import parse_deck
from arena.tournament.consistency import config_of, make_config
from arena.tournament.lineups import (
    MAX_TABLES,
    LineUps,
    balanced_subset,
    choose_line_ups,
    fix_line_ups,
    line_ups_of,
)
from arena.tournament.runs import completeness
from arena.tournament.schedule import Schedule, bot_seed, deck_of, seatings


def config(**settings):
    return make_config({"bots": ["ann", "bob", "cy", "dee"], "seed": "s", **settings})


def ids(schedule):
    return [plan.id for plan in schedule]


def line_ups(settings):
    """The line-ups of a run with these settings."""
    return list(line_ups_of(fix_line_ups(settings, None)))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_line_up_plays_every_deal_with_every_rotation(players):
    schedule = Schedule(config(players=players, deals=3, boards=["bird", "lion"]))
    plans = list(schedule)
    assert len(plans) == schedule.games == len({plan.id for plan in plans})
    assert len(plans) == len(list(combinations("abcd", players))) * 3 * players * 2
    for plan in plans:
        assert len(set(plan.bots)) == players
    seats = Counter((bot, seat) for plan in plans for seat, bot in enumerate(plan.bots))
    assert len(set(seats.values())) == 1


def blocks_of(games):
    """What `completeness` takes, from games by (board/line-up, deal)."""
    return [(place, [deal], [count]) for (place, deal), count in games.items()]


def test_the_plan_knows_its_blocks_and_how_much_of_them_was_played():
    settings = fix_line_ups(config(players=3, deals=2, boards=["bird", "lion"], tables=2), None)
    schedule = Schedule(settings)
    blocks = Counter((plan.id.rsplit("/", 2)[0], plan.deal) for plan in schedule)
    assert all(schedule.needs_block(*block) for block in blocks)
    first, second, *rest = blocks
    line_up = first[0].split("/")[1]
    foreign = [(f"bird/{line_up}", 2), (f"other/{line_up}", 0), ("bird/ann+bob+zoe", 0)]
    assert not any(schedule.needs_block(*block) for block in foreign)
    info = RunInfo("0", 1, "pure", 1, settings, {}, [], "s", "none", "")
    assert completeness(Schedule(config_of(info)), blocks_of(blocks)) == (24, 0, 0)
    assert completeness(Schedule(config_of(info)), []) == (24, 24, 0)
    played = {first: 1, second: 2, **dict.fromkeys([*rest[:-1], *foreign], 3)}
    assert completeness(Schedule(config_of(info)), blocks_of(played)) == (24, 6, 2)
    with pytest.raises(ConfigError):
        Schedule(config_of(msgspec.structs.replace(info, config=None)))


def test_the_plan_knows_its_games_by_their_ids():
    schedule = Schedule(fix_line_ups(config(players=3, deals=2, tables=2), None))
    assert all(schedule.has_game(name) for name in ids(schedule))
    [line_up, _] = schedule.line_ups
    place = f"bird/{'+'.join(line_up)}"
    foreign = [
        f"{place}/2/0",
        f"{place}/0/3",
        f"{place}/00/0",
        f"{place}/0/01",
        f"{place}/0/",
        f"{place}/0",
        f"{place}//0",
        "",
        "/",
        "//",
    ]
    assert not any(
        map(
            schedule.has_game,
            [*foreign, f"lion/{'+'.join(line_up)}/0/0", f"{place}/\u0663/0", f"{place}/-1/0"],
        )
    )


def test_an_id_says_board_line_up_deal_and_seating():
    plan = Schedule(config(deals=1)).game("bird", ("ann", "cy"), 7, 1)
    assert (plan.id, plan.bots) == ("bird/ann+cy/7/1", ("cy", "ann"))


def test_all_seatings_are_the_permutations_with_the_rotations_first():
    assert seatings(3, "rotations") == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]
    everything = seatings(3, "all")
    assert everything[:3] == seatings(3, "rotations")
    assert len(set(everything)) == 6
    assert len(seatings(4, "all")) == 24


def test_deals_are_the_same_for_every_line_up_and_differ_by_number_board_and_seed():
    plans = list(Schedule(config(deals=4, boards=["bird", "lion"], players=3)))
    decks = {}
    for plan in plans:
        assert decks.setdefault((plan.board, plan.deal), plan.deck) == plan.deck
    assert len(set(decks.values())) == len(decks) == 8
    assert deck_of("s", "bird", 0) != deck_of("t", "bird", 0)
    for deck in decks.values():
        parse_deck(deck)


def test_more_deals_and_further_bots_change_no_id_and_no_deck():
    few = {plan.id: plan for plan in Schedule(config(bots=["ann", "bob"], deals=3))}
    more = {
        plan.id: plan
        for plan in Schedule(config(bots=["aaa", "ann", "abe", "bob", "zoe"], deals=60))
    }
    assert few.keys() < more.keys()
    assert all(replace(more[game], ends_deal=True) == plan for game, plan in few.items())


def test_a_match_has_a_game_on_each_of_its_boards_and_more_of_them_change_no_id():
    match = {"match": ["bird", "lion", "bird"], "boards": ["bird", "lion"], "bots": ["ann", "bob"]}
    few, more = ids(Schedule(config(deals=3, **match))), ids(Schedule(config(deals=14, **match)))
    assert len(few) == Schedule(config(deals=3, **match)).games == 3 * 3 * 2
    assert sorted(few) == sorted(
        f"{board}/ann+bob/{deal}/{seating}"
        for board, deals in (("bird", 6), ("lion", 3))
        for deal in range(deals)
        for seating in (0, 1)
    )
    assert set(few) < set(more)
    assert len(set(more)) == len(more) == 14 * 3 * 2
    once = ids(Schedule(config(deals=3, match=["bird", "lion"], boards=["bird", "lion"])))
    assert once == ids(Schedule(config(deals=3, boards=["bird", "lion"])))


def test_the_plan_of_matches_knows_its_blocks():
    settings = config(match=["bird", "lion", "bird"], boards=["bird", "lion"], deals=1)
    schedule = Schedule(settings)
    blocks = Counter((plan.id.rsplit("/", 2)[0], plan.deal) for plan in schedule)
    assert [deal for deal in range(5) if schedule.needs_block("bird/ann+bob", deal)] == [0, 1]
    assert [deal for deal in range(5) if schedule.needs_block("lion/ann+cy", deal)] == [0]
    info = RunInfo("0", 1, "pure", 1, settings, {}, [], "s", "none", "")
    assert completeness(Schedule(config_of(info)), blocks_of(blocks)) == (6 * 3 * 2, 0, 0)


def test_the_order_of_the_bots_does_not_matter():
    assert ids(Schedule(config(bots=["dee", "ann", "cy", "bob"]))) == ids(Schedule(config()))


def test_seeds_of_bots_differ_by_game_and_seat_and_fit_31_bits():
    seeds = [seed for plan in Schedule(config(deals=20)) for seed in plan.seeds]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert bot_seed("s", "bird/a+b/0/0", 0) != bot_seed("t", "bird/a+b/0/0", 0)


def test_tiles_come_first_about_equally_often():
    first = Counter(deck_of("uniform", "bird", deal)[:2] for deal in range(3000))
    assert set(first) == {"RR", "YY", "BB", "RY", "YB", "RB"}
    assert all(420 < count < 580 for count in first.values())


def test_a_gauntlet_has_only_line_ups_with_the_challenger():
    schedule = Schedule(config(players=3, challenger="cy"))
    assert list(schedule.line_ups) == [
        ("ann", "bob", "cy"),
        ("ann", "cy", "dee"),
        ("bob", "cy", "dee"),
    ]


def test_tables_choose_a_balanced_subset():
    bots = [f"b{number:02}" for number in range(12)]
    chosen = line_ups(config(bots=bots, players=4, tables=30))
    assert len(set(chosen)) == 30
    games = Counter(bot for group in chosen for bot in group)
    assert set(games.values()) == {10}
    pairs = Counter(pair for group in chosen for pair in combinations(group, 2))
    assert max(pairs.values()) <= 5
    assert len(pairs) >= 60


@given(st.integers(2, 9), st.integers(2, 4), st.data())
def test_a_subset_is_balanced_for_any_size(count, size, data):
    bots = [f"b{number}" for number in range(count)]
    every = len(list(combinations(bots, size)))
    if not every:
        return
    wanted = data.draw(st.integers(1, every))
    chosen = (
        choose_line_ups(
            config(bots=[*bots, "zz1", "zz2"][: max(count, size)], players=size), wanted, ()
        )
        if count >= size
        else []
    )
    assert len(set(chosen)) == wanted
    games = Counter(dict.fromkeys(bots, 0))
    games.update(bot for group in chosen for bot in group)
    assert max(games.values()) - min(games.values()) <= 1


def test_a_subset_of_a_gauntlet_is_balanced_too():
    bots = [f"b{number}" for number in range(8)]
    chosen = line_ups(config(bots=bots, players=3, challenger="b0", tables=14))
    games = Counter(bot for group in chosen for bot in group)
    assert games.pop("b0") == 14
    assert max(games.values()) - min(games.values()) <= 1


def test_more_tables_than_line_ups_means_all():
    assert line_ups(config(tables=99)) == line_ups(config())
    assert len(balanced_subset(["a", "b", "c"], 2, 2)) == 2


def test_large_fields_are_quick():
    bots = [f"b{number:03}" for number in range(120)]
    assert len(line_ups(config(bots=bots, players=4, tables=200))) == 200


def names(count):
    return [f"b{number:03}" for number in range(count)]


@pytest.mark.parametrize("challenger", [None, "b00", "b03", "b06"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_all_line_ups_are_counted_listed_in_order_and_known_without_a_list(players, challenger):
    every = line_ups_of(
        config(
            bots=[f"b{number:02}" for number in range(7)], players=players, challenger=challenger
        )
    )
    listed = list(combinations(sorted({bot for group in every for bot in group}), players))
    expected = [group for group in listed if challenger is None or challenger in group]
    assert list(every) == expected
    assert len(every) == len(expected)
    assert [group for group in listed if group in every] == expected
    first = expected[0]
    assert not any(
        group in every
        for group in [
            first[::-1],
            first[1:],
            (*first[:-1], first[-2]),
            (*first[:-1], "zoe"),
            "b00",
            7,
        ]
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"deals": 10_000_000},
        {"deals": 10_000_000, "challenger": "b007"},
        {"match": ["bird", "bird"]},
    ],
)
def test_a_plan_of_any_size_begins_at_once_and_is_never_listed(settings):
    schedule = Schedule(config(bots=names(2000), players=4, seatings="all", **settings))
    assert schedule.games > 2**40
    plans = islice(schedule.missing(Ids()), 1000)
    played = [plan.id for plan in plans]
    assert schedule.played(played) == len(set(played)) == 1000
    assert not schedule.has_game("bird/b000+b001+b002+zoe/0/0")
    info = RunInfo("0", 1, "pure", 1, schedule.config, {}, [], "s", "none", "")
    assert completeness(Schedule(config_of(info)), []).missing == schedule.games


def test_a_run_goes_on_where_it_stopped():
    schedule = Schedule(config(deals=30, boards=["bird", "lion"]))
    every = ids(schedule)
    for count in (0, 1, 77, len(every)):
        assert [plan.id for plan in schedule.missing(Ids(every[:count]))] == every[count:]


def test_all_line_ups_play_a_deal_before_the_next_and_their_blocks_are_whole():
    schedule = Schedule(config(deals=12, boards=["bird", "lion"]))
    assert [plan.deal for plan in schedule] == sorted(plan.deal for plan in schedule)
    blocks = [plan.id.rpartition("/")[0] for plan in schedule]
    assert blocks[::2] == blocks[1::2], "the seatings of a block follow each other"


@pytest.mark.parametrize("challenger", [None, "b03"])
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("count", [5, 8, 11])
def test_in_playing_order_no_bot_is_more_than_a_few_line_ups_ahead(count, players, challenger):
    """That is the number of bots in a line-up; where it is a choice of line-ups, twice that."""
    bots = [f"b{number:02}" for number in range(count)]
    every = line_ups_of(config(bots=bots, players=players, challenger=challenger))
    chosen = LineUps(bots, players, challenger, listed=list(every))
    for line_ups, most in ((every, players), (chosen, 2 * players)):
        for turn in range(5):
            order = list(line_ups.in_turn(turn))
            assert sorted(order) == list(every)
            games = Counter(dict.fromkeys(set(bots) - {challenger}, 0))
            for line_up in order:
                games.update(set(line_up) - {challenger})
                assert max(games.values()) - min(games.values()) <= most


def test_each_seating_is_the_first_of_a_deal_equally_often():
    first = {}
    for game in Schedule(config(deals=12)):
        first.setdefault((frozenset(game.bots), game.deal), game.seating)
    assert set(Counter(first.values()).values()) == {len(first) // 2}


def test_turns_begin_with_other_line_ups():
    every = line_ups_of(config(bots=names(20)))
    assert len({next(every.in_turn(turn)) for turn in range(10)}) == 10


def test_more_tables_than_a_run_lists_are_refused_unless_they_are_all(refused):
    with refused(ConfigError):
        fix_line_ups(config(bots=names(100), players=4, tables=MAX_TABLES + 1), None)
    assert fix_line_ups(config(bots=names(100), players=4, tables=3_921_225), None).line_ups is None
    everything = fix_line_ups(config(bots=names(30), players=4, tables=99_999), None)
    assert len(everything.line_ups) == 27_405


def test_completeness_is_every_id():
    schedule = Schedule(config(deals=1))
    every = set(ids(schedule))
    assert (
        schedule.played(every | {"another/a+b/0/0", "bird/ann+bob/0/2"})
        == schedule.games
        == len(every)
    )
    assert schedule.played(every - {next(iter(every))}) == schedule.games - 1
    lacking = list(every)[:2]
    assert [plan.id for plan in schedule.missing(every - set(lacking))] == [
        one for one in ids(schedule) if one in lacking
    ]


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("challenger", [None, "b2"])
def test_a_subset_keeps_its_line_ups_when_bots_or_tables_are_added(players, challenger):
    bots = [f"b{number}" for number in range(6)]
    first = fix_line_ups(config(bots=bots, players=players, tables=5, challenger=challenger), None)
    wider = config(bots=[*bots, "a-new", "z-new"], players=players, tables=7, challenger=challenger)
    grown = fix_line_ups(wider, first)
    assert len(first.line_ups) == 5
    assert len(grown.line_ups) == 7
    assert all(line_up in grown.line_ups for line_up in first.line_ups)
    assert {"a-new", "z-new"} <= {bot for line_up in grown.line_ups for bot in line_up}
    assert set(ids(Schedule(first))) < set(ids(Schedule(grown)))
    assert fix_line_ups(wider, grown) == grown


def test_a_subset_that_leaves_a_bot_out_is_refused(refused):
    bots = [f"b{number}" for number in range(6)]
    with refused(ConfigError):
        fix_line_ups(config(bots=bots, tables=2), None)
    known = fix_line_ups(config(bots=bots, tables=6), None)
    with refused(ConfigError):
        fix_line_ups(config(bots=[*bots, "new"], tables=6), known)


def test_single_seatings_give_every_game_a_deck_and_the_seats_go_round():
    schedule = Schedule(config(deals=6, players=3, seatings="single"))
    games = list(schedule)
    assert len(games) == schedule.games == schedule.planned == 6 * len(schedule.line_ups)
    assert len({game.deck for game in games}) == len({game.id for game in games}) == len(games)
    assert all(game.seating == game.deal % 3 for game in games)
    for line_up in schedule.line_ups:
        firsts = Counter(game.bots[0] for game in games if set(game.bots) == set(line_up))
        assert set(firsts.values()) == {2}
    assert all(schedule.has_game(game.id) for game in games)
    first = games[0]
    assert not schedule.has_game(f"{first.id[:-1]}{(first.seating + 1) % 3}")


def test_in_a_match_of_single_seatings_the_rounds_have_the_same_seats():
    schedule = Schedule(
        config(bots=["ann", "bob"], deals=4, seatings="single", match=["bird", "bird"])
    )
    assert [(game.deal, game.seating) for game in schedule] == [
        *((0, 0), (1, 0), (2, 1), (3, 1)),
        *((4, 0), (5, 0), (6, 1), (7, 1)),
    ]


def test_single_seatings_stay_as_more_bots_and_deals_come():
    before = {game.id: game for game in Schedule(config(deals=4, seatings="single"))}
    wider = config(deals=7, seatings="single", bots=["zoe", *config().bots])
    after = {game.id: game for game in Schedule(wider)}
    assert all(after[name] == game for name, game in before.items())


@pytest.mark.parametrize("players", [2, 3])
def test_draws_of_a_league_begin_with_one_seating_as_often_as_with_another(players):
    schedule = Schedule(config(players=players))
    line_up = "+".join(["ann", "bob", "cy"][:players])
    firsts = Counter(
        schedule.drawn_batches(Drawn(line_up, number, 4), frozenset())[0][0].seating
        for number in range(0, 1200, 4)
    )
    assert set(firsts) == set(range(players))
    assert max(firsts.values()) < 1.4 * 300 / players


class CountedLooks(Schedule):
    """A schedule that counts at how many spans of deals it has looked."""

    looks = 0

    def _cut(self, deals):
        self.looks += 1
        return super()._cut(deals)


def league_of(drawn):
    """The settings of a league of two bots that has drawn these deals for them."""
    draws = [Drawn("ann+bob", first, deals) for first, deals in drawn]
    return RunConfig(bots=["ann", "bob"], seed="s", league=LeagueTerms(), drawn=draws)


def test_a_game_of_a_league_is_known_without_a_look_at_all_draws():
    schedule = CountedLooks(league_of((first, 2) for first in range(0, 4000, 4)))
    before = schedule.looks
    assert schedule.played(f"bird/ann+bob/{deal}/0" for deal in range(4000)) == 2000
    assert schedule.looks - before <= 4000, "a walk through the draws takes two million looks"


def test_draws_whose_deals_overlap_have_the_deals_of_both():
    schedule = Schedule(league_of([(10, 5), (0, 3), (12, 6), (11, 1)]))
    known = [deal for deal in range(25) if schedule.needs_block("bird/ann+bob", deal)]
    assert known == [0, 1, 2, *range(10, 18)]
