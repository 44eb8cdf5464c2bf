//! The pages by subject.

mod account;
mod assets;
mod booth;
mod display;
mod draft;
mod draft_state;
mod front;
mod guest;
mod payment;
pub mod sandbox;
pub mod unknown;
mod wallet;

use crate::route::PageRoute;

/// The routes of all pages.
#[must_use]
pub fn all() -> Vec<PageRoute> {
    let routes = [
        account::routes(),
        assets::routes(),
        booth::routes(),
        display::routes(),
        front::routes(),
        guest::routes(),
        payment::routes(),
        wallet::routes(),
    ];
    routes.into_iter().flatten().collect()
}
