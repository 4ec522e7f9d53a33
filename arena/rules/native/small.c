/* The rules for boards of up to 192 squares, such as bird and lion: see rules.h. */
#define WORDS 3
#define ROOM WORDS
#include "rules.h"
#include "playouts.h"

const Calls small_board = CALLS;
