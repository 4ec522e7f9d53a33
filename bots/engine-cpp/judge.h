// What a position promises each seat. A seat has features ("a province of three with two free squares around it"), each
// feature has a weight, and the chance to win follows from the sums of weights by a softmax. The weights in weights.h
// are those by which the outcomes of the engine's own games were most likely (fit.py): a multinomial logistic regression.
#pragma once
#include <cmath>

#include "rules.h"

// ---- The features: where each group begins. Most come twice, as it matters whether their owner is the next to move.
enum Feature {
    LEFT = 0,                            // pagodas left
    FEW_LEFT = LEFT + 1,                 // and by number the last six
    TURN = FEW_LEFT + 7,                 // by turns until the seat moves
    PROVINCE = TURN + 4,                 // by size (2, 3, 4, major) and free squares around it (0, 1, 2, 3, 4 or more)
    JOIN = PROVINCE + 2 * 4 * 5,         // by what happens to the seat if one space joins its province to another
    VILLAGE = JOIN + 2 * 7,              // by the owner's lead in pagodas (0, 1, 2, 3 or more) and free squares beside it
    FREE_VILLAGE = VILLAGE + 2 * 4 * 4,  // villages that nobody has but somebody may win, by turns until the seat moves
    SINGLE = FREE_VILLAGE + 4,           // single spaces with a free square beside them, by the same
    FEATURES = SINGLE + 4
};
enum Join { GAIN, EVICT, LOSE, EVICTED, TIE, OWN, OWN_TO_MAJOR };

struct Weights {
    float early[FEATURES], late[FEATURES];
};
#include "weights.h"

// ---- What hangs over provinces of one colour that a single space could join: over each two of them once.
template <int WORDS, class Add>
void each_join(const Position<WORDS> &position, const Bits<WORDS> *edges, int colour, const Bits<WORDS> &where, Add add) {
    constexpr int joins[2] = {JOIN, JOIN + 7};
    uint8_t near[MOST_PROVINCES];
    int many = 0;
    for (int i = 0; i < position.count; i++)
        if (position.provinces[i].colour == colour && touch(edges[i], where)) near[many++] = uint8_t(i);
    for (int i = 0; i < many; i++)
        for (int j = i + 1; j < many; j++) {
            if (!touch(edges[near[i]], edges[near[j]])) continue;
            const auto &one = position.provinces[near[i]], &other = position.provinces[near[j]];
            const auto &large = one.size >= other.size ? one : other, &small = one.size >= other.size ? other : one;
            if (small.size >= MAJOR) continue;  // two majors never join
            const bool major = large.size >= MAJOR, tie = large.size == small.size, own = large.owner == small.owner;
            const int gain = own ? (major ? OWN_TO_MAJOR : OWN) : tie ? TIE : major ? EVICT : GAIN;
            add(large.owner, joins[large.owner != position.mover] + gain, 1);
            if (!own) add(small.owner, joins[small.owner != position.mover] + (tie ? TIE : major ? EVICTED : LOSE), 1);
        }
}

// ---- Calls `add(seat, feature, value)` for everything that lies on the board.
template <int WORDS, class Add>
void each_feature(const Position<WORDS> &position, Add add) {
    const auto &board = *position.board;
    const int players = position.players;
    auto turns_until = [&](int seat) { return (seat - position.mover + players) % players; };
    for (int seat = 0; seat < players; seat++) {
        add(seat, LEFT, position.left[seat]);
        if (position.left[seat] <= 6) add(seat, FEW_LEFT + position.left[seat], 1);
        add(seat, TURN + turns_until(seat), 1);
    }

    Bits<WORDS> edges[MOST_PROVINCES], in_provinces, once[3], more[3];
    for (int i = 0; i < position.count; i++) {
        const auto &province = position.provinces[i];
        edges[i] = province.halo & position.free;
        in_provinces |= province.mask;
        more[province.colour] |= once[province.colour] & edges[i];
        once[province.colour] |= edges[i];
        const int size = std::min<int>(province.size, MAJOR) - 2;
        const int group = PROVINCE + (province.owner == position.mover ? 0 : 20);
        add(province.owner, group + size * 5 + std::min(edges[i].count(), 4), 1);
    }
    for (int colour = 0; colour < 3; colour++)
        if (more[colour].any()) each_join(position, edges, colour, more[colour], add);

    int promising = 0;
    for (size_t village = 0; village < board.beside.size(); village++) {
        const int open = std::min((board.beside[village] & position.free).count(), 3), owner = position.villages[village];
        const int lead = std::clamp<int>(position.leads[village], 0, 3);
        if (owner == NOBODY) promising += open > 0;
        else add(owner, VILLAGE + (owner == position.mover ? 0 : 16) + lead * 4 + open, 1);
    }

    const auto spaces = position.cells[0] | position.cells[1] | position.cells[2];
    const int singles = (spaces.without(in_provinces) & board.spread(position.free)).count();
    for (int seat = 0; seat < players; seat++) {
        add(seat, FREE_VILLAGE + turns_until(seat), promising);
        add(seat, SINGLE + turns_until(seat), singles);
    }
}

// ---- How far the game has come, from 0 at the start to 1 when somebody has placed the last pagoda.
template <int WORDS>
float phase_of(const Position<WORDS> &position) {
    const int least = *std::min_element(position.left, position.left + position.players);
    return 1 - float(least) / float(PAGODAS[position.players]);
}

using Chances = std::array<float, MOST_SEATS>;  // of each seat to win; a win shared by k counts 1/k

// ---- A game that has ended, or can only end: the fewest pagodas left win (R8.2).
template <int WORDS>
Chances outcome(const Position<WORDS> &position) {
    int least = PAGODAS[2];
    float winners = 0;
    Chances won{};
    for (int seat = 0; seat < position.players; seat++)
        if (!position.out[seat]) least = std::min<int>(least, position.left[seat]);
    for (int seat = 0; seat < position.players; seat++)
        winners += won[seat] = !position.out[seat] && position.left[seat] == least;
    for (float &share : won) share /= winners;
    return won;
}

template <int WORDS>
Chances judge(const Position<WORDS> &position) {
    if (position.over) return outcome(position);
    const Weights &weights = WEIGHTS[position.players - 2];
    float early[MOST_SEATS] = {}, late[MOST_SEATS] = {};
    each_feature(position, [&](int seat, int feature, int value) {
        early[seat] += weights.early[feature] * float(value);
        late[seat] += weights.late[feature] * float(value);
    });
    const float phase = phase_of(position);
    float sum = 0;
    Chances chances{};
    for (int seat = 0; seat < position.players; seat++) {
        if (position.out[seat]) continue;
        chances[seat] = std::exp(early[seat] + phase * (late[seat] - early[seat]));
        sum += chances[seat];
    }
    for (float &chance : chances) chance /= sum;
    return chances;
}
