/* The exchange of one decision in plain C: what `Channel._send` and `Channel.read_line` of
 * arena/players/channel.py do in the usual case. All lines go out in one write, and one read brings
 * the whole reply. Anything else is handed back as it is, and the Python code goes on from there.
 * It alone handles partial writes, closed pipes, half lines, blank lines, floods, missed deadlines
 * and signals.
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

/* When the lines were sent, and how many bytes; when the chunk came, its length, and the counter at
 * that time. */
typedef struct {
    int64_t sent_ns, at_ns, counted;
    ssize_t written, length;
    int is_usual;
    char chunk[CHUNK];
} Dialogue;

/* The clock of Python's time.monotonic_ns, on Linux and macOS. */
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

/* How long poll may wait, in ms. Rounded up, as in Python: if poll returned early, an answer that
 * is in time would be late. */
static int wait_ms(int64_t deadline_ns)
{
    int64_t left_ns = deadline_ns - now_ns();
    if (left_ns <= 0) return 0;
    int64_t left_ms = left_ns / NS_PER_MS + (left_ns % NS_PER_MS > 0);
    return left_ms < INT32_MAX ? (int)left_ms : INT32_MAX;
}

/* Whether the chunk is one line that is not blank, with its newline and nothing after it. A line
 * that starts with a space may be blank. */
static int is_one_line(const Dialogue *told)
{
    const char *chunk = told->chunk;
    return told->length > 1 && (unsigned char)chunk[0] > ' '
           && memchr(chunk, '\n', (size_t)told->length) == chunk + told->length - 1;
}

/* Sends, waits and reads. It runs without Python's lock, so it uses nothing of Python. It does not
 * repeat a call that a signal interrupted, because the signal's handler may raise. */
static void talk(int to_bot, int from_bot, const char *lines, ssize_t size, int64_t deadline_ns,
                 int counter, Dialogue *told)
{
    struct pollfd waiting = {.fd = from_bot, .events = POLLIN};
    told->length = told->is_usual = 0;
    told->counted = -1, told->at_ns = 0;
    told->sent_ns = now_ns();
    told->written = write(to_bot, lines, (size_t)size);
    if (told->written < 0) told->written = 0;
    if (told->written < size || poll(&waiting, 1, wait_ms(deadline_ns)) <= 0) return;
    told->length = read(from_bot, told->chunk, CHUNK);
    if (told->length < 0) told->length = 0;
    told->at_ns = now_ns();
    if (!is_one_line(told)) return;
    told->is_usual =
        counter < 0 || read(counter, &told->counted, sizeof told->counted) == sizeof told->counted;
}

/* As `Told` in arena/players/exchange.py has it. */
static PyObject *as_tuple(const Dialogue *told)
{
    const Py_ssize_t reply = told->is_usual ? told->length - 1 : 0, rest = reply ? 0 : told->length;
    PyObject *items[] = {reply ? PyBytes_FromStringAndSize(told->chunk, reply) : Py_NewRef(Py_None),
                         PyBytes_FromStringAndSize(told->chunk, rest),
                         PyLong_FromSsize_t(told->written),
                         PyLong_FromLongLong(told->sent_ns),
                         PyLong_FromLongLong(told->at_ns),
                         PyLong_FromLongLong(told->counted)};
    enum { ITEMS = sizeof items / sizeof items[0] };
    PyObject *tuple = PyTuple_New(ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        if (tuple && items[i]) PyTuple_SetItem(tuple, i, items[i]);
        else {
            Py_XDECREF(items[i]);
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* Reads a file descriptor, or -1 for none. Returns 0 with an exception set if the number does not
 * fit: the remainder would be the descriptor of another file. */
static int read_descriptor(PyObject *number, int *descriptor)
{
    int overflow;
    long value = PyLong_AsLongAndOverflow(number, &overflow);
    if (value == -1 && !overflow && PyErr_Occurred()) return 0;
    if (!overflow && value >= -1 && value <= INT_MAX) {
        *descriptor = (int)value;
        return 1;
    }
    PyErr_Format(PyExc_OverflowError, "expected a file descriptor from -1 to %d, got %S", INT_MAX,
                 number);
    return 0;
}

static PyObject *exchange(PyObject *Py_UNUSED(module), PyObject *const *given, Py_ssize_t count)
{
    char *lines;
    Py_ssize_t size;
    Dialogue told;
    int to_bot, from_bot, counter;
    if (count != ARGUMENTS)
        return PyErr_Format(PyExc_TypeError, "exchange() takes 5 arguments, got %zd", count);
    if (!read_descriptor(given[0], &to_bot) || !read_descriptor(given[1], &from_bot)
        || !read_descriptor(given[4], &counter))
        return NULL;
    long long deadline_ns = PyLong_AsLongLong(given[3]);
    if (PyErr_Occurred() || PyBytes_AsStringAndSize(given[2], &lines, &size) < 0) return NULL;
    Py_BEGIN_ALLOW_THREADS
    talk(to_bot, from_bot, lines, size, deadline_ns, counter, &told);
    Py_END_ALLOW_THREADS
    return as_tuple(&told);
}

static PyMethodDef methods[] = {
    {"exchange", (PyCFunction)(void (*)(void))exchange, METH_FASTCALL,
     "Sends lines and reads the reply, if it is the usual case."},
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
