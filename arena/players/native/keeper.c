/* The parent of one bot: it starts the bot, stops it and lets it go on when the arena says so,
 * watches what its processes use, and kills everything the bot left behind when the bot ends or the
 * arena closes the control socket.
 *
 *     keeper CONTROL [NAME=VALUE]... -- COMMAND...
 *
 * CONTROL is a stream socket. The arena writes single bytes to it: 's' stops all processes of the
 * bot, the first one before the others, 'S' stops them all at once, 'g' lets them go on, and 'k'
 * kills them. When the arena closes the socket or dies, the keeper kills everything.
 * The keeper writes lines:
 *
 * - "started PID": the bot has been started. The counter of its CPU time is attached, if the kernel
 *   has one.
 * - "stopped": all processes of the bot are stopped.
 * - "many": the arena should stop the bot after each answer, because the bot has more than one
 *   process or thread, or memory that takes long to count. This line comes once.
 * - "exit N S KB": the bot ended with status N, after S seconds of CPU time; KB is its peak memory.
 * - "signal N S KB": signal N ended the bot.
 * - "failed REASON": the bot could not be started.
 *
 * If the keeper ends the bot because all its processes together use too much, a line comes first:
 * "memory MB", "shared MB", "processes N", "threads N", "mappings N", "open N", "watches N",
 * "disk MB", "files N", or "uncounted MS" for CPU time that the counter missed.
 *
 * The options are the fields of Options in keeper.h, RLIMIT_... for setrlimit, allow=RIGHTS:PATH
 * for the paths below which the bot keeps rights to files, and folder=PATH for the folders in which
 * its files are counted.
 *
 * In bubblewrap the keeper is the first process of the bot's pid namespace. There no signal of the
 * bot reaches the keeper, every orphan becomes its child, one call signals all other processes, and
 * the kernel kills the others when the keeper ends. Elsewhere the keeper is a subreaper, and
 * signals one process after the other.
 *
 * Exit status 1 means that some process of the bot could not be killed. arena/players/keeper.py
 * does the same in Python where the arena was installed without a C compiler.
 */
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_START = 127, WRONG_ARGUMENTS = 2 };
enum { LINE_SIZE = 512, PATIENCE_S = 2 };
/* For how long the keeper asks the scheduler to run it at once. */
enum { SLICE_NS = 100000 };
/* A bot with more processes than this is stopped while the keeper looks at them. Otherwise they
 * take the processor from the keeper, and it is late when the arena wants the bot stopped: 0.3 s
 * with 60 that compute. */
enum { CROWD = 4 };
/* The time between two looks is random within these bounds. A bot that knew when the next look
 * comes could hide from it, and it notices each look, which takes its processor away. */
enum { MIN_LOOK_MS = 1, MAX_LOOK_MS = 280 };
/* How long the arena may take to stop a bot after the line "many". The next look, which may be
 * long, then comes on the bot's own turn. */
enum { SETTLE_MS = 50 };
/* The environment variable that tells a bot's processes apart: its value is the number of their
 * keeper, by which the arena finds them if the keeper is killed. */
static const char MARK[] = "ARENA_KEEPER_PID";

static int is_first;     /* what is_init returns */
static int is_paused;    /* whether the arena had the bot stopped, which has not gone on */
static int is_to_resume; /* whether the arena wants it to go on */

int is_init(void)
{
    return is_first;
}

/* Writes a line to the arena, with a copy of DESCRIPTOR unless that is -1. If the arena does not
 * exist any more, nothing is written, and the keeper goes on to clear up. */
static void tell(int control, const char *line, int descriptor)
{
    struct iovec text = {(char *)line, strlen(line)};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } attached;
    struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &attached;
        message.msg_controllen = sizeof attached;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    while (sendmsg(control, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {}
}

/* Ties this process to the processors that the option names. */
static void set_cores(const char *cores)
{
    size_t most = 0;
    char *rest;
    for (const char *at = cores; *at; at = *rest ? rest + 1 : rest) {
        size_t number = strtoul(at, &rest, 10);
        if (number + 1 > most) most = number + 1;
    }
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set) return;
    CPU_ZERO_S(CPU_ALLOC_SIZE(most), set);
    for (const char *at = cores; *at; at = *rest ? rest + 1 : rest)
        CPU_SET_S(strtoul(at, &rest, 10), CPU_ALLOC_SIZE(most), set);
    sched_setaffinity(0, CPU_ALLOC_SIZE(most), set);
    CPU_FREE(set);
}

