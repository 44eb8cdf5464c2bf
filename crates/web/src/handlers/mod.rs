//! The pages by subject.

mod assets;
mod guest;
mod payment;
pub mod sandbox;

use crate::route::PageRoute;

/// The routes of all pages.
#[must_use]
pub fn all() -> Vec<PageRoute> {
    [assets::routes(), guest::routes(), payment::routes()].into_iter().flatten().collect()
}
