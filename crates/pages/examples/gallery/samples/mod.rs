//! Pages with made-up content, for the gallery and for tests: a file for each subject.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "the content is no input"
)]
#![allow(dead_code, unreachable_pub, reason = "the gallery and each file of tests use a part")]

mod account;
mod boards;
pub mod booth;
mod display;
mod errors;
mod front;
mod guest;
mod hostile;
mod payment;
mod people;
mod report;
mod wallet;

use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_pages::accent::{AccentSheet, Colour};
use cuepoint_pages::frame::{Site, SiteLink};
use cuepoint_pages::language::Language;

/// A page in one state.
pub struct Sample {
    /// The name, such as `guest-paused`.
    pub name: String,
    pub html: String,
}

impl Sample {
    /// The page with this name.
    pub fn new(name: impl Into<String>, html: String) -> Self {
        Self { name: name.into(), html }
    }
}

/// Every page in every state.
pub fn all(language: Language) -> Vec<Sample> {
    let subjects = [
        errors::pages(language),
        guest::pages(language),
        payment::pages(language),
        front::pages(language),
        wallet::pages(language),
        account::pages(language),
        hostile::pages(language),
        booth::pages(language),
        display::pages(language),
        report::pages(language),
    ];
    subjects.into_iter().flatten().collect()
}

/// A deployment in euros.
pub fn site() -> Site {
    let link = |text: &str, url: &str| SiteLink { text: text.to_owned(), url: url.to_owned() };
    Site {
        currency: Currency::new("EUR", 2).expect("a currency"),
        links: vec![
            link("Imprint", "https://example.com/imprint"),
            link("Privacy", "https://example.com/privacy"),
        ],
        accent: AccentSheet::new(Colour::DEFAULT),
    }
}

/// 2026-03-14T22:40:00Z.
pub fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_773_528_000_000_000)
}

/// A text of a user with markup, quotes and right-to-left marks, of this many characters.
pub fn hostile(characters: usize) -> String {
    "<script>alert('\"&')</script>\u{202e}\u{5d0}\u{5d1} "
        .chars()
        .cycle()
        .take(characters.saturating_sub(1))
        .chain(['x'])
        .collect()
}
