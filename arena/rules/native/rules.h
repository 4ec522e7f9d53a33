// clang-format Language: C
/* The rules of Qin in plain C: the mirror of arena/rules/pure.py, which is the text to read first.
 * Same names, same order of moves, same errors. Nothing here knows of Python or allocates memory.
 *
 * A mask is an array of 64-bit words, square 0 in the lowest bit of the first. This file and
 * playouts.h are compiled twice: in small.c with a constant for WORDS that fits bird and lion, and
 * in core.c with the number that the board needs. By callgrind the constant saves a sixth of the
 * instructions of a random game, and needs no inlining by force.
 */
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define INLINE static inline

enum { COLOURS = 3, TILES = 6, UNKNOWN = 6, COPIES = 12 };
enum { KINDS = 18, KIND_SHIFT = 10, SQUARE_MASK = 1023, PASS = -1 };
enum { MAX_PLAYERS = 4, MAX_SIDE = 26, MAX_SQUARES = MAX_SIDE * (MAX_SIDE + 1) };
enum { MAX_WORDS = (MAX_SQUARES + 63) / 64, MAX_VILLAGES = (MAX_SIDE * MAX_SIDE + 1) / 2 };
enum { HAND = 3, MAJOR = 5, NOBODY = -1 };
enum { GOES_ON, LAST_PAGODA, NO_TILES, NO_SPACE };
enum { FOUND, EXPAND, ABSORB, MAJOR_MADE, CONNECT, CONQUER };

static const int TILE_OF_COLOURS[COLOURS][COLOURS] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};

/* ---------------------------------------------------------------- what a state is */

/* What all states on one board share. `near` has the squares around each square, `beside` those
 * around each village. */
typedef struct {
    int words, stride, squares, villages, founding_count, most_provinces;
    uint64_t grass[MAX_WORDS], starts[COLOURS][MAX_WORDS], beside_any[MAX_WORDS];
    uint64_t *near, *beside, *founding;
    int *village_square;
    const struct Calls *calls; /* how the class plays on this board: see playouts.h */
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

/* A state. All masks lie in `block`: cells of each colour, spaces, free, nine barred masks, then
 * masks and halos of the provinces. One block, because a search copies a state for every move. */
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

INLINE uint64_t *cells_of(const Core *core, int colour)
{
    return core->block + colour * WORDS;
}
INLINE uint64_t *spaces_of(const Core *core)
{
    return core->block + 3 * WORDS;
}
INLINE uint64_t *free_of(const Core *core)
{
    return core->block + 4 * WORDS;
}

INLINE uint64_t *barred_of(const Core *core, int colour, int which)
{
    return core->block + (5 + 3 * colour + which) * WORDS;
}

INLINE uint64_t *mask_of(const Core *core, int colour, int index)
{
    size_t before = (size_t)colour * core->board->most_provinces + index;
    return core->block + (FIXED_MASKS + 2 * before) * WORDS;
}

INLINE uint64_t *halo_of(const Core *core, int colour, int index)
{
    return mask_of(core, colour, index) + WORDS;
}

INLINE Info *info_of(const Core *core, int colour, int index)
{
    return core->info + (size_t)colour * core->board->most_provinces + index;
}

/* ---------------------------------------------------------------- masks */

/* Without the processor's own instruction, which not all of x86-64 have. */
INLINE int popcount(uint64_t bits)
{
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)(bits * 0x0101010101010101u >> 56);
}

INLINE int lowest(uint64_t bits)
{
    return __builtin_ctzll(bits);
}

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

INLINE int has(const uint64_t *mask, int square)
{
    return (int)(mask[square >> 6] >> (square & 63) & 1);
}

INLINE void add(uint64_t *mask, int square)
{
    mask[square >> 6] |= (uint64_t)1 << (square & 63);
}

/* Word i of the mask moved `step` squares towards the first square; step is 1 to 63. */
INLINE uint64_t moved_back(const uint64_t *mask, int i, int step, int words)
{
    return mask[i] >> step | (i + 1 < words ? mask[i + 1] << (64 - step) : 0);
}

/* The same, away from the first square. */
INLINE uint64_t moved_on(const uint64_t *mask, int i, int step)
{
    return mask[i] << step | (i ? mask[i - 1] >> (64 - step) : 0);
}

INLINE int first_square(const uint64_t *mask, int words)
{
    for (int i = 0; i < words; i++)
        if (mask[i]) return 64 * i + lowest(mask[i]);
    return -1;
}

