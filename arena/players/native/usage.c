/* Looks at what the bot's processes use: memory, processes, threads and files. Everything here
 * reads /proc; arena/players/usage.py does the same in Python. */
#define _GNU_SOURCE
#include "keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The memory that a pipe is counted with, which is what it holds when full. */
enum { PIPE_KB = 64 };
/* A file system with fewer bytes than this is the sandbox's own; the machine's /tmp is larger. */
enum { SMALL = 1 << 27 };
enum { PATH_SIZE = 128 };
/* A process may have shared memory of at most this many times the bot's limit mapped. Memory that
 * is mapped again counts again: to count it once, the kernel looks at each page of each mapping. */
enum { MAX_MAPPED = 2 };
/* How many mappings of memory all processes may have. With more, a look would take seconds. */
enum { MAX_MAPPINGS = 100000 };
/* A look at more mappings than this takes long, so the arena stops such a bot after each answer. */
enum { SLOW_MAPPINGS = 1000 };
/* How many watches of epoll all processes may be able to have. No figure of a process includes
 * their memory, 230 bytes each, and the kernel limits them by user: a bot that took all of them
 * would leave none to its rivals. */
enum { MAX_WATCHES = 200000 };
/* How many open files all processes may have together, except in a build. When a process ends, the
 * kernel compares each of its locks (flock) with those of all others: the end of 120 processes with
 * 240 locks each took 18 s, which nobody counts. */
enum { MAX_OPEN = 4000 };

/* A file that a process has open, or that lies in a folder of the bot. */
typedef struct {
    dev_t device;
    ino_t inode;
    mode_t mode;
    nlink_t links;
    blkcnt_t blocks;
} File;

typedef struct {
    File *files;
    size_t count;
    size_t capacity;
} Files;

/* Memory that processes share without a file, by the inode that the kernel gave it. */
typedef struct {
    unsigned long inode;
    long kb;
} Shared;

typedef struct {
    Shared *parts;
    size_t count;
    size_t capacity;
} SharedParts;

/* The figures of one process. */
typedef struct {
    long kb;        /* memory that no file backs */
    long shared_kb; /* how much of it is shared memory */
    long threads;
} Figures;

/* Page tables are counted: they took 440 MB where they were not. */
static const char *const COUNTED[] = {"RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:", NULL};
static const char *const PAGE_TABLES[] = {"VmPTE:", NULL};
static const char *const DIVIDED[] = {"Pss_Anon:", "Pss_Shmem:", "SwapPss:", NULL};

/* Whether a line begins with one of the names. */
static int begins_with(const char *line, const char *const *names)
{
    for (; *names; names++)
        if (strncmp(line, *names, strlen(*names)) == 0) return 1;
    return 0;
}

/* The number after the name that begins a line of /proc. */
static long number_of(const char *line)
{
    const char *colon = strchr(line, ':');
    return colon ? atol(colon + 1) : 0;
}

static Figures figures_of(pid_t pid)
{
    Figures figures = {0};
    char line[256];
    FILE *file = open_proc(living_thread(pid), "status");
    while (file && fgets(line, sizeof line, file)) {
        if (begins_with(line, COUNTED)) figures.kb += number_of(line);
        if (strncmp(line, "RssShmem:", 9) == 0) figures.shared_kb = number_of(line);
        if (strncmp(line, "Threads:", 8) == 0) figures.threads = number_of(line);
    }
    if (file) fclose(file);
    return figures;
}

/* Adds up the lines of a file of /proc/PID that begin with one of the names; -1 if the file cannot
 * be read. */
static long sum_of(pid_t pid, const char *name, const char *const *names)
{
    FILE *file = open_proc(living_thread(pid), name);
    if (!file) return -1;
    long sum = 0;
    char line[256];
    while (fgets(line, sizeof line, file))
        if (begins_with(line, names)) sum += number_of(line);
    fclose(file);
    return sum;
}

/* The memory of a process in kB, where shared memory is divided among the processes that share it,
 * unless the kernel does not say that. This is slower to read than figures_of. */
static long shared_fairly(pid_t pid)
{
    long divided_kb = sum_of(pid, "smaps_rollup", DIVIDED);
    long tables_kb = sum_of(pid, "status", PAGE_TABLES);
    return divided_kb < 0 || tables_kb < 0 ? figures_of(pid).kb : divided_kb + tables_kb;
}

static void add_shared(SharedParts *shared, Shared part)
{
    shared->parts = grown(shared->parts, shared->count, &shared->capacity, sizeof *shared->parts);
    shared->parts[shared->count++] = part;
}

