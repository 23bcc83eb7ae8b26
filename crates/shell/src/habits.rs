//! What programs need to find at a path to write it, and whether they follow a link
//! there.

use crate::Extent;
use crate::Needs;

/// Programs that take a link for what it is, not for what it leads to.
const TAKE_LINKS: &[&str] =
    &["rm", "rmdir", "unlink", "mv", "ln", "git rm", "git rm -f", "git mv", "sed", "perl", "shred"];

/// What a program must find to write a path that it is given.
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

/// Whether it fails where the directory of its file is not there.
pub(crate) fn needs_directory(by: &str) -> bool {
    matches!(by, ">" | ">>" | ">|" | "&>" | "&>>" | "<>" | ">&" | "tee" | "touch" | "truncate")
}

/// Whether it writes a link itself.
pub(crate) fn takes_links(by: &str) -> bool {
    TAKE_LINKS.contains(&by)
}

/// Whether what was there is gone afterwards.
pub(crate) fn removes(by: &str) -> bool {
    matches!(by, "rm" | "unlink" | "mv" | "git rm" | "git rm -f" | "git mv")
}
