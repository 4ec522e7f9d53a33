/* The class State of the native core: Python's way to the rules of rules.h and playouts.h, with the
 * methods and the errors of arena.rules.pure.State.
 *
 * It keeps to the limited API, so that one wheel serves all versions of Python.
 */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#define WORDS (core->board->words)
#define ROOM MAX_WORDS
#include "rules.h"
#include "playouts.h"

enum { SMALL_BOARD = 3 }; /* the words of small.c */
enum { MOST = 1000000 };

static const Calls any_board = CALLS;
extern const Calls small_board;

static const int PAGODAS[MAX_PLAYERS + 1] = {0, 0, 24, 19, 15};

typedef struct {
    PyObject_HEAD PyObject *board, *geometry, *deck;
    Core core;
} State;

#define CORE(self) (&((State *)(self))->core)

/* Names from the project's own modules, looked up once. */
static PyTypeObject *state_type;
static PyObject *province_type, *event_type, *illegal_move_error, *illegal_text, *checked_setup;
static PyObject *parts_of, *is_same_position;
static PyObject *empty_tuple, *end_texts[NO_SPACE + 1], *event_names[CONQUER + 1];

/* ---------------------------------------------------------------- from Python to C
 *
 * What reads a value returns 0, or -1 where 0 is a value, with an exception set on failure. */

/* Reads an int; one that does not fit becomes the largest or smallest that does. */
static int read_number(PyObject *object, long *number)
{
    int overflow;
    *number = PyLong_AsLongAndOverflow(object, &overflow);
    if (overflow) *number = overflow > 0 ? LONG_MAX : LONG_MIN;
    return overflow || *number != -1 || !PyErr_Occurred();
}

/* Reads a Python int as a mask; bits beyond the last word are left out. */
static int read_mask(PyObject *object, uint64_t *mask, int words)
{
    PyObject *number = PyNumber_Index(object); /* a plain int, whose methods are its own */
    PyObject *one = PyLong_FromLong(1), *size = PyLong_FromLong(64L * words);
    PyObject *top = one && size ? PyNumber_Lshift(one, size) : NULL;
    PyObject *ones = top ? PyNumber_Subtract(top, one) : NULL;
    PyObject *cut = number && ones ? PyNumber_And(number, ones) : NULL;
    PyObject *bytes = cut ? PyObject_CallMethod(cut, "to_bytes", "is", 8 * words, "little") : NULL;
    const unsigned char *data = bytes ? (unsigned char *)PyBytes_AsString(bytes) : NULL;
    if (data) memset(mask, 0, (size_t)words * sizeof(uint64_t));
    for (int i = 0; data && i < 8 * words; i++) mask[i >> 3] |= (uint64_t)data[i] << 8 * (i & 7);
    Py_XDECREF(number), Py_XDECREF(one), Py_XDECREF(size), Py_XDECREF(top);
    Py_XDECREF(ones), Py_XDECREF(cut), Py_XDECREF(bytes);
    return data != NULL;
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

/* Reads a sequence of masks into a new array, which the caller frees; NULL on failure. */
static uint64_t *read_masks(PyObject *object, const char *name, int words, int *count)
{
    PyObject *value = PyObject_GetAttrString(object, name);
    uint64_t *masks = NULL;
    Py_ssize_t size = value ? PySequence_Size(value) : -1;
    if (size > MAX_SQUARES)
        PyErr_Format(PyExc_ValueError, "expected at most %d masks of %s, got %zd", MAX_SQUARES,
                     name, size);
    else if (size >= 0 && !(masks = PyMem_Malloc(((size_t)size * words + 1) * sizeof(uint64_t))))
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; masks && i < size; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        if (!item || !read_mask(item, masks + i * words, words)) PyMem_Free(masks), masks = NULL;
        Py_XDECREF(item);
    }
    Py_XDECREF(value);
    *count = (int)size;
    return masks;
}

static int read_tile(PyObject *object)
{
    long tile;
    if (!read_number(object, &tile)) return -1;
    if (tile >= 0 && tile <= UNKNOWN) return (int)tile;
    PyErr_Format(PyExc_ValueError, "expected tiles from 0 to %d, got %S", UNKNOWN, object);
    return -1;
}

/* Reads the tiles of any iterable into a new bytes object, one byte a tile. */
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

static int read_players(PyObject *number)
{
    long players;
    if (!read_number(number, &players)) return 0;
    if (players >= 2 && players <= MAX_PLAYERS) return (int)players;
    PyErr_Format(PyExc_ValueError, "expected 2 to %d players, got %S", MAX_PLAYERS, number);
    return 0;
}

static int read_seat(const Core *core, PyObject *number)
{
    long seat;
    if (!read_number(number, &seat)) return -1;
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
    if (move == -1 && !overflow && PyErr_Occurred()) return 0;
    *kind = (int)(move >> KIND_SHIFT);
    if (overflow || move < 0 || move >> KIND_SHIFT >= KINDS) *kind = -1;
    *square = (int)(move & SQUARE_MASK);
    return 1;
}

