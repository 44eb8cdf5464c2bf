//! The ledger audit: visits every row once and reports the first inconsistency.
//!
//! The audit visits each wallet with its entries by number, and all postings: sums, chains, heads. Then it
//! visits each entity that money can refer to, with all its records: exactly those that its state requires,
//! and no more. At the end it visits the positions of all operations.
//!
//! - [`Auditor`]: the running audit, with its [`Progress`] and [`Summary`];
//! - `chain`: the entries of one wallet; [`Trace`]: the records of one entity;
//! - [`Finding`]: the first inconsistency.

mod chain;
mod finding;
mod trace;

use std::collections::BTreeMap;
use std::fmt;

pub use finding::{Finding, Flaw, UnknownValue};
pub use trace::Trace;

use crate::entity_ref::EntityRef;
use crate::gig::Gig;
use crate::ids::{GigId, OperationId, RequestId};
use crate::ledger::{Balance, Entry, EntryKind, Posting, PostingAccount, Wallet};
use crate::money::Money;
use crate::music_request::MusicRequest;
use crate::operation::{Entity, Position, PositionGap};
use crate::unknown::UnknownName;
use chain::EntryChain;

/// Counts of the rows visited by an audit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    pub wallets: u64,
    pub entries: u64,
    pub postings: u64,
    /// Requests, withdrawals, top-ups, tips and adjustments.
    pub entities: u64,
}

/// The progress of an audit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Entries visited, each once with its wallet and once with its entity.
    pub done: u64,
    /// The expected total, according to the wallets.
    pub expected: u64,
}

/// A running audit, in bounded memory.
#[derive(Debug, Default)]
pub struct Auditor {
    current: Option<EntryChain>,
    total: Money,
    held: Money,
    open: Money,
    seen: Summary,
    /// Entries and postings that belong to an entity.
    of_entities: Summary,
    expected: u64,
    newest_position: Position,
    /// The gaps between positions that were not visited yet, by the position before them.
    gaps: BTreeMap<Position, Position>,
    /// An open request of each gig that has one.
    open_in_gigs: BTreeMap<GigId, RequestId>,
    finding: Option<Finding>,
    /// The first value of a newer version, reported only if no inconsistency is certain.
    unknown: Option<Finding>,
    report: Option<Report>,
}

/// The callback that receives an audit's progress.
struct Report(Box<dyn FnMut(Progress) + Send>);

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Report")
    }
}

impl Auditor {
    /// A new audit.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same audit, reporting its progress after each wallet and each entity.
    #[must_use]
    pub fn reporting(mut self, report: impl FnMut(Progress) + Send + 'static) -> Self {
        self.report = Some(Report(Box::new(report)));
        self
    }

    /// Sets the expected number of entries in all wallets.
    pub fn expect(&mut self, entries: u64) {
        self.expected = entries;
    }

    /// Visits the next wallet; the entries of the previous one are complete.
    pub fn wallet(&mut self, wallet: Wallet) {
        self.close();
        self.seen.wallets = self.seen.wallets.saturating_add(1);
        let Balance { available, held, owed } = wallet.balance;
        self.add(available);
        self.add(held);
        self.add(owed.negated());
        self.held = added(self.held, held);
        self.current = Some(EntryChain::of(wallet));
        self.report_progress();
    }

    /// Visits the next entry of the current wallet.
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

    /// Visits the next posting.
    pub fn posting(&mut self, posting: &Posting) {
        self.close();
        self.seen.postings = self.seen.postings.saturating_add(1);
        self.add(posting.amount);
        if let PostingAccount::Unknown(name) = posting.account {
            self.met(UnknownValue::Posting(posting.operation), Some(name));
        }
    }

    /// Visits an entity with all its records, after all wallets, entries and postings.
    pub fn entity(&mut self, entity: &Entity, trace: &Trace) {
        self.close();
        self.seen.entities = self.seen.entities.saturating_add(1);
        let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
        self.of_entities.entries = self.of_entities.entries.saturating_add(count(trace.entries.len()));
        self.of_entities.postings = self.of_entities.postings.saturating_add(count(trace.postings.len()));
        if let Entity::MusicRequest(MusicRequest { id, gig: Some(gig), state, .. }) = entity
            && state.status().holds_fee()
        {
            self.open_in_gigs.insert(*gig, *id);
        }
        let name = entity.facts().unknown_status();
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
        self.report_progress();
    }

    /// The gigs with open requests, which are to be visited after all entities.
    #[must_use]
    pub fn gigs_with_open_requests(&self) -> Vec<GigId> {
        self.open_in_gigs.keys().copied().collect()
    }

    /// Visits a gig with open requests: it must not be settled.
    pub fn gig(&mut self, gig: &Gig) {
        let open = self.open_in_gigs.get(&gig.id).copied().filter(|_| gig.settled);
        self.found(open.map(|request| Finding::OpenInSettledGig { request, gig: gig.id }));
    }

    /// Whether some entries or postings belong to no entity, so that a search for them is worthwhile.
    #[must_use]
    pub const fn has_strays(&self) -> bool {
        self.seen.entries != self.of_entities.entries || self.seen.postings != self.of_entities.postings
    }

    /// Visits again an entry that belongs to no entity.
    pub fn stray_entry(&mut self, entry: &Entry) {
        let Entry { wallet, seq, reference, .. } = *entry;
        self.found(Some(Finding::StrayEntry { wallet, seq, reference }));
    }

    /// Visits again a posting that belongs to no entity.
    pub fn stray_posting(&mut self, posting: &Posting) {
        let Posting { operation, account, .. } = *posting;
        self.found(Some(Finding::StrayPosting { operation, account }));
    }

    /// Visits a gap between positions, before any position.
    pub fn position_gap(&mut self, gap: PositionGap) {
        self.gaps.insert(gap.last, gap.next);
    }

    /// Visits the next position of an operation, in ascending order. Only a gap that was visited may precede it.
    pub fn position(&mut self, position: Position) {
        let gap = self.gaps.remove(&self.newest_position);
        let expected = gap.unwrap_or(self.newest_position.next());
        if position != expected {
            self.found(Some(Finding::Position { expected, found: position }));
        }
        self.newest_position = position;
    }

    /// Reports an operation that has waited for its position for more than [`Position::ASSIGNED_WITHIN`].
    pub fn without_position(&mut self, operation: OperationId) {
        self.found(Some(Finding::WithoutPosition { operation }));
    }

    /// Reports an undecodable row; no further rows need to be visited.
    pub fn unreadable(&mut self, what: String) {
        self.found(Some(Finding::Unreadable { what }));
    }

    /// The counts so far.
    #[must_use]
    pub const fn seen(&self) -> Summary {
        self.seen
    }

    /// Completes the audit after all rows and returns the counts.
    ///
    /// # Errors
    /// The first [`Finding`], in the order of the rows.
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
        // No operation has followed a gap after the newest position yet.
        self.gaps.remove(&self.newest_position);
        if let Some((last, next)) = self.gaps.pop_first() {
            self.found(Some(Finding::PositionGap { last, next }));
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

    fn report_progress(&mut self) {
        if let Some(Report(report)) = &mut self.report {
            let done = self.seen.entries.saturating_add(self.of_entities.entries);
            report(Progress { done, expected: self.expected.saturating_mul(2) });
        }
    }
}

/// The sum, saturated at the largest value, which can never return to the expected one.
fn added(sum: Money, amount: Money) -> Money {
    sum.checked_add(amount).unwrap_or(Money::from_minor(i128::MAX))
}
