"""The result of a comparison, as text and for JSON."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from arena.errors import counted
from arena.exports.pen import Pen
from arena.ratings.sequential import BlockTest, Question, SequentialTest, Verdict

if TYPE_CHECKING:
    from arena.ratings.estimates import Estimate, Look
    from arena.ratings.margins import MarginTest


LEAST_GAUGE, MOST_GAUGE = 9, 41


def llr_text(test: BlockTest) -> str:
    """The log likelihood ratio between its bounds: ``1.02 [-2.94, 2.94]``."""
    return f"{_two(test.llr)} [{test.question.lower:.2f}, {test.question.upper:.2f}]"


def gauge_text(test: BlockTest, width: int, pen: Pen) -> str:
    """The log likelihood ratio drawn between its bounds, at most ``width`` wide; in figures alone
    where that is too little: ``-2.94 ├───┊──●──┤ 2.94  LLR 1.02``.
    """
    lower, upper = test.question.lower, test.question.upper
    by = " by margin" if _margins_of(test) else ""
    ends = f"{lower:.2f} ", f" {upper:.2f}  LLR {_two(test.llr)}{by}"
    room = min(width - sum(map(len, ends)), MOST_GAUGE)
    if room < LEAST_GAUGE:
        return f"LLR {llr_text(test)}{by}"

    def place(value: float) -> int:
        share = (min(max(value, lower), upper) - lower) / (upper - lower)
        return round(share * (room - 1))

    cells = [pen.start, *pen.line * (room - 2), pen.end]
    cells[place(0)], cells[place(test.llr)] = pen.zero, pen.dot
    return "".join(cells).join(ends)


def elo_text(look: "Look") -> str:
    """The plain Elo so far: ``, Elo +14 +/- 18``; nothing while the blocks do not bound it."""
    if not (math.isfinite(look.elo) and math.isfinite(look.error)):
        return ""
    return f", Elo {round(look.elo) + 0:+} +/- {look.error:.0f}"


def _two(value: float) -> str:
    """Two decimals, and no minus before 0.00."""
    return f"{round(value, 2) + 0.0:.2f}"


def verdict_text(test: BlockTest, new: str, old: str, games: int) -> str:
    """The verdict, the evidence for it, and the difference in Elo."""
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import plain_estimate, unbiased_estimate  # noqa: PLC0415

    margins = _margins_of(test)
    spread = (
        f"spread {math.sqrt(test.variance):.3f} {'per block' if margins else 'of a win per block'}"
    )
    is_decided = test.verdict != Verdict.UNDECIDED
    plain = (
        "plain estimate, biased because the test stopped as soon as it knew enough"
        if is_decided
        else "plain"
    )
    return "\n".join(
        [
            f"{test.verdict}: {new} against {old}",
            (
                f"LLR {llr_text(test)}{' by margin' if margins else ''} for"
                f" {_question_text(test.question)}; "
                f"{counted(test.blocks, 'block')}, {games} games, {spread}"
            ),
            f"Elo {_estimate_text(unbiased_estimate(test))} median-unbiased",
            f"Elo {_estimate_text(plain_estimate(test))} {plain}",
            *(_beside(margins) if margins else ()),
        ]
    )


def finding_text(test: BlockTest, new: str, old: str) -> str:
    """What the comparison of a suggestion with the bot as it is has found, and what to do."""
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import unbiased_estimate  # noqa: PLC0415

    by = f"{_estimate_text(unbiased_estimate(test))} Elo"
    if test.verdict == Verdict.BETTER:
        return f"{new} is better than {old} by {by}, on fresh deals"
    if test.verdict == Verdict.NOT_BETTER:
        return f"no gain found on fresh deals ({by}): keep {old}"
    return f"not clear on fresh deals ({by}): keep {old} until it is"


def verdict_object(
    test: BlockTest, new: str, old: str, games: int, looks: Sequence["Look"] = ()
) -> dict[str, Any]:
    """The same for JSON, with each look at the test; infinite values are None."""
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import plain_estimate, unbiased_estimate  # noqa: PLC0415

    fair, plain, margins = unbiased_estimate(test), plain_estimate(test), _margins_of(test)
    return {
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
        **_fields("elo", fair),
        **_fields("plain_elo", plain),
        **(_beside_fields(margins) if margins else {}),
        "looks": [_look_object(look) for look in looks],
    }


def _look_object(look: "Look") -> dict[str, Any]:
    return {
        "blocks": look.blocks,
        "llr": round(look.llr, 4) + 0.0,
        "elo": _finite(look.elo),
        "error": _finite(look.error),
        "verdict": str(look.verdict),
    }


def _margins_of(test: BlockTest) -> "MarginTest | None":
    """The test, if it is one by margin."""
    return None if isinstance(test, SequentialTest) else cast("MarginTest", test)


def _beside(test: "MarginTest") -> Iterator[str]:
    """What the same blocks say by wins, and a warning if that is something else."""
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import disagreement, plain_estimate  # noqa: PLC0415

    yield f"by wins, from the same blocks: Elo {_estimate_text(plain_estimate(test.wins))} plain"
    apart = disagreement(test)
    if _is_apart(apart):
        yield (
            f"warning: margins and wins disagree by {apart.elo:+.1f} Elo, 99 % interval"
            f" [{apart.low:+.1f}, {apart.high:+.1f}]: these two do not win by as much as they win"
            " often, so go by wins (--by wins)"
        )


def _beside_fields(test: "MarginTest") -> dict[str, Any]:
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import disagreement, plain_estimate  # noqa: PLC0415

    apart = disagreement(test)
    return {
        "wins_llr": round(test.wins.llr, 4),
        **_fields("wins_elo", plain_estimate(test.wins)),
        **_fields("disagreement", apart),
        "disagree": _is_apart(apart),
    }


def _is_apart(apart: "Estimate") -> bool:
    return bool(apart.low > 0 or apart.high < 0)


def _question_text(question: Question) -> str:
    errors = f"alpha {question.alpha * 100:g} %, beta {question.beta * 100:g} %"
    return f"{question.elo1:g} Elo rather than {question.elo0:g}, {errors}"


def _estimate_text(estimate: "Estimate") -> str:
    return f"{estimate.elo:+.1f} [{estimate.low:+.1f}, {estimate.high:+.1f}]"


def _fields(name: str, estimate: "Estimate") -> dict[str, float | None]:
    ends = {name: estimate.elo, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return {key: _finite(value) for key, value in ends.items()}


def _finite(value: float) -> float | None:
    return round(value, 2) + 0.0 if math.isfinite(value) else None
