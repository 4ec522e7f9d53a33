// clang-format Language: C
/* What all parts of the native core share: constants, types, and operations on masks. Nothing here
 * knows of Python or allocates memory.
 *
 * A mask is an array of 64-bit words, with square 0 in the lowest bit of the first word. Most
 * functions take the number of words as the parameter `words`.
 */
#ifndef QIN_CORE_H
#define QIN_CORE_H

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define INLINE static inline

enum { COLOURS = 3, TILES = 6, UNKNOWN = 6, COPIES = 12 };
/* A move is a kind of tile and a square: kind << KIND_SHIFT | square, or PASS. */
enum { KINDS = 18, KIND_SHIFT = 10, SQUARE_MASK = 1023, PASS = -1 };
enum { MAX_PLAYERS = 4, MAX_SIDE = 26, MAX_SQUARES = MAX_SIDE * (MAX_SIDE + 1) };
enum { SMALL_WORDS = 3, MAX_WORDS = (MAX_SQUARES + 63) / 64 };
enum { MAX_VILLAGES = (MAX_SIDE * MAX_SIDE + 1) / 2 };
/* A tile has two squares, with at most eight squares around them. */
enum { MAX_JOINED = 8 };
enum { HAND = 3, MAJOR = 5, NOBODY = -1 };
/* Why a game is over; GOES_ON for one that is not. */
enum { GOES_ON, LAST_PAGODA, NO_TILES, NO_SPACE };
/* The names of events. */
enum { FOUND, EXPAND, ABSORB, MAJOR_MADE, CONNECT, CONQUER };

static const int TILE_OF_COLOURS[COLOURS][COLOURS] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};

/* ---------------------------------------------------------------- what a state is */

/* What all states on one board share. `near` has the squares around each square, `village`
 * those of each village, and `beside` those around it. */
typedef struct {
    int words, stride, squares, villages, founding_count, most_provinces;
    uint64_t grass[MAX_WORDS], starts[COLOURS][MAX_WORDS], beside_any[MAX_WORDS];
    uint64_t *near, *village, *beside, *founding;
    int *village_square;
    const struct Calls *calls; /* the functions for boards with this number of words */
} Geometry;

typedef struct {
    int16_t owner, size, pagodas;
} Info;

/* What happened, as arena.rules.terms.Event has it. */
typedef struct {
    int name, seat, square, size, home[MAX_PLAYERS];
} Event;

typedef struct {
    int count;
    Event event[4 + MAX_VILLAGES];
} Events;

/* A state. All masks lie in `block`: cells of each colour, spaces, free squares, nine barred masks,
 * then the mask and the halo of each province. One block, because a search copies a state for every
 * move. */
enum { FIXED_MASKS = 14 };

typedef struct {
    const Geometry *board;
    int players, mover, turns, end;
    int left[MAX_PLAYERS], retired[MAX_PLAYERS], placed[TILES];
    int hands[MAX_PLAYERS][TILES + 1];
    int drawn, deck_size;
    const uint8_t *deck;
    int count[COLOURS];
    uint64_t *block;
    Info *info;
    int8_t *villages;
} Core;

/* The places of each kind of tile that can be placed, and how many there are in all. */
typedef struct {
    int count[KINDS], total;
    uint64_t places[KINDS][MAX_WORDS];
} Menu;

/* How a seat chooses its move: arena.rules.playouts.PlayoutPolicy. */
typedef struct {
    int name;
    long among, turns;
} Policy;

enum { UNIFORM, GREEDY, CAREFUL, POLICIES };
/* Rollouts deal at most this many tiles anew. */
enum { MAX_HIDDEN = 250 };

/* Games from `base`: every move of `moves` is played on `times` deals. `deals` have been played
 * with all moves, and the next one, on `dealt`, with the first `tried` moves. `deck` is the pile of
 * that deal, and each of its games starts from the same random numbers, `luck`. */
typedef struct {
    int seat, count, tried, *moves, pool[TILES];
    long times, deals;
    uint64_t stream, luck;
    Policy policy;
    int64_t *twelfths, *left, *outlooks;
    Core base, dealt, work, scratch;
    uint8_t deck[MAX_HIDDEN];
} Rollouts;

/* The functions that the class in core.c calls, compiled for one number of words. */
typedef struct Calls {
    int (*is_legal)(const Core *core, int kind, int square);
    int (*can_move)(const Core *core, int seat);
    int (*must_pass)(const Core *core);
    void (*make_menu)(const Core *core, const int *tiles, Menu *menu);
    void (*play)(Core *core, int kind, int square, Events *events);
    void (*pass_turn)(Core *core);
    void (*end_if_stuck)(Core *core);
    int (*net_gain)(const Core *core, Core *scratch, int kind, int square);
    int (*outlook)(const Core *core, int seat);
    int (*outlook_after)(const Core *core, Core *scratch, int kind, int square, int now);
    int (*chosen_by)(const Core *core, Core *scratch, uint64_t *rng, const Policy *policy);
    int (*playout)(Core *core, Core *scratch, uint64_t *rng, const Policy *policy);
    int (*roll_out)(Rollouts *run);
} Calls;

