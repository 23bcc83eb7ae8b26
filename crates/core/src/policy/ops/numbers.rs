//! Policy verbs that number whatever waits for the person: it keeps its number while it waits.

use std::collections::BTreeMap;

use crate::App;
use crate::Timestamp;
use crate::journal::Number;
use crate::side_files::SlotTable;
use crate::side_files::path_key;

/// The table of what waits: the number of each key, and when it was last listed.
const WAITING: SlotTable = SlotTable { name: "waiting", slot: 64, buckets: 512 };

/// Time for which a number is not given again.
const KEPT: i64 = Timestamp::HOUR;

impl App {
    /// Returns the number of each key, which it keeps while it is listed. Numbers start at 1 again
    /// when nothing has waited for an hour.
    pub fn waiting_numbers(&mut self, keys: &[String]) -> Vec<Number> {
        let now = self.host.now();
        let files = self.engine.side_files();
        let mut given: BTreeMap<String, (Number, Timestamp)> = BTreeMap::new();
        let mut old = Vec::new();
        files.each_slot(WAITING, &mut |key, value| match number_of(value, now) {
            Some(kept) => drop(given.insert(key.to_owned(), kept)),
            None => old.push(key.to_owned()),
        });
        old.iter().for_each(|key| files.free_slot(WAITING, key));
        let mut last = given.values().map(|(number, _)| *number).max().unwrap_or(0);
        let mut numbers = Vec::new();
        for key in keys {
            let key = path_key(std::path::Path::new(key));
            let kept = given.get(&key).copied();
            let number = kept.map_or_else(
                || {
                    last += 1;
                    last
                },
                |(number, _)| number,
            );
            // A list is drawn every second, so the time is written again only after a quarter of an
            // hour. A number that cannot be kept counts this once.
            if kept.is_none_or(|(_, at)| now.since(at) >= KEPT / 4) {
                let _ = files.set_slot(WAITING, &key, &format!("{number} {}", now.0));
            }
            numbers.push(number);
        }
        numbers
    }

    /// Tells whether something that waits, or has waited within the last hour, has that number.
    pub fn is_recent_number(&mut self, number: Number) -> bool {
        let now = self.host.now();
        let mut is_known = false;
        let mut look =
            |_: &str, value: &str| is_known |= number_of(value, now).is_some_and(|(kept, _)| kept == number);
        self.engine.side_files().each_slot(WAITING, &mut look);
        is_known
    }
}

/// Returns the number that was kept, and when, unless that is long ago.
fn number_of(value: &str, now: Timestamp) -> Option<(Number, Timestamp)> {
    let (number, at) = value.split_once(' ').unwrap_or((value, "0"));
    let at = Timestamp(at.parse().unwrap_or_default());
    number.parse().ok().map(|number| (number, at)).filter(|_| now.since(at) < KEPT)
}