/* Puts a descriptor of the keeper in the place of a standard stream. */
static int put_in_place(int descriptor, int stream)
{
    return descriptor < 0 || dup2(descriptor, stream) >= 0 ? 0 : -1;
}

/* Runs the command in place of this process. Its program is looked for in PATH unless its name has
 * a slash. A file that no program can run is an error, and not handed to a shell. Returns only if
 * that fails, with errno. */
static void run_command(char **command)
{
    extern char **environ;
    if (strchr(command[0], '/')) {
        execve(command[0], command, environ);
        return;
    }
    const char *paths = getenv("PATH");
    int reason = ENOENT;
    for (const char *at = paths ? paths : ""; *at;) {
        size_t length = strcspn(at, ":");
        char *file;
        if (asprintf(&file, "%.*s/%s", (int)length, at, command[0]) < 0) return;
        if (length) execve(file, command, environ);
        if (length && errno != ENOENT && errno != ENOTDIR) reason = errno;
        free(file);
        at += length + (at[length] == ':');
    }
    errno = reason;
}

/* Has the kernel end this process and what it starts before others, if the machine's memory runs
 * out. A bot within its limit may use more than is left, and the largest process may be the
 * arena's. The bot cannot take this back: its own /proc is read-only. */
static void be_ended_first(const Options *options)
{
    int file = openat((int)options->machine_proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return; /* without it the bot plays all the same */
    ssize_t written = write(file, "1000", 4);
    (void)written;
    close(file);
}

/* Turns this process, a child of the keeper, into the bot. Returns, with errno, only if that
 * fails. */
static void become_bot(const Options *options, pid_t keeper)
{
    sigset_t none;
    sigemptyset(&none);
    setsid();
    if (!is_init()) {
        char text[16];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != keeper) _exit(CANNOT_START);
        snprintf(text, sizeof text, "%d", (int)keeper);
        setenv(MARK, text, 1);
    }
    /* Python ignores these signals; without a reset the bot would, too */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    if (put_in_place(options->input, STDIN_FILENO) || put_in_place(options->output, STDOUT_FILENO))
        return;
    if (options->cores) set_cores(options->cores);
    be_ended_first(options);
    if (set_limits(options) || sigprocmask(SIG_SETMASK, &none, NULL) || confine(options)) return;
    run_command(options->command);
}

/* Starts the bot in a session of its own. Returns its process id, or -1 if this machine cannot
 * start another process; *COUNTER becomes the descriptor of its counter, -1 if there is none. */
static pid_t start_bot(const Options *options, int *counter)
{
    char line[LINE_SIZE];
    int gate[2];
    pid_t keeper = getpid();
    pid_t child = pipe2(gate, O_CLOEXEC) ? -1 : fork();
    if (child < 0) {
        snprintf(line, sizeof line, "failed %s\n", strerror(errno));
        tell(options->control, line, -1);
        return -1;
    }
    if (child == 0) {
        char nothing;
        close(gate[1]);
        /* waits until the counter exists, because it counts only what starts after it */
        if (read(gate[0], &nothing, 1) < 0) _exit(CANNOT_START);
        become_bot(options, keeper);
        snprintf(line, sizeof line, "failed %.300s: %s\n", options->command[0], strerror(errno));
        tell(options->control, line, -1);
        _exit(CANNOT_START);
    }
    *counter = options->counts ? count_processor_time(child) : -1;
    /* Otherwise a bot in the same namespace, whose user is the keeper's, could read and use what
     * the keeper has open. The counter was opened before, because that needs the child to be open.
     */
    if (is_init()) prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    snprintf(line, sizeof line, "started %d\n", (int)child);
    tell(options->control, line, *counter);
    close(gate[0]);
    close(gate[1]);
    return child;
}

/* Whether this process may run on more than one processor, or gave the bot more. */
static int has_more_cores(const Options *options)
{
    cpu_set_t set;
    if (options->cores) return 1;
    return sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) > 1;
}

