/* The class State of the native core: Python's way to the rules of rules.inc and playouts.inc, with
 * the methods and the errors of arena.rules.pure.State.
 *
 * The class keeps to the limited API, so that one wheel serves all versions of Python. Its methods
 * are in the files that are included below, each about one subject; the list of them is here.
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

/* Names from the project's own modules, looked up once: illegal_text at its first use, the others
   when this module is loaded. */
static PyTypeObject *state_type;
static PyObject *province_type, *event_type, *illegal_move_error, *illegal_text, *checked_setup;
static PyObject *parts_of, *is_same_position;
static PyObject *empty_tuple, *end_texts[NO_SPACE + 1], *event_names[CONQUER + 1];

/* An attribute of one of the project's own modules. */
static PyObject *from_module(const char *name, const char *attribute)
{
    PyObject *source = PyImport_ImportModule(name);
    PyObject *value = source ? PyObject_GetAttrString(source, attribute) : NULL;
    Py_XDECREF(source);
    return value;
}

#include "from_python.inc"
#include "to_python.inc"
#include "geometry.inc"
#include "making.inc"
#include "seeing.inc"
#include "moving.inc"
#include "writing.inc"
#include "rollouts.inc"

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
    {"placed", state_placed, METH_O, "The number of pagodas that a seat has on the board."},
    {"tiles_placed", state_tiles_placed, METH_NOARGS, "How many of each tile have been placed."},
    {"ranks", state_ranks, METH_NOARGS,
     "The rank of each seat by pagodas left, 1 for the fewest; equal ones share it (R8.2)."},
    {"legal_moves", state_legal_moves, METH_NOARGS,
     "Every legal placement of the mover, in ascending order."},
    {"placements", state_placements, METH_O,
     "Every legal placement of the given tiles on this board, in whatever hand they are."},
    {"legal_count", state_legal_count, METH_NOARGS, "How many legal placements the mover has."},
    {"nth", state_nth, METH_O, "legal_moves()[index], without making the list."},
    {"can_move", state_can_move, METH_O, "Whether the seat can place a tile of its hand."},
    {"must_pass", state_must_pass, METH_NOARGS, "Whether the mover has to pass (R3.2)."},
    {"is_legal", state_is_legal, METH_O, "Whether the mover may play this placement."},
    {"why_illegal", state_why_illegal, METH_O,
     "Why the mover may not play the move, with the rule's number; empty if it may."},
    {"play", KEYWORDS(state_play), "Plays the mover's placement or PASS."},
    {"set_hand", state_set_hand, METH_VARARGS,
     "Replaces the hand of a seat; the tiles may be unknown."},
    {"set_pile", state_set_pile, METH_O,
     "Replaces the draw pile by tiles in the order in which they will be drawn."},
    {"net_gain", state_net_gain, METH_O,
     "The pagodas that a legal move brings the mover, minus those it brings the others."},
    {"retire", state_retire, METH_O,
     "Takes a seat out of the game: it passes from now on (R3.2, R8.1)."},
    {"outlook", state_outlook, METH_O,
     "How well a seat stands: its lead over each other seat, summed, in 1/100 pagoda."},
    {"outlooks", state_outlooks, METH_NOARGS,
     "The mover's outlook after each of its legal moves, before it draws a tile."},
    {"choice", KEYWORDS(state_choice), "The mover's move by a policy; PASS if it has none."},
    {"playout", KEYWORDS(state_playout), "Plays on by a policy; returns the number of placements."},
    {"rollouts", KEYWORDS(state_rollouts),
     "Tries moves on random deals and plays each game on by a policy."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"board", get_board, NULL, "The board.", NULL},
    {"players", get_players, NULL, "The number of seats.", NULL},
    {"left", get_left, NULL, "For each seat, the pagodas that it has not placed.", NULL},
    {"hands", get_hands, NULL, "The tiles of each seat, sorted.", NULL},
    {"mover", get_mover, NULL, "The seat to move.", NULL},
    {"turns", get_turns, NULL, "Placements so far.", NULL},
    {"end", get_end, NULL, "None, or why the game is over (R8.1).", NULL},
    {"villages", get_villages, NULL, "The owner of each village, or NOBODY.", NULL},
    {"retired", get_retired, NULL, "For each seat, whether it has left the game.", NULL},
    {"pile", get_pile, NULL, "The number of tiles in the draw pile.", NULL},
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

static PyMethodDef functions[] = {
    {"position_json", position_json, METH_O, "Everything that is public in a state, as JSON."},
    {"legal_json", legal_json, METH_O, "The mover's legal placements, ascending, as JSON."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_core", .m_size = -1,
                             .m_doc = "The rules of Qin in C: see arena.rules.pure.",
                             .m_methods = functions};

/* Looks up the functions and types of the project's own modules. */
static int look_up_objects(void)
{
    province_type = from_module("arena.rules.terms", "OwnedProvince");
    if (!province_type) return -1;
    event_type = from_module("arena.rules.terms", "Event");
    if (!event_type) return -1;
    illegal_move_error = from_module("arena.errors", "IllegalMoveError");
    if (!illegal_move_error) return -1;
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
