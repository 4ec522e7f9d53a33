"""Void games, a line each."""

import msgspec

from arena.records.voids import VOIDS_FILE, SoFar, VoidGame, append_void


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