/* Does what the arena asks for. Returns whether the arena still has the socket. */
static int obey(const Options *options, pid_t child)
{
    char orders[64];
    ssize_t length = read(options->control, orders, sizeof orders);
    if (length < 0) return errno == EINTR || errno == EAGAIN;
    for (ssize_t i = 0; i < length; i++) {
        if (orders[i] == 'g') is_to_resume = 1;
        if (orders[i] == 'k') kill_bot();
        if (orders[i] == 's') stop_first(child);
        if (orders[i] != 's' && orders[i] != 'S') continue;
        stop_bot(has_more_cores(options));
        is_paused = 1;
        is_to_resume = 0;
        tell(options->control, "stopped\n", -1);
    }
    return length > 0;
}

/* Waits for all ended children. If CHILD is among them, tells the arena how it ended. Returns
 * whether it is. */
static int reap(const Options *options, pid_t child)
{
    char line[LINE_SIZE];
    int how;
    struct rusage used;
    for (pid_t pid; (pid = wait4(-1, &how, WNOHANG, &used)) > 0;) {
        if (pid != child) continue;
        double user_s = (double)used.ru_utime.tv_sec + (double)used.ru_utime.tv_usec / 1e6;
        double system_s = (double)used.ru_stime.tv_sec + (double)used.ru_stime.tv_usec / 1e6;
        snprintf(line, sizeof line, "%s %d %.3f %ld\n", WIFSIGNALED(how) ? "signal" : "exit",
                 WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how), user_s + system_s,
                 used.ru_maxrss);
        tell(options->control, line, -1);
        return 1;
    }
    return 0;
}

/* When to look next at what the bot uses, in ms. */
static int64_t next_look_ms(void)
{
    unsigned char chance = 0;
    syscall(SYS_getrandom, &chance, sizeof chance, 0);
    return now_ms() + MIN_LOOK_MS + chance * (MAX_LOOK_MS - MIN_LOOK_MS) / 255;
}

/* Whether the bot's processes must not run while the keeper looks at them: they are many, or one
 * could hide what it uses by handing it from thread to thread, each of which ends after a moment.
 */
static int is_hard_to_see(const Tree *tree)
{
    if (tree->count > CROWD) return 1;
    for (size_t i = 0; i < tree->count; i++)
        if (has_lost_first_thread(tree->pids[i])) return 1;
    return 0;
}

/* Looks at what the bot uses, also if it has not computed since the last look if AGAIN is set.
 * Returns whether that is too much, which the arena is told. MANY remembers whether the arena knows
 * that it should stop the bot after each answer. */
static int uses_too_much(const Options *options, pid_t child, int counter, int again, int *many)
{
    static Tree tree;
    char line[LINE_SIZE];
    int has_many = *many;
    find_tree(&tree);
    int is_hard = is_init() && !is_paused && is_hard_to_see(&tree);
    if (is_hard) {
        stop_first(child);
        stop_bot(has_more_cores(options));
    }
    int is_over = exceeds_limit(options, counter, again, &has_many, line, sizeof line - 1);
    /* The bot may have been counted with more than it holds: children that begin or end between two
     * readings change how much of the memory that they share is counted with each process. */
    int is_doubtful = is_over && !is_hard && !is_paused && !strncmp(line, "memory ", 7);
    if (is_doubtful) {
        /* in one call: a bot that saw its first process stop could give memory back for a moment */
        stop_bot(has_more_cores(options));
        is_over = exceeds_limit(options, counter, 1, &has_many, line, sizeof line - 1);
    }
    if (is_hard || is_doubtful) resume_bot(has_more_cores(options));
    if (has_many && !*many) {
        *many = 1;
        tell(options->control, "many\n", -1);
    }
    if (is_over) tell(options->control, strcat(line, "\n"), -1);
    return is_over;
}

