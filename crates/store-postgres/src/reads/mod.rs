//! Reads outside plans.

pub(crate) mod batcher;
mod paged;
mod profiles;
pub(crate) mod readable;
pub(crate) mod request_lists;

pub(crate) use paged::{
    BeganLastFirst, BlockedLastFirst, Counted, LastIdFirst, NewestFirst, Paged, UnresolvedFirst,
    UnsettledFirst, columns, limits, paged,
};
pub(crate) use profiles::ProfileRow;

use diesel::sql_types::Timestamptz;

use self::batcher::{ById, Together};
use self::request_lists::RequestList;
use crate::connect::pool::Database;
use crate::rows::{MusicRequestRow, TopupRow, WalletRow, WithdrawalRow};

diesel::define_sql_function! {
    /// The earlier of two timestamps. With `now()` as the second one, a server with a fast clock finds no
    /// work due before it is due by the database's clock.
    fn least(one: Timestamptz, other: Timestamptz) -> Timestamptz;
}
diesel::define_sql_function! {
    /// The later of two timestamps.
    fn greatest(one: Timestamptz, other: Timestamptz) -> Timestamptz;
}

/// The read batchers.
pub(crate) struct ReadTogether {
    pub(crate) profiles: Together<ById<ProfileRow>>,
    pub(crate) wallets: Together<ById<WalletRow>>,
    pub(crate) requests: Together<ById<MusicRequestRow>>,
    pub(crate) request_lists: Together<RequestList>,
    pub(crate) withdrawals: Together<ById<WithdrawalRow>>,
    pub(crate) topups: Together<ById<TopupRow>>,
}

impl ReadTogether {
    /// Starts the batchers on the current runtime; they run until this is dropped.
    pub(crate) fn start(database: &Database) -> Self {
        Self {
            profiles: Together::start(database.clone()),
            wallets: Together::start(database.clone()),
            requests: Together::start(database.clone()),
            request_lists: Together::start(database.clone()),
            withdrawals: Together::start(database.clone()),
            topups: Together::start(database.clone()),
        }
    }
}
