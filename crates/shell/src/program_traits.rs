//! Facts about programs: what they need to find at a path to write it, and whether they follow links.

use crate::Extent;
use crate::Needs;

/// Programs that write a link itself, not the file that it leads to.
const TAKE_LINKS: &[&str] =
    &["rm", "rmdir", "unlink", "mv", "ln", "git rm", "git rm -f", "git mv", "sed", "perl", "shred"];

/// Returns what a program must find at a path to write it.
pub(crate) fn needs(by: &str, extent: Extent) -> Needs {
    match (by, extent) {
        ("mkdir", _) => Needs::Absent,
        ("rm" | "unlink" | "shred", Extent::File) => Needs::File,
        ("rm" | "rmdir" | "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "git rm" | "git rm -f", _) => {
            Needs::Present
        }
        _ => Needs::Nothing,
    }
}

/// Whether a program fails if the directory of its file does not exist.
pub(crate) fn needs_directory(by: &str) -> bool {
    matches!(by, ">" | ">>" | ">|" | "&>" | "&>>" | "<>" | ">&" | "tee" | "touch" | "truncate")
}

/// Whether a program writes a link itself, not the file that it leads to.
pub(crate) fn takes_links(by: &str) -> bool {
    TAKE_LINKS.contains(&by)
}

/// Whether a program removes the file at the path.
pub(crate) fn removes(by: &str) -> bool {
    matches!(by, "rm" | "unlink" | "mv" | "git rm" | "git rm -f" | "git mv")
}
