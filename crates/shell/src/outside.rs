//! Finds commands that must run on the machine as it is, not in a view of it that ends with them:
//! servers, `sudo`, `docker`.
//!
//! **Finding one too many is safe**: the writes of such a command are then only looked at afterwards.

use crate::words::Word;

/// The reason why a command must not run in a view of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnconfinedReason {
    /// It keeps running after its caller is done: a server, a watcher, a job.
    Stays,
    /// It becomes another user, or acts through a service or on the machine's mounts.
    Elevates,
}

/// Programs that become another user, act through a service, or change mounts.
const ELEVATES: &[&str] = &[
    "sudo",
    "doas",
    "su",
    "pkexec",
    "runuser",
    "newgrp",
    "sg",
    "docker",
    "docker-compose",
    "podman",
    "podman-compose",
    "nerdctl",
    "buildah",
    "systemctl",
    "systemd-run",
    "machinectl",
    "loginctl",
    "mount",
    "umount",
    "fusermount",
    "fusermount3",
    "unshare",
    "nsenter",
    "bwrap",
    "chroot",
    "chown",
    "chgrp",
    "passwd",
    "at",
    "batch",
    "crontab",
    "ping",
    // These refuse a configuration whose owner they do not know.
    "ssh",
    "scp",
    "sftp",
    "sshfs",
    "tmux",
    "screen",
    "snap",
    "flatpak",
];

/// Programs that keep running by themselves.
const STAYS: &[&str] = &[
    "nohup",
    "setsid",
    "disown",
    "daemonize",
    "nodemon",
    "watchexec",
    "entr",
    "chokidar",
    "live-server",
    "http-server",
    "serve",
    "uvicorn",
    "gunicorn",
    "hypercorn",
    "runserver",
    "http.server",
    "webpack-dev-server",
    "browser-sync",
    "vite",
    "air",
    "watchman",
    "inotifywait",
    "fswatch",
    "supervisord",
    "pm2",
    "ngrok",
    "caddy",
    "nginx",
    "redis-server",
    "postgres",
    "mysqld",
    "mongod",
    "jupyter",
    "storybook",
    "start-storybook",
];

/// Options that make any program watch files or keep running.
const WATCHES: &[&str] =
    &["--watch", "--watch-all", "--watchAll", "--hot", "--reload", "--follow", "--serve"];

/// Verbs with which package managers, frameworks and build tools keep running.
const STAYING: &[&str] = &["dev", "start", "serve", "watch", "preview", "develop", "up", "server"];
const RUNNERS: &[&str] = &[
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "npx",
    "bunx",
    "next",
    "nuxt",
    "astro",
    "gatsby",
    "ng",
    "vue-cli-service",
    "webpack",
    "parcel",
    "rails",
    "flask",
    "hugo",
    "jekyll",
    "mkdocs",
    "trunk",
    "cargo",
    "make",
    "just",
    "task",
    "remix",
    "expo",
    "turbo",
    "nx",
    "docker",
    "mix",
    "php",
    "artisan",
    "wrangler",
    "firebase",
    "gulp",
    "rollup",
];

/// Returns the reason why a program must not run in a view of its own, if there is one.
pub(crate) fn unconfined_reason(name: &str, words: &[Word]) -> Option<UnconfinedReason> {
    if ELEVATES.contains(&name) || name == "git" && goes_out(words) {
        return Some(UnconfinedReason::Elevates);
    }
    let is_runner = RUNNERS.contains(&name);
    let has_watch = is_runner || matches!(name, "tsc" | "jest" | "vitest" | "sass" | "tailwindcss");
    let stays = |word: &str| {
        // Examples: `test:watch`, `dev:web`; `python -m http.server`, `manage.py runserver`.
        STAYS.contains(&word)
            || WATCHES.iter().any(|option| word == *option || word.starts_with(&format!("{option}=")))
            || is_runner && word.split([':', '-']).any(|part| STAYING.contains(&part))
            || has_watch && matches!(word, "-w" | "s")
            || matches!(name, "tail" | "journalctl") && matches!(word, "-f" | "-F")
    };
    let stays = STAYS.contains(&name) || words.iter().filter_map(Word::text).any(stays);
    stays.then_some(UnconfinedReason::Stays)
}

/// Whether git talks to another machine. It does so through ssh, which runs only where the files of
/// its configuration belong to root.
fn goes_out(words: &[Word]) -> bool {
    const TALKS: &[&str] = &["pull", "push", "fetch", "clone", "ls-remote"];
    let mut words = words.iter().filter_map(Word::text).filter(|word| !word.starts_with('-'));
    let is_local = |word: &str| word.starts_with(['.', '/']) || word.starts_with("file:");
    words.next().is_some_and(|verb| TALKS.contains(&verb)) && !words.any(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside_of(command: &str) -> Option<UnconfinedReason> {
        crate::read(command, crate::ShellContext::default()).outside
    }

    #[test]
    fn what_stays_and_what_elevates_runs_outside() {
        for command in [
            "npm run dev",
            "pnpm dev",
            "yarn test:watch",
            "npx vite --port 3000",
            "tsc -w",
            "jest --watch",
            "cargo watch -x test",
            "python3 -m http.server 8000",
            "python manage.py runserver",
            "nohup ./job > log 2>&1",
            "tail -f log",
            "uvicorn app:app --reload",
        ] {
            assert_eq!(outside_of(command), Some(UnconfinedReason::Stays), "{command}");
        }
        for command in [
            "sudo make install",
            "/usr/bin/sudo -n true",
            "docker compose up",
            "cd x && podman run a",
            "bash -c 'su - bob'",
            "npm run dev && sudo true",
            "git pull --rebase origin main",
            "scp a host:b",
        ] {
            assert_eq!(outside_of(command), Some(UnconfinedReason::Elevates), "{command}");
        }
    }

    #[test]
    fn a_job_is_left_by_its_sign_alone() {
        for (command, leaves_job) in [
            ("./server & sleep 1; curl localhost", true),
            ("(./server &)", true),
            ("a && b 2>&1", false),
            ("echo 'a & b'", false),
        ] {
            assert_eq!(
                crate::read(command, crate::ShellContext::default()).leaves_job,
                leaves_job,
                "{command}"
            );
        }
    }

    #[test]
    fn the_rest_does_not() {
        for command in [
            "python3 gen.py",
            "make all && make test",
            "cargo test 2>&1 | tail -5",
            "npm test",
            "npm run build",
            "./gen.sh &> log",
            "a || b",
            "git log --oneline",
            "git pull ../other main",
            "python3 -c \"print('look at the screen & serve')\"",
            "ls *.rs | sed 's/x/mv & y/' | sh",
            "git commit -m 'mount the docker batch'",
            "",
        ] {
            assert_eq!(outside_of(command), None, "{command}");
        }
    }
}