/* Reads a policy; without a name it is the uniform one. */
static int read_policy(PyObject *name, PyObject *among, PyObject *turns, Policy *policy)
{
    static const char *const names[POLICIES] = {"uniform", "greedy", "careful"};
    *policy = (Policy){name ? POLICIES : UNIFORM, 0, 0};
    for (int i = 0; name && PyUnicode_Check(name) && i < POLICIES; i++)
        if (!PyUnicode_CompareWithASCIIString(name, names[i])) policy->name = i;
    if (policy->name == POLICIES) {
        PyErr_Format(PyExc_ValueError, "expected the policy uniform, greedy or careful, got %S",
                     name);
        return 0;
    }
    if (among && !read_number(among, &policy->among)) return 0;
    if (turns && !read_number(turns, &policy->turns)) return 0;
    if (policy->among >= 0 && policy->among <= MOST && policy->turns >= 0 && policy->turns <= MOST)
        return 1;
    PyErr_Format(PyExc_ValueError,
                 "expected 0 to %d moves to look at and turns to play, got %ld and %ld", MOST,
                 policy->among, policy->turns);
    return 0;
}

/* ---------------------------------------------------------------- from C to Python */

/* Puts a new item into a new list; when either could not be made, the list becomes NULL. */
static void put(PyObject **list, Py_ssize_t index, PyObject *item)
{
    if (!*list) Py_XDECREF(item);
    else if (!item || PyList_SetItem(*list, index, item) < 0) Py_CLEAR(*list);
}

/* The same for a tuple. */
static void put_in_tuple(PyObject **tuple, Py_ssize_t index, PyObject *item)
{
    if (!*tuple) Py_XDECREF(item);
    else if (!item || PyTuple_SetItem(*tuple, index, item) < 0) Py_CLEAR(*tuple);
}

static PyObject *int_list(const int *numbers, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) put(&list, i, PyLong_FromLong(numbers[i]));
    return list;
}

static PyObject *sum_list(const int64_t *sums, int count)
{
    PyObject *list = PyList_New(count);
    for (int i = 0; list && i < count; i++) put(&list, i, PyLong_FromLongLong(sums[i]));
    return list;
}

static PyObject *hand_tuple(const int *hand)
{
    Py_ssize_t count = 0, next = 0;
    for (int tile = 0; tile <= UNKNOWN; tile++) count += hand[tile];
    PyObject *tuple = PyTuple_New(count);
    for (int tile = 0; tile <= UNKNOWN; tile++)
        for (int i = 0; tuple && i < hand[tile]; i++)
            put_in_tuple(&tuple, next++, PyLong_FromLong(tile));
    return tuple;
}

static PyObject *mask_object(const uint64_t *mask, int words)
{
    unsigned char data[8 * MAX_WORDS];
    for (int i = 0; i < 8 * words; i++) data[i] = (unsigned char)(mask[i >> 3] >> 8 * (i & 7));
    /* no format with a length: what it needs differs between the versions of Python */
    PyObject *bytes = PyBytes_FromStringAndSize((char *)data, 8 * words), *number = NULL;
    if (bytes)
        number = PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "Os", bytes, "little");
    Py_XDECREF(bytes);
    return number;
}

static PyObject *menu_list(const Menu *menu, int words)
{
    PyObject *list = PyList_New(menu->total);
    Py_ssize_t next = 0;
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; menu->count[kind] && i < words; i++)
            for (uint64_t rest = menu->places[kind][i]; list && rest; rest &= rest - 1)
                put(&list, next++, PyLong_FromLong(kind << KIND_SHIFT | (64 * i + lowest(rest))));
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

/* (colour, OwnedProvince), the halo made by the board so that it is the same int as the pure
 * core's. */
static PyObject *province_entry(State *state, int colour, int index)
{
    const Core *core = &state->core;
    const Info info = *info_of(core, colour, index); /* as it is now: what follows runs Python */
    PyObject *entry = NULL, *province = NULL;
    PyObject *mask = mask_object(mask_of(core, colour, index), core->board->words);
    PyObject *halo = mask ? PyObject_CallMethod(state->board, "around", "O", mask) : NULL;
    if (halo)
        province = named_tuple(province_type, Py_BuildValue("((OOiii))", mask, halo, info.owner,
                                                            info.size, info.pagodas));
    if (province) entry = Py_BuildValue("iO", colour, province);
    Py_XDECREF(mask), Py_XDECREF(halo), Py_XDECREF(province);
    return entry;
}

