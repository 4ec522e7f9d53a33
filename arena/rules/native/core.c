/* The class State of the native core: Python's way to the rules of rules.inc and playouts.inc, with
 * the methods and the errors of arena.rules.pure.State.
 *
 * It keeps to the limited API, so that one wheel serves all versions of Python.
 */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "core.h"

enum { ROOM = MAX_WORDS };

/* The number of words in the masks of a board. */
INLINE int words_of(const Geometry *board)
{
    return board->words;
}

#include "rules.inc"
#include "playouts.inc"

/* The largest number of games, of turns, and of moves to look at. */
enum { MAX_GIVEN = 1000000 };

static const Calls any_board = CALLS;
extern const Calls small_board;

static const int PAGODAS[MAX_PLAYERS + 1] = {0, 0, 24, 19, 15};

typedef struct {
    PyObject_HEAD PyObject *board, *geometry, *deck;
    Core core;
} State;

/* The state in C that an object of the class has. */
static Core *core_of(PyObject *self)
{
    return &((State *)self)->core;
}

/* Names from the project's own modules, looked up once. */
static PyTypeObject *state_type;
static PyObject *province_type, *event_type, *illegal_move_error, *illegal_text, *checked_setup;
static PyObject *parts_of, *is_same_position;
static PyObject *empty_tuple, *end_texts[NO_SPACE + 1], *event_names[CONQUER + 1];

/* ---------------------------------------------------------------- from Python to C
 *
 * Functions that can fail return 0, or what they have read, and -1 with an exception set on
 * failure; those that make an object return NULL on failure. */

/* Reads an int; one that does not fit becomes the largest or smallest that does. */
static int read_number(PyObject *object, long *number)
{
    int overflow;
    *number = PyLong_AsLongAndOverflow(object, &overflow);
    if (overflow) {
        *number = overflow > 0 ? LONG_MAX : LONG_MIN;
        return 0;
    }
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Makes (1 << bits) - 1. */
static PyObject *ones_object(long bits)
{
    PyObject *one = PyLong_FromLong(1);
    PyObject *count = PyLong_FromLong(bits);
    PyObject *power = one && count ? PyNumber_Lshift(one, count) : NULL;
    PyObject *ones = power ? PyNumber_Subtract(power, one) : NULL;
    Py_XDECREF(one);
    Py_XDECREF(count);
    Py_XDECREF(power);
    return ones;
}

/* Reads a Python int as a mask; bits beyond the last word are left out. */
static int read_mask(PyObject *object, uint64_t *mask, int words)
{
    PyObject *number = PyNumber_Index(object); /* a plain int, whose methods are its own */
    PyObject *ones = ones_object(64L * words);
    PyObject *cut = number && ones ? PyNumber_And(number, ones) : NULL;
    PyObject *bytes = cut ? PyObject_CallMethod(cut, "to_bytes", "is", 8 * words, "little") : NULL;
    const unsigned char *data = bytes ? (unsigned char *)PyBytes_AsString(bytes) : NULL;
    if (data) memset(mask, 0, (size_t)words * sizeof(uint64_t));
    for (int i = 0; data && i < 8 * words; i++) mask[i >> 3] |= (uint64_t)data[i] << 8 * (i & 7);
    Py_XDECREF(number);
    Py_XDECREF(ones);
    Py_XDECREF(cut);
    Py_XDECREF(bytes);
    return data ? 0 : -1;
}

/* Reads an attribute that is a mask. */
static int read_mask_attribute(PyObject *object, const char *name, uint64_t *mask, int words)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    int status = value ? read_mask(value, mask, words) : -1;
    Py_XDECREF(value);
    return status;
}

/* Reads an attribute that is an int. */
static int read_int_attribute(PyObject *object, const char *name, long *number)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    int status = value ? read_number(value, number) : -1;
    Py_XDECREF(value);
    return status;
}

/* Allocates room for the masks of a sequence; NULL if there are too many. */
static uint64_t *allocate_masks(Py_ssize_t count, const char *name, int words)
{
    if (count > MAX_SQUARES) {
        PyErr_Format(PyExc_ValueError, "expected at most %d masks of %s, got %zd", MAX_SQUARES,
                     name, count);
        return NULL;
    }
    uint64_t *masks = PyMem_Malloc(((size_t)count * words + 1) * sizeof(uint64_t));
    if (!masks) PyErr_NoMemory();
    return masks;
}

/* Reads an attribute that is a sequence of masks into a new array, which the caller frees; NULL on
 * failure. */
static uint64_t *read_masks(PyObject *object, const char *name, int words, int *count)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    Py_ssize_t size = value ? PySequence_Size(value) : -1;
    uint64_t *masks = size >= 0 ? allocate_masks(size, name, words) : NULL;
    for (Py_ssize_t i = 0; masks && i < size; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        if (!item || read_mask(item, masks + i * words, words) < 0) {
            PyMem_Free(masks);
            masks = NULL;
        }
        Py_XDECREF(item);
    }
    Py_XDECREF(value);
    *count = (int)size;
    return masks;
}

/* Reads a tile, 0 to UNKNOWN. */
static int read_tile(PyObject *object)
{
    long tile;
    if (read_number(object, &tile) < 0) return -1;
    if (tile >= 0 && tile <= UNKNOWN) return (int)tile;
    PyErr_Format(PyExc_ValueError, "expected tiles from 0 to %d, got %S", UNKNOWN, object);
    return -1;
}

