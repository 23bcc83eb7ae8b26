//! The table of secret formats: beginning, characters, length.

/// Characters of placeholders: a text of only these is no secret.
const PLACEHOLDERS: [char; 6] = ['x', 'X', '0', '_', '-', '.'];

/// The format of one kind of secret.
pub(super) struct Format {
    pub(super) what: &'static str,
    pub(super) beginning: &'static str,
    pub(super) follows: Follows,
    /// Fewest characters that follow the beginning.
    pub(super) least: usize,
}

/// The characters that may follow the beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    Nothing,
    Hex,
    /// Capital letters and digits.
    Upper,
    Alphanumeric,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `_` and `-`.
    Dash,
    /// Letters, digits, `_`, `-` and `.`.
    Dot,
}

use Follows::Alphanumeric;
use Follows::Dash;
use Follows::Dot;
use Follows::Hex;
use Follows::Nothing;
use Follows::Upper;
use Follows::Word;

pub(super) const FORMATS: &[Format] = &[
    format("a GitHub token", "ghp_", Alphanumeric, 36),
    format("a GitHub OAuth token", "gho_", Alphanumeric, 36),
    format("a GitHub user token", "ghu_", Alphanumeric, 36),
    format("a GitHub server token", "ghs_", Alphanumeric, 36),
    format("a GitHub refresh token", "ghr_", Alphanumeric, 36),
    format("a GitHub fine-grained token", "github_pat_", Word, 40),
    format("a GitLab token", "glpat-", Dash, 20),
    format("an AWS access key", "AKIA", Upper, 16),
    format("an AWS temporary key", "ASIA", Upper, 16),
    format("a Google API key", "AIza", Dash, 35),
    format("a Google OAuth token", "ya29.", Dash, 30),
    format("a Google OAuth secret", "GOCSPX-", Dash, 20),
    format("a Slack bot token", "xoxb-", Dash, 20),
    format("a Slack user token", "xoxp-", Dash, 20),
    format("a Slack app token", "xapp-", Dash, 20),
    format("a Stripe live key", "sk_live_", Alphanumeric, 20),
    format("a Stripe restricted key", "rk_live_", Alphanumeric, 20),
    format("an Anthropic key", "sk-ant-", Dash, 32),
    format("an OpenAI project key", "sk-proj-", Dash, 32),
    format("an OpenAI service key", "sk-svcacct-", Dash, 32),
    format("an OpenAI key", "sk-", Alphanumeric, 40),
    format("an OpenRouter key", "sk-or-", Dash, 32),
    format("a Groq key", "gsk_", Alphanumeric, 40),
    format("an xAI key", "xai-", Alphanumeric, 40),
    format("an npm token", "npm_", Alphanumeric, 36),
    format("a PyPI token", "pypi-", Dash, 50),
    format("a Hugging Face token", "hf_", Alphanumeric, 30),
    format("a SendGrid key", "SG.", Dot, 40),
    format("a DigitalOcean token", "dop_v1_", Hex, 64),
    format("a Docker Hub token", "dckr_pat_", Dash, 20),
    format("a Shopify token", "shpat_", Hex, 32),
    format("an age secret key", "AGE-SECRET-KEY-1", Upper, 50),
    format("a JSON web token", "eyJhbGciOi", Dot, 40),
    format("a private key", "-----BEGIN PRIVATE KEY-----", Nothing, 0),
    format("a private key", "-----BEGIN ENCRYPTED PRIVATE KEY-----", Nothing, 0),
    format("a private key", "-----BEGIN DSA PRIVATE KEY-----", Nothing, 0),
    format("a private key", "-----BEGIN PGP PRIVATE KEY BLOCK-----", Nothing, 0),
    format("a private key", "-----BEGIN RSA PRIVATE KEY-----", Nothing, 0),
    format("a private key", "-----BEGIN EC PRIVATE KEY-----", Nothing, 0),
    format("a private key", "-----BEGIN OPENSSH PRIVATE KEY-----", Nothing, 0),
];

const fn format(what: &'static str, beginning: &'static str, follows: Follows, least: usize) -> Format {
    Format { what, beginning, follows, least }
}

impl Format {
    /// Tells whether a text begins with a secret of this format: long enough, and no placeholder.
    pub(super) fn begins(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix(self.beginning) else { return false };
        let end = rest.find(|c| !self.may_follow(c)).unwrap_or(rest.len());
        let is_placeholder = end > 0 && rest[..end].chars().all(|c| PLACEHOLDERS.contains(&c));
        end >= self.least && !is_placeholder
    }

    fn may_follow(&self, c: char) -> bool {
        match self.follows {
            Nothing => false,
            Hex => c.is_ascii_hexdigit(),
            Upper => c.is_ascii_uppercase() || c.is_ascii_digit(),
            Alphanumeric => c.is_ascii_alphanumeric(),
            Word => c.is_ascii_alphanumeric() || c == '_',
            Dash => c.is_ascii_alphanumeric() || matches!(c, '_' | '-'),
            Dot => c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'),
        }
    }
}
