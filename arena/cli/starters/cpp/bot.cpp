// NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
// Stdout belongs to the protocol. To log something, write to stderr: std::cerr.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

using Text = std::string_view;
using Texts = std::vector<Text>;

Text require(Text object, Text key);
Text get(Text object, Text key);
Texts strings(Text array);
int beside(Text square, char sign, const Texts &rows);
bool has_time();

int village = 1; // an option: bot.toml declares it, and `start` brings what the user has set

// ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
// A tile with one colour twice founds a province if it touches no space of that colour, and may win
// the villages beside it.
int worth(Text move, const Texts &rows) {
    const size_t half = move.find_last_of("RYB");
    if (half == Text::npos || half < 3 || move.size() < half + 3) return 0; // not a move
    const char colour = move[0];
    const Text square = move.substr(1, half - 1);
    const Text other = move.substr(half + 1);
    if (move[half] != colour) return 0;
    if (beside(square, colour, rows) > 0 || beside(other, colour, rows) > 0) return 0;
    return 1 + village * (beside(square, 'V', rows) + beside(other, 'V', rows));
}

// Returns the move to play; empty if the turn has none. A turn has: hand, legal, time_ms, position
// (rows, provinces, villages, left, hands, pile).
Text choose(Text turn) {
    const Texts rows = strings(require(require(turn, "position"), "rows"));
    const Texts legal = strings(require(turn, "legal"));
    Text best;
    int best_worth = -1;
    for (const Text move : legal) {
        const int move_worth = worth(move, rows);
        if (move_worth > best_worth) {
            best = move;
            best_worth = move_worth;
        }
        if (!has_time()) break;
    }
    return best;
}

// Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a village, ~
// for a lake.
int beside(Text square, char sign, const Texts &rows) {
    const int column = square[0] - 'a';
    const int row = std::atoi(std::string(square.substr(1)).c_str()) - 1;
    auto shows = [&](int x, int y) {
        return y >= 0 && y < int(rows.size()) && x >= 0 && x < int(rows[y].size())
               && rows[y][x] == sign;
    };
    return shows(column - 1, row) + shows(column + 1, row) + shows(column, row - 1)
           + shows(column, row + 1);
}

// ---- time, in ms. A late answer loses the game: ask has_time after every small piece of work, and
// have a move ready at any time. The arena counts the CPU time since your last answer; with
// `--clock wall` it counts the wall-clock time since its request. Give this bot 5 ms a
// move or more.
bool by_wall;       // whether the arena was started with `--clock wall`
bool has_bank;      // whether time_ms is all that is left for the whole game
double since;       // when the counting began: at the last answer, or at the request
double limit = 1e9; // how long the bot may think
double late;        // a further reserve, which grows after late answers

double now() {
    const std::chrono::duration<double, std::milli> wall =
        std::chrono::steady_clock::now().time_since_epoch();
    return by_wall ? wall.count() : 1e3 * double(std::clock()) / CLOCKS_PER_SEC;
}
bool has_time() { return now() - since < limit; }
void asked(double ms) {
    const double reserve = by_wall ? 25 + ms / 4 : std::max(15.0, ms / 20); // for surprises
    if (by_wall) since = now();
    // Of a budget for the whole game, a move gets a twentieth.
    limit = has_bank ? ms / 20 : std::max(ms * 0.4, ms - reserve - late);
}
void answered() {
    // A late answer makes the reserve larger, and each answer in time a little smaller.
    late = std::max(late * 0.8, now() - since - limit);
    since = now();
}

// ---- just enough JSON for this bot
// Returns everything after this key, which the object has to have.
Text require(Text object, Text key) {
    const Text value = get(object, key);
    if (!value.empty()) return value;
    std::cerr << "expected the field " << key
              << ", got a message without it: " << object.substr(0, 200) << std::endl;
    std::exit(1);
}

// Returns everything after this key of the object; nothing if the object does not have the key.
// Keys of nested objects do not count.
Text get(Text object, Text key) {
    int depth = 0;
    for (size_t at = 0; at < object.size(); at++) {
        if (object[at] == '{' || object[at] == '[') depth++;
        if (object[at] == '}' || object[at] == ']') depth--;
        if (object[at] != '"') continue;
        const size_t start = at + 1;
        at = start;
        while (at < object.size() && object[at] != '"') at += object[at] == '\\' ? 2 : 1;
        const bool is_key = object.substr(start, at - start) == key;
        const size_t colon = std::min(object.find_first_not_of(" \t", at + 1), object.size());
        if (depth != 1 || !is_key || object.substr(colon, 1) != ":") continue;
        const size_t value = object.find_first_not_of(" \t", colon + 1);
        return object.substr(std::min(value, object.size()));
    }
    return "";
}

// Returns the strings of an array of strings; none if there is no array.
Texts strings(Text array) {
    Texts found;
    array = array.substr(0, array.find(']'));
    size_t start = array.find('"');
    while (start != Text::npos) {
        const size_t end = std::min(array.find('"', start + 1), array.size());
        found.push_back(array.substr(start + 1, end - start - 1));
        start = array.find('"', end + 1);
    }
    return found;
}

// ---- the conversation with the arena, see protocol/SPEC.md
Text number_of(Text message) {
    const Text id = require(message, "id");
    return id.substr(0, id.find_first_not_of("0123456789"));
}
void start(Text message) {
    by_wall = get(message, "clock").substr(0, 6) == "\"wall\"";
    has_bank = !get(message, "game_ms").empty();
    const Text chosen = get(get(message, "options"), "village");
    if (!chosen.empty()) village = std::stoi(std::string(chosen));
    std::cerr << "options: village " << village << std::endl; // `arena play --stderr` shows it
}
void take_turn(Text message) {
    const Text id = number_of(message);
    asked(std::atof(std::string(require(message, "time_ms")).c_str()));
    const Text move = choose(message);
    if (move.empty()) std::cerr << "this turn has no move to choose" << std::endl;
    // `arena replay` shows notes.
    const int note = worth(move, strings(require(require(message, "position"), "rows")));
    std::cout << "{\"type\":\"move\",\"id\":" << id << ",\"move\":\"" << move
              << "\",\"note\":{\"worth\":" << note << "}}" << std::endl;
    answered();
}

int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const Text type = require(line, "type");
        if (type.substr(0, 7) == "\"hello\"") {
            const Text id = number_of(line);
            std::cout << "{\"type\":\"ready\",\"id\":" << id << ",\"view\":\"full\"}" << std::endl;
            answered();
        } else if (type.substr(0, 7) == "\"start\"") {
            start(line);
        } else if (type.substr(0, 6) == "\"turn\"") {
            take_turn(line);
        } else if (type.substr(0, 6) == "\"quit\"") {
            break;
        }
    }
}