/* Reads the tiles of any iterable into a new bytes object, one byte a tile. */
static PyObject *read_tiles(PyObject *tiles)
{
    PyObject *tuple = PySequence_Tuple(tiles); /* nothing can change it while it is read */
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

/* Reads the number of players, 2 to 4. */
static int read_players(PyObject *number)
{
    long players;
    if (read_number(number, &players) < 0) return -1;
    if (players >= 2 && players <= MAX_PLAYERS) return (int)players;
    PyErr_Format(PyExc_ValueError, "expected 2 to %d players, got %S", MAX_PLAYERS, number);
    return -1;
}

/* Reads the number of a seat of this game. */
static int read_seat(const Core *core, PyObject *number)
{
    long seat;
    if (read_number(number, &seat) < 0) return -1;
    if (seat >= 0 && seat < core->players) return (int)seat;
    PyErr_Format(PyExc_IndexError, "expected a seat from 0 to %d, got %S", core->players - 1,
                 number);
    return -1;
}

/* Reads a move; a number that is none, PASS included, becomes kind -1. */
static int read_move(PyObject *number, int *kind, int *square)
{
    int overflow;
    long long move = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (move == -1 && !overflow && PyErr_Occurred()) return -1;
    *kind = (int)(move >> KIND_SHIFT);
    if (overflow || move < 0 || move >> KIND_SHIFT >= KINDS) *kind = -1;
    *square = (int)(move & SQUARE_MASK);
    return 0;
}

/* Reads the name of a policy; without a name it is the uniform one. */
static int read_policy_name(PyObject *name)
{
    static const char *const policies[POLICIES] = {"uniform", "greedy", "careful"};
    if (!name) return UNIFORM;
    for (int i = 0; PyUnicode_Check(name) && i < POLICIES; i++)
        if (!PyUnicode_CompareWithASCIIString(name, policies[i])) return i;
    PyErr_Format(PyExc_ValueError, "expected the policy uniform, greedy or careful, got %S", name);
    return -1;
}

/* Reads a policy; each part may be NULL for its default. */
static int read_policy(PyObject *name, PyObject *among, PyObject *turns, Policy *policy)
{
    *policy = (Policy){.name = read_policy_name(name)};
    if (policy->name < 0) return -1;
    if (among && read_number(among, &policy->among) < 0) return -1;
    if (turns && read_number(turns, &policy->turns) < 0) return -1;
    int is_among_in_range = policy->among >= 0 && policy->among <= MAX_GIVEN;
    int is_turns_in_range = policy->turns >= 0 && policy->turns <= MAX_GIVEN;
    if (is_among_in_range && is_turns_in_range) return 0;
    PyErr_Format(PyExc_ValueError,
                 "expected 0 to %d moves to look at and turns to play, got %ld and %ld", MAX_GIVEN,
                 policy->among, policy->turns);
    return -1;
}

/* ---------------------------------------------------------------- from C to Python */

/* Puts a new item into a new list; when either could not be made, the list becomes NULL. */
static void put(PyObject **list, Py_ssize_t place, PyObject *item)
{
    if (!*list) Py_XDECREF(item);
    else if (!item || PyList_SetItem(*list, place, item) < 0) Py_CLEAR(*list);
}

/* Puts a new item into a new tuple; when either could not be made, the tuple becomes NULL. */
static void put_in_tuple(PyObject **tuple, Py_ssize_t place, PyObject *item)
{
    if (!*tuple) Py_XDECREF(item);
    else if (!item || PyTuple_SetItem(*tuple, place, item) < 0) Py_CLEAR(*tuple);
}

/* A list of ints. */
static PyObject *int_list(const int *numbers, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) put(&list, i, PyLong_FromLong(numbers[i]));
    return list;
}

/* A list of sums. */
static PyObject *sum_list(const int64_t *sums, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) put(&list, i, PyLong_FromLongLong(sums[i]));
    return list;
}

/* The tiles of a hand, sorted. */
static PyObject *hand_tuple(const int *hand)
{
    Py_ssize_t count = 0;
    Py_ssize_t next = 0;
    for (int tile = 0; tile <= UNKNOWN; tile++) count += hand[tile];
    PyObject *tuple = PyTuple_New(count);
    for (int tile = 0; tile <= UNKNOWN; tile++)
        for (int i = 0; tuple && i < hand[tile]; i++)
            put_in_tuple(&tuple, next++, PyLong_FromLong(tile));
    return tuple;
}

/* A mask as a Python int. */
static PyObject *mask_object(const uint64_t *mask, int words)
{
    unsigned char data[8 * MAX_WORDS];
    for (int i = 0; i < 8 * words; i++) data[i] = (unsigned char)(mask[i >> 3] >> 8 * (i & 7));
    /* no format with a length: what it needs differs between the versions of Python */
    PyObject *bytes = PyBytes_FromStringAndSize((char *)data, 8 * words);
    PyObject *number = NULL;
    if (bytes)
        number = PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "little");
    Py_XDECREF(bytes);
    return number;
}

/* The moves of a menu, in ascending order. */
static PyObject *menu_list(const Menu *menu, int words)
{
    PyObject *list = PyList_New(menu->total);
    Py_ssize_t next = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; menu->count[kind] && i < words; i++)
            for (uint64_t rest = menu->places[kind][i]; list && rest; rest &= rest - 1)
                put(&list, next++, PyLong_FromLong(move_from(kind, 64 * i + lowest(rest))));
    return list;
}

/* A named tuple of a type, from a 1-tuple with the tuple of its items, whose reference it takes.
 * Calling the type would run Python code. */
static PyObject *named_tuple(PyObject *type, PyObject *items)
{
    newfunc make = (newfunc)PyType_GetSlot(&PyTuple_Type, Py_tp_new);
    PyObject *object = items ? make((PyTypeObject *)type, items, NULL) : NULL;
    Py_XDECREF(items);
    return object;
}

/* A pair of a colour and an OwnedProvince. The board makes the halo, so that it is the same int as
 * the pure core's. */
static PyObject *province_entry(State *state, int colour, int number)
{
    const Core *core = &state->core;
    const int words = core->board->words;
    const Info info = *info_of(core, colour, number); /* as it is now: what follows runs Python */
    PyObject *entry = NULL;
    PyObject *province = NULL;
    PyObject *mask = mask_object(mask_of(core, colour, number, words), words);
    PyObject *halo = mask ? PyObject_CallMethod(state->board, "around", "O", mask) : NULL;
    if (halo)
        province = named_tuple(province_type, Py_BuildValue("((OOiii))", mask, halo, info.owner,
                                                            info.size, info.pagodas));
    if (province) entry = Py_BuildValue("iO", colour, province);
    Py_XDECREF(mask);
    Py_XDECREF(halo);
    Py_XDECREF(province);
    return entry;
}

/* The pagodas that go home, as pairs of seat and number. */
static PyObject *home_tuple(const int *home)
{
    int seats = 0;
    for (int seat = 0; seat < MAX_PLAYERS; seat++) seats += home[seat] > 0;
    if (!seats) return Py_NewRef(empty_tuple);
    PyObject *tuple = PyTuple_New(seats);
    int next = 0;
    for (int seat = 0; tuple && seat < MAX_PLAYERS; seat++)
        if (home[seat] > 0) put_in_tuple(&tuple, next++, Py_BuildValue("ii", seat, home[seat]));
    return tuple;
}

/* An event as a Python object. */
static PyObject *event_object(const Event *event)
{
    PyObject *home = home_tuple(event->home);
    if (!home) return NULL;
    PyObject *items = Py_BuildValue("((OiiiO))", event_names[event->name], event->seat,
                                    event->square, event->size, home);
    Py_DECREF(home);
    return named_tuple(event_type, items);
}

/* ---------------------------------------------------------------- boards */

static const char GEOMETRY[] = "arena.rules.native.Geometry";

/* Frees a geometry and all that it has allocated. */
static void free_geometry(Geometry *geometry)
{
    PyMem_Free(geometry->near);
    PyMem_Free(geometry->beside);
    PyMem_Free(geometry->founding);
    PyMem_Free(geometry->village_square);
    PyMem_Free(geometry);
}

