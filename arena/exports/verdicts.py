"""Writes the results of a comparison, and of a search for better settings (`arena tune`), as text,
as CSV and as JSON.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from arena.errors import counted
from arena.exports.grid import duration_text
from arena.ratings.sequential import FAR, Question, SequentialTest, Verdict, WinTest
from arena.records.config import RESOLUTION, Parameter, RunConfig
from arena.tournament.tuning import SearchPath

if TYPE_CHECKING:
    from types import ModuleType

    from arena.ratings.estimates import Estimate, Look
    from arena.ratings.forecast import BlocksLeft
    from arena.ratings.margins import MarginTest

CSV = "path.csv"
"""The name of the file in a run's folder with the steps of a search."""
MAX_DECIMALS = 8
POOL_BLOCKS = 10
"""With fewer blocks than this, nothing is said about the strength of a pool."""
ONE_SIDED = 0.9
"""If both compared bots win more than this share of their games against a pool, the pool is too
weak to tell them apart.
"""
CLOSE_AND_FAR = (2, 10)
"""The differences for which a comparison says what it costs, as multiples of ``elo1``."""
FARTHEST = 400.0
"""The largest difference in Elo for which a comparison says what it costs."""
SAME = "every game was the same: these are the same player"
"""What is said of two bots that played the same moves in every game."""


def test_of(config: RunConfig, groups: int, look: int) -> SequentialTest:
    """Makes the sequential test, without any block, for the question of the comparison with the
    settings ``config``. ``groups`` is the number of sets of opponents, 0 if the two bots play each
    other; ``look`` is the number of blocks between two decisions.
    """
    asked = config.compare
    assert asked is not None, "a comparison"
    question = Question(asked.elo0, asked.elo1, asked.alpha, asked.beta)
    if asked.by == "wins":
        return WinTest(question, groups=groups, look=look)
    # Imported late: numpy is not needed for a comparison by wins.
    from arena.ratings.margins import MarginTest  # noqa: PLC0415

    return MarginTest(question, players=config.players, groups=groups, look=look)


def llr_text(test: SequentialTest) -> str:
    """The log likelihood ratio of ``test``, its bounds, and the two hypotheses in Elo, as chess
    engine testers write them: ``1.02 (-2.94, 2.94) [0, 10]``.
    """
    question = test.question
    bounds = f"({question.lower:.2f}, {question.upper:.2f})"
    return f"{_two(test.llr)} {bounds} [{question.elo0:g}, {question.elo1:g}]"


def is_weak_pool(test: SequentialTest) -> bool:
    """Whether the opponents in ``test``, a comparison with a pool, tell little about the two bots:
    after at least `POOL_BLOCKS` blocks, both win or both lose nearly all games.
    """
    margins = _margins_of(test)
    wins = margins.wins if margins else cast("WinTest", test)
    shares = [1 / (1 + math.exp(-odds)) for odds in wins.odds]
    return test.blocks >= POOL_BLOCKS and is_one_sided(shares)


def is_one_sided(shares: Sequence[float]) -> bool:
    """Whether these shares of the win are all so large, or all so small, that they tell little
    about the difference between the bots that have them.
    """
    return min(shares) > ONE_SIDED or max(shares) < 1 - ONE_SIDED


def left_text(test: SequentialTest, games_a_block: int) -> str:
    """How many more games ``test`` takes, such as ``40 to 900 more games (80 %)``, given the number
    of games in a block. The test must have a block and be undecided.
    """
    left = _forecasts().forecast(test)
    return f"{_games_range(left, games_a_block)} more games (80 %)"


def bill_text(
    test: SequentialTest, games_a_block: int, seconds: Callable[[int], float] | None
) -> str:
    """A sentence on how many more games ``test`` needs, and how long they take: once if the new bot
    is only a little better, once if it is far better. ``games_a_block`` is the number of games in a
    block. ``seconds`` returns the time, in seconds, that a number of games takes; None gives no
    times. At least one block must have been counted, and the test must be undecided.
    """
    parts = []
    for times in CLOSE_AND_FAR:
        question = test.question
        elo = min(question.elo0 + times * (question.elo1 - question.elo0), FARTHEST)
        left = _forecasts().forecast(test, elo)
        text = f"a gain of {elo:g} Elo takes {_games_range(left, games_a_block)} games"
        if seconds is not None:
            durations = [duration_text(seconds(blocks * games_a_block)) for blocks in left]
            shortest, longest = durations
            text += f", {shortest if shortest == longest else f'{shortest} to {longest}'}"
        parts.append(text)
    return f"forecast (80 %): {'; '.join(parts)}"


