/* The rules of Qin in plain C: the mirror of arena/rules/pure.py, which is the text to read first.
 *
 * Same names, same order of moves, same errors. A mask is an array of `words` 64-bit words, square 0 in the lowest bit of the first.
 * Functions that take `words` serve two callers, one for boards of up to 192 squares (3 words) and one for any. The compiler decides
 * what to inline there, but for the functions that are HOT: forcing all of it cost 28 s of compiling and 300 kB.
 * Part one knows nothing of Python but its allocator, and allocates in one place only; part two wraps it in a class.
 */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline

/* Four functions take most of the time. Each has a body that is compiled twice: for small boards, with their words as a constant, and for
 * any. By callgrind that saves 3 to 8 % of all instructions, against leaving these to the compiler too, for 4 kB and no time of compiling. */
#define HOT static inline __attribute__((always_inline))
#define SMALL_BOARD 3
#define FOR_WORDS(words, call) ((words) == SMALL_BOARD ? call(SMALL_BOARD) : call(words))

enum { COLOURS = 3, TILES = 6, UNKNOWN = 6, COPIES = 12, KINDS = 18, KIND_SHIFT = 10, SQUARE_MASK = 1023, PASS = -1 };
enum { MAX_PLAYERS = 4, MAX_SIDE = 26, MAX_SQUARES = MAX_SIDE * (MAX_SIDE + 1), MAX_WORDS = (MAX_SQUARES + 63) / 64 };
enum { MAX_VILLAGES = (MAX_SIDE * MAX_SIDE + 1) / 2 };
enum { HAND = 3, MAJOR = 5, NOBODY = -1, TWELFTHS = 12 };
enum { GOES_ON, LAST_PAGODA, NO_TILES, NO_SPACE };
enum { UNIFORM, GREEDY, CAREFUL };
enum { PLACED = 118, WON = 300, MOST = 1000000 };
enum { FOUND, EXPAND, ABSORB, MAJOR_MADE, CONNECT, CONQUER };

static const int TILE_OF_COLOURS[COLOURS][COLOURS] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
static const int GROWTH[MAJOR] = {0, 0, -8, 14, 50}, HELD[3] = {-100, -37, -20}; /* arena.rules.outlook says what for */
static const int PAGODAS[MAX_PLAYERS + 1] = {0, 0, 24, 19, 15};

/* ------------------------------------------------------------------ part one: the game */

/* What all states on one board share. `near` has the squares around each square, `beside` those around each village. */
typedef struct {
    int words, stride, squares, villages, founding_count, most_provinces;
    uint64_t grass[MAX_WORDS], starts[COLOURS][MAX_WORDS], beside_any[MAX_WORDS];
    uint64_t *near, *beside, *founding;
    int *village_square;
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

/* A state. All masks lie in `block`: cells of each colour, spaces, free, nine barred masks, then masks and halos of the provinces. */
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

INLINE uint64_t *cells_of(const Core *core, int colour, int words) { return core->block + colour * words; }
INLINE uint64_t *spaces_of(const Core *core, int words) { return core->block + 3 * words; }
INLINE uint64_t *free_of(const Core *core, int words) { return core->block + 4 * words; }
INLINE uint64_t *barred_of(const Core *core, int colour, int which, int words) { return core->block + (5 + 3 * colour + which) * words; }

enum { FIXED_MASKS = 14 };

INLINE uint64_t *mask_of(const Core *core, int colour, int index, int words)
{
    return core->block + (FIXED_MASKS + 2 * ((size_t)colour * core->board->most_provinces + index)) * words;
}

INLINE uint64_t *halo_of(const Core *core, int colour, int index, int words) { return mask_of(core, colour, index, words) + words; }
INLINE Info *info_of(const Core *core, int colour, int index) { return core->info + (size_t)colour * core->board->most_provinces + index; }

INLINE int popcount(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(bits * 0x0101010101010101u >> 56);
}

INLINE int lowest(uint64_t bits) { return __builtin_ctzll(bits); }

INLINE int size_of(const uint64_t *mask, int words)
{
    int size = 0;
    for (int i = 0; i < words; i++) size += popcount(mask[i]);
    return size;
}

INLINE int meets(const uint64_t *one, const uint64_t *other, int words)
{
    uint64_t both = 0;
    for (int i = 0; i < words; i++) both |= one[i] & other[i];
    return both != 0;
}

INLINE int is_empty(const uint64_t *mask, int words)
{
    uint64_t all = 0;
    for (int i = 0; i < words; i++) all |= mask[i];
    return all == 0;
}

INLINE int has(const uint64_t *mask, int square) { return (int)(mask[square >> 6] >> (square & 63) & 1); }
INLINE void add(uint64_t *mask, int square) { mask[square >> 6] |= (uint64_t)1 << (square & 63); }

/* Word i of the mask moved `step` squares towards the first square; step is 1 to 63. */
INLINE uint64_t moved_back(const uint64_t *mask, int i, int step, int words)
{
    return mask[i] >> step | (i + 1 < words ? mask[i + 1] << (64 - step) : 0);
}

/* The same, away from the first square. */
INLINE uint64_t moved_on(const uint64_t *mask, int i, int step) { return mask[i] << step | (i ? mask[i - 1] >> (64 - step) : 0); }

INLINE int first_square(const uint64_t *mask, int words)
{
    for (int i = 0; i < words; i++)
        if (mask[i]) return 64 * i + lowest(mask[i]);
    return -1;
}

INLINE int tile_of_kind(int kind) { return TILE_OF_COLOURS[kind / 6][kind / 2 % 3]; }

/* R4.3, R4.4, R5.6: whether joining provinces with these owners and sizes is forbidden. */
INLINE int is_forbidden(const Info *const *joined, int count)
{
    if (count < 2) return 0;
    int majors = 0, totals[MAX_PLAYERS] = {0}, highest = 0, leaders = 0;
    for (int i = 0; i < count; i++) {
        majors += joined[i]->size >= MAJOR;
        totals[joined[i]->owner] += joined[i]->size;
    }
    if (majors) return majors > 1;
    for (int seat = 0; seat < MAX_PLAYERS; seat++) {
        if (totals[seat] > highest) highest = totals[seat], leaders = 1;
        else if (totals[seat] == highest) leaders++;
    }
    return leaders > 1;
}

/* Writes those of the candidate first squares from which the spaces there and `step` further would make a forbidden join. */
INLINE void keep_forbidden(const Core *core, int colour, uint64_t *candidates, int step, int words)
{
    for (int i = 0; i < words; i++) {
        uint64_t rest = candidates[i];
        while (rest) {
            int square = 64 * i + lowest(rest), joined_count = 0;
            const Info *joined[8];
            rest &= rest - 1;
            for (int p = 0; p < core->count[colour]; p++) {
                const uint64_t *halo = halo_of(core, colour, p, words);
                if (has(halo, square) || (step && has(halo, square + step))) joined[joined_count++] = info_of(core, colour, p);
            }
            if (!is_forbidden(joined, joined_count)) candidates[i] &= ~((uint64_t)1 << (square & 63));
        }
    }
}

/* Renews, around the last province of a colour, where forbidden joins keep the colour away. */
HOT void renew_barred_words(Core *core, int colour, int words)
{
    int last = core->count[colour] - 1, stride = core->board->stride;
    const uint64_t *halo = halo_of(core, colour, last, words), *free = free_of(core, words);
    uint64_t others[MAX_WORDS] = {0}, found[3][MAX_WORDS];
    for (int p = 0; p < last; p++) {
        const uint64_t *other = halo_of(core, colour, p, words);
        for (int i = 0; i < words; i++) others[i] |= other[i];
    }
    uint64_t any = 0;
    for (int i = 0; i < words; i++) {
        uint64_t right = halo[i] | moved_back(halo, i, 1, words), below = halo[i] | moved_back(halo, i, stride, words);
        found[0][i] = halo[i] & others[i] & free[i];
        found[1][i] = right & (others[i] | moved_back(others, i, 1, words)) & free[i] & moved_back(free, i, 1, words);
        found[2][i] = below & (others[i] | moved_back(others, i, stride, words)) & free[i] & moved_back(free, i, stride, words);
        barred_of(core, colour, 0, words)[i] &= ~halo[i];
        barred_of(core, colour, 1, words)[i] &= ~right;
        barred_of(core, colour, 2, words)[i] &= ~below;
        any |= found[0][i] | found[1][i] | found[2][i];
    }
    if (!any) return;
    const int steps[3] = {0, 1, stride};
    for (int which = 0; which < 3; which++) {
        keep_forbidden(core, colour, found[which], steps[which], words);
        uint64_t *barred = barred_of(core, colour, which, words);
        for (int i = 0; i < words; i++) barred[i] |= found[which][i];
    }
}

static void renew_barred(Core *core, int colour, int words)
{
#define CALL(width) renew_barred_words(core, colour, width)
    FOR_WORDS(words, CALL);
#undef CALL
}

/* First squares of two free squares of which one touches a province space (R4.1, R4.2): right of each other, below. */
INLINE void free_pairs(const Core *core, uint64_t *right, uint64_t *below, int words)
{
    const uint64_t *free = free_of(core, words), *spaces = spaces_of(core, words);
    int stride = core->board->stride;
    uint64_t near[MAX_WORDS];
    for (int i = 0; i < words; i++)
        near[i] = (moved_on(spaces, i, 1) | moved_back(spaces, i, 1, words) | moved_on(spaces, i, stride) | moved_back(spaces, i, stride, words))
                  & free[i];
    for (int i = 0; i < words; i++) {
        right[i] = free[i] & moved_back(free, i, 1, words) & (near[i] | moved_back(near, i, 1, words));
        below[i] = free[i] & moved_back(free, i, stride, words) & (near[i] | moved_back(near, i, stride, words));
    }
}

/* The first squares on which a tile of this kind may be laid (R4.1 to R4.5); `open` are the two masks of free_pairs. */
INLINE void places_of(const Core *core, uint64_t open[2][MAX_WORDS], int kind, uint64_t *places, int words)
{
    int first = kind / 6, second = kind / 2 % 3, vertical = kind & 1, step = vertical ? core->board->stride : 1;
    if (first == second) {
        const uint64_t *barred = barred_of(core, first, 1 + vertical, words);
        for (int i = 0; i < words; i++) places[i] = open[vertical][i] & ~barred[i];
    } else {
        const uint64_t *one = barred_of(core, first, 0, words), *other = barred_of(core, second, 0, words);
        for (int i = 0; i < words; i++) places[i] = open[vertical][i] & ~(one[i] | moved_back(other, i, step, words));
    }
}

/* Adds a province to its colour. */
INLINE void enter(Core *core, int colour, const uint64_t *mask, const uint64_t *halo, Info info, int words)
{
    int index = core->count[colour]++;
    memcpy(mask_of(core, colour, index, words), mask, words * sizeof(uint64_t));
    memcpy(halo_of(core, colour, index, words), halo, words * sizeof(uint64_t));
    *info_of(core, colour, index) = info;
    renew_barred(core, colour, words);
}

INLINE void drop(Core *core, int colour, int index, int words)
{
    int last = --core->count[colour];
    if (index != last) {
        memcpy(mask_of(core, colour, index, words), mask_of(core, colour, last, words), 2 * words * sizeof(uint64_t));
        *info_of(core, colour, index) = *info_of(core, colour, last);
    }
}

static void note(Events *events, int name, int seat, int square, int size, const int *home)
{
    if (!events) return;
    Event *event = &events->event[events->count++];
    *event = (Event){name, seat, square, size, {0}};
    if (home) memcpy(event->home, home, sizeof event->home);
}

typedef struct {
    int seat, colour, count;
} Debt;

/* Adds the tile's squares of one colour and settles their area (R5). Pagodas go home at once, and the owner pays at once, even below
 * zero; what was paid is a debt, for the province that is last in its colour. Returns whether there is a province now. */
HOT int grow_words(Core *core, int colour, const int *squares, int square_count, uint64_t *mask, Debt *debt, Events *events, int words)
{
    const Geometry *board = core->board;
    uint64_t *cells = cells_of(core, colour, words), touched[MAX_WORDS], halo[MAX_WORDS] = {0};
    memset(mask, 0, words * sizeof(uint64_t));
    for (int s = 0; s < square_count; s++) {
        const uint64_t *near = board->near + (size_t)squares[s] * words;
        for (int i = 0; i < words; i++) halo[i] |= near[i];
        add(mask, squares[s]);
    }
    for (int i = 0; i < words; i++) {
        touched[i] = halo[i] & cells[i];
        cells[i] |= mask[i];
    }
    if (square_count == 1 && is_empty(touched, words)) return 0;
    uint64_t loose[MAX_WORDS];
    memcpy(loose, touched, words * sizeof(uint64_t));
    Info joined[8];
    int count = 0;
    for (int p = 0; p < core->count[colour];) {
        const uint64_t *own = mask_of(core, colour, p, words);
        if (meets(own, touched, words)) {
            const uint64_t *own_halo = halo_of(core, colour, p, words);
            for (int i = 0; i < words; i++) {
                mask[i] |= own[i];
                halo[i] |= own_halo[i];
                loose[i] &= ~own[i];
            }
            joined[count++] = *info_of(core, colour, p);
            drop(core, colour, p, words);
        } else p++;
    }
    for (int f = 0; f < board->founding_count; f++) {
        const uint64_t *area = board->founding + (size_t)f * words;
        if (meets(area, loose, words))
            for (int i = 0; i < words; i++) loose[i] |= area[i];
    }
    for (int i = 0; i < words; i++) {
        uint64_t rest = loose[i] & ~mask[i];
        mask[i] |= loose[i];
        while (rest) {
            const uint64_t *near = board->near + (size_t)(64 * i + lowest(rest)) * words;
            for (int j = 0; j < words; j++) halo[j] |= near[j];
            rest &= rest - 1;
        }
    }
    int size = size_of(mask, words), owner = core->mover, pagodas = 0, home[MAX_PLAYERS] = {0}, was_major = 0;
    if (count == 1) {
        owner = joined[0].owner;
        pagodas = joined[0].pagodas;
        was_major = joined[0].size >= MAJOR;
    } else if (count > 1) { /* R5.5, R5.6 */
        int totals[MAX_PLAYERS] = {0};
        owner = 0;
        for (int j = 0; j < count; j++) totals[joined[j].owner] += joined[j].size, home[joined[j].owner] += joined[j].pagodas;
        for (int seat = 1; seat < MAX_PLAYERS; seat++)
            if (totals[seat] > totals[owner]) owner = seat;
        for (int j = 0; j < count; j++)
            if (joined[j].size >= MAJOR) owner = joined[j].owner, was_major = 1;
        pagodas = home[owner] < 2 ? home[owner] : 2;
        home[owner] -= pagodas;
        for (int seat = 0; seat < core->players; seat++) core->left[seat] += home[seat];
    }
    int target = size >= MAJOR ? 2 : 1;
    *debt = (Debt){owner, colour, target - pagodas};
    core->left[owner] -= target - pagodas;
    enter(core, colour, mask, halo, (Info){(int16_t)owner, (int16_t)size, (int16_t)target}, words);
    if (events) {
        int first = first_square(mask, words);
        note(events, count == 0 ? FOUND : count == 1 ? EXPAND : ABSORB, owner, first, size, count > 1 ? home : NULL);
        if (size >= MAJOR && !was_major) note(events, MAJOR_MADE, owner, first, size, NULL);
    }
    return 1;
}

static int grow(Core *core, int colour, const int *squares, int square_count, uint64_t *mask, Debt *debt, Events *events, int words)
{
#define CALL(width) grow_words(core, colour, squares, square_count, mask, debt, events, width)
    return FOR_WORDS(words, CALL);
#undef CALL
}

/* Somebody runs out, so the order counts: takes the payments back and makes them mover first, then clockwise (R7.1, R7.2). */
static void settle_in_order(Core *core, const Debt *debts, int count)
{
    for (int d = 0; d < count; d++) {
        core->left[debts[d].seat] += debts[d].count;
        info_of(core, debts[d].colour, core->count[debts[d].colour] - 1)->pagodas -= (int16_t)debts[d].count;
    }
    for (int step = 0; step < core->players; step++) {
        int seat = (core->mover + step) % core->players;
        for (int d = 0; d < count; d++) {
            if (debts[d].seat != seat || !debts[d].count) continue;
            int paid = debts[d].count < core->left[seat] ? debts[d].count : core->left[seat];
            core->left[seat] -= paid;
            info_of(core, debts[d].colour, core->count[debts[d].colour] - 1)->pagodas += (int16_t)paid;
            if (core->left[seat] == 0) {
                core->end = LAST_PAGODA;
                return;
            }
        }
    }
}

/* Adds up each seat's pagodas on the provinces that meet these squares. */
INLINE void count_around(const Core *core, const uint64_t *beside, int *counts, int words)
{
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++)
            if (meets(mask_of(core, colour, p, words), beside, words)) {
                const Info *info = info_of(core, colour, p);
                counts[info->owner] += info->pagodas;
            }
}

