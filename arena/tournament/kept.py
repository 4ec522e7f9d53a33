"""The bot processes that a worker keeps from game to game, and what they know.

A process that has played a deal knows its hands and its draw pile. So it never plays a game on that
deal again, and while another process plays one, it is paused or does not exist any more. It is kept
beyond its batch only if its deals end with the batch, because then nobody plays them again.
"""

from collections.abc import Callable, Container, Sequence

from msgspec import Struct

from arena.players.bot import BotPlayer
from arena.players.player import InProcessPlayer

MAX_IDLE = 16
"""The most processes that a worker keeps for later games: at a table of four, a process of each bot
for each seating.
"""
MAX_IDLE_MB = 256
"""A process with more memory than this, in MB, or than half of its limit, is not kept while others
play: several such processes of each worker could fill the machine's memory, and a bot that never
frees memory would reach its limit.
"""
MAX_GAMES = 50
"""A process that has played this many games is not kept: files that a bot leaves in its sandbox
after each game would add up to its limit. One start in so many games costs next to nothing.
"""
WorkerPlayer = BotPlayer | InProcessPlayer
"""A player in a worker's games."""


class KeptPlayer(Struct, eq=False):
    """A player, and what its process knows.

    ``decks``     the decks of all games that the process has played
    ``may_stay``  whether each deal that the process knows has ended, or ends with this batch
    ``is_idle``   whether the process is paused until it plays again
    """

    player: WorkerPlayer
    decks: set[str]
    may_stay: bool = True
    is_idle: bool = False

    def fits(self, label: str, deck: str) -> bool:
        """Whether the process of the bot with this label runs and may play a game with ``deck``."""
        return self.player.name == label and self.player.is_running and deck not in self.decks

    def rest(self) -> bool:
        """Pauses the process until it plays again. Returns whether that was possible. False, and
        nothing is done, if there is no running process, if ``may_stay`` is False, if it has played
        `MAX_GAMES` games, or if it takes more memory than `MAX_IDLE_MB` or half of the bot's limit.
        """
        player = self.player
        is_kept = self.may_stay and player.is_running and len(self.decks) < MAX_GAMES
        if not is_kept or isinstance(player, InProcessPlayer) or not player.process:
            return False
        if not self.is_idle:
            # It takes a millisecond to find out how much memory the process has.
            most_mb = min(MAX_IDLE_MB, player.bot.memory_mb // 2)
            if player.process.memory_mb() > most_mb:
                return False
            player.process.pause()
            self.is_idle = True
        return True


class KeptPlayers:
    """The players of a worker, of which some have a running process. ``new_player`` makes a player
    for the bot with a label. With ``keeps`` False, a process that does not play is always ended,
    never paused.
    """

    def __init__(self, new_player: Callable[[str], WorkerPlayer], *, keeps: bool = True) -> None:
        self._new_player = new_player
        self._keeps = keeps
        self._players: list[KeptPlayer] = []
        """All players, those that played last at the end."""

    def take(
        self, labels: Sequence[str], deck: str, *, ends_deal: bool = False
    ) -> list[WorkerPlayer]:
        """The players for a game with this deck, one for each of the ``labels``. A bot whose
        process runs plays with it again, unless the process knows the deck; other bots get a new
        player. The processes of all other players are paused, or ended if `KeptPlayer.rest` cannot
        pause them or `MAX_IDLE` others are. ``ends_deal`` is that of `GamePlan`.
        """
        others = self._players
        taken = list[KeptPlayer]()
        for label in labels:
            fitting = (each for each in reversed(others) if each.fits(label, deck))
            kept = next(fitting, None) or KeptPlayer(self._new_player(label), set())
            others = [each for each in others if each is not kept]
            taken.append(kept)
        self._players = self._rested(others) + taken
        for kept in taken:
            kept.is_idle = False
            kept.decks.add(deck)
            kept.may_stay = kept.may_stay and ends_deal and self._keeps
        return [kept.player for kept in taken]

    def keep(self, player: WorkerPlayer) -> None:
        """Takes in a player whose process has been started and has not played yet. The process is
        paused until it plays. It is ended instead if this object keeps none, or if
        `KeptPlayer.rest` cannot pause it. The other players are paused, too; if more than
        `MAX_IDLE` processes are, those that played longest ago are ended.
        """
        if self._keeps:
            self._players = self._rested([*self._players, KeptPlayer(player, set())])
        else:
            player.stop()

    def end_batch(self, unfinished: Container[str]) -> None:
        """Called after a batch: pauses the processes of all players, and ends those that know a
        deal which has not ended. These are the deals of the decks in ``unfinished``, the decks of
        games of the batch that were not finished, and those that were not to end with the batch.
        Others are ended as in `keep`.
        """
        for kept in self._players:
            if any(deck in unfinished for deck in kept.decks):
                kept.may_stay = False
        self._players = self._rested(self._players)

    def _rested(self, players: Sequence[KeptPlayer]) -> list[KeptPlayer]:
        """Pauses the processes of ``players``, at most `MAX_IDLE`, those that played last first;
        ends the players that cannot be paused or are too many. Returns the paused ones in their
        order.
        """
        kept_players = list[KeptPlayer]()
        for kept in reversed(players):
            if len(kept_players) < MAX_IDLE and kept.rest():
                kept_players.append(kept)
            else:
                kept.player.stop()
        return kept_players[::-1]

    def stop(self) -> None:
        """Ends the processes of all players."""
        for kept in self._players:
            kept.player.stop()
        self._players.clear()
