//! Posting of transfers to wallets: floors, and the receivable that new and released money repays first.

use std::collections::{BTreeMap, HashMap, btree_map};

use crate::entity_ref::{EntityKind, EntityRef};
use crate::ids::UserId;
use crate::ledger::{
    Account, Balance, Entry, EntryKind, Posting, PostingAccount, PostingRules, Transfer, TransferKind, Wallet,
};
use crate::money::Money;
use crate::operation::{OperationMetadata, Rejection};

/// The result of posting transfers: each wallet with its new entry, and the postings beside them.
#[derive(Default)]
pub(crate) struct Posted {
    pub(crate) wallets: Vec<Wallet>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) postings: Vec<Posting>,
}

/// A wallet while transfers are posted to it.
struct Open {
    before: Wallet,
    now: Balance,
    kind: EntryKind,
}

impl Open {
    /// The rejection of a transfer. Missing funds are reported with the balance before the first transfer.
    const fn rejected(&self, rejection: Rejection) -> Rejection {
        match rejection {
            Rejection::InsufficientFunds { .. } => {
                Rejection::InsufficientFunds { available: self.before.balance.available }
            }
            other => other,
        }
    }
}

/// Posts all transfers of one operation to these wallets, or returns the reason for a rejection.
pub(crate) fn post(
    wallets: &HashMap<UserId, Wallet>,
    metadata: &OperationMetadata,
    reference: EntityRef,
    transfers: &[Transfer],
    rules: PostingRules,
) -> Result<Posted, Rejection> {
    let mut open = BTreeMap::new();
    let mut posted = Posted::default();
    for transfer in transfers {
        let amount = transfer.amount.money();
        let mut leg = |account, kind, change| -> Result<(), Rejection> {
            let outside = match account {
                Account::Available(user) | Account::Held(user) => {
                    let wallet = opened(wallets, &mut open, user, kind)?;
                    let now = changed(wallet.now, account, transfer.kind, change, rules);
                    wallet.now = now.map_err(|rejection| wallet.rejected(rejection))?;
                    return Ok(());
                }
                Account::Platform(account) => PostingAccount::Platform(account),
                Account::Outside(account) => PostingAccount::Outside(account),
            };
            posted.postings.push(Posting {
                operation: metadata.operation,
                account: outside,
                amount: change,
                at: metadata.at,
            });
            Ok(())
        };
        leg(transfer.debit, transfer.kind.debit_entry(), amount.negated())?;
        leg(transfer.credit, transfer.kind.credit_entry(), amount)?;
    }
    for (_, wallet) in open {
        let (wallet, entry) = closed(wallet, metadata, reference)?;
        posted.wallets.push(wallet);
        posted.entries.push(entry);
    }
    Ok(posted)
}

fn opened<'a>(
    wallets: &HashMap<UserId, Wallet>,
    open: &'a mut BTreeMap<UserId, Open>,
    user: UserId,
    kind: EntryKind,
) -> Result<&'a mut Open, Rejection> {
    Ok(match open.entry(user) {
        btree_map::Entry::Occupied(found) => found.into_mut(),
        btree_map::Entry::Vacant(place) => {
            let before = wallets.get(&user).ok_or(Rejection::Missing(EntityKind::Wallet))?.clone();
            let now = before.balance;
            place.insert(Open { before, now, kind })
        }
    })
}

/// The balance after `change` is applied to one of its accounts, with none of the three parts negative.
fn changed(
    balance: Balance,
    account: Account,
    kind: TransferKind,
    change: Money,
    rules: PostingRules,
) -> Result<Balance, Rejection> {
    let mut next = balance;
    match account {
        Account::Held(_) => next.held = sum(balance.held, change)?,
        _ => next.available = sum(balance.available, change)?,
    }
    match kind {
        _ if next.available > balance.available && rules.pay_owed(kind) => {
            let pays = change.min(balance.owed);
            next.available = difference(next.available, pays)?;
            next.owed = difference(balance.owed, pays)?;
        }
        TransferKind::Refund | TransferKind::Chargeback if next.available.is_negative() => {
            next.owed = difference(balance.owed, next.available)?;
            next.available = Money::ZERO;
        }
        _ => {}
    }
    if next.available.is_negative() {
        return Err(Rejection::InsufficientFunds { available: balance.available });
    }
    if next.held.is_negative() {
        return Err(Rejection::Broken("a hold is larger than what is held"));
    }
    Ok(next)
}

fn sum(left: Money, right: Money) -> Result<Money, Rejection> {
    left.checked_add(right).ok_or(Rejection::OutOfRange)
}

fn difference(left: Money, right: Money) -> Result<Money, Rejection> {
    left.checked_sub(right).ok_or(Rejection::OutOfRange)
}

/// The wallet with its new head, and the entry that leads to it.
fn closed(
    open: Open,
    metadata: &OperationMetadata,
    reference: EntityRef,
) -> Result<(Wallet, Entry), Rejection> {
    let Open { before, now, kind } = open;
    // Held money counts as well, so that a release can never exceed the maximum.
    let whole = sum(now.available, now.held)?;
    if whole > Money::MAX_BALANCE || now.owed > Money::MAX_BALANCE {
        return Err(Rejection::OutOfRange);
    }
    let change = Balance {
        available: difference(now.available, before.balance.available)?,
        held: difference(now.held, before.balance.held)?,
        owed: difference(now.owed, before.balance.owed)?,
    };
    let mut entry = Entry {
        wallet: before.user,
        seq: before.seq.checked_add(1).ok_or(Rejection::OutOfRange)?,
        operation: metadata.operation,
        kind,
        reference,
        change,
        after: now,
        at: metadata.at.max(before.last_at),
        previous: before.head,
        hash: before.head,
    };
    entry.hash = entry.link();
    let wallet =
        Wallet { user: before.user, balance: now, seq: entry.seq, last_at: entry.at, head: entry.hash };
    Ok((wallet, entry))
}