/* Frees the geometry in a capsule. */
static void free_capsule(PyObject *capsule)
{
    free_geometry(PyCapsule_GetPointer(capsule, GEOMETRY));
}

/* Reads the size of a board, which says how many words its masks have. */
static int read_size(Geometry *geometry, PyObject *board)
{
    long stride;
    long height;
    if (read_int_attribute(board, "stride", &stride) < 0) return -1;
    if (read_int_attribute(board, "height", &height) < 0) return -1;
    if (stride < 2 || stride > MAX_SIDE + 1 || height < 1 || height > MAX_SIDE) {
        PyErr_SetString(PyExc_ValueError, "expected a board of at most 26 x 26");
        return -1;
    }
    geometry->stride = (int)stride;
    geometry->squares = (int)(height * stride);
    geometry->words = (geometry->squares + 63) / 64;
    if (geometry->words < SMALL_WORDS) geometry->words = SMALL_WORDS;
    geometry->calls = geometry->words == SMALL_WORDS ? &small_board : &any_board;
    geometry->most_provinces = geometry->squares / 2 + 1;
    return 0;
}

/* Reads the starting spaces of each colour. */
static int read_starts(Geometry *geometry, PyObject *board)
{
    PyObject *starts = PyObject_GetAttrString(board, "starts");
    int status = starts ? 0 : -1;
    for (int colour = 0; status == 0 && colour < COLOURS; colour++) {
        PyObject *start = PySequence_GetItem(starts, colour);
        status = start ? read_mask(start, geometry->starts[colour], geometry->words) : -1;
        Py_XDECREF(start);
    }
    Py_XDECREF(starts);
    return status;
}

/* Reads the first square of each village. */
static int read_villages(Geometry *geometry, PyObject *board)
{
    int count;
    int words = geometry->words;
    uint64_t *villages = read_masks(board, "villages", words, &count);
    geometry->village_square = PyMem_Malloc(((size_t)geometry->villages + 1) * sizeof(int));
    if (!villages) return -1;
    if (count != geometry->villages || count > MAX_VILLAGES)
        PyErr_Format(PyExc_ValueError,
                     "expected at most %d villages and what is beside each, got %d and %d",
                     MAX_VILLAGES, count, geometry->villages);
    else if (!geometry->village_square) PyErr_NoMemory();
    else
        for (int v = 0; v < count; v++)
            geometry->village_square[v] = first_square(villages + (size_t)v * words, words);
    PyMem_Free(villages);
    return PyErr_Occurred() ? -1 : 0;
}

/* Makes the mask of the squares around each square. */
static int make_near(Geometry *geometry)
{
    const int words = geometry->words;
    const int stride = geometry->stride;
    const int steps[4] = {-stride, -1, 1, stride};
    geometry->near = PyMem_Calloc((size_t)64 * words * words, sizeof(uint64_t));
    if (!geometry->near) {
        PyErr_NoMemory();
        return -1;
    }
    for (int square = 0; square < geometry->squares; square++)
        for (int i = 0; i < 4; i++) {
            int other = square + steps[i];
            if (other >= 0 && other < 64 * words)
                add(geometry->near + (size_t)square * words, other);
        }
    return 0;
}

/* Reads all of a board into its geometry. */
static int fill_geometry(Geometry *geometry, PyObject *board)
{
    if (read_size(geometry, board) < 0) return -1;
    if (read_starts(geometry, board) < 0) return -1;
    const int words = geometry->words;
    if (read_mask_attribute(board, "grass", geometry->grass, words) < 0) return -1;
    if (read_mask_attribute(board, "beside_any", geometry->beside_any, words) < 0) return -1;
    geometry->beside = read_masks(board, "beside", words, &geometry->villages);
    if (!geometry->beside) return -1;
    geometry->founding = read_masks(board, "founding", words, &geometry->founding_count);
    if (!geometry->founding) return -1;
    if (read_villages(geometry, board) < 0) return -1;
    return make_near(geometry);
}

/* The board's geometry as a capsule, made once and kept on the board. */
static PyObject *geometry_of(PyObject *board)
{
    PyObject *capsule = PyObject_GetAttrString(board, "_native");
    if (capsule) return capsule;
    PyErr_Clear();
    Geometry *geometry = PyMem_Calloc(1, sizeof *geometry);
    if (!geometry) return PyErr_NoMemory();
    if (fill_geometry(geometry, board) == 0)
        capsule = PyCapsule_New(geometry, GEOMETRY, free_capsule);
    if (!capsule) {
        free_geometry(geometry);
        return NULL;
    }
    if (PyObject_SetAttrString(board, "_native", capsule) < 0) Py_CLEAR(capsule);
    return capsule;
}

/* ---------------------------------------------------------------- making states */

/* Allocates a state without a position: one block holds masks, infos and villages. */
static int allocate(Core *core, const Geometry *board)
{
    size_t provinces = COLOURS * (size_t)board->most_provinces;
    size_t masks = (FIXED_MASKS + 2 * provinces) * board->words;
    size_t size = masks * sizeof(uint64_t) + provinces * sizeof(Info) + (size_t)board->villages;
    *core = (Core){.board = board, .block = PyMem_Malloc(size)};
    if (!core->block) {
        PyErr_NoMemory();
        return -1;
    }
    core->info = (Info *)(core->block + masks);
    core->villages = (int8_t *)(core->info + provinces);
    return 0;
}

/* A state without a position. Takes the reference to the geometry, which is NULL with an exception
 * set when there is none. */
static State *new_state(PyObject *board, PyObject *geometry)
{
    const Geometry *shape = geometry ? PyCapsule_GetPointer(geometry, GEOMETRY) : NULL;
    allocfunc make = (allocfunc)PyType_GetSlot(state_type, Py_tp_alloc);
    State *state = shape ? (State *)make(state_type, 0) : NULL;
    if (!state) {
        Py_XDECREF(geometry);
        return NULL;
    }
    state->board = Py_NewRef(board);
    state->geometry = geometry;
    if (allocate(&state->core, shape) < 0) Py_CLEAR(state);
    return state;
}

