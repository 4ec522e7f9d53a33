// NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
// Stdout belongs to the protocol. To log something, write to stderr: System.err.
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class Bot {
    // An option: bot.toml declares it, and `start` brings what the user has set.
    static int village = 1;

    // ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it
    // places. A tile with one colour twice founds a province if it touches no space of that colour,
    // and may win the villages beside it.
    static int worth(String move, List<String> rows) {
        Matcher parts = MOVE.matcher(move); // R, c4, Y, d4
        if (!parts.matches() || !parts.group(1).equals(parts.group(3))) return 0;
        char colour = move.charAt(0);
        String square = parts.group(2);
        String other = parts.group(4);
        if (beside(square, colour, rows) > 0 || beside(other, colour, rows) > 0) return 0;
        return 1 + village * (beside(square, 'V', rows) + beside(other, 'V', rows));
    }
    static final Pattern MOVE = Pattern.compile("([RYB])([a-z]\\d{1,2})([RYB])([a-z]\\d{1,2})");

    // Returns the move to play; empty if the turn has none. A turn has: hand, legal, time_ms,
    // position (rows, provinces, villages, left, hands, pile).
    static String choose(String turn) {
        List<String> rows = strings(require(require(turn, "position"), "rows"));
        String best = "";
        int bestWorth = -1;
        for (String move : strings(require(turn, "legal"))) {
            int moveWorth = worth(move, rows);
            if (moveWorth > bestWorth) {
                best = move;
                bestWorth = moveWorth;
            }
            if (!hasTime()) break;
        }
        return best;
    }

    // Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a
    // village, ~ for a lake.
    static int beside(String square, char sign, List<String> rows) {
        int column = square.charAt(0) - 'a';
        int row = Integer.parseInt(square.substring(1)) - 1;
        int count = 0;
        if (shows(column - 1, row, sign, rows)) count++;
        if (shows(column + 1, row, sign, rows)) count++;
        if (shows(column, row - 1, sign, rows)) count++;
        if (shows(column, row + 1, sign, rows)) count++;
        return count;
    }
    static boolean shows(int column, int row, char sign, List<String> rows) {
        if (row < 0 || row >= rows.size()) return false;
        if (column < 0 || column >= rows.get(row).length()) return false;
        return rows.get(row).charAt(column) == sign;
    }

    // ---- time, in ms. A late answer loses the game: ask hasTime after every small piece of work,
    // and have a move ready at any time. The arena counts the CPU time since your last answer,
    // all threads of Java included; with `--clock wall` it counts the wall-clock time
    // since its request. Java sees CPU time in steps of 10 ms, so this bot keeps more in reserve
    // than bots in other languages. Give it 20 ms a move or more.
    static final com.sun.management.OperatingSystemMXBean SYSTEM =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    static boolean byWall;     // whether the arena was started with `--clock wall`
    static boolean hasBank;    // whether time_ms is all that is left for the whole game
    static double since;       // when the counting began: at the last answer, or at the request
    static double limit = 1e9; // how long the bot may think
    static double late;        // a further reserve, which grows after late answers

    static double now() { return (byWall ? System.nanoTime() : SYSTEM.getProcessCpuTime()) / 1e6; }

    static boolean hasTime() { return now() - since < limit; }

    static void asked(double ms) {
        double reserve = byWall ? 25 + ms / 4 : Math.max(40, ms / 20); // for surprises
        if (byWall) since = now();
        // Of a budget for the whole game, a move gets a twentieth.
        limit = hasBank ? ms / 20 : Math.max(ms * 0.4, ms - reserve - late);
    }

    static void answered() {
        // A late answer makes the reserve larger, and each answer in time a little smaller.
        late = Math.max(late * 0.8, now() - since - limit);
        since = now();
    }

    // Java is slow until it has compiled what it runs often. So the bot answers a made-up turn of
    // the usual size again and again before `ready`: that time is free.
    static void warmUp() throws IOException {
        List<String> rows = Collections.nCopies(13, "\"...V..R......\"");
        List<String> legal = new ArrayList<>();
        for (int row = 1; row <= 13; row++)
            for (char column = 'a'; column < 'm'; column++)
                legal.add("\"R" + column + row + "R" + (char) (column + 1) + row + "\"");
        String position = "{\"rows\":[" + String.join(",", rows) + "]}";
        String turn = "{\"type\":\"turn\",\"id\":1,\"time_ms\":10,\"position\":" + position
                      + ",\"legal\":[" + String.join(",", legal) + "]}\n";
        byte[] line = turn.getBytes(StandardCharsets.UTF_8);
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        double until = now() + 200;
        while (now() < until) talk(new ByteArrayInputStream(line), nowhere);
        late = 0;
    }

    // ---- just enough JSON for this bot
    // Returns everything after this key, which the object has to have.
    static String require(String object, String key) {
        String value = get(object, key);
        if (!value.isEmpty()) return value;
        String start = object.substring(0, Math.min(200, object.length()));
        System.err.println("expected the field " + key + ", got a message without it: " + start);
        System.exit(1);
        return value;
    }

    // Returns everything after this key of the object; nothing if the object does not have the key.
    // Keys of nested objects do not count.
    static String get(String object, String key) {
        int depth = 0;
        for (int at = 0; at < object.length(); at++) {
            char sign = object.charAt(at);
            if (sign == '{' || sign == '[') depth++;
            if (sign == '}' || sign == ']') depth--;
            if (sign != '"') continue;
            int start = at + 1;
            at = start;
            while (at < object.length() && object.charAt(at) != '"')
                at += object.charAt(at) == '\\' ? 2 : 1;
            if (depth != 1 || at - start != key.length() || !object.startsWith(key, start))
                continue;
            String after = object.substring(at + 1).strip();
            if (after.startsWith(":")) return after.substring(1).strip();
        }
        return "";
    }

    // Returns the strings of an array of strings.
    static List<String> strings(String array) {
        String[] parts = array.substring(0, Math.max(0, array.indexOf(']'))).split("\"");
        List<String> found = new ArrayList<>();
        for (int at = 1; at < parts.length; at += 2) found.add(parts[at]);
        return found;
    }

    // ---- the conversation with the arena, see protocol/SPEC.md
    static void talk(InputStream in, PrintStream out) throws IOException {
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String type = require(line, "type");
            if (type.startsWith("\"hello\"")) {
                warmUp();
                answer("{\"type\":\"ready\",\"id\":" + idOf(line) + ",\"view\":\"full\"}", out);
            } else if (type.startsWith("\"start\"")) {
                byWall = get(line, "clock").startsWith("\"wall\"");
                hasBank = !get(line, "game_ms").isEmpty();
                String chosen = digits(get(get(line, "options"), "village"));
                if (!chosen.isEmpty()) village = Integer.parseInt(chosen);
                System.err.println("options: village " + village); // `arena play --stderr` shows it
            } else if (type.startsWith("\"turn\"")) {
                asked(Double.parseDouble(digits(require(line, "time_ms"))));
                String move = choose(line);
                if (move.isEmpty()) System.err.println("this turn has no move to choose");
                // `arena replay` shows notes.
                int note = worth(move, strings(require(require(line, "position"), "rows")));
                answer("{\"type\":\"move\",\"id\":" + idOf(line) + ",\"move\":\"" + move
                           + "\",\"note\":{\"worth\":" + note + "}}",
                       out);
            } else if (type.startsWith("\"quit\"")) {
                return;
            }
        }
    }

    static String idOf(String message) { return digits(require(message, "id")); }

    // Returns the digits that a text begins with.
    static String digits(String text) { return text.split("[^0-9]", 2)[0]; }

    static void answer(String line, PrintStream out) {
        out.print(line + "\n");
        out.flush();
        answered();
    }
    public static void main(String[] arguments) throws IOException { talk(System.in, System.out); }
}
