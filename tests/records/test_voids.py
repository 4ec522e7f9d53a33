"""Void games, a line each."""

import msgspec

from arena.errors import RunError
from arena.records.voids import VOIDS_FILE, SoFar, VoidGame, append_void, read_voids


def void(number, so_far):
    return VoidGame(
        1,
        f"bird/ann+bob/{number}/0",
        "bird",
        number,
        0,
        ["ann", "bob"],
        "RR" * 72,
        "why",
        1,
        "now",
        so_far,
    )


def test_each_void_game_is_a_line_with_what_is_known_of_it(tmp_path):
    games = [void(0, SoFar(["pass"], [3, 4], 1, [1.5, 2.0])), void(1, None)]
    for game in games:
        append_void(tmp_path, game)
    lines = (tmp_path / VOIDS_FILE).read_bytes().splitlines()
    assert [msgspec.json.decode(line, type=VoidGame) for line in lines] == games
    assert read_voids(tmp_path) == games


def test_a_run_without_void_games_has_none_and_a_line_that_is_still_written_does_not_count(
    tmp_path,
):
    assert read_voids(tmp_path) == []
    append_void(tmp_path, void(0, None))
    with (tmp_path / VOIDS_FILE).open("a") as file:
        file.write('{"v":1,"id":"bird')
    assert read_voids(tmp_path) == [void(0, None)]


def test_a_damaged_line_is_refused_with_its_number_and_the_cure(tmp_path, refused):
    append_void(tmp_path, void(0, None))
    with (tmp_path / VOIDS_FILE).open("a") as file:
        file.write("{}\n")
    with refused(RunError):
        read_voids(tmp_path)
