/* Finds the processes of the bot in /proc, and reads their states. */
#define _GNU_SOURCE
#include "keeper.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The flag in /proc/PID/stat of a process that is about to end. */
enum { EXITING = 4 };
enum { PATH_SIZE = 128 };

/* The fields of /proc/PID/stat that are of use here. */
typedef struct {
    char state;
    pid_t parent;
    unsigned flags;
    long threads; /* of the whole process, with those that have ended but still exist */
} Stat;

void *grown(void *elements, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return elements;
    *capacity = *capacity ? 2 * *capacity : 64;
    void *more = realloc(elements, *capacity * size);
    if (!more) abort();
    return more;
}

FILE *open_proc(pid_t pid, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return fopen(path, "re");
}

/* Reads /proc/PID/stat of a process or a thread. Returns whether it exists. */
static int read_stat(pid_t pid, Stat *stat)
{
    FILE *file = open_proc(pid, "stat");
    if (!file) return 0;
    char text[1024];
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    const char *fields = strrchr(text, ')'); /* the name before it may have any characters */
    int parent;
    if (!fields
        || sscanf(fields + 1,
                  " %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld",
                  &stat->state, &parent, &stat->flags, &stat->threads)
               != 4)
        return 0;
    stat->parent = parent;
    return 1;
}

static void add_pid(Tree *tree, pid_t pid)
{
    tree->pids = grown(tree->pids, tree->count, &tree->capacity, sizeof *tree->pids);
    tree->pids[tree->count++] = pid;
}

/* Fills TREE with the processes or threads that a folder of /proc shows. */
static void list_folder(Tree *tree, const char *path)
{
    tree->count = 0;
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0])) add_pid(tree, atoi(entry->d_name));
    closedir(folder);
}

void list_threads(Tree *threads, pid_t pid)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    list_folder(threads, path);
}

static int has_ended(const Stat *stat)
{
    return stat->state == 'Z' || stat->state == 'X';
}

pid_t living_thread(pid_t pid)
{
    static Tree threads;
    Stat stat;
    if (!read_stat(pid, &stat) || !(stat.flags & EXITING) || stat.threads <= 1) return pid;
    pid_t last = pid;
    list_threads(&threads, pid);
    for (size_t i = 0; i < threads.count; i++) {
        if (!read_stat(threads.pids[i], &stat)) continue;
        if (!(stat.flags & EXITING)) return threads.pids[i];
        if (!has_ended(&stat)) last = threads.pids[i];
    }
    return last;
}

pid_t parent_of(pid_t pid)
{
    Stat stat;
    return read_stat(pid, &stat) ? stat.parent : 0;
}

int is_stopped(pid_t pid)
{
    Stat stat;
    if (!read_stat(pid, &stat)) return 1;
    if (has_ended(&stat) && stat.threads > 1) {
        /* the first thread has ended before the others: the state of one of them counts */
        if (!read_stat(living_thread(pid), &stat) || has_ended(&stat)) return 0;
    }
    if (stat.state == 'D') return !(stat.flags & EXITING);
    return stat.state != 'R' && stat.state != 'S';
}

int is_leaving(pid_t pid)
{
    Stat stat;
    if (!read_stat(pid, &stat)) return 0;
    return stat.flags & EXITING && (!has_ended(&stat) || stat.threads > 1);
}

/* Adds the children that the threads of PID have started, as the kernel lists them. */
static void add_children(Tree *tree, pid_t pid)
{
    static Tree threads;
    list_threads(&threads, pid);
    for (size_t i = 0; i < threads.count; i++) {
        char name[PATH_SIZE / 2];
        snprintf(name, sizeof name, "task/%d/children", (int)threads.pids[i]);
        FILE *file = open_proc(pid, name);
        int child;
        while (file && fscanf(file, "%d", &child) == 1) add_pid(tree, child);
        if (file) fclose(file);
    }
}

/* Adds the children of PID among all processes, on a kernel that does not list them. */
static void add_children_of_all(Tree *tree, const Tree *all, pid_t pid)
{
    Stat stat;
    for (size_t i = 0; i < all->count; i++)
        if (read_stat(all->pids[i], &stat) && stat.parent == pid) add_pid(tree, all->pids[i]);
}

void find_tree(Tree *tree)
{
    static Tree all;
    pid_t self = getpid();
    if (is_init()) {
        list_folder(tree, "/proc");
        size_t kept = 0;
        for (size_t i = 0; i < tree->count; i++)
            if (tree->pids[i] != self) tree->pids[kept++] = tree->pids[i];
        tree->count = kept;
        return;
    }
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)self);
    int is_listed = access(path, R_OK) == 0;
    if (!is_listed) list_folder(&all, "/proc");
    tree->count = 0;
    pid_t parent = self;
    for (size_t next = 0;; parent = tree->pids[next++]) {
        if (is_listed) add_children(tree, parent);
        else add_children_of_all(tree, &all, parent);
        if (next == tree->count) return;
    }
}

/* Whether all these threads still exist and are exiting. None of them runs the bot's code. */
static int are_exiting(const Tree *threads)
{
    Stat stat;
    for (size_t i = 0; i < threads->count; i++)
        if (!read_stat(threads->pids[i], &stat) || !(stat.flags & EXITING)) return 0;
    return 1;
}

/* Like is_ending, but may be 0 if a thread of an ending process vanished meanwhile. */
static int is_seen_ending(pid_t pid)
{
    static Tree threads;
    Stat stat;
    if (!read_stat(pid, &stat)) return 1;
    if (!(stat.flags & EXITING)) return 0;
    if (stat.threads <= 1) return 1;
    /* A thread can start another before it exits, which the list may lack. If all threads of the
     * list were exiting before the threads were counted, and exist after it, the list was complete.
     */
    list_threads(&threads, pid);
    return are_exiting(&threads) && read_stat(pid, &stat) && stat.threads == (long)threads.count
           && are_exiting(&threads);
}

int is_ending(pid_t pid)
{
    return is_seen_ending(pid) || is_seen_ending(pid);
}

int has_lost_first_thread(pid_t pid)
{
    return living_thread(pid) != pid && !is_ending(pid);
}
