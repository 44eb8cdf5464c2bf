//! The ledger audit, on a copy of the ledger.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;

use async_trait::async_trait;
use cuepoint_domain::audit::{Auditor, Trace};
use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::ledger::{Entry, Posting};
use cuepoint_domain::operation::{Book, Entity, Position, Receipt, StoredReceipt};
use cuepoint_domain::ports::{Audit, Unavailable};

use crate::MemoryStore;
use crate::lists::{count, sorted};

struct LedgerSnapshot {
    book: Book,
    entries: HashMap<UserId, Vec<Entry>>,
    postings: Vec<Posting>,
    newest_position: Position,
}

#[async_trait]
impl Audit for MemoryStore {
    /// Copies the ledger under one lock, and shows the copy without it.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let snapshot = {
            let state = self.lock()?;
            LedgerSnapshot {
                book: state.book.clone(),
                entries: state.entries.clone(),
                postings: state.postings.clone(),
                newest_position: state.newest_position(),
            }
        };
        snapshot.show_wallets(auditor);
        snapshot.postings.iter().for_each(|posting| auditor.posting(posting));
        snapshot.show_entities(auditor);
        let gigs = auditor.gigs_with_open_requests();
        gigs.into_iter().filter_map(|gig| snapshot.book.get(gig)).for_each(|gig| auditor.gig(gig));
        let positions = (1..=snapshot.newest_position.get()).filter_map(Position::new);
        positions.for_each(|position| auditor.position(position));
        Ok(())
    }
}

impl LedgerSnapshot {
    fn show_wallets(&self, auditor: &mut Auditor) {
        auditor.expect(count(self.entries.values().map(Vec::len).sum()));
        for wallet in sorted(self.book.wallets.values(), |wallet| wallet.user) {
            auditor.wallet(wallet.clone());
            self.entries.get(&wallet.user).into_iter().flatten().for_each(|entry| auditor.entry(entry));
        }
    }

    fn show_entities(&self, auditor: &mut Auditor) {
        let moves = self.receipts().filter(|one| matches!(one.outcome.entity, Entity::Withdrawal(_)));
        let mut moves = grouped(moves, |receipt| receipt.outcome.reference());
        let mut entries = grouped(self.entries.values().flatten(), |entry| entry.reference);
        let postings = grouped(&self.postings, |posting| posting.operation);
        // Each entity comes once, so its entries are taken.
        for entity in sorted(self.entities(), Entity::reference) {
            let entries = entries.remove(&entity.reference()).unwrap_or_default();
            let with_entries = entries.iter().map(|entry| entry.operation);
            let operations: BTreeSet<OperationId> =
                with_entries.chain(entity.operations_without_entries()).collect();
            let receipt = |operation| self.book.operations.get(operation)?.whole().cloned();
            let trace = Trace {
                postings: operations.iter().filter_map(|one| postings.get(one)).flatten().copied().collect(),
                receipts: operations.iter().filter_map(receipt).collect(),
                moves: moves.remove(&entity.reference()).unwrap_or_default(),
                entries,
            };
            auditor.entity(&entity, &trace);
        }
    }

    fn receipts(&self) -> impl Iterator<Item = &Receipt> {
        self.book.operations.values().filter_map(StoredReceipt::whole)
    }

    fn entities(&self) -> impl Iterator<Item = Entity> {
        let recorded = self.receipts().map(|receipt| &receipt.outcome.entity);
        let adjustments = recorded.filter(|entity| matches!(entity, Entity::Adjustment(_))).cloned();
        let stored = self.book.entities().filter(|entity| entity.kind().is_posted());
        stored.chain(adjustments)
    }
}

/// Copies of the rows, by a key that several of them may have.
fn grouped<'a, T: Clone + 'a, K: Eq + Hash>(
    rows: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&T) -> K,
) -> HashMap<K, Vec<T>> {
    let mut groups: HashMap<K, Vec<T>> = HashMap::new();
    for row in rows {
        groups.entry(key(row)).or_default().push(row.clone());
    }
    groups
}
