/* Counts the CPU time of a bot and everything it starts with a counter of the kernel, and looks for
 * processes that this counter misses. arena/players/counter.py does the same in Python. */
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_MS = 1000000 };
/* The CPU time that the counter may seem to miss at every look, because the kernel's two clocks do
 * not change at the same moment. */
static const int64_t NOISE_NS = 2 * NS_PER_MS;
/* How much more the counter may seem to miss before the processes are counted once more: a stall of
 * the machine between the readings of the two clocks is only on one of them. */
static const int64_t STALL_NS = 40 * NS_PER_MS;
/* If the counter shows less than this part, in tenths, of the time that processes used by their own
 * clocks, it may have missed one of them. It misses the whole time of a process that left it. Of a
 * process that sleeps and wakes up all the time it misses the moments in which the kernel changes
 * from one process to the next, which the clocks include: from 2 to 12 us each, measured to be 13
 * to 81 % of the time of a program in Python that wakes up 5,000 times a second. */
enum { COUNTED_TENTHS = 4 };
/* How many threads are counted once more at the same time. */
enum { MOST_COUNTERS = 500 };

/* Counts the CPU time of living processes once more, beside the bot's counter. */
typedef struct {
    int is_on;
    int64_t counted_ns; /* what the bot's counter showed when this count began */
    int counters[MOST_COUNTERS];
    size_t count;
    /* The clocks of the processes that the kernel keeps from being counted. A process that runs a
     * program which it may not read is kept so. */
    Clocks hidden;
} SecondCount;

int count_processor_time(pid_t thread)
{
    struct perf_event_attr attribute = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attribute,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attribute, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int64_t process_ns(pid_t pid)
{
    struct timespec used;
    clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2);
    if (clock_gettime(clock, &used)) return 0;
    return (int64_t)used.tv_sec * 1000 * NS_PER_MS + used.tv_nsec;
}

void add_clock(Clocks *clocks, pid_t pid, int64_t ns)
{
    clocks->clocks = grown(clocks->clocks, clocks->count, &clocks->capacity, sizeof(Clock));
    clocks->clocks[clocks->count++] = (Clock){pid, ns};
}

static int64_t read_counter(int counter)
{
    int64_t ns = 0;
    return read(counter, &ns, sizeof ns) == sizeof ns ? ns : 0;
}

static int64_t clock_at_last_look(const Clocks *clocks, pid_t pid)
{
    for (size_t i = 0; i < clocks->count; i++)
        if (clocks->clocks[i].pid == pid) return clocks->clocks[i].ns;
    return 0;
}

/* How much less CPU time was counted than used; 0 if more than COUNTED_TENTHS of it was. */
static int64_t shortfall(int64_t used_ns, int64_t counted_ns)
{
    return 10 * counted_ns < COUNTED_TENTHS * used_ns ? used_ns - counted_ns : 0;
}

/* How much less CPU time the counter shows since the last call than the clocks of the living
 * processes; 0 if it shows most of it. */
static int64_t uncounted_ns(const Tree *tree, int counter)
{
    static Clocks known;
    static Clocks now;
    static int64_t counted_ns;
    int64_t before_ns = counted_ns;
    counted_ns = read_counter(counter);
    int64_t used_ns = 0;
    now.count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        pid_t pid = tree->pids[i];
        int64_t known_ns = clock_at_last_look(&known, pid);
        int64_t clock_ns = process_ns(pid);
        int64_t grown_ns = clock_ns - (known_ns <= clock_ns ? known_ns : 0);
        add_clock(&now, pid, clock_ns);
        /* the counter drops a process at its end, before its memory is returned */
        if (grown_ns <= NOISE_NS || !is_ending(pid)) used_ns += grown_ns;
    }
    Clocks last = known;
    known = now;
    now = last;
    return shortfall(used_ns, read_counter(counter) - before_ns);
}

static void end_second_count(SecondCount *second)
{
    for (size_t i = 0; i < second->count; i++) close(second->counters[i]);
    second->count = second->hidden.count = 0;
    second->is_on = 0;
}

static void begin_second_count(SecondCount *second, const Tree *tree, int counter)
{
    static Tree threads;
    end_second_count(second);
    second->is_on = 1;
    second->counted_ns = read_counter(counter);
    for (size_t i = 0; i < tree->count; i++) {
        int is_hidden = 0;
        list_threads(&threads, tree->pids[i]);
        for (size_t j = 0; j < threads.count && second->count < MOST_COUNTERS; j++) {
            int descriptor = count_processor_time(threads.pids[j]);
            if (descriptor >= 0) second->counters[second->count++] = descriptor;
            else if (errno == EACCES || errno == EPERM) is_hidden = 1;
        }
        if (is_hidden) add_clock(&second->hidden, tree->pids[i], process_ns(tree->pids[i]));
    }
}

/* The CPU time that the processes have used since the second count began. */
static int64_t used_since(const SecondCount *second)
{
    int64_t used_ns = 0;
    for (size_t i = 0; i < second->hidden.count; i++) {
        Clock before = second->hidden.clocks[i];
        int64_t now_ns = process_ns(before.pid);
        if (now_ns > before.ns && !is_ending(before.pid)) used_ns += now_ns - before.ns;
    }
    for (size_t i = 0; i < second->count; i++) used_ns += read_counter(second->counters[i]);
    return used_ns;
}

long missed_ms(const Tree *tree, int counter)
{
    /* The clocks say when something may be missing. Then each thread gets a counter of its own:
     * they and the bot's counter leave out the same moments, so these can be compared exactly. */
    static SecondCount second;
    static int64_t missing_ns;
    int64_t used_ns = second.is_on ? used_since(&second) : 0;
    if (used_ns > NOISE_NS) {
        int64_t missed_ns = shortfall(used_ns, read_counter(counter) - second.counted_ns);
        end_second_count(&second);
        if (missed_ns > NOISE_NS) return (long)(missed_ns / NS_PER_MS);
    }
    missing_ns += uncounted_ns(tree, counter) - NOISE_NS;
    if (missing_ns < 0) missing_ns = 0;
    if (missing_ns > STALL_NS) {
        missing_ns = 0;
        begin_second_count(&second, tree, counter);
    }
    return 0;
}
