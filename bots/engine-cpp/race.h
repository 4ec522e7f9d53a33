// The search for three and four players: a race. There, what the others will do is hard to foresee, and a line of best
// moves hardly ever comes true. So the hidden tiles are dealt at random, all seats play on for some turns as players do
// who look one move ahead, and what they reach is judged. The mean over many deals is what a move is worth. After each
// lap the slower half of the moves drops out (sequential halving), so that time goes to those that are in question.
#pragma once
#include <random>

#include "look.h"

template <int WORDS>
class Race {
    static constexpr size_t STARTERS = 16;
    static constexpr int TURNS = 8, AMONG = 12;  // turns that are played on, each with the best of some moves

    const Position<WORDS> &position;
    const Known &known;
    std::mt19937_64 random;
    std::vector<Move> moves;
    long nodes = 0;

  public:
    Race(const Position<WORDS> &position, const Known &known, uint64_t seed)
        : position(position), known(known), random(seed) {}

    Choice run(const Spent &spent) {
        const size_t mover = size_t(position.mover);
        std::vector<Line> lines = first_look(position, known);
        nodes += long(lines.size());
        if (lines[0].value[mover] == 1) lines.resize(1);
        lines.resize(std::min(lines.size(), STARTERS));
        int laps = 0;
        while (1u << laps < lines.size()) laps++;
        for (int lap = 1; lap <= laps; lap++) {
            while (spent(nodes) < double(lap) / laps) {
                const Known deal = dealt();
                for (Line &line : lines) {
                    if (spent(nodes) >= 1) break;
                    const Chances reached = played_on(deal, line.move);
                    line.tries++;
                    for (size_t seat = 0; seat < MOST_SEATS; seat++)
                        line.value[seat] += (reached[seat] - line.value[seat]) / float(line.tries);
                }
            }
            sort(lines, mover);
            lines.resize((lines.size() + 1) / 2);
        }
        return {lines[0], TURNS, nodes};
    }

  private:
    // All that is hidden, as it may be.
    Known dealt() {
        Known deal = known;
        for (int seat = 0; seat < position.players; seat++)
            for (int i = known.hands[size_t(seat)].unknown; i > 0; i--) deal.reveal(seat, random);
        return deal;
    }

    void play(Position<WORDS> &at, Known &deal, const Move &move) {
        const int seat = at.mover;
        deal.play(seat, move.tile());
        if (deal.hands[size_t(seat)].unknown > 0) deal.reveal(seat, random);
        at.play(move);
    }

    Chances played_on(Known deal, const Move &move) {
        Position<WORDS> at = position;
        play(at, deal, move);
        nodes++;
        int passes = 0;
        for (int turn = 0; turn < TURNS && !at.over; turn++) {
            if (passes == at.players) return outcome(at);  // nobody can place a tile (R8.1)
            look_for_moves(at, at.out[at.mover] ? 0 : deal.tiles(at.mover));
            passes = moves.empty() ? passes + 1 : 0;
            if (passes) at.pass();
            else play(at, deal, likely(at));
        }
        return judge(at);
    }

    void look_for_moves(const Position<WORDS> &at, int tiles) {
        const Placements<WORDS> placements(at);
        moves.clear();
        for (bool quiet : {false, true})  // quiet moves only if there are no others
            if (moves.empty()) placements.each(tiles, [&](const Move &move) { moves.push_back(move); }, quiet);
    }

    // The best of some moves drawn at random: quicker than the best of all, and the mean is over more futures.
    Move likely(const Position<WORDS> &at) {
        const size_t among = std::min(moves.size(), size_t(AMONG));
        Move best;
        float most = -1;
        for (size_t i = 0; i < among; i++) {
            std::swap(moves[i], moves[i + random() % (moves.size() - i)]);
            const float worth = judge(after(at, moves[i]))[size_t(at.mover)];
            if (worth > most) most = worth, best = moves[i];
        }
        nodes += long(among);
        return best;
    }
};
