// engine-cpp: a compiled engine for Qin. README.md tells its idea; rules.h, judge.h, expectimax.h and race.h are to be
// read in this order. Here are its hours: what it spends on a move, and the conversation with the arena (protocol/SPEC.md).
#include <time.h>

#include <iostream>
#include <stdexcept>
#include <string_view>

#include "expectimax.h"
#include "race.h"

using Text = std::string_view;

// A line that no game can have sent would be read as squares and tiles that are not there: better to stop.
void expect(bool is_so, const char *what) {
    if (!is_so) throw std::invalid_argument(what);
}

// ---- Just enough JSON: the value of a key, and the strings of an array. What is missing reads as an empty text.
Text from(Text line, size_t at) {  // past the spaces there
    return line.substr(std::min(line.find_first_not_of(" \t", at), line.size()));
}

Text get(Text object, Text key) {
    int depth = 0;
    for (size_t at = 0; at < object.size(); at++) {
        depth += object[at] == '{' || object[at] == '[';
        depth -= object[at] == '}' || object[at] == ']';
        if (object[at] != '"') continue;
        const size_t start = ++at;
        while (at < object.size() && object[at] != '"') at += object[at] == '\\' ? 2 : 1;
        const Text after = from(object, at + 1);
        if (depth == 1 && object.substr(start, at - start) == key && after.substr(0, 1) == ":") return from(after, 1);
    }
    return "";
}

