//! The writer of the history, which gives each plan an operation id.

use std::collections::HashMap;
use std::fmt::Debug;

use anyhow::{Context, anyhow};
use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::operation::{Actor, Entity, OperationMetadata, Plan, plans};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Topup};
use cuepoint_domain::user::User;

use super::Sink;
use super::random::{Series, random};

/// Applies plans with consecutive operations.
pub(super) struct Writer<'s, S> {
    pub(super) to: &'s mut S,
    operations: u64,
    topups: i64,
    /// The DJs with their prices.
    pub(super) djs: HashMap<UserId, User>,
}

impl<'s, S: Sink> Writer<'s, S> {
    /// Creates a writer into this sink.
    pub(super) fn new(to: &'s mut S) -> Self {
        Self { to, operations: 0, topups: 0, djs: HashMap::new() }
    }

    /// Returns the operation metadata of the next plan.
    pub(super) fn metadata(&mut self, actor: Actor, at: Timestamp) -> OperationMetadata {
        self.operations = self.operations.saturating_add(1);
        let high = u128::from(random(Series::Operation, self.operations));
        let low = u128::from(random(Series::OperationRest, self.operations));
        OperationMetadata::of(actor, OperationId(high.rotate_left(64) | low), at)
    }

    /// Applies a plan, and returns the entity that it makes or changes.
    pub(super) async fn apply<E: TryFrom<Entity, Error = Entity>>(
        &mut self,
        plan: Plan,
    ) -> anyhow::Result<E> {
        let entity = self.to.apply(plan).await?.entity;
        entity.try_into().map_err(|other| anyhow!("unexpected outcome of a plan: {other:?}"))
    }

    /// Tops up a wallet.
    pub(super) async fn topup(
        &mut self,
        user: UserId,
        cents: i128,
        charge: Charge,
        at: Timestamp,
    ) -> anyhow::Result<Topup> {
        self.topups = self.topups.saturating_add(1);
        let id = TopupId::new(self.topups).context("invalid top-up id")?;
        let amount = Amount::new(Money::from_minor(cents)).context("no amount")?;
        let plan = plans::open_topup(self.metadata(Actor::User(user), at), id, user, amount, charge);
        self.apply(plan).await
    }
}

/// The plan, which no rule refuses.
pub(super) fn permitted(plan: Result<Plan, impl Debug>) -> anyhow::Result<Plan> {
    plan.map_err(|refusal| anyhow!("a plan is refused: {refusal:?}"))
}
