"""The grade of a decision: what it measures, that its error covers, and that the judge's own moves
cost nothing.
"""

import itertools
import statistics

import msgspec
import pytest

from arena.errors import RunError
from arena.match.grading import best_move, best_moves, gradable_turns, grade, paired, winning_shares
from arena.match.referee import play_alone
from arena.match.replay import start_state
from arena.players.player import built_in
from arena.records.grades import Judge
from arena.records.record import Fault
from arena.rules import CORE
from arena.rules.notation import move_text, play_text
from arena.tournament.schedule import single_game
from tests.support.graded import BIRD, GAMES, game_of

QUICK = Judge("random", 50, 1)


def state_at(record, turn):
    state = start_state(record, BIRD)
    for text in record.moves[:turn]:
        play_text(state, text)
    return state


def test_a_grade_is_the_same_wherever_and_whenever_it_is_made():
    assert grade(GAMES[0], BIRD, 9, QUICK) == grade(GAMES[0], BIRD, 9, QUICK)
    assert grade(GAMES[0], BIRD, 9, QUICK) != grade(GAMES[0], BIRD, 9, Judge("random", 50, 2))


def test_the_shares_of_the_win_are_those_after_each_move_up_to_the_first_forfeit():
    record = GAMES[0]
    shares = winning_shares(record, BIRD, QUICK)
    assert list(shares) == list(range(record.turns))
    assert shares == winning_shares(record, BIRD, QUICK)
    last = record.turns - 1
    assert shares[last] == (record.ranks[last % 2] == 1) / record.ranks.count(1)
    forfeit = msgspec.structs.replace(record, faults=[Fault(1, 9, "late", "")])
    assert list(winning_shares(forfeit, BIRD, QUICK)) == list(range(9))


def test_what_a_seat_cannot_see_does_not_change_its_grade():
    """The other hands and the pile in another order: the same situation to the seat."""
    record, turn = GAMES[0], 10
    hidden = state_at(record, turn)
    used = 2 * (3 * len(record.bots) + turn)
    pile = record.deck[used:]
    turned = "".join(reversed([pile[at : at + 2] for at in range(0, len(pile), 2)]))
    other = msgspec.structs.replace(record, deck=record.deck[:used] + turned)
    assert state_at(other, turn).hands[hidden.mover] == hidden.hands[hidden.mover]
    assert grade(other, BIRD, turn, QUICK) == grade(record, BIRD, turn, QUICK)


def test_a_move_with_a_bad_outlook_costs_more_than_one_with_a_good_one():
    costs = {min: [], max: []}
    for record, turn in itertools.product(GAMES, (12, 15, 18)):
        state = state_at(record, turn)
        outlooks = state.outlooks()
        for pick, found in costs.items():
            move = state.legal_moves()[outlooks.index(pick(outlooks))]
            own = [*record.moves[:turn], move_text(BIRD, move)]
            played = msgspec.structs.replace(record, moves=own)
            found.append(grade(played, BIRD, turn, Judge("greedy-2", 30, 0)).cost)
    assert statistics.mean(costs[min]) > statistics.mean(costs[max]) + 0.1


@pytest.fixture(scope="module")
def picks():
    """A judge's own moves by other deals, graded: for each position the move's cost and error, and
    the cost that the deals of the choice itself would have given.
    """
    if CORE == "pure":
        pytest.skip("with the rules in Python this takes minutes: apt install gcc python3-dev")
    found = []
    for record in GAMES:
        for turn in range(4, record.turns - 2, 2):
            state = state_at(record, turn)
            played = best_move(state, QUICK, 10**6 + turn)
            own = msgspec.structs.replace(
                record, moves=[*record.moves[:turn], move_text(BIRD, played)]
            )
            found.append((grade(own, BIRD, turn, QUICK), naive_cost(state, played, turn)))
    return found


def naive_cost(state, played, seed):
    """The best of all moves on the deals that measure it."""
    moves, wins, _, _ = state.rollouts(state.mover, 20, seed, "uniform", state.legal_moves(), 0)
    return (max(wins) - wins[moves.index(played)]) / 20


