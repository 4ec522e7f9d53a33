/* Stops the processes of the bot, lets them go on, and kills them. */
#define _GNU_SOURCE
#include "keeper.h"

#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long the keeper looks whether the processes that it stopped have stopped, and how many times
 * it does not sleep in between. */
enum { MAX_STOP_MS = 2000, MAX_FIRST_MS = 50, QUICK_ROUNDS = 3 };

/* Sends a signal to each process of the tree, in this order or from the last to the first. */
void signal_tree(const Tree *tree, int number, int is_reversed)
{
    for (size_t i = 0; i < tree->count; i++)
        kill(tree->pids[is_reversed ? tree->count - 1 - i : i], number);
}

int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Lets other processes run for a moment, between two checks whether stopped processes have come to
 * a stop. ROUND counts the checks so far, from 0: after the first ones it only yields, later it
 * sleeps for 0.1 ms. */
static void give_way(int round)
{
    const struct timespec pause = {0, 100000};
    if (round < QUICK_ROUNDS) sched_yield();
    else nanosleep(&pause, NULL);
}

/* Whether FUNCTION is true for a process of the tree. */
static int any_of(const Tree *tree, int (*function)(pid_t))
{
    for (size_t i = 0; i < tree->count; i++)
        if (function(tree->pids[i])) return 1;
    return 0;
}

static int is_awake(pid_t pid)
{
    return !is_stopped(pid);
}

/* Sends SIGSTOP to each thread of the tree's processes but the first ones. The kernel gives a
 * signal for a process to its first thread. If that thread waits for something that only SIGKILL
 * ends, such as a child of vfork, the others would run on. */
static void stop_further_threads(const Tree *tree)
{
    static Tree threads;
    for (size_t i = 0; i < tree->count; i++) {
        pid_t first = tree->pids[i];
        list_threads(&threads, first);
        for (size_t j = 0; j < threads.count; j++)
            if (threads.pids[j] != first) syscall(SYS_tgkill, first, threads.pids[j], SIGSTOP);
    }
}

/* Stops all processes of the bot. With one processor for all, nothing of the bot runs until the
 * keeper waits again, so one call is enough, unless a process is ending. Otherwise the keeper looks
 * until nothing runs. */
void stop_bot(int has_more_cores)
{
    static Tree tree;
    if (is_init() && !has_more_cores) {
        kill(-1, SIGSTOP);
        find_tree(&tree);
        stop_further_threads(&tree);
        if (!any_of(&tree, is_leaving)) return;
    }
    size_t known = 0;
    int64_t deadline_ms = now_ms() + MAX_STOP_MS;
    for (int round = 0; now_ms() < deadline_ms; round++) {
        find_tree(&tree);
        if (is_init()) kill(-1, SIGSTOP);
        else /* parents first: a shell that saw its child stop would end */
            signal_tree(&tree, SIGSTOP, 0);
        stop_further_threads(&tree);
        if (tree.count == known && !any_of(&tree, is_awake)) return;
        known = tree.count;
        give_way(round);
    }
}

/* Stops the bot's first process, before its children are. A shell that minds its children would end
 * if it saw one of them stopped. It sees that even while SIGSTOP waits for it, if the kernel is
 * just then looking for a child that has ended, so only a shell that has stopped is safe. */
void stop_first(pid_t child)
{
    static Tree tree;
    find_tree(&tree);
    if (tree.count < 2) return;
    kill(child, SIGSTOP);
    int64_t deadline_ms = now_ms() + MAX_FIRST_MS;
    for (int round = 0; !is_stopped(child) && now_ms() < deadline_ms; round++) give_way(round);
}

/* Lets all processes of the bot go on, each before its parent: a shell that saw its child stopped
 * would end. One call for all of them begins with the parents, but with one processor for all, none
 * runs before the call is over. */
void resume_bot(int has_more_cores)
{
    static Tree tree;
    if (is_init() && !has_more_cores) {
        kill(-1, SIGCONT);
        return;
    }
    find_tree(&tree);
    signal_tree(&tree, SIGCONT, 1);
}

/* Kills all processes of the bot. */
void kill_bot(void)
{
    static Tree tree;
    if (is_init()) {
        kill(-1, SIGKILL);
        return;
    }
    find_tree(&tree);
    signal_tree(&tree, SIGKILL, 0);
}
