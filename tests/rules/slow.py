"""A slow and plain referee, written from the text of the rules: it floods the whole board anew
after every placement.

It knows nothing of the cores. Squares are (row, column) pairs, provinces are sets of squares.
"""

COLOURS = "RYB"
PAGODAS = {2: 24, 3: 19, 4: 15}


def neighbours(square):
    row, column = square
    return [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]


def flood(squares):
    """The edge-connected areas of a set of squares."""
    rest, areas = set(squares), []
    while rest:
        area, edge = set(), {rest.pop()}
        while edge:
            square = edge.pop()
            area.add(square)
            for near in neighbours(square):
                if near in rest:
                    rest.discard(near)
                    edge.add(near)
        areas.append(frozenset(area))
    return areas


class SlowGame:
    """``provinces`` maps each owned area to [owner, pagodas]; ``villages`` each village to its
    owner or None.
    """

    def __init__(self, rows, players, deck):
        self.ground = {(r, c): letter for r, row in enumerate(rows) for c, letter in enumerate(row)}
        self.cells = {square: letter for square, letter in self.ground.items() if letter in COLOURS}
        self.villages = dict.fromkeys(
            flood(square for square, letter in self.ground.items() if letter == "V")
        )
        self.provinces = {}
        self.players = players
        self.left = [PAGODAS[players]] * players
        self.deck = list(deck)
        self.hands = []
        for _ in range(players):
            self.hands.append([self.deck.pop(0) for _ in range(3)])
        self.mover = 0
        self.end = None
        self.look_for_end()

    def legal(self, seat):
        """The set of placements as ((square, letter), (square,
        letter)), squares in reading order.
        """
        home = {square: province for province in self.provinces for square in province}
        faces = {letters for tile in self.hands[seat] for letters in (tile, tile[::-1])}
        found = set()
        for square in self.ground:
            for other in ((square[0], square[1] + 1), (square[0] + 1, square[1])):
                # R4.1: both squares are free grassland
                if any(
                    self.ground.get(half) != "." or half in self.cells for half in (square, other)
                ):
                    continue
                # R4.2: one of the spaces touches a province space of any colour
                if not any(
                    near in self.cells for half in (square, other) for near in neighbours(half)
                ):
                    continue
                for letters in faces:
                    placement = ((square, letters[0]), (other, letters[1]))
                    if all(self.may_join(joined) for joined in self.joins(placement, home)):
                        found.add(placement)
        return found

    def joins(self, placement, home):
        """R4.5: the provinces that each colour area of the tile would touch; a double tile is one
        area.
        """
        touched = {}
        for square, letter in placement:
            beside = {
                home[near]
                for near in neighbours(square)
                if near in home and self.cells[near] == letter
            }
            touched[letter] = touched.get(letter, set()) | beside
        return touched.values()

    def may_join(self, joined):
        if len(joined) < 2:
            return True
        majors = [province for province in joined if len(province) >= 5]
        if majors:
            return len(majors) == 1  # R4.3, R5.6
        totals = self.totals(joined)
        return totals.count(max(totals)) == 1  # R4.4

    def areas_of(self, placement):
        """The colour areas that hold a half of the placed tile, flooded on the board as it would
        be.
        """
        after = {**self.cells, **dict(placement)}
        areas = {}
        for square, letter in placement:
            for area in flood(own for own, colour in after.items() if colour == letter):
                if square in area:
                    areas[area] = letter
        return list(areas.items())

    def provinces_within(self, area, letter):
        return [
            province
            for province in self.provinces
            if self.cells[next(iter(province))] == letter and province <= area
        ]

    def totals(self, joined):
        totals = [0] * self.players
        for province in joined:
            totals[self.provinces[province][0]] += len(province)
        return totals

    def clockwise(self, owed):
        return sorted(owed, key=lambda entry: (entry[0] - self.mover) % self.players)

    def place(self, placement):
        letters = "".join(letter for _, letter in placement)
        hand = self.hands[self.mover]
        hand.remove(letters if letters in hand else letters[::-1])
        self.carry_out(placement)
        if self.end is None:
            if self.deck:
                hand.append(self.deck.pop(0))
            self.mover = (self.mover + 1) % self.players
            self.look_for_end()

    def carry_out(self, placement):
        owed = []
        plans = [
            (area, self.provinces_within(area, letter)) for area, letter in self.areas_of(placement)
        ]
        self.cells.update(placement)
        for area, joined in sorted(
            plans,
            key=lambda plan: min(
                at for at, (square, _) in enumerate(placement) if square in plan[0]
            ),
        ):
            if len(area) == 1:
                continue
            owner, standing = self.mover, 0
            if joined:
                majors = [province for province in joined if len(province) >= 5]
                totals = self.totals(joined)
                owner = self.provinces[majors[0]][0] if majors else totals.index(max(totals))
                for province in joined:
                    whose, count = self.provinces.pop(province)
                    if whose == owner:
                        standing += count
                    else:
                        self.left[whose] += count
            wanted = 2 if len(area) >= 5 else 1
            if standing > wanted:
                self.left[owner] += standing - wanted
                standing = wanted
            self.provinces[area] = [owner, standing]
            if wanted > standing:
                owed.append((owner, area, wanted - standing))
        for seat, area, count in self.clockwise(owed):
            paid = min(count, self.left[seat])
            self.provinces[area][1] += paid
            self.left[seat] -= paid
            if self.left[seat] == 0:
                self.end = "last pagoda"
                return
        self.settle_villages()

    def settle_villages(self):
        owed = []
        for village in sorted(self.villages, key=min):
            beside = {near for square in village for near in neighbours(square)}
            counts = [0] * self.players
            for province, (owner, pagodas) in self.provinces.items():
                if province & beside:
                    counts[owner] += pagodas
            best = max(counts)
            owner = self.villages[village]
            if best and counts.count(best) == 1 and (owner is None or best > counts[owner]):
                owed.append((counts.index(best), village))
        for _, village in owed:
            if self.villages[village] is not None:
                self.left[self.villages[village]] += 1
                self.villages[village] = None
        for seat, village in self.clockwise(owed):
            self.villages[village] = seat
            self.left[seat] -= 1
            if self.left[seat] == 0:
                self.end = "last pagoda"
                return

    def pass_turn(self):
        self.mover = (self.mover + 1) % self.players

    def look_for_end(self):
        if not any(self.legal(seat) for seat in range(self.players)):
            self.end = "no space" if any(self.hands) else "no tiles"
