//! Parses and edits the JSON settings of agent CLIs in place, so that every other key,
//! comment, indent and blank line stays as it was.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstNode;
use jsonc_parser::cst::CstRootNode;
use serde_json::Value;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum SettingsError {
    #[error("line {line}, column {column}: {message}")]
    Malformed { line: usize, column: usize, message: String },
    #[error("{key} is not {expected}")]
    Unexpected { key: String, expected: &'static str },
}

impl SettingsError {
    pub(crate) fn unexpected(key: &str, expected: &'static str) -> Self {
        Self::Unexpected { key: key.to_owned(), expected }
    }
}

/// Parses JSON with the comments and trailing commas that people leave in settings.
pub(crate) fn parse(text: &str) -> Result<CstRootNode, SettingsError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        ..Default::default()
    };
    CstRootNode::parse(text, &options).map_err(|error| SettingsError::Malformed {
        line: error.line_display(),
        column: error.column_display(),
        message: error.kind().to_string(),
    })
}

/// Tells whether an object or an array is empty, without even a comment.
pub(crate) fn is_bare(children: &[CstNode]) -> bool {
    children.iter().all(|child| !child.is_comment() && (child.is_trivia() || child.is_token()))
}

/// Tells whether the text of a file has a value at this path of keys; false without a text.
///
/// Removing an insertion also removes the objects that it leaves empty, unless the file had them before
/// `init`. If the earlier text is unknown, they are removed too: they have no content.
pub(crate) fn says(text: Option<&str>, names: &[&str]) -> bool {
    let root = text.and_then(|text| parse(text).ok()?.to_serde_value());
    let one = |value: Value, name: &&str| value.get(name).cloned();
    root.and_then(|root| names.iter().try_fold(root, one)).is_some()
}
