//! Generates memorable agent names (25 adjectives × 26 nouns), and checks names.

const ADJECTIVES: [&str; 25] = [
    "Amber", "Bold", "Bright", "Calm", "Clear", "Clever", "Deep", "Eager", "Fair", "Fleet", "Gold", "Grand",
    "Iron", "Jade", "Keen", "Lucky", "Merry", "Noble", "Quick", "Quiet", "Silver", "Swift", "Vivid", "Wise",
    "Zen",
];

const NOUNS: [&str; 26] = [
    "Arrow", "Bear", "Castle", "Drum", "Ember", "Falcon", "Grove", "Harbor", "Island", "Jaguar", "Knight",
    "Lantern", "Maple", "Nebula", "Otter", "Piper", "Quartz", "Raven", "Summit", "Tiger", "Umber", "Viola",
    "Willow", "Xenon", "Yew", "Zenith",
];

const COMBINATIONS: usize = ADJECTIVES.len() * NOUNS.len();
const LONGEST: usize = 50;

/// Words that cannot be agent names, because commands give them another meaning.
const RESERVED: &[&str] = &["all", "consort", "me", "person", "user", "you"];

/// Tells whether a name is valid: letters, digits, `_` and `-`; the first a letter or digit; at most 50
/// characters; not a reserved word.
pub fn is_valid_name(name: &str) -> bool {
    name.len() <= LONGEST
        && !RESERVED.iter().any(|word| name.eq_ignore_ascii_case(word))
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Returns a free name, starting the search at `random`. If all are taken, adds a number: `SwiftRaven2`.
pub(super) fn generate(random: u64, is_taken: impl Fn(&str) -> bool) -> String {
    let start = (random % COMBINATIONS as u64) as usize;
    let combination = |offset: usize| {
        let n = (start + offset) % COMBINATIONS;
        format!("{}{}", ADJECTIVES[n / NOUNS.len()], NOUNS[n % NOUNS.len()])
    };
    (0..COMBINATIONS)
        .map(combination)
        .find(|name| !is_taken(name))
        .unwrap_or_else(|| numbered(&combination(0), is_taken))
}

/// Returns the first free name of `name2`, `name3`, …, shortened to stay valid.
pub(super) fn numbered(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    (2..)
        .map(|n: u64| {
            let suffix = n.to_string();
            let kept = name.len().min(LONGEST - suffix.len());
            format!("{}{suffix}", &name[..kept])
        })
        .find(|candidate| !is_taken(candidate))
        .unwrap_or_else(|| name.to_owned())
}
