"""The result of a comparison, as text and for JSON."""

import math
from typing import TYPE_CHECKING, Any

from arena.ratings.sequential import Question, SequentialTest, Verdict

if TYPE_CHECKING:
    from arena.ratings.estimates import Estimate


def llr_text(test: SequentialTest) -> str:
    """The log likelihood ratio between its bounds: ``1.02 [-2.94, 2.94]``."""
    return f"{test.llr:.2f} [{test.question.lower:.2f}, {test.question.upper:.2f}]"


def verdict_text(test: SequentialTest, new: str, old: str, games: int) -> str:
    """The verdict, the evidence for it, and the difference in Elo."""
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import plain_estimate, unbiased_estimate  # noqa: PLC0415

    spread = f"spread {math.sqrt(test.variance):.3f} of a win per block"
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
                f"LLR {llr_text(test)} for {_question_text(test.question)}; {test.blocks} blocks,"
                f" {games} games, {spread}"
            ),
            f"Elo {_estimate_text(unbiased_estimate(test))} median-unbiased",
            f"Elo {_estimate_text(plain_estimate(test))} {plain}",
        ]
    )


def verdict_object(test: SequentialTest, new: str, old: str, games: int) -> dict[str, Any]:
    """The same for JSON; infinite values are None."""
    # Scipy: a comparison is played without.
    from arena.ratings.estimates import plain_estimate, unbiased_estimate  # noqa: PLC0415

    fair, plain = unbiased_estimate(test), plain_estimate(test)
    return {
        "verdict": str(test.verdict),
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
    }


def _question_text(question: Question) -> str:
    errors = f"alpha {question.alpha * 100:g} %, beta {question.beta * 100:g} %"
    return f"{question.elo1:g} Elo rather than {question.elo0:g}, {errors}"


def _estimate_text(estimate: "Estimate") -> str:
    return f"{estimate.elo:+.1f} [{estimate.low:+.1f}, {estimate.high:+.1f}]"


def _fields(name: str, estimate: "Estimate") -> dict[str, float | None]:
    ends = {name: estimate.elo, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return {
        key: round(value, 2) + 0.0 if math.isfinite(value) else None for key, value in ends.items()
    }
