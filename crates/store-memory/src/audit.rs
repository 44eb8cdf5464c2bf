//! The ledger audit, on a copy of the ledger.

use std::collections::HashMap;

use async_trait::async_trait;
use cuepoint_domain::audit::{Auditor, Trace};
use cuepoint_domain::entity_ref::EntityRef;
use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
use cuepoint_domain::ledger::{Entry, Posting};
use cuepoint_domain::music_request::MusicRequest;
use cuepoint_domain::operation::{Book, Entity, Outcome, Receipt, StoredReceipt};
use cuepoint_domain::ports::{Audit, Unavailable};
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::Withdrawal;

use crate::MemoryStore;
use crate::operation_notes::position;

/// A snapshot of the ledger.
struct LedgerSnapshot {
    book: Book,
    entries: HashMap<UserId, Vec<Entry>>,
    postings: Vec<Posting>,
    /// The number of operations with a position.
    positions: usize,
}

#[async_trait]
impl Audit for MemoryStore {
    /// Copies the ledger under one lock, and shows the copy without it.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let moment = {
            let state = self.lock()?;
            let (entries, postings) = (state.lists.entries.clone(), state.lists.postings.clone());
            LedgerSnapshot {
                book: state.book.clone(),
                entries,
                postings,
                positions: state.lists.positions.len(),
            }
        };
        moment.show_wallets(auditor);
        moment.postings.iter().for_each(|posting| auditor.posting(posting));
        moment.show_entities(auditor);
        (1..=moment.positions).for_each(|operations| auditor.position(position(operations)));
        Ok(())
    }
}

impl LedgerSnapshot {
    fn show_wallets(&self, auditor: &mut Auditor) {
        let entries: usize = self.entries.values().map(Vec::len).sum();
        auditor.expect(u64::try_from(entries).unwrap_or(u64::MAX));
        let mut wallets: Vec<_> = self.book.wallets.values().collect();
        wallets.sort_unstable_by_key(|wallet| wallet.user);
        for wallet in wallets {
            auditor.wallet(wallet.clone());
            self.entries.get(&wallet.user).into_iter().flatten().for_each(|entry| auditor.entry(entry));
        }
    }

    fn show_entities(&self, auditor: &mut Auditor) {
        let mut entries: HashMap<EntityRef, Vec<&Entry>> = HashMap::new();
        for entry in self.entries.values().flatten() {
            entries.entry(entry.reference).or_default().push(entry);
        }
        let mut postings: HashMap<OperationId, Vec<&Posting>> = HashMap::new();
        for posting in &self.postings {
            postings.entry(posting.operation).or_default().push(posting);
        }
        let moves = self.moves();
        let mut entities = self.entities();
        entities.sort_unstable_by_key(Entity::reference);
        for entity in entities {
            let entries = entries.get(&entity.reference()).map_or(&[][..], Vec::as_slice);
            let moves = match &entity {
                Entity::Withdrawal(withdrawal) => moves.get(&withdrawal.id).map_or(&[][..], Vec::as_slice),
                _ => &[],
            };
            auditor.entity(&entity, &self.trace(&entity, entries, &postings, moves));
        }
    }

    fn entities(&self) -> Vec<Entity> {
        let book = &self.book;
        let receipts = book.operations.values().filter_map(StoredReceipt::whole);
        let adjustments = receipts.map(|receipt| &receipt.outcome.entity);
        let adjustments = adjustments.filter(|entity| matches!(entity, Entity::Adjustment(_))).cloned();
        let requests = book.all::<MusicRequest>().cloned().map(Entity::from);
        let withdrawals = book.all::<Withdrawal>().cloned().map(Entity::from);
        let topups = book.all::<Topup>().cloned().map(Entity::from);
        requests.chain(withdrawals).chain(topups).chain(adjustments).collect()
    }

    /// The receipts of each withdrawal.
    fn moves(&self) -> HashMap<WithdrawalId, Vec<&Receipt>> {
        let mut moves: HashMap<WithdrawalId, Vec<&Receipt>> = HashMap::new();
        for receipt in self.book.operations.values().filter_map(StoredReceipt::whole) {
            if let Outcome { entity: Entity::Withdrawal(withdrawal), .. } = &receipt.outcome {
                moves.entry(withdrawal.id).or_default().push(receipt);
            }
        }
        moves
    }

    fn trace(
        &self,
        entity: &Entity,
        entries: &[&Entry],
        postings: &HashMap<OperationId, Vec<&Posting>>,
        moves: &[&Receipt],
    ) -> Trace {
        let with_entries = entries.iter().map(|entry| entry.operation);
        let mut operations: Vec<OperationId> =
            with_entries.chain(entity.operations_without_entries()).collect();
        operations.sort_unstable();
        operations.dedup();
        let receipt =
            |operation: &OperationId| -> Option<&Receipt> { self.book.operations.get(operation)?.whole() };
        Trace {
            postings: operations
                .iter()
                .filter_map(|one| postings.get(one))
                .flatten()
                .map(|one| **one)
                .collect(),
            receipts: operations.iter().filter_map(receipt).cloned().collect(),
            moves: moves.iter().copied().cloned().collect(),
            entries: entries.iter().copied().cloned().collect(),
        }
    }
}
