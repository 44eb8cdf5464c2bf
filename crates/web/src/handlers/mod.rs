//! The pages by subject.

mod assets;
mod booth;
mod display;
mod front;
mod guest;
mod payment;
pub mod sandbox;

use crate::route::PageRoute;

/// The routes of all pages.
#[must_use]
pub fn all() -> Vec<PageRoute> {
    [
        assets::routes(),
        booth::routes(),
        display::routes(),
        front::routes(),
        guest::routes(),
        payment::routes(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