/* Frees a state. */
static void state_dealloc(PyObject *self)
{
    State *state = (State *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(state->core.block);
    Py_XDECREF(state->board);
    Py_XDECREF(state->geometry);
    Py_XDECREF(state->deck);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Gives a state its deck. Takes the reference to the tiles, which is NULL with an exception set
 * when they could not be read. */
static int set_deck(State *state, PyObject *bytes)
{
    if (!bytes) return -1;
    Py_XDECREF(state->deck);
    state->deck = bytes;
    state->core.deck = (const uint8_t *)PyBytes_AsString(bytes);
    state->core.deck_size = (int)PyBytes_Size(bytes);
    return 0;
}

/* Lays out the beginning of a game without hands: board, pagodas, no province. */
static void begin(Core *core, int players)
{
    const Geometry *board = core->board;
    const int words = board->words;
    core->players = players;
    memset(core->block, 0, FIXED_MASKS * words * sizeof(uint64_t));
    for (int colour = 0; colour < COLOURS; colour++) {
        add_all(cells_of(core, colour, words), board->starts[colour], words);
        add_all(spaces_of(core, words), board->starts[colour], words);
    }
    add_all(free_of(core, words), board->grass, words);
    for (int seat = 0; seat < players; seat++) core->left[seat] = PAGODAS[players];
    memset(core->villages, NOBODY, (size_t)board->villages);
}

/* Deals each seat its first tiles. */
static void deal_hands(Core *core)
{
    for (int seat = 0; seat < core->players; seat++)
        for (int i = 0; i < HAND && core->drawn < core->deck_size; i++)
            core->hands[seat][core->deck[core->drawn++]]++;
}

/* State(board, players, deck). */
static PyObject *state_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"board", "players", "deck", NULL};
    PyObject *board, *number, *deck;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO", names, &board, &number, &deck))
        return NULL;
    int players = read_players(number);
    State *state = players < 0 ? NULL : new_state(board, geometry_of(board));
    if (state && set_deck(state, read_tiles(deck)) < 0) Py_CLEAR(state);
    if (!state) return NULL;
    Core *core = &state->core;
    begin(core, players);
    deal_hands(core);
    end_if_stuck(core, core->board->words);
    return (PyObject *)state;
}

/* Reads the hand of a seat. */
static int read_hand(Core *core, int seat, PyObject *tiles)
{
    PyObject *bytes = read_tiles(tiles);
    if (!bytes) return -1;
    const char *data = PyBytes_AsString(bytes);
    memset(core->hands[seat], 0, sizeof core->hands[seat]);
    for (Py_ssize_t i = 0; i < PyBytes_Size(bytes); i++) core->hands[seat][(int)data[i]]++;
    Py_DECREF(bytes);
    return 0;
}

/* The int at a place of a checked tuple. */
static int int_at(PyObject *tuple, Py_ssize_t place)
{
    return (int)PyLong_AsLong(PyTuple_GetItem(tuple, place));
}

/* Reads the spaces of each colour; what is left of the grassland is free. */
static int read_spaces(Core *core, PyObject *masks)
{
    const int words = core->board->words;
    uint64_t *spaces = spaces_of(core, words);
    uint64_t *vacant = free_of(core, words);
    memset(spaces, 0, words * sizeof(uint64_t));
    for (int colour = 0; colour < COLOURS; colour++) {
        uint64_t *cells = cells_of(core, colour, words);
        if (read_mask(PyTuple_GetItem(masks, colour), cells, words) < 0) return -1;
        add_all(spaces, cells, words);
    }
    for (int i = 0; i < words; i++) vacant[i] &= ~spaces[i];
    return 0;
}

/* Reads checked provinces: none overlap, so that a tile touches at most eight of a colour. */
static int read_provinces(Core *core, PyObject *provinces)
{
    const int words = core->board->words;
    int stride = core->board->stride;
    for (Py_ssize_t p = 0; p < PyTuple_Size(provinces); p++) {
        PyObject *entry = PyTuple_GetItem(provinces, p);
        uint64_t mask[MAX_WORDS] = {0};
        uint64_t halo[MAX_WORDS] = {0};
        if (read_mask(PyTuple_GetItem(entry, 1), mask, words) < 0) return -1;
        for (int i = 0; i < words; i++)
            halo[i] = moved_on(mask, i, 1) | moved_back(mask, i, 1, words)
                      | moved_on(mask, i, stride) | moved_back(mask, i, stride, words);
        Info info = {.owner = (int16_t)int_at(entry, 2),
                     .size = (int16_t)size_of(mask, words),
                     .pagodas = (int16_t)int_at(entry, 3)};
        add_province(core, int_at(entry, 0), mask, halo, info, words);
    }
    return 0;
}

/* The end of a game that a checked text names; GOES_ON for None. */
static int end_of(PyObject *text)
{
    for (int end = LAST_PAGODA; end <= NO_SPACE; end++)
        if (PyObject_RichCompareBool(text, end_texts[end], Py_EQ) == 1) return end;
    return GOES_ON;
}

/* Fills a new state with what arena.rules.setup.checked_setup has returned. */
static int lay_out(State *state, PyObject *setup)
{
    Core *core = &state->core;
    PyObject *villages = PyTuple_GetItem(setup, 3);
    PyObject *left = PyTuple_GetItem(setup, 4);
    PyObject *hands = PyTuple_GetItem(setup, 5);
    PyObject *retired = PyTuple_GetItem(setup, 9);
    begin(core, (int)PyTuple_Size(left));
    if (PyTuple_Size(villages) != core->board->villages) {
        PyErr_SetString(PyExc_ValueError, "expected a board that stays as it was");
        return -1;
    }
    if (read_spaces(core, PyTuple_GetItem(setup, 1)) < 0) return -1;
    if (read_provinces(core, PyTuple_GetItem(setup, 2)) < 0) return -1;
    for (int v = 0; v < core->board->villages; v++) core->villages[v] = (int8_t)int_at(villages, v);
    for (int seat = 0; seat < core->players; seat++) {
        core->left[seat] = int_at(left, seat);
        if (read_hand(core, seat, PyTuple_GetItem(hands, seat)) < 0) return -1;
    }
    if (set_deck(state, read_tiles(PyTuple_GetItem(setup, 6))) < 0) return -1;
    core->mover = int_at(setup, 7);
    for (int tile = 0; tile < TILES; tile++) {
        core->placed[tile] = int_at(PyTuple_GetItem(setup, 8), tile);
        core->turns += core->placed[tile];
    }
    for (int seat = 0; seat < core->players; seat++)
        core->retired[seat] = PyTuple_GetItem(retired, seat) == Py_True;
    core->end = end_of(PyTuple_GetItem(setup, 10));
    if (core->end == GOES_ON) end_if_stuck(core, core->board->words);
    return 0;
}

/* State.set_up(...), a state in the middle of a game. */
static PyObject *state_set_up(PyObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords)
{
    PyObject *setup = PyObject_Call(checked_setup, arguments, keywords);
    if (!setup) return NULL;
    PyObject *board = PyTuple_GetItem(setup, 0);
    State *state = new_state(board, geometry_of(board));
    if (state && lay_out(state, setup) < 0) Py_CLEAR(state);
    Py_DECREF(setup);
    return (PyObject *)state;
}

