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
    const Text square = move.substr(1, half - 1), other = move.substr(half + 1);
    if (move[0] != move[half] || beside(square, move[0], rows) + beside(other, move[0], rows) > 0)
        return 0;
    return 1 + village * (beside(square, 'V', rows) + beside(other, 'V', rows));
}

// Returns the move to play; empty if the turn has none. A turn has: hand, legal, time_ms, position
// (rows, provinces, villages, left, hands, pile).
Text choose(Text turn) {
    const Texts rows = strings(get(get(turn, "position"), "rows"));
    const Texts legal = strings(get(turn, "legal"));
    Text best;
    int most = -1;
    for (const Text move : legal) {
        if (const int found = worth(move, rows); found > most) best = move, most = found;
        if (!has_time()) break;
    }
    return best;
}

// Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a village, ~
// for a lake.
int beside(Text square, char sign, const Texts &rows) {
    const int column = square[0] - 'a', row = std::atoi(std::string(square.substr(1)).c_str()) - 1;
    auto shows = [&](int x, int y) {
        return y >= 0 && y < int(rows.size()) && x >= 0 && x < int(rows[y].size())
               && rows[y][x] == sign;
    };
    return shows(column - 1, row) + shows(column + 1, row) + shows(column, row - 1)
           + shows(column, row + 1);
}

// ---- time, in ms. A late answer loses the game: ask has_time after every small piece of work, and
// have a move ready at any time. The arena counts processor time from your last answer on; with
// `--clock wall` the time from its request on. Play it with 5 ms a move or more.
bool by_wall, has_bank;
double since, limit = 1e9, late;

double now() {
    const std::chrono::duration<double, std::milli> wall =
        std::chrono::steady_clock::now().time_since_epoch();
    return by_wall ? wall.count() : 1e3 * double(std::clock()) / CLOCKS_PER_SEC;
}
bool has_time() { return now() - since < limit; }
void asked(double ms) {
    const double reserve = by_wall ? 25 + ms / 4 : std::max(15.0, ms / 20); // for surprises
    if (by_wall) since = now();
    // Of a budget for the whole game, a move gets a small part.
    limit = has_bank ? ms / 20 : std::max(ms * 0.4, ms - reserve - late);
}
void answered() {
    // What came too late goes into the reserve, and is slowly forgotten.
    late = std::max(late * 0.8, now() - since - limit);
    since = now();
}

// ---- just enough JSON for this bot. What is missing reads as an empty string.
// Returns everything after this key of the object. Keys of nested objects do not count.
Text get(Text object, Text key) {
    int depth = 0;
    for (size_t at = 0; at < object.size(); at++) {
        if (object[at] == '{' || object[at] == '[') depth++;
        if (object[at] == '}' || object[at] == ']') depth--;
        if (object[at] != '"') continue;
        const size_t start = ++at;
        while (at < object.size() && object[at] != '"') at += object[at] == '\\' ? 2 : 1;
        const size_t colon = std::min(object.find_first_not_of(" \t", at + 1), object.size());
        if (depth == 1 && object.substr(colon, 1) == ":" && object.substr(start, at - start) == key)
            return object.substr(
                std::min(object.find_first_not_of(" \t", colon + 1), object.size()));
    }
    return "";
}

// Returns the strings of an array of strings; none if there is no array.
Texts strings(Text array) {
    Texts found;
    array = array.substr(0, array.find(']'));
    for (size_t start; (start = array.find('"')) != Text::npos;) {
        const size_t end = array.find('"', start + 1);
        found.push_back(array.substr(start + 1, end - start - 1));
        array.remove_prefix(std::min(end, array.size() - 1) + 1);
    }
    return found;
}

// ---- the conversation with the arena, see protocol/SPEC.md
int main() {
    for (std::string line; std::getline(std::cin, line);) {
        const Text type = get(line, "type"), id = get(line, "id");
        const Text number = id.substr(0, id.find_first_not_of("0123456789"));
        if (type.substr(0, 7) == "\"hello\"") {
            std::cout << "{\"type\":\"ready\",\"id\":" << number << ",\"view\":\"full\"}"
                      << std::endl;
            answered();
        } else if (type.substr(0, 7) == "\"start\"") {
            by_wall = get(line, "clock").substr(0, 6) == "\"wall\"";
            has_bank = !get(line, "game_ms").empty();
            const Text set = get(get(line, "options"), "village");
            if (!set.empty()) village = std::stoi(std::string(set));
            // `arena play --stderr` shows it
            std::cerr << "options: village " << village << std::endl;
        } else if (type.substr(0, 6) == "\"turn\"") {
            asked(std::atof(get(line, "time_ms").data()));
            const Text move = choose(line);
            if (move.empty()) std::cerr << "this turn has no move to choose" << std::endl;
            // `arena replay` shows notes.
            const int note = worth(move, strings(get(get(line, "position"), "rows")));
            std::cout << "{\"type\":\"move\",\"id\":" << number << ",\"move\":\"" << move
                      << "\",\"note\":{\"worth\":" << note << "}}" << std::endl;
            answered();
        } else if (type.substr(0, 6) == "\"quit\"") {
            break;
        }
    }
}
