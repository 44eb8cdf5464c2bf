//! The write set of a group of plans.

use std::collections::BTreeMap;

use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Changes, KeyScope};

use crate::rows::{
    Corrupt, SessionsEnd, StoredEntry, StoredEvent, StoredKey, StoredMessage, StoredOperation, StoredPosting,
    StoredRequest, StoredTopup, StoredUser, StoredWallet, StoredWithdrawal,
};

/// The last images of the rows of one table, by id.
#[derive(Clone, Debug)]
pub struct RowImages<Row> {
    /// New rows.
    pub opened: BTreeMap<i64, Row>,
    /// Changed rows that the database already has.
    pub moved: BTreeMap<i64, Row>,
}

impl<Row> Default for RowImages<Row> {
    fn default() -> Self {
        Self { opened: BTreeMap::new(), moved: BTreeMap::new() }
    }
}

impl<Row> RowImages<Row> {
    fn open(&mut self, id: i64, row: Row) {
        self.opened.insert(id, row);
    }

    /// A row that the same group opened is written once, in its final state.
    fn moved(&mut self, id: i64, row: Row) {
        let images = if self.opened.contains_key(&id) { &mut self.opened } else { &mut self.moved };
        images.insert(id, row);
    }
}

/// The rows that a group of plans writes, each in its last image.
///
/// A store writes them in the order of the fields, a top-up before its money in suspense. An operation comes
/// before the rows that refer to it, unless the store checks their references when it commits.
#[derive(Clone, Debug, Default)]
pub struct WriteSet {
    /// Operations, all new, in the order of their positions.
    pub operations: Vec<StoredOperation>,
    /// Music requests.
    pub requests: RowImages<StoredRequest>,
    /// Withdrawals.
    pub withdrawals: RowImages<StoredWithdrawal>,
    /// Top-ups, without their money in suspense.
    pub topups: RowImages<StoredTopup>,
    /// Top-ups with money that is or was in suspense, by id; only the columns of that money are written.
    pub suspense: BTreeMap<i64, StoredTopup>,
    /// Resolved provider messages, by id.
    pub resolved_messages: BTreeMap<i64, StoredMessage>,
    /// Changed users, by id.
    pub users: BTreeMap<i64, StoredUser>,
    /// Users with live sessions that end, by id.
    pub ended_sessions: BTreeMap<i64, SessionsEnd>,
    /// Changed wallets, by the id of their owner.
    pub wallets: BTreeMap<i64, StoredWallet>,
    /// The scopes of stored keys that new ones replace.
    pub replaced_keys: Vec<Vec<u8>>,
    /// Idempotency keys, all new.
    pub keys: Vec<StoredKey>,
    /// Entries, all new.
    pub entries: Vec<StoredEntry>,
    /// Postings, all new.
    pub postings: Vec<StoredPosting>,
    /// Security events, all new.
    pub events: Vec<StoredEvent>,
}

impl WriteSet {
    /// Adds the changes of a plan; `replaces` is the stored key that its key replaces.
    ///
    /// # Errors
    /// [`Corrupt`] if the receipt has no JSON form.
    pub fn add(
        &mut self,
        changes: &Changes,
        replaces: Option<KeyScope>,
        currency: &Currency,
    ) -> Result<(), Corrupt> {
        if let Some(record) = &changes.operation {
            self.operations.push(StoredOperation::of(record, currency)?);
        }
        self.keys.extend(changes.key.iter().map(StoredKey::of));
        self.replaced_keys.extend(replaces.map(|scope| scope.0.to_vec()));
        if let Some(request) = &changes.opened_request {
            self.requests.open(request.id.get(), StoredRequest::of(request, currency));
        }
        if let Some(request) = &changes.moved_request {
            self.requests.moved(request.id.get(), StoredRequest::of(request, currency));
        }
        if let Some(withdrawal) = &changes.opened_withdrawal {
            self.withdrawals.open(withdrawal.id.get(), StoredWithdrawal::of(withdrawal, currency));
        }
        if let Some(withdrawal) = &changes.moved_withdrawal {
            self.withdrawals.moved(withdrawal.id.get(), StoredWithdrawal::of(withdrawal, currency));
        }
        if let Some(topup) = &changes.opened_topup {
            self.topups.open(topup.id.get(), StoredTopup::of(topup, currency));
        }
        if let Some(topup) = &changes.moved_topup {
            self.topups.moved(topup.id.get(), StoredTopup::of(topup, currency));
            if topup.suspense.is_some() {
                self.suspense.insert(topup.id.get(), StoredTopup::of(topup, currency));
            }
        }
        let resolved = changes.resolved_message.iter();
        self.resolved_messages.extend(resolved.map(|message| (message.id.get(), StoredMessage::of(message))));
        self.users.extend(changes.user.iter().map(|user| (user.id.get(), StoredUser::of(user, currency))));
        let ended = changes.ended_sessions.iter();
        self.ended_sessions.extend(ended.map(|ended| (ended.user.get(), SessionsEnd::of(ended))));
        let wallets = changes.wallets.iter();
        self.wallets.extend(wallets.map(|wallet| (wallet.user.get(), StoredWallet::of(wallet, currency))));
        self.entries.extend(changes.entries.iter().map(|entry| StoredEntry::of(entry, currency)));
        self.postings.extend(changes.postings.iter().map(|posting| StoredPosting::of(posting, currency)));
        self.events.extend(changes.event.iter().map(StoredEvent::of));
        Ok(())
    }

    /// Whether there are no rows to write: no change comes without the record of its operation.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Sorts keys in the same order on every server, to avoid deadlocks between servers that write the same
    /// ones.
    pub fn sort_keys(&mut self) {
        self.keys.sort_by(|one, other| one.scope.cmp(&other.scope));
    }
}
