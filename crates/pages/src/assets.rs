//! The assets: style sheets, script and icons, each named after its content and compressed when the program is built.
//!
//! A response with an asset may be kept for ever: other content has another name. The style sheet of the accent colour
//! is made at the start; see [`crate::accent`].

/// An asset.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asset {
    /// The name of the file, with a digest of its content.
    pub name: &'static str,
    /// The path under which pages name it.
    pub path: &'static str,
    /// The value of `Content-Type`.
    pub media_type: &'static str,
    pub bytes: &'static [u8],
    /// The bytes with `Content-Encoding: gzip`.
    pub gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The content of `/robots.txt`. Crawlers may read the start page and the pages of gigs, but no live parts, displays or
/// payments.
pub const ROBOTS: &str = include_str!("../assets/robots.txt");

/// The asset with this name of a file.
#[must_use]
pub fn named(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}