/* An independent state in the same position. */
static PyObject *state_copy(PyObject *self, PyObject *Py_UNUSED(unused))
{
    State *state = (State *)self;
    State *twin = new_state(state->board, Py_NewRef(state->geometry));
    if (!twin) return NULL;
    Py_XINCREF(state->deck);
    twin->deck = state->deck;
    copy_core(&twin->core, &state->core, state->core.board->words);
    return (PyObject *)twin;
}

/* The call that makes a state like this one, for copy.deepcopy and pickle. */
static PyObject *state_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *set_up = PyObject_GetAttrString((PyObject *)state_type, "set_up");
    PyObject *parts = set_up ? PyObject_CallFunction(parts_of, "(O)", self) : NULL;
    PyObject *call = parts ? PyTuple_Pack(2, set_up, parts) : NULL;
    Py_XDECREF(set_up);
    Py_XDECREF(parts);
    return call;
}

/* Compares two states; only == and != are known. */
static PyObject *state_compare(PyObject *self, PyObject *other, int operation)
{
    int is_comparable = Py_TYPE(other) == state_type && (operation == Py_EQ || operation == Py_NE);
    if (!is_comparable) return Py_NewRef(Py_NotImplemented);
    PyObject *answer = PyObject_CallFunction(is_same_position, "OO", self, other);
    int is_same = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (is_same < 0) return NULL;
    return PyBool_FromLong(is_same == (operation == Py_EQ));
}

/* ---------------------------------------------------------------- what can be seen */

/* The board. */
static PyObject *get_board(PyObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(((State *)self)->board);
}

/* The number of seats. */
static PyObject *get_players(PyObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(core_of(self)->players);
}

/* The pagodas that each seat still holds. */
static PyObject *get_left(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    return int_list(core->left, core->players);
}

/* The seat to move. */
static PyObject *get_mover(PyObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(core_of(self)->mover);
}

/* The number of placements so far. */
static PyObject *get_turns(PyObject *self, void *Py_UNUSED(unused))
{
    return PyLong_FromLong(core_of(self)->turns);
}

/* None, or why the game is over. */
static PyObject *get_end(PyObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(end_texts[core_of(self)->end]);
}

/* The number of tiles in the draw pile. */
static PyObject *get_pile(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    return PyLong_FromLong(core->deck_size - core->drawn);
}

/* The mask of free grassland. */
static PyObject *get_free(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    return mask_object(free_of(core, core->board->words), core->board->words);
}

/* The tiles of each seat. */
static PyObject *get_hands(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    PyObject *list = PyList_New(core->players);
    for (int seat = 0; list && seat < core->players; seat++)
        put(&list, seat, hand_tuple(core->hands[seat]));
    return list;
}

/* The owner of each village. */
static PyObject *get_villages(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    PyObject *list = PyList_New(core->board->villages);
    for (int v = 0; list && v < core->board->villages; v++)
        put(&list, v, PyLong_FromLong(core->villages[v]));
    return list;
}

/* Whether each seat never moves again. */
static PyObject *get_retired(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    PyObject *list = PyList_New(core->players);
    for (int seat = 0; list && seat < core->players; seat++)
        put(&list, seat, PyBool_FromLong(core->retired[seat]));
    return list;
}

/* The tiles of the draw pile, in the order in which they will be drawn. */
static PyObject *state_pile_tiles(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    PyObject *tuple = PyTuple_New(core->deck_size - core->drawn);
    for (int i = core->drawn; tuple && i < core->deck_size; i++)
        put_in_tuple(&tuple, i - core->drawn, PyLong_FromLong(core->deck[i]));
    return tuple;
}

/* The mask of the province spaces of one colour. */
static PyObject *state_spaces(PyObject *self, PyObject *number)
{
    const Core *core = core_of(self);
    const int words = core->board->words;
    long colour;
    if (read_number(number, &colour) < 0) return NULL;
    if (colour >= 0 && colour < COLOURS)
        return mask_object(cells_of(core, (int)colour, words), words);
    return PyErr_Format(PyExc_IndexError, "expected a colour from 0 to %d, got %S", COLOURS - 1,
                        number);
}

/* A province by its colour and its number among those of that colour; colour -1 for none. */
typedef struct {
    short colour, number;
} Place;

/* Finds the province that begins on each square. */
static void find_provinces(const Core *core, Place *by_square)
{
    const int words = core->board->words;
    for (int square = 0; square < 64 * words; square++) by_square[square] = (Place){-1, -1};
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++) {
            int first = first_square(mask_of(core, colour, p, words), words);
            if (first >= 0) by_square[first] = (Place){(short)colour, (short)p};
        }
}

/* All provinces, in the reading order of their first squares. */
static PyObject *state_provinces(PyObject *self, PyObject *Py_UNUSED(unused))
{
    State *state = (State *)self;
    Place by_square[64 * MAX_WORDS];
    find_provinces(&state->core, by_square);
    PyObject *list = PyList_New(0);
    for (int square = 0; list && square < state->core.board->squares; square++) {
        Place place = by_square[square];
        if (place.colour < 0) continue;
        PyObject *entry = province_entry(state, place.colour, place.number);
        if (!entry || PyList_Append(list, entry) < 0) Py_CLEAR(list);
        Py_XDECREF(entry);
    }
    return list;
}

/* The pagodas of a seat that stand on the board. */
static PyObject *state_placed(PyObject *self, PyObject *number)
{
    const Core *core = core_of(self);
    int seat = read_seat(core, number);
    if (seat < 0) return NULL;
    int placed = 0;
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++)
            if (info_of(core, colour, p)->owner == seat)
                placed += info_of(core, colour, p)->pagodas;
    for (int v = 0; v < core->board->villages; v++) placed += core->villages[v] == seat;
    return PyLong_FromLong(placed);
}

/* How many of each tile have been placed. */
static PyObject *state_tiles_placed(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return int_list(core_of(self)->placed, TILES);
}

/* The rank of each seat by pagodas left. */
static PyObject *state_ranks(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    int ranks[MAX_PLAYERS];
    for (int seat = 0; seat < core->players; seat++) {
        ranks[seat] = 1;
        for (int other = 0; other < core->players; other++)
            ranks[seat] += core->left[other] < core->left[seat];
    }
    return int_list(ranks, core->players);
}

/* ---------------------------------------------------------------- which moves there are (R4) */

/* Finds the menu of the mover, which is empty once the game has ended. */
static void mover_menu(const Core *core, Menu *menu)
{
    static const int nothing[TILES + 1];
    const int *tiles = core->end == GOES_ON ? core->hands[core->mover] : nothing;
    core->board->calls->make_menu(core, tiles, menu);
}

/* Every legal placement of the mover. */
static PyObject *state_legal_moves(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Menu menu;
    mover_menu(core_of(self), &menu);
    return menu_list(&menu, core_of(self)->board->words);
}

