//! Showing the whole ledger to a self-check, without keeping plans waiting for it.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Auditor, Entry, Posting, Wallet};
use cuepoint_domain::ports::{Audit, Unavailable};

use crate::MemoryStore;

/// Rows that are copied under one lock.
const ROWS: usize = 1_000;

#[async_trait]
impl Audit for MemoryStore {
    /// The wallets and the number of postings are those of one moment; entries and postings are only ever added, so
    /// those up to that moment can be read afterwards, a few at a time.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable> {
        let (wallets, postings) = self.moment()?;
        for wallet in wallets {
            let (user, entries) = (wallet.user, usize::try_from(wallet.seq).unwrap_or(usize::MAX));
            auditor.wallet(wallet);
            for start in (0..entries).step_by(ROWS) {
                let end = start.saturating_add(ROWS).min(entries);
                self.entries_between(user, start, end)?.iter().for_each(|entry| auditor.entry(entry));
            }
        }
        for start in (0..postings).step_by(ROWS) {
            let end = start.saturating_add(ROWS).min(postings);
            self.postings_between(start, end)?.iter().for_each(|posting| auditor.posting(posting));
        }
        Ok(())
    }
}

impl MemoryStore {
    /// All wallets, by their owner's id, and how many postings there are.
    fn moment(&self) -> Result<(Vec<Wallet>, usize), Unavailable> {
        let state = self.lock()?;
        let mut wallets: Vec<Wallet> = state.book.wallets.values().cloned().collect();
        wallets.sort_unstable_by_key(|wallet| wallet.user);
        Ok((wallets, state.lists.postings.len()))
    }

    fn entries_between(&self, user: UserId, start: usize, end: usize) -> Result<Vec<Entry>, Unavailable> {
        let state = self.lock()?;
        let kept = state.lists.entries.get(&user).map_or(&[][..], Vec::as_slice);
        Ok(kept.get(start..end.min(kept.len())).unwrap_or_default().to_vec())
    }

    fn postings_between(&self, start: usize, end: usize) -> Result<Vec<Posting>, Unavailable> {
        Ok(self.lock()?.lists.postings.get(start..end).unwrap_or_default().to_vec())
    }
}
