/* What the parts of the keeper share. keeper.c starts the bot and ends it, options.c reads the
 * arguments, confine.c takes rights away from the bot, processes.c finds its processes, stopping.c
 * stops them, usage.c looks at what they use, and counter.c counts their CPU time. */
#ifndef ARENA_KEEPER_H
#define ARENA_KEEPER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { NO_LIMIT = -1 };

/* The arguments of the keeper. A descriptor is -1 if there is none. */
typedef struct {
    int control;          /* the socket to the arena */
    long input;           /* what becomes the bot's standard input */
    long output;          /* what becomes the bot's standard output */
    long filter;          /* a file with the seccomp program */
    long machine_proc;    /* the folder /proc of the arena, which can be written to */
    long counts;          /* whether the kernel is to count the bot's CPU time */
    long is_walled;       /* whether the bot may not signal or trace processes outside */
    long has_own_network; /* whether the network namespace has no sockets but the bot's */
    uint64_t handled; /* the rights to files that the bot loses, except below the paths of allow= */
    const char *cores; /* the numbers of the bot's processors, joined by commas, or NULL */
    long socket_kb;    /* the memory that a socket is counted with, in kB */
    long memory_mb;    /* limits for all processes of the bot together, or NO_LIMIT */
    long processes;
    long threads;
    long disk_mb; /* in the folders of folder= */
    long files_on_disk;
    long files_in_memory; /* in the sandbox's /tmp and /dev/shm */
    char **words;         /* all options as they were given, for those that may be repeated */
    int word_count;
    char **command; /* the bot's command, which ends with NULL */
} Options;

/* Reads the keeper's COUNT arguments WORDS into OPTIONS. Returns 0, or -1 if they are wrong. */
int read_options(Options *options, int count, char **words);

/* The value of the word NAME=value, NULL if the word has another name. */
const char *value_of(const char *word, const char *name);

/* Calls FUNCTION(value) for each option NAME=value of OPTIONS. Returns the first result but 0. */
int for_each_option(const Options *options, const char *name, int (*function)(const char *, void *),
                    void *data);

/* Whether this process is the first of a pid namespace, whose other processes are all the bot's. */
int is_init(void);

/* Sets the limits of the options RLIMIT_... for this process. Returns 0, or -1 with errno. */
int set_limits(const Options *options);

/* Confines this process as the options say. Returns 0, or -1 with errno. */
int confine(const Options *options);

/* Makes room for one more element of SIZE bytes after COUNT others, and updates CAPACITY, which is
 * how many there is room for. Returns the elements, which may have moved. The program ends if
 * memory is short, and with it the bot. */
void *grown(void *elements, size_t count, size_t *capacity, size_t size);

/* Opens the file NAME of /proc/PID; NULL if it does not exist, or this process may not read it. */
FILE *open_proc(pid_t pid, const char *name);

/* A growing list of process ids. */
typedef struct {
    pid_t *pids;
    size_t count;
    size_t capacity;
} Tree;

/* Fills TREE with the ids of all processes of the bot, parents first. */
void find_tree(Tree *tree);

/* Whether process PID, which was sent SIGSTOP, has stopped or ended. A process in a system call
 * that nothing interrupts counts as stopped: it stops when the call ends. */
int is_stopped(pid_t pid);

/* Whether process PID is ending, but has not ended. Such a process ignores SIGSTOP, and its end can
 * send signals to others. */
int is_leaving(pid_t pid);

/* Whether all threads of process PID are exiting or have ended, so that it runs nothing of the bot
 * any more, and is returning its memory. */
int is_ending(pid_t pid);

/* Fills THREADS with the ids of the threads of process PID. */
void list_threads(Tree *threads, pid_t pid);

/* A thread of process PID that has not ended, as long as there is one: the first thread, whose id
 * is PID, or if that is exiting, another one. If the first thread has ended, /proc/PID shows
 * neither memory nor open files, but /proc/THREAD shows those of the process for each other thread.
 */
pid_t living_thread(pid_t pid);

/* Whether the first thread of process PID has ended, and another one goes on. */
int has_lost_first_thread(pid_t pid);

/* The parent of a process, 0 if it does not exist. */
pid_t parent_of(pid_t pid);

/* The time on a clock that never goes back, in ms. */
int64_t now_ms(void);

/* Sends the signal NUMBER to each process of the tree, in its order, or from the last to the first
 * if IS_REVERSED. */
void signal_tree(const Tree *tree, int number, int is_reversed);

/* Stops CHILD, the first process of the bot, before its children are stopped, and waits up to 50 ms
 * until it has stopped. Does nothing if the bot has no other process. */
void stop_first(pid_t child);

/* Stops all processes of the bot, and waits up to 2 s until they have stopped. HAS_MORE_CORES says
 * whether the bot may run at the same time as the keeper. */
void stop_bot(int has_more_cores);

/* Lets all processes of the bot go on. HAS_MORE_CORES is that of stop_bot. */
void resume_bot(int has_more_cores);

/* Sends SIGKILL to all processes of the bot, and does not wait for their end. */
void kill_bot(void);

/* A descriptor from which the CPU time, in ns, of a thread and of everything that it will start can
 * be read; -1 with errno if the kernel does not allow it. THREAD is the id of a thread, or of a
 * process that has one. The kernel adds up all of these processes, whichever process waits for them
 * and whatever sessions they make. */
int count_processor_time(pid_t thread);

/* The CPU time of a process by its own clock, ended threads included, in ns; 0 if it has ended. */
int64_t process_ns(pid_t pid);

/* The CPU time of a process when it was last looked at. */
typedef struct {
    pid_t pid;
    int64_t ns;
} Clock;

typedef struct {
    Clock *clocks;
    size_t count;
    size_t capacity;
} Clocks;

/* Adds to CLOCKS that process PID has used so many ns. */
void add_clock(Clocks *clocks, pid_t pid, int64_t ns);

/* The CPU time in ms that the processes in TREE, which are all of the bot, used lately without
 * being counted; 0 if none is known to be missing. COUNTER is the descriptor of the bot's counter.
 * To be called at every look. */
long missed_ms(const Tree *tree, int counter);

/* Looks at what the bot's processes use. If it is more than a limit allows, writes a line for the
 * arena to LINE and returns 1; otherwise returns 0. COUNTER is a descriptor, -1 if there is none.
 * MANY becomes 1 if the bot has more than one process or thread, or memory that takes long to
 * count. Such memory is counted only if MANY was 1 before. If no process has computed since the
 * last look, only uncounted CPU time is looked for, unless AGAIN is set. */
int exceeds_limit(const Options *options, int counter, int again, int *many, char *line,
                  size_t size);

#endif
