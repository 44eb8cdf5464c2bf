//! The history in an in-memory store.

use anyhow::{anyhow, bail};
use cuepoint_domain::operation::{Entity, Outcome, Plan};
use cuepoint_domain::ports::{Applied, Ids, Ledger, PasswordHash, People, Registered};
use cuepoint_domain::user::User;
use cuepoint_store_memory::MemoryStore;

use super::Sink;
use super::history::play;
use super::population::Population;

/// Returns an in-memory store with the history of the population.
///
/// # Errors
/// If a rule rejects part of the history, which is a bug in the history.
pub async fn seed_memory(population: &Population) -> anyhow::Result<MemoryStore> {
    let mut filling = Filling { store: MemoryStore::new(), users: 0, requests: 0, withdrawals: 0, topups: 0 };
    play(population, &mut filling).await?;
    filling.use_up_ids().await?;
    Ok(filling.store)
}

/// A store, and the highest id of each kind in it.
struct Filling {
    store: MemoryStore,
    users: i64,
    requests: i64,
    withdrawals: i64,
    topups: i64,
}

impl Filling {
    /// Advances each id sequence past the ids in use.
    async fn use_up_ids(&self) -> anyhow::Result<()> {
        while self.store.next_user().await?.get() < self.users {}
        while self.store.next_request().await?.get() < self.requests {}
        while self.store.next_withdrawal().await?.get() < self.withdrawals {}
        while self.store.next_topup().await?.get() < self.topups {}
        Ok(())
    }
}

impl Sink for Filling {
    async fn register(&mut self, user: &User, password: &PasswordHash) -> anyhow::Result<()> {
        self.users = self.users.max(user.id.get());
        match self.store.register(user, password, None).await? {
            Registered::Done => Ok(()),
            Registered::EmailTaken => bail!("{} is there twice", user.id),
        }
    }

    async fn apply(&mut self, plan: Plan) -> anyhow::Result<Outcome> {
        let kind = plan.kind().name();
        let applied = self.store.apply(plan).await;
        let applied = applied.map_err(|error| anyhow!("{kind} is not applied: {error:?}"))?;
        let Applied::Fresh(receipt) = applied else { bail!("{kind} is there twice") };
        match &receipt.outcome.entity {
            Entity::MusicRequest(request) => self.requests = self.requests.max(request.id.get()),
            Entity::Withdrawal(withdrawal) => {
                self.withdrawals = self.withdrawals.max(withdrawal.id.get());
            }
            Entity::Topup(topup) => self.topups = self.topups.max(topup.id.get()),
            Entity::User(_) | Entity::Adjustment(_) | Entity::ProviderMessage(_) | Entity::Rating(_) => {}
        }
        Ok(receipt.outcome)
    }

    async fn settled(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
