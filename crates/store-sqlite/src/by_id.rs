//! Reads of single rows by their ids, which most requests need.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::{Profile, Unavailable};
use cuepoint_store_sql::rows::{StoredUser, StoredWallet};
use cuepoint_store_sql::schema::{users, wallets};
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
}
