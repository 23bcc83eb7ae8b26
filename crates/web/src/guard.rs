//! Decides which HTTP requests are let in, by token, host name and origin, and what each may
//! do.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::ConnectInfo;
use axum::extract::Request;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::Method;
use axum::http::Uri;
use axum::http::header;
use axum::middleware::Next;
use axum::response::Response;
use consort_core::presence::CallerFacts;
use consort_core::presence::Proof;

use crate::reply::ApiError;
use crate::server::Connection;

/// A secret that a caller has to show.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Makes a token from a text; `None` if the text is too short or has other than letters and digits.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (text.len() >= 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            .then(|| Self(text.to_owned()))
    }

    /// Compares every byte, so that the time taken tells nothing about the token.
    fn is(&self, shown: &str) -> bool {
        let difference = self.0.bytes().zip(shown.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        self.0.len() == shown.len() && difference == 0
    }
}

/// The tokens that this server accepts, by what each allows.
pub struct Tokens {
    /// The token that allows everything.
    pub all: Token,
    /// The token that only allows reading.
    pub read: Token,
    /// Tells whether a token is one that the person made for this server, by `consort token`.
    pub person: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

/// The rights of a caller that was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ApiAccess {
    All,
    /// Everything, as the person, unless the caller's processes say that it is an agent.
    Person,
    Read,
}

impl ApiAccess {
    /// Adds to the facts about a caller the proof that its token gives.
    pub(crate) fn add_proof(self, facts: CallerFacts) -> CallerFacts {
        match self {
            Self::Person if !facts.in_agent => CallerFacts { proof: Proof::Token, ..facts },
            Self::All | Self::Person | Self::Read => facts,
        }
    }
}

/// The tokens and host names that every request is checked against.
pub(crate) struct Guard {
    pub(crate) tokens: Tokens,
    /// The host names by which a browser may have found us, besides those of the loopback
    /// address. A page that lets its own host name point here (DNS rebinding) is refused.
    pub(crate) hosts: Vec<String>,
}

const API: &str = "/api/";
const SYNC: &str = "/sync/";

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Guard {
    fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<ApiAccess, ApiError> {
        let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let Some(host) = text(header::HOST).map(name_of).filter(|host| self.knows(host)) else {
            return Err(ApiError::forbidden(
                "this server is not known by that name",
                "`--host NAME` adds one",
            ));
        };
        if let Some(origin) = headers.get(header::ORIGIN) {
            let from = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
            let own = from.is_some_and(|(scheme, rest)| {
                matches!(scheme, "http" | "https")
                    && (name_of(rest) == host || LOOPBACK.contains(&name_of(rest)))
            });
            if !own {
                return Err(ApiError::forbidden(
                    "a page of another site may not call",
                    "use this server's own page",
                ));
            }
        }
        let shown = text(header::AUTHORIZATION).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        // A browser cannot send a header of our choice with a websocket.
        let shown = shown.or_else(|| token_in(uri).filter(|_| uri.path().starts_with(SYNC)));
        match shown {
            Some(shown) if self.tokens.all.is(shown) => Ok(ApiAccess::All),
            Some(shown) if (self.tokens.person)(shown) => Ok(ApiAccess::Person),
            Some(shown) if self.tokens.read.is(shown) => {
                let looks = matches!(*method, Method::GET | Method::HEAD);
                let may = looks && [API, SYNC].iter().any(|place| uri.path().starts_with(place));
                may.then_some(ApiAccess::Read).ok_or_else(|| {
                    ApiError::forbidden("this token may only read", "show the other one to do that")
                })
            }
            _ => Err(ApiError::unauthorized()),
        }
    }

    fn knows(&self, host: &str) -> bool {
        LOOPBACK.contains(&host) || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host))
    }
}

/// Returns the host name that an address or a name stands for, with or without a port.
pub(crate) fn host_name(text: &str) -> String {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) => format!("[{address}]"),
        _ => name_of(text).to_owned(),
    }
}

/// Strips the port from a name: `[::1]:80`, `localhost:80`.
fn name_of(authority: &str) -> &str {
    match authority.find(']') {
        Some(end) => &authority[..=end],
        None => authority.split(':').next().unwrap_or(authority),
    }
}

