//! What the linker is told of a release build: to leave out names, and to put what
//! hooks and messages run side by side. `bench/src/bin/order.rs` makes that list;
//! names that are not in the program, after a change or under another compiler,
//! are passed over.

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
    // The compiler brings a linker that can do it for this target, and someone
    // may have chosen another.
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let is_chosen = ["fuse-ld", "linker=", "linker-flavor"].iter().any(|word| flags.contains(word))
        || !variable("RUSTC_LINKER").is_empty();
    if variable("TARGET") == "x86_64-unknown-linux-gnu" && !is_chosen {
        tell(&format!("--symbol-ordering-file={}/hot.order", variable("CARGO_MANIFEST_DIR")));
        tell("--no-warn-symbol-ordering");
    }
}
