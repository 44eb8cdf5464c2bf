//! The slice of state that plans are judged on, and what a plan changes in it.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::account::User;
use crate::account::security_log::SecurityEvent;
use crate::ids::{OperationId, ProviderMessageId, RequestId, TopupId, UserId, WithdrawalId};
use crate::ledger::feature_level::FeatureLevel;
use crate::ledger::{
    Actor, Entry, EntryKind, KeyRecord, KeyScope, PlanKind, Posting, Receipt, StoredReceipt, Wallet,
};
use crate::music_request::MusicRequest;
use crate::provider_message::ProviderMessage;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::topup::Topup;
use crate::withdrawal::Withdrawal;

/// The state that plans are judged on: for a store in memory all there is, for a database the locked rows.
///
/// A row that a plan names and that is not here is an error, never a zero.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// Which values may be written.
    pub feature_level: FeatureLevel,
    /// Operations that were applied before, with what they came to.
    pub operations: HashMap<OperationId, StoredReceipt>,
    /// Idempotency keys that were used before.
    pub keys: HashMap<KeyScope, KeyRecord>,
    /// Requests.
    pub requests: HashMap<RequestId, MusicRequest>,
    /// People.
    pub users: HashMap<UserId, User>,
    /// Wallets.
    pub wallets: HashMap<UserId, Wallet>,
    /// Top-ups.
    pub topups: HashMap<TopupId, Topup>,
    /// Messages of providers.
    pub provider_messages: BTreeMap<ProviderMessageId, ProviderMessage>,
    holding_of: HashMap<UserId, HashSet<RequestId>>,
    withdrawals: HashMap<WithdrawalId, Withdrawal>,
    withdrawals_of: HashMap<UserId, Vec<WithdrawalId>>,
    /// Of each wallet, who adjusted it when.
    adjustments_of: HashMap<UserId, Vec<(UserId, Timestamp)>>,
}

impl Book {
    /// An empty book of a deployment at this feature level.
    #[must_use]
    pub fn at(feature_level: FeatureLevel) -> Self {
        Self { feature_level, ..Self::default() }
    }

    /// Puts a request in, in place of the one with its id.
    pub fn put_request(&mut self, request: MusicRequest) {
        let holding = self.holding_of.entry(request.requester).or_default();
        if request.state.status().holds_fee() {
            holding.insert(request.id);
        } else {
            holding.remove(&request.id);
        }
        self.requests.insert(request.id, request);
    }

    /// How many requests of this guest to this DJ are still open at this moment, of those that the book has.
    #[must_use]
    pub fn open_requests(&self, guest: UserId, dj: UserId, now: Timestamp) -> usize {
        let holding = self.holding_of.get(&guest).into_iter().flatten();
        let open =
            |request: &&MusicRequest| request.dj == dj && request.state.seen_at(now).status().holds_fee();
        holding.filter_map(|id| self.requests.get(id)).filter(open).count()
    }

    /// Puts a withdrawal in, in place of the one with its id.
    pub fn put_withdrawal(&mut self, withdrawal: Withdrawal) {
        let (id, user) = (withdrawal.id, withdrawal.user);
        if self.withdrawals.insert(id, withdrawal).is_none() {
            self.withdrawals_of.entry(user).or_default().push(id);
        }
    }

    /// The withdrawal with this id.
    #[must_use]
    pub fn withdrawal(&self, id: WithdrawalId) -> Option<&Withdrawal> {
        self.withdrawals.get(&id)
    }

    /// All withdrawals, in no order.
    pub fn withdrawals(&self) -> impl Iterator<Item = &Withdrawal> {
        self.withdrawals.values()
    }

    /// The withdrawals of this person that the book has.
    pub fn withdrawals_of(&self, user: UserId) -> impl Iterator<Item = &Withdrawal> {
        self.withdrawals_of.get(&user).into_iter().flatten().filter_map(|id| self.withdrawals.get(id))
    }

