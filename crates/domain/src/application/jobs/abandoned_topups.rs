//! The failure of top-ups that were pending when their owner was erased.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::apply;
use crate::ids::UserId;
use crate::operation::{Rejection, plans};
use crate::ports::ApplyError;
use crate::topup::Topup;

/// The number of top-ups that fail concurrently, so that a store with group commit can batch them.
const BATCH: u32 = 64;
/// The maximum number of top-ups in a turn, so that other erasures are not delayed.
const PER_TURN: usize = 1_000;
/// The number of erased users that are read together.
const USERS: u32 = 100;

/// Fails the pending top-ups of erased users, each by an operation of its own, so that it has an event; any
/// number of servers may do so concurrently.
#[derive(Clone, Copy)]
pub(in crate::application) struct AbandonedTopups<'a> {
    pub(in crate::application) env: &'a Arc<Environment>,
}

impl AbandonedTopups<'_> {
    /// Fails the pending top-ups of all erased users, up to the limit of a turn.
    ///
    /// A failure does not delay the top-ups of other users; the first one is returned at the end.
    pub(in crate::application) async fn fail_all(&self) -> Result<(), Failure> {
        let mut failure = None;
        let mut ended: usize = 0;
        let mut after = None;
        loop {
            let erased = self.env.people.pending_erasures(after, USERS).await?;
            let Some(last) = erased.last() else { break };
            after = Some(*last);
            for user in erased {
                match self.fail_of(user, PER_TURN.saturating_sub(ended)).await {
                    Ok(more) => ended = ended.saturating_add(more),
                    Err(other) => failure = failure.or(Some(other)),
                }
                if ended >= PER_TURN {
                    return failure.map_or(Ok(()), Err);
                }
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// Fails pending top-ups of an erased user, and returns their number: about `most`, if there are as many.
    async fn fail_of(&self, user: UserId, most: usize) -> Result<usize, Failure> {
        let mut ended: usize = 0;
        loop {
            let batch = self.fail_some(user).await?;
            ended = ended.saturating_add(batch);
            if u32::try_from(batch).is_ok_and(|batch| batch < BATCH) || ended >= most {
                return Ok(ended);
            }
        }
    }

    /// Fails the oldest pending top-ups of an erased user, one batch at most, and returns their number.
    pub(in crate::application) async fn fail_some(&self, user: UserId) -> Result<usize, Failure> {
        let pending = self.env.topups.pending_topups(user, BATCH).await?;
        let ended = pending.len();
        join_all(pending.iter().map(|topup| self.fail(topup)))
            .await
            .into_iter()
            .collect::<Result<(), _>>()?;
        Ok(ended)
    }

    /// Fails one top-up; after a conflict, another server or its provider has ended or ordered it.
    pub(in crate::application) async fn fail(&self, topup: &Topup) -> Result<(), ApplyError> {
        match apply(self.env, plans::settle_topup(self.env.system(), topup, false), None).await {
            Ok(_) | Err(ApplyError::Rejected(Rejection::Stale)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