/* Whose the village is as the provinces now stand (R6.1 to R6.3). */
INLINE int heir_of(const Core *core, int village, const uint64_t *beside, int words)
{
    int counts[MAX_PLAYERS] = {0}, owner = core->villages[village], highest = 0, leaders = 0, heir = 0;
    count_around(core, beside, counts, words);
    for (int seat = 0; seat < core->players; seat++) {
        if (counts[seat] > highest) highest = counts[seat], leaders = 1, heir = seat;
        else if (counts[seat] == highest) leaders++;
    }
    if (!highest || leaders > 1 || highest == (owner == NOBODY ? 0 : counts[owner])) return owner;
    return heir;
}

/* Connects and conquers the villages beside the changed provinces (R6), then places their pagodas in the order of R7.1. */
HOT void judge_villages_words(Core *core, const uint64_t *changed, Events *events, int words)
{
    const Geometry *board = core->board;
    int won = 0, village[MAX_VILLAGES], heirs[MAX_VILLAGES], owners[MAX_VILLAGES];
    for (int v = 0; v < board->villages; v++) {
        const uint64_t *beside = board->beside + (size_t)v * words;
        if (!meets(beside, changed, words)) continue;
        int owner = core->villages[v], heir = heir_of(core, v, beside, words);
        if (heir != owner) village[won] = v, heirs[won] = heir, owners[won++] = owner;
    }
    for (int w = 0; w < won; w++)
        if (owners[w] != NOBODY) {
            core->villages[village[w]] = NOBODY;
            core->left[owners[w]]++;
        }
    for (int step = 0; step < core->players && won; step++) {
        int seat = (core->mover + step) % core->players;
        for (int w = 0; w < won; w++) {
            if (heirs[w] != seat) continue;
            core->villages[village[w]] = (int8_t)seat;
            core->left[seat]--;
            int home[MAX_PLAYERS] = {0};
            if (owners[w] != NOBODY) home[owners[w]] = 1;
            note(events, owners[w] == NOBODY ? CONNECT : CONQUER, seat, board->village_square[village[w]], 0, owners[w] == NOBODY ? NULL : home);
            if (core->left[seat] == 0) {
                core->end = LAST_PAGODA;
                return;
            }
        }
    }
}

static void judge_villages(Core *core, const uint64_t *changed, Events *events, int words)
{
#define CALL(width) judge_villages_words(core, changed, events, width)
    FOR_WORDS(words, CALL);
#undef CALL
}

/* Lays the tile and carries out every event in the order of R7. */
INLINE void place(Core *core, int kind, int square, Events *events, int words)
{
    int first = kind / 6, second = kind / 2 % 3, squares[2] = {square, square + (kind & 1 ? core->board->stride : 1)};
    uint64_t *free = free_of(core, words), *spaces = spaces_of(core, words), changed[2][MAX_WORDS];
    for (int s = 0; s < 2; s++) {
        free[squares[s] >> 6] &= ~((uint64_t)1 << (squares[s] & 63));
        add(spaces, squares[s]);
    }
    Debt debts[2];
    int debt_count = 0, any = 0;
    if (first == second) {
        any = grow(core, first, squares, 2, changed[0], &debts[debt_count++], events, words);
    } else {
        int one = grow(core, first, squares, 1, changed[0], &debts[debt_count], events, words);
        debt_count += one;
        int other = grow(core, second, squares + 1, 1, changed[one], &debts[debt_count], events, words);
        debt_count += other;
        any = one || other;
        if (one && other)
            for (int i = 0; i < words; i++) changed[0][i] |= changed[1][i];
    }
    if (!any) return;
    for (int d = 0; d < debt_count; d++)
        if (debts[d].count && core->left[debts[d].seat] <= 0) {
            settle_in_order(core, debts, debt_count);
            return;
        }
    if (meets(changed[0], core->board->beside_any, words)) judge_villages(core, changed[0], events, words);
}

