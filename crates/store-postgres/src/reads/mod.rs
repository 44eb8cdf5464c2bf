//! Reads outside plans.

pub(crate) mod batcher;
mod by_id;
mod paged;
mod profiles;
pub(crate) mod request_lists;

pub(crate) use paged::{
    BeganLastFirst, BlockedLastFirst, Counted, LastEntryFirst, LastIdFirst, LastNumberFirst, NewestFirst,
    OpenedLastFirst, Paged, UnresolvedFirst, UnsettledFirst, columns, limits, page,
};
pub(crate) use profiles::ProfileRow;

use cuepoint_store_sql::rows::{StoredRequest, StoredTopup, StoredWallet, StoredWithdrawal};
use cuepoint_store_sql::sql_types::UtcTime;
use diesel::sql_types::Timestamptz;

use self::batcher::{ReadBatcher, ReadById};
use self::request_lists::RequestList;
use crate::connect::pool::Database;

diesel::define_sql_function! {
    /// The earlier of two timestamps. With `now()` as the second one, a server with a fast clock finds no
    /// work due before it is due by the database's clock.
    fn least(one: Timestamptz, other: Timestamptz) -> UtcTime;
}
diesel::define_sql_function! {
    /// The later of two timestamps.
    fn greatest(one: UtcTime, other: UtcTime) -> UtcTime;
}

/// The read batchers.
pub(crate) struct ReadBatchers {
    pub(crate) profiles: ReadBatcher<ReadById<ProfileRow>>,
    pub(crate) wallets: ReadBatcher<ReadById<StoredWallet>>,
    pub(crate) requests: ReadBatcher<ReadById<StoredRequest>>,
    pub(crate) request_lists: ReadBatcher<RequestList>,
    pub(crate) withdrawals: ReadBatcher<ReadById<StoredWithdrawal>>,
    pub(crate) topups: ReadBatcher<ReadById<StoredTopup>>,
}

impl ReadBatchers {
    /// Starts the batchers on the current runtime; they run until this is dropped.
    pub(crate) fn start(database: &Database) -> Self {
        Self {
            profiles: ReadBatcher::start(database.clone()),
            wallets: ReadBatcher::start(database.clone()),
            requests: ReadBatcher::start(database.clone()),
            request_lists: ReadBatcher::start(database.clone()),
            withdrawals: ReadBatcher::start(database.clone()),
            topups: ReadBatcher::start(database.clone()),
        }
    }
}
