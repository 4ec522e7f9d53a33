/* Reads the arguments of the keeper. */
#include "keeper.h"

#include <stdlib.h>
#include <string.h>

/* An option whose value is a whole number. */
typedef struct {
    const char *name;
    size_t place; /* of the field in Options */
} Field;

static const Field FIELDS[] = {
    {"input", offsetof(Options, input)},
    {"output", offsetof(Options, output)},
    {"filter", offsetof(Options, filter)},
    {"machine_proc", offsetof(Options, machine_proc)},
    {"counts", offsetof(Options, counts)},
    {"is_walled", offsetof(Options, is_walled)},
    {"has_own_network", offsetof(Options, has_own_network)},
    {"socket_kb", offsetof(Options, socket_kb)},
    {"memory_mb", offsetof(Options, memory_mb)},
    {"processes", offsetof(Options, processes)},
    {"threads", offsetof(Options, threads)},
    {"disk_mb", offsetof(Options, disk_mb)},
    {"files_on_disk", offsetof(Options, files_on_disk)},
    {"files_in_memory", offsetof(Options, files_in_memory)},
    {NULL, 0},
};

const char *value_of(const char *word, const char *name)
{
    size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

int for_each_option(const Options *options, const char *name, int (*function)(const char *, void *),
                    void *data)
{
    for (int i = 0; i < options->word_count; i++) {
        const char *value = value_of(options->words[i], name);
        int result = value ? function(value, data) : 0;
        if (result) return result;
    }
    return 0;
}

/* Reads one option. Options that are read where they are used are left alone. */
static void read_option(Options *options, const char *word)
{
    const char *value;
    for (const Field *field = FIELDS; field->name; field++) {
        value = value_of(word, field->name);
        if (value) *(long *)((char *)options + field->place) = atol(value);
    }
    if ((value = value_of(word, "handled"))) options->handled = strtoull(value, NULL, 10);
    if ((value = value_of(word, "cores"))) options->cores = value;
}

int read_options(Options *options, int count, char **words)
{
    *options = (Options){
        .input = -1,
        .output = -1,
        .filter = -1,
        .machine_proc = -1,
        .counts = 1,
        .memory_mb = NO_LIMIT,
        .processes = NO_LIMIT,
        .threads = NO_LIMIT,
        .disk_mb = NO_LIMIT,
        .files_on_disk = NO_LIMIT,
        .files_in_memory = NO_LIMIT,
        .words = words + 2,
    };
    if (count < 2) return -1;
    options->control = atoi(words[1]);
    int place = 2;
    for (; place < count && strcmp(words[place], "--"); place++) read_option(options, words[place]);
    options->word_count = place - 2;
    options->command = words + place + 1;
    return place + 1 < count ? 0 : -1;
}