static int by_memory(const void *left, const void *right)
{
    const Shared *one = left;
    const Shared *other = right;
    return (one->inode > other->inode) - (one->inode < other->inode);
}

/* Joins the parts of the same memory: adds up their sizes, or keeps the largest. */
static void join_shared(SharedParts *shared, int adds)
{
    if (!shared->count) return;
    qsort(shared->parts, shared->count, sizeof *shared->parts, by_memory);
    size_t last = 0;
    for (size_t i = 1; i < shared->count; i++) {
        const Shared *part = &shared->parts[i];
        Shared *joined = &shared->parts[last];
        if (joined->inode != part->inode) shared->parts[++last] = *part;
        else if (adds) joined->kb += part->kb;
        else if (joined->kb < part->kb) joined->kb = part->kb;
    }
    shared->count = last + 1;
}

/* The kB of memory that the processes share without a file. What one process wrote stays there
 * after it is unmapped. *MAPPINGS becomes the number of mappings of memory that were looked at, at
 * most one more than MAX_MAPPINGS. */
static long shared_kb(const Tree *tree, long *mappings)
{
    static SharedParts all;
    static SharedParts mine;
    all.count = 0;
    *mappings = 0;
    char *line = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < tree->count; i++) {
        mine.count = 0;
        FILE *file = open_proc(living_thread(tree->pids[i]), "maps");
        while (file && *mappings <= MAX_MAPPINGS && getline(&line, &capacity, file) > 0) {
            *mappings += 1;
            unsigned long start;
            unsigned long end;
            unsigned long inode;
            /* the name of shared memory without a file */
            if (!strstr(line, "/dev/zero (deleted)")) continue;
            if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &start, &end, &inode) != 3) continue;
            add_shared(&mine, (Shared){inode, (long)((end - start) >> 10)});
        }
        if (file) fclose(file);
        join_shared(&mine, 1);
        for (size_t part = 0; part < mine.count; part++) add_shared(&all, mine.parts[part]);
    }
    free(line);
    join_shared(&all, 0);
    long sum = 0;
    for (size_t part = 0; part < all.count; part++) sum += all.parts[part].kb;
    return sum;
}

static void add_file(Files *files, File file)
{
    files->files = grown(files->files, files->count, &files->capacity, sizeof *files->files);
    files->files[files->count++] = file;
}

static File file_of(const struct stat *status)
{
    return (File){status->st_dev, status->st_ino, status->st_mode, status->st_nlink,
                  status->st_blocks};
}

/* Adds the open files of a process, as far as they can be seen. A bot in a sandbox cannot hide
 * them. */
static void add_opened(Files *files, pid_t pid)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)living_thread(pid));
    DIR *folder = opendir(path);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;
        if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0)
            add_file(files, file_of(&status));
    }
    closedir(folder);
}

/* How many watches of epoll the process can have whose open files begin at FIRST: as many as it has
 * pairs of a nameless file, which may be an epoll, and another file. */
static long watches_of(const Files *opened, size_t first)
{
    long nameless = 0;
    for (size_t i = first; i < opened->count; i++)
        nameless += (opened->files[i].mode & S_IFMT) == 0;
    return nameless * (long)(opened->count - first);
}

static int by_inode(const void *left, const void *right)
{
    const File *one = left;
    const File *other = right;
    if (one->device != other->device) return one->device < other->device ? -1 : 1;
    return (one->inode > other->inode) - (one->inode < other->inode);
}

/* Sorts the files and drops those that stand in the list twice. */
static void keep_distinct(Files *files)
{
    if (!files->count) return;
    qsort(files->files, files->count, sizeof *files->files, by_inode);
    size_t kept = 1;
    for (size_t i = 1; i < files->count; i++)
        if (by_inode(&files->files[i], &files->files[kept - 1]))
            files->files[kept++] = files->files[i];
    files->count = kept;
}

/* How many sockets the network namespace of process PID has, whether they are open or wait in a
 * queue. */
static long sockets_of_network(pid_t pid)
{
    FILE *file = open_proc(pid, "net/unix");
    if (!file) return 0;
    long lines = 0;
    for (int character; (character = getc(file)) != EOF;) lines += character == '\n';
    fclose(file);
    return lines > 0 ? lines - 1 : 0; /* the first line has the headings */
}

/* The kB that the kernel may hold for the processes' sockets and pipes, which no figure of a
 * process includes. */
