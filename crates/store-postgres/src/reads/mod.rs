//! What is read beside plans.

mod music_requests;
mod paged;
mod people;
mod together;
mod topups;
mod wallets;
mod withdrawals;

pub(crate) use paged::{NEWEST_FIRST, Paged, columns, limits, page};
pub(crate) use people::ProfileRow;
pub(crate) use together::Together;

use crate::database::Database;
use crate::rows::{MusicRequestRow, TopupRow, WalletRow, WithdrawalRow};

/// The ways to what is read by its id.
pub(crate) struct ById {
    pub(crate) profiles: Together<ProfileRow>,
    pub(crate) wallets: Together<WalletRow>,
    pub(crate) requests: Together<MusicRequestRow>,
    pub(crate) withdrawals: Together<WithdrawalRow>,
    pub(crate) topups: Together<TopupRow>,
}

impl ById {
    /// Reads on the present runtime, for as long as this is kept.
    pub(crate) fn start(database: &Database) -> Self {
        Self {
            profiles: Together::start(database.clone()),
            wallets: Together::start(database.clone()),
            requests: Together::start(database.clone()),
            withdrawals: Together::start(database.clone()),
            topups: Together::start(database.clone()),
        }
    }
}