/* ---------------------------------------------------------------- where tiles may lie (R4) */

INLINE int tile_of_kind(int kind)
{
    return TILE_OF_COLOURS[kind / 6][kind / 2 % 3];
}

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

/* Keeps, of the candidate first squares, those where spaces there and `step` further would make a
 * forbidden join. */
INLINE void keep_forbidden(const Core *core, int colour, uint64_t *candidates, int step)
{
    const int words = WORDS;
    for (int i = 0; i < words; i++) {
        uint64_t rest = candidates[i];
        while (rest) {
            int square = 64 * i + lowest(rest), joined_count = 0;
            const Info *joined[8];
            rest &= rest - 1;
            for (int p = 0; p < core->count[colour]; p++) {
                const uint64_t *halo = halo_of(core, colour, p);
                if (has(halo, square) || (step && has(halo, square + step)))
                    joined[joined_count++] = info_of(core, colour, p);
            }
            if (!is_forbidden(joined, joined_count))
                candidates[i] &= ~((uint64_t)1 << (square & 63));
        }
    }
}

/* Finds anew, around the last province of a colour, where forbidden joins bar the colour. Only a
 * new province can change that, and only near it, so the masks are kept from turn to turn. A double
 * tile has masks of its own, since it is judged as a whole: each half alone may be legal and the
 * tile not, or the other way round. */
static void renew_barred(Core *core, int colour)
{
    const int words = WORDS;
    int last = core->count[colour] - 1, stride = core->board->stride;
    const uint64_t *halo = halo_of(core, colour, last), *free = free_of(core);
    uint64_t others[ROOM] = {0}, found[3][ROOM];
    for (int p = 0; p < last; p++) {
        const uint64_t *other = halo_of(core, colour, p);
        for (int i = 0; i < words; i++) others[i] |= other[i];
    }
    uint64_t any = 0;
    for (int i = 0; i < words; i++) {
        uint64_t right = halo[i] | moved_back(halo, i, 1, words);
        uint64_t below = halo[i] | moved_back(halo, i, stride, words);
        found[0][i] = halo[i] & others[i] & free[i];
        found[1][i] = right & (others[i] | moved_back(others, i, 1, words)) & free[i]
                      & moved_back(free, i, 1, words);
        found[2][i] = below & (others[i] | moved_back(others, i, stride, words)) & free[i]
                      & moved_back(free, i, stride, words);
        barred_of(core, colour, 0)[i] &= ~halo[i];
        barred_of(core, colour, 1)[i] &= ~right;
        barred_of(core, colour, 2)[i] &= ~below;
        any |= found[0][i] | found[1][i] | found[2][i];
    }
    if (!any) return;
    const int steps[3] = {0, 1, stride};
    for (int which = 0; which < 3; which++) {
        keep_forbidden(core, colour, found[which], steps[which]);
        uint64_t *barred = barred_of(core, colour, which);
        for (int i = 0; i < words; i++) barred[i] |= found[which][i];
    }
}

/* First squares of pairs of free squares of which one touches a province space (R4.1, R4.2):
 * horizontal pairs, then vertical ones. */
INLINE void free_pairs(const Core *core, uint64_t *right, uint64_t *below)
{
    const int words = WORDS;
    const uint64_t *free = free_of(core), *spaces = spaces_of(core);
    int stride = core->board->stride;
    uint64_t near[ROOM];
    for (int i = 0; i < words; i++)
        near[i] = (moved_on(spaces, i, 1) | moved_back(spaces, i, 1, words)
                   | moved_on(spaces, i, stride) | moved_back(spaces, i, stride, words))
                  & free[i];
    for (int i = 0; i < words; i++) {
        right[i] = free[i] & moved_back(free, i, 1, words);
        right[i] &= near[i] | moved_back(near, i, 1, words);
        below[i] = free[i] & moved_back(free, i, stride, words);
        below[i] &= near[i] | moved_back(near, i, stride, words);
    }
}

/* The first squares on which a tile of this kind may be laid (R4.1 to R4.5); `open` are the two
 * masks of free_pairs. */
INLINE void places_of(const Core *core, uint64_t open[2][ROOM], int kind, uint64_t *places)
{
    const int words = WORDS;
    int first = kind / 6, second = kind / 2 % 3, vertical = kind & 1;
    int step = vertical ? core->board->stride : 1;
    if (first == second) {
        const uint64_t *barred = barred_of(core, first, 1 + vertical);
        for (int i = 0; i < words; i++) places[i] = open[vertical][i] & ~barred[i];
    } else {
        const uint64_t *one = barred_of(core, first, 0), *other = barred_of(core, second, 0);
        for (int i = 0; i < words; i++)
            places[i] = open[vertical][i] & ~(one[i] | moved_back(other, i, step, words));
    }
}

