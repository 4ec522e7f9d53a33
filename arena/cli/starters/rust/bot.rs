// NAME: a bot for Qin. Change `worth` or `choose`, then run `arena check` on this folder.
// Stdout belongs to the protocol. To log something, write to stderr: eprintln!.
use std::io::{self, BufRead, Write};
use std::time::Instant;

// ---- CHANGE THIS: how good a move such as Rc4Yd4 is. Here: roughly how many pagodas it places.
/// A tile with one colour twice founds a province if it touches no space of that colour, and may
/// win the villages beside it.
fn worth(play: &str, rows: &[&str], village: usize) -> usize {
    let second_half = play.rfind(|sign: char| sign.is_ascii_uppercase()).unwrap_or(0);
    let (first, second) = play.split_at(second_half);
    if first.len() < 3 || second.len() < 3 || !play.is_ascii() {
        return 0; // not a move
    }
    let colour = &first[..1];
    let square = &first[1..];
    let other = &second[1..];
    if &second[..1] != colour {
        return 0;
    }
    if beside(square, colour, rows) > 0 || beside(other, colour, rows) > 0 {
        return 0;
    }
    1 + village * (beside(square, "V", rows) + beside(other, "V", rows))
}

/// Returns the move to play; empty if the turn has none. A turn has: hand, legal, time_ms, position
/// (rows, provinces, villages, left, hands, pile).
fn choose<'a>(turn: &'a str, village: usize, clock: &Clock) -> &'a str {
    let rows = strings(require(require(turn, "position"), "rows"));
    let mut best = "";
    let mut best_worth = None;
    for play in strings(require(turn, "legal")) {
        let play_worth = Some(worth(play, &rows, village));
        if play_worth > best_worth {
            best = play;
            best_worth = play_worth;
        }
        if !clock.has_time() {
            break;
        }
    }
    best
}

/// Counts the neighbours of a square that show this sign: R, Y or B for a colour, V for a village,
/// ~ for a lake.
fn beside(square: &str, sign: &str, rows: &[&str]) -> usize {
    let column = square.as_bytes()[0].wrapping_sub(b'a') as usize;
    let row = square[1..].parse::<usize>().unwrap_or(0);
    let shows = |x: usize, y: usize| {
        rows.get(y.wrapping_sub(1)).and_then(|text| text.get(x..x + 1)) == Some(sign)
    };
    let left = column > 0 && shows(column - 1, row);
    [left, shows(column + 1, row), shows(column, row - 1), shows(column, row + 1)]
        .iter()
        .filter(|shown| **shown)
        .count()
}

// ---- time, in ms. A late answer loses the game: ask has_time after every small piece of work, and
// have a move ready at any time. The arena counts the CPU time since your last answer; with
// `--clock wall` it counts the wall-clock time since its request. Give this bot 5 ms a
// move or more.
struct Clock {
    by_wall: bool,  // whether the arena was started with `--clock wall`
    has_bank: bool, // whether time_ms is all that is left for the whole game
    began: Instant, // when the bot was started
    since: f64,     // when the counting began: at the last answer, or at the request
    limit: f64,     // how long the bot may think
    late: f64,      // a further reserve, which grows after late answers
}

// A function of the C library: the CPU time of this process, in microseconds. On other systems than
// Linux and macOS the unit may differ.
extern "C" {
    fn clock() -> std::ffi::c_long;
}

impl Clock {
    fn now(&self) -> f64 {
        if self.by_wall {
            self.began.elapsed().as_secs_f64() * 1e3
        } else {
            unsafe { clock() as f64 / 1e3 }
        }
    }
    fn has_time(&self) -> bool {
        self.now() - self.since < self.limit
    }
    fn asked(&mut self, ms: f64) {
        // A reserve for surprises.
        let reserve = if self.by_wall { 25.0 + ms / 4.0 } else { f64::max(15.0, ms / 20.0) };
        if self.by_wall {
            self.since = self.now();
        }
        // Of a budget for the whole game, a move gets a twentieth.
        self.limit =
            if self.has_bank { ms / 20.0 } else { f64::max(ms * 0.4, ms - reserve - self.late) };
    }
    fn answered(&mut self) {
        // A late answer makes the reserve larger, and each answer in time a little smaller.
        self.late = f64::max(self.late * 0.8, self.now() - self.since - self.limit);
        self.since = self.now();
    }
}

// ---- just enough JSON for this bot
/// Returns everything after this key, which the object has to have.
fn require<'a>(object: &'a str, key: &str) -> &'a str {
    let value = get(object, key);
    if value.is_empty() {
        let message: String = object.chars().take(200).collect();
        eprintln!("expected the field {key}, got a message without it: {message}");
        std::process::exit(1);
    }
    value
}

/// Returns everything after this key of the object; nothing if the object does not have the key.
/// Keys of nested objects do not count.
fn get<'a>(object: &'a str, key: &str) -> &'a str {
    let bytes = object.as_bytes();
    let mut depth = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            b'"' => {
                let start = at + 1;
                at = start;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let name = object.get(start..at).unwrap_or("");
                let after = object.get(at + 1..).unwrap_or("").trim_start();
                if depth == 1 && after.starts_with(':') && name == key {
                    return after[1..].trim_start();
                }
            }
            _ => {}
        }
        at += 1;
    }
    ""
}

/// Returns the strings of an array of strings.
fn strings(array: &str) -> Vec<&str> {
    array.split(']').next().unwrap_or("").split('"').skip(1).step_by(2).collect()
}

/// Returns the digits that a text begins with.
fn digits(text: &str) -> &str {
    &text[..text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len())]
}

// ---- the conversation with the arena, see protocol/SPEC.md
fn main() -> io::Result<()> {
    // An option: bot.toml declares it, and `start` brings what the user has set.
    let mut village = 1;
    let mut clock = Clock {
        by_wall: false,
        has_bank: false,
        began: Instant::now(),
        since: 0.0,
        limit: 1e9,
        late: 0.0,
    };
    for line in io::stdin().lock().lines() {
        let line = line?;
        let kind = require(&line, "type");
        if kind.starts_with("\"hello\"") {
            let id = digits(require(&line, "id"));
            println!("{{\"type\":\"ready\",\"id\":{id},\"view\":\"full\"}}");
        } else if kind.starts_with("\"start\"") {
            clock.by_wall = get(&line, "clock").starts_with("\"wall\"");
            clock.has_bank = !get(&line, "game_ms").is_empty();
            village = digits(get(get(&line, "options"), "village")).parse().unwrap_or(village);
            eprintln!("options: village {village}"); // `arena play --stderr` shows it
        } else if kind.starts_with("\"turn\"") {
            let id = digits(require(&line, "id"));
            clock.asked(digits(require(&line, "time_ms")).parse().unwrap_or(0.0));
            let play = choose(&line, village, &clock);
            if play.is_empty() {
                eprintln!("this turn has no move to choose");
            }
            // `arena replay` shows notes.
            let rows = strings(require(require(&line, "position"), "rows"));
            let note = worth(play, &rows, village);
            println!("{{\"type\":\"move\",\"id\":{id},\"move\":\"{play}\",\"note\":{{\"worth\":{note}}}}}");
        } else if kind.starts_with("\"quit\"") {
            break;
        }
        io::stdout().flush()?;
        if kind.starts_with("\"hello\"") || kind.starts_with("\"turn\"") {
            clock.answered();
        }
    }
    Ok(())
}
