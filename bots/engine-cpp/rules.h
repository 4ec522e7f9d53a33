// The rules of Qin on bitboards: a set of squares is a few 64-bit words, so a province is a mask, merging is OR and
// touching is AND. Rule numbers (R4.3) are those of protocol/RULES.md; square numbers those of protocol/NOTATION.md:
// row * (width + 1) + column. The column too many stays empty, so that nothing wraps around the edge.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

constexpr int MAJOR = 5, NOBODY = -1, MOST_PROVINCES = 64, MOST_SEATS = 4;  // 4 x 15 pagodas: never 64 provinces
constexpr int PAGODAS[MOST_SEATS + 1] = {0, 0, 24, 19, 15};

// ---- Sets of squares. WORDS is 3 for the usual 13 x 13 board and 11 for the largest, 26 x 26.
template <int WORDS>
struct Bits {
    uint64_t word[WORDS] = {};

    static Bits of(int square) {
        Bits made;
        made.word[square >> 6] = 1ull << (square & 63);
        return made;
    }
    bool has(int square) const { return word[square >> 6] >> (square & 63) & 1; }
    bool any() const { return touch(*this, *this); }
    int count() const {
        int total = 0;
        for (uint64_t part : word) total += __builtin_popcountll(part);
        return total;
    }
    template <class Visit>
    void each(Visit visit) const {
        for (int i = 0; i < WORDS; i++)
            for (uint64_t rest = word[i]; rest; rest &= rest - 1) visit(i * 64 + __builtin_ctzll(rest));
    }
    Bits up(int by) const {  // towards higher square numbers; by is 1 to 63
        Bits moved;
        for (int i = 0; i < WORDS; i++) moved.word[i] = word[i] << by | (i ? word[i - 1] >> (64 - by) : 0);
        return moved;
    }
    Bits down(int by) const {
        Bits moved;
        for (int i = 0; i < WORDS; i++) moved.word[i] = word[i] >> by | (i + 1 < WORDS ? word[i + 1] << (64 - by) : 0);
        return moved;
    }
    friend Bits operator|(Bits a, const Bits &b) {
        for (int i = 0; i < WORDS; i++) a.word[i] |= b.word[i];
        return a;
    }
    friend Bits operator&(Bits a, const Bits &b) {
        for (int i = 0; i < WORDS; i++) a.word[i] &= b.word[i];
        return a;
    }
    Bits &operator|=(const Bits &other) { return *this = *this | other; }
    friend bool touch(const Bits &a, const Bits &b) {
        uint64_t both = 0;
        for (int i = 0; i < WORDS; i++) both |= a.word[i] & b.word[i];
        return both != 0;
    }
    Bits without(const Bits &other) const {
        Bits rest;
        for (int i = 0; i < WORDS; i++) rest.word[i] = word[i] & ~other.word[i];
        return rest;
    }
};

// ---- Tiles and moves. A kind is two colours in reading order, so a two-coloured tile is two kinds.
using Counts = std::array<int, 6>;  // how many of each tile
constexpr int COLOURS[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};  // RR YY BB RY YB RB
constexpr int TILE_OF[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};

struct Move {
    int16_t square = 0, other = 0;  // in reading order
    int8_t first = 0, second = 0;   // their colours
    int tile() const { return TILE_OF[first][second]; }
};

// ---- What never changes in a game.
template <int WORDS>
struct Board {
    int width = 0, height = 0, stride = 0;
    Bits<WORDS> land, starts[3], beside_any;     // land: every square that is no lake and no village
    std::vector<Bits<WORDS>> clumps[3];          // starts of one colour that touch each other: like a single space
    std::vector<Bits<WORDS>> villages, beside;   // their squares, in reading order, and the land around each

    explicit Board(const std::vector<std::string> &rows)
        : width(int(rows[0].size())), height(int(rows.size())), stride(width + 1) {
        Bits<WORDS> town;
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const auto square = Bits<WORDS>::of(y * stride + x);
                const size_t colour = std::string("RYB").find(rows[y][x]);
                if (rows[y][x] == 'V') town |= square;
                else if (rows[y][x] != '~') land |= square;
                if (colour != std::string::npos) starts[colour] |= square;
            }
        for (const auto &village : areas(town)) {
            villages.push_back(village);
            beside.push_back(spread(village) & land);
            beside_any |= beside.back();
        }
        for (int colour = 0; colour < 3; colour++)
            for (const auto &clump : areas(starts[colour]))
                if (clump.count() > 1) clumps[colour].push_back(clump);
    }
    Bits<WORDS> spread(const Bits<WORDS> &mask) const {  // may leave the board: AND it with squares
        return mask.up(1) | mask.down(1) | mask.up(stride) | mask.down(stride);
    }
    std::vector<Bits<WORDS>> areas(Bits<WORDS> rest) const {
        std::vector<Bits<WORDS>> found;
        while (rest.any()) {
            Bits<WORDS> area;
            rest.each([&](int square) { area = Bits<WORDS>::of(square); });
            for (int size = 0; size != area.count(); area |= spread(area) & rest) size = area.count();
            rest = rest.without(area);
            found.push_back(area);
        }
        return found;
    }
};

