"""Void games, and the bots that have a part in more of them than chance allows."""

import pandas as pd
import pytest

from arena.ratings.notes import at_least, void_notes, void_table
from arena.records.evidence import VOIDS_FILE, SoFar, VoidGame, append_void, read_voids

BOTS = ("ann", "bob", "cy", "dee")
STANDINGS = pd.DataFrame([{"bot": bot, "games": 600, "wins": 300, "shared": 0} for bot in BOTS])
GAMES = 1200


def void(number, bots, so_far=None, attempt=1):
    return VoidGame(
        1,
        f"bird/{'+'.join(bots)}/{number}/0",
        "bird",
        number,
        0,
        list(bots),
        "RR" * 72,
        "why",
        attempt,
        "now",
        so_far,
    )


def test_what_is_appended_is_read(tmp_path):
    games = [
        void(0, ("ann", "bob"), SoFar(["pass"], [3, 4], 1, [1.5, 2.0])),
        void(1, ("ann", "bob")),
    ]
    for game in games:
        append_void(tmp_path, game)
    assert read_voids(tmp_path) == games


def test_lines_that_cannot_be_read_are_left_out(tmp_path):
    append_void(tmp_path, void(0, ("ann", "bob")))
    with (tmp_path / VOIDS_FILE).open("ab") as file:
        file.write(b"[[[[\n{}\n\xff\n")
    append_void(tmp_path, void(1, ("ann", "bob"), SoFar([], [1], 7, [])))
    assert [game.deal for game in read_voids(tmp_path)] == [0]


def test_a_run_without_void_games_has_an_empty_table(tmp_path):
    table = void_table(tmp_path, STANDINGS, GAMES)
    assert table.empty
    assert not list(void_notes(table))


def test_a_bot_in_all_void_games_is_named_and_its_rivals_are_not(tmp_path):
    for number in range(15):
        rival = BOTS[1 + number % 3]
        append_void(
            tmp_path, void(number, ("ann", rival), SoFar([], [9, 2], number % 2, [1.0, 1.0]))
        )
    [note] = void_notes(void_table(tmp_path, STANDINGS, GAMES))
    assert (
        note
        == "more games of ann are void than chance allows: it sat in 15 of 15 void games (and in"
        " 50% of the others), was to move in 8 and behind in 15 of the 15 where that is known;"
        " see voids.jsonl"
    )


def test_a_bot_in_a_run_of_two_is_named_by_how_it_stood(tmp_path):
    two = STANDINGS[STANDINGS["bot"].isin(["ann", "bob"])].assign(games=GAMES, wins=600)
    for number in range(15):
        append_void(
            tmp_path, void(number, ("ann", "bob"), SoFar([], [9, 2], number % 2, [1.0, 1.0]))
        )
    table = void_table(tmp_path, two, GAMES)
    assert table[["bot", "voids", "to_move", "behind"]].to_numpy().tolist() == [
        ["ann", 15, 8, 15],
        ["bob", 15, 7, 0],
    ]
    assert len(list(void_notes(table))) == 1


def test_void_games_by_chance_name_nobody(tmp_path):
    for number in range(12):
        one, other = BOTS[number % 4], BOTS[(number + 1) % 4]
        append_void(
            tmp_path,
            void(
                number, (one, other), SoFar([], [9 - number % 2 * 9, 4], number % 3 % 2, [1.0, 1.0])
            ),
        )
    assert not list(void_notes(void_table(tmp_path, STANDINGS, GAMES)))


def test_the_attempts_at_a_game_count_once_by_what_is_known_most(tmp_path):
    for attempt in (1, 2, 3):
        append_void(
            tmp_path,
            void(
                0,
                ("ann", "bob"),
                SoFar([], [9, 2], 0, [1.0, 1.0]) if attempt == 2 else None,
                attempt,
            ),
        )
    rows = void_table(tmp_path, STANDINGS, GAMES).to_dict("records")
    assert [(row["bot"], row["voids"], row["known"]) for row in rows] == [
        ("ann", 1, 1),
        ("bob", 1, 1),
    ]


@pytest.mark.parametrize(
    ("hits", "tries", "chance", "p"),
    [(0, 5, 0.5, 1.0), (5, 5, 0.5, 1 / 32), (4, 5, 0.5, 6 / 32), (3, 9, 1.0, 1.0)],
)
def test_chance_is_binomial(hits, tries, chance, p):
    assert at_least(hits, tries, chance) == pytest.approx(p)
