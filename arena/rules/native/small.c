/* The rules for boards of up to 192 squares, such as bird and lion: see rules.inc. */
#include "core.h"

enum { ROOM = SMALL_WORDS };

/* The number of words in the masks of a board: here a constant for the compiler. */
INLINE int words_of(const Geometry *board)
{
    (void)board;
    return SMALL_WORDS;
}

#include "rules.inc"
#include "playouts.inc"

const Calls small_board = CALLS;
