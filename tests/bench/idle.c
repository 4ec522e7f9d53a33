/* A bot that writes a line and then does nothing. */
#include <unistd.h>

int main(void)
{
    if (write(1, "ready\n", 6) == 6) pause();
    return 0;
}