/* The squares of one colour. */
INLINE uint64_t *cells_of(const Core *core, int colour, int words)
{
    return core->block + colour * words;
}

/* The squares of all colours. */
INLINE uint64_t *spaces_of(const Core *core, int words)
{
    return core->block + 3 * words;
}

/* The squares of grassland without a tile. */
INLINE uint64_t *free_of(const Core *core, int words)
{
    return core->block + 4 * words;
}

/* First squares of places where a colour may not lie, because provinces would join that must not:
 * `which` is 0 for a single half, 1 and 2 for a horizontal and a vertical tile of that colour. */
INLINE uint64_t *barred_of(const Core *core, int colour, int which, int words)
{
    return core->block + (5 + 3 * colour + which) * words;
}

/* The squares of a province, by its colour and its number among those of that colour. */
INLINE uint64_t *mask_of(const Core *core, int colour, int province, int words)
{
    size_t before = (size_t)colour * core->board->most_provinces + province;
    return core->block + (FIXED_MASKS + 2 * before) * words;
}

/* The squares around a province, its own among them. */
INLINE uint64_t *halo_of(const Core *core, int colour, int province, int words)
{
    return mask_of(core, colour, province, words) + words;
}

/* Owner, size and pagodas of a province. */
INLINE Info *info_of(const Core *core, int colour, int province)
{
    return core->info + (size_t)colour * core->board->most_provinces + province;
}

/* ---------------------------------------------------------------- masks */

/* Counts bits, without the processor's own instruction, which not all of x86-64 have. */
INLINE int popcount(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(bits * 0x0101010101010101u >> 56);
}

/* The number of the lowest bit that is set. */
INLINE int lowest(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

/* The number of squares in a mask. */
INLINE int size_of(const uint64_t *mask, int words)
{
    int size = 0;
    for (int i = 0; i < words; i++) size += popcount(mask[i]);
    return size;
}

/* Whether two masks have a square in common. */
INLINE int meets(const uint64_t *mask, const uint64_t *other, int words)
{
    uint64_t both = 0;
    for (int i = 0; i < words; i++) both |= mask[i] & other[i];
    return both != 0;
}

/* Whether a mask has no square. */
INLINE int is_empty(const uint64_t *mask, int words)
{
    uint64_t all = 0;
    for (int i = 0; i < words; i++) all |= mask[i];
    return all == 0;
}

/* Whether a square is in a mask. */
INLINE int has(const uint64_t *mask, int square)
{
    return (int)(mask[square >> 6] >> (square & 63) & 1);
}

/* Adds a square to a mask. */
INLINE void add(uint64_t *mask, int square)
{
    mask[square >> 6] |= (uint64_t)1 << (square & 63);
}

/* Takes a square out of a mask. */
INLINE void take_out(uint64_t *mask, int square)
{
    mask[square >> 6] &= ~((uint64_t)1 << (square & 63));
}

/* Adds all squares of another mask to a mask. */
INLINE void add_all(uint64_t *mask, const uint64_t *other, int words)
{
    for (int i = 0; i < words; i++) mask[i] |= other[i];
}

/* Word i of the mask moved `step` squares towards the first square; step is 1 to 63. */
INLINE uint64_t moved_back(const uint64_t *mask, int i, int step, int words)
{
    return mask[i] >> step | (i + 1 < words ? mask[i + 1] << (64 - step) : 0);
}

/* Word i of the mask moved `step` squares away from the first square; step is 1 to 63. */
INLINE uint64_t moved_on(const uint64_t *mask, int i, int step)
{
    return mask[i] << step | (i ? mask[i - 1] >> (64 - step) : 0);
}

/* The first square of a mask, -1 for an empty one. */
INLINE int first_square(const uint64_t *mask, int words)
{
    for (int i = 0; i < words; i++)
        if (mask[i]) return 64 * i + lowest(mask[i]);
    return -1;
}

/* ---------------------------------------------------------------- kinds of tiles */

/* The colour of the half of a kind of tile that lies above or to the left. */
INLINE int first_colour(int kind)
{
    return kind / 6;
}

/* The colour of the other half. */
INLINE int second_colour(int kind)
{
    return kind / 2 % 3;
}

/* Whether a kind of tile lies from top to bottom. */
INLINE int is_vertical(int kind)
{
    return kind & 1;
}

/* How many squares lie between the first squares of the two halves. */
INLINE int step_of(const Geometry *board, int kind)
{
    return is_vertical(kind) ? board->stride : 1;
}

/* The tile, 0 to 5, of a kind. */
INLINE int tile_of_kind(int kind)
{
    return TILE_OF_COLOURS[first_colour(kind)][second_colour(kind)];
}

/* A move from its kind and its first square. */
INLINE int move_from(int kind, int square)
{
    return kind << KIND_SHIFT | square;
}

#endif
