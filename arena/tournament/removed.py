"""What earlier versions had and this one has not: commands, options and values of options, each
with its replacement. The command line, an arena.toml and `arena.api` answer with the replacement;
CHANGELOG gives the reasons.
"""

from collections.abc import Iterable
from itertools import product

SINCE = "1.1"
"""The version in which the entries of `REMOVED` were removed."""

KEEP_STDERR = (
    "leave it out: 'arena play BOT BOT --stderr' shows what bots write beside each move; what a bot"
    " wrote before a forfeit is kept with its fault"
)
TLS = (
    "name the certificate files in Dask's own configuration, which 'dask scheduler' reads, too:"
    " docs/clusters.md shows a file"
)
HTML = "--html writes a page to step through; 'arena serve' shows it without a file"
PLAYERS_OF_CLUSTERS = ("run", "compare", "tune", "league run")
"""The commands that had the removed options for TLS."""
RATERS = ("run", "standings", "report", "export", "rate", "analyse", "verify")
"""The commands whose option --prior had the removed values."""


def _alike(commands: Iterable[str], options: Iterable[str], replacement: str) -> dict[str, str]:
    """Entries of `REMOVED` with one ``replacement`` for the ``options`` of each of ``commands``."""
    entries = {}
    for command, option in product(commands, options):
        entries[f"{command} --{option}"] = replacement
    return entries


REMOVED = {
    "perft": "protocol/vectors/perft.jsonl has counts of positions to compare an engine with",
    "watch": "'arena serve' shows a run live in a browser; 'arena runs' says which are being played"
    " and who leads",
    "analyse --hands": "'arena review' names the decisions that cost most",
    "analyse --qin": "results/league-2/about-qin.md has what seats, villages and majors were worth"
    " in the games of League 2; about_qin.py beside it is a script to change for other games",
    "compare --match": "leave it out: a comparison counts single games; --boards names boards",
    "compare --null": "leave it out: docs/statistics.md says how often the answers are right",
    "doctor --clean": "leave it out: every 'arena run' removes temporary folders that nobody owns",
    "league run --keep-stderr": KEEP_STDERR,
    "play --match": "'arena run BOT BOT --match bird,lion --deals 1' plays a match",
    "play --reshuffle": "'arena review' tells whether a move was good or only lucky",
    "play --step": "'arena replay RUN GAME --html' writes a page to step through a game of a run",
    "rate --covariance": "arena.api.rate(...).covariance is the table of covariances",
    "regress --csv": "--json lists the differences",
    "replay --stderr": "'arena play BOT BOT --stderr' shows what bots write beside each move, of a"
    " game in question with its --seed and --deal",
    "replay --step": HTML,
    "report --url": "leave it out: no picture for chats is written beside the page; 'arena export'"
    " writes standings.svg",
    "run --adaptive": "--until ELO plays until every +/- is at most that many Elo, with the same"
    " number of deals for every line-up",
    "run --keep-stderr": KEEP_STDERR,
    "standings --by": "leave it out: ratings go by wins alone; the column avg_rank of"
    " standings.csv has the mean rank of each bot",
    "tune --csv": "the search's folder has the path as path.csv, and --json prints it",
    **_alike(PLAYERS_OF_CLUSTERS, ("tls-ca-file", "tls-cert", "tls-key"), TLS),
    **_alike(RATERS, ("prior none", "prior auto"), "leave --prior out"),
}
"""What to use instead. A key is a command, or a command and an option, or a command, an option and
its value.
"""


AS_KEYS = {
    "adaptive": "'until' plays until every +/- is at most that many Elo, with the same number of"
    " deals for every line-up",
    "match": "leave it out: a comparison counts single games; 'boards' names boards",
}
"""What to use instead of a key of an arena.toml, or of an argument in `arena.api`, where the text
in `REMOVED` would name an option of the command line.
"""


def instead_of_key(key: str) -> str:
    """What to use instead of a removed ``key`` of an arena.toml, or of a removed argument in
    `arena.api`; empty if it was not removed.
    """
    if key in AS_KEYS:
        return AS_KEYS[key]
    option = "--" + key.replace("_", "-")
    return REMOVED.get(f"run {option}") or REMOVED.get(f"compare {option}") or ""
