"""The page on what is known about Qin shows what the script beside it prints."""

import re
import runpy
from pathlib import Path

LEAGUE = Path(__file__).parents[2] / "results" / "league-2"


def test_every_table_of_the_page_is_the_scripts(capsys):
    runpy.run_path(str(LEAGUE / "about_qin.py"), run_name="__main__")
    printed = capsys.readouterr().out.splitlines()
    shown = re.findall(r"```\n( .*?)\n```", (LEAGUE / "about-qin.md").read_text(), re.DOTALL)
    assert len(shown) == 4
    for line in "\n".join(shown).splitlines():
        assert line in printed
