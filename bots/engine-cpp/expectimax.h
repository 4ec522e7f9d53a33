// The search for two players: expectimax over tile types. What a seat will play depends on which of the six tiles it
// holds. Its own hand is known, and of the other's the odds are: so at every node the best move with each tile is found,
// the six are ranked by what they are worth to the mover, and each counts by the chance that the mover holds it and
// none better.
#pragma once
#include "look.h"

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
template <int WORDS>
class Expectimax {
    struct OutOfTime {};
    const Spent &spent;
    long nodes = 0;

  public:
    explicit Expectimax(const Spent &spent) : spent(spent) {}

    // Looks deeper and deeper, at fewer and fewer moves, until its time is spent. The best move so far comes first in
    // each round. So a round that is cut off still counts: a move found better than that one, at equal depth, is better.
    Choice run(const Position<WORDS> &position, const Known &known) {
        static constexpr int KEPT[] = {0, 40, 16, 10, 7, 5, 4};
        const size_t mover = size_t(position.mover);
        std::vector<Line> lines = first_look(position, known);
        nodes += long(lines.size());
        Line best = lines[0];
        int depth = 0;
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
        return {best, depth, nodes};
    }

  private:
    static constexpr int WIDTH = 3;         // moves with a tile that are looked into,
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

    // What a position promises each seat, after `depth` more moves.
    Chances value(const Position<WORDS> &position, const Known &known, int depth) {
        if (position.over || depth == 0) return judge(position);
        const int mover = position.mover;
        std::array<Best, 6> best = best_by_tile(position, known, depth > 1 ? WIDTH : 1);
        if (depth > 1) deepen(position, known, depth, best);
        Chances sum{};
        Odds odds(known, mover);
        for (int tile : ranking(best, mover))
            if (best[tile].count) add(sum, best[tile].value, odds.next(tile));
        if (odds.rest > 1e-6) add(sum, stuck(position, known, depth), odds.rest);
        return sum;
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
            if (++nodes % 64 == 0 && spent(nodes) >= 1) throw OutOfTime();
            best[size_t(move.tile())].offer({move, judge(after(position, move))}, size_t(position.mover), width);
        };
        const Placements<WORDS> placements(position);
        int tiles = known.tiles(position.mover);
        placements.each(tiles, offer, false);
        for (int tile = 0; tile < 6; tile++) tiles &= ~((best[size_t(tile)].count > 0) << tile);
        placements.each(tiles, offer);  // quiet moves of a tile are seldom the best: only where there are no others
        return best;
    }

    // Searches the replies with the tiles that are likely to be played. A tile that is seldom the best keeps its first
    // value: what follows it hardly counts.
    void deepen(const Position<WORDS> &position, const Known &known, int depth, std::array<Best, 6> &best) {
        const int mover = position.mover;
        Odds odds(known, mover);
        for (int tile : ranking(best, mover)) {
            Best &found = best[tile];
            if (!found.count || odds.next(tile) < 0.05) continue;
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
