//! Identities: the database's sequences give them out in blocks, this server one by one from memory.

use std::ops::RangeInclusive;

use async_trait::async_trait;
use cuepoint_domain::ids::{AdjustmentId, OperationId, RequestId, SessionId, TopupId, UserId, WithdrawalId};
use cuepoint_domain::ports::{Ids, Unavailable};
use diesel::sql_types::Text;
use diesel_async::RunQueryDsl;
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::PostgresStore;
use crate::database::{Database, Failure, within};

/// How far each sequence steps, as its migration says.
const BLOCK: i64 = 32;

diesel::define_sql_function! {
    /// The next value of the sequence of this name.
    fn nextval(sequence: Text) -> BigInt;
}

/// What is left of the block that was taken last.
struct Block {
    sequence: &'static str,
    left: Mutex<RangeInclusive<i64>>,
}

impl Block {
    const fn of(sequence: &'static str) -> Self {
        #[expect(clippy::reversed_empty_ranges, reason = "nothing was taken yet")]
        Self { sequence, left: Mutex::const_new(1..=0) }
    }

    /// The next number, from a new block where the last one is used up; only one caller at a time takes a block.
    async fn next<Id>(&self, database: &Database, id: fn(i64) -> Option<Id>) -> Result<Id, Unavailable> {
        let number = within(self.number(database)).await?;
        id(number).ok_or_else(|| Unavailable::new("a sequence gave out a number that is no id"))
    }

    async fn number(&self, database: &Database) -> Result<i64, Failure> {
        let mut left = self.left.lock().await;
        if let Some(number) = left.next() {
            return Ok(number);
        }
        let sequence = self.sequence;
        let first: i64 = database
            .read(async |connection| Ok(diesel::select(nextval(sequence)).get_result(connection).await?))
            .await?;
        *left = first.saturating_add(1)..=first.saturating_add(BLOCK.saturating_sub(1));
        Ok(first)
    }
}

/// The blocks of every kind of identity.
pub(crate) struct IdBlocks {
    users: Block,
    requests: Block,
    withdrawals: Block,
    topups: Block,
    adjustments: Block,
    sessions: Block,
}

impl Default for IdBlocks {
    fn default() -> Self {
        Self {
            users: Block::of("user_ids"),
            requests: Block::of("music_request_ids"),
            withdrawals: Block::of("withdrawal_ids"),
            topups: Block::of("topup_ids"),
            adjustments: Block::of("adjustment_ids"),
            sessions: Block::of("session_ids"),
        }
    }
}

#[async_trait]
impl Ids for PostgresStore {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the port that randomness for identities comes through"
    )]
    fn operation(&self) -> OperationId {
        OperationId(Uuid::new_v4().as_u128())
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
}
