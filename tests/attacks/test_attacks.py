"""What a bot can do to the user, the arena and its rivals, in each tier of the sandbox: one table,
tried with real programs.
"""

import os
import sys

import pytest

from arena.players.process import BotProcess
from tests.attacks.ground import COMES_S, LEAVES_S, read_line
from tests.attacks.table import ATTACKS, BLOCKED, IF, OPEN, ROOT, N
from tests.attacks.tiers import TIERS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tiers exist on Linux only")

IMPORT_S = 30
"""How long an import of the SDK may take, on any machine; a lease on one file delays it longer."""


@pytest.mark.parametrize(
    ("name", "ground"),
    [
        (name, tier)
        for name, attack in ATTACKS.items()
        for tier in TIERS
        if getattr(attack, tier) is not N
    ],
    indirect=["ground"],
)
def test_an_attack(ground, name):
    attack = ATTACKS[name]
    expected = getattr(attack, ground.tier)
    ground.patience_s = COMES_S if expected == OPEN else LEAVES_S
    said = ground.attack(attack.line)
    result = OPEN if attack.judge(ground, said) else BLOCKED
    if expected == ROOT:
        expected = IF if os.getuid() == 0 else BLOCKED
    if (expected, result) == (IF, BLOCKED):
        pytest.skip(f"this machine itself refuses it: {said[:200]}")
    assert result == expected.partition(",")[0], (
        f"it said: {said[:500]!r}, stderr: {ground.process.stderr_tail()[-500:]!r}"
    )


def test_a_bot_that_leases_the_sdk_delays_no_bot_beside_it(ground):
    """Unless leases are refused, a bot waits for each file that it imports, by default 45 s."""
    if ground.tier == "none":
        pytest.skip("without a sandbox a bot may lease files")
    said = ground.attack("kernel.py lease {sdk}")
    (ground.own / "honest.py").write_text("import arena.sdk\nprint('ready', flush=True)\n")
    honest = BotProcess(["python3", "honest.py"], ground.own, ground.sandbox)
    ground.later(ground._stop, honest)
    assert read_line(honest.from_bot, IMPORT_S) == "ready", said


def test_the_table_has_its_counterproof():
    """What is blocked in a sandbox is open without one, but for
    what the keeper blocks everywhere.
    """
    everywhere = {name for name, attack in ATTACKS.items() if attack.none == BLOCKED}
    assert len(ATTACKS) - len(everywhere) > 80
    assert all(attack.bubblewrap == BLOCKED for attack in ATTACKS.values())
    assert all(ATTACKS[name].landlock in (BLOCKED, N) for name in everywhere)