/* The pagodas that go home, as pairs of seat and number. */
static PyObject *home_tuple(const int *home)
{
    int seats = 0, next = 0;
    for (int seat = 0; seat < MAX_PLAYERS; seat++) seats += home[seat] > 0;
    if (!seats) return Py_NewRef(empty_tuple);
    PyObject *tuple = PyTuple_New(seats);
    for (int seat = 0; tuple && seat < MAX_PLAYERS; seat++)
        if (home[seat] > 0) put_in_tuple(&tuple, next++, Py_BuildValue("ii", seat, home[seat]));
    return tuple;
}

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

static void free_geometry(Geometry *geometry)
{
    PyMem_Free(geometry->near), PyMem_Free(geometry->beside), PyMem_Free(geometry->founding);
    PyMem_Free(geometry->village_square), PyMem_Free(geometry);
}

static void free_capsule(PyObject *capsule)
{
    free_geometry(PyCapsule_GetPointer(capsule, GEOMETRY));
}

static int read_size(Geometry *geometry, PyObject *board)
{
    long stride, height;
    if (!read_int_attribute(board, "stride", &stride)) return 0;
    if (!read_int_attribute(board, "height", &height)) return 0;
    if (stride < 2 || stride > MAX_SIDE + 1 || height < 1 || height > MAX_SIDE) {
        PyErr_SetString(PyExc_ValueError, "expected a board of at most 26 x 26");
        return 0;
    }
    geometry->stride = (int)stride;
    geometry->squares = (int)(height * stride);
    geometry->words = (geometry->squares + 63) / 64;
    if (geometry->words < SMALL_BOARD) geometry->words = SMALL_BOARD;
    geometry->calls = geometry->words == SMALL_BOARD ? &small_board : &any_board;
    geometry->most_provinces = geometry->squares / 2 + 1;
    return 1;
}

static int read_starts(Geometry *geometry, PyObject *board)
{
    PyObject *starts = PyObject_GetAttrString(board, "starts");
    int done = starts != NULL;
    for (int colour = 0; done && colour < COLOURS; colour++) {
        PyObject *start = PySequence_GetItem(starts, colour);
        done = start && read_mask(start, geometry->starts[colour], geometry->words);
        Py_XDECREF(start);
    }
    Py_XDECREF(starts);
    return done;
}

static int read_villages(Geometry *geometry, PyObject *board)
{
    int count, words = geometry->words;
    uint64_t *villages = read_masks(board, "villages", words, &count);
    geometry->village_square = PyMem_Malloc(((size_t)geometry->villages + 1) * sizeof(int));
    if (!villages) return 0;
    if (count != geometry->villages || count > MAX_VILLAGES)
        PyErr_Format(PyExc_ValueError,
                     "expected at most %d villages and what is beside each, got %d and %d",
                     MAX_VILLAGES, count, geometry->villages);
    else if (!geometry->village_square) PyErr_NoMemory();
    else
        for (int v = 0; v < count; v++)
            geometry->village_square[v] = first_square(villages + (size_t)v * words, words);
    PyMem_Free(villages);
    return !PyErr_Occurred();
}

static int make_near(Geometry *geometry)
{
    const int words = geometry->words, stride = geometry->stride;
    const int steps[4] = {-stride, -1, 1, stride};
    geometry->near = PyMem_Calloc((size_t)64 * words * words, sizeof(uint64_t));
    if (!geometry->near) return PyErr_NoMemory(), 0;
    for (int square = 0; square < geometry->squares; square++)
        for (int i = 0; i < 4; i++) {
            int other = square + steps[i];
            if (other >= 0 && other < 64 * words)
                add(geometry->near + (size_t)square * words, other);
        }
    return 1;
}

static int fill_geometry(Geometry *shape, PyObject *board)
{
    return read_size(shape, board) && read_starts(shape, board)
           && read_mask_attribute(board, "grass", shape->grass, shape->words)
           && read_mask_attribute(board, "beside_any", shape->beside_any, shape->words)
           && (shape->beside = read_masks(board, "beside", shape->words, &shape->villages))
           && (shape->founding =
                   read_masks(board, "founding", shape->words, &shape->founding_count))
           && read_villages(shape, board) && make_near(shape);
}

/* The board's geometry as a capsule, made once and kept on the board. */
static PyObject *geometry_of(PyObject *board)
{
    PyObject *capsule = PyObject_GetAttrString(board, "_native");
    if (capsule) return capsule;
    PyErr_Clear();
    Geometry *geometry = PyMem_Calloc(1, sizeof *geometry);
    if (!geometry) return PyErr_NoMemory();
    if (!fill_geometry(geometry, board)
        || !(capsule = PyCapsule_New(geometry, GEOMETRY, free_capsule))) {
        free_geometry(geometry);
        return NULL;
    }
    if (PyObject_SetAttrString(board, "_native", capsule) < 0) Py_CLEAR(capsule);
    return capsule;
}

/* ---------------------------------------------------------------- making states */

