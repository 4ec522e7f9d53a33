// The search: expectimax over tile types. What a seat will play depends on which of the six tiles it holds. Its own
// hand is known, and of the others' the odds are: so at every node the best move with each tile is found, the six are
// ranked by what they are worth to the mover, and each counts by the chance that the mover holds it and none better.
// With two seats this is expectimax; with more, each seat plays for its own chance to win, and cares for no other's.
#pragma once
#include <functional>

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
        if (hand.known[size_t(tile)] > 0) {
            hand.known[size_t(tile)]--;
        } else {
            hand.unknown--;
            unseen[size_t(tile)]--;
        }
        if (pile > 0) pile--, hand.unknown++;
    }
    bool may_hold(int seat, int tile) const {
        const Hand &hand = hands[size_t(seat)];
        return hand.known[size_t(tile)] > 0 || (hand.unknown > 0 && unseen[size_t(tile)] > 0);
    }
};

// ---- Goes down a ranking of tiles: the chance that a seat holds the next one and none that came before.
class Odds {
    const Hand &hand;
    const Counts &unseen;
    int total = 0, left = 0;
    double none = 1;  // the chance that it holds none of those so far

  public:
    Odds(const Known &known, int seat) : hand(known.hands[size_t(seat)]), unseen(known.unseen) {
        for (int count : unseen) total += count;
        left = total;
    }
    double next(int tile) {
        const double before = none;
        left -= unseen[size_t(tile)];
        none = hand.known[size_t(tile)] > 0 ? 0 : std::min(none, miss());
        return before - none;
    }
    double rest() const { return none; }

  private:
    double miss() const {  // of `unknown` tiles drawn from `total`, all are among the `left` others
        double chance = 1;
        for (int i = 0; i < hand.unknown; i++) chance *= std::max(0.0, double(left - i) / double(std::max(1, total - i)));
        return chance;
    }
};

// ---- The search may be cut off at any node: it asks every hundred positions, some thirty microseconds of work.
struct OutOfTime {};
using MayGoOn = std::function<bool(long)>;  // is told how many positions were made

template <int WORDS>
class Search {
    const MayGoOn may_go_on;
    long asked = 0;

  public:
    long nodes = 0;  // positions made
    int depth = 0;   // turns looked ahead

    struct Line {
        Move move;
        Position<WORDS> after;
        Chances value;
    };

    explicit Search(MayGoOn may_go_on) : may_go_on(std::move(may_go_on)) {}

    // Looks deeper and deeper, at fewer and fewer moves, until it may not go on. The best move so far comes first in
    // each round. So a round that is cut off still counts: a move found better than that one, at equal depth, is better.
    Line choose(const Position<WORDS> &position, const Known &known) {
        static constexpr int KEPT[] = {0, 40, 16, 10, 7, 5, 4};
        const size_t mover = size_t(position.mover);
        std::vector<Line> lines = first_look(position, known);
        Line best = lines[0];
        try {
            for (depth = 1; lines.size() > 1 && depth <= 6 && best.value[mover] < 1; depth++) {
                lines.resize(std::min(lines.size(), size_t(KEPT[depth])), lines[0]);
                for (size_t i = 0; i < lines.size(); i++) {
                    Known then = known;
                    then.play(position.mover, lines[i].move.tile());
                    lines[i].value = value(lines[i].after, then, depth);
                    if (i == 0 || lines[i].value[mover] > best.value[mover]) best = lines[i];
                }
                sort(lines, mover);
            }
        } catch (const OutOfTime &) {
        }
        return best;
    }

  private:
    static constexpr int WIDTH = 3;

    // The best moves with one tile, and what the best of them is worth.
    struct Best {
        int count = 0;
        Move moves[WIDTH];
        Chances values[WIDTH], value{};
        float worth(int seat) const { return count ? value[size_t(seat)] : -1; }
        void offer(const Move &move, const Chances &found, size_t seat, int width) {
            if (count == width && found[seat] <= values[count - 1][seat]) return;
            int at = count < width ? count++ : count - 1;
            for (; at > 0 && values[at - 1][seat] < found[seat]; at--) moves[at] = moves[at - 1], values[at] = values[at - 1];
            moves[at] = move;
            values[at] = found;
            value = values[0];
        }
    };

