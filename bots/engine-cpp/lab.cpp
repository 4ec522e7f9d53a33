// The engine's workshop: what the bot does not need while it plays. Each mode reads lines and prints lines.
//   ./lab rules                          a position, moves and a depth: what the rules make of them
//   ./lab selfplay PLAYERS GAMES SEED    games of the engine against itself: features and outcomes, for fit.py
#include <deque>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "judge.h"

constexpr const char *TILES[6] = {"RR", "YY", "BB", "RY", "YB", "RB"};
using Words = std::vector<std::string>;

Words split(const std::string &text, char at) {
    Words parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

// ---- A game as the referee sees it: a position, all hands and the pile.
template <int WORDS>
struct Table {
    Position<WORDS> position;
    Counts hands[MOST_SEATS] = {};
    std::vector<int> pile = {};  // the next tile is the last

    int tiles(int seat) const {
        int wanted = 0;
        for (int tile = 0; tile < 6; tile++) wanted |= (hands[seat][tile] > 0) << tile;
        return wanted;
    }
    std::vector<Move> moves() const {
        std::vector<Move> found;
        if (!position.over)
            Placements<WORDS>(position).each(tiles(position.mover), [&](const Move &move) { found.push_back(move); });
        return found;
    }
    bool is_stuck() const {  // R8.1
        bool can = false;
        const Placements<WORDS> placements(position);
        for (int seat = 0; seat < position.players; seat++)
            placements.each(tiles(seat), [&](const Move &) { can = true; });
        return !can;
    }
    void play(const Move &move) {
        const int seat = position.mover;
        position.play(move);
        hands[seat][move.tile()]--;
        if (position.over || pile.empty()) return;
        hands[seat][pile.back()]++;
        pile.pop_back();
    }
};

// ---- Positions and moves as text.
int tile_named(const std::string &name) {
    return TILE_OF[std::string("RYB").find(name[0])][std::string("RYB").find(name[1])];
}

std::string name_of(const Move &move, int stride) {
    auto square = [&](int at) { return std::string(1, char('a' + at % stride)) + std::to_string(at / stride + 1); };
    return "RYB"[move.first] + square(move.square) + "RYB"[move.second] + square(move.other);
}

using Cells = std::vector<std::pair<char, int>>;  // terrain or colour, and the seat that owns it

Cells cells_of(const std::string &row) {
    Cells cells;
    for (size_t at = 0; at < row.size();) {
        const char sign = row[at++];
        const size_t end = std::min(row.find_first_not_of("0123456789", at), row.size());
        const int number = end > at ? std::stoi(row.substr(at, end - at)) : NOBODY;
        at = end;
        if (sign == '.' && number > 0) cells.insert(cells.end(), size_t(number), {'.', NOBODY});
        else cells.push_back({sign, number});
    }
    return cells;
}

template <int WORDS>
void lay_out(Table<WORDS> &table, const std::vector<Cells> &rows) {
    auto &position = table.position;
    const auto &board = *position.board;
    std::map<std::pair<char, int>, Bits<WORDS>> owned;
    for (int y = 0; y < board.height; y++)
        for (int x = 0; x < board.width; x++)
            if (rows[size_t(y)][size_t(x)].second != NOBODY)
                owned[rows[size_t(y)][size_t(x)]] |= Bits<WORDS>::of(y * board.stride + x);
    for (const auto &[cell, squares] : owned)
        for (const auto &area : board.areas(squares)) {
            const size_t colour = std::string("RYB").find(cell.first);
            if (colour == std::string::npos) {
                for (size_t i = 0; i < board.villages.size(); i++)
                    if (touch(board.villages[i], area)) position.villages[i] = int8_t(cell.second);
                continue;
            }
            auto &province = position.provinces[position.count++];
            province.mask = area;
            province.halo = board.spread(area).without(area) & board.land;
            province.size = int16_t(area.count());
            province.colour = int8_t(colour);
            province.owner = int8_t(cell.second);
            province.pagodas = int8_t(province.size >= MAJOR ? 2 : 1);
        }
}

// Reads the seven fields of a position. The board lives as long as the program: it is a short one.
template <int WORDS>
Table<WORDS> read_table(const std::string &text) {
    static std::deque<Board<WORDS>> boards;
    const Words fields = split(text, ' '), left = split(fields[2], ','), hands = split(fields[3], ',');
    std::vector<Cells> rows;
    Words plain;
    for (const std::string &row : split(fields[0], '/')) {
        rows.push_back(cells_of(row));
        plain.emplace_back();
        for (const auto &cell : rows.back()) plain.back() += cell.first;
    }
    Table<WORDS> table{Position<WORDS>(boards.emplace_back(plain), int(left.size()))};
    lay_out(table, rows);
    table.position.mover = int8_t(fields[1] == "-" ? 0 : std::stoi(fields[1]));
    for (size_t seat = 0; seat < left.size(); seat++) {
        table.position.left[seat] = int8_t(std::stoi(left[seat]));
        for (size_t at = 0; hands[seat] != "-" && at < hands[seat].size(); at += 2)
            table.hands[seat][size_t(tile_named(hands[seat].substr(at, 2)))]++;
    }
    for (size_t at = fields[4] == "-" ? 0 : fields[4].size(); at > 0; at -= 2)
        table.pile.push_back(tile_named(fields[4].substr(at - 2, 2)));
    return table;
}

template <int WORDS>
std::string shown(const Table<WORDS> &table) {
    const auto &position = table.position;
    const auto &board = *position.board;
    std::string rows, left;
    for (int y = 0; y < board.height; y++) {
        rows += y ? "/" : "";
        for (int x = 0, square = y * board.stride; x < board.width; x++, square++) {
            if (position.free.has(square)) rows += '.';
            else if (board.land.has(square)) {
                for (int colour = 0; colour < 3; colour++)
                    if (position.cells[colour].has(square)) rows += "RYB"[colour];
                for (int i = 0; i < position.count; i++)
                    if (position.provinces[i].mask.has(square)) rows += char('0' + position.provinces[i].owner);
            } else {
                size_t village = 0;
                while (village < board.villages.size() && !board.villages[village].has(square)) village++;
                rows += village == board.villages.size() ? '~' : 'V';
                if (rows.back() == 'V' && position.villages[village] != NOBODY)
                    rows += char('0' + position.villages[village]);
            }
        }
    }
    for (int seat = 0; seat < position.players; seat++) left += (seat ? "," : "") + std::to_string(position.left[seat]);
    return rows + " " + left;
}

// ---- The rules, for the vectors: `position TAB moves TAB depth`, moves and depth may be missing. Prints the legal
// moves; for each move how many there were and what the board is like after it; and the number of ways to go on.
template <int WORDS>
long ways(const Table<WORDS> &table, int depth) {
    if (depth == 0) return 1;
    if (table.position.over || table.is_stuck()) return 0;
    const auto moves = table.moves();
    Table<WORDS> next = table;
    if (moves.empty()) {
        next.position.pass();
        return ways(next, depth - 1);
    }
    long total = 0;
    for (const Move &move : moves) {
        next = table;
        next.play(move);
        total += ways(next, depth - 1);
    }
    return total;
}

template <int WORDS>
void tell_rules(const Words &fields) {
    auto table = read_table<WORDS>(fields[0]);
    const int stride = table.position.board->stride;
    auto moves = table.moves();
    auto number = [&](const Move &move) {  // NOTATION.md: the order of moves
        return ((move.first * 3 + move.second) * 2 + (move.other - move.square > 1)) * 1024 + move.square;
    };
    std::sort(moves.begin(), moves.end(), [&](const Move &a, const Move &b) { return number(a) < number(b); });
    for (const Move &move : moves) std::cout << name_of(move, stride) << ' ';
    std::cout << '\n';
    for (const std::string &wanted : fields.size() > 1 ? split(fields[1], ' ') : Words()) {
        moves = table.moves();
        const auto found = std::find_if(moves.begin(), moves.end(), [&](const Move &move) {
            return name_of(move, stride) == wanted;
        });
        std::cout << moves.size() << ' ';
        if (found != moves.end()) table.play(*found);
        else if (wanted == "pass" && moves.empty()) table.position.pass();
        else std::cout << "illegal ";
        std::cout << shown(table) << '\n';
    }
    if (fields.size() > 2) std::cout << ways(table, std::stoi(fields[2])) << '\n';
    std::cout << std::endl;
}

// ---- Games of the engine against itself, each seat looking one move ahead; a few moves are left to chance, so that
// positions differ. After every move, for every seat: its features; and once the game is over, its share of the win.
template <int WORDS>
Table<WORDS> deal(const Board<WORDS> &board, int players, std::mt19937_64 &random) {
    Table<WORDS> table{Position<WORDS>(board, players)};
    for (int tile = 0; tile < 72; tile++) table.pile.push_back(tile % 6);
    std::shuffle(table.pile.begin(), table.pile.end(), random);
    for (int seat = 0; seat < players; seat++)
        for (int i = 0; i < 3; i++) {
            table.hands[seat][size_t(table.pile.back())]++;
            table.pile.pop_back();
        }
    return table;
}

template <int WORDS>
Move chosen(const Table<WORDS> &table, const std::vector<Move> &moves, double chance, std::mt19937_64 &random) {
    if (std::uniform_real_distribution<>()(random) < chance) return moves[random() % moves.size()];
    float best = -1;
    Move found;
    for (const Move &move : moves) {
        auto after = table.position;
        after.play(move);
        const float value = judge(after)[size_t(table.position.mover)];
        if (value > best) best = value, found = move;
    }
    return found;
}

template <int WORDS>
void play_itself(const Board<WORDS> &board, int players, std::mt19937_64 &random) {
    auto table = deal(board, players, random);
    std::string rows;
    const double chance = std::array<double, 3>{0.02, 0.1, 0.3}[random() % 3];
    while (!table.position.over && !table.is_stuck()) {
        const auto moves = table.moves();
        if (moves.empty()) {
            table.position.pass();
            continue;
        }
        table.play(chosen(table, moves, chance, random));
        if (table.position.over || random() % 2) continue;  // neighbours are much alike
        int8_t features[MOST_SEATS][FEATURES] = {};
        each_feature(table.position, [&](int seat, int feature, int value) {
            features[seat][feature] = int8_t(features[seat][feature] + value);
        });
        rows += char(std::lround(100 * phase_of(table.position)));
        rows.append(reinterpret_cast<char *>(features), size_t(players) * FEATURES);
    }
    std::string shares;
    const Chances won = outcome(table.position);
    for (int seat = 0; seat < players; seat++) shares += char(std::lround(12 * won[size_t(seat)]));
    const size_t size = 1 + size_t(players) * FEATURES;
    for (size_t at = 0; at < rows.size(); at += size) std::cout << shares << rows.substr(at, size);
}

const std::array<Words, 2> BOARDS = {{
    {".....VV.....V", ".............", ".............", "..V......V...", "......B......", ".............", "......Y......",
     "..V.......VV.", "..V...R......", ".............", ".............", ".......VV...V", "............."},
    {"V.......V....", "...~~.......V", "...~...V.....", ".V.......R.V.", ".....V.......", "..B........~~", "......VV....~",
     "~~..........V", "~........V...", ".V....Y......", ".........~~..", "...V.....~..V", "V.....V......"},
}};

int main(int count, char **words) {
    const Words arguments(words, words + count);
    if (count == 2 && arguments[1] == "rules") {
        for (std::string line; std::getline(std::cin, line);) tell_rules<11>(split(line, '\t'));
        return 0;
    }
    if (count == 5 && arguments[1] == "selfplay") {
        std::mt19937_64 random(std::stoull(arguments[4]));
        const Board<3> bird(BOARDS[0]), lion(BOARDS[1]);
        for (int game = 0; game < std::stoi(arguments[3]); game++)
            play_itself(game % 2 ? lion : bird, std::stoi(arguments[2]), random);
        return 0;
    }
    std::cerr << "usage: lab rules | lab selfplay PLAYERS GAMES SEED" << std::endl;
    return 2;
}
