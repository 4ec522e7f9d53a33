/* Limits the process that becomes the bot, and takes rights away from it: with Landlock the rights
 * to files, with seccomp the system calls of the filter. arena/players/sandbox/confine.py does the
 * same in Python where the arena was installed without a C compiler, and has the tables. */
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers that are older than the kernel lack these names. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { VERSION_FLAG = 1, PATH_BENEATH = 1, SCOPES_SINCE = 6, BOTH_SCOPES = 3 };
enum { NO_NEW_PRIVILEGES = 38, SET_SECCOMP = 22, MODE_FILTER = 2 };
enum { CAPABILITIES_VERSION = 0x20080522 };
enum { MAX_FILTER = 1 << 16 };

static const uint64_t EXECUTE = 1;
/* The rights that a rule for a file may have: execute, write, read, truncate, ioctl. */
static const uint64_t OF_FILES = 1 | 2 | 4 | 1 << 14 | 1 << 15;

typedef struct {
    uint64_t handled;
    uint64_t network;
    uint64_t scopes;
} RulesetAttribute;

typedef struct {
    uint64_t rights;
    int32_t folder;
} __attribute__((packed)) PathRule;

typedef struct {
    int ruleset;
    uint64_t handled;
} Ruleset;

/* Adds the rule "RIGHTS:PATH" to the ruleset. A path that does not exist is left out, and a program
 * that this process may not read: to execute it would end the count of its CPU time. Returns 0, or
 * -1 with errno. */
static int allow(const char *rule, void *data)
{
    const Ruleset *ruleset = data;
    char *path;
    uint64_t rights = strtoull(rule, &path, 10) & ruleset->handled;
    if (*path != ':') {
        errno = EINVAL;
        return -1;
    }
    int how = rights & EXECUTE ? O_RDONLY | O_NONBLOCK : O_PATH;
    int place = open(path + 1, how | O_CLOEXEC);
    /* the bot then has no right there, either */
    if (place < 0) return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -1;
    struct stat status;
    int failed = fstat(place, &status);
    if (!failed && !S_ISDIR(status.st_mode)) rights &= OF_FILES;
    PathRule attribute = {rights, place};
    /* a rule without rights would be refused, and allows nothing */
    if (!failed && rights)
        failed = (int)syscall(ADD_RULE, ruleset->ruleset, PATH_BENEATH, &attribute, 0);
    close(place);
    return failed;
}

/* How many rights to files this version of Landlock knows. */
static int rights_of(long version)
{
    if (version == 1) return 13;
    if (version == 2) return 14;
    return version < 5 ? 15 : 16;
}

/* Takes the handled rights away everywhere except below the paths of the rules. Returns 0, or -1
 * with errno. */
static int restrict_files(const Options *options)
{
    long version = syscall(CREATE_RULESET, NULL, 0, VERSION_FLAG);
    /* in bubblewrap the bot is isolated already, and an old kernel may lack Landlock */
    if (version < 0 && !options->is_walled && (errno == ENOSYS || errno == EOPNOTSUPP)) return 0;
    if (version < 0) return -1;
    uint64_t known = (UINT64_C(1) << rights_of(version)) - 1;
    Ruleset ruleset = {-1, options->handled & known};
    /* the second number is for the network, which the seccomp filter closes already */
    RulesetAttribute attribute = {ruleset.handled, 0, options->is_walled ? BOTH_SCOPES : 0};
    size_t size = version >= SCOPES_SINCE ? sizeof attribute : sizeof attribute.handled;
    ruleset.ruleset = (int)syscall(CREATE_RULESET, &attribute, size, 0);
    if (ruleset.ruleset < 0) return -1;
    int failed = for_each_option(options, "allow", allow, &ruleset);
    if (!failed) failed = (int)syscall(RESTRICT_SELF, ruleset.ruleset, 0);
    close(ruleset.ruleset);
    return failed;
}

/* Gives up root's powers. They cannot come back, because the process cannot gain new privileges. */
static int drop_capabilities(void)
{
    uint32_t header[2] = {CAPABILITIES_VERSION, 0};
    uint32_t none[6] = {0};
    return (int)syscall(SYS_capset, header, none);
}

/* Installs the seccomp program that the file has. Returns 0, or -1 with errno. */
static int filter_calls(int file)
{
    static struct sock_filter steps[MAX_FILTER / sizeof(struct sock_filter)];
    ssize_t length = read(file, steps, sizeof steps);
    close(file);
    if (length < 0) return -1;
    struct sock_fprog program = {(unsigned short)((size_t)length / sizeof steps[0]), steps};
    return prctl(SET_SECCOMP, MODE_FILTER, &program, 0, 0);
}

typedef struct {
    const char *name;
    __rlimit_resource_t resource;
} Resource;

static const Resource RESOURCES[] = {
    {"RLIMIT_CORE", RLIMIT_CORE},
    {"RLIMIT_NOFILE", RLIMIT_NOFILE},
    {"RLIMIT_FSIZE", RLIMIT_FSIZE},
    {"RLIMIT_NPROC", RLIMIT_NPROC},
    {"RLIMIT_SIGPENDING", RLIMIT_SIGPENDING},
    {NULL, 0},
};

int set_limits(const Options *options)
{
    for (int i = 0; i < options->word_count; i++) {
        for (const Resource *each = RESOURCES; each->name; each++) {
            const char *value = value_of(options->words[i], each->name);
            struct rlimit limit;
            if (!value) continue;
            if (getrlimit(each->resource, &limit)) return -1;
            rlim_t number = strtoull(value, NULL, 10);
            if (limit.rlim_max == RLIM_INFINITY || number < limit.rlim_max) limit.rlim_max = number;
            limit.rlim_cur = limit.rlim_max;
            if (setrlimit(each->resource, &limit)) return -1;
        }
    }
    return 0;
}

int confine(const Options *options)
{
    if (options->filter < 0 && !options->handled) return 0;
    if (prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)) return -1;
    if (options->is_walled && drop_capabilities()) return -1;
    if (options->handled && restrict_files(options)) return -1;
    return options->filter < 0 ? 0 : filter_calls(options->filter);
}
