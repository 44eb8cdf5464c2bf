//! What is read beside plans.

mod music_requests;
mod paged;
mod topups;
mod wallets;
mod withdrawals;

pub(crate) use paged::{NEWEST_FIRST, Paged, columns, limits, page};
