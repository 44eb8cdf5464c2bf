//! Reads of single rows by their ids, which most requests need.

use cuepoint_domain::ids::{RequestId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::ports::{Profile, Unavailable};
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::Withdrawal;
use cuepoint_store_sql::rows::{StoredRequest, StoredTopup, StoredUser, StoredWallet, StoredWithdrawal};
use cuepoint_store_sql::schema::{music_requests, topups, users, wallets, withdrawals};
use diesel::prelude::*;

use crate::SqliteStore;

impl SqliteStore {
    /// A user and their balance.
    pub(crate) async fn profile_by_id(&self, id: UserId) -> Result<Option<Profile>, Unavailable> {
        self.readers.read(|connection| {
            let both = users::table.inner_join(wallets::table).filter(users::id.eq(id.get()));
            let both = both.select((StoredUser::as_select(), StoredWallet::as_select()));
            let row: Option<(StoredUser, StoredWallet)> = both.get_result(connection).optional()?;
            let Some((user, wallet)) = row else { return Ok(None) };
            let balance = wallet.balance(&self.currency)?;
            Ok(Some(Profile { user: user.user(&self.currency)?, balance }))
        })
    }

    /// The balance of a user's wallet.
    pub(crate) async fn balance_by_id(&self, user: UserId) -> Result<Option<Balance>, Unavailable> {
        self.readers.read(|connection| {
            let row = wallets::table.find(user.get()).select(StoredWallet::as_select());
            let row: Option<StoredWallet> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.balance(&self.currency)).transpose()?)
        })
    }

    /// A music request.
    pub(crate) async fn request_by_id(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        self.readers.read(|connection| {
            let row = music_requests::table.find(id.get()).select(StoredRequest::as_select());
            let row: Option<StoredRequest> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.request(&self.currency)).transpose()?)
        })
    }

    /// A withdrawal.
    pub(crate) async fn withdrawal_by_id(&self, id: WithdrawalId) -> Result<Option<Withdrawal>, Unavailable> {
        self.readers.read(|connection| {
            let row = withdrawals::table.find(id.get()).select(StoredWithdrawal::as_select());
            let row: Option<StoredWithdrawal> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.withdrawal(&self.currency)).transpose()?)
        })
    }

    /// A top-up.
    pub(crate) async fn topup_by_id(&self, id: TopupId) -> Result<Option<Topup>, Unavailable> {
        self.readers.read(|connection| {
            let row = topups::table.find(id.get()).select(StoredTopup::as_select());
            let row: Option<StoredTopup> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.topup(&self.currency)).transpose()?)
        })
    }
}
