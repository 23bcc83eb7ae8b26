//! Recognises files that look like they hold a secret: they are never copied.

/// Names of files with secrets, in lower case.
const NAMES: [&str; 14] = [
    ".env",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    ".git-credentials",
    "credentials",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "master.key",
];

/// Beginnings and endings of such names.
const BEGINNINGS: [&str; 4] = [".env.", "credentials.", "secret", "service-account"];
const ENDINGS: [&str; 10] =
    [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".age", ".tfvars"];

/// Beginnings of keys and tokens, anywhere in a file; at least [`REST`] characters follow.
const TOKENS: [&[u8]; 12] = [
    b"AKIA",
    b"ghp_",
    b"gho_",
    b"ghs_",
    b"github_pat_",
    b"glpat-",
    b"sk-ant-",
    b"sk-proj-",
    b"xoxb-",
    b"xoxp-",
    b"AIza",
    b"npm_",
];

/// Fewest characters that follow the beginning of a token.
const REST: usize = 16;

/// Tells whether a file looks like it holds a secret, by its name or its content.
pub(in crate::claims) fn looks_secret(path: &str, content: &[u8]) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let has_name = NAMES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
        || ENDINGS.iter().any(|ending| name.ends_with(ending));
    has_name || has_private_key(content) || TOKENS.iter().any(|token| has_token(content, token))
}

fn has_private_key(content: &[u8]) -> bool {
    let is_header = |line: &[u8]| line.starts_with(b"-----BEGIN ") && find(line, b"PRIVATE KEY").is_some();
    content.split(|byte| *byte == b'\n').any(|line| is_header(line.trim_ascii_start()))
}

fn has_token(mut content: &[u8], beginning: &[u8]) -> bool {
    while let Some(at) = find(content, beginning) {
        content = &content[at + beginning.len()..];
        let rest = content.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte));
        if rest.count() >= REST {
            return true;
        }
    }
    false
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_name_and_by_content() {
        for path in
            [".env", "app/.env.local", "deploy/KEY.PEM", "id_ed25519", "secrets.yaml", "a/credentials"]
        {
            assert!(looks_secret(path, b""), "{path}");
        }
        for content in [
            "x\n  -----BEGIN OPENSSH PRIVATE KEY-----\n",
            "token = \"ghp_0123456789abcdefABCD\"",
            "AWS=AKIAIOSFODNN7EXAMPLE",
        ] {
            assert!(!looks_secret("src/a.rs", b"fn a() {}") && looks_secret("src/a.rs", content.as_bytes()));
        }
        for (path, content) in [
            ("src/environment.rs", "fn env() {}"),
            ("src/keys.rs", "if text.starts_with(\"ghp_\") { -----BEGIN CERTIFICATE----- }"),
            ("docs/monkey", "AKIA"),
        ] {
            assert!(!looks_secret(path, content.as_bytes()), "{path}");
        }
    }
}
