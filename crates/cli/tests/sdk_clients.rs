//! Tests of the official MCP SDKs as clients, over pipes and over HTTP: they can list and
//! call everything.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::http_server::HttpServer;
use consort_testkit::Sealed;
use serde_json::Value;
use serde_json::json;

fn tools() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.test-tools")
}

/// Tells whether an SDK could not be installed here, and prints that loudly.
fn is_out_of_reach(package: &str) -> bool {
    let is_out = tools().join(package).join("unreachable").exists();
    if is_out {
        let told = format!("!!! SKIPPED: {package} could not be installed !!!\n");
        std::io::stderr().write_all(told.as_bytes()).unwrap();
    }
    is_out
}

#[test]
fn the_python_sdk_is_a_client() {
    let client = |world: &Sealed| {
        let mut python = world.command(tools().join("python-sdk/venv/bin/python"));
        python.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk/client.py"));
        python
    };
    is_a_client("python-sdk", "Python", client);
}

#[test]
fn the_typescript_sdk_is_a_client() {
    let client = |world: &Sealed| {
        let mut node = world.command(tools().join("claude/node_modules/.bin/node"));
        node.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sdk/client.mjs"));
        node.env("SDK", tools().join("typescript-sdk").canonicalize().unwrap());
        node
    };
    is_a_client("typescript-sdk", "TypeScript", client);
}

fn is_a_client(package: &str, language: &str, client: impl Fn(&Sealed) -> Command) {
    if is_out_of_reach(package) {
        return;
    }
    let world = Sealed::new(env!("CARGO_BIN_EXE_consort"));
    world.git_init();
    let world = world.with_falcon_and_raven();
    let site = HttpServer::start(&world);
    let url = format!("http://127.0.0.1:{}/mcp", site.port);
    let program = world.program().to_str().unwrap().to_owned();
    for way in [&["stdio", &program][..], &["http", &url, &site.token]] {
        let ran = world.ran(client(&world).args(way));
        assert_eq!(ran.code, 0, "{ran}");
        let told: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        let has = |list: &str, name: &str| told[list].as_array().unwrap().contains(&json!(name));
        assert!(has("tools", "reserve") && has("tools", "query") && has("prompts", "primer"), "{told}");
        assert!(has("resources", "consort://inbox"), "{told}");
        assert!(told["instructions"].as_str().unwrap().contains("query"), "{told}");
        let names = told["who"]["data"]["items"].as_array().unwrap().iter();
        assert!(names.map(|agent| &agent["name"]).any(|name| name == "Raven"), "{told}");
        assert_eq!(told["send"]["data"]["message"]["to"], json!(["Raven"]), "{told}");
        assert_eq!(told["query"]["data"]["answer"], format!("\"from {language}\""), "{told}");
        assert_eq!(told["mistake"]["isError"], true, "{told}");
        assert!(told["mistake"]["data"]["error"]["hints"].is_array(), "{told}");
        assert!(told["overview"].as_str().unwrap().contains("Raven"), "{told}");
    }
    let heard = world.run_as(Some("s2"), &["inbox"]).stdout;
    assert_eq!(heard.matches(&format!("> hello from {language}")).count(), 2, "{heard}");
}