/* One allocation holds masks, infos and villages. */
static int allocate(Core *core, const Geometry *board)
{
    size_t provinces = COLOURS * (size_t)board->most_provinces;
    size_t masks = (FIXED_MASKS + 2 * provinces) * board->words;
    size_t size = masks * sizeof(uint64_t) + provinces * sizeof(Info) + (size_t)board->villages;
    *core = (Core){.board = board, .block = PyMem_Malloc(size)};
    if (!core->block) return PyErr_NoMemory(), 0;
    core->info = (Info *)(core->block + masks);
    core->villages = (int8_t *)(core->info + provinces);
    return 1;
}

/* A state without a position. Takes the reference to the geometry, which is NULL with an exception
 * set when there is none. */
static State *new_state(PyObject *board, PyObject *geometry)
{
    const Geometry *shape = geometry ? PyCapsule_GetPointer(geometry, GEOMETRY) : NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(state_type, Py_tp_alloc);
    State *state = shape ? (State *)alloc(state_type, 0) : NULL;
    if (!state) {
        Py_XDECREF(geometry);
        return NULL;
    }
    state->board = Py_NewRef(board);
    state->geometry = geometry;
    if (!allocate(&state->core, shape)) Py_CLEAR(state);
    return state;
}

static void state_dealloc(PyObject *self)
{
    State *state = (State *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyMem_Free(state->core.block);
    Py_XDECREF(state->board), Py_XDECREF(state->geometry), Py_XDECREF(state->deck);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/* Takes the reference to the tiles, which is NULL with an exception set when there are none. */
static int set_deck(State *state, PyObject *bytes)
{
    if (!bytes) return 0;
    Py_XDECREF(state->deck);
    state->deck = bytes;
    state->core.deck = (const uint8_t *)PyBytes_AsString(bytes);
    state->core.deck_size = (int)PyBytes_Size(bytes);
    return 1;
}

/* The beginning of a game without hands: board, pagodas, no province. */
static void begin(Core *core, int players)
{
    const Geometry *board = core->board;
    core->players = players;
    memset(core->block, 0, FIXED_MASKS * WORDS * sizeof(uint64_t));
    for (int i = 0; i < WORDS; i++) {
        for (int colour = 0; colour < COLOURS; colour++) {
            cells_of(core, colour)[i] = board->starts[colour][i];
            spaces_of(core)[i] |= board->starts[colour][i];
        }
        free_of(core)[i] = board->grass[i];
    }
    for (int seat = 0; seat < players; seat++) core->left[seat] = PAGODAS[players];
    memset(core->villages, NOBODY, (size_t)board->villages);
}

static PyObject *state_new(PyTypeObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"board", "players", "deck", NULL};
    PyObject *board, *number, *deck;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOO", names, &board, &number, &deck))
        return NULL;
    int players = read_players(number);
    State *state = players ? new_state(board, geometry_of(board)) : NULL;
    if (state && !set_deck(state, read_tiles(deck))) Py_CLEAR(state);
    if (!state) return NULL;
    Core *core = &state->core;
    begin(core, players);
    for (int seat = 0; seat < players; seat++)
        for (int i = 0; i < HAND && core->drawn < core->deck_size; i++)
            core->hands[seat][core->deck[core->drawn++]]++;
    end_if_stuck(core);
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
static int int_at(PyObject *tuple, Py_ssize_t index)
{
    return (int)PyLong_AsLong(PyTuple_GetItem(tuple, index));
}

/* Reads the spaces of each colour; what is left of the grassland is free. */
static int read_spaces(Core *core, PyObject *masks)
{
    uint64_t *spaces = spaces_of(core), *free = free_of(core);
    memset(spaces, 0, WORDS * sizeof(uint64_t));
    for (int colour = 0; colour < COLOURS; colour++) {
        uint64_t *cells = cells_of(core, colour);
        if (!read_mask(PyTuple_GetItem(masks, colour), cells, WORDS)) return 0;
        for (int i = 0; i < WORDS; i++) spaces[i] |= cells[i];
    }
    for (int i = 0; i < WORDS; i++) free[i] &= ~spaces[i];
    return 1;
}

/* Reads checked provinces: none overlap, so that a tile touches at most eight of a colour. */
static int read_provinces(Core *core, PyObject *provinces)
{
    int stride = core->board->stride;
    for (Py_ssize_t p = 0; p < PyTuple_Size(provinces); p++) {
        PyObject *entry = PyTuple_GetItem(provinces, p);
        uint64_t mask[MAX_WORDS] = {0}, halo[MAX_WORDS] = {0};
        if (!read_mask(PyTuple_GetItem(entry, 1), mask, WORDS)) return 0;
        for (int i = 0; i < WORDS; i++)
            halo[i] = moved_on(mask, i, 1) | moved_back(mask, i, 1, WORDS)
                      | moved_on(mask, i, stride) | moved_back(mask, i, stride, WORDS);
        Info info = {.owner = (int16_t)int_at(entry, 2),
                     .size = (int16_t)size_of(mask, WORDS),
                     .pagodas = (int16_t)int_at(entry, 3)};
        enter(core, int_at(entry, 0), mask, halo, info);
    }
    return 1;
}

/* Which end of a game a checked text names; GOES_ON for None. */
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
    PyObject *villages = PyTuple_GetItem(setup, 3), *left = PyTuple_GetItem(setup, 4);
    begin(core, (int)PyTuple_Size(left));
    if (PyTuple_Size(villages) != core->board->villages) {
        PyErr_SetString(PyExc_ValueError, "expected a board that stays as it was");
        return 0;
    }
    if (!read_spaces(core, PyTuple_GetItem(setup, 1))) return 0;
    if (!read_provinces(core, PyTuple_GetItem(setup, 2))) return 0;
    for (int v = 0; v < core->board->villages; v++) core->villages[v] = (int8_t)int_at(villages, v);
    for (int seat = 0; seat < core->players; seat++) {
        core->left[seat] = int_at(left, seat);
        if (!read_hand(core, seat, PyTuple_GetItem(PyTuple_GetItem(setup, 5), seat))) return 0;
    }
    if (!set_deck(state, read_tiles(PyTuple_GetItem(setup, 6)))) return 0;
    core->mover = int_at(setup, 7);
    for (int tile = 0; tile < TILES; tile++) {
        core->placed[tile] = int_at(PyTuple_GetItem(setup, 8), tile);
        core->turns += core->placed[tile];
    }
    for (int seat = 0; seat < core->players; seat++)
        core->retired[seat] = PyTuple_GetItem(PyTuple_GetItem(setup, 9), seat) == Py_True;
    core->end = end_of(PyTuple_GetItem(setup, 10));
    if (core->end == GOES_ON) end_if_stuck(core);
    return 1;
}

static PyObject *state_set_up(PyObject *Py_UNUSED(type), PyObject *arguments, PyObject *keywords)
{
    PyObject *setup = PyObject_Call(checked_setup, arguments, keywords);
    if (!setup) return NULL;
    PyObject *board = PyTuple_GetItem(setup, 0);
    State *state = new_state(board, geometry_of(board));
    if (state && !lay_out(state, setup)) Py_CLEAR(state);
    Py_DECREF(setup);
    return (PyObject *)state;
}

static PyObject *state_copy(PyObject *self, PyObject *Py_UNUSED(unused))
{
    State *state = (State *)self, *twin = new_state(state->board, Py_NewRef(state->geometry));
    if (!twin) return NULL;
    Py_XINCREF(state->deck);
    twin->deck = state->deck;
    copy_core(&twin->core, &state->core);
    return (PyObject *)twin;
}

/* For copy.deepcopy and pickle: how to make a state like this one. */
static PyObject *state_reduce(PyObject *self, PyObject *Py_UNUSED(unused))
{
    PyObject *set_up = PyObject_GetAttrString((PyObject *)state_type, "set_up");
    PyObject *parts = set_up ? PyObject_CallFunction(parts_of, "(O)", self) : NULL;
    PyObject *made = parts ? PyTuple_Pack(2, set_up, parts) : NULL;
    Py_XDECREF(set_up), Py_XDECREF(parts);
    return made;
}

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

#define GETTER(name, value)                                                                        \
    static PyObject *get_##name(PyObject *self, void *Py_UNUSED(unused))                           \
    {                                                                                              \
        const Core *core = CORE(self);                                                             \
        return value;                                                                              \
    }

GETTER(players, PyLong_FromLong(core->players))
GETTER(left, int_list(core->left, core->players))
GETTER(mover, PyLong_FromLong(core->mover))
GETTER(turns, PyLong_FromLong(core->turns))
GETTER(end, Py_NewRef(end_texts[core->end]))
GETTER(pile, PyLong_FromLong(core->deck_size - core->drawn))
GETTER(free, mask_object(free_of(core), core->board->words))

static PyObject *get_board(PyObject *self, void *Py_UNUSED(unused))
{
    return Py_NewRef(((State *)self)->board);
}

static PyObject *get_hands(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = CORE(self);
    PyObject *list = PyList_New(core->players);
    for (int seat = 0; list && seat < core->players; seat++)
        put(&list, seat, hand_tuple(core->hands[seat]));
    return list;
}

static PyObject *get_villages(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = CORE(self);
    PyObject *list = PyList_New(core->board->villages);
    for (int v = 0; list && v < core->board->villages; v++)
        put(&list, v, PyLong_FromLong(core->villages[v]));
    return list;
}

static PyObject *get_retired(PyObject *self, void *Py_UNUSED(unused))
{
    const Core *core = CORE(self);
    PyObject *list = PyList_New(core->players);
    for (int seat = 0; list && seat < core->players; seat++)
        put(&list, seat, PyBool_FromLong(core->retired[seat]));
    return list;
}

static PyObject *state_pile_tiles(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const Core *core = CORE(self);
    PyObject *tuple = PyTuple_New(core->deck_size - core->drawn);
    for (int i = core->drawn; tuple && i < core->deck_size; i++)
        put_in_tuple(&tuple, i - core->drawn, PyLong_FromLong(core->deck[i]));
    return tuple;
}

static PyObject *state_spaces(PyObject *self, PyObject *number)
{
    const Core *core = CORE(self);
    long colour;
    if (!read_number(number, &colour)) return NULL;
    if (colour >= 0 && colour < COLOURS)
        return mask_object(cells_of(core, (int)colour), core->board->words);
    return PyErr_Format(PyExc_IndexError, "expected a colour from 0 to %d, got %S", COLOURS - 1,
                        number);
}

static PyObject *state_provinces(PyObject *self, PyObject *Py_UNUSED(unused))
{
    State *state = (State *)self;
    const Core *core = &state->core;
    short at[64 * MAX_WORDS][2];
    memset(at, -1, sizeof at);
    for (int colour = 0; colour < COLOURS; colour++)
        for (int p = 0; p < core->count[colour]; p++) {
            int first = first_square(mask_of(core, colour, p), core->board->words);
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
            if (info_of(core, colour, p)->owner == seat)
                placed += info_of(core, colour, p)->pagodas;
    for (int v = 0; v < core->board->villages; v++) placed += core->villages[v] == seat;
    return PyLong_FromLong(placed);
}

static PyObject *state_tiles_placed(PyObject *self, PyObject *Py_UNUSED(unused))
{
    return int_list(CORE(self)->placed, TILES);
}

static PyObject *state_ranks(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const Core *core = CORE(self);
    int ranks[MAX_PLAYERS];
    for (int seat = 0; seat < core->players; seat++) {
        ranks[seat] = 1;
        for (int other = 0; other < core->players; other++)
            ranks[seat] += core->left[other] < core->left[seat];
    }
    return int_list(ranks, core->players);
}

/* ---------------------------------------------------------------- which moves there are (R4) */

/* The menu of the mover, empty once the game has ended. */
static void mover_menu(const Core *core, Menu *menu)
{
    static const int nothing[TILES + 1];
    core->board->calls->make_menu(core, core->end == GOES_ON ? core->hands[core->mover] : nothing,
                                  menu);
}

static PyObject *state_legal_moves(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Menu menu;
    mover_menu(CORE(self), &menu);
    return menu_list(&menu, CORE(self)->board->words);
}

static PyObject *state_placements(PyObject *self, PyObject *tiles)
{
    const Core *core = CORE(self);
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
    core->board->calls->make_menu(core, held, &menu);
    return menu_list(&menu, core->board->words);
}

static PyObject *state_legal_count(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Menu menu;
    mover_menu(CORE(self), &menu);
    return PyLong_FromLong(menu.total);
}

static PyObject *state_nth(PyObject *self, PyObject *number)
{
    Menu menu;
    long index;
    if (!read_number(number, &index)) return NULL;
    mover_menu(CORE(self), &menu);
    if (index >= 0 && index < menu.total) return PyLong_FromLong(nth_of(&menu, (int)index));
    PyErr_SetString(PyExc_IndexError, "no legal move has that index");
    return NULL;
}

static PyObject *state_can_move(PyObject *self, PyObject *number)
{
    const Core *core = CORE(self);
    int seat = read_seat(core, number);
    return seat < 0 ? NULL : PyBool_FromLong(core->board->calls->can_move(core, seat));
}

static PyObject *state_must_pass(PyObject *self, PyObject *Py_UNUSED(unused))
{
    const Core *core = CORE(self);
    return PyBool_FromLong(core->retired[core->mover]
                           || !core->board->calls->can_move(core, core->mover));
}

static int is_legal_move(const Core *core, int kind, int square)
{
    return kind >= 0 && core->board->calls->is_legal(core, kind, square);
}

static PyObject *state_is_legal(PyObject *self, PyObject *number)
{
    int kind, square;
    if (!read_move(number, &kind, &square)) return NULL;
    return PyBool_FromLong(is_legal_move(CORE(self), kind, square));
}

static PyObject *state_why_illegal(PyObject *self, PyObject *number)
{
    return PyObject_CallFunction(illegal_text, "OO", self, number);
}

/* ---------------------------------------------------------------- what a move does (R5 to R8) */

/* Passes for a mover who can place nothing; raises IllegalMoveError for one who can. */
static PyObject *pass_or_raise(PyObject *self, PyObject *move)
{
    Core *core = CORE(self);
    PyObject *reason = state_why_illegal(self, move);
    int is_pass = reason && PyObject_IsTrue(reason) == 0;
    if (reason && !is_pass) PyErr_SetObject(illegal_move_error, reason);
    Py_XDECREF(reason);
    if (!is_pass) return NULL;
    core->board->calls->end_if_stuck(
        core); /* after hands were set, it may be that nobody can place a tile */
    if (core->end == GOES_ON) next_mover(core);
    Py_RETURN_NONE;
}

static PyObject *state_play(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"move", "events", NULL};
    PyObject *move, *list = Py_None;
    int kind, square;
    Core *core = CORE(self);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O", names, &move, &list)) return NULL;
    if (list != Py_None && !PyList_Check(list))
        return PyErr_Format(PyExc_TypeError, "expected a list for the events, got %R", list);
    if (!read_move(move, &kind, &square)) return NULL;
    if (!is_legal_move(core, kind, square)) return pass_or_raise(self, move);
    Events events;
    events.count = 0;
    core->board->calls->play(core, kind, square, list == Py_None ? NULL : &events);
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

static PyObject *state_retire(PyObject *self, PyObject *number)
{
    Core *core = CORE(self);
    int seat = read_seat(core, number);
    if (seat < 0) return NULL;
    core->retired[seat] = 1;
    if (core->end == GOES_ON) core->board->calls->end_if_stuck(core);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- playouts */

static PyObject *state_net_gain(PyObject *self, PyObject *number)
{
    int kind, square;
    Core *core = CORE(self), scratch;
    if (!read_move(number, &kind, &square)) return NULL;
    if (!is_legal_move(core, kind, square)) {
        PyErr_SetString(PyExc_ValueError, "expected a legal move");
        return NULL;
    }
    if (!allocate(&scratch, core->board)) return NULL;
    int net = core->board->calls->net_gain(core, &scratch, kind, square);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(net);
}

static PyObject *state_outlook(PyObject *self, PyObject *number)
{
    const Core *core = CORE(self);
    int seat = read_seat(core, number);
    return seat < 0 ? NULL : PyLong_FromLong(core->board->calls->outlook(core, seat));
}

static PyObject *state_outlooks(PyObject *self, PyObject *Py_UNUSED(unused))
{
    Core *core = CORE(self), scratch;
    Menu menu;
    if (!allocate(&scratch, core->board)) return NULL;
    mover_menu(core, &menu);
    PyObject *list = PyList_New(menu.total);
    int now = core->board->calls->outlook(core, core->mover);
    for (int index = 0; list && index < menu.total; index++) {
        int move = nth_of(&menu, index), kind = move >> KIND_SHIFT, square = move & SQUARE_MASK;
        int worth = core->board->calls->outlook_after(core, &scratch, kind, square, now);
        put(&list, index, PyLong_FromLong(worth));
    }
    PyMem_Free(scratch.block);
    return list;
}

static PyObject *state_choice(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "policy", "among", NULL};
    unsigned long long seed;
    PyObject *name = NULL, *among = NULL;
    Policy policy;
    Core *core = CORE(self), scratch;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|OO", names, &seed, &name, &among))
        return NULL;
    if (!read_policy(name, among, NULL, &policy) || !allocate(&scratch, core->board)) return NULL;
    uint64_t random = seed;
    int move = core->board->calls->chosen_by(core, &scratch, &random, &policy);
    PyMem_Free(scratch.block);
    return PyLong_FromLong(move);
}

static PyObject *state_playout(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seed", "policy", "among", "turns", NULL};
    unsigned long long seed;
    PyObject *name = NULL, *among = NULL, *turns = NULL;
    Policy policy;
    Core *core = CORE(self), scratch;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "K|OOO", names, &seed, &name, &among,
                                     &turns)
        || !read_policy(name, among, turns, &policy))
        return NULL;
    if (!knows_all(core)) {
        PyErr_SetString(PyExc_ValueError, "expected all tiles to be known, got a state with "
                                          "unknown ones: use rollouts");
        return NULL;
    }
    if (!allocate(&scratch, core->board)) return NULL;
    uint64_t random = seed;
    int placed = core->board->calls->playout(core, &scratch, &random, &policy);
    if (core->end == GOES_ON) end_if_stuck(core); /* the turns are over, and the game may be */
    PyMem_Free(scratch.block);
    return PyLong_FromLong(placed);
}