/* Counts each tile of an iterable once. */
static int read_held(PyObject *tiles, int *held)
{
    PyObject *iterator = PyObject_GetIter(tiles);
    if (!iterator) return -1;
    for (PyObject *item = PyIter_Next(iterator); item; item = PyIter_Next(iterator)) {
        int tile = read_tile(item);
        Py_DECREF(item);
        if (tile < 0) break;
        held[tile] = 1;
    }
    Py_DECREF(iterator);
    return PyErr_Occurred() ? -1 : 0;
}

/* Every legal placement of the given tiles. */
static PyObject *state_placements(PyObject *self, PyObject *tiles)
{
    const Core *core = core_of(self);
    Menu menu;
    int held[TILES + 1] = {0};
    if (read_held(tiles, held) < 0) return NULL;
    core->board->calls->make_menu(core, held, &menu);
    return menu_list(&menu, core->board->words);
}

/* The number of legal placements that the mover has. */
static PyObject *state_legal_count(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Menu menu;
    mover_menu(core_of(self), &menu);
    return PyLong_FromLong(menu.total);
}

/* The legal placement with a number. */
static PyObject *state_nth(PyObject *self, PyObject *number)
{
    Menu menu;
    long nth;
    if (read_number(number, &nth) < 0) return NULL;
    mover_menu(core_of(self), &menu);
    if (nth >= 0 && nth < menu.total) return PyLong_FromLong(nth_of(&menu, (int)nth));
    PyErr_SetString(PyExc_IndexError, "no legal move has that index");
    return NULL;
}

/* Whether a seat can place a tile of its hand. */
static PyObject *state_can_move(PyObject *self, PyObject *number)
{
    const Core *core = core_of(self);
    int seat = read_seat(core, number);
    return seat < 0 ? NULL : PyBool_FromLong(core->board->calls->can_move(core, seat));
}

/* Whether the referee passes for the mover. */
static PyObject *state_must_pass(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const Core *core = core_of(self);
    return PyBool_FromLong(core->retired[core->mover]
                           || !core->board->calls->can_move(core, core->mover));
}

/* Whether the mover may play a placement; kind -1 is no placement. */
static int is_legal_move(const Core *core, int kind, int square)
{
    return kind >= 0 && core->board->calls->is_legal(core, kind, square);
}

/* Whether the mover may play a placement. */
static PyObject *state_is_legal(PyObject *self, PyObject *number)
{
    int kind, square;
    if (read_move(number, &kind, &square) < 0) return NULL;
    return PyBool_FromLong(is_legal_move(core_of(self), kind, square));
}

/* Why the mover may not play the move; an empty text when it may. */
static PyObject *state_why_illegal(PyObject *self, PyObject *number)
{
    return PyObject_CallFunction(illegal_text, "OO", self, number);
}

/* ---------------------------------------------------------------- what a move does (R5 to R8) */

/* Passes for a mover who can place nothing; raises IllegalMoveError for one who can. */
static PyObject *pass_or_raise(PyObject *self, PyObject *move)
{
    Core *core = core_of(self);
    PyObject *reason = state_why_illegal(self, move);
    int is_pass = reason && PyObject_IsTrue(reason) == 0;
    if (reason && !is_pass) PyErr_SetObject(illegal_move_error, reason);
    Py_XDECREF(reason);
    if (!is_pass) return NULL;
    /* After hands were set, it may be that nobody can place a tile. */
    core->board->calls->end_if_stuck(core);
    if (core->end == GOES_ON) next_mover(core);
    Py_RETURN_NONE;
}

/* Appends events to a list. */
static int append_events(PyObject *list, const Events *events)
{
    for (int e = 0; e < events->count; e++) {
        PyObject *event = event_object(&events->event[e]);
        int status = event ? PyList_Append(list, event) : -1;
        Py_XDECREF(event);
        if (status < 0) return -1;
    }
    return 0;
}

/* Plays the mover's placement or PASS; appends what happened to a list, if one is given. */
static PyObject *state_play(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"move", "events", NULL};
    PyObject *move;
    PyObject *list = Py_None;
    int kind, square;
    Core *core = core_of(self);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O", names, &move, &list)) return NULL;
    if (list != Py_None && !PyList_Check(list))
        return PyErr_Format(PyExc_TypeError, "expected a list for the events, got %R", list);
    if (read_move(move, &kind, &square) < 0) return NULL;
    if (!is_legal_move(core, kind, square)) return pass_or_raise(self, move);
    Events events;
    events.count = 0;
    core->board->calls->play(core, kind, square, list == Py_None ? NULL : &events);
    if (append_events(list, &events) < 0) return NULL;
    Py_RETURN_NONE;
}

/* Sets what a seat holds. */
static PyObject *state_set_hand(PyObject *self, PyObject *arguments)
{
    PyObject *number, *tiles;
    if (!PyArg_ParseTuple(arguments, "OO", &number, &tiles)) return NULL;
    int seat = read_seat(core_of(self), number);
    if (seat < 0 || read_hand(core_of(self), seat, tiles) < 0) return NULL;
    Py_RETURN_NONE;
}

/* Sets what the draw pile is. */
static PyObject *state_set_pile(PyObject *self, PyObject *tiles)
{
    if (set_deck((State *)self, read_tiles(tiles)) < 0) return NULL;
    core_of(self)->drawn = 0;
    Py_RETURN_NONE;
}

/* Takes a seat out of the game. */
static PyObject *state_retire(PyObject *self, PyObject *number)
{
    Core *core = core_of(self);
    int seat = read_seat(core, number);
    if (seat < 0) return NULL;
    core->retired[seat] = 1;
    if (core->end == GOES_ON) core->board->calls->end_if_stuck(core);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- playouts */

/* The mover's gain by a legal move less what the others gain. */
static PyObject *state_net_gain(PyObject *self, PyObject *number)
{
    int kind, square;
    Core *core = core_of(self);
    Core scratch;
    if (read_move(number, &kind, &square) < 0) return NULL;
    if (!is_legal_move(core, kind, square)) {
        PyErr_SetString(PyExc_ValueError, "expected a legal move");
        return NULL;
    }
    if (allocate(&scratch, core->board) < 0) return NULL;
    int net = core->board->calls->net_gain(core, &scratch, kind, square);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(net);
}

/* How well a seat stands. */
static PyObject *state_outlook(PyObject *self, PyObject *number)
{
    const Core *core = core_of(self);
    int seat = read_seat(core, number);
    return seat < 0 ? NULL : PyLong_FromLong(core->board->calls->outlook(core, seat));
}

/* The mover's outlook after each of its legal moves. */
static PyObject *state_outlooks(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Core *core = core_of(self);
    Core scratch;
    Menu menu;
    if (allocate(&scratch, core->board) < 0) return NULL;
    mover_menu(core, &menu);
    PyObject *list = PyList_New(menu.total);
    int now = core->board->calls->outlook(core, core->mover);
    for (int m = 0; list && m < menu.total; m++) {
        int move = nth_of(&menu, m);
        int kind = move >> KIND_SHIFT;
        int square = move & SQUARE_MASK;
        int worth = core->board->calls->outlook_after(core, &scratch, kind, square, now);
        put(&list, m, PyLong_FromLong(worth));
    }
    PyMem_Free(scratch.block);
    return list;
}

/* The mover's move by a policy. */
static PyObject *state_choice(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "policy", "among", NULL};
    unsigned long long seed;
    PyObject *name = NULL;
    PyObject *among = NULL;
    Policy policy;
    Core *core = core_of(self);
    Core scratch;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|OO", names, &seed, &name, &among))
        return NULL;
    if (read_policy(name, among, NULL, &policy) < 0) return NULL;
    if (allocate(&scratch, core->board) < 0) return NULL;
    uint64_t rng = seed;
    int move = core->board->calls->chosen_by(core, &scratch, &rng, &policy);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(move);
}

