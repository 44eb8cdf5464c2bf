//! What must hold of every input from outside, as properties: a target is a function that takes any bytes and panics
//! where a property is broken.
//!
//! `cargo xtask fuzz` looks for such bytes; the tests play those that are kept in `corpus/`.

mod address;
mod excerpt;
mod headers;
mod json;
mod moment;
mod money;
mod page;
mod phone;
mod token;
mod webhook;

/// A target: its name, which is also its folder in `corpus/`, and its property.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("address", address::check),
    ("excerpt", excerpt::check),
    ("headers", headers::check),
    ("json", json::check),
    ("moment", moment::check),
    ("money", money::check),
    ("page", page::check),
    ("phone", phone::check),
    ("token", token::check),
    ("webhook", webhook::check),
];

/// The input's first line and what follows it: inputs of several parts have one on each line, so that people can
/// write them.
fn split(input: &[u8]) -> (&[u8], &[u8]) {
    let mut parts = input.splitn(2, |byte| *byte == b'\n');
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}
