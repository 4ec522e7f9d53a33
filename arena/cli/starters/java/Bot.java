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
        String square = parts.group(2), other = parts.group(4);
        char colour = move.charAt(0);
        if (beside(square, colour, rows) + beside(other, colour, rows) > 0) return 0;
        return 1 + village * (beside(square, 'V', rows) + beside(other, 'V', rows));
    }
    static final Pattern MOVE = Pattern.compile("([RYB])([a-z]\\d{1,2})([RYB])([a-z]\\d{1,2})");

    // Returns the move to play; empty if the turn has none. A turn has: hand, legal, time_ms,
    // position (rows, provinces, villages, left, hands, pile).
    static String choose(String turn) {
        List<String> rows = strings(get(get(turn, "position"), "rows"));
        String best = "";
        int most = -1;
        for (String move : strings(get(turn, "legal"))) {
            int found = worth(move, rows);
            if (found > most) {
                best = move;
                most = found;
            }
            if (!hasTime()) break;
        }
        return best;
    }

    // Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a
    // village, ~ for a lake.
    static int beside(String square, char sign, List<String> rows) {
        int column = square.charAt(0) - 'a', row = Integer.parseInt(square.substring(1)) - 1,
            count = 0;
        int[][] around = {
            {column - 1, row}, {column + 1, row}, {column, row - 1}, {column, row + 1}};
        for (int[] at : around) {
            boolean onBoard =
                at[1] >= 0 && at[1] < rows.size() && at[0] >= 0 && at[0] < rows.get(at[1]).length();
            if (onBoard && rows.get(at[1]).charAt(at[0]) == sign) count++;
        }
        return count;
    }

    // ---- time, in ms. A late answer loses the game: ask hasTime after every small piece of work,
    // and have a move ready at any time. The arena counts processor time from your last answer on,
    // all threads of Java included; with `--clock wall` the time from its request on. Java sees
    // processor time in steps of 10 ms, so keep more in reserve than in other languages, and play
    // with 20 ms a move or more.
    static final com.sun.management.OperatingSystemMXBean SYSTEM =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    static boolean byWall, hasBank;
    static double since, limit = 1e9, late;

    static double now() { return (byWall ? System.nanoTime() : SYSTEM.getProcessCpuTime()) / 1e6; }

    static boolean hasTime() { return now() - since < limit; }

    static void asked(double ms) {
        double reserve = byWall ? 25 + ms / 4 : Math.max(40, ms / 20); // for surprises
        if (byWall) since = now();
        // Of a budget for the whole game, a move gets a small part.
        limit = hasBank ? ms / 20 : Math.max(ms * 0.4, ms - reserve - late);
    }

    static void answered() {
        // What came too late goes into the reserve, and is slowly forgotten.
        late = Math.max(late * 0.8, now() - since - limit);
        since = now();
    }

    // Java is slow until it has compiled what it runs often. So it answers a made-up turn of the
    // usual size again and again before `ready`, as start-up is free.
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

    // ---- just enough JSON for this bot. What is missing reads as an empty string.
    // Returns everything after this key of the object. Keys of nested objects do not count.
    static String get(String object, String key) {
        int depth = 0;
        for (int at = 0; at < object.length(); at++) {
            char sign = object.charAt(at);
            if (sign == '{' || sign == '[') depth++;
            if (sign == '}' || sign == ']') depth--;
            if (sign != '"') continue;
            int start = ++at;
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
            String type = get(line, "type"), id = get(line, "id").split("[^0-9]", 2)[0];
            if (type.startsWith("\"hello\"")) {
                warmUp();
                answer("{\"type\":\"ready\",\"id\":" + id + ",\"view\":\"full\"}", out);
            } else if (type.startsWith("\"start\"")) {
                byWall = get(line, "clock").startsWith("\"wall\"");
                hasBank = !get(line, "game_ms").isEmpty();
                String set = get(get(line, "options"), "village").split("[^0-9]", 2)[0];
                if (!set.isEmpty()) village = Integer.parseInt(set);
                System.err.println("options: village " + village); // `arena play --stderr` shows it
            } else if (type.startsWith("\"turn\"")) {
                asked(Double.parseDouble(get(line, "time_ms").split("[^0-9]", 2)[0]));
                String move = choose(line);
                if (move.isEmpty()) System.err.println("this turn has no move to choose");
                // `arena replay` shows notes.
                int note = worth(move, strings(get(get(line, "position"), "rows")));
                answer("{\"type\":\"move\",\"id\":" + id + ",\"move\":\"" + move
                           + "\",\"note\":{\"worth\":" + note + "}}",
                       out);
            } else if (type.startsWith("\"quit\"")) {
                return;
            }
        }
    }

    static void answer(String line, PrintStream out) {
        out.print(line + "\n");
        out.flush();
        answered();
    }
    public static void main(String[] arguments) throws IOException { talk(System.in, System.out); }
}