/* Plays to the end by a policy; returns how many tiles were placed. */
static PyObject *state_playout(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "policy", "among", "turns", NULL};
    unsigned long long seed;
    PyObject *name = NULL;
    PyObject *among = NULL;
    PyObject *turns = NULL;
    Policy policy;
    Core *core = core_of(self);
    Core scratch;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|OOO", names, &seed, &name, &among,
                                     &turns))
        return NULL;
    if (read_policy(name, among, turns, &policy) < 0) return NULL;
    if (!knows_all(core)) {
        PyErr_SetString(PyExc_ValueError, "expected all tiles to be known, got a state with "
                                          "unknown ones: use rollouts");
        return NULL;
    }
    if (allocate(&scratch, core->board) < 0) return NULL;
    uint64_t rng = seed;
    int placed = core->board->calls->playout(core, &scratch, &rng, &policy);
    /* If the policy's turns are over, the game may be over too. */
    if (core->end == GOES_ON) core->board->calls->end_if_stuck(core);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(placed);
}

/* Reads a move to try; it has to be legal where the rollouts begin. */
static int read_candidate(State *state, const Core *base, PyObject *move)
{
    int kind, square;
    if (read_move(move, &kind, &square) < 0) return -1;
    if (is_legal_move(base, kind, square)) return move_from(kind, square);
    PyObject *reason = state_why_illegal((PyObject *)state, move);
    if (reason) PyErr_SetObject(illegal_move_error, reason);
    Py_XDECREF(reason);
    return -1;
}

/* Reads the moves to try, all legal ones by default. */
static int read_candidates(State *state, PyObject *chosen, Rollouts *run)
{
    PyObject *list =
        chosen == Py_None ? state_legal_moves((PyObject *)state, NULL) : PySequence_List(chosen);
    if (!list) return -1;
    Py_ssize_t size = PyList_Size(list);
    run->moves = size < INT_MAX ? PyMem_Malloc(((size_t)size + 1) * sizeof(int)) : NULL;
    if (!run->moves) PyErr_NoMemory();
    while (run->moves && run->count < size) {
        int move = read_candidate(state, &run->base, PyList_GetItem(list, run->count));
        if (move < 0) break;
        run->moves[run->count++] = move;
    }
    Py_DECREF(list);
    return run->moves && run->count == size ? 0 : -1;
}

/* Allocates the sums over all games, for each move. */
static int allocate_results(Rollouts *run)
{
    size_t count = (size_t)run->count + 1;
    run->twelfths = PyMem_Calloc(count, sizeof(int64_t));
    run->left = PyMem_Calloc(count, sizeof(int64_t));
    run->outlooks = PyMem_Calloc(count, sizeof(int64_t));
    if (run->twelfths && run->left && run->outlooks) return 0;
    PyErr_NoMemory();
    return -1;
}

/* Allocates the states that rollouts need. */
static int allocate_states(Rollouts *run, const Geometry *board)
{
    if (allocate(&run->base, board) < 0) return -1;
    if (allocate(&run->dealt, board) < 0) return -1;
    if (allocate(&run->work, board) < 0) return -1;
    return allocate(&run->scratch, board);
}

/* Frees all that rollouts have allocated. */
static void free_rollouts(Rollouts *run)
{
    PyMem_Free(run->moves);
    PyMem_Free(run->twelfths);
    PyMem_Free(run->left);
    PyMem_Free(run->outlooks);
    PyMem_Free(run->base.block);
    PyMem_Free(run->dealt.block);
    PyMem_Free(run->work.block);
    PyMem_Free(run->scratch.block);
}

/* The results as lists: moves, wins, pagodas left and outlooks. */
static PyObject *rollout_lists(const Rollouts *run)
{
    PyObject *moves = int_list(run->moves, run->count);
    PyObject *wins = PyList_New(run->count);
    PyObject *left = sum_list(run->left, run->count);
    PyObject *outlooks = sum_list(run->outlooks, run->count);
    PyObject *result = NULL;
    for (int m = 0; wins && m < run->count; m++)
        put(&wins, m, PyFloat_FromDouble((double)run->twelfths[m] / TWELFTHS));
    if (moves && wins && left && outlooks) result = PyTuple_Pack(4, moves, wins, left, outlooks);
    Py_XDECREF(moves);
    Py_XDECREF(wins);
    Py_XDECREF(left);
    Py_XDECREF(outlooks);
    return result;
}

/* Rollouts from the position as it is when the call begins: the call may run Python while it reads
 * the moves, and lets other threads run while it plays, and either may change the state. */
static PyObject *rollouts_from_here(State *state, Rollouts *run, PyObject *chosen)
{
    const Geometry *board = state->core.board;
    if (allocate_states(run, board) < 0) return NULL;
    copy_core(&run->base, &state->core, board->words);
    if (!count_hidden(&run->base, run->seat, run->pool))
        return PyErr_Format(PyExc_ValueError,
                            "expected a state in which seat %d knows its hand and what it cannot "
                            "see follows from the rest",
                            run->seat);
    if (read_candidates(state, chosen, run) < 0 || allocate_results(run) < 0) return NULL;
    int is_done = 0;
    while (!is_done) {
        Py_BEGIN_ALLOW_THREADS
        is_done = board->calls->roll_out(run);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) return NULL;
    }
    return rollout_lists(run);
}

