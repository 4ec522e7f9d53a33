"""The examples in the docstrings of the SDK and of the encoding for training are right."""

import doctest

import pytest

import arena.sdk
import arena.sdk.position
import arena.sdk.seen
import arena.training
from arena.sdk import position_of

MODULES = [arena.sdk, arena.sdk.position, arena.sdk.seen, arena.training]
LINE = (
    ".5V0V0.5V/.6B0.6/.5R0B0.6/.2V.2R0B0Y1Y1V0.3/.5B0B0.B0R0.3/.5B0.2B0R0.3/.6Y1Y1R0R0R0.2/"
    ".2V.4BY1Y1V0V0./.2V.3R1R1R1.4/.7R1.5/.7R1.5/.7V1V1.3V/.13"
    " 0 15,18 YYRYRY,?????? 54 5,1,2,0,3,1 -"
)
"""The position of docs/sdk.md, which the examples call ``position``."""


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_examples_in_docstrings_are_right(module: object) -> None:
    position = position_of(LINE, seed=7)

    result = doctest.testmod(module, extraglobs={"position": position})  # type: ignore[arg-type]

    assert result.attempted > 0
    assert result.failed == 0