def how_far_text(test: SequentialTest, new: str, old: str, games_a_block: int) -> str:
    """How far an undecided ``test`` of the bot ``new`` against ``old`` has come, such as ``my-bot
    is better than my-bot@2 with a probability of 87 %; 90 to 400 more games (80 %) would settle
    whether my-bot is better``; a sentence that says so if no block is complete. ``games_a_block``
    is the number of games in a block.
    """
    if not test.blocks:
        return "no block of games is complete yet"
    chance = _forecasts().superiority(test)
    is_ahead = chance >= 0.5  # noqa: PLR2004 - as likely as not
    word = "better" if is_ahead else "worse"
    percent = min(round(100 * max(chance, 1 - chance)), 99)
    left = left_text(test, games_a_block)
    return (
        f"{new} is {word} than {old} with a probability of {percent} %; {left} would settle"
        f" whether {new} is better"
    )


def _games_range(left: "BlocksLeft", games_a_block: int) -> str:
    """The range of a forecast in games, rounded to two digits, such as ``800 to 1,300``."""
    low, high = (_two_digits(blocks * games_a_block) for blocks in left)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _two_digits(count: int) -> int:
    """``count``, rounded to two significant digits."""
    power: int = 10 ** max(len(str(count)) - 2, 0)
    return round(count / power) * power


def _two(value: float) -> str:
    """``value`` with two decimals; -0.00 becomes 0.00."""
    return f"{round(value, 2) + 0.0:.2f}"


def verdict_text(
    test: SequentialTest,
    new: str,
    old: str,
    games: int,
    *,
    is_wide: bool = True,
    is_same: bool = False,
) -> str:
    """The answer of ``test``, the comparison of the bots ``new`` and ``old``, which played
    ``games`` games, for people. With ``is_wide`` the figures that the test used, and all estimates,
    are added. ``is_same`` says that the two bots played the same moves in every game; then the text
    gives no figures.
    """
    margins = _margins_of(test)
    question = f"{test.question.elo1:g} Elo rather than {test.question.elo0:g}"
    by = ", by margin" if margins else ""
    played = f"{counted(games, 'game')} in {counted(test.blocks, 'block')}"
    asked = f"{played}, asked for {question}{by}"
    if is_same:
        return f"{new} against {old}: {SAME}\n{asked}"
    lines = [_answer(test, new, old), asked]
    if is_wide:
        lines += _evidence(test)
    if margins and _is_apart(apart := _estimates().disagreement(margins)):
        lines.append(
            f"warning: margins and wins disagree by {apart.elo:+.1f} Elo, 99 % interval"
            f" [{apart.low:+.1f}, {apart.high:+.1f}]: these two do not win by as much as they win"
            " often, so go by wins (--by wins)"
        )
    return "\n".join(lines)


def finding_text(test: SequentialTest, new: str, old: str, *, is_same: bool = False) -> str:
    """The result of ``test``, which compares suggested settings (``new``) with the present ones
    (``old``) on fresh deals, and what to do, in one line. ``is_same`` says that both played the
    same moves in every game.
    """
    if is_same:
        return f"no difference on fresh deals ({SAME}): keep {old}"
    by = f"{_estimate_text(_estimates().unbiased_estimate(test))} Elo"
    if test.verdict == Verdict.BETTER:
        return f"{new} is better than {old} by {by}, on fresh deals"
    if test.verdict == Verdict.NOT_BETTER:
        return f"no gain found on fresh deals ({by}): keep {old}"
    return f"not clear on fresh deals ({by}): keep {old} until it is"