/* Plays each move to the end on deals resampled. */
static PyObject *state_rollouts(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seat", "times", "seed", "policy", "moves", "among", "turns", NULL};
    unsigned long long seed;
    long seat;
    PyObject *number, *times;
    PyObject *name = NULL;
    PyObject *chosen = Py_None;
    PyObject *among = NULL;
    PyObject *turns = NULL;
    Rollouts run;
    memset(&run, 0, sizeof run);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOK|OOOO", names, &number, &times, &seed,
                                     &name, &chosen, &among, &turns))
        return NULL;
    if (read_policy(name, among, turns, &run.policy) < 0) return NULL;
    if (read_number(number, &seat) < 0 || read_number(times, &run.times) < 0) return NULL;
    if (run.times < 1 || run.times > MAX_GIVEN)
        return PyErr_Format(PyExc_ValueError, "expected 1 to %d games for each move, got %S",
                            MAX_GIVEN, times);
    const Core *core = core_of(self);
    if (seat != core->mover || core->end != GOES_ON)
        return PyErr_Format(PyExc_ValueError, "expected the seat that is to move, got %S", number);
    run.stream = seed;
    run.seat = core->mover;
    PyObject *deck = Py_NewRef(((State *)self)->deck); /* the copies of the state share it */
    PyObject *result = rollouts_from_here((State *)self, &run, chosen);
    Py_DECREF(deck);
    free_rollouts(&run);
    return result;
}

/* ---------------------------------------------------------------- the class */

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"set_up", KEYWORDS(state_set_up) | METH_CLASS, "A state in the middle of a game."},
    {"copy", state_copy, METH_NOARGS, "An independent state in the same position."},
    {"__reduce__", state_reduce, METH_NOARGS, "How pickle makes an equal state."},
    {"pile_tiles", state_pile_tiles, METH_NOARGS,
     "The tiles of the draw pile in the order in which they will be drawn."},
    {"spaces", state_spaces, METH_O,
     "Mask of the province spaces of one colour, starts and single spaces included."},
    {"provinces", state_provinces, METH_NOARGS,
     "All provinces as (colour, province), in the reading order of their first squares."},
    {"placed", state_placed, METH_O, "Pagodas of a seat that stand on the board."},
    {"tiles_placed", state_tiles_placed, METH_NOARGS, "How many of each tile have been placed."},
    {"ranks", state_ranks, METH_NOARGS,
     "The rank of each seat by pagodas left, fewest first; equal is equal (R8.2)."},
    {"legal_moves", state_legal_moves, METH_NOARGS,
     "Every legal placement of the mover, in ascending order."},
    {"placements", state_placements, METH_O,
     "Every legal placement of the given tiles on this board, whoever holds them."},
    {"legal_count", state_legal_count, METH_NOARGS, "How many legal placements the mover has."},
    {"nth", state_nth, METH_O, "legal_moves()[index], without making the list."},
    {"can_move", state_can_move, METH_O, "Whether the seat can place a tile of its hand."},
    {"must_pass", state_must_pass, METH_NOARGS, "Whether the referee passes for the mover (R3.2)."},
    {"is_legal", state_is_legal, METH_O, "Whether the mover may play this placement."},
    {"why_illegal", state_why_illegal, METH_O,
     "Why the mover may not play the move, with the rule's number; empty when it may."},
    {"play", KEYWORDS(state_play), "Plays the mover's placement or PASS."},
    {"set_hand", state_set_hand, METH_VARARGS,
     "Says what a seat holds, for who sees only that hand."},
    {"set_pile", state_set_pile, METH_O,
     "Says what the draw pile is, in the order in which it will be drawn."},
    {"net_gain", state_net_gain, METH_O,
     "Pagodas that the mover would place with a legal move, less those the others would."},
    {"retire", state_retire, METH_O, "The seat never moves again (R3.2, R8.1)."},
    {"outlook", state_outlook, METH_O,
     "How well a seat stands, in hundredths of a pagoda times the other seats."},
    {"outlooks", state_outlooks, METH_NOARGS,
     "The mover's outlook after each of its legal moves, before it draws."},
    {"choice", KEYWORDS(state_choice), "The mover's move by a policy; PASS when it has none."},
    {"playout", KEYWORDS(state_playout), "Plays to the end by a policy."},
    {"rollouts", KEYWORDS(state_rollouts), "Plays each move to the end on deals resampled."},
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
    {Py_tp_richcompare, state_compare},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {0, NULL},
};

static PyType_Spec spec = {"arena.rules.native.State", sizeof(State), 0, Py_TPFLAGS_DEFAULT, slots};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_core", .m_size = -1,
                             .m_doc = "The rules of Qin in C: see arena.rules.pure."};

/* An attribute of one of the project's own modules. */
static PyObject *from_module(const char *name, const char *attribute)
{
    PyObject *source = PyImport_ImportModule(name);
    PyObject *value = source ? PyObject_GetAttrString(source, attribute) : NULL;
    Py_XDECREF(source);
    return value;
}

/* Looks up the functions and types of the project's own modules. */
static int look_up_objects(void)
{
    province_type = from_module("arena.rules.terms", "OwnedProvince");
    if (!province_type) return -1;
    event_type = from_module("arena.rules.terms", "Event");
    if (!event_type) return -1;
    illegal_move_error = from_module("arena.errors", "IllegalMoveError");
    if (!illegal_move_error) return -1;
    illegal_text = from_module("arena.rules.explain", "illegal_text");
    if (!illegal_text) return -1;
    checked_setup = from_module("arena.rules.setup", "checked_setup");
    if (!checked_setup) return -1;
    parts_of = from_module("arena.rules.setup", "parts_of");
    if (!parts_of) return -1;
    is_same_position = from_module("arena.rules.setup", "is_same_position");
    return is_same_position ? 0 : -1;
}

/* Looks up the texts for ends of games and makes those for events. */
static int look_up_texts(void)
{
    static const char *const names[] = {"found", "expand", "absorb", "major", "connect", "conquer"};
    static const char *const ends[] = {NULL, "LAST_PAGODA", "NO_TILES", "NO_SPACE"};
    empty_tuple = PyTuple_New(0);
    if (!empty_tuple) return -1;
    end_texts[GOES_ON] = Py_NewRef(Py_None);
    for (int end = LAST_PAGODA; end <= NO_SPACE; end++) {
        end_texts[end] = from_module("arena.rules.terms", ends[end]);
        if (!end_texts[end]) return -1;
    }
    for (int name = FOUND; name <= CONQUER; name++) {
        event_names[name] = PyUnicode_FromString(names[name]);
        if (!event_names[name]) return -1;
    }
    return 0;
}

/* Makes the module. */
PyMODINIT_FUNC PyInit__core(void)
{
    if (look_up_objects() < 0 || look_up_texts() < 0) return NULL;
    state_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (!state_type) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "State", (PyObject *)state_type) < 0) Py_CLEAR(made);
    return made;
}
