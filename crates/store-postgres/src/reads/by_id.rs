//! The rows that are read by their ids.

use cuepoint_store_sql::rows::{StoredRequest, StoredTopup, StoredWallet, StoredWithdrawal};
use cuepoint_store_sql::schema::{music_requests, topups, wallets, withdrawals};
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::batcher::Row;
use crate::connect::failure::DatabaseFailure;

impl Row for StoredRequest {
    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        let rows = music_requests::table.filter(music_requests::id.eq_any(ids));
        Ok(rows.select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.id
    }
}

impl Row for StoredWithdrawal {
    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        let rows = withdrawals::table.filter(withdrawals::id.eq_any(ids));
        Ok(rows.select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.id
    }
}

impl Row for StoredTopup {
    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        let rows = topups::table.filter(topups::id.eq_any(ids));
        Ok(rows.select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.id
    }
}

impl Row for StoredWallet {
    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
        let rows = wallets::table.filter(wallets::user_id.eq_any(ids));
        Ok(rows.select(Self::as_select()).load(&mut connection).await?)
    }

    fn id(&self) -> i64 {
        self.user_id
    }
}