/* Returns once the bot has ended or used too much, or the arena has closed the socket. */
static void wait_for_end(const Options *options, pid_t child, int counter, int signals)
{
    struct pollfd events[] = {{options->control, POLLIN, 0}, {signals, POLLIN, 0}};
    struct signalfd_siginfo ended;
    int many = 0;
    int again = 0;
    int64_t look_ms = next_look_ms();
    for (;;) {
        int64_t left_ms = look_ms - now_ms();
        if (left_ms < 0) left_ms = 0;
        /* While the bot is stopped, a rival computes, which would pay for a look. So a look that is
         * due comes when the bot is to go on, but before it can give memory back. */
        poll(events, 2, is_paused ? -1 : (int)left_ms);
        if (events[1].revents) {
            while (read(signals, &ended, sizeof ended) > 0) {}
            if (reap(options, child)) return;
        }
        if (events[0].revents && !obey(options, child)) return;
        if ((!is_paused || is_to_resume) && now_ms() >= look_ms) {
            int was_many = many;
            if (uses_too_much(options, child, counter, again, &many)) return;
            again = many && !was_many;
            look_ms = again ? now_ms() + SETTLE_MS : next_look_ms();
        }
        if (is_to_resume) {
            resume_bot(has_more_cores(options));
            is_paused = is_to_resume = 0;
        }
    }
}

/* Kills the bot's process group, then its orphans generation by generation. Returns whether none is
 * left. */
static int kill_all(pid_t child)
{
    static Tree tree;
    const struct sched_param first = {.sched_priority = 1};
    const struct timespec pause = {0, 1000000};
    /* the kernel kills the other processes of the namespace when its first one ends */
    if (is_init()) return 1;
    /* The keeper gets a higher priority than the bot's processes, if this user may do that. Root
     * has no limit of processes, and sixty that fork and exit outrun a process of equal priority.
     */
    if (sched_setscheduler(0, SCHED_FIFO, &first)) setpriority(PRIO_PROCESS, 0, -20);
    int64_t deadline_ms = now_ms() + PATIENCE_S * 1000;
    while (now_ms() < deadline_ms) {
        kill(-child, SIGKILL);
        find_tree(&tree);
        signal_tree(&tree, SIGKILL, 0);
        pid_t ended = 1;
        while (ended > 0) ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0 && errno == ECHILD) return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Asks the scheduler to run this process soon after it wakes, for a short time at once. Linux 6.12
 * and later do so. The share of the processor stays the same, so no right is needed. */
static void run_soon(void)
{
    struct {
        uint32_t size;
        uint32_t policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns;
        uint64_t deadline;
        uint64_t period;
    } attribute = {.size = sizeof attribute, .policy = SCHED_OTHER, .slice_ns = SLICE_NS};
    syscall(SYS_sched_setattr, 0, &attribute, 0);
}

/* A descriptor that can be read when a child has ended. Stopped children do not count. */
static int watch_children(void)
{
    const struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Sees to it that the bot does not inherit a descriptor of the keeper. */
static void keep_private(int descriptor)
{
    if (descriptor >= 0) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/* The keeper lets go of the bot's pipes, or the arena would never see their end. */
static void let_go_of_streams(const Options *options)
{
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) dup2(nothing, stream);
    close(nothing);
    if (options->input >= 0) close(options->input);
    if (options->output >= 0) close(options->output);
    if (options->filter >= 0) close(options->filter);
    if (options->machine_proc >= 0) close(options->machine_proc);
}

int main(int count, char **words)
{
    Options options;
    int counter = -1;
    if (read_options(&options, count, words)) {
        fputs("usage: keeper CONTROL [NAME=VALUE]... -- COMMAND...\n", stderr);
        return WRONG_ARGUMENTS;
    }
    is_first = getpid() == 1;
    /* Orphans of the bot become children of the keeper. So no process can hide by leaving its
     * parent, and the CPU time of ended processes is booked where the arena reads it. */
    if (!is_first) prctl(PR_SET_CHILD_SUBREAPER, 1);
    keep_private(options.control);
    keep_private(options.input);
    keep_private(options.output);
    keep_private(options.filter);
    keep_private(options.machine_proc);
    int signals = watch_children();
    if (signals < 0) {
        tell(options.control, "failed the keeper cannot wait for its children\n", -1);
        return 0;
    }
    pid_t child = start_bot(&options, &counter);
    if (child < 0) return 0;
    run_soon(); /* after the fork, so that the bot does not inherit it */
    let_go_of_streams(&options);
    wait_for_end(&options, child, counter, signals);
    return kill_all(child) ? 0 : 1;
}
