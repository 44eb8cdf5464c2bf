//! Re-derives the expected records of an entity from its state and compares them with the ledger.

use std::collections::HashMap;

use crate::audit::Flaw;
use crate::ids::{OperationId, UserId};
use crate::ledger::{
    Account, Balance, Entry, EntryKind, Posting, PostingAccount, PostingRules, Transfer, Wallet,
};
use crate::money::Money;
use crate::operation::posting::post;
use crate::operation::{Entity, OperationMetadata, Outcome, Receipt};
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;
use crate::withdrawal::{Withdrawal, WithdrawalStatus};

/// All records of an entity, in any order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Trace {
    /// All entries that refer to it.
    pub entries: Vec<Entry>,
    /// All postings of those entries' operations, and of [`Entity::operations_without_entries`].
    pub postings: Vec<Posting>,
    /// The receipts of those operations, as far as they exist.
    pub receipts: Vec<Receipt>,
    /// For a withdrawal, the receipts of all operations that moved or approved it, including those without
    /// entries.
    pub moves: Vec<Receipt>,
}

impl Trace {
    /// The first of its operations posted by rules of a newer version, with their number.
    pub(super) fn unknown_rules(&self) -> Option<(OperationId, UnknownName)> {
        self.receipts.iter().find_map(|receipt| match receipt.rules {
            PostingRules::Unknown(number) => {
                Some((receipt.operation, UnknownName::stored(&number.to_string())?))
            }
            PostingRules::EarningsPayOwed | PostingRules::IncomePaysOwed | PostingRules::ReleasesPayOwed => {
                None
            }
        })
    }

    /// Whether a newer version wrote some of it.
    pub(super) fn has_unknown(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.kind, EntryKind::Unknown(_)))
            || self.postings.iter().any(|posting| matches!(posting.account, PostingAccount::Unknown(_)))
            || self.unknown_rules().is_some()
    }
}

/// Checks that a withdrawal has the status recorded by its last operation, with the approvals recorded last.
///
/// A move without money has no entry, so an unapproved withdrawal contradicts only these records. A server of
/// an earlier version records no approvals when it moves a withdrawal: the comparison uses the last record
/// with approvals.
fn check_moves(now: &Withdrawal, trace: &Trace) -> Result<(), Flaw> {
    let mut records: Vec<(OperationId, &Withdrawal)> = Vec::new();
    for receipt in trace.receipts.iter().chain(&trace.moves) {
        match &receipt.outcome.entity {
            Entity::Withdrawal(then) if now.is_same_but_for_its_state(then) => {
                records.push((receipt.operation, then));
            }
            _ => return Err(Flaw::Record(receipt.operation)),
        }
    }
    let is_among_last = |of: &[(OperationId, &Withdrawal)], is_so: &dyn Fn(&Withdrawal) -> bool| {
        let last = of.iter().map(|(_, then)| progress(then)).max();
        of.iter().any(|(_, then)| Some(progress(then)) == last && is_so(then))
    };
    let stands = |then: &Withdrawal| (then.updated_at, &then.state) == (now.updated_at, &now.state);
    if let Some((operation, _)) = records.iter().max_by_key(|(_, then)| progress(then))
        && !is_among_last(&records, &stands)
    {
        return Err(Flaw::Record(*operation));
    }
    records.retain(|(_, then)| !then.approvals.is_empty());
    let is_recorded = match records.as_slice() {
        [] => now.approvals.is_empty(),
        approved => is_among_last(approved, &|then| then.approvals == now.approvals),
    };
    if is_recorded { Ok(()) } else { Err(Flaw::Approvals) }
}

/// The order of images of a withdrawal: by time, then by approvals and phase, because an approval need not
/// change the time, and clocks of servers differ. Equal images may have been written in either order.
fn progress(then: &Withdrawal) -> (Timestamp, u8, Option<Timestamp>, u32, bool) {
    let last_approval = then.approvals.last().map(|approval| approval.at);
    let (phase, approved_at) = match then.state.status() {
        WithdrawalStatus::Pending => (0, last_approval),
        WithdrawalStatus::Approved => (1, None),
        WithdrawalStatus::Processing => (2, None),
        WithdrawalStatus::Broadcast | WithdrawalStatus::NeedsReview => (3, None),
        WithdrawalStatus::Completed
        | WithdrawalStatus::Cancelled
        | WithdrawalStatus::Rejected
        | WithdrawalStatus::Failed
        | WithdrawalStatus::Unknown(_) => (4, None),
    };
    let waits = then.state.next_send().is_some();
    (then.updated_at, phase, approved_at, then.state.attempts(), !waits)
}

