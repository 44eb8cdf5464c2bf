//! Commands that are sent again, by their operation or by their key.

use cuepoint_domain::operation::{
    Entity, Fingerprint, IdempotencyKey, KeyRecord, OperationMetadata, Plan, Receipt, Rejection,
    StoredReceipt,
};
use cuepoint_domain::ports::Applied;
use futures_util::FutureExt;

use super::{AppliedPlan, HistoryDriver, equal};

impl HistoryDriver<'_> {
    /// Submits a plan and drops the call at once, so that it may still be in progress; with `reopen`, the
    /// retry uses another store.
    pub(super) async fn lose_answer(&mut self, plan: &Plan, reopen: bool) -> bool {
        // Dropped as soon as it was submitted.
        let _ = self.scenario.store.apply(plan.clone()).now_or_never();
        self.observed.insert(if reopen { "lost answer at a crash" } else { "lost answer" }.to_owned());
        if reopen {
            self.reopen().await;
        }
        true
    }

    /// Submits an earlier plan again: it gets the first receipt, whatever happened since. A profile past its
    /// retention may be redacted after a purge; it is not if the database's own clock is behind the
    /// history's.
    pub(super) async fn retry(&mut self, pick: usize) -> Result<(), String> {
        if self.past.is_empty() {
            return Ok(());
        }
        let AppliedPlan { plan, receipt } = &self.past[pick % self.past.len()];
        let answer = self.scenario.apply(plan.clone()).await;
        let purged = self.purged.is_some_and(|purged| plan.metadata().at.plus(Receipt::RETENTION) <= purged);
        let may_be_redacted = purged && matches!(receipt.outcome.entity, Entity::User(_));
        if self.is_redacted(receipt) || may_be_redacted && answer == Err(Rejection::Stale) {
            self.observed.insert("redacted".to_owned());
            return equal("a retry", &answer, &Err(Rejection::Stale));
        }
        self.observed.insert("replayed".to_owned());
        equal("a retry", &answer, &Ok(Applied::Replayed(receipt.clone())))?;
        if let Some(key) = plan.metadata().key
            && self.is_kept(plan)
        {
            let record = self.scenario.store.find_key(&key.scope).await.unwrap();
            let receipt = StoredReceipt::Whole(receipt.clone());
            let expected = KeyRecord { key, receipt, at: plan.metadata().at };
            equal("a key", &record, &Some(expected))?;
        }
        Ok(())
    }

    /// Whether the erasure of a user removed their profile from this receipt.
    fn is_redacted(&self, receipt: &Receipt) -> bool {
        let Entity::User(user) = &receipt.outcome.entity else { return false };
        let mut people = self.people.iter().zip(&self.model.people);
        people.any(|(id, person)| *id == user.id && person.erased)
    }

    fn is_kept(&self, plan: &Plan) -> bool {
        self.time() < plan.metadata().at.plus(KeyRecord::RETENTION)
    }

    /// Sends another command with an earlier key: it gets the earlier receipt or a refusal.
    pub(super) async fn reuse_key(&mut self, pick: usize, same_body: bool) -> Result<(), String> {
        let keyed: Vec<&AppliedPlan> = self
            .past
            .iter()
            .filter(|past| past.plan.metadata().key.is_some() && self.is_kept(&past.plan))
            .collect();
        if keyed.is_empty() {
            return Ok(());
        }
        let past = keyed[pick % keyed.len()];
        let key = past.plan.metadata().key.unwrap();
        let other = IdempotencyKey { fingerprint: Fingerprint::of(b"another body"), ..key };
        let (key, expected) = if same_body && self.is_redacted(&past.receipt) {
            (key, Err(Rejection::Stale))
        } else if same_body {
            (key, Ok(Applied::Replayed(past.receipt.clone())))
        } else {
            (other, Err(Rejection::KeyReused))
        };
        let actor = past.plan.metadata().actor;
        let metadata = OperationMetadata { key: Some(key), ..self.scenario.metadata(actor, self.time()) };
        let plan = self.scenario.adjust_plan(metadata, self.people[0], 1).await;
        let answer = self.scenario.apply(plan).await;
        self.observed.insert(if same_body { "replayed" } else { "key reused" }.to_owned());
        equal("a key sent again", &answer, &expected)
    }
}
