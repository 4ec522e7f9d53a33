"""A person at a seat, as the bot that a run's run.json names."""

from hashlib import sha256
from pathlib import Path

from arena.players.folder import Bot
from arena.players.manifest import Manifest

YOU = "human"
"""The name of a person in records."""
COMMAND = ["a person"]
"""What a person has where bots have their start command."""
PERSON = Bot(
    YOU,
    Manifest(name=YOU, command=COMMAND, version="1", description="a person"),
    Path(),
    sha256(YOU.encode()).hexdigest(),
)