/// Returns the amount that an entity still holds, if its records are those that its state requires: each
/// operation with exactly the entries and postings that the rules derive, which are balanced by construction,
/// and no other.
pub(super) fn check(entity: &Entity, trace: &Trace) -> Result<Money, Flaw> {
    let facts = entity.facts();
    let history = facts.history().ok_or(Flaw::Terms)?;
    let operations = operations(entity, trace);
    let mut done: Vec<(&Receipt, Balance)> = Vec::new();
    for (place, transfers) in history.iter().enumerate() {
        let operation = operations.get(place);
        let missing = || entity.owner().map_or(EntryKind::Hold, |owner| name_of(owner, transfers));
        let (operation, after) = operation.ok_or_else(|| Flaw::Lacks(missing()))?;
        let receipt = trace.receipts.iter().find(|receipt| receipt.operation == *operation);
        let receipt = receipt.ok_or(Flaw::NoRecord(*operation))?;
        check_operation(entity, trace, receipt, transfers)?;
        done.push((receipt, *after));
    }
    let is_extra = |operation| !done.iter().any(|(receipt, _)| receipt.operation == operation);
    if let Some(Entry { wallet, seq, .. }) = trace.entries.iter().find(|one| is_extra(one.operation)) {
        return Err(Flaw::Extra { wallet: *wallet, seq: *seq });
    }
    if let Some(posting) = trace.postings.iter().find(|one| is_extra(one.operation)) {
        return Err(Flaw::Postings(posting.operation));
    }
    for (place, (receipt, after)) in done.iter().enumerate() {
        let whole = place.saturating_add(1) == done.len() && facts.is_where_its_money_is();
        let opens = facts.is_opening(receipt.operation, place);
        let Outcome { entity: then, balance } = &receipt.outcome;
        let shown = facts.shows_balance().then_some(*after);
        if *balance != shown || !entity.is_recorded_as(then, whole, opens) {
            return Err(Flaw::Record(receipt.operation));
        }
    }
    match entity {
        Entity::Withdrawal(withdrawal) => check_moves(withdrawal, trace)?,
        // It has no other trace of its time than its row and the record in its receipt.
        Entity::Tip(tip) => {
            if let Some((receipt, _)) = done.iter().find(|(receipt, _)| receipt.at != tip.created_at) {
                return Err(Flaw::Record(receipt.operation));
            }
        }
        _ => {}
    }
    held(history.iter().flatten()).ok_or(Flaw::Terms)
}

/// The operations that moved an entity's money, in order, each with the owner's balance after it.
fn operations(entity: &Entity, trace: &Trace) -> Vec<(OperationId, Balance)> {
    let outside: Vec<_> =
        entity.operations_without_entries().map(|operation| (operation, Balance::default())).collect();
    if !outside.is_empty() {
        return outside;
    }
    let mut own: Vec<&Entry> =
        trace.entries.iter().filter(|entry| Some(entry.wallet) == entity.owner()).collect();
    own.sort_unstable_by_key(|entry| entry.seq);
    own.into_iter().map(|entry| (entry.operation, entry.after)).collect()
}

/// Posts the transfers again to the wallets as they were before, and compares the result with the records.
fn check_operation(
    entity: &Entity,
    trace: &Trace,
    receipt: &Receipt,
    transfers: &[Transfer],
) -> Result<(), Flaw> {
    let operation = receipt.operation;
    let mut entries: Vec<&Entry> = trace.entries.iter().filter(|one| one.operation == operation).collect();
    entries.sort_unstable_by_key(|entry| (entry.wallet, entry.seq));
    let wallets: HashMap<UserId, Wallet> =
        entries.iter().filter_map(|entry| before(entry)).map(|wallet| (wallet.user, wallet)).collect();
    for owner in transfers.iter().flat_map(|one| [one.debit.owner(), one.credit.owner()]).flatten() {
        if !entries.iter().any(|entry| entry.wallet == owner) {
            return Err(Flaw::Lacks(name_of(owner, transfers)));
        }
    }
    let metadata = OperationMetadata::system(operation, receipt.at);
    let posted = post(&wallets, &metadata, entity.reference(), transfers, receipt.rules);
    for (place, entry) in entries.iter().enumerate() {
        let Entry { wallet, seq, .. } = **entry;
        match posted.as_ref().map(|posted| posted.entries.get(place)) {
            Ok(Some(expected)) if expected == *entry => {}
            Ok(None) => return Err(Flaw::Extra { wallet, seq }),
            Ok(Some(_)) | Err(_) => return Err(Flaw::Entry { wallet, seq }),
        }
    }
    let sorted = |postings: &mut Vec<Posting>| postings.sort_unstable_by_key(|one| (one.account, one.amount));
    let mut expected = posted.map(|posted| posted.postings).unwrap_or_default();
    let mut found: Vec<Posting> =
        trace.postings.iter().filter(|one| one.operation == operation).copied().collect();
    sorted(&mut expected);
    sorted(&mut found);
    if expected == found { Ok(()) } else { Err(Flaw::Postings(operation)) }
}

/// The wallet before an entry was made; `None` if no such wallet is possible.
fn before(entry: &Entry) -> Option<Wallet> {
    let Entry { change, after, .. } = entry;
    Some(Wallet {
        user: entry.wallet,
        balance: Balance {
            available: after.available.checked_sub(change.available)?,
            held: after.held.checked_sub(change.held)?,
            owed: after.owed.checked_sub(change.owed)?,
        },
        seq: entry.seq.checked_sub(1)?,
        last_at: entry.at,
        head: entry.previous,
    })
}

/// The kind of the entry that these transfers make in a wallet.
fn name_of(owner: UserId, transfers: &[Transfer]) -> EntryKind {
    let leg = |transfer: &Transfer| {
        let is_debit = transfer.debit.owner() == Some(owner);
        let is_credit = transfer.credit.owner() == Some(owner);
        (is_debit || is_credit)
            .then(|| if is_debit { transfer.kind.debit_entry() } else { transfer.kind.credit_entry() })
    };
    transfers.iter().find_map(leg).unwrap_or(EntryKind::Hold)
}

/// The net amount that transfers leave in held accounts.
fn held<'a>(transfers: impl Iterator<Item = &'a Transfer>) -> Option<Money> {
    transfers.into_iter().try_fold(Money::ZERO, |sum, transfer| {
        let amount = transfer.amount.money();
        let out = if matches!(transfer.debit, Account::Held(_)) { amount } else { Money::ZERO };
        let into = if matches!(transfer.credit, Account::Held(_)) { amount } else { Money::ZERO };
        sum.checked_add(into)?.checked_sub(out)
    })
}
