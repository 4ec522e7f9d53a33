/* NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
   Stdout belongs to the protocol. To log something, write to stderr: fprintf(stderr, ...). */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ROWS 26
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static const char *rows[MAX_ROWS]; /* the board; a row ends with a quote, as it does in JSON */
static int height;
static int village = 1; /* an option: bot.toml declares it, and `start` brings what the user set */
static const char *require(const char *object, const char *key);
static const char *get(const char *object, const char *key);
static const char *next_string(const char **array);
static int beside(const char *square, char sign);
static int shows(int row, int column, char sign);
static int has_time(void);

/* ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
   A tile with one colour twice founds a province if it touches no space of that colour, and may win
   the villages beside it. */
static int worth(const char *move)
{
    char colour = move[0];
    const char *square = move + 1;
    const char *second_half = square + 1 + strspn(square + 1, "0123456789");
    const char *other = second_half + 1;
    if (*second_half != colour) return 0;
    if (beside(square, colour) || beside(other, colour)) return 0;
    return 1 + village * (beside(square, 'V') + beside(other, 'V'));
}

/* Returns the move to play; empty if the turn has none. A turn has: hand, legal, time_ms, position
 * (rows, provinces, villages, left, hands, pile). */
static const char *choose(const char *turn)
{
    const char *left = require(require(turn, "position"), "rows");
    const char *row = next_string(&left);
    for (height = 0; row && height < MAX_ROWS; height++) {
        rows[height] = row;
        row = next_string(&left);
    }
    const char *best = "";
    int best_worth = -1;
    left = require(turn, "legal");
    const char *move = next_string(&left);
    while (move) {
        int move_worth = worth(move);
        if (move_worth > best_worth) {
            best = move;
            best_worth = move_worth;
        }
        if (!has_time()) break;
        move = next_string(&left);
    }
    return best;
}

/* Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a village, ~
 * for a lake. */
static int beside(const char *square, char sign)
{
    int column = square[0] - 'a';
    int row = atoi(square + 1) - 1;
    return shows(row, column - 1, sign) + shows(row, column + 1, sign)
           + shows(row - 1, column, sign) + shows(row + 1, column, sign);
}
static int shows(int row, int column, char sign)
{
    if (row < 0 || row >= height || column < 0) return 0;
    int width = (int)strcspn(rows[row], "\"");
    return column < width && rows[row][column] == sign;
}

/* ---- time, in ms. A late answer loses the game: ask has_time after every small piece of work, and
   have a move ready at any time. The arena counts the CPU time since your last answer; with
   `--clock wall` it counts the wall-clock time since its request. Give this bot 5 ms a
   move or more. */
static double since;       /* when the counting began: at the last answer, or at the request */
static double limit = 1e9; /* how long the bot may think */
static double late;        /* a further reserve, which grows after late answers */
static int by_wall;        /* whether the arena was started with `--clock wall` */
static int has_bank;       /* whether time_ms is all that is left for the whole game */
static double now(void)
{
    struct timespec time;
    clock_gettime(by_wall ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}
static int has_time(void)
{
    return now() - since < limit;
}
static void asked(const char *turn)
{
    double ms = atof(require(turn, "time_ms"));
    double reserve = by_wall ? 25 + ms / 4 : MAX(15, ms / 20); /* for surprises */
    if (by_wall) since = now();
    /* Of a budget for the whole game, a move gets a twentieth. */
    limit = has_bank ? ms / 20 : MAX(ms * 0.4, ms - reserve - late);
}
static void answered(void)
{
    fflush(stdout);
    /* A late answer makes the reserve larger, and each answer in time a little smaller. */
    late = MAX(late * 0.8, now() - since - limit);
    since = now();
}

/* ---- just enough JSON for this bot */
static const char *past_string(const char *quote)
{
    const char *end = quote + 1;
    for (; *end && *end != '"'; end++)
        if (*end == '\\' && end[1]) end++;
    return *end ? end + 1 : end;
}

/* Finds where the value of a key that the object has to have starts. */
static const char *require(const char *object, const char *key)
{
    const char *value = get(object, key);
    if (*value) return value;
    int length = (int)strcspn(object, "\n");
    fprintf(stderr, "expected the field %s, got a message without it: %.*s\n", key,
            length < 200 ? length : 200, object);
    exit(1);
}

/* Finds where the value of a key of this object starts; empty if the object does not have the key.
 * Keys of nested objects do not count. */
static const char *get(const char *object, const char *key)
{
    size_t length = strlen(key);
    int depth = 0;
    while (*object) {
        if (*object != '"') {
            if (*object == '{' || *object == '[') depth++;
            if (*object == '}' || *object == ']') depth--;
            if (depth == 0) break;
            object++;
            continue;
        }
        const char *name = object + 1;
        const char *after = past_string(object);
        int is_key = strncmp(name, key, length) == 0 && name + length + 1 == after;
        object = after + strspn(after, " \t");
        if (depth == 1 && *object == ':' && is_key) return object + 1 + strspn(object + 1, " \t");
    }
    return "";
}

/* Returns the next string of an array of strings, or NULL at the end. The string ends at a quote,
 * not at a zero byte. */
static const char *next_string(const char **array)
{
    const char *quote = *array + strcspn(*array, "\"]");
    if (*quote != '"') return NULL;
    *array = past_string(quote);
    return quote + 1;
}

/* ---- the conversation with the arena, see protocol/SPEC.md */
static void start(const char *message)
{
    by_wall = strncmp(get(message, "clock"), "\"wall\"", 6) == 0;
    has_bank = *get(message, "game_ms") != 0;
    const char *chosen = get(get(message, "options"), "village");
    if (*chosen) village = atoi(chosen);
    fprintf(stderr, "options: village %d\n", village); /* `arena play --stderr` shows it */
}

static void take_turn(const char *message)
{
    long long id = atoll(require(message, "id"));
    asked(message);
    const char *move = choose(message);
    int length = (int)strcspn(move, "\"");
    if (!length) fprintf(stderr, "this turn has no move to choose\n");
    int note = length ? worth(move) : 0; /* `arena replay` shows notes */
    printf("{\"type\":\"move\",\"id\":%lld,\"move\":\"%.*s\",\"note\":{\"worth\":%d}}\n", id,
           length, move, note);
    answered();
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *type = require(line, "type");
        if (strncmp(type, "\"hello\"", 7) == 0) {
            long long id = atoll(require(line, "id"));
            printf("{\"type\":\"ready\",\"id\":%lld,\"view\":\"full\"}\n", id);
            answered();
        } else if (strncmp(type, "\"start\"", 7) == 0) {
            start(line);
        } else if (strncmp(type, "\"turn\"", 6) == 0) {
            take_turn(line);
        } else if (strncmp(type, "\"quit\"", 6) == 0) {
            break;
        }
    }
    free(line);
    return 0;
}
