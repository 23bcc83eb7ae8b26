//! Commands that are to see the machine as it is, not a view of it that ends with them.
//!
//! Names are looked for wherever they stand, also in what a grammar would call a text:
//! **to find one too many is safe**, because the command is then only looked at
//! afterwards.

/// Why a command should run in no view of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// It stays after its caller is done: a server, a watcher, a job.
    Stays,
    /// It becomes another user, or acts through a service or on the machine's mounts.
    Elevates,
}

/// Become another user, leave through a service, or change mounts themselves.
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
    "tmux",
    "screen",
    "snap",
    "flatpak",
];

/// Stay by themselves.
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

/// Watch, as an option of whatever it is.
const WATCHES: &[&str] =
    &["--watch", "--watch-all", "--watchAll", "--hot", "--reload", "--follow", "--serve"];

/// What a package manager, a framework or a build tool is asked for, and then stays.
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

/// Whether a command should run in no view of its own, and why.
pub fn outside(command: &str) -> Option<Outside> {
    if starts_a_job(command) {
        return Some(Outside::Stays);
    }
    let ends = |c: char| c.is_whitespace() || "();|&<>{}`\"'".contains(c);
    let mut runner = false;
    let mut stays = false;
    for word in command.split(ends).filter(|word| !word.is_empty()) {
        let name = word.rsplit('/').next().unwrap_or(word);
        if ELEVATES.contains(&name) {
            return Some(Outside::Elevates);
        }
        // `test:watch`, `dev:web`.
        let is_staying = || name.split([':', '-']).any(|part| STAYING.contains(&part));
        stays |= STAYS.contains(&name)
            || WATCHES.iter().any(|option| word == *option || word.starts_with(&format!("{option}=")))
            || (runner && is_staying())
            || (runner && matches!(word, "-w" | "s"));
        runner |=
            RUNNERS.contains(&name) || matches!(name, "tsc" | "jest" | "vitest" | "sass" | "tailwindcss");
    }
    let follows = ["tail -f", "tail -F", "journalctl -f", "-m http.server"];
    (stays || follows.iter().any(|text| command.contains(text))).then_some(Outside::Stays)
}

/// Whether a command may leave something running: a `&` that is no part of `&&`, `>&2` or
/// `&>`. One in quotes counts too.
pub fn starts_a_job(command: &str) -> bool {
    let bytes = command.as_bytes();
    (0..bytes.len()).filter(|at| bytes[*at] == b'&').any(|at| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let after = bytes.get(at + 1).copied();
        !matches!(before, Some(b'&' | b'>' | b'<' | b'|' | b'\\')) && !matches!(after, Some(b'&' | b'>'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            "./server & sleep 1; curl localhost",
            "(./server &)",
            "nohup ./job > log 2>&1",
            "tail -f log",
            "uvicorn app:app --reload",
        ] {
            assert_eq!(outside(command), Some(Outside::Stays), "{command}");
        }
        for command in [
            "sudo make install",
            "/usr/bin/sudo -n true",
            "docker compose up",
            "cd x && podman run a",
            "bash -c 'su - bob'",
            "npm run dev && sudo true",
        ] {
            assert_eq!(outside(command), Some(Outside::Elevates), "{command}");
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
            "",
        ] {
            assert_eq!(outside(command), None, "{command}");
        }
    }
}
