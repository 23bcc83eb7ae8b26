//! Generates histories from templates, with a fixed seed: agents that stay with a topic
//! and name it, as people who steer by keywords do. Half of the histories end in a collision.

use std::fmt::Write as _;

/// A theme: its name, the words used about it, and the path of its files.
type Theme = (&'static str, [&'static str; 4], &'static str);

const THEMES: [Theme; 12] = [
    ("login", ["login", "redirect", "captcha", "lockout"], "src/auth/login"),
    ("session", ["session", "cookie", "expiry", "rotation"], "src/auth/session"),
    ("invoice", ["invoice", "rounding", "vat", "numbering"], "src/billing/invoice"),
    ("refund", ["refund", "stripe", "partial", "ledger"], "src/billing/refund"),
    ("Suche", ["suche", "treffer", "umlaute", "sortierung"], "src/search/query"),
    ("migration", ["migration", "column", "backfill", "constraint"], "db/migrations/plan"),
    ("cache", ["cache", "eviction", "ttl", "warmup"], "src/cache/store"),
    ("upload", ["upload", "chunk", "resume", "checksum"], "src/files/upload"),
    ("informe", ["informe", "columnas", "exportar", "totales"], "src/reports/informe"),
    ("pipeline", ["pipeline", "artifact", "matrix", "timeout"], "ci/pipeline"),
    ("sidebar", ["sidebar", "collapse", "icons", "breakpoint"], "web/layout/sidebar"),
    ("queue", ["queue", "retry", "backoff", "deadletter"], "src/jobs/queue"),
];

const STYLES: [fn(&str, &str) -> String; 5] = [
    |theme, word| format!("{theme}: {word}"),
    |theme, word| format!("now look at the {word} of the {theme}"),
    |theme, word| format!("why does {theme} ignore {word}? please mend that in {theme}"),
    |theme, word| format!("refactor {theme}_{word} so that {theme} is easier to read"),
    |theme, word| format!("and {word} for {theme}"),
];

/// The plot of a history, which decides whether it ends in a collision.
#[derive(Clone, Copy)]
enum Plot {
    /// Both work on one theme, in one place.
    Together,
    /// One comes to the other's theme from another one.
    Drift,
    /// Both speak of one theme, in different packages.
    Apart,
    /// They work on neighbouring themes.
    Neighbours,
    /// One takes the theme up long after the other has left it.
    Later,
    Strangers,
}

impl Plot {
    const ALL: [Self; 8] = [
        Self::Together,
        Self::Apart,
        Self::Drift,
        Self::Strangers,
        Self::Together,
        Self::Neighbours,
        Self::Drift,
        Self::Later,
    ];

    fn collides(self) -> bool {
        matches!(self, Self::Together | Self::Drift)
    }
}

/// Returns the names and texts of forty histories.
pub(crate) fn histories() -> Vec<(String, String)> {
    let mut chance = Chance(0x5eed);
    (0..40).map(|n| (format!("generated-{n:02}"), history(Plot::ALL[n % 8], &mut chance))).collect()
}

fn history(plot: Plot, chance: &mut Chance) -> String {
    let at = chance.below(THEMES.len());
    let (one, other) = match plot {
        Plot::Together | Plot::Drift | Plot::Apart | Plot::Later => (THEMES[at], THEMES[at]),
        Plot::Neighbours => (THEMES[at / 2 * 2], THEMES[at / 2 * 2 + 1]),
        Plot::Strangers => (THEMES[at], THEMES[(at + 2 + chance.below(8)) % THEMES.len()]),
    };
    let from = THEMES[(at + 3) % THEMES.len()];
    let mut text = String::from("agents: A B\n");
    let rounds = 4 + chance.below(4);
    let mut minute = 0;
    for round in 0..rounds {
        for (name, theme, package) in
            [("A", one, ""), ("B", other, if plot.is_apart() { "mobile/" } else { "" })]
        {
            let is_before = match plot {
                Plot::Drift => name == "B" && round < 2,
                _ => false,
            };
            if let Plot::Later = plot {
                // A moves on after two prompts; B comes long after that.
                if name == "A" && round >= 2 || name == "B" && round < 2 {
                    continue;
                }
            }
            let (name_of, words, place) = if is_before { from } else { theme };
            minute += 2 + chance.below(4);
            if matches!(plot, Plot::Later) && name == "B" && round == 2 {
                minute += 45;
            }
            let word = words[chance.below(words.len())];
            let _ = writeln!(text, "@{minute} {name}> {}", STYLES[chance.below(STYLES.len())](name_of, word));
            let own = format!("{package}{place}_{}.rs", name.to_lowercase());
            if chance.below(3) > 0 {
                let _ = writeln!(text, "@{minute} {name} r {own}");
            }
            let _ = writeln!(text, "@{} {name} w {own}", minute + 1);
        }
    }
    if plot.collides() {
        // Neither has touched the file before: only the topic could foretell the collision.
        let hub = format!("{}.rs", one.2);
        for name in ["A", "B"] {
            let _ = writeln!(text, "@{} {name} w {hub}", minute + 3);
        }
        let _ = writeln!(text, "@{} !! A B {hub}", minute + 3);
    }
    text
}

impl Plot {
    fn is_apart(self) -> bool {
        matches!(self, Self::Apart)
    }
}

/// A generator of pseudo-random numbers, the same on every machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}
