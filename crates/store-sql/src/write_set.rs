//! The write set of a group of plans.

use std::collections::BTreeMap;

use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::{Addition, Changes, Entity, KeyScope};

use crate::entity_rows::{EntityImages, Rowed};
use crate::rows::{
    Corrupt, SessionsEnd, StoredCode, StoredDedication, StoredEntry, StoredKey, StoredOperation,
    StoredPosting, StoredSecurityEvent, StoredTopup, StoredWallet,
};

/// The rows that a group of plans writes, each in its last image.
///
/// A store writes them in the order of the fields, a top-up before its money in suspense. An operation comes
/// before the rows that refer to it, unless the store checks their references when it commits.
#[derive(Clone, Debug, Default)]
pub struct WriteSet {
    /// Operations, all new, in the order of their positions.
    pub operations: Vec<StoredOperation>,
    /// Codes, all new.
    pub codes: Vec<StoredCode>,
    /// Entities; top-ups without their money in suspense.
    pub entities: EntityImages,
    /// Top-ups with money that is or was in suspense, by id; only the columns of that money are written.
    pub suspense: BTreeMap<i64, StoredTopup>,
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
    pub events: Vec<StoredSecurityEvent>,
    /// Dedications, all new.
    pub dedications: Vec<StoredDedication>,
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
        for record in changes.operations() {
            self.operations.push(StoredOperation::of(record, currency)?);
        }
        self.keys.extend(changes.key.iter().map(StoredKey::of));
        self.replaced_keys.extend(replaces.map(|scope| scope.0.to_vec()));
        if let Some(opened) = &changes.opened {
            self.entities.open(opened, currency);
        }
        if let Some(moved) = &changes.moved {
            self.entities.moved(moved, currency);
        }
        if let Some(Entity::Topup(topup)) = &changes.moved
            && topup.suspense.is_some()
        {
            self.suspense.insert(topup.id.get(), topup.row(currency));
        }
        if let Some(user) = &changes.user {
            self.entities.users.moved(user.id.get(), user.row(currency));
        }
        match (&changes.addition, &changes.opened) {
            (Some(Addition::Code(assigned)), _) => self.codes.push(StoredCode::of(assigned)),
            (Some(Addition::Dedication(message)), Some(Entity::MusicRequest(request))) => {
                let (request_id, message) = (request.id.get(), message.as_str().to_owned());
                let created_at = request.created_at;
                self.dedications.push(StoredDedication { request_id, message, created_at });
            }
            (Some(Addition::Dedication(_)), _) | (None, _) => {}
        }
        let ended = changes.ended_sessions.iter();
        self.ended_sessions.extend(ended.map(|ended| (ended.user.get(), SessionsEnd::of(ended))));
        let wallets = changes.wallets.iter();
        self.wallets.extend(wallets.map(|wallet| (wallet.user.get(), StoredWallet::of(wallet, currency))));
        self.entries.extend(changes.entries.iter().map(|entry| StoredEntry::of(entry, currency)));
        self.postings.extend(changes.postings.iter().map(|posting| StoredPosting::of(posting, currency)));
        self.events.extend(changes.event.iter().map(StoredSecurityEvent::of));
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
