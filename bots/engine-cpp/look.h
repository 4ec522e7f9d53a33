// What both searches begin with: what a seat knows, what it may spend, and a first look at its moves.
#pragma once
#include <functional>
#include <numeric>
#include <stdexcept>

#include "judge.h"

// ---- What the searching seat knows of a hand: tiles it can name, and how many it cannot.
struct Hand {
    Counts known = {};
    int unknown = 0;
};

struct Known {
    std::array<Hand, MOST_SEATS> hands;
    Counts unseen;  // tiles that lie in hands it cannot see, or in the pile
    int pile = 0;

    // The mover plays a tile, out of those known if it can be, and draws.
    void play(int seat, int tile) {
        Hand &hand = hands[size_t(seat)];
        if (hand.known[size_t(tile)] > 0) hand.known[size_t(tile)]--;
        else hand.unknown--, unseen[size_t(tile)]--;
        if (pile > 0) pile--, hand.unknown++;
    }
    // One of a hand's tiles becomes known: any that is unseen, at random.
    template <class Random>
    void reveal(int seat, Random &random) {
        const int total = std::accumulate(unseen.begin(), unseen.end(), 0);
        if (total == 0) return;
        size_t tile = 0;
        for (int at = int(random() % uint64_t(total)); at >= unseen[tile]; tile++) at -= unseen[tile];
        Hand &hand = hands[size_t(seat)];
        hand.unknown--, unseen[tile]--, hand.known[tile]++;
    }
    int tiles(int seat) const {  // that it may hold, a bit for each of the six
        int tiles = 0;
        const Hand &hand = hands[size_t(seat)];
        for (size_t tile = 0; tile < 6; tile++)
            tiles |= (hand.known[tile] > 0 || (hand.unknown > 0 && unseen[tile] > 0)) << tile;
        return tiles;
    }
};

using Spent = std::function<double(long)>;  // is told how many positions were made; says what part of its time is spent

// ---- A move and what it promises each seat.
struct Line {
    Move move;
    Chances value;
    int tries = 1;  // the first look is one
};

struct Choice {
    Line line;
    int depth;   // turns looked ahead
    long nodes;  // positions made
};

inline void sort(std::vector<Line> &lines, size_t seat) {
    std::stable_sort(lines.begin(), lines.end(), [&](const Line &a, const Line &b) {
        return a.value[seat] > b.value[seat];
    });
}

template <int WORDS>
Position<WORDS> after(const Position<WORDS> &position, const Move &move) {
    Position<WORDS> made = position;
    made.play(move);
    return made;
}

// Every move with the mover's known tiles, the most promising first.
template <int WORDS>
std::vector<Line> first_look(const Position<WORDS> &position, const Known &known) {
    std::vector<Line> lines;
    auto look = [&](const Move &move) { lines.push_back({move, judge(after(position, move))}); };
    Placements<WORDS>(position).each(known.tiles(position.mover), look);
    if (lines.empty()) throw std::invalid_argument("a hand that can be played");
    sort(lines, size_t(position.mover));
    return lines;
}
