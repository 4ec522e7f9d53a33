/* A bot that answers each turn of a game with the next move of a list, as fast as a program can:
 * usage parrot MOVE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static char line[1 << 16];
    int next = 1;
    while (fgets(line, sizeof line, stdin)) {
        const char *id = strstr(line, "\"id\":");
        if (strstr(line, "\"type\":\"hello\"") && id) {
            printf("{\"type\":\"ready\",\"id\":%ld}\n", atol(id + 5));
            fflush(stdout);
        } else if (strstr(line, "\"type\":\"turn\"") && id && next < argc) {
            printf("{\"type\":\"move\",\"id\":%ld,\"move\":\"%s\"}\n", atol(id + 5), argv[next++]);
            fflush(stdout);
        } else if (strstr(line, "\"type\":\"start\"")) {
            next = 1;
        }
    }
    return 0;
}
