//! Tells which paths are not a run's to write: the machine's, the person's settings, and the files
//! that say how much a session may do.

/// Directories that only administrators change.
#[rustfmt::skip]
const SYSTEM: &[&str] = &[
    "/Applications", "/Library", "/System", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64",
    "/opt", "/private/etc", "/proc", "/root", "/run", "/sbin", "/sys", "/usr", "/var/lib", "/var/log",
    "/var/run", "/var/spool",
];

/// Parts of the system directories that hold nothing to protect.
const NOTHING: &[&str] = &[
    "/dev/fd",
    "/dev/full",
    "/dev/null",
    "/dev/shm",
    "/dev/stderr",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/tty",
];

/// Names in a home directory that hold settings; a path is compared with them only if it leads out
/// of the worktree.
#[rustfmt::skip]
const SETTINGS: &[&str] = &[
    ".aws", ".bash_login", ".bash_profile", ".bashrc", ".config", ".docker", ".gitconfig", ".gnupg", ".kube",
    ".netrc", ".npmrc", ".profile", ".pypirc", ".ssh", ".zprofile", ".zshenv", ".zshrc",
];

/// Names of files and directories that say how much an agent may do, wherever they are.
const PROTECTION: &[&str] =
    &[".consort", ".codex", ".gemini", ".opencode", ".pi", ".copilot", ".git", ".mcp.json", "opencode.json"];

/// Tells whether a path is not a run's to write. The path is relative to the worktree, or absolute.
pub(super) fn is_protected(path: &str) -> bool {
    let below = |dirs: &[&str]| {
        dirs.iter()
            .any(|dir| path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    if below(NOTHING) {
        return false;
    }
    let is_outside = path.starts_with(['/', '~']) || path.split('/').any(|part| part == "..");
    let parts = || path.split('/').filter(|part| !matches!(*part, "" | "."));
    below(SYSTEM)
        || matches!(path, "/" | "~" | "~/" | "/home" | "/Users" | "/var")
        || is_outside && parts().any(|part| SETTINGS.contains(&part))
        || parts().any(|part| PROTECTION.contains(&part))
        || has_claude_settings(path)
}

/// Tells whether a path is one of Claude's settings or hooks; skills and commands of a project are
/// files like any other.
fn has_claude_settings(path: &str) -> bool {
    let Some((_, rest)) = path.split_once(".claude") else { return false };
    let is_outside = path.starts_with(['/', '~']);
    is_outside
        || rest.is_empty()
        || rest == ".json"
        || rest.starts_with("/settings")
        || rest.starts_with("/hooks")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_the_machine_are_protected_and_files_are_not() {
        for path in [
            "/etc/hosts",
            "/",
            "~",
            "/dev/sda",
            "~/.bashrc",
            "/home/a/.ssh/config",
            "../../.zshrc",
            ".git/hooks/x",
            "sub/.git/config",
            ".claude/settings.json",
            ".claude/settings.local.json",
            "~/.claude.json",
            "/home/a/.claude/agents/x.md",
            ".codex/config.toml",
            ".mcp.json",
            "/usr/local/bin/x",
            ".consort/config.toml",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            "src/main.rs",
            ".gitignore",
            ".github/workflows/ci.yml",
            ".env",
            "/tmp/x",
            "/dev/null",
            "/home/a/shop/x",
            "etc/hosts",
            "usr/bin/x",
            ".claude/skills/x.md",
            ".config/x",
            "/dev/stderr",
            "../other/x",
            "/var/tmp/x",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }
}
