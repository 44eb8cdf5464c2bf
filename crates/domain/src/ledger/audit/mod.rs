//! The self-check of the ledger: every row is shown once, and the first entity that is wrong is named.
//!
//! First each wallet, followed by its entries by number, and all postings: sums, chains, heads. Then each entity that
//! money can be about, with everything that was written about it: exactly what its state demands, and no more.

mod chain;
mod finding;
mod trace;

use std::fmt;

pub use finding::{Finding, Flaw, UnknownValue};
pub use trace::Trace;

use crate::ledger::{Balance, Entity, EntityRef, Entry, EntryKind, Posting, PostingAccount, Wallet};
use crate::money::Money;
use crate::unknown::UnknownName;
use chain::EntryChain;

/// What a self-check has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Wallets.
    pub wallets: u64,
    /// Entries.
    pub entries: u64,
    /// Postings.
    pub postings: u64,
    /// Requests, withdrawals, top-ups and adjustments.
    pub entities: u64,
}

/// How far a self-check is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Entries shown, each once with its wallet and once with its entity.
    pub done: u64,
    /// How many that will have been, as far as the wallets say.
    pub expected: u64,
}

/// A self-check under way, in bounded memory.
#[derive(Debug, Default)]
pub struct Auditor {
    current: Option<EntryChain>,
    total: Money,
    held: Money,
    open: Money,
    seen: Summary,
    /// Entries and postings that came with an entity.
    of_entities: Summary,
    expected: u64,
    finding: Option<Finding>,
    /// The first value of a newer version, which is reported only if nothing is certainly wrong.
    unknown: Option<Finding>,
    report: Option<Report>,
}

/// Whom a self-check tells how far it is.
struct Report(Box<dyn FnMut(Progress) + Send>);

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report")
    }
}

impl Auditor {
    /// A self-check that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, telling how far it is after each wallet and each entity.
    #[must_use]
    pub fn reporting(mut self, report: impl FnMut(Progress) + Send + 'static) -> Self {
        self.report = Some(Report(Box::new(report)));
        self
    }

    /// Says how many entries the wallets have in all.
    pub fn expect(&mut self, entries: u64) {
        self.expected = entries;
    }

    /// Shows the next wallet; the entries of the one before are complete.
    pub fn wallet(&mut self, wallet: Wallet) {
        self.close();
        self.seen.wallets = self.seen.wallets.saturating_add(1);
        let Balance { available, held, owed } = wallet.balance;
        self.add(available);
        self.add(held);
        self.add(owed.negated());
        self.held = added(self.held, held);
        self.current = Some(EntryChain::of(wallet));
        self.tell();
    }

    /// Shows the next entry of the wallet shown last.
    pub fn entry(&mut self, entry: &Entry) {
        self.seen.entries = self.seen.entries.saturating_add(1);
        let orphan = Finding::OrphanEntry { wallet: entry.wallet, seq: entry.seq };
        let found = self.current.as_mut().map_or(Some(orphan), |chain| chain.follow(entry).err());
        self.found(found);
        let Entry { wallet, seq, kind, reference, .. } = *entry;
        let name = match (kind, reference) {
            (EntryKind::Unknown(name), _) | (_, EntityRef::Unknown { kind: name, .. }) => Some(name),
            _ => None,
        };
        self.met(UnknownValue::Entry { wallet, seq }, name);
    }

    /// Shows the next posting.
    pub fn posting(&mut self, posting: &Posting) {
        self.close();
        self.seen.postings = self.seen.postings.saturating_add(1);
        self.add(posting.amount);
        if let PostingAccount::Unknown(name) = posting.account {
            self.met(UnknownValue::Posting(posting.operation), Some(name));
        }
    }

    /// Shows an entity with everything that is written about it, once all wallets, entries and postings were shown.
    pub fn entity(&mut self, entity: &Entity, trace: &Trace) {
        self.close();
        self.seen.entities = self.seen.entities.saturating_add(1);
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        self.of_entities.entries = self.of_entities.entries.saturating_add(count(trace.entries.len()));
        self.of_entities.postings = self.of_entities.postings.saturating_add(count(trace.postings.len()));
        let name = entity.unknown_status();
        self.met(UnknownValue::Status(entity.reference()), name);
        if let Some((operation, rules)) = trace.unknown_rules() {
            self.met(UnknownValue::Rules(operation), Some(rules));
        }
        if name.is_none() && !trace.has_unknown() {
            match trace::check(entity, trace) {
                Ok(open) => self.open = added(self.open, open),
                Err(flaw) => self.found(Some(Finding::Entity { reference: entity.reference(), flaw })),
            }
        }
        self.tell();
    }

    /// Whether some entries or postings came with no entity, so that it is worth looking for them.
    #[must_use]
    pub const fn has_strays(&self) -> bool {
        self.seen.entries != self.of_entities.entries || self.seen.postings != self.of_entities.postings
    }

    /// Shows an entry again that came with no entity.
    pub fn stray_entry(&mut self, entry: &Entry) {
        let Entry { wallet, seq, reference, .. } = *entry;
        self.found(Some(Finding::StrayEntry { wallet, seq, reference }));
    }

    /// Shows a posting again that came with no entity.
    pub fn stray_posting(&mut self, posting: &Posting) {
        let Posting { operation, account, .. } = *posting;
        self.found(Some(Finding::StrayPosting { operation, account }));
    }

    /// Shows that a row cannot be read; whatever comes after it need not be shown.
    pub fn unreadable(&mut self, what: String) {
        self.found(Some(Finding::Unreadable { what }));
    }

    /// What was seen so far.
    #[must_use]
    pub const fn seen(&self) -> Summary {
        self.seen
    }

    /// What was seen, once everything was shown.
    ///
    /// # Errors
    /// The first [`Finding`], in the order in which the rows were shown.
    pub fn finish(mut self) -> Result<Summary, Finding> {
        self.close();
        // Only the version that wrote newer rows knows their meaning and which other rows belong to them.
        let unknown = self.unknown.take();
        self.found(unknown);
        if self.held != self.open {
            self.found(Some(Finding::Held { wallets: self.held, open: self.open }));
        }
        if self.has_strays() {
            let entries = self.seen.entries.abs_diff(self.of_entities.entries);
            let postings = self.seen.postings.abs_diff(self.of_entities.postings);
            self.found(Some(Finding::Strays { entries, postings }));
        }
        if !self.total.is_zero() {
            self.found(Some(Finding::Total { sum: self.total }));
        }
        self.finding.map_or(Ok(self.seen), Err)
    }

    fn close(&mut self) {
        let found = self.current.take().and_then(|chain| chain.close().err());
        self.found(found);
    }

    fn add(&mut self, amount: Money) {
        self.total = added(self.total, amount);
    }

    fn found(&mut self, found: Option<Finding>) {
        if self.finding.is_none() {
            self.finding = found;
        }
    }

    fn met(&mut self, what: UnknownValue, name: Option<UnknownName>) {
        if self.unknown.is_none() {
            self.unknown = name.map(|name| Finding::Unknown { what, name });
        }
    }

    fn tell(&mut self) {
        if let Some(Report(report)) = &mut self.report {
            let done = self.seen.entries.saturating_add(self.of_entities.entries);
            report(Progress { done, expected: self.expected.saturating_mul(2) });
        }
    }
}

/// The sum, or the largest there is: then it never comes back to what it should be.
fn added(sum: Money, amount: Money) -> Money {
    sum.checked_add(amount).unwrap_or(Money::from_minor(i128::MAX))
}
