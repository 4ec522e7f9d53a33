// The search: expectimax over tile types. What a seat will play depends on which of the six tiles it holds. Its own
// hand is known, and of the others' the odds are: so at every node the best move with each tile is found, the six are
// ranked by what they are worth to the mover, and each counts by the chance that the mover holds it and none better.
// With two seats this is expectimax; with more, each seat plays for its own chance to win, and cares for no other's.
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
    bool may_hold(size_t seat, size_t tile) const {
        return hands[seat].known[tile] > 0 || (hands[seat].unknown > 0 && unseen[tile] > 0);
    }
};

// ---- Goes down a ranking of tiles: the chance that a seat holds the next one and none that came before.
struct Odds {
    const Hand hand;
    const Counts unseen;
    int total, left;   // tiles unseen, and those of them that did not come yet
    double rest = 1;   // the chance that the seat holds none of those that came

    Odds(const Known &known, int seat)
        : hand(known.hands[size_t(seat)]),
          unseen(known.unseen),
          total(std::accumulate(unseen.begin(), unseen.end(), 0)),
          left(total) {}

    double next(int tile) {
        const double before = rest;
        left -= unseen[size_t(tile)];
        double none = hand.known[size_t(tile)] == 0;  // of all that it draws unseen, none came yet
        for (int i = 0; i < hand.unknown; i++) none *= std::max(0.0, double(left - i) / std::max(1, total - i));
        rest = std::min(rest, none);
        return before - rest;
    }
};

// ---- The search may be cut off at any node: it asks every 64 positions, some twenty microseconds of work.
struct OutOfTime {};
using MayGoOn = std::function<bool(long)>;  // is told how many positions were made

template <int WORDS>
class Search {
    const MayGoOn may_go_on;
  public:
    long nodes = 0;  // positions made
    int depth = 0;   // turns looked ahead

    struct Line {
        Move move;
        Chances value;
    };
    explicit Search(MayGoOn may_go_on) : may_go_on(std::move(may_go_on)) {}

    // Looks deeper and deeper, at fewer and fewer moves, until it may not go on. The best move so far comes first in
    // each round. So a round that is cut off still counts: a move found better than that one, at equal depth, is better.
    Line choose(const Position<WORDS> &position, const Known &known) {
        static constexpr int KEPT[] = {0, 40, 16, 10, 7, 5, 4};
        const size_t mover = size_t(position.mover);
        std::vector<Line> lines = first_look(position, known);
        if (lines.empty()) throw std::invalid_argument("a hand that can be played");
        Line best = lines[0];
        try {
            for (depth = 1; lines.size() > 1 && depth <= 6 && best.value[mover] < 1; depth++) {
                lines.resize(std::min(lines.size(), size_t(KEPT[depth])), lines[0]);
                for (size_t i = 0; i < lines.size(); i++) {
                    Known then = known;
                    then.play(position.mover, lines[i].move.tile());
                    lines[i].value = value(after(position, lines[i].move), then, depth);
                    if (i == 0 || lines[i].value[mover] > best.value[mover]) best = lines[i];
                }
                sort(lines, mover);
            }
        } catch (const OutOfTime &) {
        }
        return best;
    }

  private:
    static constexpr int WIDTH = 3;          // moves with a tile that are looked into,
    static constexpr float MARGIN = 0.03f;  // if they are nearly as good as the best

    // The best moves with one tile, and what the best of them is worth.
    struct Best {
        int count = 0;
        Line lines[WIDTH];
        Chances value{};
        float worth(int seat) const { return count ? value[size_t(seat)] : -1; }
        void offer(const Line &line, size_t seat, int width) {
            if (count == width && line.value[seat] <= lines[count - 1].value[seat]) return;
            int at = count < width ? count++ : count - 1;
            for (; at > 0 && lines[at - 1].value[seat] < line.value[seat]; at--) lines[at] = lines[at - 1];
            lines[at] = line;
            value = lines[0].value;
        }
    };

    static Position<WORDS> after(const Position<WORDS> &position, const Move &move) {
        Position<WORDS> made = position;
        made.play(move);
        return made;
    }

