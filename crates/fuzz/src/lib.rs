//! Properties of every external input: a target is a function that takes arbitrary bytes and panics if a
//! property is violated.
//!
//! `cargo xtask fuzz` searches for such bytes; the tests replay the inputs in `corpus/`.

mod address;
mod endpoint_url;
mod excerpt;
mod headers;
mod json;
mod moment;
mod money;
mod page;
mod phone;
mod request_gate;
mod token;
mod webhook;

/// The name of a target, which is also its folder in `corpus/`, and its property.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("address", address::check),
    ("endpoint_url", endpoint_url::check),
    ("excerpt", excerpt::check),
    ("headers", headers::check),
    ("json", json::check),
    ("moment", moment::check),
    ("money", money::check),
    ("page", page::check),
    ("phone", phone::check),
    ("request_gate", request_gate::check),
    ("token", token::check),
    ("webhook", webhook::check),
];

/// Splits the input into its first line and the rest: inputs of several parts have one part per line, so that
/// they can be written by hand.
fn split(input: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}
