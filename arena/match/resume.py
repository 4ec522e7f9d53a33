"""A recorded game to play on from: its position at a turn, and the plan of a game that has the same
past.
"""

import random
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from msgspec.structs import replace

from arena.errors import ArenaError, RunError
from arena.match.referee import GamePlan
from arena.match.replay import retire_faulty, start_state
from arena.match.retrace import Script, check_script
from arena.records.record import Fault, GameRecord
from arena.rules.game import PASSED, Board, State, parse_move, play_text
from arena.rules.notation import deck_text, parse_deck, tile_of
from arena.rules.terms import HAND

DEALS_TRIED = 2000
"""How many deals are dealt to find one that fits the passes of the past."""


class Resumed(NamedTuple):
    """A recorded game at a turn.

    ``past``   its moves up to its ``turn``-th placement; ``gone`` the faults by which seats had
               left it before
    ``deck``   the tiles, in draw order
    ``state``  the position, before the mover is asked, or passes
    """

    script: Script
    turn: int
    past: tuple[str, ...]
    gone: tuple[Fault, ...]
    deck: str
    state: State

    @property
    def absent(self) -> list[int]:
        """The seats that have left the game, in ascending order."""
        return sorted(fault.seat for fault in self.gone)

    def plan(self, bots: Sequence[str], seeds: Sequence[int] | None = None) -> GamePlan:
        """The plan of a game that goes on from here; the bots have the recorded seeds unless others
        are given.
        """
        record = self.script.record
        return GamePlan(
            resumed_id(record, self.turn, bots),
            record.board,
            record.deal,
            record.seating,
            tuple(bots),
            self.deck,
            tuple(seeds or self.script.seeds),
            self.past,
            self.gone,
            self.script.settings if list(bots) == record.bots else (),
        )


def resumed(script: Script, turn: int) -> Resumed:
    """The game after so many placements. Raises RunError if the record does not follow from its
    deck and moves, or if there is nothing left to play.
    """
    check_script(script)
    record = script.record
    last = _last_turn(record)
    if not 0 <= turn <= last:
        raise RunError(
            f"expected a turn from 0 to {last} of {record.id}, got {turn}",
            f"the game was over after {record.turns} placements"
            if last >= 0
            else "the game was over before its first move",
        )
    past = record.moves[: _moves_before(record, turn)]
    gone = [fault for fault in record.faults if fault.turn < turn]
    state = _played(script, record.deck, past, gone)
    return Resumed(script, turn, tuple(past), tuple(gone), record.deck, state)


def resumed_id(record: GameRecord, turn: int, bots: Sequence[str]) -> str:
    """The id of a game that goes on from a turn: ``bird@20/greedy+my-bot/3/1``."""
    return f"{record.board}@{turn}/{'+'.join(bots)}/{record.deal}/{record.seating}"


def first_difference(old: GameRecord, new: GameRecord) -> int | None:
    """The turn at which a game first leaves another with the same start; None if it never does."""
    both = zip([*old.moves, ""], [*new.moves, ""], strict=False)
    at = next((at for at, (then, now) in enumerate(both) if then != now), None)
    return None if at is None else sum(text != PASSED for text in old.moves[:at])


def reshuffled(game: Resumed, seed: str) -> Resumed:
    """The same game with everything dealt anew that the seat to move has not seen: what the others
    hold, and the pile. The past fits the new tiles as it fits the old ones. Raises RunError.
    """
    script, name = game.script, game.script.record.id
    # For play, not for secrets.
    deck = list(parse_deck(game.deck))
    luck = random.Random(f"reshuffle\n{seed}\n{name}")  # noqa: S311
    hidden = _hidden(script.board, deck, game.past, len(script.record.bots))
    tiles = [deck[at] for at in hidden]
    for _ in range(DEALS_TRIED):
        luck.shuffle(tiles)
        for at, tile in zip(hidden, tiles, strict=True):
            deck[at] = tile
        # Who passed holds nothing that fitted, and a game that goes on was not over.
        with suppress(ArenaError):
            text = deck_text(tuple(deck))
            state = _played(script, text, game.past, game.gone)
            if state.end is None:
                return game._replace(deck=text, state=state)
    raise RunError(
        f"expected another deal that fits the passes in {name}, found none in {DEALS_TRIED}",
        "choose an earlier turn, or leave out --reshuffle",
    )


def _hidden(board: Board, deck: Sequence[int], past: Sequence[str], players: int) -> list[int]:
    """The places in the deck of the tiles that the seat to move has not seen: those in the other
    hands, and those that are still to be drawn.
    """
    held = [list(range(HAND * seat, HAND * seat + HAND)) for seat in range(players)]
    drawn = HAND * players
    for number, text in enumerate(past):
        if text == PASSED:
            continue
        own, tile = held[number % players], tile_of(parse_move(board, text))
        own.remove(next(at for at in own if deck[at] == tile))
        if drawn < len(deck):
            own.append(drawn)
            drawn += 1
    del held[len(past) % players]
    return [at for own in held for at in own] + list(range(drawn, len(deck)))


def _played(script: Script, deck: str, past: Sequence[str], gone: Sequence[Fault]) -> State:
    """The state after the past of a game, on a deck. Raises ArenaError."""
    record = replace(script.record, deck=deck, faults=list(gone))
    state = start_state(record, script.board)
    for text in past:
        retire_faulty(state, record)
        play_text(state, text)
    for fault in gone:
        state.retire(fault.seat)
    return state


def _moves_before(record: GameRecord, turn: int) -> int:
    """How many of the moves lead to so many placements."""
    placed = 0
    for number, text in enumerate(record.moves):
        if placed == turn:
            return number
        placed += text != PASSED
    return len(record.moves)


def _last_turn(record: GameRecord) -> int:
    """The last turn at which there was something to play: a forfeit after the last placement means
    that somebody was to move.
    """
    return record.turns - (not any(fault.turn == record.turns for fault in record.faults))
