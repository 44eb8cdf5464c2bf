//! Users together with their wallets.

use cuepoint_store_sql::rows::{StoredUser, StoredWallet};
use cuepoint_store_sql::schema::{users, wallets};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::batcher::Row;
use crate::connect::failure::DatabaseFailure;

/// A user with their wallet.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(check_for_backend(diesel::pg::Pg))]
pub(crate) struct ProfileRow {
    #[diesel(embed)]
    pub(crate) user: StoredUser,
    #[diesel(embed)]
    pub(crate) wallet: StoredWallet,
}

impl Row for ProfileRow {
    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        let people = users::table.inner_join(wallets::table).filter(users::id.eq_any(ids));
        Ok(people.select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.user.id
    }
}