/* Reads a move to try; it has to be legal where the rollouts begin. */
static int read_candidate(State *state, const Core *base, PyObject *move)
{
    int kind, square;
    if (!read_move(move, &kind, &square)) return -1;
    if (is_legal_move(base, kind, square)) return kind << KIND_SHIFT | square;
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
    size_t count = (size_t)run->count + 1;
    run->twelfths = PyMem_Calloc(count, sizeof(int64_t));
    run->left = PyMem_Calloc(count, sizeof(int64_t));
    run->outlooks = PyMem_Calloc(count, sizeof(int64_t));
    if (run->twelfths && run->left && run->outlooks) return 1;
    return PyErr_NoMemory(), 0;
}

static void free_rollouts(Rollouts *run)
{
    PyMem_Free(run->moves), PyMem_Free(run->twelfths);
    PyMem_Free(run->left), PyMem_Free(run->outlooks);
    PyMem_Free(run->base.block), PyMem_Free(run->dealt.block);
    PyMem_Free(run->work.block), PyMem_Free(run->scratch.block);
}

static PyObject *rollout_lists(const Rollouts *run)
{
    PyObject *moves = int_list(run->moves, run->count), *wins = PyList_New(run->count);
    PyObject *left = sum_list(run->left, run->count), *result = NULL;
    PyObject *outlooks = sum_list(run->outlooks, run->count);
    for (int m = 0; wins && m < run->count; m++)
        put(&wins, m, PyFloat_FromDouble((double)run->twelfths[m] / TWELFTHS));
    if (moves && wins && left && outlooks) result = PyTuple_Pack(4, moves, wins, left, outlooks);
    Py_XDECREF(moves), Py_XDECREF(wins), Py_XDECREF(left), Py_XDECREF(outlooks);
    return result;
}

