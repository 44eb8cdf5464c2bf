//! Id allocation: blocks of the table `ids`, single ids from the server's memory.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use async_trait::async_trait;
use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ports::{IdKind, Ids, Unavailable};
use cuepoint_store_sql::id_blocks::block_length;
use cuepoint_store_sql::limits::WAIT;
use cuepoint_store_sql::schema::COUNTERS;
use cuepoint_store_sql::table::Counting;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use tokio::sync::Mutex;
use tokio::time::timeout;
use uuid::Uuid;

use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::schema::ids;
use crate::writer::{Repetition, SqliteWriter};

/// The rest of the block taken last.
struct IdRange {
    kind: IdKind,
    left: Mutex<RangeInclusive<i64>>,
}

impl IdRange {
    const fn of(kind: IdKind) -> Self {
        #[expect(clippy::reversed_empty_ranges, reason = "nothing was taken yet")]
        Self { kind, left: Mutex::const_new(1..=0) }
    }

    /// Returns the next number of the block; `None` if it is used up, or if a caller is taking another one.
    fn at_hand(&self) -> Option<i64> {
        self.left.try_lock().ok()?.next()
    }

    /// Returns the next number, from a new block if the last one is used up; blocks are taken one at a time.
    /// All waiting callers fail in time if none can be taken.
    async fn next(&self, writer: &SqliteWriter) -> Result<i64, SqliteFailure> {
        timeout(WAIT, self.number(writer)).await.unwrap_or(Err(SqliteFailure::Deadline))
    }

    async fn number(&self, writer: &SqliteWriter) -> Result<i64, SqliteFailure> {
        let mut left = self.left.lock().await;
        if let Some(number) = left.next() {
            return Ok(number);
        }
        let first = self.take(writer).await?;
        *left = first.saturating_add(1)..=first.saturating_add(block_length(self.kind).saturating_sub(1));
        Ok(first)
    }

    /// Takes a block, and returns its first number.
    async fn take(&self, writer: &SqliteWriter) -> Result<i64, SqliteFailure> {
        let (kind, length) = (self.kind.name(), block_length(self.kind));
        let take = move |connection: &mut SqliteConnection| {
            let row = ids::table.find(kind);
            let first: i64 = row.select(ids::next).get_result(connection)?;
            let next = first.saturating_add(length);
            diesel::update(row).set(ids::next.eq(next)).execute(connection)?;
            Ok(first)
        };
        writer.change(Repetition::Repeatable, take).await
    }
}

/// The blocks of the kinds of ids that servers reserve.
pub(crate) struct SqliteIds(BTreeMap<IdKind, IdRange>);

impl Default for SqliteIds {
    fn default() -> Self {
        let reserved = COUNTERS.iter().filter(|counter| counter.counting == Counting::Reserved);
        let kinds = reserved.filter_map(|counter| IdKind::named(counter.name));
        Self(kinds.map(|kind| (kind, IdRange::of(kind))).collect())
    }
}

/// Reserves an id that SQLite would generate otherwise.
fn reserve_webhook_endpoint(connection: &mut SqliteConnection) -> Result<i64, SqliteFailure> {
    connection.batch_execute(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'webhook_endpoints', 0 \
         WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'webhook_endpoints')",
    )?;
    let reserve = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'webhook_endpoints' RETURNING seq";
    let Reserved { seq } = sql_query(reserve).get_result(connection)?;
    Ok(seq)
}

#[derive(QueryableByName)]
struct Reserved {
    #[diesel(sql_type = BigInt)]
    seq: i64,
}

#[async_trait]
impl Ids for SqliteStore {
    /// Ordered by time, so that the newest operations are adjacent in every index.
    #[expect(clippy::disallowed_methods, reason = "this port is the source of time and randomness for ids")]
    fn operation(&self) -> OperationId {
        OperationId(Uuid::now_v7().as_u128())
    }

    fn number_at_hand(&self, kind: IdKind) -> Option<i64> {
        self.ids.0.get(&kind)?.at_hand()
    }

    async fn next_number(&self, kind: IdKind) -> Result<i64, Unavailable> {
        if kind == IdKind::WebhookEndpoints {
            return Ok(self.writer.change(Repetition::Repeatable, reserve_webhook_endpoint).await?);
        }
        let ids = self.ids.0.get(&kind).ok_or_else(|| Unavailable::new("a kind of id has no block"))?;
        Ok(ids.next(&self.writer).await?)
    }
}