template <int WORDS>
struct Province {
    Bits<WORDS> mask, halo;  // its squares, and the land around them
    int16_t size = 0;
    int8_t colour = 0, owner = 0, pagodas = 0;
};

// ---- A position without the hidden tiles. To try a move it is copied: that is quicker than taking a move back.
template <int WORDS>
struct Position {
    const Board<WORDS> *board;
    int8_t players, mover = 0, left[MOST_SEATS] = {};
    bool over = false, out[MOST_SEATS] = {};  // out: forfeited, passes from then on
    int8_t villages[WORDS * 32];              // their owners
    int8_t leads[WORDS * 32] = {};            // pagodas around a village: its owner's, less the most of anybody else
    Bits<WORDS> free, cells[3];
    int count = 0;
    Province<WORDS> provinces[MOST_PROVINCES];

    Position(const Board<WORDS> &board, int players) : board(&board), players(int8_t(players)), free(board.land) {
        std::fill_n(left, players, int8_t(PAGODAS[players]));
        std::fill(std::begin(villages), std::end(villages), int8_t(NOBODY));
        std::copy(std::begin(board.starts), std::end(board.starts), cells);
        for (const auto &starts : cells) free = free.without(starts);
    }
    Position(const Position &from) { *this = from; }
    Position &operator=(const Position &from) {  // all but the provinces that are not there
        const size_t bytes = offsetof(Position, provinces) + size_t(from.count) * sizeof(from.provinces[0]);
        std::memcpy(static_cast<void *>(this), &from, bytes);
        return *this;
    }

    void pass() { mover = int8_t((mover + 1) % players); }

    void play(const Move &move) {
        const auto one = Bits<WORDS>::of(move.square), other = Bits<WORDS>::of(move.other);
        free = free.without(one | other);
        Debt debts[2];
        Bits<WORDS> changed;
        const bool is_double = move.first == move.second;
        debts[0] = grow(move.first, is_double ? one | other : one, changed);
        if (!is_double) debts[1] = grow(move.second, other, changed);
        if (after_mover(debts[1].seat) < after_mover(debts[0].seat)) std::swap(debts[0], debts[1]);
        for (const auto &[seat, owed] : debts) {  // R7.1: the mover first, then clockwise
            if (over || !owed) continue;
            left[seat] = int8_t(std::max(0, left[seat] - owed));
            over = left[seat] == 0;  // R7.2
        }
        if (!over && touch(changed, board->beside_any)) judge_villages(changed);
        if (!over) pass();
    }

    // Whether no tile may join these provinces of one colour (R4.3, R4.4, R5.6); `set` holds a bit for each.
    bool is_forbidden_join(uint64_t set) const {
        if (!(set & (set - 1))) return false;
        int majors = 0, totals[MOST_SEATS] = {};
        for (uint64_t rest = set; rest; rest &= rest - 1) {
            const auto &province = provinces[__builtin_ctzll(rest)];
            majors += province.size >= MAJOR;
            totals[province.owner] += province.size;
        }
        if (majors) return majors > 1;
        const int highest = *std::max_element(totals, totals + players);
        return std::count(totals, totals + players, highest) > 1;
    }

  private:
    struct Debt {
        int seat = 0, pagodas = 0;
    };
    int after_mover(int seat) const { return (seat - mover + players) % players; }

    // Adds spaces to a colour and settles their area (R5): pagodas that go home go at once, those owed are paid later.
    Debt grow(int colour, const Bits<WORDS> &halves, Bits<WORDS> &changed) {
        auto mask = halves | (board->spread(halves) & cells[colour]);
        cells[colour] |= halves;
        for (const auto &clump : board->clumps[colour])
            if (touch(clump, mask)) mask |= clump;
        int totals[MOST_SEATS] = {}, standing[MOST_SEATS] = {}, owner = NOBODY, joined = 0;
        for (int i = count - 1; i >= 0; i--) {
            const Province<WORDS> &province = provinces[i];
            if (province.colour != colour || !touch(province.halo, halves)) continue;
            mask |= province.mask;
            joined++;
            totals[province.owner] += province.size;
            standing[province.owner] += province.pagodas;
            if (province.size >= MAJOR) owner = province.owner;  // R5.6: a major is never taken over
            if (i != --count) provinces[i] = provinces[count];
        }
        const int size = mask.count();
        if (size < 2) return {};  // R5.1: a single space belongs to nobody
        changed |= mask;
        if (!joined) owner = mover;
        else if (owner == NOBODY) owner = int(std::max_element(totals, totals + players) - totals);
        const int target = size >= MAJOR ? 2 : 1, kept = std::min(standing[owner], target);
        standing[owner] -= kept;
        for (int seat = 0; seat < players; seat++) left[seat] = int8_t(left[seat] + standing[seat]);
        const auto halo = board->spread(mask).without(mask) & board->land;
        provinces[count++] = {mask, halo, int16_t(size), int8_t(colour), int8_t(owner), int8_t(target)};
        return {owner, target - kept};
    }

