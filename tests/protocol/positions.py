"""The positions of protocol/vectors/positions.jsonl: what each is about, the drawing before, the
move, and the hands and pagodas.

The first eleven are those printed in the rulebooks; purple or white is seat 1, green seat 0.
"""

RY, RB, YB = {"hands": ("RY", "RY")}, {"hands": ("RB", "RB")}, {"hands": ("YB", "YB")}

POSITIONS = {
    "rulebook-1": ("one tile founds two provinces (R5.2)", ". Y . .\n. . . R", "Yb2Rc2", RY),
    "rulebook-2": (
        "a double tile on a single space founds one province of three (R5.2)",
        ". . Y .\n. . . .",
        "Ya1Yb1",
        {},
    ),
    "rulebook-3": (
        "one tile expands an own and a foreign province (R5.3)",
        """
        Y0 Y0 Y0 .  .
        .  .  .  .  .
        .  .  .  R1 R1
        """,
        "Yd1Rd2",
        RY,
    ),
    "rulebook-4": (
        "the same tile the other way round makes two single spaces (R5.1)",
        """
        Y0 Y0 Y0 .  .
        .  .  .  .  .
        .  .  .  R1 R1
        """,
        "Rd1Yd2",
        RY,
    ),
    "rulebook-5": (
        "the fifth space makes a province major, with a second pagoda (R5.4)",
        "Y0 Y0 Y0 .\nY0 . . .",
        "Yb2Rc2",
        RY,
    ),
    "rulebook-6": (
        "a province founded beside a free village connects it (R6.2)",
        "B . . V",
        "Bb1Bc1",
        {"hands": ("BB", "BB")},
    ),
    "rulebook-7": (
        "a second province beside the village conquers it (R6.3)",
        """
        Y1 Y1 V1 B0
        ~  ~  .  B0
        ~  ~  .  ~
        """,
        "Rc2Rc3",
        {},
    ),
    "rulebook-8": (
        "a province that becomes major beside the village conquers it (R5.4, R6.3)",
        """
        R1 R1 V1 Y0 Y0
        ~  ~  ~  Y0 Y0
        ~  ~  ~  .  .
        """,
        "Yd3Be3",
        YB,
    ),
    "rulebook-9": (
        "the larger province absorbs the smaller one and takes its village (R5.5, R6.3)",
        """
        V1 ~  ~ ~  ~
        R1 R1 . R0 R0
        ~  ~  . R0 ~
        """,
        "Rc2Bc3",
        RB,
    ),
    "rulebook-10": (
        (
            "a major province absorbs a small one of its owner's and a foreign one; all pagodas but"
            " two go home (R5.5, R5.6)"
        ),
        """
        R1 R1 . R0 R0 R0
        ~  ~  . ~  R0 R0
        ~  R0 R0 ~ ~  ~
        """,
        "Rc1Rc2",
        {},
    ),
    "rulebook-11": (
        "provinces of two spaces each, of two owners, may not be joined (R4.4)",
        "R0 R0 . R1 R1\n~ ~ . ~ ~",
        "Rc1Bc2",
        RB,
    ),
    # where a tile may not lie
    "tile-not-in-hand": (
        "a tile that is not in the hand may not be placed (R3.1)",
        "R . . . .",
        "Rb1Bc1",
        {"hands": ("RRYY", "RB")},
    ),
    "pass-with-a-move": ("who can place a tile may not pass (R3.2)", "R . . .", "pass", {}),
    "on-a-village": ("a tile may not cover a village (R4.1)", "R . V\n. . .", "Rb1Rc1", {}),
    "on-a-lake": ("a tile may not cover a lake (R4.1)", "R . .\n. ~ .", "Rb1Rb2", {}),
    "on-a-space": (
        "a tile may not cover a province space (R4.1)",
        "R0 R0 . .\n. . . .",
        "Rb1Rc1",
        {},
    ),
    "corner-only": ("a corner is not an edge (R4.2)", "R . . .\n~ . . .", "Yb2Yc2", {}),
    "village-only": ("a village is no province space (R4.2)", "R V . .\n. . . .", "Yc1Yd1", {}),
    "two-majors": (
        "two major provinces may not be joined, though one player owns both (R4.3)",
        """
        R0 R0 R0 R0 R0 . R0 R0 R0 R0 R0
        ~  ~  ~  ~  ~  . ~  ~  ~  ~  ~
        """,
        "Rf1Yf2",
        RY,
    ),
    "three-with-two-majors": (
        "nor two major provinces together with a small one (R4.3)",
        """
        ~  ~  ~  ~  ~  R1 ~  ~  ~  ~  ~
        ~  ~  ~  ~  ~  R1 ~  ~  ~  ~  ~
        R0 R0 R0 R0 R0 .  R1 R1 R1 R1 R1
        ~  ~  ~  ~  ~  .  ~  ~  ~  ~  ~
        """,
        "Rf3Yf4",
        RY,
    ),
    "tie-of-totals": (
        "totals are per player: two provinces of two against one of four are a tie (R4.4)",
        """
        ~  ~  R0 ~  ~  ~  ~
        ~  ~  R0 ~  ~  ~  ~
        R0 R0 .  R1 R1 R1 R1
        ~  ~  .  ~  ~  ~  ~
        """,
        "Rc3Yc4",
        RY,
    ),
    "tie-with-a-single": (
        "single spaces and the tile's own do not count for either player (R4.4)",
        """
        ~  ~  R  ~  ~
        ~  ~  .  ~  ~
        R1 R1 .  R0 R0
        """,
        "Rc2Rc3",
        {},
    ),
    "one-half-forbidden": (
        "each colour of the tile is judged by itself, and one forbidden join is enough (R4.5)",
        """
        Y0 Y0 . Y1 Y1
        ~  ~  . ~  ~
        B  ~  B ~  ~
        """,
        "Yc1Bc2",
        YB,
    ),
    "double-judged-whole": (
        (
            "a double tile is one area: either half alone would expand a province, both together"
            " join a tie (R4.4, R4.5)"
        ),
        """
        R0 R0 . . R1 R1
        ~  ~  ~ ~ ~  ~
        """,
        "Rc1Rd1",
        {},
    ),
    "after-the-end": (
        "nobody places a tile once the game is over (R8.1)",
        "R0 R0 . R1 R1",
        "Yc1Yd1",
        {},
    ),
    # where it may, though it may not look so
    "double-mends-a-tie": (
        (
            "one half alone would join a tie; the whole double tile also touches a third province,"
            " and there is no tie (R4.4, R4.5)"
        ),
        """
        ~  ~  ~  R0 ~
        ~  ~  ~  R0 ~
        R0 R0 .  .  ~
        ~  ~  R1 ~  ~
        ~  ~  R1 ~  ~
        """,
        "Rc3Rd3",
        {},
    ),
    "tie-below-the-highest": (
        "a tie below the highest total does not matter (R4.4)",
        """
        ~  ~  R1 ~  ~  ~
        ~  ~  R1 ~  ~  ~
        R2 R2 .  R0 R0 R0
        ~  ~  .  ~  ~  ~
        """,
        "Rc3Yc4",
        {"hands": ("RY", "RY", "RY")},
    ),
    "own-provinces-of-equal-size": (
        (
            "equal provinces of one player may be joined, and the surplus pagoda goes home (R4.4,"
            " R5.5)"
        ),
        """
        ~  ~  R0 ~  ~
        ~  ~  R0 ~  ~
        R0 R0 .  R0 R0
        ~  ~  .  ~  ~
        """,
        "Rc3Yc4",
        RY,
    ),
    "major-against-more": (
        "a major province owns what it joins though another player brings more (R5.6)",
        """
        ~  ~  R1 R1 R1 R1
        ~  ~  .  ~  ~  ~
        R0 R0 .  R1 R1 R1
        R0 R0 R0 ~  ~  ~
        """,
        "Rc2Rc3",
        {},
    ),
    "major-despite-a-tie": (
        "a tie does not keep a major province from absorbing (R5.6)",
        """
        ~  ~  R1 R1 R1 ~  ~
        ~  ~  .  ~  ~  ~  ~
        R1 R1 .  R0 R0 R0 R0
        ~  ~  ~  ~  ~  ~  R0
        """,
        "Rc2Rc3",
        {},
    ),
    "mover-absorbs-for-another": (
        "who places the tile does not matter to who owns the result (R5.5)",
        "R1 R1 R1 . R0 R0\n~ ~ ~ . ~ ~",
        "Rd1Yd2",
        RY,
    ),
    "expand-a-foreign-province": (
        "an expanded province keeps its owner, who adds the second pagoda (R5.3, R5.4)",
        "R1 R1 R1 . . .",
        "Rd1Re1",
        {},
    ),
    "five-at-once": (
        "a province founded with five spaces is major at once, with two pagodas (R5.2, R5.4)",
        """
        ~ R . R
        ~ ~ . ~
        ~ ~ R ~
        """,
        "Rc1Rc2",
        {},
    ),
    "starts-that-touch": (
        "starts that touch belong to nobody until a tile joins them (R5.1, R5.2)",
        "R R . . .",
        "Rc1Yd1",
        RY,
    ),
    "major-that-grows": (
        "a major province that grows still carries two pagodas (R5.4)",
        "R0 R0 R0 R0 R0 . .",
        "Rf1Rg1",
        {},
    ),
    "corner-of-a-province": (
        "a space at the corner of a province is not in it (R5.1)",
        "R0 R0 . .\n~ ~ . .",
        "Yc1Rc2",
        RY,
    ),
    # villages
    "village-counts-a-province-once": (
        "a province beside two squares of a village counts once (R6.1)",
        """
        R0 R0 R0 ~ ~
        V  V  .  . ~
        Y1 B1 ~  Y ~
        Y1 B1 ~  ~ ~
        """,
        "Yc2Yd2",
        {"mover": 1},
    ),
    "village-own-pagoda": (
        "the pagoda on the village does not count (R6.1, R6.3)",
        """
        R0 R0 V0 Y1 Y1
        ~  ~  B  ~  ~
        ~  ~  .  ~  ~
        ~  ~  .  ~  ~
        """,
        "Bc3Bc4",
        {"mover": 1},
    ),
    "village-shared-highest": (
        "a shared highest count leaves a free village free (R6.2)",
        "R1 R1 V . . Y",
        "Bd1Be1",
        {},
    ),
    "village-equal-count": (
        "an equal count takes no village from its owner (R6.3)",
        "R0 R0 V0 . . Y",
        "Bd1Be1",
        {"mover": 1},
    ),
    "village-two-rivals": (
        "two rivals with the same count take no village from its owner (R6.3)",
        """
        ~  R1 R1 R1 R1 R1 ~ ~
        B0 V0 .  .  ~  ~  ~ ~
        B0 Y2 Y2 Y2 Y2 .  . ~
        """,
        "Yf3Yg3",
        {"hands": ("YY", "YY", "YY")},
    ),
    "village-deserted": (
        "an owner with no province beside the village counts 0 (R6.3, R6.4)",
        "V0 . . Y",
        "Yb1Yc1",
        {"mover": 1},
    ),
    # the order inside a turn, and the end
    "home-before-placing": (
        "pagodas go home before anybody places (R7.1)",
        """
        R0 R0 . R1 R1 R1
        ~  Y  . ~  ~  ~
        """,
        "Rc1Yc2",
        {**RY, "left": [1, 5]},
    ),
    "mover-places-first": (
        "the mover places first and so wins; the other's second pagoda is not placed (R7.1, R7.2)",
        """
        R1 R1 R1 R1 . ~
        Y0 Y0 Y0 Y0 . ~
        """,
        "Re1Ye2",
        {**RY, "left": [1, 1]},
    ),
    "then-clockwise": (
        "after the mover the others place clockwise (R7.1, R7.2)",
        """
        R2 R2 R2 R2 . ~
        Y0 Y0 Y0 Y0 . ~
        """,
        "Re1Ye2",
        {"hands": ("RY", "RY", "RY"), "left": [1, 1, 1], "mover": 1},
    ),
    "displaced-first": (
        "a displaced village pagoda goes home before villages are taken (R6.4, R7.1)",
        """
        V0 ~  V
        .  .  R0
        Y  ~  R0
        ~  ~  R0
        """,
        "Ya2Rb2",
        {**RY, "left": [1, 5], "mover": 1},
    ),
    "last-pagoda-ends-all": (
        (
            "nothing is carried out after the last pagoda: neither the second province's nor the"
            " villages' (R7.2)"
        ),
        """
        V . . V
        ~ R Y ~
        """,
        "Rb1Yc1",
        {**RY, "left": [1, 5]},
    ),
    "last-pagoda-on-a-village": (
        "the last pagoda may stand on a village (R7.2)",
        "V . . Y ~ V",
        "Yb1Yc1",
        {"left": [2, 3]},
    ),
    "owes-more-than-it-has": (
        "who owes two pagodas and has one places that one, and has won (R7.2)",
        """
        ~ R . R
        ~ ~ . ~
        ~ ~ R ~
        """,
        "Rc1Rc2",
        {"left": [1, 9]},
    ),
    "last-pagoda-draws-nothing": (
        "nobody draws after the last pagoda: the pile stays as it was (R3.1, R7.2)",
        "R . .",
        "Rb1Rc1",
        {"hands": ("RR", "YY"), "left": [1, 5], "pile": "BBRY"},
    ),
    "another-seat-wins": (
        "another player's tile can place the last pagoda (R7.2)",
        "R1 R1 R1 R1 . .",
        "Re1Rf1",
        {"left": [9, 1]},
    ),
    "pass": (
        "who can place nothing passes, keeps the hand and draws nothing (R3.2)",
        """
        R0 R0 . R1 R1
        ~  ~  . ~  ~
        """,
        "pass",
        {"hands": ("RR", "YYYB"), "pile": "BBRYBRRY"},
    ),
    "draw": (
        "the next tile of the pile comes into the hand (R3.1)",
        "R . . . .",
        "Rb1Rc1",
        {"hands": ("RRYYBB", "RR"), "pile": "YBRR"},
    ),
    "no-space": ("the game ends when nobody can place a tile (R8.1)", "R . .", "Rb1Rc1", {}),
    "no-tiles": (
        "the game ends when all hands are empty (R8.1)",
        "R . . . .",
        "Rb1Rc1",
        {"hands": ("RR", "-")},
    ),
    "majors-apart": (
        "two major provinces may not be joined, on open ground (R4.3)",
        """
        R0 R0 R0 .  R1 R1 R1
        R0 R0 .  .  .  R1 R1
        .  .  .  .  .  .  .
        """,
        "Rd1Yd2",
        RY,
    ),
    "even-provinces": (
        "two players who bring two spaces each keep the provinces apart (R4.4)",
        """
        .  .  .  .  .
        R0 R0 .  R1 R1
        .  .  .  .  .
        """,
        "Rc2Bc3",
        RB,
    ),
    "one-colour-forbidden": (
        "blue could grow, but yellow would join a tie, and that forbids the tile (R4.4, R4.5)",
        """
        Y0 Y0 .  Y1 Y1
        .  .  .  .  .
        .  B0 B0 .  .
        """,
        "Yc1Bc2",
        YB,
    ),
    "larger-absorbs": (
        "three spaces absorb two, and the smaller province's pagoda goes home (R5.5)",
        """
        .  .  .  .  .  .
        R1 R1 .  R0 R0 .
        .  .  .  R0 .  .
        """,
        "Rc2Bc3",
        RB,
    ),
    "major-absorbs": (
        "a major province of five absorbs six spaces of another player (R5.6)",
        """
        R1 R1 R1 .  R0 R0
        R1 R1 .  .  .  R0
        .  .  R0 R0 R0 .
        """,
        "Rd1Rd2",
        {},
    ),
    "major-beside-a-village": (
        "a major province counts two beside a village (R6.1, R6.3)",
        """
        R1 R1 V1 Y0 Y0
        .  .  .  Y0 Y0
        .  .  .  .  .
        """,
        "Yd3Be3",
        YB,
    ),
    "village-connected": (
        "a new province takes the free village beside it (R6.2)",
        """
        .  .  .  .  .
        B  .  .  V  .
        .  .  .  .  .
        """,
        "Bb2Bc2",
        {},
    ),
    "village-conquered": (
        "two provinces beside a village take it from one (R6.3, R6.4)",
        """
        Y1 Y1 V1 B0 .
        .  .  .  B0 .
        .  .  .  .  .
        """,
        "Rc2Rc3",
        {},
    ),
}
