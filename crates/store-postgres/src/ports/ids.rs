//! Id allocation: sequences of the database in blocks, single ids from the server's memory.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use cuepoint_domain::ids::{
    AdjustmentId, OperationId, RequestId, SessionId, TopupId, UserId, WebhookEndpointId, WithdrawalId,
};
use cuepoint_domain::ports::{Ids, Unavailable};
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::connect::pool::{Database, within};

/// The increments of the sequences, as in their migrations: for frequent ids, for the others, and for those of a
/// column.
const LONG: i64 = 1_024;
const SHORT: i64 = 32;
const SINGLE: i64 = 1;

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

impl IdRange {
    const fn of(sequence: &'static str, length: i64) -> Self {
        #[expect(clippy::reversed_empty_ranges, reason = "nothing was taken yet")]
        Self { sequence, length, left: Mutex::const_new(RemainingIds { numbers: 1..=0, generation: 0 }) }
    }

    /// Returns the next number, from a new block if the last one is used up; blocks are taken one at a time.
    async fn next<Id>(&self, database: &Database, id: fn(i64) -> Option<Id>) -> Result<Id, Unavailable> {
        let number = within(self.number(database)).await?;
        id(number).ok_or_else(|| Unavailable::new("a sequence returned an invalid id"))
    }

    async fn number(&self, database: &Database) -> Result<i64, DatabaseFailure> {
        let mut left = self.left.lock().await;
        let generation = database.cluster().generation();
        if left.generation == generation
            && let Some(number) = left.numbers.next()
        {
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
pub(crate) struct PostgresIds {
    users: IdRange,
    requests: IdRange,
    withdrawals: IdRange,
    topups: IdRange,
    adjustments: IdRange,
    sessions: IdRange,
    webhook_endpoints: IdRange,
}

impl Default for PostgresIds {
    fn default() -> Self {
        Self {
            users: IdRange::of("user_ids", SHORT),
            requests: IdRange::of("music_request_ids", LONG),
            withdrawals: IdRange::of("withdrawal_ids", LONG),
            topups: IdRange::of("topup_ids", SHORT),
            adjustments: IdRange::of("adjustment_ids", SHORT),
            sessions: IdRange::of("session_ids", SHORT),
            // Servers of an earlier version add endpoints with the sequence of the column.
            webhook_endpoints: IdRange::of("webhook_endpoints_id_seq", SINGLE),
        }
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

    async fn next_user(&self) -> Result<UserId, Unavailable> {
        self.ids.users.next(&self.database, UserId::new).await
    }

    async fn next_request(&self) -> Result<RequestId, Unavailable> {
        self.ids.requests.next(&self.database, RequestId::new).await
    }

    async fn next_withdrawal(&self) -> Result<WithdrawalId, Unavailable> {
        self.ids.withdrawals.next(&self.database, WithdrawalId::new).await
    }

    async fn next_topup(&self) -> Result<TopupId, Unavailable> {
        self.ids.topups.next(&self.database, TopupId::new).await
    }

    async fn next_adjustment(&self) -> Result<AdjustmentId, Unavailable> {
        self.ids.adjustments.next(&self.database, AdjustmentId::new).await
    }

    async fn next_session(&self) -> Result<SessionId, Unavailable> {
        self.ids.sessions.next(&self.database, SessionId::new).await
    }

    async fn next_webhook_endpoint(&self) -> Result<WebhookEndpointId, Unavailable> {
        self.ids.webhook_endpoints.next(&self.database, WebhookEndpointId::new).await
    }
}