    void judge_villages(const Bits<WORDS> &changed) {
        int heirs[WORDS * 32], moved[WORDS * 32], many = 0;
        for (int village = 0; village < int(board->beside.size()); village++) {
            const auto &beside = board->beside[village];
            if (!touch(beside, changed)) continue;
            int counts[MOST_SEATS] = {};  // R6.1
            for (int i = 0; i < count; i++)
                if (touch(provinces[i].mask, beside)) counts[provinces[i].owner] += provinces[i].pagodas;
            const int owner = villages[village], heir = int(std::max_element(counts, counts + players) - counts);
            const int highest = counts[heir];
            counts[heir] = 0;
            const int next = *std::max_element(counts, counts + players);
            if (heir == owner || next == highest) {  // R6.2, R6.3: a shared highest, of nothing too, changes nothing
                if (heir == owner) leads[village] = int8_t(highest - next);
                else if (owner != NOBODY) leads[village] = int8_t(counts[owner] - highest);
                continue;
            }
            leads[village] = int8_t(highest - next);
            if (owner != NOBODY) left[owner]++;
            villages[village] = NOBODY;
            moved[many] = village;
            heirs[many++] = heir;
        }
        for (int step = 0; step < players; step++)
            for (int i = 0; i < many && !over; i++) {
                if (after_mover(heirs[i]) != step) continue;
                villages[moved[i]] = int8_t(heirs[i]);
                over = --left[heirs[i]] == 0;
            }
    }
};

// ---- Where tiles may go (R4), for as many of the six tiles as one likes to know of.
template <int WORDS>
class Placements {
    const Position<WORDS> &position;
    uint64_t touched[3][WORDS * 64] = {};  // by colour and square: a bit for each province beside it
    Bits<WORDS> barred[3];                 // squares on which a single space would make a forbidden join

  public:
    explicit Placements(const Position<WORDS> &position) : position(position) {
        Bits<WORDS> once[3], more[3];
        for (int i = 0; i < position.count; i++) {
            const auto &province = position.provinces[i];
            const int colour = province.colour;
            const auto edge = province.halo & position.free;
            edge.each([&](int square) { touched[colour][square] |= 1ull << i; });
            more[colour] |= once[colour] & edge;
            once[colour] |= edge;
        }
        for (int colour = 0; colour < 3; colour++)
            more[colour].each([&](int square) {
                if (position.is_forbidden_join(touched[colour][square])) barred[colour] |= Bits<WORDS>::of(square);
            });
    }

    // Calls `visit` with every legal move of the wanted tiles, a bit for each of the six. `quiet` moves may be left out:
    // two colours, neither beside a space of its own.
    template <class Visit>
    void each(int wanted, Visit visit, bool quiet = true) const {
        const auto &free = position.free;
        Bits<WORDS> beside[3], near;
        for (int colour = 0; colour < 3; colour++) {
            beside[colour] = position.board->spread(position.cells[colour]) & free;
            near |= beside[colour];
        }
        for (int step : {1, position.board->stride}) {
            const auto pairs = (free & free.down(step)) & (near | near.down(step));
            for (int first = 0; first < 3; first++)
                for (int second = 0; second < 3; second++) {
                    if (!(wanted >> TILE_OF[first][second] & 1)) continue;
                    auto places = pairs;
                    if (first != second) places = pairs.without(barred[first] | barred[second].down(step));
                    if (first != second && !quiet) places = places & (beside[first] | beside[second].down(step));
                    places.each([&](int square) {
                        const Move move{int16_t(square), int16_t(square + step), int8_t(first), int8_t(second)};
                        // A double tile is judged as a whole: each half alone may be legal, or may not.
                        if (first == second) {
                            const uint64_t joined = touched[first][move.square] | touched[first][move.other];
                            if (position.is_forbidden_join(joined)) return;
                        }
                        visit(move);
                    });
                }
        }
    }
};