def verdict_object(
    test: SequentialTest,
    new: str,
    old: str,
    games: int,
    looks: Sequence["Look"] = (),
    *,
    is_same: bool = False,
) -> dict[str, Any]:
    """The answer of ``test``, the comparison of the bots ``new`` and ``old``, which played
    ``games`` games, as an object for JSON. ``looks`` are the states of the test after each round of
    blocks. ``is_same`` says that the two bots played the same moves in every game; then ``elo`` and
    ``plain_elo`` with their ends are None.

    Infinite values become None; ``bound`` says that the games bound the difference on one side
    only. ``superiority`` is the probability that the new bot is better, by the blocks alone, and
    ``more_games_low`` and ``more_games_high`` are the range of a forecast of the games left; the
    three are None if the test is decided, if it has no block, and with ``is_same``.
    """
    margins = _margins_of(test)
    estimates = _estimates()
    unbiased = estimates.UNKNOWN if is_same else estimates.unbiased_estimate(test)
    plain = estimates.UNKNOWN if is_same else estimates.plain_estimate(test)
    is_open = test.verdict == Verdict.UNDECIDED and test.blocks > 0 and not is_same
    left = _forecasts().forecast(test) if is_open else None
    games_a_block = games // max(test.blocks, 1)
    content = {
        "verdict": str(test.verdict),
        "by": "margin" if margins else "wins",
        "new": new,
        "old": old,
        "blocks": test.blocks,
        "games": games,
        **test.question._asdict(),
        "llr": round(test.llr, 4),
        "lower": round(test.question.lower, 4),
        "upper": round(test.question.upper, 4),
        "spread": round(math.sqrt(test.variance), 4),
        **_fields("elo", unbiased),
        "bound": not math.isfinite(unbiased.elo)
        and math.isfinite(unbiased.low) != math.isfinite(unbiased.high),
        "identical": is_same,
        "superiority": round(_forecasts().superiority(test), 4) if is_open else None,
        "more_games_low": left and left.low * games_a_block,
        "more_games_high": left and left.high * games_a_block,
        **_fields("plain_elo", plain),
    }
    if margins:
        apart = estimates.disagreement(margins)
        content |= {
            "wins_llr": round(margins.wins.llr, 4),
            **_fields("wins_elo", estimates.plain_estimate(margins.wins)),
            **_fields("disagreement", apart),
            "disagree": _is_apart(apart),
        }
    content["looks"] = [_look_object(look) for look in looks]
    return content


def _look_object(look: "Look") -> dict[str, Any]:
    """The state of a test after a round of blocks as an object for JSON."""
    return {
        "blocks": look.blocks,
        "llr": round(look.llr, 4) + 0.0,
        "elo": _finite(look.elo),
        "error": _finite(look.error),
        "verdict": str(look.verdict),
    }


def _estimates() -> "ModuleType":
    # Imported late: scipy is not needed to play a comparison.
    """The module `arena.ratings.estimates`, imported late because it loads scipy."""
    from arena.ratings import estimates  # noqa: PLC0415

    return estimates


def _forecasts() -> "ModuleType":
    """The module `arena.ratings.forecast`, imported late because it loads scipy."""
    from arena.ratings import forecast  # noqa: PLC0415

    return forecast


def _margins_of(test: SequentialTest) -> "MarginTest | None":
    """``test`` if it is a test on margins; None if it is a test on wins."""
    return None if isinstance(test, WinTest) else cast("MarginTest", test)


def _answer(test: SequentialTest, new: str, old: str) -> str:
    """The answer of ``test``, the comparison of the bots ``new`` and ``old``, in words, such as
    ``my-bot is +31 [+8, +54] Elo against my-bot@1: better``.
    """
    estimate: Estimate = _estimates().unbiased_estimate(test)
    low = _end_text(estimate.low)
    high = _end_text(estimate.high)
    if test.verdict == Verdict.UNDECIDED and _is_unknown(estimate):
        return f"{test.verdict}: nothing is known yet about {new} against {old}"
    if math.isfinite(estimate.elo):
        about = f"{round(estimate.elo) + 0:+} [{low}, {high}] Elo against {old}"
    elif estimate.elo > 0 and math.isfinite(estimate.low):
        about = f"more than {low} Elo against {old}"
    elif estimate.elo < 0 and math.isfinite(estimate.high):
        about = f"less than {high} Elo against {old}"
    else:
        about = f"an unknown number of Elo away from {old}"
    return f"{new} is {about}: {test.verdict}"


def _end_text(end: float) -> str:
    """An end of an interval in whole Elo, such as ``+8``; ``open`` if it is infinite."""
    return f"{round(end) + 0:+}" if math.isfinite(end) else "open"


def _is_unknown(estimate: "Estimate") -> bool:
    """Whether an estimate says next to nothing: its interval has 0 in it, and is open at an end or
    wider than twice `FAR` Elo.
    """
    has_zero = estimate.low < 0 < estimate.high
    return has_zero and estimate.high - estimate.low > 2 * FAR


def _evidence(test: SequentialTest) -> Iterator[str]:
    """Lines with the figures that ``test`` used, and with all estimates."""
    margins = _margins_of(test)
    estimates = _estimates()
    question = test.question
    errors = f"alpha {question.alpha * 100:g} %, beta {question.beta * 100:g} %"
    unit = "per block" if margins else "of a win per block"
    yield f"LLR {llr_text(test)}, {errors}; spread {math.sqrt(test.variance):.3f} {unit}"
    yield f"Elo {_estimate_text(estimates.unbiased_estimate(test))} median-unbiased"
    biased = ", biased because the test stopped as soon as it knew enough"
    why = "" if test.verdict == Verdict.UNDECIDED else biased
    yield f"Elo {_estimate_text(estimates.plain_estimate(test))} plain{why}"
    if margins:
        wins = _estimate_text(estimates.plain_estimate(margins.wins))
        yield f"by wins, from the same blocks: Elo {wins} plain"