INLINE int can_move(const Core *core, int seat, uint64_t open[2][MAX_WORDS], int words)
{
    if (core->hands[seat][UNKNOWN]) return 1;
    for (int kind = 0; kind < KINDS; kind++)
        if (core->hands[seat][tile_of_kind(kind)]) {
            uint64_t places[MAX_WORDS];
            places_of(core, open, kind, places, words);
            if (!is_empty(places, words)) return 1;
        }
    return 0;
}

/* R8.1: the game is over when nobody who still plays can place a tile. */
INLINE void end_if_stuck(Core *core, int words)
{
    uint64_t open[2][MAX_WORDS];
    free_pairs(core, open[0], open[1], words);
    int tiles = 0;
    for (int step = 0; step < core->players; step++) {
        int seat = (core->mover + step) % core->players;
        if (!core->retired[seat] && can_move(core, seat, open, words)) return;
    }
    for (int seat = 0; seat < core->players; seat++)
        for (int tile = 0; tile <= UNKNOWN; tile++) tiles += core->hands[seat][tile];
    core->end = tiles ? NO_SPACE : NO_TILES;
}

INLINE void next_mover(Core *core) { core->mover = core->mover + 1 == core->players ? 0 : core->mover + 1; }

/* Places, draws and hands the turn on; the end for want of places is left to the caller. */
INLINE void play_unchecked(Core *core, int kind, int square, Events *events, int words)
{
    int tile = tile_of_kind(kind), *hand = core->hands[core->mover];
    hand[hand[tile] ? tile : UNKNOWN]--;
    core->placed[tile]++;
    place(core, kind, square, events, words);
    core->turns++;
    if (core->end != GOES_ON) return;
    if (core->drawn < core->deck_size) hand[core->deck[core->drawn++]]++;
    next_mover(core);
}

INLINE int is_legal(const Core *core, int kind, int square, int words)
{
    const int *hand = core->hands[core->mover];
    if (core->end != GOES_ON || square >= 64 * words || (!hand[tile_of_kind(kind)] && !hand[UNKNOWN])) return 0;
    uint64_t open[2][MAX_WORDS], places[MAX_WORDS];
    free_pairs(core, open[0], open[1], words);
    places_of(core, open, kind, places, words);
    return has(places, square);
}

/* The places of each kind that the tiles allow, and how many there are in all. */
typedef struct {
    int count[KINDS], total;
    uint64_t places[KINDS][MAX_WORDS];
} Menu;

HOT void make_menu_words(const Core *core, const int *tiles, Menu *menu, int words)
{
    uint64_t open[2][MAX_WORDS];
    free_pairs(core, open[0], open[1], words);
    menu->total = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        menu->count[kind] = 0;
        if (!tiles[tile_of_kind(kind)]) continue;
        places_of(core, open, kind, menu->places[kind], words);
        menu->total += menu->count[kind] = size_of(menu->places[kind], words);
    }
}

static void make_menu(const Core *core, const int *tiles, Menu *menu, int words)
{
#define CALL(width) make_menu_words(core, tiles, menu, width)
    FOR_WORDS(words, CALL);
#undef CALL
}

/* The index-th move of a menu; index is below its total. */
INLINE int nth_of(const Menu *menu, int index)
{
    int kind = 0, word = 0;
    while (index >= menu->count[kind]) index -= menu->count[kind++];
    for (;; word++) {
        int count = popcount(menu->places[kind][word]);
        if (index < count) break;
        index -= count;
    }
    uint64_t rest = menu->places[kind][word];
    while (index--) rest &= rest - 1;
    return kind << KIND_SHIFT | (64 * word + lowest(rest));
}

/* splitmix64 (Steele, Lea & Flood 2014): the same numbers as arena.rules.playouts.Random. */
INLINE uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

INLINE int below(uint64_t *state, int count) { return (int)((next_random(state) >> 32) * (uint64_t)count >> 32); }

/* Bytes that the block, the provinces' infos and the villages of a state take; one allocation holds all three. */
static size_t bytes_of_core(const Geometry *board)
{
    return (FIXED_MASKS + 2 * COLOURS * (size_t)board->most_provinces) * board->words * sizeof(uint64_t)
           + COLOURS * (size_t)board->most_provinces * sizeof(Info) + (size_t)board->villages;
}

static int allocate(Core *core, const Geometry *board)
{
    *core = (Core){.board = board, .block = PyMem_Malloc(bytes_of_core(board))};
    if (!core->block) return 0;
    core->info = (Info *)(core->block + (FIXED_MASKS + 2 * COLOURS * (size_t)board->most_provinces) * board->words);
    core->villages = (int8_t *)(core->info + COLOURS * (size_t)board->most_provinces);
    return 1;
}

/* Copies a state into another that has been allocated for the same board; the deck is shared. */
static void copy_core(Core *to, const Core *from)
{
    Core kept = *to;
    const Geometry *board = from->board;
    size_t word_bytes = (size_t)board->words * sizeof(uint64_t);
    *to = *from;
    to->block = kept.block, to->info = kept.info, to->villages = kept.villages;
    memcpy(to->block, from->block, FIXED_MASKS * word_bytes);
    for (int colour = 0; colour < COLOURS; colour++) {
        memcpy(mask_of(to, colour, 0, board->words), mask_of(from, colour, 0, board->words), 2 * from->count[colour] * word_bytes);
        memcpy(info_of(to, colour, 0), info_of(from, colour, 0), from->count[colour] * sizeof(Info));
    }
    memcpy(to->villages, from->villages, (size_t)board->villages);
}

/* Whether a move changes no province: two single spaces that touch nothing of their colours. */
INLINE int is_quiet(const Core *core, int kind, int square, int words)
{
    int first = kind / 6, second = kind / 2 % 3, other = square + (kind & 1 ? core->board->stride : 1);
    return first != second && !meets(core->board->near + (size_t)square * words, cells_of(core, first, words), words)
           && !meets(core->board->near + (size_t)other * words, cells_of(core, second, words), words);
}

/* What the mover gains by a move less what the others gain, in pagodas placed; `scratch` is a state to try it in. */
INLINE int net_gain(const Core *core, Core *scratch, int kind, int square, int words)
{
    if (is_quiet(core, kind, square, words)) return 0;
    copy_core(scratch, core);
    place(scratch, kind, square, NULL, words);
    int net = 0;
    for (int seat = 0; seat < core->players; seat++)
        net += (core->left[seat] - scratch->left[seat]) * (seat == core->mover ? 1 : -1);
    return net;
}

/* Twelfths of a win that the seat gets: ranking is by pagodas left. */
static int twelfths_of(const Core *core, int seat)
{
    int winners = 0;
    for (int other = 0; other < core->players; other++) {
        if (core->left[other] < core->left[seat]) return 0;
        winners += core->left[other] == core->left[seat];
    }
    return TWELFTHS / winners;
}

/* How well a seat stands, in hundredths of a pagoda times the other seats: arena.rules.outlook is the text to read. */
INLINE int outlook(const Core *core, int seat, int words)
{
    int worth[MAX_PLAYERS] = {0}, sum = 0;
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++) {
            const Info *info = info_of(core, colour, p);
            if (info->size < MAJOR) worth[info->owner] += GROWTH[info->size];
        }
    for (int v = 0; v < core->board->villages; v++) {
        int owner = core->villages[v], counts[MAX_PLAYERS] = {0}, next = 0;
        if (owner == NOBODY) continue;
        count_around(core, core->board->beside + (size_t)v * words, counts, words);
        for (int other = 0; other < core->players; other++)
            if (other != owner && counts[other] > next) next = counts[other];
        int lead = counts[owner] - next;
        worth[owner] += HELD[lead < 0 ? 0 : lead > 2 ? 2 : lead];
    }
    for (int other = 0; other < core->players; other++) {
        worth[other] -= PLACED * core->left[other];
        if (core->end != GOES_ON) worth[other] += WON * twelfths_of(core, other) / TWELFTHS;
        sum += worth[other];
    }
    return core->players * worth[seat] - sum;
}

/* The mover's outlook after a move, before it draws; `now` is what it is before. */
INLINE int outlook_after(const Core *core, Core *scratch, int kind, int square, int now, int words)
{
    if (is_quiet(core, kind, square, words)) return now;
    copy_core(scratch, core);
    place(scratch, kind, square, NULL, words);
    return outlook(scratch, core->mover, words);
}

/* How a seat chooses its move: arena.rules.playouts.Policy. */
typedef struct {
    int name;
    long among, turns;
} Policy;

/* What the policy wants most of. */
INLINE int value_of(const Core *core, Core *scratch, int move, const Policy *policy, int now, int words)
{
    int kind = move >> KIND_SHIFT, square = move & SQUARE_MASK;
    return policy->name == GREEDY ? net_gain(core, scratch, kind, square, words) : outlook_after(core, scratch, kind, square, now, words);
}

/* The best of moves drawn at random; of equal ones the first. */
INLINE int best_of_few(const Core *core, const Menu *menu, Core *scratch, uint64_t *random, const Policy *policy, int now, int words)
{
    int best = INT_MIN, chosen = PASS;
    for (long drawn = 0; drawn < policy->among; drawn++) {
        int move = nth_of(menu, below(random, menu->total)), value = value_of(core, scratch, move, policy, now, words);
        if (value > best) best = value, chosen = move;
    }
    return chosen;
}

/* The best of all moves; of equal ones each is as likely. */
INLINE int best_of_all(const Core *core, const Menu *menu, Core *scratch, uint64_t *random, const Policy *policy, int now, int words)
{
    int best = INT_MIN, ties = 0, chosen = PASS;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; menu->count[kind] && i < words; i++)
            for (uint64_t rest = menu->places[kind][i]; rest; rest &= rest - 1) {
                int move = kind << KIND_SHIFT | (64 * i + lowest(rest)), value = value_of(core, scratch, move, policy, now, words);
                if (value > best) best = value, ties = 0;
                if (value == best && below(random, ++ties) == 0) chosen = move;
            }
    return chosen;
}