    /// Notes that somebody adjusted a wallet, at the time of the wallet's entry.
    pub fn put_adjustment(&mut self, wallet: UserId, by: UserId, at: Timestamp) {
        self.adjustments_of.entry(wallet).or_default().push((by, at));
    }

    /// Whether somebody adjusted a wallet after this moment, going by the adjustments that the book has.
    #[must_use]
    pub fn has_adjusted(&self, by: UserId, wallet: UserId, since: Timestamp) -> bool {
        let adjustments = self.adjustments_of.get(&wallet);
        adjustments.into_iter().flatten().any(|(adjuster, at)| *adjuster == by && *at > since)
    }

    /// Takes over what an applied plan changed.
    pub(crate) fn absorb(&mut self, changes: &Changes) {
        for request in changes.opened_request.iter().chain(&changes.moved_request) {
            self.put_request(request.clone());
        }
        self.users.extend(changes.user.iter().map(|user| (user.id, user.clone())));
        self.wallets.extend(changes.wallets.iter().map(|wallet| (wallet.user, wallet.clone())));
        self.topups.extend(changes.opened_topup.iter().map(|topup| (topup.id, topup.clone())));
        self.topups.extend(changes.moved_topup.iter().map(|topup| (topup.id, topup.clone())));
        for withdrawal in changes.opened_withdrawal.iter().chain(&changes.moved_withdrawal) {
            self.put_withdrawal(withdrawal.clone());
        }
        let resolved = changes.resolved_message.iter();
        self.provider_messages.extend(resolved.map(|message| (message.id, message.clone())));
        if let Some(OperationRecord { actor: Actor::User(by), .. }) = changes.operation {
            for entry in changes.entries.iter().filter(|entry| entry.kind == EntryKind::Adjustment) {
                self.put_adjustment(entry.wallet, by, entry.at);
            }
        }
        if let Some(record) = &changes.operation {
            self.operations.insert(record.id, StoredReceipt::Whole(record.receipt.clone()));
        }
        if let Some(key) = &changes.key {
            self.keys.insert(key.key.scope, key.clone());
        }
    }
}

/// An operation as it is kept for ever.
#[derive(Clone, PartialEq, Debug)]
pub struct OperationRecord {
    /// Which.
    pub id: OperationId,
    /// What it did.
    pub kind: PlanKind,
    /// Who was behind it.
    pub actor: Actor,
    /// When it was decided.
    pub at: Timestamp,
    /// Why, where somebody said so.
    pub reason: Option<Line>,
    /// What it came to.
    pub receipt: Receipt,
}

/// A person whose live sessions end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedSessions {
    /// Ownership.
    pub user: UserId,
    /// When.
    pub at: Timestamp,
}

/// What an applied plan changed, as rows to write: everything or nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Changes {
    /// The operation; `None` where the plan changed nothing and no key has to be kept.
    pub operation: Option<OperationRecord>,
    /// The key that was used, in place of one that is no longer kept.
    pub key: Option<KeyRecord>,
    /// A request that was made.
    pub opened_request: Option<MusicRequest>,
    /// A request that moved.
    pub moved_request: Option<MusicRequest>,
    /// A withdrawal that was made.
    pub opened_withdrawal: Option<Withdrawal>,
    /// A withdrawal that moved.
    pub moved_withdrawal: Option<Withdrawal>,
    /// A top-up that was made.
    pub opened_topup: Option<Topup>,
    /// A top-up that was ordered or moved.
    pub moved_topup: Option<Topup>,
    /// A message of a provider that was resolved.
    pub resolved_message: Option<ProviderMessage>,
    /// A person who changed.
    pub user: Option<User>,
    /// A person whose live sessions end with it.
    pub ended_sessions: Option<EndedSessions>,
    /// Wallets that changed, by their owner's id.
    pub wallets: Vec<Wallet>,
    /// One new entry for each of those wallets, in the same order.
    pub entries: Vec<Entry>,
    /// New postings.
    pub postings: Vec<Posting>,
    /// What the security log keeps of it.
    pub event: Option<SecurityEvent>,
}