/* ---------------------------------------------------------------- what a tile does (R5 to R7) */

/* Adds a province to its colour. */
INLINE void enter(Core *core, int colour, const uint64_t *mask, const uint64_t *halo, Info info)
{
    const int words = WORDS;
    int index = core->count[colour]++;
    memcpy(mask_of(core, colour, index), mask, words * sizeof(uint64_t));
    memcpy(halo_of(core, colour, index), halo, words * sizeof(uint64_t));
    *info_of(core, colour, index) = info;
    renew_barred(core, colour);
}

/* Removes a province; the last of its colour takes its place. */
INLINE void drop(Core *core, int colour, int index)
{
    const int words = WORDS;
    int last = --core->count[colour];
    if (index != last) {
        memcpy(mask_of(core, colour, index), mask_of(core, colour, last),
               2 * words * sizeof(uint64_t));
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

/* The owner when two or more provinces join (R5.5, R5.6). */
INLINE int absorber(const Info *joined, int count)
{
    int totals[MAX_PLAYERS] = {0}, owner = 0;
    for (int j = 0; j < count; j++) {
        if (joined[j].size >= MAJOR) return joined[j].owner;
        totals[joined[j].owner] += joined[j].size;
    }
    for (int seat = 1; seat < MAX_PLAYERS; seat++)
        if (totals[seat] > totals[owner]) owner = seat;
    return owner;
}

/* Adds to `loose` the starts that touch it and belong to nobody, then all of it to the province. */
INLINE void found_on(const Geometry *board, uint64_t *loose, uint64_t *mask, uint64_t *halo,
                     const int words)
{
    for (int f = 0; f < board->founding_count; f++) {
        const uint64_t *area = board->founding + (size_t)f * words;
        if (meets(area, loose, words))
            for (int i = 0; i < words; i++) loose[i] |= area[i];
    }
    for (int i = 0; i < words; i++) {
        uint64_t rest = loose[i] & ~mask[i];
        mask[i] |= loose[i];
        for (; rest; rest &= rest - 1) {
            const uint64_t *near = board->near + (size_t)(64 * i + lowest(rest)) * words;
            for (int j = 0; j < words; j++) halo[j] |= near[j];
        }
    }
}

/* Adds the tile's squares of one colour and settles their area (R5). Returns whether there is a
 * province now, which is then the last of its colour.
 *
 * Pagodas go home at once, and the owner pays at once, even below zero: the order of payments
 * matters only when somebody runs out, which `place` then settles with the debts noted here. */
static int grow(Core *core, int colour, const int *squares, int square_count, uint64_t *mask,
                Debt *debt, Events *events)
{
    const int words = WORDS;
    const Geometry *board = core->board;
    uint64_t *cells = cells_of(core, colour), touched[ROOM], halo[ROOM] = {0};
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
    uint64_t loose[ROOM];
    memcpy(loose, touched, words * sizeof(uint64_t));
    Info joined[8];
    int count = 0;
    for (int p = 0; p < core->count[colour];) {
        const uint64_t *own = mask_of(core, colour, p);
        if (meets(own, touched, words)) {
            const uint64_t *own_halo = halo_of(core, colour, p);
            for (int i = 0; i < words; i++) {
                mask[i] |= own[i];
                halo[i] |= own_halo[i];
                loose[i] &= ~own[i];
            }
            joined[count++] = *info_of(core, colour, p);
            drop(core, colour, p);
        } else p++;
    }
    found_on(board, loose, mask, halo, words);
    int size = size_of(mask, words), owner = core->mover, pagodas = 0, was_major = 0;
    int home[MAX_PLAYERS] = {0};
    for (int j = 0; j < count; j++) was_major |= joined[j].size >= MAJOR;
    if (count == 1) {
        owner = joined[0].owner;
        pagodas = joined[0].pagodas;
    } else if (count > 1) {
        owner = absorber(joined, count);
        for (int j = 0; j < count; j++) home[joined[j].owner] += joined[j].pagodas;
        pagodas = home[owner] < 2 ? home[owner] : 2;
        home[owner] -= pagodas;
        for (int seat = 0; seat < core->players; seat++) core->left[seat] += home[seat];
    }
    int target = size >= MAJOR ? 2 : 1;
    *debt = (Debt){owner, colour, target - pagodas};
    core->left[owner] -= target - pagodas;
    enter(core, colour, mask, halo, (Info){(int16_t)owner, (int16_t)size, (int16_t)target});
    if (events) {
        int first = first_square(mask, words);
        int name = count > 1 ? ABSORB : count ? EXPAND : FOUND;
        note(events, name, owner, first, size, count > 1 ? home : NULL);
        if (size >= MAJOR && !was_major) note(events, MAJOR_MADE, owner, first, size, NULL);
    }
    return 1;
}

INLINE Info *info_of_debt(const Core *core, const Debt *debt)
{
    return info_of(core, debt->colour, core->count[debt->colour] - 1);
}

/* Somebody runs out, so the order counts: takes the payments back and makes them mover first, then
 * clockwise (R7.1). Who places the last pagoda ends the game at once, and the rest of what the tile
 * would have done does not happen (R7.2). */
static void settle_in_order(Core *core, const Debt *debts, int count)
{
    for (int d = 0; d < count; d++) {
        core->left[debts[d].seat] += debts[d].count;
        info_of_debt(core, &debts[d])->pagodas -= (int16_t)debts[d].count;
    }
    for (int step = 0; step < core->players; step++) {
        int seat = (core->mover + step) % core->players;
        for (int d = 0; d < count; d++) {
            if (debts[d].seat != seat || !debts[d].count) continue;
            int paid = debts[d].count < core->left[seat] ? debts[d].count : core->left[seat];
            core->left[seat] -= paid;
            info_of_debt(core, &debts[d])->pagodas += (int16_t)paid;
            if (core->left[seat] == 0) {
                core->end = LAST_PAGODA;
                return;
            }
        }
    }
}

/* Adds up each seat's pagodas on the provinces that meet these squares. */
INLINE void count_around(const Core *core, const uint64_t *beside, int *counts)
{
    const int words = WORDS;
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++)
            if (meets(mask_of(core, colour, p), beside, words)) {
                const Info *info = info_of(core, colour, p);
                counts[info->owner] += info->pagodas;
            }
}

/* Whose the village is as the provinces now stand (R6.1 to R6.3). */
INLINE int heir_of(const Core *core, int village, const uint64_t *beside)
{
    int counts[MAX_PLAYERS] = {0}, owner = core->villages[village];
    int highest = 0, leaders = 0, heir = 0;
    count_around(core, beside, counts);
    for (int seat = 0; seat < core->players; seat++) {
        if (counts[seat] > highest) highest = counts[seat], leaders = 1, heir = seat;
        else if (counts[seat] == highest) leaders++;
    }
    if (!highest || leaders > 1 || highest == (owner == NOBODY ? 0 : counts[owner])) return owner;
    return heir;
}

/* Connects and conquers the villages beside the changed provinces (R6), then places their pagodas
 * in the order of R7.1. */
static void judge_villages(Core *core, const uint64_t *changed, Events *events)
{
    const int words = WORDS;
    const Geometry *board = core->board;
    int won = 0, village[MAX_VILLAGES], heirs[MAX_VILLAGES], owners[MAX_VILLAGES];
    for (int v = 0; v < board->villages; v++) {
        const uint64_t *beside = board->beside + (size_t)v * words;
        if (!meets(beside, changed, words)) continue;
        int owner = core->villages[v], heir = heir_of(core, v, beside);
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
            note(events, owners[w] == NOBODY ? CONNECT : CONQUER, seat,
                 board->village_square[village[w]], 0, owners[w] == NOBODY ? NULL : home);
            if (core->left[seat] == 0) {
                core->end = LAST_PAGODA;
                return;
            }
        }
    }
}

