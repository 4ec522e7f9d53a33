"""Games that a person played, kept as runs: what reads runs finds nothing wrong with them."""

import pytest

from arena.commands.game import GameRequest, SingleGame, past_games
from arena.commands.home import results_folder
from arena.commands.runs import run_folder
from arena.errors import ConfigError
from arena.exports.report.again import repeat_command
from arena.exports.verify import verify_run
from arena.players.player import InProcessPlayer, built_in_bot, random_move
from arena.players.sandbox.tiers import OPEN
from arena.records.runfile import read_run
from arena.records.timing import Timing
from arena.rules.boards import built_in
from arena.tournament.run import Run
from arena.tournament.runs import tournament_request

BIRD, LION = built_in("bird"), built_in("lion")


def kept(home, names, board=BIRD, deal=0):
    """A finished game of these bots by seat, with ``human`` moving at random."""
    bots, seat = [built_in_bot(name) for name in names if name != "human"], names.index("human")
    game = GameRequest(bots, seat, board, "seed", deal).game
    single = SingleGame(bots, seat, Timing(), OPEN)
    with single.seated(None, lambda _: InProcessPlayer("human", random_move)) as players:
        outcome = single.play(single.referee(game.round, players))
    return game.keep(results_folder(home), outcome, OPEN)


@pytest.mark.parametrize(
    ("names", "board", "deal"),
    [
        (["human", "greedy"], BIRD, 0),
        (["random", "human", "greedy"], LION, 7),
        (["greedy", "careful-2", "human", "careful"], BIRD, 3),
    ],
)
def test_a_kept_game_is_whole_and_follows_from_its_plan(tmp_path, names, board, deal, snapshot):
    folder = kept(tmp_path, names, board, deal)
    checked = verify_run(Run(folder))
    assert checked.differences == []
    assert checked.replayed == checked.planned == 1
    assert Run(folder).progress() == (1, 1)
    assert checked.notes == snapshot


def test_the_seats_are_those_that_were_taken(tmp_path):
    folder = kept(tmp_path, ["random", "human", "greedy"])
    assert read_run(folder).config.game.seats == ["random", "human", "greedy"]
    assert b'"bots":["random","human","greedy"]' in (folder / "games.jsonl").read_bytes()


def test_a_report_says_how_to_play_the_same_tiles_again(tmp_path):
    info = read_run(kept(tmp_path, ["random", "human"], LION, 5))
    command = "arena play random --human 1 --board lion --deal 5 --seed seed"
    assert repeat_command(info, seed="seed") == command


def test_each_game_has_a_folder_of_its_own_and_none_hides_the_newest_tournament(tmp_path):
    first, second = (kept(tmp_path, ["human", "random"]) for _ in range(2))
    assert first != second
    assert run_folder(tmp_path, None) == second
    results = tmp_path / "results"
    (results / "league").mkdir()
    text = (first / "run.json").read_text().replace('"game": {', '"was": {')
    (results / "league" / "run.json").write_text(text.replace('"started": "2', '"started": "1'))
    assert run_folder(tmp_path, None).name == "league"


def test_a_bot_has_one_seat_in_a_game_that_is_kept(refused):
    with refused(ConfigError):
        assert GameRequest([built_in_bot("greedy")] * 2, 0, BIRD, "seed").game


def test_seats_that_are_not_those_of_the_bots_are_refused(tmp_path, refused):
    path = kept(tmp_path, ["human", "random"]) / "run.json"
    seats = '"seats": [\n        "{}"'
    text = path.read_text().replace(seats.format("human"), seats.format("greedy"))
    path.write_text(text)
    with refused(ConfigError):
        verify_run(Run(path.parent))


def test_a_played_game_is_no_tournament_to_be_finished(tmp_path, refused):
    with refused(ConfigError):
        tournament_request(Run(kept(tmp_path, ["human", "random"])))


def test_the_latest_games_are_read_and_what_is_odd_is_left_out(tmp_path):
    first = kept(tmp_path, ["human", "random"])
    second = kept(tmp_path, ["random", "human", "greedy"], LION)
    results = tmp_path / "results"
    (results / "played-link").symlink_to(first)
    (results / "played-empty").mkdir()
    (results / "played-odd").mkdir()
    (results / "played-odd" / "games.jsonl").write_text("nonsense\n")
    found = past_games(results, 9)
    assert [(past.run, past.opponents) for past in found] == [
        (second.name, ["random", "greedy"]),
        (first.name, ["random"]),
    ]
    assert len(past_games(results, 1)) == 1
    assert past_games(tmp_path / "nowhere", 9) == []
