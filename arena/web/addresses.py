"""Where the links on a run's pages lead, here on the server."""

from urllib.parse import quote, urlencode


class SitePages:
    """The addresses of a run's pages; see `report.addresses.Addresses`."""

    def __init__(self, run: str) -> None:
        self.run = f"/runs/{quote(run, safe='')}"

    def bot(self, name: str) -> str:
        """The page of a bot in the run."""
        return f"{self.run}/bots/{quote(name, safe='')}"

    def games(self, bots: list[str], page: int = 1) -> str:
        """The games of some bots."""
        asked = urlencode({"bot": bots, **({"page": page} if page > 1 else {})}, doseq=True)
        return f"{self.run}/games?{asked}"

    def meeting(self, name: str, other: str) -> str:
        """The games of two bots."""
        return self.games([name, other])

    def id_of_meeting(self, name: str, other: str) -> str:
        """The id of the row that tells of them."""
        return f"vs-{quote(name, safe='')}-{quote(other, safe='')}"

    def more(self, name: str) -> str:  # noqa: ARG002
        """No command is needed: all games are here."""
        return ""

    def game(self, name: str, turn: int = 0) -> str:
        """The page of a game, after so many placements."""
        place = f"#{urlencode({'game': name, 'turn': turn})}" if turn else ""
        return f"{self.run}/games/{quote(name)}{place}"