@pytest.mark.long
def test_who_plays_the_judges_move_loses_nothing(picks):
    costs = [found.cost for found, _ in picks]
    error = statistics.stdev(costs) / len(costs) ** 0.5
    assert len(costs) > 50
    assert abs(statistics.mean(costs)) < 2 * error
    # measured on the deals that chose it, the best move is always better
    assert statistics.mean(cost for _, cost in picks) > 10 * error


@pytest.mark.long
def test_the_error_of_a_grade_covers_what_many_deals_find():
    record, turn = GAMES[1], 16
    state, policy = state_at(record, turn), built_in("random").policy
    advice = record.moves[turn]
    other = move_text(BIRD, best_move(state, QUICK, 5))
    own = msgspec.structs.replace(record, moves=[*record.moves[:turn], other])
    moves = [play_text(state.copy(), text) for text in (advice, other)]
    _, wins, _, _ = state.rollouts(state.mover, 20_000, 77, policy, moves, 0)
    truth, covered = (wins[0] - wins[1]) / 20_000, 0
    for seed in range(200):
        found = grade(own, BIRD, turn, Judge("random", 30, seed), advice)
        assert (found.played, found.better) == (other, advice)
        covered += abs(found.cost - truth) <= found.error
    assert 182 <= covered <= 199


def test_equal_results_on_all_deals_are_no_proof():
    assert paired([0.0] * 100) == (0.0, pytest.approx(0.0273, abs=2e-4))
    cost, error = paired([1.0] * 100)
    assert cost == 1
    assert 0.01 < error < 0.1


def test_the_move_of_the_judge_costs_exactly_nothing():
    record, turn = GAMES[2], 8
    found = grade(record, BIRD, turn, QUICK, advice=record.moves[turn])
    assert (found.cost, found.error, found.sure) == (0, 0, None)
    assert 0 < found.win < 1


@pytest.mark.parametrize("names", [("random",) * 3, ("random", "greedy-4") * 2])
def test_tables_of_three_and_four_are_graded_in_shares_of_the_win(names):
    record = game_of(*names)
    found = [grade(record, BIRD, turn, QUICK) for turn in gradable_turns(record, {0, 1, 2})[:9]]
    assert all(-1 <= one.cost <= 1 and 0 <= one.win < 0.9 for one in found)


def test_nothing_is_graded_after_a_forfeit_and_no_pass():
    record = game_of("random", "random", "random")
    assert len(gradable_turns(record, {0, 1, 2})) == record.turns
    fault = Fault(1, 7, "late", "x")
    faulty = msgspec.structs.replace(record, faults=[fault], moves=[*record.moves[:7], "pass"])
    assert gradable_turns(faulty, {0, 1, 2}) == list(range(7))
    assert gradable_turns(faulty, {1}) == [1, 4]


def test_a_record_that_breaks_the_rules_is_named(refused):
    broken = msgspec.structs.replace(GAMES[0], moves=["Ra1Ra2", *GAMES[0].moves[1:]])
    with refused(RunError):
        grade(broken, BIRD, 5, QUICK)


def test_the_best_moves_are_legal_ranked_and_the_same_for_the_same_seed():
    state = state_at(GAMES[0], 10)
    ranked = best_moves(state, QUICK, 7)
    assert ranked == best_moves(state, QUICK, 7)
    assert 1 < len(ranked) <= 4
    assert len({best.move for best in ranked}) == len(ranked)
    assert all(state.is_legal(best.move) and 0 <= best.win <= 1 for best in ranked)
    assert ranked[0].move == best_move(state, QUICK, 7)


@pytest.mark.long
@pytest.mark.skipif(CORE == "pure", reason="in Python it takes a minute")
def test_who_plays_the_judges_moves_beats_the_bot_that_looks_at_outlooks():
    """A judge that wins 80 % of its games wins fewer than three of eight once in 800 tries.
    `arena bench hints` plays more of them.
    """
    judge = Judge("careful-4", 40, 1)
    wins = 0
    for deal in range(8):
        names = ["judge", "careful"] if deal % 2 else ["careful", "judge"]
        choosers = {
            "judge": lambda state, seed: best_move(state, judge, seed + state.turns),
            "careful": built_in("careful").choose,
        }
        plan = single_game("judge", "bird", deal, names)
        record = play_alone(plan, BIRD, [choosers[name] for name in names], "here")
        wins += record.ranks[names.index("judge")] == 1
    assert wins >= 3