    // Every move with the mover's known tiles, the most promising first.
    std::vector<Line> first_look(const Position<WORDS> &position, const Known &known) {
        std::vector<Line> lines;
        Placements<WORDS>(position).each(tiles_of(position, known), [&](const Move &move) {
            Line line{move, position, {}};
            line.after.play(move);
            line.value = judge(line.after);
            lines.push_back(line);
        });
        nodes += long(lines.size());
        sort(lines, size_t(position.mover));
        return lines;
    }

    // What a position promises each seat, after `depth` more moves.
    Chances value(const Position<WORDS> &position, const Known &known, int depth) {
        if (position.over || depth == 0) return judge(position);
        const int mover = position.mover;
        std::array<Best, 6> best = best_by_tile(position, known, depth > 1 ? WIDTH : 1);
        if (depth > 1) deepen(position, known, depth, best);
        std::array<int, 6> order = {0, 1, 2, 3, 4, 5};
        std::sort(order.begin(), order.end(), [&](int a, int b) { return best[a].worth(mover) > best[b].worth(mover); });
        Chances sum{};
        Odds odds(known, mover);
        for (int tile : order)
            if (best[tile].count) add(sum, best[tile].value, odds.next(tile));
        if (odds.rest() > 1e-6) add(sum, stuck(position, known, depth), odds.rest());
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
            tiles |= known.may_hold(position.mover, tile) << tile;
        return tiles;
    }

    static void add(Chances &sum, const Chances &value, double weight) {
        for (size_t seat = 0; seat < MOST_SEATS; seat++) sum[seat] += float(weight) * value[seat];
    }

    std::array<Best, 6> best_by_tile(const Position<WORDS> &position, const Known &known, int width) {
        if (nodes > asked + 100) {
            asked = nodes;
            if (!may_go_on(nodes)) throw OutOfTime();
        }
        std::array<Best, 6> best;
        Placements<WORDS>(position).each(tiles_of(position, known), [&](const Move &move) {
            auto after = position;
            after.play(move);
            nodes++;
            best[size_t(move.tile())].offer(move, judge(after), size_t(position.mover), width);
        });
        return best;
    }

    // Searches the replies with the tiles that are likely to be played. A tile that is seldom the best keeps its
    // first value: what follows it hardly counts.
    void deepen(const Position<WORDS> &position, const Known &known, int depth, std::array<Best, 6> &best) {
        const int mover = position.mover;
        std::array<int, 6> order = {0, 1, 2, 3, 4, 5};
        std::sort(order.begin(), order.end(), [&](int a, int b) { return best[a].worth(mover) > best[b].worth(mover); });
        Odds odds(known, mover);
        for (int tile : order) {
            Best &found = best[tile];
            if (!found.count || odds.next(tile) < 0.05) continue;
            Known then = known;
            then.play(mover, tile);
            float most = -1;
            for (int i = 0; i < found.count; i++) {
                if (found.values[i][size_t(mover)] < found.values[0][size_t(mover)] - 0.03f) break;
                auto after = position;
                after.play(found.moves[i]);
                const Chances reached = value(after, then, depth - 1);
                if (reached[size_t(mover)] > most) most = reached[size_t(mover)], found.value = reached;
            }
        }
    }

    // The mover can place nothing and passes (R3.2). If nobody else can either, the game ends as it stands.
    Chances stuck(Position<WORDS> position, const Known &known, int depth) {
        position.pass();
        bool can = false;
        Placements<WORDS>(position).each(63, [&](const Move &) { can = true; });
        if (!can) return outcome(position);
        return depth > 1 ? value(position, known, depth - 1) : judge(position);
    }
};
