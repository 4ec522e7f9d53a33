"""The ratings agree with figures that others publish, and with those of choix and statsmodels."""

import choix
import numpy as np
import pytest
import statsmodels.api as models
from statsmodels.discrete import conditional_models as conditional

from arena.ratings.likelihood import ELO, Model
from arena.ratings.model import rate
from arena.ratings.sheet import read_sheet
from arena.ratings.tables import rate_sheet
from tests.ratings.synthetic import count_results, frame_of


def duels(won, lost, draws=0):
    """Games for themselves as a file, the first always in the same seat."""
    rows = ["a,b,1,0"] * won + ["a,b,0,1"] * lost + ["a,b,0.5,0.5"] * draws
    return read_sheet("\n".join(["bot_0,bot_1,share_0,share_1", *rows]).encode(), "duels.csv")


def difference_of(sheet):
    """Difference of a and b in Elo, its half-width, and the likelihood that a is the stronger."""
    pairs = rate_sheet(sheet, seats=False).pairs.set_index(["bot", "opponent"])
    row = pairs.loc[("a", "b")]
    return row["elo_diff"], (row["elo_high"] - row["elo_low"]) / 2, row["los"]


@pytest.mark.parametrize(
    ("won", "lost", "draws", "elo"),
    [
        (75, 25, 0, 190.8485018879),
        (50, 0, 50, 190.8485018879),
        (200, 100, 0, 120.4119982656),
        (90, 10, 0, 381.6970037757),
        (50, 50, 0, 0.0),
    ],
)
def test_closed_forms_to_nine_digits(won, lost, draws, elo):
    assert difference_of(duels(won, lost, draws))[0] == pytest.approx(elo, abs=1e-9)


def test_the_published_match_of_136_96_111_to_every_digit_that_was_published():
    elo, half, los = difference_of(duels(136, 96, 111))
    assert elo == pytest.approx(40.70, abs=0.005)
    assert half == pytest.approx(30.43, abs=0.1)
    assert los == pytest.approx(0.9960, abs=5e-4)


def test_the_error_of_independent_games_is_the_delta_method():
    mean = (136 + 111 / 2) / 343
    variance = (136 * (1 - mean) ** 2 + 96 * mean**2 + 111 * (0.5 - mean) ** 2) / 342 / 343
    assert difference_of(duels(136, 96, 111))[1] == pytest.approx(
        1.96 * ELO * np.sqrt(variance) / (mean * (1 - mean)), rel=1e-9
    )


def test_expected_shares_of_a_table_of_four():
    [results] = [count_results(frame_of([(0, "abcd", (1, 0, 0, 0))]))]
    theta = np.array([100.0, 0.0, -50.0, -50.0]) / ELO
    shares = Model.of(results, ()).shares(theta)
    assert shares[0] == pytest.approx(
        [0.4156734959, 0.2337503845, 0.1752880598, 0.1752880598], abs=1e-10
    )


def pentanomial(games):
    """Mean score of the first bot, and the standard error of the mean, from the scores of swapped
    pairs.
    """
    pairs = {}
    for deal, seated, shares in games:
        pairs[deal] = pairs.get(deal, 0) + shares[seated.index("a")] / 2
    scores = np.array(list(pairs.values()))
    return scores.mean(), scores.std(ddof=1) / np.sqrt(len(scores))


def test_swapped_pairs_have_the_pentanomial_error_to_every_digit():
    rng = np.random.default_rng(7)
    games = []
    for deal in range(300):
        for seated in ("ab", "ba"):
            one = rng.choice([0.0, 0.5, 1.0], p=[0.3, 0.3, 0.4])
            games.append((deal, seated, (one, 1 - one)))
    [fit] = rate(count_results(frame_of(games)), seats=False).fits
    mean, error = pentanomial(games)
    assert fit.elo[0] - fit.elo[1] == pytest.approx(ELO * np.log(mean / (1 - mean)), abs=1e-9)
    assert fit.difference_error()[0, 1] == pytest.approx(
        ELO * error / (mean * (1 - mean)), rel=1e-9
    )


