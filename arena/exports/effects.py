"""Says in words what a move does, before it is played: which provinces it founds, enlarges and
joins, which villages it takes, and how many pagodas each seat then has left.

Only what the board shows is used, so these words tell a player nothing that is hidden.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from arena.rules import State
from arena.rules.boards import COLOUR_NAMES, Board
from arena.rules.notation import PASS, split_move
from arena.rules.terms import LAST_PAGODA, MAJOR, NOBODY, Event, OwnedProvince

SINGLE = "single"
"""The kind of an effect: the tile founds, enlarges and joins nothing."""
HOME = "home"
"""The kind of an effect: pagodas return to their owner."""
LAST = "last"
"""The kind of an effect: a seat places its last pagoda, and the game ends."""


class Effect(NamedTuple):
    """One thing that a move does.

    ``kind``   the name of the event (`arena.rules.terms.Event`), or `SINGLE`, `HOME` or `LAST`
    ``seat``   the owner of the province, village or pagodas afterwards
    ``words``  what happens, a sentence
    ``why``    the reason, a sentence; may be empty
    ``rule``   the number of the rule, such as R5.2
    ``brief``  what happens in a few words, such as ``a red province``; empty if it is a consequence
               of another effect
    """

    kind: str
    seat: int
    words: str
    why: str
    rule: str
    brief: str = ""


class MoveEffects(NamedTuple):
    """What a move does: its ``effects`` in the order of the rules, and the number of pagodas that
    each seat has ``left`` to place afterwards.
    """

    effects: list[Effect]
    left: list[int]

    @property
    def brief(self) -> str:
        """All effects in a few words, such as ``a red province and a village``."""
        parts = [effect.brief for effect in self.effects if effect.brief]
        return " and ".join(", ".join(parts).rsplit(", ", 1))


def takes_back(effects: Iterable[Effect], seat: int) -> bool:
    """Whether one of the ``effects`` returns pagodas to ``seat``."""
    return any(effect.kind == HOME and effect.seat == seat for effect in effects)


def effects_of(state: State, move: int, names: Sequence[str], viewer: int) -> MoveEffects:
    """What the legal ``move`` of the mover of ``state`` does, in words for the player at the seat
    ``viewer``, who is called "you"; with a number that is no seat, nobody is. ``names`` are the
    names of the seats. ``state`` does not change. A pass has no effects.
    """
    if move == PASS:
        return MoveEffects([], list(state.left))
    after = state.copy()
    events = list[Event]()
    after.play(move, events)
    writer = _Writer(state, after, names, viewer)
    effects = list(chain.from_iterable(map(writer.effects, events)))
    if not effects:
        effects = [writer.single(move)]
    if after.end == LAST_PAGODA:
        effects.append(writer.last())
    return MoveEffects(effects, list(after.left))


def effects_of_played(
    before: State, after: State, events: Sequence[Event], names: Sequence[str], viewer: int
) -> list[Effect]:
    """What a move did that led from ``before`` to ``after`` and had these ``events``. ``names`` and
    ``viewer`` are those of `effects_of`.
    """
    return list(chain.from_iterable(map(_Writer(before, after, names, viewer).effects, events)))


def colours_of(board: Board, move: int) -> str:
    """The colours of the tile of ``move``, a placement on ``board``: ``red and blue``, or ``red``
    if both halves are red.
    """
    first, _, second, _ = split_move(board, move)
    return " and ".join(dict.fromkeys((COLOUR_NAMES[first], COLOUR_NAMES[second])))


class _Writer:
    """Writes the effects of a move that leads from one state to another."""

    def __init__(self, before: State, after: State, names: Sequence[str], viewer: int) -> None:
        self._before = before
        self._after = after
        self._names = names
        self._viewer = viewer

    def effects(self, event: Event) -> list[Effect]:
        """The effects of ``event``: what it changes, and the pagodas that return."""
        write = {
            "found": self._found,
            "expand": self._expand,
            "absorb": self._absorb,
            "major": self._major,
            "connect": self._connect,
            "conquer": self._conquer,
        }[event.name]
        effects = [write(event)]
        if event.name != "conquer":
            effects += [self._home(seat, count) for seat, count in event.home]
        return effects

    def single(self, move: int) -> Effect:
        """The effect of ``move``, whose tile touches no space of its colours."""
        return Effect(
            SINGLE,
            self._before.mover,
            f"No province yet for the {colours_of(self._before.board, move)} squares.",
            "A province needs two squares of one colour that touch.",
            "R5.1",
            "no province yet",
        )

    def last(self) -> Effect:
        """The effect that a seat has placed its last pagoda."""
        winner = self._after.left.index(0)
        words = f"{self._subject(winner)} {self._verb(winner, 'place')} the last pagoda"
        return Effect(
            LAST,
            winner,
            f"{words} and {self._verb(winner, 'win')} the game.",
            "",
            "R8.1",
            "the last pagoda",
        )

    def _found(self, event: Event) -> Effect:
        """The effect of an event that founds a province."""
        colour = self._colour(event)
        return Effect(
            event.name,
            event.seat,
            # Not "You found", which reads as if one had come upon it.
            f"{self._subject(event.seat)} {self._verb(event.seat, 'make')} a {colour} province.",
            "Two squares of one colour touch, so they get a pagoda.",
            "R5.2",
            f"a {colour} province",
        )

    def _expand(self, event: Event) -> Effect:
        """The effect of an event that enlarges a province."""
        owner = self._owner(event.seat)
        subject = "Your" if self._is_viewer(event.seat) else owner
        colour = self._colour(event)
        is_own = event.seat == self._before.mover
        return Effect(
            event.name,
            event.seat,
            f"{subject} {colour} province grows to {event.size} squares.",
            "" if is_own else "Squares beside a single province go to its owner.",
            "R5.3",
            f"{owner} {colour} province grows to {event.size}",
        )

    def _absorb(self, event: Event) -> Effect:
        """The effect of an event that joins provinces."""
        colour = self._colour(event)
        joined = self._joined(event)
        sizes = Counter[int]()
        for province in joined:
            sizes[province.owner] += province.size
        parts = f"{self._owner(event.seat)} {sizes.pop(event.seat, 0)} {colour} squares"
        if sizes:
            others = " and ".join(f"{self._owner(seat)} {size}" for seat, size in sizes.items())
            words = f"Joins {parts} with {others}."
            brief = f"{parts} swallow {others}"
        else:
            words = f"Joins {parts} to one province."
            brief = f"{self._owner(event.seat)} {colour} provinces join"
        return Effect(event.name, event.seat, words, self._why_absorbed(event), "R5.5", brief)

    def _why_absorbed(self, event: Event) -> str:
        """Why the joined province belongs to the seat of ``event``."""
        joined = self._joined(event)
        owner = "yours" if self._is_viewer(event.seat) else self._owner(event.seat)
        owners = {province.owner for province in joined}
        if len(owners) == 1:
            return "Pagodas that the province does not need return." if event.home else ""
        if any(province.size >= MAJOR for province in joined):
            return f"The province of five or more was there first, so all {event.size} are {owner}."
        had = "You" if self._is_viewer(event.seat) else self._names[event.seat]
        return f"{had} had more of them, so all {event.size} are {owner}."

    def _major(self, event: Event) -> Effect:
        """The effect of an event that makes a province major."""
        brief = "a province of five or more"
        is_own = event.seat == self._before.mover
        return Effect(
            event.name,
            event.seat,
            "Five or more squares: a double pagoda, which counts as two.",
            "Nobody can ever take the province.",
            "R5.4",
            brief if is_own else f"{brief} for {self._names[event.seat]}",
        )

    def _connect(self, event: Event) -> Effect:
        """The effect of an event by which a village gets its first owner."""
        who = self._subject(event.seat)
        return Effect(
            event.name,
            event.seat,
            f"{who} {self._verb(event.seat, 'take')} a village.",
            f"{who} {self._verb(event.seat, 'have')} the most pagodas on the provinces beside it.",
            "R6.2",
            "a village" if event.seat == self._before.mover else f"a village for {who}",
        )

    def _conquer(self, event: Event) -> Effect:
        """The effect of an event by which a village changes its owner."""
        who = self._subject(event.seat)
        loser = self._loser(event)
        return Effect(
            event.name,
            event.seat,
            f"{who} {self._verb(event.seat, 'take')} a village from {loser}, and the pagoda on it"
            " returns.",
            f"{who} now {self._verb(event.seat, 'have')} more pagodas on the provinces beside it.",
            "R6.3",
            f"a village from {loser}",
        )

    def _home(self, seat: int, count: int) -> Effect:
        """The effect that ``count`` pagodas return to ``seat``."""
        who = self._subject(seat)
        pagodas = "one pagoda" if count == 1 else f"{count} pagodas"
        return Effect(
            HOME,
            seat,
            f"{who} {self._verb(seat, 'take')} {pagodas} back.",
            "A joined province keeps only the pagodas of its owner.",
            "R5.5",
        )

    def _colour(self, event: Event) -> str:
        """The colour, as a word, of the province of ``event``."""
        return COLOUR_NAMES[self._after_province(event)[0]]

    def _after_province(self, event: Event) -> tuple[int, OwnedProvince]:
        """The colour and the province of ``event`` after the move."""
        square = 1 << event.square
        return next(pair for pair in self._after.provinces() if pair[1].mask & square)

    def _joined(self, event: Event) -> list[OwnedProvince]:
        """The provinces before the move of which the province of ``event`` consists."""
        colour, whole = self._after_province(event)
        joined = []
        for of_colour, province in self._before.provinces():
            if of_colour == colour and province.mask & whole.mask:
                joined.append(province)
        return joined

    def _loser(self, event: Event) -> str:
        """The name of the seat that loses the village of ``event``."""
        square = 1 << event.square
        villages = zip(self._before.board.villages, self._before.villages, strict=True)
        owner = next((owner for mask, owner in villages if mask & square), NOBODY)
        return "you" if self._is_viewer(owner) else self._names[owner]

    def _is_viewer(self, seat: int) -> bool:
        return seat == self._viewer

    def _subject(self, seat: int) -> str:
        """The name of ``seat`` at the beginning of a sentence."""
        return "You" if self._is_viewer(seat) else self._names[seat]

    def _owner(self, seat: int) -> str:
        """The owner ``seat`` before a noun, such as ``your``."""
        return "your" if self._is_viewer(seat) else f"{self._names[seat]}'s"

    def _verb(self, seat: int, verb: str) -> str:
        """The form of ``verb`` that fits `_subject`."""
        if self._is_viewer(seat):
            return verb
        return "has" if verb == "have" else f"{verb}s"
