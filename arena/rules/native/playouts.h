// clang-format Language: C
/* Plays games to the end by simple policies: the mirror of arena/rules/playouts.py and outlook.py.
 * Compiled twice, like rules.h, which comes before it. */

enum { TWELFTHS = 12 };
enum { UNIFORM, GREEDY, CAREFUL, POLICIES };
enum { MOST_HIDDEN = 250 };
/* Rollouts stop that often to let Python handle signals such as Ctrl-C. */
enum { CHUNK_NS = 20000000 };

/* The weights of arena.rules.outlook, which says where they come from. */
enum { PLACED = 118, WON = 300 };
static const int GROWTH[MAJOR] = {0, 0, -8, 14, 50}, HELD[3] = {-100, -37, -20};

/* ---------------------------------------------------------------- what a position is worth */

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

/* How well a seat stands, in hundredths of a pagoda times the other seats. */
INLINE int outlook(const Core *core, int seat)
{
    const int words = WORDS;
    int worth[MAX_PLAYERS] = {0}, sum = 0;
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++) {
            const Info *info = info_of(core, colour, p);
            if (info->size < MAJOR) worth[info->owner] += GROWTH[info->size];
        }
    for (int v = 0; v < core->board->villages; v++) {
        int owner = core->villages[v], counts[MAX_PLAYERS] = {0}, next = 0;
        if (owner == NOBODY) continue;
        count_around(core, core->board->beside + (size_t)v * words, counts);
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

/* Whether a move changes no province: two single spaces that touch nothing of their colours. */
INLINE int is_quiet(const Core *core, int kind, int square)
{
    const int words = WORDS;
    int first = kind / 6, second = kind / 2 % 3;
    int other = square + (kind & 1 ? core->board->stride : 1);
    return first != second
           && !meets(core->board->near + (size_t)square * words, cells_of(core, first), words)
           && !meets(core->board->near + (size_t)other * words, cells_of(core, second), words);
}

/* What the mover gains by a move less what the others gain, in pagodas placed; `scratch` is a state
 * to try it in. */
INLINE int net_gain(const Core *core, Core *scratch, int kind, int square)
{
    if (is_quiet(core, kind, square)) return 0;
    copy_core(scratch, core);
    place(scratch, kind, square, NULL);
    int net = 0;
    for (int seat = 0; seat < core->players; seat++)
        net += (core->left[seat] - scratch->left[seat]) * (seat == core->mover ? 1 : -1);
    return net;
}

/* The mover's outlook after a move, before it draws; `now` is what it is before. */
INLINE int outlook_after(const Core *core, Core *scratch, int kind, int square, int now)
{
    if (is_quiet(core, kind, square)) return now;
    copy_core(scratch, core);
    place(scratch, kind, square, NULL);
    return outlook(scratch, core->mover);
}

/* ---------------------------------------------------------------- policies and playouts */

/* splitmix64 (Steele, Lea & Flood 2014): the same numbers as arena.rules.playouts.Random. */
INLINE uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

INLINE int below(uint64_t *state, int count)
{
    return (int)((next_random(state) >> 32) * (uint64_t)count >> 32);
}

/* How a seat chooses its move: arena.rules.playouts.Policy. */
typedef struct {
    int name;
    long among, turns;
} Policy;

/* What the policy wants most of. */
INLINE int value_of(const Core *core, Core *scratch, int move, const Policy *policy, int now)
{
    int kind = move >> KIND_SHIFT, square = move & SQUARE_MASK;
    return policy->name == GREEDY ? net_gain(core, scratch, kind, square)
                                  : outlook_after(core, scratch, kind, square, now);
}

/* The best of moves drawn at random; of equal ones the first. */
INLINE int best_of_few(const Core *core, const Menu *menu, Core *scratch, uint64_t *random,
                       const Policy *policy, int now)
{
    int best = INT_MIN, chosen = PASS;
    for (long drawn = 0; drawn < policy->among; drawn++) {
        int move = nth_of(menu, below(random, menu->total));
        int value = value_of(core, scratch, move, policy, now);
        if (value > best) best = value, chosen = move;
    }
    return chosen;
}

/* The best of all moves; of equal ones each is as likely. */
INLINE int best_of_all(const Core *core, const Menu *menu, Core *scratch, uint64_t *random,
                       const Policy *policy, int now)
{
    const int words = WORDS;
    int best = INT_MIN, ties = 0, chosen = PASS;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; menu->count[kind] && i < words; i++)
            for (uint64_t rest = menu->places[kind][i]; rest; rest &= rest - 1) {
                int move = kind << KIND_SHIFT | (64 * i + lowest(rest));
                int value = value_of(core, scratch, move, policy, now);
                if (value > best) best = value, ties = 0;
                if (value == best && below(random, ++ties) == 0) chosen = move;
            }
    return chosen;
}

/* The mover's move by a policy, PASS when it has none. `scratch` is needed by all policies but the
 * uniform one. */
static int chosen_by(const Core *core, Core *scratch, uint64_t *random, const Policy *policy)
{
    Menu storage, *menu = &storage;
    menu->total = 0;
    if (core->end == GOES_ON && !core->retired[core->mover])
        make_menu(core, core->hands[core->mover], menu);
    if (!menu->total) return PASS;
    if (policy->name == UNIFORM) return nth_of(menu, below(random, menu->total));
    int now = policy->name == CAREFUL ? outlook(core, core->mover) : 0;
    return policy->among ? best_of_few(core, menu, scratch, random, policy, now)
                         : best_of_all(core, menu, scratch, random, policy, now);
}