static long held_kb(const Options *options, const Files *opened)
{
    long pipes = 0;
    long sockets = 0;
    for (size_t i = 0; i < opened->count; i++) {
        pipes += S_ISFIFO(opened->files[i].mode);
        sockets += S_ISSOCK(opened->files[i].mode);
    }
    if (options->has_own_network) {
        long all = sockets_of_network(getpid());
        if (all > sockets) sockets = all;
    }
    return sockets * options->socket_kb + pipes * PIPE_KB;
}

/* The number of files in the sandbox's file systems in memory; there, only their size is
 * limited. */
static long files_in_memory(void)
{
    static const char *const FOLDERS[] = {"/tmp", "/dev/shm"};
    long count = 0;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof FOLDERS[0]; i++) {
        struct statvfs room;
        if (statvfs(FOLDERS[i], &room)) continue;
        if (room.f_blocks * room.f_frsize < SMALL) count += (long)(room.f_files - room.f_ffree);
    }
    return count;
}

typedef struct {
    Files *files;
    size_t most;
    int is_hidden; /* whether a folder could not be read */
} Disk;

/* Adds the files below a folder to DISK until there are too many. Returns 0, as for_each_option
 * wants it. */
static int add_below(const char *path, void *data)
{
    Disk *disk = data;
    /* not through a link, by which the bot may have replaced the folder meanwhile */
    int place = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = place < 0 ? NULL : fdopendir(place);
    if (!folder) {
        disk->is_hidden |= errno != ENOENT && errno != ENOTDIR && errno != ELOOP;
        if (place >= 0) close(place);
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct stat status;
        if (disk->is_hidden || disk->files->count > disk->most) break;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
        add_file(disk->files, file_of(&status));
        if (!S_ISDIR(status.st_mode)) continue;
        char *below;
        if (asprintf(&below, "%s/%s", path, entry->d_name) < 0) abort();
        add_below(below, disk);
        free(below);
    }
    closedir(folder);
    return 0;
}

/* The MB and the number of the files in the bot's folders, and of deleted files that are still
 * open. Counting stops above the limit of files; a folder that cannot be read counts as too many.
 */
static void measure_disk(const Options *options, const Files *opened, long *mb, long *count)
{
    static Files files;
    files.count = 0;
    for (size_t i = 0; i < opened->count; i++) {
        const File *file = &opened->files[i];
        if (!S_ISREG(file->mode) || file->links) continue;
        add_file(&files, *file);
    }
    Disk disk = {&files, (size_t)options->files_on_disk, 0};
    for_each_option(options, "folder", add_below, &disk);
    *count = (long)files.count + (disk.is_hidden ? options->files_on_disk + 1 : 0);
    keep_distinct(&files);
    long blocks = 0;
    for (size_t i = 0; i < files.count; i++) blocks += (long)files.files[i].blocks;
    *mb = blocks >> 11;
}

/* Whether a process of the bot has computed since the last call. If none has, the bot holds no more
 * memory, files or processes than it did then: each of these takes CPU time. */
static int has_computed(const Tree *tree)
{
    static Clocks known;
    int has = tree->count != known.count;
    known.count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        Clock now = {tree->pids[i], process_ns(tree->pids[i])};
        known.clocks = grown(known.clocks, i, &known.capacity, sizeof *known.clocks);
        Clock *last = &known.clocks[i];
        /* a clock that cannot be read, which is 0, says nothing */
        if (!has) has = now.ns == 0 || last->pid != now.pid || last->ns != now.ns;
        *last = now;
        known.count++;
    }
    return has;
}

/* The sums of the figures of all processes. MOST_SHARED_KB becomes the most shared memory that one
 * of them has mapped. */
static Figures figures_of_all(const Tree *tree, long *most_shared_kb)
{
    Figures sum = {0};
    *most_shared_kb = 0;
    for (size_t i = 0; i < tree->count; i++) {
        Figures figures = figures_of(tree->pids[i]);
        sum.kb += figures.kb;
        sum.shared_kb += figures.shared_kb;
        sum.threads += figures.threads;
        if (figures.shared_kb > *most_shared_kb) *most_shared_kb = figures.shared_kb;
    }
    return sum;
}

/* Whether process PID has no memory of its own but that of its parent, which is in TREE: a child of
 * vfork has, until it executes a program. */
static int has_memory_of_parent(pid_t pid, const Tree *tree)
{
    pid_t parent = parent_of(pid);
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->pids[i] != parent) continue;
        return !syscall(SYS_kcmp, living_thread(parent), living_thread(pid), KCMP_VM, 0, 0);
    }
    return 0;
}

