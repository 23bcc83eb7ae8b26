//! Reads the answer to a question that the person types. Pure.

use super::AskAnswer;
use super::AskItem;
use super::AskKind;
use super::AskRecord;
use super::PolicyError;

/// Words for the three answers to a permission, most usual first.
const ALLOW: [&str; 4] = ["allow", "yes", "y", "approve"];
const ALWAYS: [&str; 2] = ["always", "allow always"];
const DENY: [&str; 5] = ["deny", "no", "n", "refuse", "reject"];

/// The text of a refusal that gives no reason.
const NO_REASON: &str = "Your user refused this. Ask what to do instead.";

impl AskRecord {
    /// Reads the answer that is typed, one word or text for each argument.
    pub fn read_answer(&self, words: &[String]) -> Result<AskAnswer, PolicyError> {
        match self.ask.kind {
            AskKind::Question => self.chosen(words),
            AskKind::Permission | AskKind::Plan => self.decided(words),
        }
    }

    fn decided(&self, words: &[String]) -> Result<AskAnswer, PolicyError> {
        let unclear = || PolicyError::NoAnswer { word: words.join(" "), options: self.options() };
        let (first, reason) = words.split_first().ok_or_else(unclear)?;
        let first = first.trim().to_lowercase();
        let first = match first
            .parse::<usize>()
            .ok()
            .and_then(|at| self.options().get(at.checked_sub(1)?).cloned())
        {
            Some(option) => option,
            None => first,
        };
        let is = |names: &[&str]| names.contains(&first.as_str());
        let reason = reason.join(" ");
        match reason.is_empty() {
            true if is(&ALLOW) && !self.ask.is_cut => Ok(AskAnswer::Allow),
            true if is(&ALWAYS) && !self.ask.is_cut && self.ask.can_be_always => Ok(AskAnswer::Always),
            true if is(&DENY) => Ok(AskAnswer::Deny(NO_REASON.to_owned())),
            false if is(&DENY) => Ok(AskAnswer::Deny(format!("Your user refused this: {reason}"))),
            _ => Err(unclear()),
        }
    }

    fn chosen(&self, words: &[String]) -> Result<AskAnswer, PolicyError> {
        let joined = [words.join(" ")];
        // A single question takes everything that is typed.
        let words = if self.ask.questions.len() == 1 { &joined[..] } else { words };
        if words.len() != self.ask.questions.len() || words.iter().any(|word| word.trim().is_empty()) {
            let options =
                self.ask.questions.iter().map(|one| format!("an answer to: {}", one.text)).collect();
            return Err(PolicyError::NoAnswer { word: words.join(" "), options });
        }
        Ok(AskAnswer::Chosen(
            self.ask.questions.iter().zip(words).map(|(one, word)| one.meant(word)).collect(),
        ))
    }
}

impl AskItem {
    /// Returns the options that are meant, by number or label; any other text counts as it is.
    fn meant(&self, word: &str) -> String {
        if !self.takes_many {
            return self.option(word).unwrap_or_else(|| word.trim().to_owned());
        }
        let all: Option<Vec<String>> = word.split(',').map(|one| self.option(one)).collect();
        all.map_or_else(|| word.trim().to_owned(), |all| all.join(", "))
    }

    fn option(&self, word: &str) -> Option<String> {
        let word = word.trim().to_lowercase();
        let by_number = word.parse::<usize>().ok().and_then(|at| self.options.get(at.checked_sub(1)?));
        let is_it = |option: &&String| option.to_lowercase() == word;
        by_number.or_else(|| self.options.iter().find(is_it)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::journal::ChangeId;
    use crate::journal::EntryId;
    use crate::policy::Ask;

    fn record(kind: AskKind, questions: Vec<AskItem>, can_be_always: bool) -> AskRecord {
        let ask = Ask {
            session: "s1".into(),
            kind,
            tool: "Bash".into(),
            text: String::new(),
            is_cut: false,
            paths: Vec::new(),
            questions,
            can_be_always,
            holder: None,
        };
        let id = ChangeId { entry: EntryId([0; 16]), place: 0 };
        AskRecord { id, number: 1, at: Timestamp(0), project: None, ask, answer: None }
    }

    fn read(record: &AskRecord, words: &[&str]) -> Option<AskAnswer> {
        record.read_answer(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()).ok()
    }

    #[test]
    fn only_a_clear_word_allows() {
        let asked = record(AskKind::Permission, Vec::new(), true);
        for word in ["allow", "Yes", "y", "1"] {
            assert_eq!(read(&asked, &[word]), Some(AskAnswer::Allow), "{word}");
        }
        assert_eq!(read(&asked, &["always"]), Some(AskAnswer::Always));
        assert_eq!(read(&asked, &["2"]), Some(AskAnswer::Always));
        assert_eq!(read(&record(AskKind::Permission, Vec::new(), false), &["always"]), None);
        let reason = "Your user refused this: use the test database";
        assert_eq!(read(&asked, &["deny", "use", "the test database"]), Some(AskAnswer::Deny(reason.into())));
        for words in [&["allow", "it not"][..], &["sure"], &[], &["al"], &["4"], &["0"]] {
            assert_eq!(read(&asked, words), None, "{words:?}");
        }
    }

    #[test]
    fn options_are_meant_by_number_or_label_and_anything_else_is_said() {
        let colour = AskItem {
            text: "Which colour?".into(),
            options: vec!["Red".into(), "Dark blue".into()],
            takes_many: false,
        };
        let sizes = AskItem { takes_many: true, text: "Which sizes?".into(), ..colour.clone() };
        let one = record(AskKind::Question, vec![colour.clone()], false);
        let chosen = |all: &[&str]| Some(AskAnswer::Chosen(all.iter().map(|one| (*one).into()).collect()));
        assert_eq!(read(&one, &["dark", "blue"]), chosen(&["Dark blue"]));
        assert_eq!(read(&one, &["2"]), chosen(&["Dark blue"]));
        assert_eq!(read(&one, &["something green"]), chosen(&["something green"]));
        let two = record(AskKind::Question, vec![colour, sizes], false);
        assert_eq!(read(&two, &["1", "1, dark blue"]), chosen(&["Red", "Red, Dark blue"]));
        assert_eq!(read(&two, &["1"]), None);
        assert_eq!(read(&two, &["1", ""]), None);
    }
}