/* The mover's move by a policy, PASS when it has none. `scratch` is needed by all policies but the uniform one. */
INLINE int chosen_by(const Core *core, Core *scratch, uint64_t *random, const Policy *policy, int words)
{
    Menu storage, *menu = &storage;
    menu->total = 0;
    if (core->end == GOES_ON && !core->retired[core->mover]) make_menu(core, core->hands[core->mover], menu, words);
    if (!menu->total) return PASS;
    if (policy->name == UNIFORM) return nth_of(menu, below(random, menu->total));
    int now = policy->name == CAREFUL ? outlook(core, core->mover, words) : 0;
    return policy->among ? best_of_few(core, menu, scratch, random, policy, now, words) : best_of_all(core, menu, scratch, random, policy, now, words);
}

/* Plays on. Returns how many tiles were placed. */
INLINE int playout_words(Core *core, Core *scratch, uint64_t *random, const Policy *policy, int words)
{
    int before = core->turns;
    while (core->end == GOES_ON && (!policy->turns || core->turns - before < policy->turns)) {
        int move = chosen_by(core, scratch, random, policy, words);
        if (move == PASS) {
            end_if_stuck(core, words);
            if (core->end == GOES_ON) next_mover(core);
        } else play_unchecked(core, move >> KIND_SHIFT, move & SQUARE_MASK, NULL, words);
    }
    return core->turns - before;
}

