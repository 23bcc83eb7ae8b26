//! What the linker is told of a release build: to leave out names, and to put what
//! hooks and messages run side by side. `bench/src/bin/order.rs` makes that list;
//! names that are not in the program, after a change or under another compiler,
//! are passed over.

use std::process::Command;

/// Set to keep the names, for whoever measures.
const NAMES: &str = "CONSORT_KEEP_NAMES";

fn main() {
    println!("cargo::rerun-if-changed=hot.order");
    println!("cargo::rerun-if-env-changed={NAMES}");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("PROFILE") != "release" || variable("CARGO_CFG_TARGET_OS") != "linux" {
        return;
    }
    let tell = |argument: &str| {
        println!("cargo::rustc-link-arg-bins=-Xlinker");
        println!("cargo::rustc-link-arg-bins={argument}");
    };
    if variable(NAMES).is_empty() {
        tell("--strip-all");
    }
    let order = format!("--symbol-ordering-file={}/hot.order", variable("CARGO_MANIFEST_DIR"));
    if variable("TARGET") == "x86_64-unknown-linux-gnu" && can_link(&order) {
        tell(&order);
        tell("--no-warn-symbol-ordering");
    }
}

/// Whether the linker knows that argument: the compiler brings one that does, but
/// someone may have chosen another.
fn can_link(argument: &str) -> bool {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let dir = variable("OUT_DIR");
    let (source, program) = (format!("{dir}/empty.rs"), format!("{dir}/empty"));
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--target", &variable("TARGET"), &source, "-o", &program]);
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\u{1f}').filter(|flag| !flag.is_empty()));
    let linker = variable("RUSTC_LINKER");
    if !linker.is_empty() {
        rustc.arg(format!("-Clinker={linker}"));
    }
    for argument in ["-Xlinker", argument, "-Xlinker", "--no-warn-symbol-ordering"] {
        rustc.arg(format!("-Clink-arg={argument}"));
    }
    let is_written = std::fs::write(&source, "fn main() {}").is_ok();
    is_written && rustc.output().is_ok_and(|linked| linked.status.success())
}
