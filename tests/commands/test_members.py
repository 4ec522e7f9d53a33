"""Who is a member of a league."""

from arena.commands.bots import registry_of
from arena.commands.members import Members
from arena.records.league import Joined
from arena.records.record import utc_now


def test_a_bot_of_the_ladder_stays_a_member_without_a_copy_in_bots(tmp_path):
    league = tmp_path / "league"
    league.mkdir()
    bundled = registry_of(tmp_path).of_ladder()[0]
    members = Members(tmp_path, league, [], str)
    members.append(*(Joined(bot, "candidate", utc_now()) for bot in (bundled, "gone@1")))
    members.look()
    statuses = {bot: member.status for bot, member in members.league.members.items()}
    assert statuses == {bundled: "candidate", "gone@1": "withdrawn"}
