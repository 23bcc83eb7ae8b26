//! Chooses the environment of a worker: the variables that every program needs, those that its CLI needs, and
//! those that the person has named. Keys of other CLIs stay away.

use std::collections::BTreeMap;

use consort_agents::AgentCli;

/// The variables that every program may need: names, or with `*` at the end, prefixes of names.
const USUAL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "CONSORT_HOME",
];

/// Returns the variables of this process that a worker gets.
pub(crate) fn of_worker(cli: &dyn AgentCli, named: &[String]) -> BTreeMap<String, String> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let all = std::env::vars_os().filter_map(text);
    all.filter(|(name, _)| is_given(cli, name, named)).collect()
}

fn is_given(cli: &dyn AgentCli, name: &str, named: &[String]) -> bool {
    let is_it = |pattern: &str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    };
    let is_usual = USUAL.iter().any(|pattern| is_it(pattern)) || named.iter().any(|pattern| is_it(pattern));
    (is_usual && !consort_agents::is_of_session(name)) || consort_agents::needs_variable(cli, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_gets_its_own_keys_and_nobody_elses() {
        let [claude, codex] = ["claude", "codex"].map(|kind| consort_agents::find(kind).unwrap());
        let named = ["CARGO_*".to_owned()];
        assert!(is_given(claude, "ANTHROPIC_API_KEY", &named));
        assert!(!is_given(codex, "ANTHROPIC_API_KEY", &named));
        assert!(is_given(codex, "OPENAI_API_KEY", &named));
        assert!(!is_given(claude, "OPENAI_API_KEY", &named));
        assert!(is_given(claude, "CARGO_HOME", &named));
        assert!(!is_given(claude, "AWS_SECRET_ACCESS_KEY", &named));
        assert!(!is_given(claude, "CLAUDECODE", &named));
        assert!(!is_given(claude, "CONSORT_SESSION", &["CONSORT_*".to_owned()]));
    }
}
