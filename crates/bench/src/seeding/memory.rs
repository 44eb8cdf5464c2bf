//! The history in an in-memory store.

use std::collections::BTreeMap;

use anyhow::{anyhow, bail};
use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::operation::{Outcome, Plan};
use cuepoint_domain::ports::{Applied, IdKind, Ids, Ledger, PasswordHash, People, Registered};
use cuepoint_domain::user::User;
use cuepoint_store_memory::MemoryStore;

use super::Sink;
use super::history::play;
use super::population::Population;

/// Returns an in-memory store with the history of the population.
///
/// # Errors
/// If a rule rejects part of the history, which is a bug in the history.
pub(crate) async fn seed_memory(population: &Population) -> anyhow::Result<MemoryStore> {
    let mut filling = Filling { store: MemoryStore::new(), highest: BTreeMap::new() };
    play(population, &mut filling).await?;
    filling.use_up_ids().await?;
    Ok(filling.store)
}

/// A store, and the highest id of each kind in it.
struct Filling {
    store: MemoryStore,
    highest: BTreeMap<EntityKind, i64>,
}

impl Filling {
    fn add(&mut self, kind: EntityKind, id: i64) {
        let highest = self.highest.entry(kind).or_default();
        *highest = id.max(*highest);
    }

    /// Advances each id sequence past the ids in use.
    async fn use_up_ids(&self) -> anyhow::Result<()> {
        for (kind, highest) in &self.highest {
            if let Some(ids) = kind.table().and_then(IdKind::named) {
                while self.store.next_number(ids).await? < *highest {}
            }
        }
        Ok(())
    }
}

impl Sink for Filling {
    async fn register(&mut self, user: &User, password: &PasswordHash) -> anyhow::Result<()> {
        self.add(EntityKind::User, user.id.get());
        match self.store.register(user, password, None).await? {
            Registered::Done => Ok(()),
            Registered::EmailTaken | Registered::NotYet => bail!("{} is there twice", user.id),
        }
    }

    async fn apply(&mut self, plan: Plan) -> anyhow::Result<Outcome> {
        let kind = plan.kind().name();
        let applied = self.store.apply(plan).await;
        let applied = applied.map_err(|error| anyhow!("{kind} is not applied: {error:?}"))?;
        let Applied::Fresh(receipt) = applied else { bail!("{kind} is there twice") };
        let entity = &receipt.outcome.entity;
        self.add(entity.kind(), entity.reference().id());
        Ok(receipt.outcome)
    }

    async fn settled(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
