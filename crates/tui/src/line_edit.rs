//! A text that is being typed, with its cursor and the ways to edit it.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// A text with a cursor in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineEdit {
    text: String,
    /// The cursor's byte in the text, always between two graphemes.
    cursor: usize,
}

impl LineEdit {
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the number of terminal cells before the cursor.
    pub fn cursor_column(&self) -> usize {
        self.text[..self.cursor].width()
    }

    /// Replaces the text, and puts the cursor at its end.
    pub fn set(&mut self, text: &str) {
        self.text = text.to_owned();
        self.cursor = text.len();
    }

    /// Inserts typed or pasted text at the cursor. Line breaks are kept: a message may have several lines.
    pub fn insert(&mut self, text: &str) {
        let kept: String = text.chars().filter(|c| !c.is_control() || *c == '\n').collect();
        self.text.insert_str(self.cursor, &kept);
        self.cursor += kept.len();
    }

    pub fn left(&mut self) {
        self.cursor = self.before().unwrap_or(0);
    }

    pub fn right(&mut self) {
        let after = self.text[self.cursor..].graphemes(true).next();
        self.cursor += after.map_or(0, str::len);
    }

    pub fn home(&mut self) {
        self.cursor = 0;
    }

    pub fn end(&mut self) {
        self.cursor = self.text.len();
    }

    pub fn backspace(&mut self) {
        if let Some(before) = self.before() {
            self.text.drain(before..self.cursor);
            self.cursor = before;
        }
    }

    pub fn delete(&mut self) {
        let after = self.text[self.cursor..].graphemes(true).next().map_or(0, str::len);
        self.text.drain(self.cursor..self.cursor + after);
    }

    /// Removes the word before the cursor.
    pub fn delete_word(&mut self) {
        let before = self.text[..self.cursor].trim_end();
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.text.drain(start..self.cursor);
        self.cursor = start;
    }

    /// Removes everything before the cursor.
    pub fn clear_before(&mut self) {
        self.text.drain(..self.cursor);
        self.cursor = 0;
    }

    fn before(&self) -> Option<usize> {
        self.text[..self.cursor].grapheme_indices(true).next_back().map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_edited_by_what_people_see_as_characters() {
        let mut line = LineEdit::default();
        line.insert("nai\u{308}f 日本");
        assert_eq!(line.cursor_column(), 9);
        line.backspace();
        assert_eq!(line.text(), "nai\u{308}f 日");
        line.home();
        line.right();
        line.right();
        line.right();
        line.backspace();
        assert_eq!(line.text(), "naf 日", "the letter goes with its accent");
        line.end();
        line.delete_word();
        assert_eq!(line.text(), "naf ");
        line.insert("x\u{7}y\nz");
        assert_eq!(line.text(), "naf xy\nz", "control characters are not typed");
        line.clear_before();
        assert!(line.is_empty());
    }
}