/* Plays on. Returns how many tiles were placed. */
static int playout(Core *core, Core *scratch, uint64_t *random, const Policy *policy)
{
    int before = core->turns;
    while (core->end == GOES_ON && (!policy->turns || core->turns - before < policy->turns)) {
        int move = chosen_by(core, scratch, random, policy);
        if (move == PASS) {
            end_if_stuck(core);
            if (core->end == GOES_ON) next_mover(core);
        } else place_and_draw(core, move >> KIND_SHIFT, move & SQUARE_MASK, NULL);
    }
    return core->turns - before;
}

/* ---------------------------------------------------------------- rollouts */

INLINE int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

INLINE int knows_all(const Core *core)
{
    for (int seat = 0; seat < core->players; seat++)
        if (core->hands[seat][UNKNOWN]) return 0;
    for (int i = core->drawn; i < core->deck_size; i++)
        if (core->deck[i] == UNKNOWN) return 0;
    return 1;
}

/* What a seat cannot see, by tile: the other hands and the pile. Returns 0 when it cannot be told.
 */
INLINE int hidden_pool(const Core *core, int seat, int *pool)
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
        if (pool[tile] < 0) return 0;
        pooled += pool[tile];
    }
    return !core->hands[seat][UNKNOWN] && hidden == pooled && hidden <= MOST_HIDDEN;
}

/* Deals what `seat` cannot see anew: the other hands and the pile, out of `pool`, which holds just
 * as many tiles. */
static void redeal(Core *core, int seat, const int *pool, uint8_t *deck, uint64_t *random)
{
    uint8_t tiles[MOST_HIDDEN];
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
        for (int tile = 0; tile <= UNKNOWN; tile++)
            size += core->hands[own][tile], core->hands[own][tile] = 0;
        while (size--) core->hands[own][tiles[next++]]++;
    }
    core->deck_size -= core->drawn;
    core->drawn = 0;
    memcpy(deck, tiles + next, (size_t)core->deck_size);
    core->deck = deck;
}

/* Games from `base`: every move of `moves` is played on `times` deals. `deals` have been played
 * with all moves, and the next one, on `dealt`, with the first `tried` moves. `deck` is the pile of
 * that deal, and each of its games starts from the same `luck`. */
typedef struct {
    int seat, count, tried, *moves, pool[TILES];
    long times, deals;
    uint64_t stream, luck;
    Policy policy;
    int64_t *twelfths, *left, *outlooks;
    Core base, dealt, work, scratch;
    uint8_t deck[MOST_HIDDEN];
} Rollouts;

/* Plays the next move on the deal. */
INLINE void try_move(Rollouts *run)
{
    int m = run->tried++;
    uint64_t luck = run->luck;
    Core *work = &run->work;
    copy_core(work, &run->dealt);
    play(work, run->moves[m] >> KIND_SHIFT, run->moves[m] & SQUARE_MASK, NULL);
    playout(work, &run->scratch, &luck, &run->policy);
    if (work->end != GOES_ON) run->twelfths[m] += twelfths_of(work, run->seat);
    run->left[m] += work->left[run->seat];
    run->outlooks[m] += outlook(work, run->seat);
}

/* Plays games until all are played, or until about CHUNK_NS have passed. Returns whether all are.
 * Other threads of Python run meanwhile: nothing is touched but `run`, which has copies of all it
 * needs. */
static int roll_out(Rollouts *run)
{
    const int64_t until_ns = now_ns() + CHUNK_NS;
    while (run->count && run->deals < run->times) {
        if (now_ns() >= until_ns) return 0;
        if (!run->tried) {
            run->luck = next_random(&run->stream);
            copy_core(&run->dealt, &run->base);
            redeal(&run->dealt, run->seat, run->pool, run->deck, &run->luck);
        }
        try_move(run);
        if (run->tried == run->count) run->tried = 0, run->deals++;
    }
    return 1;
}

/* ---------------------------------------------------------------- for the class */

/* The functions that the class in core.c calls, compiled for one number of words. */
typedef struct Calls {
    int (*is_legal)(const Core *core, int kind, int square);
    int (*can_move)(const Core *core, int seat);
    void (*make_menu)(const Core *core, const int *tiles, Menu *menu);
    void (*play)(Core *core, int kind, int square, Events *events);
    void (*end_if_stuck)(Core *core);
    int (*net_gain)(const Core *core, Core *scratch, int kind, int square);
    int (*outlook)(const Core *core, int seat);
    int (*outlook_after)(const Core *core, Core *scratch, int kind, int square, int now);
    int (*chosen_by)(const Core *core, Core *scratch, uint64_t *random, const Policy *policy);
    int (*playout)(Core *core, Core *scratch, uint64_t *random, const Policy *policy);
    int (*roll_out)(Rollouts *run);
} Calls;

#define CALLS                                                                                      \
    {                                                                                              \
        is_legal, can_move,      make_menu, play,    end_if_stuck, net_gain,                       \
        outlook,  outlook_after, chosen_by, playout, roll_out,                                     \
    }