std::vector<std::string> strings(Text array) {
    std::vector<std::string> found;
    array = array.substr(0, array.find(']'));
    for (size_t at = array.find('"'); at != Text::npos; at = array.find('"', at)) {
        const size_t end = array.find('"', at + 1);
        expect(end != Text::npos, "a text that ends");
        found.emplace_back(array.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return found;
}

std::string text(Text value) {
    return value.substr(0, 1) == "\"" ? std::string(value.substr(1, value.find('"', 1) - 1)) : "";
}

long number(Text value) { return value.empty() ? 0 : std::stol(std::string(value.substr(0, 20))); }

// ---- Time. A late answer loses the game, so nothing is cut fine. By the arena's clock an answer costs processor time,
// from the answer before it on: what reading `played` cost is in it. A wall clock also runs while others compute: what
// they took may be taken again, so it counts twice.
double now_ms(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) / 1e6;
}

struct Stopwatch {
    bool by_wall = false;
    double answered = 0, asked = 0, worked = 0;  // processor time at the last answer, wall and processor time when asked

    void begin() { asked = now_ms(CLOCK_MONOTONIC), worked = now_ms(CLOCK_PROCESS_CPUTIME_ID); }
    void end() { answered = now_ms(CLOCK_PROCESS_CPUTIME_ID); }
    double spent() const {
        const double work = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        if (!by_wall) return work - answered;
        const double passed = now_ms(CLOCK_MONOTONIC) - asked;
        return passed + std::max(0.0, passed - (work - worked));
    }
    // How long to think. In a reserve of 25 ms fit the stalls that a busy machine books as processor time: one answer in
    // a thousand took 10 ms longer than it should. Of a bank it is a part, as there are some fifteen moves to come.
    double share(double allowed, bool has_bank) const {
        if (has_bank) return std::max(std::min(allowed / 15, allowed - 25), 1.0);
        return std::max(0.4 * std::max(allowed, 1.0), by_wall ? 0.75 * allowed - 25 : std::min(0.93 * allowed, allowed - 25));
    }
};

// ---- One game, followed by what was played.
template <int WORDS>
class Game {
    Stopwatch &watch;
    const Board<WORDS> board;
    Position<WORDS> position;
    const size_t seat;
    const bool has_bank;
    const long most_nodes;
    const uint64_t seed;
    Counts unplayed = {12, 12, 12, 12, 12, 12};
    std::array<int, MOST_SEATS> sizes{};  // of the hands
    int pile = 72;
    int square(Text name) const {
        const int row = std::stoi(std::string(name.substr(1))) - 1, column = name[0] - 'a';
        expect(row >= 0 && row < board.height && column >= 0 && column < board.width, "a square of the board");
        return row * board.stride + column;
    }
    std::string name(int at) const { return char('a' + at % board.stride) + std::to_string(at / board.stride + 1); }
    static int colour(Text signs, size_t at) {
        const size_t found = at < signs.size() ? Text("RYB").find(signs[at]) : Text::npos;
        expect(found != Text::npos, "a colour");
        return int(found);
    }
  public:
    Game(Text start, Stopwatch &watch)
        : watch(watch),
          board(strings(get(start, "board"))),
          position(board, int(number(get(start, "players")))),
          seat(size_t(number(get(start, "seat")))),
          has_bank(!get(start, "game_ms").empty()),
          most_nodes(number(get(get(start, "options"), "nodes"))),
          seed(uint64_t(number(get(start, "seed")))) {
        expect(seat < size_t(position.players), "a seat at the table");
        for (int i = 0; i < position.players; i++) sizes[size_t(i)] = 3, pile -= 3;
    }

    void played(Text message) {
        if (get(message, "forfeited").substr(0, 4) == "true") position.out[position.mover] = true;
        const std::string name = text(get(message, "move"));
        if (name == "pass") return position.pass();
        const size_t half = name.find_last_of("RYB");
        expect(half != Text::npos && half > 0, "a move");
        const Move move{int16_t(square(name.substr(1, half - 1))), int16_t(square(name.substr(half + 1))),
                        int8_t(colour(name, 0)), int8_t(colour(name, half))};
        expect(position.free.has(move.square) && position.free.has(move.other), "a move to free squares");
        unplayed[size_t(move.tile())]--;
        sizes[size_t(position.mover)] -= pile == 0;
        pile -= pile > 0;
        position.play(move);
    }

    std::string answer(Text turn) {
        Known known{{}, unplayed, pile};
        for (const std::string &tile : strings(get(turn, "hand"))) {
            const size_t which = size_t(TILE_OF[colour(tile, 0)][colour(tile, 1)]);
            known.hands[seat].known[which]++;
            known.unseen[which]--;
        }
        for (size_t other = 0; other < size_t(position.players); other++)
            if (other != seat) known.hands[other].unknown = sizes[other];
        const double limit = watch.share(double(number(get(turn, "time_ms"))), has_bank);
        const Spent spent = [&](long nodes) {
            return most_nodes ? double(nodes) / double(most_nodes) : watch.spent() / limit;
        };
        const auto [best, depth, nodes] = position.players == 2 ? Expectimax<WORDS>(spent).run(position, known)
                                                                : Race<WORDS>(position, known, seed).run(spent);
        const Move &move = best.move;
        return std::string(",\"move\":\"") + "RYB"[move.first] + name(move.square) + "RYB"[move.second] +
               name(move.other) + "\",\"note\":{\"value\":" + std::to_string(best.value[seat]) + ",\"depth\":" +
               std::to_string(depth) + ",\"nodes\":" + std::to_string(nodes) + "}";
    }
};

// ---- The conversation. A game runs from `start` to `end`; what is not known is passed over (P1.4).
std::string type_of(Text line) { return text(get(line, "type")); }

void reply(const char *type, Text to, const std::string &rest, Stopwatch &watch) {
    std::cout << "{\"type\":\"" << type << "\",\"id\":" << number(get(to, "id")) << rest << "}" << std::endl;
    watch.end();
}

std::vector<std::string> board_of(Text start) {
    const auto rows = strings(get(start, "board"));
    const size_t width = rows.empty() ? 0 : rows[0].size();
    expect(width > 0 && width <= 26 && rows.size() <= 26, "a board of at most 26 x 26 squares");
    for (const auto &row : rows) expect(row.size() == width, "rows of one length");
    const long players = number(get(start, "players"));
    expect(players >= 2 && players <= MOST_SEATS, "two to four players");
    return rows;
}

template <int WORDS>
void follow(Text start, Stopwatch &watch) {
    Game<WORDS> game(start, watch);
    for (std::string line; std::getline(std::cin, line) && type_of(line) != "end";) {
        watch.begin();
        if (type_of(line) == "played") game.played(line);
        if (type_of(line) == "turn") reply("move", line, game.answer(line), watch);
    }
}

void talk() {
    Stopwatch watch;
    for (std::string line; std::getline(std::cin, line) && type_of(line) != "quit";) {
        if (type_of(line) == "hello") reply("ready", line, "", watch);
        if (type_of(line) != "start") continue;
        watch.by_wall = get(line, "clock").substr(0, 6) == "\"wall\"";
        const auto rows = board_of(line);
        if (rows.size() * (rows[0].size() + 1) <= 3 * 64) follow<3>(line, watch);
        else follow<11>(line, watch);
    }
}

int main() try {
    talk();
} catch (const std::logic_error &error) {  // what the standard library says of a number that is none, too
    std::cerr << "error: a line that no game can have sent: expected " << error.what() << std::endl;
    return 1;
}