def _is_apart(apart: "Estimate") -> bool:
    """Whether margins and wins clearly disagree; ``apart`` is the estimate of their difference."""
    return bool(apart.low > 0 or apart.high < 0)


def _estimate_text(estimate: "Estimate") -> str:
    """An estimate with its interval, in Elo, such as ``+60.1 [+20.0, +101.2]``; infinite figures
    are ``open``.
    """
    elo, low, high = map(_signed_text, estimate)
    return f"{elo} [{low}, {high}]"


def _signed_text(value: float) -> str:
    """``value`` in Elo with its sign and one decimal; ``open`` if it is infinite or NaN."""
    return f"{value:+.1f}" if math.isfinite(value) else "open"


def _fields(name: str, estimate: "Estimate") -> dict[str, float | None]:
    """An estimate as three fields for JSON: ``name``, ``name_low`` and ``name_high``; infinite
    values and NaN become None.
    """
    ends = {name: estimate.elo, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return {key: _finite(value) for key, value in ends.items()}


def _finite(value: float) -> float | None:
    """``value`` with two decimals, or None if it is infinite or NaN."""
    return round(value, 2) + 0.0 if math.isfinite(value) else None


def _values(path: SearchPath, step: int) -> dict[str, str]:
    """By name, the value of each tuned option after ``step`` steps of the search ``path``, as text.
    Integer options have fractions here, because the search moves them in fractions.
    """
    values = {}
    for parameter, value in zip(path.tuning.parameters, path.values(step), strict=True):
        values[parameter.name] = shown(parameter, value)
    return values


def shown(parameter: Parameter, value: float) -> str:
    """Writes ``value``, a value of the tuned option ``parameter`` during a search, as text."""
    decimals = max(0, RESOLUTION - math.floor(math.log10(parameter.width)))
    return f"{value:.{decimals}f}" if decimals < MAX_DECIMALS else f"{value:.{RESOLUTION}g}"


def values_text(path: SearchPath, step: int) -> str:
    """The values of all tuned options after ``step`` steps of the search ``path``, in one line."""
    return ", ".join(f"{name} {value}" for name, value in _values(path, step).items())


def parameter_lines(path: SearchPath) -> Iterator[str]:
    """A line for each tuned option of the search ``path``: its first value, the suggested value,
    and its range.
    """
    widest = max(len(parameter.name) for parameter in path.tuning.parameters)
    for parameter, value in zip(path.tuning.parameters, path.suggestion(), strict=True):
        start, end, low, high = map(
            parameter.text, (parameter.start, value, parameter.low, parameter.high)
        )
        yield f"{parameter.name:<{widest}}  {start} -> {end}  (from {low} to {high})"


def games_after(path: SearchPath, step: int, games: int) -> int:
    """The number of games that were played after ``step`` steps of the search ``path``, at most
    ``games``, the number of games of the whole search.
    """
    return min(step * path.games_a_step, games)


def path_rows(path: SearchPath, games: int) -> list[dict[str, Any]]:
    """A row for JSON for each step of the search ``path``, from the start (step 0) on: the number
    of ``games`` played by then, at most ``games``, which is the number of the whole search, and the
    ``values`` of the tuned options by name.
    """
    rows = []
    for step in range(path.steps + 1):
        values = {name: float(value) for name, value in _values(path, step).items()}
        rows.append({"step": step, "games": games_after(path, step, games), "values": values})
    return rows


def path_csv(path: SearchPath, games: int) -> str:
    """The steps of the search ``path``, which has ``games`` games in all, as CSV, with a row for
    each step and option.
    """
    # A bot may call its options "step" and "games", so options are rows, not columns.
    lines = ["step,games,option,value"]
    for row in path_rows(path, games):
        for name, value in row["values"].items():
            lines.append(f"{row['step']},{row['games']},{name},{value}")
    return "\n".join([*lines, ""])


def parameter_rows(path: SearchPath) -> list[dict[str, Any]]:
    """The tuned options of the search ``path`` for JSON, with the values that the search
    suggests.
    """
    rows = []
    for parameter, value in zip(path.tuning.parameters, path.suggestion(), strict=True):
        row = {
            "name": parameter.name,
            "type": parameter.type,
            "min": parameter.value(parameter.low),
            "max": parameter.value(parameter.high),
            "start": parameter.value(parameter.start),
            "suggested": parameter.value(value),
        }
        rows.append(row)
    return rows
