/* What the parts of the keeper share. keeper.c starts the bot and ends it, confine.c takes rights
 * away from it, and usage.c looks at what its processes use. */
#ifndef ARENA_KEEPER_H
#define ARENA_KEEPER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { NO_LIMIT = -1 };

/* The arguments of the keeper. A descriptor is -1 if there is none. */
typedef struct {
    int control;         /* the socket to the arena */
    int input;           /* what becomes the bot's standard input */
    int output;          /* what becomes the bot's standard output */
    int filter;          /* a file with the seccomp program */
    int counts;          /* whether the kernel is to count the bot's CPU time */
    int is_walled;       /* whether the bot may not signal or trace processes outside */
    int has_own_network; /* whether the network namespace has no sockets but the bot's */
    uint64_t handled; /* the rights to files that the bot loses, except below the paths of allow= */
    const char *cores; /* the numbers of the bot's processors, joined by commas, or NULL */
    long socket_kb;    /* the memory that a socket is counted with */
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

/* Calls FUNCTION(value) for each option NAME=value of OPTIONS. Returns the first result but 0. */
int for_each_option(const Options *options, const char *name, int (*function)(const char *, void *),
                    void *data);

/* Whether this process is the first of a pid namespace, whose other processes are all the bot's. */
int is_init(void);

/* Confines this process as the options say. Returns 0, or -1 with errno. */
int confine(const Options *options);

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

/* Looks at what the bot's processes use. If it is more than a limit allows, writes a line for the
 * arena to LINE and returns 1; otherwise returns 0. COUNTER is a descriptor, -1 if there is none.
 * MANY becomes 1 if the bot has more than one process or thread. */
int exceeds_limit(const Options *options, int counter, int *many, char *line, size_t size);

#endif
