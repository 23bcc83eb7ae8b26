//! Tells the linker to put what hooks and messages run side by side: see
//! `bench/src/bin/order.rs`, which makes the list. Names that are not in the
//! program, after a change or under another compiler, are passed over.

fn main() {
    println!("cargo::rerun-if-changed=hot.order");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    // The compiler brings a linker that can do it for this target, and someone
    // may have chosen another.
    let flags = variable("CARGO_ENCODED_RUSTFLAGS");
    let is_chosen = ["fuse-ld", "linker=", "linker-flavor"].iter().any(|word| flags.contains(word))
        || !variable("RUSTC_LINKER").is_empty();
    if variable("TARGET") == "x86_64-unknown-linux-gnu" && variable("PROFILE") == "release" && !is_chosen {
        let list = format!("{}/hot.order", variable("CARGO_MANIFEST_DIR"));
        for argument in [&format!("--symbol-ordering-file={list}"), "--no-warn-symbol-ordering"] {
            println!("cargo::rustc-link-arg-bins=-Xlinker");
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