static int playout(Core *core, Core *scratch, uint64_t *random, const Policy *policy)
{
#define CALL(words) playout_words(core, scratch, random, policy, words)
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static int core_choice(const Core *core, Core *scratch, uint64_t *random, const Policy *policy)
{
#define CALL(words) chosen_by(core, scratch, random, policy, words)
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static void core_play(Core *core, int kind, int square, Events *events)
{
#define CALL(words) (play_unchecked(core, kind, square, events, words), core->end == GOES_ON ? end_if_stuck(core, words) : (void)0)
    FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static int core_is_legal(const Core *core, int kind, int square)
{
#define CALL(words) is_legal(core, kind, square, words)
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static int core_outlook(const Core *core, int seat)
{
#define CALL(words) outlook(core, seat, words)
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static int core_outlook_after(const Core *core, Core *scratch, int kind, int square, int now)
{
#define CALL(words) outlook_after(core, scratch, kind, square, now, words)
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static int core_net_gain(const Core *core, Core *scratch, int kind, int square)
{
#define CALL(words) net_gain(core, scratch, kind, square, words)
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static void core_menu(const Core *core, const int *tiles, Menu *menu)
{
#define CALL(words) make_menu(core, tiles, menu, words)
    FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static void core_end_if_stuck(Core *core)
{
#define CALL(words) end_if_stuck(core, words)
    FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static int core_can_move(const Core *core, int seat)
{
    uint64_t open[2][MAX_WORDS];
#define CALL(words) (free_pairs(core, open[0], open[1], words), can_move(core, seat, open, words))
    return FOR_WORDS(core->board->words, CALL);
#undef CALL
}

static void core_enter(Core *core, int colour, const uint64_t *mask, const uint64_t *halo, Info info)
{
#define CALL(words) enter(core, colour, mask, halo, info, words)
    FOR_WORDS(core->board->words, CALL);
#undef CALL
}

/* Deals what `seat` cannot see anew: the other hands and the pile, out of `pool`, which holds just as many tiles. */
static void redeal(Core *core, int seat, const int *pool, uint8_t *deck, uint64_t *random)
{
    uint8_t tiles[256];
    int count = 0, next = 0;
    for (int tile = 0; tile < TILES; tile++)
        for (int i = 0; i < pool[tile]; i++) tiles[count++] = (uint8_t)tile;
    for (int i = count - 1; i > 0; i--) {
        int other = below(random, i + 1);
        uint8_t kept = tiles[i];
        tiles[i] = tiles[other], tiles[other] = kept;
    }
    for (int own = 0; own < core->players; own++) {
        if (own == seat) continue;
        int size = 0;
        for (int tile = 0; tile <= UNKNOWN; tile++) size += core->hands[own][tile], core->hands[own][tile] = 0;
        while (size--) core->hands[own][tiles[next++]]++;
    }
    core->deck_size -= core->drawn;
    core->drawn = 0;
    memcpy(deck, tiles + next, (size_t)core->deck_size);
    core->deck = deck;
}

/* ------------------------------------------------------------------ part two: the class */

/* Names from the project's own modules, looked up once. */
/* A named tuple of a type, from a 1-tuple with the tuple of its items. Calling the type would run Python code. */
static PyObject *named_tuple(PyObject *type, PyObject *items)
{
    PyObject *object = items ? ((newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new))((PyTypeObject *)type, items, NULL) : NULL;
    Py_XDECREF(items);
    return object;
}

static PyObject *province_type, *event_type, *illegal_move_error, *illegal_text, *checked_setup, *empty_tuple;
static PyObject *end_texts[4], *event_names[6];

typedef struct {
    PyObject_HEAD
    PyObject *board, *geometry, *deck;
    Core core;
} State;

static PyTypeObject *state_type;
static const char GEOMETRY[] = "arena.rules.native.Geometry";

/* Reads an int; one that does not fit is the largest or smallest that does. Returns 0 with an exception set on failure. */
static int read_number(PyObject *object, long *number)
{
    int overflow;
    *number = PyLong_AsLongAndOverflow(object, &overflow);
    if (overflow) *number = overflow > 0 ? LONG_MAX : LONG_MIN;
    return overflow || *number != -1 || !PyErr_Occurred();
}

/* Reads a Python int as a mask, bits beyond the last word left out. Returns 0 with an exception set on failure. */
static int read_mask(PyObject *object, uint64_t *mask, int words)
{
    int done = 0;
    PyObject *size = PyLong_FromLong(64L * words), *one = PyLong_FromLong(1), *top = NULL, *ones = NULL, *cut = NULL, *bytes = NULL;
    PyObject *number = PyNumber_Index(object); /* a plain int, whose methods are its own */
    if (number && size && one && (top = PyNumber_Lshift(one, size)) && (ones = PyNumber_Subtract(top, one)) && (cut = PyNumber_And(number, ones))
        && (bytes = PyObject_CallMethod(cut, "to_bytes", "is", 8 * words, "little"))) {
        const unsigned char *data = (const unsigned char *)PyBytes_AsString(bytes);
        memset(mask, 0, (size_t)words * sizeof(uint64_t));
        for (int i = 0; data && i < 8 * words; i++) mask[i >> 3] |= (uint64_t)data[i] << 8 * (i & 7);
        done = data != NULL;
    }
    Py_XDECREF(number), Py_XDECREF(size), Py_XDECREF(one), Py_XDECREF(top), Py_XDECREF(ones), Py_XDECREF(cut), Py_XDECREF(bytes);
    return done;
}

static PyObject *mask_object(const uint64_t *mask, int words)
{
    unsigned char data[8 * MAX_WORDS];
    for (int i = 0; i < 8 * words; i++) data[i] = (unsigned char)(mask[i >> 3] >> 8 * (i & 7));
    /* no format with a length: what it needs differs between versions of Python, and one build serves them all */
    PyObject *bytes = PyBytes_FromStringAndSize((char *)data, 8 * words);
    PyObject *number = bytes ? PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "little") : NULL;
    Py_XDECREF(bytes);
    return number;
}

static int read_mask_attribute(PyObject *object, const char *name, uint64_t *mask, int words)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    int done = value && read_mask(value, mask, words);
    Py_XDECREF(value);
    return done;
}

static int read_int_attribute(PyObject *object, const char *name, long *number)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    int done = value && read_number(value, number);
    Py_XDECREF(value);
    return done;
}

/* Reads a sequence of masks into a new array; the caller frees it. Returns NULL with an exception set on failure. */
static uint64_t *read_masks(PyObject *object, const char *name, int words, int *count)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    uint64_t *masks = NULL;
    Py_ssize_t size = value ? PySequence_Size(value) : -1;
    if (size > MAX_SQUARES) PyErr_Format(PyExc_ValueError, "expected at most %d masks of %s, got %zd", MAX_SQUARES, name, size);
    else if (size >= 0 && !(masks = PyMem_Malloc(((size_t)size * words + 1) * sizeof(uint64_t)))) PyErr_NoMemory();
    for (Py_ssize_t i = 0; masks && i < size; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        if (!item || !read_mask(item, masks + i * words, words)) PyMem_Free(masks), masks = NULL;
        Py_XDECREF(item);
    }
    Py_XDECREF(value);
    *count = (int)size;
    return masks;
}

static void free_geometry(Geometry *geometry)
{
    PyMem_Free(geometry->near), PyMem_Free(geometry->beside), PyMem_Free(geometry->founding), PyMem_Free(geometry->village_square);
    PyMem_Free(geometry);
}

static void free_capsule(PyObject *capsule) { free_geometry(PyCapsule_GetPointer(capsule, GEOMETRY)); }

static int fill_geometry(Geometry *geometry, PyObject *board)
{
    long stride, height;
    int count;
    if (!read_int_attribute(board, "stride", &stride) || !read_int_attribute(board, "height", &height)) return 0;
    if (stride < 2 || stride > MAX_SIDE + 1 || height < 1 || height > MAX_SIDE) {
        PyErr_SetString(PyExc_ValueError, "expected a board of at most 26 x 26");
        return 0;
    }
    geometry->stride = (int)stride;
    geometry->squares = (int)(height * stride);
    int words = geometry->words = (geometry->squares + 63) / 64;
    geometry->most_provinces = geometry->squares / 2 + 1;
    PyObject *starts = PyObject_GetAttrString(board, "starts");
    int done = starts && read_mask_attribute(board, "grass", geometry->grass, words)
               && read_mask_attribute(board, "beside_any", geometry->beside_any, words);
    for (int colour = 0; done && colour < COLOURS; colour++) {
        PyObject *start = PySequence_GetItem(starts, colour);
        done = start && read_mask(start, geometry->starts[colour], words);
        Py_XDECREF(start);
    }
    Py_XDECREF(starts);
    if (!done || !(geometry->beside = read_masks(board, "beside", words, &geometry->villages))
        || !(geometry->founding = read_masks(board, "founding", words, &geometry->founding_count)))
        return 0;
    uint64_t *villages = read_masks(board, "villages", words, &count);
    geometry->near = PyMem_Calloc((size_t)64 * words * words, sizeof(uint64_t));
    geometry->village_square = PyMem_Malloc(((size_t)geometry->villages + 1) * sizeof(int));
    if (villages && (count != geometry->villages || count > MAX_VILLAGES)) {
        PyErr_Format(PyExc_ValueError, "expected at most %d villages and what is beside each, got %d and %d", MAX_VILLAGES, count, geometry->villages);
    } else if (villages && geometry->near && geometry->village_square) {
        for (int v = 0; v < geometry->villages; v++) geometry->village_square[v] = first_square(villages + (size_t)v * words, words);
        const int steps[4] = {-geometry->stride, -1, 1, geometry->stride};
        for (int square = 0; square < geometry->squares; square++)
            for (int i = 0; i < 4; i++) {
                int other = square + steps[i];
                if (other >= 0 && other < 64 * words) add(geometry->near + (size_t)square * words, other);
            }
    } else if (!PyErr_Occurred()) PyErr_NoMemory();
    PyMem_Free(villages);
    return !PyErr_Occurred();
}

/* The board's geometry as a capsule, made once and kept on the board. */
static PyObject *geometry_of(PyObject *board)
{
    PyObject *capsule = PyObject_GetAttrString(board, "_native");
    if (capsule) return capsule;
    PyErr_Clear();
    Geometry *geometry = PyMem_Calloc(1, sizeof *geometry);
    if (!geometry) return PyErr_NoMemory();
    if (!fill_geometry(geometry, board) || !(capsule = PyCapsule_New(geometry, GEOMETRY, free_capsule))) {
        free_geometry(geometry);
        return NULL;
    }
    if (PyObject_SetAttrString(board, "_native", capsule) < 0) Py_CLEAR(capsule);
    return capsule;
}

/* A state without a position. Takes the reference to the geometry, which is NULL with an exception set when there is none. */
static State *new_state(PyObject *board, PyObject *geometry)
{
    const Geometry *shape = geometry ? PyCapsule_GetPointer(geometry, GEOMETRY) : NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(state_type, Py_tp_alloc);
    State *state = shape ? (State *)alloc(state_type, 0) : NULL;
    if (!state) {
        Py_XDECREF(geometry);
        return NULL;
    }
    Py_INCREF(board);
    state->board = board;
    state->geometry = geometry;
    if (!allocate(&state->core, shape)) {
        Py_DECREF(state);
        PyErr_NoMemory();
        return NULL;
    }
    return state;
}

static void state_dealloc(PyObject *self)
{
    State *state = (State *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(state->core.block);
    Py_XDECREF(state->board), Py_XDECREF(state->geometry), Py_XDECREF(state->deck);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

/* Reads a tile. Returns -1 with an exception set on failure. */
static int read_tile(PyObject *object)
{
    long tile;
    if (!read_number(object, &tile)) return -1;
    if (tile >= 0 && tile <= UNKNOWN) return (int)tile;
    PyErr_Format(PyExc_ValueError, "expected tiles from 0 to %d, got %S", UNKNOWN, object);
    return -1;
}

/* Reads tiles out of anything that can be gone through into a new bytes object, one byte a tile. */
static PyObject *read_tiles(PyObject *tiles)
{
    PyObject *tuple = PySequence_Tuple(tiles); /* which nothing can change while it is read */
    if (!tuple) return NULL;
    Py_ssize_t size = PyTuple_Size(tuple);
    PyObject *bytes = size <= INT_MAX ? PyBytes_FromStringAndSize(NULL, size) : PyErr_NoMemory();
    char *data = bytes ? PyBytes_AsString(bytes) : NULL;
    for (Py_ssize_t i = 0; data && i < size; i++) {
        int tile = read_tile(PyTuple_GetItem(tuple, i));
        if (tile < 0) {
            Py_CLEAR(bytes);
            break;
        }
        data[i] = (char)tile;
    }
    Py_DECREF(tuple);
    return bytes;
}

static int set_deck(State *state, PyObject *bytes)
{
    if (!bytes) return 0;
    Py_XDECREF(state->deck);
    state->deck = bytes;
    state->core.deck = (const uint8_t *)PyBytes_AsString(bytes);
    state->core.deck_size = (int)PyBytes_Size(bytes);
    return 1;
}

/* Reads how many players there are. Returns 0 with an exception set when there cannot be so many. */
static int read_players(PyObject *number)
{
    long players;
    if (!read_number(number, &players)) return 0;
    if (players >= 2 && players <= MAX_PLAYERS) return (int)players;
    PyErr_Format(PyExc_ValueError, "expected 2 to %d players, got %S", MAX_PLAYERS, number);
    return 0;
}

/* The beginning of a game without hands: board, pagodas, no province. */
static void begin(Core *core, int players)
{
    const Geometry *board = core->board;
    int words = board->words;
    core->players = players;
    memset(core->block, 0, FIXED_MASKS * words * sizeof(uint64_t));
    for (int i = 0; i < words; i++) {
        for (int colour = 0; colour < COLOURS; colour++) {
            cells_of(core, colour, words)[i] = board->starts[colour][i];
            spaces_of(core, words)[i] |= board->starts[colour][i];
        }
        free_of(core, words)[i] = board->grass[i];
    }
    for (int seat = 0; seat < players; seat++) core->left[seat] = PAGODAS[players];
    memset(core->villages, NOBODY, (size_t)board->villages);
}

static PyObject *state_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"board", "players", "deck", NULL};
    PyObject *board, *number, *deck;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO", names, &board, &number, &deck)) return NULL;
    int players = read_players(number);
    State *state = players ? new_state(board, geometry_of(board)) : NULL;
    if (!state) return NULL;
    if (!set_deck(state, read_tiles(deck))) {
        Py_DECREF(state);
        return NULL;
    }
    Core *core = &state->core;
    begin(core, players);
    for (int seat = 0; seat < players; seat++)
        for (int i = 0; i < HAND && core->drawn < core->deck_size; i++) core->hands[seat][core->deck[core->drawn++]]++;
    core_end_if_stuck(core);
    return (PyObject *)state;
}

static int read_hand(Core *core, int seat, PyObject *tiles)
{
    PyObject *bytes = read_tiles(tiles);
    if (!bytes) return 0;
    const char *data = PyBytes_AsString(bytes);
    memset(core->hands[seat], 0, sizeof core->hands[seat]);
    for (Py_ssize_t i = 0; i < PyBytes_Size(bytes); i++) core->hands[seat][(int)data[i]]++;
    Py_DECREF(bytes);
    return 1;
}

/* The int at an index of a checked tuple. */
static int int_at(PyObject *tuple, Py_ssize_t index) { return (int)PyLong_AsLong(PyTuple_GetItem(tuple, index)); }

/* Reads the spaces of each colour, and what is free besides them. */
static int read_spaces(Core *core, PyObject *masks)
{
    int words = core->board->words;
    uint64_t *spaces = spaces_of(core, words), *free = free_of(core, words);
    memset(spaces, 0, words * sizeof(uint64_t));
    for (int colour = 0; colour < COLOURS; colour++) {
        uint64_t *cells = cells_of(core, colour, words);
        if (!read_mask(PyTuple_GetItem(masks, colour), cells, words)) return 0;
        for (int i = 0; i < words; i++) spaces[i] |= cells[i];
    }
    for (int i = 0; i < words; i++) free[i] &= ~spaces[i];
    return 1;
}

/* Reads checked provinces: none overlap, so that a tile touches at most eight of a colour. */
static int read_provinces(Core *core, PyObject *provinces)
{
    const Geometry *board = core->board;
    int words = board->words, stride = board->stride;
    for (Py_ssize_t p = 0; p < PyTuple_Size(provinces); p++) {
        PyObject *entry = PyTuple_GetItem(provinces, p);
        int colour = int_at(entry, 0), owner = int_at(entry, 2), pagodas = int_at(entry, 3);
        uint64_t mask[MAX_WORDS] = {0}, halo[MAX_WORDS] = {0};
        if (!read_mask(PyTuple_GetItem(entry, 1), mask, words)) return 0;
        for (int i = 0; i < words; i++)
            halo[i] = moved_on(mask, i, 1) | moved_back(mask, i, 1, words) | moved_on(mask, i, stride) | moved_back(mask, i, stride, words);
        core_enter(core, colour, mask, halo, (Info){(int16_t)owner, (int16_t)size_of(mask, words), (int16_t)pagodas});
    }
    return 1;
}

/* Fills a new state with what arena.rules.setups.checked_setup has returned. */
static int lay_out(State *state, PyObject *const *parts, int players)
{
    Core *core = &state->core;
    PyObject *spaces = parts[1], *provinces = parts[2], *villages = parts[3], *left = parts[4], *hands = parts[5], *pile = parts[6];
    begin(core, players);
    if (PyTuple_Size(villages) != core->board->villages) {
        PyErr_SetString(PyExc_ValueError, "expected a board that stays as it was");
        return 0;
    }
    if (!read_spaces(core, spaces) || !read_provinces(core, provinces) || !set_deck(state, read_tiles(pile))) return 0;
    for (int v = 0; v < core->board->villages; v++) core->villages[v] = (int8_t)int_at(villages, v);
    for (int seat = 0; seat < players; seat++) {
        core->left[seat] = int_at(left, seat);
        if (!read_hand(core, seat, PyTuple_GetItem(hands, seat))) return 0;
    }
    core->mover = (int)PyLong_AsLong(parts[7]);
    core_end_if_stuck(core);
    return 1;
}

static PyObject *state_set_up(PyObject *type, PyObject *arguments, PyObject *keywords)
{
    enum { PARTS = 8 };
    PyObject *parts[PARTS], *setup = PyObject_Call(checked_setup, arguments, keywords);
    (void)type;
    if (!setup) return NULL;
    for (int part = 0; part < PARTS; part++) parts[part] = PyTuple_GetItem(setup, part);
    State *state = new_state(parts[0], geometry_of(parts[0]));
    if (state && !lay_out(state, parts, (int)PyTuple_Size(parts[4]))) Py_CLEAR(state);
    Py_DECREF(setup);
    return (PyObject *)state;
}

static State *copy_state(State *state)
{
    Py_INCREF(state->geometry);
    State *twin = new_state(state->board, state->geometry);
    if (!twin) return NULL;
    Py_XINCREF(state->deck);
    twin->deck = state->deck;
    copy_core(&twin->core, &state->core);
    return twin;
}

static PyObject *state_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    return (PyObject *)copy_state((State *)self);
}

/* A list of ints. */
static PyObject *int_list(const int *numbers, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) {
        PyObject *number = PyLong_FromLong(numbers[i]);
        if (!number || PyList_SetItem(list, i, number) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *tile_tuple(const uint8_t *tiles, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple && i < count; i++) {
        PyObject *number = PyLong_FromLong(tiles[i]);
        if (!number || PyTuple_SetItem(tuple, i, number) < 0) Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *hand_tuple(const int *hand)
{
    Py_ssize_t count = 0, next = 0;
    for (int tile = 0; tile <= UNKNOWN; tile++) count += hand[tile];
    PyObject *tuple = PyTuple_New(count);
    for (int tile = 0; tuple && tile <= UNKNOWN; tile++)
        for (int i = 0; tuple && i < hand[tile]; i++) {
            PyObject *number = PyLong_FromLong(tile);
            if (!number || PyTuple_SetItem(tuple, next++, number) < 0) Py_CLEAR(tuple);
        }
    return tuple;
}

#define CORE(self) (&((State *)(self))->core)

/* Reads a seat. Returns -1 with an exception set when there is no such seat. */
static int read_seat(const Core *core, PyObject *number)
{
    long seat;
    if (!read_number(number, &seat)) return -1;
    if (seat >= 0 && seat < core->players) return (int)seat;
    PyErr_Format(PyExc_IndexError, "expected a seat from 0 to %d, got %S", core->players - 1, number);
    return -1;
}

static PyObject *get_board(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF(((State *)self)->board);
    return ((State *)self)->board;
}

static PyObject *get_left(PyObject *self, void *unused) { return (void)unused, int_list(CORE(self)->left, CORE(self)->players); }
static PyObject *get_mover(PyObject *self, void *unused) { return (void)unused, PyLong_FromLong(CORE(self)->mover); }
static PyObject *get_turns(PyObject *self, void *unused) { return (void)unused, PyLong_FromLong(CORE(self)->turns); }
static PyObject *get_players(PyObject *self, void *unused) { return (void)unused, PyLong_FromLong(CORE(self)->players); }
static PyObject *get_pile(PyObject *self, void *unused) { return (void)unused, PyLong_FromLong(CORE(self)->deck_size - CORE(self)->drawn); }

static PyObject *get_end(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *text = end_texts[CORE(self)->end];
    Py_INCREF(text);
    return text;
}

static PyObject *get_free(PyObject *self, void *unused)
{
    (void)unused;
    return mask_object(free_of(CORE(self), CORE(self)->board->words), CORE(self)->board->words);
}

static PyObject *get_hands(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *list = PyList_New(CORE(self)->players);
    for (int seat = 0; list && seat < CORE(self)->players; seat++) {
        PyObject *hand = hand_tuple(CORE(self)->hands[seat]);
        if (!hand || PyList_SetItem(list, seat, hand) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_villages(PyObject *self, void *unused)
{
    (void)unused;
    int owners[MAX_VILLAGES];
    for (int v = 0; v < CORE(self)->board->villages; v++) owners[v] = CORE(self)->villages[v];
    return int_list(owners, CORE(self)->board->villages);
}

static PyObject *get_retired(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *list = PyList_New(CORE(self)->players);
    for (int seat = 0; list && seat < CORE(self)->players; seat++) {
        PyObject *flag = PyBool_FromLong(CORE(self)->retired[seat]);
        if (!flag || PyList_SetItem(list, seat, flag) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *state_pile_tiles(PyObject *self, PyObject *unused)
{
    (void)unused;
    return tile_tuple(CORE(self)->deck + CORE(self)->drawn, CORE(self)->deck_size - CORE(self)->drawn);
}

static PyObject *state_spaces(PyObject *self, PyObject *number)
{
    long colour;
    if (!read_number(number, &colour)) return NULL;
    if (colour < 0 || colour >= COLOURS) return PyErr_Format(PyExc_IndexError, "expected a colour from 0 to %d, got %S", COLOURS - 1, number);
    return mask_object(cells_of(CORE(self), (int)colour, CORE(self)->board->words), CORE(self)->board->words);
}

/* (colour, Province), the halo made by the board so that it is the same int as the pure core's. */
static PyObject *province_entry(State *state, int colour, int index)
{
    int words = state->core.board->words;
    const Info info = *info_of(&state->core, colour, index); /* as it is now: what follows runs Python */
    PyObject *entry = NULL, *mask = mask_object(mask_of(&state->core, colour, index, words), words);
    PyObject *halo = mask ? PyObject_CallMethod(state->board, "around", "O", mask) : NULL;
    PyObject *province = halo ? named_tuple(province_type, Py_BuildValue("((OOiii))", mask, halo, info.owner, info.size, info.pagodas)) : NULL;
    if (province) entry = Py_BuildValue("iO", colour, province);
    Py_XDECREF(mask), Py_XDECREF(halo), Py_XDECREF(province);
    return entry;
}

static PyObject *state_provinces(PyObject *self, PyObject *unused)
{
    State *state = (State *)self;
    Core *core = &state->core;
    int words = core->board->words;
    short at[64 * MAX_WORDS][2];
    (void)unused;
    memset(at, -1, sizeof at);
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++) {
            int first = first_square(mask_of(core, colour, p, words), words);
            if (first >= 0) at[first][0] = (short)colour, at[first][1] = (short)p;
        }
    PyObject *list = PyList_New(0);
    for (int square = 0; list && square < core->board->squares; square++) {
        if (at[square][0] < 0) continue;
        PyObject *entry = province_entry(state, at[square][0], at[square][1]);
        if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

static PyObject *state_placed(PyObject *self, PyObject *number)
{
    const Core *core = CORE(self);
    int seat = read_seat(core, number), placed = 0;
    if (seat < 0) return NULL;
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++)
            if (info_of(core, colour, p)->owner == seat) placed += info_of(core, colour, p)->pagodas;
    for (int v = 0; v < core->board->villages; v++) placed += core->villages[v] == seat;
    return PyLong_FromLong(placed);
}

static PyObject *state_tiles_placed(PyObject *self, PyObject *unused)
{
    (void)unused;
    return int_list(CORE(self)->placed, TILES);
}

static PyObject *state_ranks(PyObject *self, PyObject *unused)
{
    const Core *core = CORE(self);
    int ranks[MAX_PLAYERS];
    (void)unused;
    for (int seat = 0; seat < core->players; seat++) {
        ranks[seat] = 1;
        for (int other = 0; other < core->players; other++) ranks[seat] += core->left[other] < core->left[seat];
    }
    return int_list(ranks, core->players);
}

static PyObject *menu_list(const Menu *menu, int words)
{
    PyObject *list = PyList_New(menu->total);
    Py_ssize_t next = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; list && menu->count[kind] && i < words; i++)
            for (uint64_t rest = menu->places[kind][i]; rest; rest &= rest - 1) {
                PyObject *move = PyLong_FromLong(kind << KIND_SHIFT | (64 * i + lowest(rest)));
                if (!move || PyList_SetItem(list, next++, move) < 0) {
                    Py_DECREF(list);
                    return NULL;
                }
            }
    return list;
}

/* The menu of the mover, empty once the game has ended. */
static void mover_menu(const Core *core, Menu *menu)
{
    static const int nothing[TILES + 1];
    core_menu(core, core->end == GOES_ON ? core->hands[core->mover] : nothing, menu);
}

static PyObject *state_legal_moves(PyObject *self, PyObject *unused)
{
    Menu menu;
    (void)unused;
    mover_menu(CORE(self), &menu);
    return menu_list(&menu, CORE(self)->board->words);
}

static PyObject *state_placements(PyObject *self, PyObject *tiles)
{
    Menu menu;
    int held[TILES + 1] = {0};
    PyObject *iterator = PyObject_GetIter(tiles), *item;
    if (!iterator) return NULL;
    while ((item = PyIter_Next(iterator))) {
        int tile = read_tile(item);
        Py_DECREF(item);
        if (tile < 0) break;
        held[tile] = 1;
    }
    Py_DECREF(iterator);
    if (PyErr_Occurred()) return NULL;
    core_menu(CORE(self), held, &menu);
    return menu_list(&menu, CORE(self)->board->words);
}

static PyObject *state_legal_count(PyObject *self, PyObject *unused)
{
    Menu menu;
    (void)unused;
    mover_menu(CORE(self), &menu);
    return PyLong_FromLong(menu.total);
}

static PyObject *state_nth(PyObject *self, PyObject *number)
{
    Menu menu;
    long index;
    if (!read_number(number, &index)) return NULL;
    mover_menu(CORE(self), &menu);
    if (index < 0 || index >= menu.total) {
        PyErr_SetString(PyExc_IndexError, "no legal move has that index");
        return NULL;
    }
    return PyLong_FromLong(nth_of(&menu, (int)index));
}

static PyObject *state_can_move(PyObject *self, PyObject *number)
{
    int seat = read_seat(CORE(self), number);
    return seat < 0 ? NULL : PyBool_FromLong(core_can_move(CORE(self), seat));
}

static PyObject *state_must_pass(PyObject *self, PyObject *unused)
{
    const Core *core = CORE(self);
    (void)unused;
    return PyBool_FromLong(core->retired[core->mover] || !core_can_move(core, core->mover));
}

/* Reads a move; a number that is none, PASS included, is left as kind -1. */
static int read_move(PyObject *number, int *kind, int *square)
{
    int overflow;
    long long move = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (move == -1 && !overflow && PyErr_Occurred()) return 0;
    *kind = overflow || move < 0 || move >> KIND_SHIFT >= KINDS ? -1 : (int)(move >> KIND_SHIFT);
    *square = (int)(move & SQUARE_MASK);
    return 1;
}

static PyObject *state_is_legal(PyObject *self, PyObject *number)
{
    int kind, square;
    if (!read_move(number, &kind, &square)) return NULL;
    return PyBool_FromLong(kind >= 0 && core_is_legal(CORE(self), kind, square));
}

static PyObject *state_why_illegal(PyObject *self, PyObject *number) { return PyObject_CallFunction(illegal_text, "OO", self, number); }

static PyObject *event_object(const Event *event)
{
    PyObject *home = empty_tuple;
    int seats = 0, next = 0;
    for (int seat = 0; seat < MAX_PLAYERS; seat++) seats += event->home[seat] > 0;
    Py_INCREF(home);
    if (seats) {
        Py_DECREF(home);
        home = PyTuple_New(seats);
        for (int seat = 0; home && seat < MAX_PLAYERS; seat++) {
            if (event->home[seat] <= 0) continue;
            PyObject *pair = Py_BuildValue("ii", seat, event->home[seat]);
            if (!pair || PyTuple_SetItem(home, next++, pair) < 0) Py_CLEAR(home);
        }
    }
    PyObject *object = home ? named_tuple(event_type, Py_BuildValue("((OiiiO))", event_names[event->name], event->seat, event->square, event->size, home)) : NULL;
    Py_XDECREF(home);
    return object;
}

static PyObject *state_play(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"move", "events", NULL};
    PyObject *move, *list = Py_None;
    int kind, square;
    Core *core = CORE(self);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O", names, &move, &list)) return NULL;
    if (list != Py_None && !PyList_Check(list)) return PyErr_Format(PyExc_TypeError, "expected a list for the events, got %R", list);
    if (!read_move(move, &kind, &square)) return NULL;
    if (kind < 0 || !core_is_legal(core, kind, square)) {
        PyObject *reason = state_why_illegal(self, move);
        int is_pass = reason && PyObject_IsTrue(reason) == 0;
        if (is_pass) {
            core_end_if_stuck(core);
            if (core->end == GOES_ON) next_mover(core);
        } else if (reason) PyErr_SetObject(illegal_move_error, reason);
        Py_XDECREF(reason);
        if (!is_pass) return NULL;
        Py_RETURN_NONE;
    }
    if (list == Py_None) {
        core_play(core, kind, square, NULL);
        Py_RETURN_NONE;
    }
    Events events;
    events.count = 0;
    core_play(core, kind, square, &events);
    for (int e = 0; e < events.count; e++) {
        PyObject *event = event_object(&events.event[e]);
        int failed = !event || PyList_Append(list, event) < 0;
        Py_XDECREF(event);
        if (failed) return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *state_set_hand(PyObject *self, PyObject *arguments)
{
    PyObject *number, *tiles;
    if (!PyArg_ParseTuple(arguments, "OO", &number, &tiles)) return NULL;
    int seat = read_seat(CORE(self), number);
    if (seat < 0 || !read_hand(CORE(self), seat, tiles)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *state_set_pile(PyObject *self, PyObject *tiles)
{
    if (!set_deck((State *)self, read_tiles(tiles))) return NULL;
    CORE(self)->drawn = 0;
    Py_RETURN_NONE;
}

static PyObject *state_net_gain(PyObject *self, PyObject *number)
{
    int kind, square;
    Core *core = CORE(self), scratch;
    if (!read_move(number, &kind, &square)) return NULL;
    if (kind < 0 || !core_is_legal(core, kind, square)) {
        PyErr_SetString(PyExc_ValueError, "expected a legal move");
        return NULL;
    }
    if (!allocate(&scratch, core->board)) return PyErr_NoMemory();
    int net = core_net_gain(core, &scratch, kind, square);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(net);
}

static PyObject *state_outlook(PyObject *self, PyObject *number)
{
    int seat = read_seat(CORE(self), number);
    return seat < 0 ? NULL : PyLong_FromLong(core_outlook(CORE(self), seat));
}

static PyObject *state_outlooks(PyObject *self, PyObject *unused)
{
    Core *core = CORE(self), scratch;
    Menu menu;
    (void)unused;
    mover_menu(core, &menu);
    if (!allocate(&scratch, core->board)) return PyErr_NoMemory();
    PyObject *list = PyList_New(menu.total);
    int now = core_outlook(core, core->mover);
    Py_ssize_t index = 0;
    for (int kind = 0; list && kind < KINDS; kind++)
        for (int i = 0; list && menu.count[kind] && i < core->board->words; i++)
            for (uint64_t rest = menu.places[kind][i]; list && rest; rest &= rest - 1) {
                PyObject *number = PyLong_FromLong(core_outlook_after(core, &scratch, kind, 64 * i + lowest(rest), now));
                if (!number || PyList_SetItem(list, index++, number) < 0) Py_CLEAR(list);
            }
    PyMem_Free(scratch.block);
    return list;
}

static PyObject *state_retire(PyObject *self, PyObject *number)
{
    int seat = read_seat(CORE(self), number);
    if (seat < 0) return NULL;
    CORE(self)->retired[seat] = 1;
    if (CORE(self)->end == GOES_ON) core_end_if_stuck(CORE(self));
    Py_RETURN_NONE;
}

/* Reads a policy; without a name it is the uniform one. Returns 0 with an exception set when there is no such policy. */
static int read_policy(PyObject *name, PyObject *among, PyObject *turns, Policy *policy)
{
    static const char *const names[] = {"uniform", "greedy", "careful"};
    *policy = (Policy){UNIFORM, 0, 0};
    if (name && !PyUnicode_Check(name)) policy->name = 3;
    else
        while (name && policy->name < 3 && PyUnicode_CompareWithASCIIString(name, names[policy->name])) policy->name++;
    if (policy->name == 3) return PyErr_Format(PyExc_ValueError, "expected the policy uniform, greedy or careful, got %S", name), 0;
    if ((among && !read_number(among, &policy->among)) || (turns && !read_number(turns, &policy->turns))) return 0;
    if (policy->among >= 0 && policy->among <= MOST && policy->turns >= 0 && policy->turns <= MOST) return 1;
    PyErr_Format(PyExc_ValueError, "expected 0 to %d moves to look at and turns to play, got %ld and %ld", MOST, policy->among, policy->turns);
    return 0;
}

static int knows_all(const Core *core)
{
    int unknown = 0;
    for (int seat = 0; seat < core->players; seat++) unknown += core->hands[seat][UNKNOWN];
    for (int i = core->drawn; i < core->deck_size; i++) unknown += core->deck[i] == UNKNOWN;
    return !unknown;
}

static PyObject *state_choice(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "policy", "among", NULL};
    unsigned long long seed;
    PyObject *name = NULL, *among = NULL;
    Policy policy;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|OO", names, &seed, &name, &among)) return NULL;
    if (!read_policy(name, among, NULL, &policy)) return NULL;
    Core *core = CORE(self), scratch;
    if (!allocate(&scratch, core->board)) return PyErr_NoMemory();
    uint64_t random = seed;
    int move = core_choice(core, &scratch, &random, &policy);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(move);
}

static PyObject *state_playout(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "policy", "among", "turns", NULL};
    unsigned long long seed;
    PyObject *name = NULL, *among = NULL, *turns = NULL;
    Policy policy;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|OOO", names, &seed, &name, &among, &turns)) return NULL;
    if (!read_policy(name, among, turns, &policy)) return NULL;
    Core *core = CORE(self), scratch;
    if (!knows_all(core)) {
        PyErr_SetString(PyExc_ValueError, "expected all tiles to be known, got a state with unknown ones: use rollouts");
        return NULL;
    }
    if (!allocate(&scratch, core->board)) return PyErr_NoMemory();
    uint64_t random = seed;
    int placed = playout(core, &scratch, &random, &policy);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(placed);
}

/* What a seat cannot see, by tile: the other hands and the pile. Returns 0 with an exception set when it cannot be told. */
static int hidden_pool(const Core *core, int seat, int *pool)
{
    int hidden = 0, pooled = 0, known = knows_all(core);
    memset(pool, 0, TILES * sizeof(int));
    for (int own = 0; own < core->players; own++)
        for (int tile = 0; own != seat && tile <= UNKNOWN; tile++) {
            hidden += core->hands[own][tile];
            if (known && tile < TILES) pool[tile] += core->hands[own][tile];
        }
    for (int i = core->drawn; i < core->deck_size; i++) {
        hidden++;
        if (known) pool[core->deck[i]]++;
    }
    for (int tile = 0; tile < TILES; tile++) {
        if (!known) pool[tile] = COPIES - core->placed[tile] - core->hands[seat][tile];
        pooled += pool[tile] < 0 ? -1000 : pool[tile];
    }
    if (core->hands[seat][UNKNOWN] || hidden != pooled || hidden > 250) {
        PyErr_Format(PyExc_ValueError, "expected a state in which seat %d knows its hand and what it cannot see follows from the rest", seat);
        return 0;
    }
    return 1;
}

typedef struct {
    int seat, count, *moves, pool[TILES];
    long times;
    uint64_t seed;
    Policy policy;
    int64_t *twelfths, *left, *outlooks;
    Core base, dealt, work, scratch;
} Rollouts;

/* Plays every move on every deal; all moves meet the same deals and the same luck. */
static void run_rollouts(Rollouts *run)
{
    uint64_t stream = run->seed;
    uint8_t deck[256];
    for (long time = 0; time < run->times; time++) {
        uint64_t random = next_random(&stream);
        copy_core(&run->dealt, &run->base);
        redeal(&run->dealt, run->seat, run->pool, deck, &random);
        for (int m = 0; m < run->count; m++) {
            uint64_t luck = random;
            copy_core(&run->work, &run->dealt);
            core_play(&run->work, run->moves[m] >> KIND_SHIFT, run->moves[m] & SQUARE_MASK, NULL);
            playout(&run->work, &run->scratch, &luck, &run->policy);
            if (run->work.end != GOES_ON) run->twelfths[m] += twelfths_of(&run->work, run->seat);
            run->left[m] += run->work.left[run->seat];
            run->outlooks[m] += core_outlook(&run->work, run->seat);
        }
    }
}

/* Reads a move to try. Returns -1 with an exception set when it is none, or not legal where the rollouts begin. */
static int read_candidate(State *state, const Core *base, PyObject *move)
{
    int kind, square;
    if (!read_move(move, &kind, &square)) return -1;
    if (kind >= 0 && core_is_legal(base, kind, square)) return kind << KIND_SHIFT | square;
    PyObject *reason = state_why_illegal((PyObject *)state, move);
    if (reason) PyErr_SetObject(illegal_move_error, reason);
    Py_XDECREF(reason);
    return -1;
}

/* Reads the moves to try, all legal ones by default. */
static int read_candidates(State *state, PyObject *chosen, Rollouts *run)
{
    PyObject *list = chosen == Py_None ? state_legal_moves((PyObject *)state, NULL) : PySequence_List(chosen);
    if (!list) return 0;
    Py_ssize_t size = PyList_Size(list);
    run->moves = size < INT_MAX ? PyMem_Malloc(((size_t)size + 1) * sizeof(int)) : NULL;
    if (!run->moves) PyErr_NoMemory();
    while (run->moves && run->count < size) {
        int move = read_candidate(state, &run->base, PyList_GetItem(list, run->count));
        if (move < 0) break;
        run->moves[run->count++] = move;
    }
    Py_DECREF(list);
    return run->moves && run->count == size;
}

static int allocate_results(Rollouts *run)
{
    run->twelfths = PyMem_Calloc((size_t)run->count + 1, sizeof(int64_t));
    run->left = PyMem_Calloc((size_t)run->count + 1, sizeof(int64_t));
    run->outlooks = PyMem_Calloc((size_t)run->count + 1, sizeof(int64_t));
    if (run->twelfths && run->left && run->outlooks) return 1;
    PyErr_NoMemory();
    return 0;
}

static int allocate_states(Rollouts *run, const Geometry *board)
{
    if (allocate(&run->base, board) && allocate(&run->dealt, board) && allocate(&run->work, board) && allocate(&run->scratch, board)) return 1;
    PyErr_NoMemory();
    return 0;
}

static void free_rollouts(Rollouts *run)
{
    PyMem_Free(run->moves), PyMem_Free(run->twelfths), PyMem_Free(run->left), PyMem_Free(run->outlooks);
    PyMem_Free(run->base.block), PyMem_Free(run->dealt.block), PyMem_Free(run->work.block), PyMem_Free(run->scratch.block);
}

static PyObject *sum_list(const int64_t *sums, int count)
{
    PyObject *list = PyList_New(count);
    for (int m = 0; list && m < count; m++) {
        PyObject *sum = PyLong_FromLongLong(sums[m]);
        if (!sum || PyList_SetItem(list, m, sum) < 0) Py_CLEAR(list);
    }
    return list;
}

static PyObject *rollout_lists(const Rollouts *run)
{
    PyObject *wins = PyList_New(run->count), *moves = int_list(run->moves, run->count), *result = NULL;
    PyObject *left = sum_list(run->left, run->count), *outlooks = sum_list(run->outlooks, run->count);
    for (int m = 0; wins && m < run->count; m++) {
        PyObject *won = PyFloat_FromDouble((double)run->twelfths[m] / TWELFTHS);
        if (!won || PyList_SetItem(wins, m, won) < 0) Py_CLEAR(wins);
    }
    if (wins && left && moves && outlooks) result = PyTuple_Pack(4, moves, wins, left, outlooks);
    Py_XDECREF(wins), Py_XDECREF(left), Py_XDECREF(moves), Py_XDECREF(outlooks);
    return result;
}

/* Rollouts from the position as it is at the beginning of the call, which may run Python, lets other threads run, and so may see the
 * state changed. The caller holds on to the deck. */
static PyObject *rollouts_from_here(State *state, Rollouts *run, PyObject *chosen)
{
    if (!allocate_states(run, state->core.board)) return NULL;
    copy_core(&run->base, &state->core);
    if (!hidden_pool(&run->base, run->seat, run->pool) || !read_candidates(state, chosen, run) || !allocate_results(run)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    run_rollouts(run);
    Py_END_ALLOW_THREADS
    return rollout_lists(run);
}

static PyObject *state_rollouts(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seat", "times", "seed", "policy", "moves", "among", "turns", NULL};
    Rollouts run;
    unsigned long long seed;
    long seat;
    PyObject *number, *times, *name = NULL, *chosen = Py_None, *among = NULL, *turns = NULL;
    memset(&run, 0, sizeof run);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOK|OOOO", names, &number, &times, &seed, &name, &chosen, &among, &turns)) return NULL;
    run.seed = seed;
    if (!read_policy(name, among, turns, &run.policy) || !read_number(number, &seat) || !read_number(times, &run.times)) return NULL;
    const Core *core = CORE(self);
    if (seat != core->mover || core->end != GOES_ON) return PyErr_Format(PyExc_ValueError, "expected the seat that is to move, got %S", number);
    run.seat = core->mover;
    PyObject *deck = ((State *)self)->deck;
    Py_INCREF(deck);
    PyObject *result = rollouts_from_here((State *)self, &run, chosen);
    Py_DECREF(deck);
    free_rollouts(&run);
    return result;
}

static PyMethodDef methods[] = {
    {"set_up", (PyCFunction)(void (*)(void))state_set_up, METH_VARARGS | METH_KEYWORDS | METH_CLASS, "A state in the middle of a game."},
    {"copy", state_copy, METH_NOARGS, "An independent state in the same position."},
    {"pile_tiles", state_pile_tiles, METH_NOARGS, "The tiles of the draw pile in the order in which they will be drawn."},
    {"spaces", state_spaces, METH_O, "Mask of the province spaces of one colour, starts and single spaces included."},
    {"provinces", state_provinces, METH_NOARGS, "All provinces as (colour, province), in the reading order of their first squares."},
    {"placed", state_placed, METH_O, "Pagodas of a seat that stand on the board."},
    {"tiles_placed", state_tiles_placed, METH_NOARGS, "How many of each tile have been placed."},
    {"ranks", state_ranks, METH_NOARGS, "The rank of each seat by pagodas left, fewest first; equal is equal (R8.2)."},
    {"legal_moves", state_legal_moves, METH_NOARGS, "Every legal placement of the mover, in ascending order."},
    {"placements", state_placements, METH_O, "Every legal placement of the given tiles on this board, whoever holds them."},
    {"legal_count", state_legal_count, METH_NOARGS, "How many legal placements the mover has."},
    {"nth", state_nth, METH_O, "legal_moves()[index], without making the list."},
    {"can_move", state_can_move, METH_O, "Whether the seat can place a tile of its hand."},
    {"must_pass", state_must_pass, METH_NOARGS, "Whether the referee passes for the mover (R3.2)."},
    {"is_legal", state_is_legal, METH_O, "Whether the mover may place so."},
    {"why_illegal", state_why_illegal, METH_O, "Why the mover may not play the move, with the rule's number; empty when it may."},
    {"play", (PyCFunction)(void (*)(void))state_play, METH_VARARGS | METH_KEYWORDS, "Plays the mover's placement or PASS."},
    {"set_hand", state_set_hand, METH_VARARGS, "Says what a seat holds, for who sees only that hand."},
    {"set_pile", state_set_pile, METH_O, "Says what the draw pile is, in the order in which it will be drawn."},
    {"net_gain", state_net_gain, METH_O, "Pagodas that the mover would place with a legal move, less those the others would."},
    {"retire", state_retire, METH_O, "The seat never moves again (R3.2, R8.1)."},
    {"outlook", state_outlook, METH_O, "How well a seat stands, in hundredths of a pagoda times the other seats."},
    {"outlooks", state_outlooks, METH_NOARGS, "The mover's outlook after each of its legal moves, before it draws."},
    {"choice", (PyCFunction)(void (*)(void))state_choice, METH_VARARGS | METH_KEYWORDS, "The mover's move by a policy; PASS when it has none."},
    {"playout", (PyCFunction)(void (*)(void))state_playout, METH_VARARGS | METH_KEYWORDS, "Plays to the end by a policy."},
    {"rollouts", (PyCFunction)(void (*)(void))state_rollouts, METH_VARARGS | METH_KEYWORDS, "Plays each move to the end on deals resampled."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"board", get_board, NULL, "The board.", NULL},
    {"players", get_players, NULL, "How many seats there are.", NULL},
    {"left", get_left, NULL, "Pagodas that each seat still holds.", NULL},
    {"hands", get_hands, NULL, "The tiles of each seat, sorted.", NULL},
    {"mover", get_mover, NULL, "The seat to move.", NULL},
    {"turns", get_turns, NULL, "Placements so far.", NULL},
    {"end", get_end, NULL, "None, or why the game is over (R8.1).", NULL},
    {"villages", get_villages, NULL, "The owner of each village, or NOBODY.", NULL},
    {"retired", get_retired, NULL, "Seats that never move again.", NULL},
    {"pile", get_pile, NULL, "Tiles left in the draw pile.", NULL},
    {"free", get_free, NULL, "Mask of free grassland.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "A game of Qin: see arena.rules.pure.State."},
    {Py_tp_new, state_new},
    {Py_tp_dealloc, state_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};

static PyType_Spec spec = {"arena.rules.native.State", sizeof(State), 0, Py_TPFLAGS_DEFAULT, slots};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_core", "The rules of Qin in C: see arena.rules.pure.", -1, NULL, NULL, NULL, NULL, NULL};

/* An attribute of one of the project's own modules. */
static PyObject *from_module(const char *name, const char *attribute)
{
    PyObject *source = PyImport_ImportModule(name);
    PyObject *value = source ? PyObject_GetAttrString(source, attribute) : NULL;
    Py_XDECREF(source);
    return value;
}

PyMODINIT_FUNC PyInit__core(void)
{
    static const char *const names[6] = {"found", "expand", "absorb", "major", "connect", "conquer"};
    static const char *const ends[4] = {NULL, "LAST_PAGODA", "NO_TILES", "NO_SPACE"};
    if (!(province_type = from_module("arena.rules.terms", "Province")) || !(event_type = from_module("arena.rules.terms", "Event"))
        || !(illegal_move_error = from_module("arena.errors", "IllegalMoveError"))
        || !(illegal_text = from_module("arena.rules.explain", "illegal_text"))
        || !(checked_setup = from_module("arena.rules.setups", "checked_setup")) || !(empty_tuple = PyTuple_New(0)))
        return NULL;
    end_texts[GOES_ON] = Py_None;
    Py_INCREF(Py_None);
    for (int end = LAST_PAGODA; end <= NO_SPACE; end++)
        if (!(end_texts[end] = from_module("arena.rules.terms", ends[end]))) return NULL;
    for (int name = FOUND; name <= CONQUER; name++)
        if (!(event_names[name] = PyUnicode_FromString(names[name]))) return NULL;
    if (!(state_type = (PyTypeObject *)PyType_FromSpec(&spec))) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "State", (PyObject *)state_type) < 0) Py_CLEAR(made);
    return made;
}
