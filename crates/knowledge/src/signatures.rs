//! The list of the functions of the query language: name, arguments and help of each, as data.

use consort_scheme::Signature;

const fn function(
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    least: usize,
    most: usize,
) -> Signature {
    Signature { name, usage, about, least, most: Some(most) }
}

/// The functions that queries have besides the builtins of the Scheme.
pub const FUNCTIONS: &[Signature] = &[
    function("get-principles", "(get-principles)", "all principles", 0, 0),
    function("get-patterns", "(get-patterns)", "all patterns", 0, 0),
    function("get-decisions", "(get-decisions)", "all decisions", 0, 0),
    function("get-files", "(get-files)", "what files are for", 0, 0),
    function("get-notes", "(get-notes)", "all notes", 0, 0),
    function("get-relationships", "(get-relationships)", "all relationships", 0, 0),
    function("get-principle", "(get-principle name)", "one, or nil", 1, 1),
    function("get-pattern", "(get-pattern name)", "one, or nil", 1, 1),
    function("get-decision", "(get-decision name)", "one, or nil", 1, 1),
    function("get-note", "(get-note name)", "one, or nil", 1, 1),
    function("get-file-understanding", "(get-file-understanding path)", "one, or nil", 1, 1),
    function("get-entity", "(get-entity name)", "one of any kind, or nil", 1, 1),
    function("get-principles-by-tag", "(get-principles-by-tag tag)", "", 1, 1),
    function("get-patterns-by-tag", "(get-patterns-by-tag tag)", "", 1, 1),
    function("get-notes-by-tag", "(get-notes-by-tag tag)", "", 1, 1),
    function("get-patterns-by-type", "(get-patterns-by-type type)", "", 1, 1),
    function(
        "get-decisions-by-status",
        "(get-decisions-by-status status)",
        "active, deprecated, superseded",
        1,
        1,
    ),
    function("get-relationships-from", "(get-relationships-from name)", "", 1, 1),
    function("get-relationships-to", "(get-relationships-to name)", "", 1, 1),
    function("get-relationships-by-type", "(get-relationships-by-type type)", "", 1, 1),
    function("get-neighbours", "(get-neighbours name)", "what is linked to it, either way", 1, 1),
    function("get-related-files", "(get-related-files path)", "files named by it or linked to it", 1, 1),
    function("about-file", "(about-file path)", "all that is known of a file, or leans on it", 1, 1),
    function("search-knowledge", "(search-knowledge text [limit])", "best first", 1, 2),
    function("get-stale", "(get-stale)", "what leans on files that changed since", 0, 0),
    function("get-current", "(get-current xs)", "without what is stale", 1, 1),
    function("recent", "(recent [limit])", "what was said last", 0, 1),
    function("overview", "(overview)", "how much there is of each kind", 0, 0),
    function("names", "(names kind)", "names only: look here first", 1, 1),
    function("history", "(history name)", "who said what of it, and when", 1, 1),
    function("as-of", "(as-of date thunk)", "(as-of \"2026-11-01\" (lambda () …)): as it was then", 2, 2),
];