/* Rollouts from the position as it is when the call begins: the call may run Python while it reads
 * the moves, and lets other threads run while it plays, and either may change the state. */
static PyObject *rollouts_from_here(State *state, Rollouts *run, PyObject *chosen)
{
    const Geometry *board = state->core.board;
    if (!allocate(&run->base, board) || !allocate(&run->dealt, board)
        || !allocate(&run->work, board) || !allocate(&run->scratch, board))
        return NULL;
    copy_core(&run->base, &state->core);
    if (!hidden_pool(&run->base, run->seat, run->pool))
        return PyErr_Format(PyExc_ValueError,
                            "expected a state in which seat %d knows its hand and what it cannot "
                            "see follows from the rest",
                            run->seat);
    if (!read_candidates(state, chosen, run) || !allocate_results(run)) return NULL;
    for (int is_done = 0; !is_done;) {
        Py_BEGIN_ALLOW_THREADS
        is_done = board->calls->roll_out(run);
        Py_END_ALLOW_THREADS
        if (PyErr_CheckSignals() < 0) return NULL;
    }
    return rollout_lists(run);
}

static PyObject *state_rollouts(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static char *names[] = {"seat", "times", "seed", "policy", "moves", "among", "turns", NULL};
    unsigned long long seed;
    long seat;
    PyObject *number, *times, *name = NULL, *chosen = Py_None, *among = NULL, *turns = NULL;
    Rollouts run;
    memset(&run, 0, sizeof run);
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "OOK|OOOO", names, &number, &times, &seed,
                                     &name, &chosen, &among, &turns)
        || !read_policy(name, among, turns, &run.policy) || !read_number(number, &seat)
        || !read_number(times, &run.times))
        return NULL;
    if (run.times < 1 || run.times > MOST)
        return PyErr_Format(PyExc_ValueError, "expected 1 to %d games for each move, got %S", MOST,
                            times);
    const Core *core = CORE(self);
    if (seat != core->mover || core->end != GOES_ON)
        return PyErr_Format(PyExc_ValueError, "expected the seat that is to move, got %S", number);
    run.stream = seed;
    run.seat = core->mover;
    PyObject *deck = Py_NewRef(((State *)self)->deck); /* which the copies share */
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
    {"is_legal", state_is_legal, METH_O, "Whether the mover may place so."},
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