/* The memory of all processes in MB, of which HELD_KB are in no process. The quick sum, in FIGURES,
 * counts shared memory once per process. Only if that is too much, the slow sum is made, which
 * counts it once. */
static long memory_mb(const Options *options, const Tree *tree, Figures figures, long held_kb)
{
    long mb = (figures.kb + held_kb) >> 10;
    if (options->memory_mb == NO_LIMIT || mb <= options->memory_mb) return mb;
    long kb = 0;
    for (size_t i = 0; i < tree->count; i++)
        if (!has_memory_of_parent(tree->pids[i], tree)) kb += shared_fairly(tree->pids[i]);
    return (kb + held_kb) >> 10;
}

/* Writes "NAME NUMBER" to LINE if the number is more than the limit. */
static int is_over(const char *name, long number, long limit, char *line, size_t size)
{
    if (limit == NO_LIMIT || number <= limit) return 0;
    snprintf(line, size, "%s %ld", name, number);
    return 1;
}

/* Whether the processes in TREE hold more than a limit allows, which is then told in LINE. If
 * processes begin or end meanwhile, the memory that they share may be counted more than once. */
static int holds_too_much(const Options *options, const Tree *tree, int *many, char *line,
                          size_t size)
{
    static Files opened;
    long most_shared_kb;
    Figures figures = figures_of_all(tree, &most_shared_kb);
    int was_many = *many;
    int is_slow = options->memory_mb != NO_LIMIT && figures.kb >> 10 > options->memory_mb;
    *many |= tree->count > 1 || figures.threads > 1 || is_slow;
    /* first what is read quickly: a bot that takes memory while the keeper reads the rest is ended
     */
    if (is_over("processes", (long)tree->count, options->processes, line, size)
        || is_over("threads", figures.threads, options->threads, line, size))
        return 1;
    if (options->memory_mb != NO_LIMIT
        && is_over("shared", most_shared_kb >> 10, MAX_MAPPED * options->memory_mb, line, size))
        return 1;
    /* Unless the memory of a single process is surely too much, it is counted at the next look, for
     * which the bot pays. */
    int is_sure = tree->count == 1 && (figures.kb - figures.shared_kb) >> 10 > options->memory_mb;
    if (is_slow && !was_many && !is_sure) return 0;
    if (is_over("memory", memory_mb(options, tree, figures, 0), options->memory_mb, line, size))
        return 1;
    opened.count = 0;
    long watches = 0;
    for (size_t i = 0; i < tree->count; i++) {
        size_t first = opened.count;
        add_opened(&opened, tree->pids[i]);
        watches += watches_of(&opened, first);
    }
    int is_playing = options->processes != NO_LIMIT;
    if (is_playing && is_over("open", (long)opened.count, MAX_OPEN, line, size)) return 1;
    keep_distinct(&opened);
    if (is_over("watches", watches, MAX_WATCHES, line, size)) return 1;
    long mappings;
    long left_kb = shared_kb(tree, &mappings) - figures.shared_kb; /* mapped by no process */
    long held = held_kb(options, &opened) + (left_kb > 0 ? left_kb : 0);
    *many |= mappings > SLOW_MAPPINGS;
    if (is_over("mappings", mappings, MAX_MAPPINGS, line, size)
        || is_over("memory", memory_mb(options, tree, figures, held), options->memory_mb, line,
                   size))
        return 1;
    if (options->files_in_memory != NO_LIMIT
        && is_over("files", files_in_memory(), options->files_in_memory, line, size))
        return 1;
    if (options->disk_mb != NO_LIMIT) {
        long disk_mb;
        long files;
        measure_disk(options, &opened, &disk_mb, &files);
        if (is_over("disk", disk_mb, options->disk_mb, line, size)
            || is_over("files", files, options->files_on_disk, line, size))
            return 1;
    }
    return 0;
}

/* Whether the processes in TREE used CPU time that was not counted, which is then told in LINE. */
static int is_uncounted(const Options *options, const Tree *tree, int counter, char *line,
                        size_t size)
{
    int is_playing = options->processes != NO_LIMIT;
    long missed = is_playing && counter >= 0 ? missed_ms(tree, counter) : 0;
    return is_over("uncounted", missed, 0, line, size);
}

int exceeds_limit(const Options *options, int counter, int again, int *many, char *line,
                  size_t size)
{
    static Tree tree;
    find_tree(&tree);
    if ((again || has_computed(&tree)) && holds_too_much(options, &tree, many, line, size))
        return 1;
    return is_uncounted(options, &tree, counter, line, size);
}