def tables_of(size, deals, seed, *, one_winner=True):
    """Games of one table size with rotated seats and a single winner."""
    rng = np.random.default_rng(seed)
    strength = dict(zip("abcde", (0.5, 0.2, 0.0, -0.3, -0.4), strict=True))
    games = []
    for deal in range(deals):
        first = rng.permutation(list("abcde"))[:size]
        for turn in range(size):
            seated = list(np.roll(first, turn))
            weight = np.exp([strength[bot] - 0.15 * seat for seat, bot in enumerate(seated)])
            winner = rng.choice(size, p=weight / weight.sum())
            shares = [float(seat == winner) for seat in range(size)]
            if not one_winner and rng.random() < 0.2:
                shares = [1 / size] * size
            games.append((deal, seated, shares))
    return games


@pytest.mark.parametrize("size", [2, 3, 4])
def test_ratings_without_seats_are_those_of_choix(size):
    games = tables_of(size, 50, size)
    [fit] = rate(count_results(frame_of(games)), seats=False).fits
    data = []
    for _, seated, shares in games:
        numbers = ["abcde".index(bot) for bot in seated]
        winner = shares.index(1)
        data.append((numbers[winner], [number for number in numbers if number != numbers[winner]]))
    theirs = choix.opt_top1(5, data, tol=1e-12)
    assert fit.elo / ELO == pytest.approx(theirs - theirs.mean(), abs=1e-6)


def clustered_design(games):
    """Shares of the first seat, columns of bots a to d less the other's, e as reference, with a
    column for the seat, and deals.
    """
    design = np.zeros((len(games), 5))
    for row, (_, seated, _) in enumerate(games):
        for bot, sign in zip(seated, (1, -1), strict=True):
            if bot != "e":
                design[row, "abcd".index(bot)] += sign
    design[:, 4] = 1
    return (
        np.array([shares[0] for _, _, shares in games]),
        design,
        np.array([deal for deal, _, _ in games]),
    )


def test_ratings_seat_and_jackknife_errors_of_two_players_are_those_of_statsmodels():
    games = tables_of(2, 300, 5, one_winner=False)
    share, design, deals = clustered_design(games)
    kind = models.families.Binomial()
    theirs = models.GLM(share, design, family=kind).fit(tol=1e-14).params
    # CR3 is what is left of the jackknife, which leaves out each deal in turn, to first order.
    moved = np.array(
        [
            models.GLM(share[deals != deal], design[deals != deal], family=kind).fit().params
            for deal in np.unique(deals)
        ]
    )
    errors = np.sqrt(299 / 300 * ((moved - theirs) ** 2).sum(axis=0))
    [fit] = rate(count_results(frame_of(games))).fits
    assert (fit.elo[:4] - fit.elo[4]) / ELO == pytest.approx(theirs[:4], abs=1e-8)
    assert -fit.seats[2][0][1] / ELO == pytest.approx(theirs[4], abs=1e-8)
    assert fit.difference_error()[:4, 4] / ELO == pytest.approx(errors[:4], rel=1e-3)
    assert fit.seats[2][1][1] / ELO == pytest.approx(errors[4], rel=1e-3)


@pytest.mark.parametrize("size", [3, 4])
def test_ratings_and_seats_of_more_players_are_those_of_statsmodels(size):
    games = tables_of(size, 150, size)
    rows, won, numbers = [], [], []
    for number, (_, seated, shares) in enumerate(games):
        for seat, bot in enumerate(seated):
            rows.append(
                [float(bot == other) for other in "abcd"]
                + [float(seat == other) for other in range(1, size)]
            )
            won.append(shares[seat])
            numbers.append(number)
    theirs = conditional.ConditionalLogit(
        np.array(won), np.array(rows), groups=np.array(numbers)
    ).fit(disp=False, method="newton")
    [fit] = rate(count_results(frame_of(games))).fits
    assert (fit.elo[:4] - fit.elo[4]) / ELO == pytest.approx(theirs.params[:4], abs=1e-8)
    assert fit.seats[size][0][1:] / ELO == pytest.approx(theirs.params[4:], abs=1e-8)
