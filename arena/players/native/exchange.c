/* The exchange of one decision in plain C: what `Channel._send` and `Channel.read_line` of
 * arena/players/channel.py do in the usual case. All lines go out in one write, and one read brings
 * the whole reply. In any other case this code returns what it has written and read so far, and the
 * Python code goes on from there: only the Python code handles partial writes, closed pipes, half
 * lines, blank lines, floods, missed deadlines and signals.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 8 * 1024, ARGUMENTS = 5 };
enum { NS_PER_S = 1000000000, NS_PER_MS = 1000000 };

/* What was written and read. */
typedef struct {
    int64_t sent_ns; /* when the lines were sent */
    ssize_t written; /* how many of their bytes were written */
    int64_t read_ns; /* when the chunk was read */
    int64_t counted; /* what the counter showed then, -1 if there is no counter */
    ssize_t length;  /* the length of the chunk */
    int is_whole;    /* whether the chunk is the whole reply, and the counter was read */
    char chunk[CHUNK];
} Dialogue;

/* Reads the clock of Python's time.monotonic_ns, on Linux and macOS. */
static int64_t now_ns(void)
{
#ifdef __APPLE__
    return (int64_t)clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
#endif
}

/* Returns how long poll may wait, in ms. It is rounded up, as in Python: if poll returned early, an
 * answer that is in time would be late. */
static int wait_ms(int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - now_ns();
    if (left_ns <= 0) return 0;
    int64_t left_ms = left_ns / NS_PER_MS + (left_ns % NS_PER_MS > 0);
    return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

/* Whether the chunk is one line that is not blank, with its newline and nothing after it. A line
 * that starts with a space may be blank. */
static int is_one_line(const Dialogue *dialogue)
{
    const char *chunk = dialogue->chunk;
    if (dialogue->length <= 1 || (unsigned char)chunk[0] <= ' ') return 0;
    return memchr(chunk, '\n', (size_t)dialogue->length) == chunk + dialogue->length - 1;
}

/* Reads the counter, unless its descriptor is -1. Returns whether that succeeded. */
static int read_counter(int counter, Dialogue *dialogue)
{
    if (counter < 0) return 1;
    const ssize_t size = sizeof dialogue->counted;
    return read(counter, &dialogue->counted, (size_t)size) == size;
}

/* Sends, waits and reads. It runs without Python's lock, so it uses nothing of Python. It does not
 * repeat a call that a signal interrupted, because the signal's handler may raise. */
static void talk(int to_bot, int from_bot, const char *lines, ssize_t size, int64_t deadline_ns,
                 int counter, Dialogue *dialogue)
{
    struct pollfd reply = {.fd = from_bot, .events = POLLIN};
    dialogue->length = 0;
    dialogue->is_whole = 0;
    dialogue->counted = -1;
    dialogue->read_ns = 0;
    dialogue->sent_ns = now_ns();
    dialogue->written = write(to_bot, lines, (size_t)size);
    if (dialogue->written < 0) dialogue->written = 0;
    if (dialogue->written < size || poll(&reply, 1, wait_ms(deadline_ns)) <= 0) return;
    dialogue->length = read(from_bot, dialogue->chunk, CHUNK);
    if (dialogue->length < 0) dialogue->length = 0;
    dialogue->read_ns = now_ns();
    if (is_one_line(dialogue)) dialogue->is_whole = read_counter(counter, dialogue);
}

/* Makes the tuple that `exchange` returns: see `Told` in arena/players/channel.py. */
static PyObject *as_tuple(const Dialogue *dialogue)
{
    const char *chunk = dialogue->chunk;
    const Py_ssize_t reply_size = dialogue->is_whole ? dialogue->length - 1 : 0;
    const Py_ssize_t rest_size = dialogue->is_whole ? 0 : dialogue->length;
    PyObject *reply =
        dialogue->is_whole ? PyBytes_FromStringAndSize(chunk, reply_size) : Py_NewRef(Py_None);
    PyObject *items[] = {reply,
                         PyBytes_FromStringAndSize(chunk, rest_size),
                         PyLong_FromSsize_t(dialogue->written),
                         PyLong_FromLongLong(dialogue->sent_ns),
                         PyLong_FromLongLong(dialogue->read_ns),
                         PyLong_FromLongLong(dialogue->counted)};
    enum { ITEMS = sizeof items / sizeof items[0] };
    PyObject *tuple = PyTuple_New(ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        if (tuple && items[i]) {
            PyTuple_SetItem(tuple, i, items[i]);
        } else {
            Py_XDECREF(items[i]);
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* Reads a file descriptor, or -1 for none. Returns -1 with an exception set on failure. A number
 * that does not fit is a failure, since its remainder would be the descriptor of another file. */
static int read_descriptor(PyObject *number, int *descriptor)
{
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    if (value == -1 && !overflow && PyErr_Occurred()) return -1;
    if (!overflow && value >= -1 && value <= INT_MAX) {
        *descriptor = (int)value;
        return 0;
    }
    PyErr_Format(PyExc_OverflowError, "expected a file descriptor from -1 to %d, got %S", INT_MAX,
                 number);
    return -1;
}

/* exchange(to_bot, from_bot, lines, deadline_ns, counter): see `Told` for what it returns. */
static PyObject *exchange(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count)
{
    if (count != ARGUMENTS)
        return PyErr_Format(PyExc_TypeError, "exchange() takes 5 arguments, got %zd", count);
    int to_bot, from_bot, counter;
    if (read_descriptor(given[0], &to_bot) < 0) return NULL;
    if (read_descriptor(given[1], &from_bot) < 0) return NULL;
    if (read_descriptor(given[4], &counter) < 0) return NULL;
    long long deadline_ns = PyLong_AsLongLong(given[3]);
    if (deadline_ns == -1 && PyErr_Occurred()) return NULL;
    char *lines;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(given[2], &lines, &size) < 0) return NULL;
    Dialogue dialogue;
    Py_BEGIN_ALLOW_THREADS
    talk(to_bot, from_bot, lines, size, deadline_ns, counter, &dialogue);
    Py_END_ALLOW_THREADS
    return as_tuple(&dialogue);
}

static PyMethodDef methods[] = {
    {"exchange", (PyCFunction)(void (*)(void))exchange, METH_FASTCALL,
     "Sends lines and reads the reply."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static PyModuleDef module = {PyModuleDef_HEAD_INIT,
                             "_exchange",
                             "One exchange with a bot.",
                             0,
                             methods,
                             slots,
                             NULL,
                             NULL,
                             NULL};

PyMODINIT_FUNC PyInit__exchange(void)
{
    return PyModuleDef_Init(&module);
}
