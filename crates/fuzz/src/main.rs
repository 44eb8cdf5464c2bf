//! The program behind `cargo xtask fuzz`: libFuzzer with the target that the environment names.
#![no_main]

use std::sync::LazyLock;

/// The property of the target named by `CUEPOINT_FUZZ_TARGET`.
static CHECK: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var_os("CUEPOINT_FUZZ_TARGET").unwrap_or_default();
    let target = cuepoint_fuzz::TARGETS.iter().find(|(known, _)| name == *known);
    let Some((_, check)) = target else {
        eprintln!("CUEPOINT_FUZZ_TARGET names no target");
        std::process::exit(2);
    };
    *check
});

libfuzzer_sys::fuzz_target!(|input: &[u8]| CHECK(input));