    // Every move with the mover's known tiles, the most promising first.
    std::vector<Line> first_look(const Position<WORDS> &position, const Known &known) {
        std::vector<Line> lines;
        auto look = [&](const Move &move) { lines.push_back({move, judge(after(position, move))}); };
        Placements<WORDS>(position).each(tiles_of(position, known), look);
        nodes += long(lines.size());
        sort(lines, size_t(position.mover));
        return lines;
    }

    // What a position promises each seat, after `depth` more moves.
    Chances value(const Position<WORDS> &position, const Known &known, int depth) {
        if (position.over || depth == 0) return judge(position);
        const int mover = position.mover;
        std::array<Best, 6> best = best_by_tile(position, known, depth > 1 && position.players == 2 ? WIDTH : 1);
        if (depth > 1) deepen(position, known, depth, best);
        Chances sum{};
        Odds odds(known, mover);
        for (int tile : ranking(best, mover))
            if (best[tile].count) add(sum, best[tile].value, odds.next(tile));
        if (odds.rest > 1e-6) add(sum, stuck(position, known, depth), odds.rest);
        return sum;
    }

    static void sort(std::vector<Line> &lines, size_t seat) {
        std::stable_sort(lines.begin(), lines.end(), [&](const Line &a, const Line &b) {
            return a.value[seat] > b.value[seat];
        });
    }

    static int tiles_of(const Position<WORDS> &position, const Known &known) {
        int tiles = 0;
        for (int tile = 0; tile < 6 && !position.out[position.mover]; tile++)
            tiles |= known.may_hold(size_t(position.mover), size_t(tile)) << tile;
        return tiles;
    }

    static std::array<int, 6> ranking(const std::array<Best, 6> &best, int seat) {
        std::array<int, 6> tiles = {0, 1, 2, 3, 4, 5};
        std::sort(tiles.begin(), tiles.end(), [&](int a, int b) { return best[a].worth(seat) > best[b].worth(seat); });
        return tiles;
    }

    static void add(Chances &sum, const Chances &value, double weight) {
        for (size_t seat = 0; seat < MOST_SEATS; seat++) sum[seat] += float(weight) * value[seat];
    }

    std::array<Best, 6> best_by_tile(const Position<WORDS> &position, const Known &known, int width) {
        std::array<Best, 6> best;
        auto offer = [&](const Move &move) {
            if (++nodes % 64 == 0 && !may_go_on(nodes)) throw OutOfTime();
            best[size_t(move.tile())].offer({move, judge(after(position, move))}, size_t(position.mover), width);
        };
        const Placements<WORDS> placements(position);
        int tiles = tiles_of(position, known);
        placements.each(tiles, offer, false);
        for (int tile = 0; tile < 6; tile++) tiles &= ~((best[size_t(tile)].count > 0) << tile);
        placements.each(tiles, offer);  // quiet moves of a tile are seldom the best: only where there are no others
        return best;
    }

    // Searches the replies with the tiles that are likely to be played. A tile that is seldom the best keeps its first
    // value: what follows it hardly counts. With two players a wide search was better than a deep one; with more, it has
    // to be narrow to come round to the seat's own next move at all.
    void deepen(const Position<WORDS> &position, const Known &known, int depth, std::array<Best, 6> &best) {
        const int mover = position.mover;
        Odds odds(known, mover);
        for (int tile : ranking(best, mover)) {
            Best &found = best[tile];
            if (!found.count || odds.next(tile) < (position.players == 2 ? 0.05 : 0.15)) continue;
            Known then = known;
            then.play(mover, tile);
            float most = -1;
            for (int i = 0; i < found.count; i++) {
                if (found.lines[i].value[size_t(mover)] < found.lines[0].value[size_t(mover)] - MARGIN) break;
                const Chances reached = value(after(position, found.lines[i].move), then, depth - 1);
                if (reached[size_t(mover)] > most) most = reached[size_t(mover)], found.value = reached;
            }
        }
    }

    // The mover can place nothing and passes (R3.2). If nobody else can either, the game ends as it stands (R8.1).
    Chances stuck(Position<WORDS> position, const Known &known, int depth) {
        bool can = false;
        Placements<WORDS>(position).each(63, [&](const Move &) { can = true; });
        position.pass();
        return can ? value(position, known, depth - 1) : outcome(position);
    }
};