/* Lays the tile and carries out every event in the order of R7. */
INLINE void place(Core *core, int kind, int square, Events *events)
{
    const int words = WORDS;
    int first = kind / 6, second = kind / 2 % 3;
    int squares[2] = {square, square + (kind & 1 ? core->board->stride : 1)};
    uint64_t *free = free_of(core), *spaces = spaces_of(core), changed[2][ROOM];
    for (int s = 0; s < 2; s++) {
        free[squares[s] >> 6] &= ~((uint64_t)1 << (squares[s] & 63));
        add(spaces, squares[s]);
    }
    Debt debts[2];
    int debt_count = 0, any = 0;
    if (first == second) {
        any = grow(core, first, squares, 2, changed[0], &debts[debt_count++], events);
    } else {
        int one = grow(core, first, squares, 1, changed[0], &debts[debt_count], events);
        debt_count += one;
        int other = grow(core, second, squares + 1, 1, changed[one], &debts[debt_count], events);
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
    if (meets(changed[0], core->board->beside_any, words)) judge_villages(core, changed[0], events);
}

/* ---------------------------------------------------------------- turns, and the end (R8) */

INLINE int can_place(const Core *core, int seat, uint64_t open[2][ROOM])
{
    const int words = WORDS;
    if (core->hands[seat][UNKNOWN]) return 1;
    for (int kind = 0; kind < KINDS; kind++)
        if (core->hands[seat][tile_of_kind(kind)]) {
            uint64_t places[ROOM];
            places_of(core, open, kind, places);
            if (!is_empty(places, words)) return 1;
        }
    return 0;
}

/* R8.1: the game is over when nobody who still plays can place a tile. */
INLINE void end_if_stuck(Core *core)
{
    uint64_t open[2][ROOM];
    free_pairs(core, open[0], open[1]);
    int tiles = 0;
    for (int step = 0; step < core->players; step++) {
        int seat = (core->mover + step) % core->players;
        if (!core->retired[seat] && can_place(core, seat, open)) return;
    }
    for (int seat = 0; seat < core->players; seat++)
        for (int tile = 0; tile <= UNKNOWN; tile++) tiles += core->hands[seat][tile];
    core->end = tiles ? NO_SPACE : NO_TILES;
}

INLINE int can_move(const Core *core, int seat)
{
    uint64_t open[2][ROOM];
    free_pairs(core, open[0], open[1]);
    return can_place(core, seat, open);
}

INLINE void next_mover(Core *core)
{
    core->mover = core->mover + 1 == core->players ? 0 : core->mover + 1;
}

/* Places, draws and passes on the turn. Whether anybody can still place a tile is left to the
 * caller: a playout asks only once the mover cannot, which saves a sixth of its instructions. */
INLINE void place_and_draw(Core *core, int kind, int square, Events *events)
{
    int tile = tile_of_kind(kind), *hand = core->hands[core->mover];
    hand[hand[tile] ? tile : UNKNOWN]--;
    core->placed[tile]++;
    place(core, kind, square, events);
    core->turns++;
    if (core->end != GOES_ON) return;
    if (core->drawn < core->deck_size) hand[core->deck[core->drawn++]]++;
    next_mover(core);
}

/* Plays a legal placement. */
static void play(Core *core, int kind, int square, Events *events)
{
    place_and_draw(core, kind, square, events);
    if (core->end == GOES_ON) end_if_stuck(core);
}

static int is_legal(const Core *core, int kind, int square)
{
    const int words = WORDS;
    const int *hand = core->hands[core->mover];
    if (core->end != GOES_ON || square >= 64 * words
        || (!hand[tile_of_kind(kind)] && !hand[UNKNOWN]))
        return 0;
    uint64_t open[2][ROOM], places[ROOM];
    free_pairs(core, open[0], open[1]);
    places_of(core, open, kind, places);
    return has(places, square);
}

/* The places of each kind that the tiles allow, and how many there are in all. */
typedef struct {
    int count[KINDS], total;
    uint64_t places[KINDS][MAX_WORDS];
} Menu;

static void make_menu(const Core *core, const int *tiles, Menu *menu)
{
    const int words = WORDS;
    uint64_t open[2][ROOM];
    free_pairs(core, open[0], open[1]);
    menu->total = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        menu->count[kind] = 0;
        if (!tiles[tile_of_kind(kind)]) continue;
        places_of(core, open, kind, menu->places[kind]);
        menu->total += menu->count[kind] = size_of(menu->places[kind], words);
    }
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

/* Copies a state into another that has been allocated for the same board; the deck is shared. */
static void copy_core(Core *core, const Core *from)
{
    uint64_t *block = core->block;
    Info *info = core->info;
    int8_t *villages = core->villages;
    *core = *from;
    core->block = block, core->info = info, core->villages = villages;
    memcpy(block, from->block, FIXED_MASKS * WORDS * sizeof(uint64_t));
    for (int colour = 0; colour < COLOURS; colour++) {
        size_t count = (size_t)from->count[colour];
        memcpy(mask_of(core, colour, 0), mask_of(from, colour, 0),
               2 * count * WORDS * sizeof(uint64_t));
        memcpy(info_of(core, colour, 0), info_of(from, colour, 0), count * sizeof(Info));
    }
    memcpy(villages, from->villages, (size_t)from->board->villages);
}
