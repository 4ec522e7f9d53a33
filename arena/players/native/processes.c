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
    long threads;
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

/* Reads /proc/PID/stat. Returns whether the process exists. */
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

int is_stopped(pid_t pid)
{
    Stat stat;
    if (!read_stat(pid, &stat)) return 1;
    if (stat.state == 'D') return !(stat.flags & EXITING);
    return stat.state != 'R' && stat.state != 'S';
}

int is_asleep(pid_t pid)
{
    Stat stat;
    return read_stat(pid, &stat) && stat.state == 'S';
}

int is_leaving(pid_t pid)
{
    Stat stat;
    if (!read_stat(pid, &stat)) return 0;
    return stat.flags & EXITING && stat.state != 'Z' && stat.state != 'X';
}

static void add_pid(Tree *tree, pid_t pid)
{
    tree->pids = grown(tree->pids, tree->count, &tree->capacity, sizeof *tree->pids);
    tree->pids[tree->count++] = pid;
}

/* Fills TREE with all processes that /proc shows. */
static void list_processes(Tree *tree)
{
    tree->count = 0;
    DIR *folder = opendir("/proc");
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0])) add_pid(tree, atoi(entry->d_name));
    closedir(folder);
}

/* Adds the children that the threads of PID have started, as the kernel lists them. */
static void add_children(Tree *tree, pid_t pid)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!isdigit((unsigned char)entry->d_name[0])) continue;
        char name[PATH_SIZE / 2];
        snprintf(name, sizeof name, "task/%d/children", atoi(entry->d_name));
        FILE *file = open_proc(pid, name);
        int child;
        while (file && fscanf(file, "%d", &child) == 1) add_pid(tree, child);
        if (file) fclose(file);
    }
    closedir(folder);
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
        list_processes(tree);
        size_t kept = 0;
        for (size_t i = 0; i < tree->count; i++)
            if (tree->pids[i] != self) tree->pids[kept++] = tree->pids[i];
        tree->count = kept;
        return;
    }
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)self);
    int is_listed = access(path, R_OK) == 0;
    if (!is_listed) list_processes(&all);
    tree->count = 0;
    pid_t parent = self;
    for (size_t next = 0;; parent = tree->pids[next++]) {
        if (is_listed) add_children(tree, parent);
        else add_children_of_all(tree, &all, parent);
        if (next == tree->count) return;
    }
}

int is_ending(pid_t pid)
{
    Stat stat;
    return !read_stat(pid, &stat) || (stat.flags & EXITING && stat.threads <= 1);
}