/// Returns the `token=` of a URL's query. No character of a token needs to be escaped.
fn token_in(uri: &Uri) -> Option<&str> {
    uri.query()?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Lets a request in, with its access rights and connection attached, or refuses it.
pub(crate) async fn guard(
    State(guard): State<Arc<Guard>>,
    ConnectInfo(Connection(ends)): ConnectInfo<Connection>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let access = guard.admit(request.method(), request.uri(), request.headers())?;
    request.extensions_mut().insert(access);
    if let Some(ends) = ends {
        request.extensions_mut().insert(ends);
    }
    Ok(next.run(request).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0123456789abcdef0123456789abcdef";
    const READ: &str = "fedcba9876543210fedcba9876543210";

    fn access(line: &str, headers: &[(&str, &str)]) -> Option<ApiAccess> {
        let tokens = Tokens {
            all: Token::new(SECRET).unwrap(),
            read: Token::new(READ).unwrap(),
            person: Box::new(|_| false),
        };
        let guard = Guard { tokens, hosts: vec!["box.lan".into()] };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(name.parse::<header::HeaderName>().unwrap(), value.parse().unwrap());
        }
        let (method, uri) = line.split_once(' ').unwrap();
        guard.admit(&method.parse().unwrap(), &uri.parse().unwrap(), &map).ok()
    }

    fn admits(headers: &[(&str, &str)]) -> bool {
        access("POST /mcp", headers) == Some(ApiAccess::All)
    }

    #[test]
    fn one_token_only_reads() {
        let bearer = format!("Bearer {READ}");
        for (line, may) in [
            ("GET /api/who?project=shop", true),
            ("GET /api/events", true),
            ("HEAD /api/who", true),
            ("GET /sync/shop", true),
            ("POST /api/send", false),
            ("PUT /api/who", false),
            ("GET /mcp", false),
            ("POST /mcp", false),
            ("DELETE /mcp", false),
            ("POST /sync/shop", false),
            ("GET /", false),
            ("GET /apis", false),
        ] {
            let found = access(line, &[("host", "localhost"), ("authorization", &bearer)]);
            assert_eq!(found, may.then_some(ApiAccess::Read), "{line}");
        }
        let of_another_site =
            [("host", "localhost"), ("authorization", bearer.as_str()), ("origin", "http://evil.example")];
        assert_eq!(access("GET /api/who", &of_another_site), None);
    }

    #[test]
    fn only_a_websocket_shows_its_token_in_the_query() {
        let host = [("host", "localhost")];
        let asked = |path: &str, token: &str| access(&format!("GET {path}token={token}"), &host);
        assert_eq!(asked("/sync/shop?", SECRET), Some(ApiAccess::All));
        assert_eq!(asked("/sync/shop?a=b&", SECRET), Some(ApiAccess::All));
        assert_eq!(asked("/sync/shop?", READ), Some(ApiAccess::Read));
        for path in ["/api/who?", "/mcp?", "/api/events?", "/?", "/sync/shop#", "/sync/shop?x", "/sync?"] {
            assert_eq!(asked(path, SECRET), None, "{path}");
        }
        assert_eq!(asked("/sync/shop?", ""), None);
        assert_eq!(asked("/sync/shop?", "0123456789abcdef0123456789abcdee"), None);
        // A token in a header takes precedence.
        let wrong = [("host", "localhost"), ("authorization", "Bearer x")];
        assert_eq!(access(&format!("GET /sync/shop?token={SECRET}"), &wrong), None);
        assert_eq!(access(&format!("GET /sync/shop?token={SECRET}"), &[("host", "evil.example")]), None);
    }

    #[test]
    fn the_token_is_needed_and_enough() {
        let bearer = format!("Bearer {SECRET}");
        for host in ["localhost", "localhost:4917", "127.0.0.1:1", "[::1]:4917", "[::1]", "BOX.lan:80"] {
            assert!(admits(&[("host", host), ("authorization", &bearer)]), "{host}");
        }
        assert!(admits(&[("host", "localhost"), ("authorization", &format!("bearer {SECRET}"))]));
        for wrong in [
            "Bearer ",
            "Bearer x",
            "Basic x",
            SECRET,
            &format!("Bearer {SECRET}0"),
            &format!("Bearer {}", &SECRET[1..]),
        ] {
            assert!(!admits(&[("host", "localhost"), ("authorization", wrong)]), "{wrong}");
        }
        assert!(!admits(&[("host", "localhost")]));
    }

    #[test]
    fn pages_of_other_sites_stay_out() {
        let bearer = format!("Bearer {SECRET}");
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "::1"] {
            assert!(!admits(&[("host", host), ("authorization", &bearer)]), "{host}");
        }
        assert!(!admits(&[("authorization", &bearer)]));
        for (origin, may) in [
            ("http://localhost:4917", true),
            ("http://127.0.0.1:4917", true),
            ("http://[::1]:4917", true),
            ("http://evil.example", false),
            ("http://localhost.evil.example", false),
            ("null", false),
            ("file://", false),
            ("chrome-extension://localhost", false),
        ] {
            let headers =
                [("host", "localhost:4917"), ("authorization", bearer.as_str()), ("origin", origin)];
            assert_eq!(admits(&headers), may, "{origin}");
        }
    }

    #[test]
    fn a_short_token_is_none() {
        assert!(Token::new("short").is_none());
        assert!(Token::new(&"x y".repeat(20)).is_none());
        assert!(Token::new(&format!("{SECRET}\n")).is_some());
    }
}
