//! Cuepoint's storage in memory: a mutex around the domain's reference semantics.
//!
//! Lists, searches and exports scan the book and sort what they find; only the lists of a guest's requests, of those
//! to a DJ and of the open ones of a gig are kept. All data end with the process. Each method locks once, for a short
//! time, and never awaits while it holds the lock.

mod audit;
mod backend;
mod blocks;
mod email_changes;
mod gigs;
mod guest_accounts;
mod ids;
mod ledger;
mod lists;
mod logins;
mod operation_log;
mod people;
mod personal_data;
mod provider_messages;
mod reads;
mod security_log;
mod sessions;
mod wallet_links;
mod webhook_endpoints;

pub use backend::MemoryBackend;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Entry, Posting};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{Book, Position, StoredReceipt};
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::timestamp::Timestamp;

use tokio::sync::watch;

use crate::blocks::Blocked;
use crate::gigs::GigTable;
use crate::ids::Counters;
use crate::lists::RequestLists;
use crate::logins::CredentialTable;
use crate::operation_log::LoggedOperation;
use crate::security_log::Events;
use crate::sessions::SessionTable;
use crate::webhook_endpoints::WebhookTable;

/// A store that keeps everything in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    counters: Counters,
    /// The number of applied plans, for readers that wait for the next one.
    applied: watch::Sender<u64>,
}

/// The whole state.
#[derive(Debug, Default)]
struct State {
    book: Book,
    request_lists: RequestLists,
    /// The entries of each wallet, by number.
    entries: HashMap<UserId, Vec<Entry>>,
    postings: Vec<Posting>,
    /// The operations in the order of their positions.
    log: Vec<LoggedOperation>,
    /// The newest operation that concerns each user, since webhook endpoints are searched for work after each commit.
    newest_about: HashMap<UserId, Position>,
    keys: CredentialTable,
    sessions: SessionTable,
    blocked: Blocked,
    /// The erased users whose top-ups were pending.
    erasing: BTreeSet<UserId>,
    events: Events,
    /// Whether the first operator was created.
    has_first_operator: bool,
    webhooks: WebhookTable,
    gigs: GigTable,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Locks the state. After a panic under the lock the state may be inconsistent, so every call fails from
    /// then on.
    fn lock(&self) -> Result<MutexGuard<'_, State>, Unavailable> {
        self.state.lock().map_err(|_| Unavailable::new("a change of the memory store was interrupted"))
    }
}

/// All receipts of a book, including those of its keys.
fn receipts(book: &mut Book) -> impl Iterator<Item = &mut StoredReceipt> {
    let of_keys = book.keys.values_mut().map(|record| &mut record.receipt);
    book.operations.values_mut().chain(of_keys)
}

#[async_trait]
impl Store for MemoryStore {
    async fn ready(&self) -> Result<(), Unavailable> {
        self.lock().map(drop)
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<(), Unavailable> {
        let mut state = self.lock()?;
        state.book.keys.retain(|_, record| record.is_kept(now));
        receipts(&mut state.book).filter(|receipt| receipt.is_due(now)).for_each(StoredReceipt::redact);
        state.sessions.purge_expired(now);
        state.keys.purge_expired(now);
        state.events.purge_expired(now);
        let State { gigs, book, .. } = &mut *state;
        gigs.keep_dedications(|id| book.get(id).is_some_and(|request| !request.has_lost_dedication(now)));
        Ok(())
    }

    fn feature_level(&self) -> FeatureLevel {
        FeatureLevel::NEWEST
    }

    async fn close(&self) {}
}
