//! Id allocation: sequences of the database in blocks, single ids from the server's memory.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use async_trait::async_trait;
use cuepoint_domain::ids::OperationId;
use cuepoint_domain::ports::{IdKind, Ids, Unavailable};
use cuepoint_store_sql::id_blocks::block_length;
use cuepoint_store_sql::schema::COUNTERS;
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::connect::pool::{Database, within};

diesel::define_sql_function! {
    /// The next value of the sequence with this name.
    fn nextval(sequence: Text) -> BigInt;
}

/// The rest of the block taken last.
struct IdRange {
    sequence: &'static str,
    length: i64,
    left: Mutex<RemainingIds>,
}

/// The remaining numbers, and the generation of connections in which they were fetched. After a failover or a
/// restore the sequence may return the same numbers again, so numbers of an earlier generation are dropped.
struct RemainingIds {
    numbers: RangeInclusive<i64>,
    generation: u64,
}

impl RemainingIds {
    /// Returns the next number; `None` if none is left of this generation.
    fn next(&mut self, generation: u64) -> Option<i64> {
        if self.generation == generation { self.numbers.next() } else { None }
    }
}

impl IdRange {
    const fn of(kind: IdKind, sequence: &'static str) -> Self {
        let length = block_length(kind);
        #[expect(clippy::reversed_empty_ranges, reason = "nothing was taken yet")]
        Self { sequence, length, left: Mutex::const_new(RemainingIds { numbers: 1..=0, generation: 0 }) }
    }

    /// Returns the next number of the block; `None` if it is used up, or if a caller is taking another one.
    fn at_hand(&self, database: &Database) -> Option<i64> {
        self.left.try_lock().ok()?.next(database.cluster().generation())
    }

    /// Returns the next number, from a new block if the last one is used up; blocks are taken one at a time.
    async fn next(&self, database: &Database) -> Result<i64, DatabaseFailure> {
        let mut left = self.left.lock().await;
        let generation = database.cluster().generation();
        if let Some(number) = left.next(generation) {
            return Ok(number);
        }
        let sequence = self.sequence;
        let first: i64 = database
            .read_by_pool((), async |mut connection, ()| {
                Ok(diesel::select(nextval(sequence)).get_result(&mut connection).await?)
            })
            .await?;
        let numbers = first.saturating_add(1)..=first.saturating_add(self.length.saturating_sub(1));
        *left = RemainingIds { numbers, generation };
        Ok(first)
    }
}

/// The blocks of every kind of id.
pub(crate) struct PostgresIds(BTreeMap<IdKind, IdRange>);

impl Default for PostgresIds {
    fn default() -> Self {
        let kinds =
            COUNTERS.iter().filter_map(|counter| Some((IdKind::named(counter.name)?, counter.sequence)));
        Self(kinds.map(|(kind, sequence)| (kind, IdRange::of(kind, sequence))).collect())
    }
}

#[async_trait]
impl Ids for PostgresStore {
    /// Ordered by time, so that the newest operations are adjacent in every index: random ids would each
    /// touch another page.
    #[expect(clippy::disallowed_methods, reason = "this port is the source of time and randomness for ids")]
    fn operation(&self) -> OperationId {
        OperationId(Uuid::now_v7().as_u128())
    }

    fn number_at_hand(&self, kind: IdKind) -> Option<i64> {
        self.ids.0.get(&kind)?.at_hand(&self.database)
    }

    async fn next_number(&self, kind: IdKind) -> Result<i64, Unavailable> {
        let ids = self.ids.0.get(&kind).ok_or_else(|| Unavailable::new("a kind of id has no sequence"))?;
        Ok(within(ids.next(&self.database)).await?)
    }
}