/* Looks up the names. Returns 0 with an exception set on failure. */
static int look_up(void)
{
    static const char *const names[] = {"found", "expand", "absorb", "major", "connect", "conquer"};
    static const char *const ends[] = {NULL, "LAST_PAGODA", "NO_TILES", "NO_SPACE"};
    int done = (province_type = from_module("arena.rules.terms", "OwnedProvince"))
               && (event_type = from_module("arena.rules.terms", "Event"))
               && (illegal_move_error = from_module("arena.errors", "IllegalMoveError"))
               && (illegal_text = from_module("arena.rules.explain", "illegal_text"))
               && (checked_setup = from_module("arena.rules.setup", "checked_setup"))
               && (parts_of = from_module("arena.rules.setup", "parts_of"))
               && (is_same_position = from_module("arena.rules.setup", "is_same_position"))
               && (empty_tuple = PyTuple_New(0));
    end_texts[GOES_ON] = Py_NewRef(Py_None);
    for (int end = LAST_PAGODA; done && end <= NO_SPACE; end++)
        done = (end_texts[end] = from_module("arena.rules.terms", ends[end])) != NULL;
    for (int name = FOUND; done && name <= CONQUER; name++)
        done = (event_names[name] = PyUnicode_FromString(names[name])) != NULL;
    return done;
}

PyMODINIT_FUNC PyInit__core(void)
{
    if (!look_up() || !(state_type = (PyTypeObject *)PyType_FromSpec(&spec))) return NULL;
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddObjectRef(made, "State", (PyObject *)state_type) < 0) Py_CLEAR(made);
    return made;
}
