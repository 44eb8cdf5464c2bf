//! What a group changed, written with a few statements of many rows.

use std::collections::BTreeMap;

use cuepoint_domain::ledger::{Changes, KeyScope};
use cuepoint_domain::money::Currency;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, try_join_all};

use super::statements::{
    AddEntries, AddEvents, AddKeys, AddOperations, AddPostings, AddRequests, AddTopups, AddWithdrawals,
    ChangeUsers, ChangeWallets, EndSessions, MoveRequests, MoveTopups, MoveWithdrawals, ResolveMessages,
    SuspendTopups,
};
use crate::database::Failure;
use crate::rows::{
    Corrupt, EndedSessionsRow, EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, OperationRow,
    ProviderMessageRow, SuspenseRow, TopupRow, UserRow, WalletRow, WithdrawalRow,
};
use crate::schema::idempotency_keys;

/// The last images of one kind of thing: those that are new, and those that the database has.
struct Images<Row> {
    opened: BTreeMap<i64, Row>,
    moved: BTreeMap<i64, Row>,
}

impl<Row> Default for Images<Row> {
    fn default() -> Self {
        Self { opened: BTreeMap::new(), moved: BTreeMap::new() }
    }
}

impl<Row> Images<Row> {
    fn open(&mut self, id: i64, row: Row) {
        self.opened.insert(id, row);
    }

    /// A thing that the same group opened is written once, as it stands in the end.
    fn moved(&mut self, id: i64, row: Row) {
        let images = if self.opened.contains_key(&id) { &mut self.opened } else { &mut self.moved };
        images.insert(id, row);
    }
}

/// The rows that a group of plans leaves to write.
#[derive(Default)]
pub(super) struct Written {
    operations: Vec<OperationRow>,
    keys: Vec<KeyRow>,
    replaced_keys: Vec<Vec<u8>>,
    requests: Images<MusicRequestRow>,
    withdrawals: Images<WithdrawalRow>,
    topups: Images<TopupRow>,
    suspense: BTreeMap<i64, SuspenseRow>,
    resolved_messages: BTreeMap<i64, ProviderMessageRow>,
    users: BTreeMap<i64, UserRow>,
    ended_sessions: BTreeMap<i64, EndedSessionsRow>,
    wallets: BTreeMap<i64, WalletRow>,
    entries: Vec<EntryRow>,
    postings: Vec<NewPostingRow>,
    events: Vec<NewEventRow>,
}

impl Written {
    /// Adds what one more plan changed; `replaces` is the key that the database still has in its place.
    pub(super) fn add(
        &mut self,
        changes: &Changes,
        replaces: Option<KeyScope>,
        currency: &Currency,
    ) -> Result<(), Corrupt> {
        if let Some(record) = &changes.operation {
            self.operations.push(OperationRow::of(record, currency)?);
        }
        self.keys.extend(changes.key.iter().map(KeyRow::of));
        self.replaced_keys.extend(replaces.map(|scope| scope.0.to_vec()));
        if let Some(request) = &changes.opened_request {
            self.requests.open(request.id.get(), MusicRequestRow::of(request, currency));
        }
        if let Some(request) = &changes.moved_request {
            self.requests.moved(request.id.get(), MusicRequestRow::of(request, currency));
        }
        if let Some(withdrawal) = &changes.opened_withdrawal {
            self.withdrawals.open(withdrawal.id.get(), WithdrawalRow::of(withdrawal, currency));
        }
        if let Some(withdrawal) = &changes.moved_withdrawal {
            self.withdrawals.moved(withdrawal.id.get(), WithdrawalRow::of(withdrawal, currency));
        }
        if let Some(topup) = &changes.opened_topup {
            self.topups.open(topup.id.get(), TopupRow::of(topup, currency));
        }
        if let Some(topup) = &changes.moved_topup {
            self.topups.moved(topup.id.get(), TopupRow::of(topup, currency));
            self.suspense.extend(SuspenseRow::of(topup).map(|row| (row.id, row)));
        }
        let resolved = changes.resolved_message.iter();
        self.resolved_messages
            .extend(resolved.map(|message| (message.id.get(), ProviderMessageRow::of(message))));
        self.users.extend(changes.user.iter().map(|user| (user.id.get(), UserRow::of(user, currency))));
        let ended = changes.ended_sessions.iter();
        self.ended_sessions.extend(ended.map(|ended| (ended.user.get(), EndedSessionsRow::of(ended))));
        let wallets = changes.wallets.iter();
        self.wallets.extend(wallets.map(|wallet| (wallet.user.get(), WalletRow::of(wallet, currency))));
        self.entries.extend(changes.entries.iter().map(|entry| EntryRow::of(entry, currency)));
        self.postings.extend(changes.postings.iter().map(|posting| NewPostingRow::of(posting, currency)));
        self.events.extend(changes.event.iter().map(NewEventRow::of));
        Ok(())
    }

    /// Writes it all, and says whether there was anything to write.
    ///
    /// No statement waits for the one before it: the server executes them in their order, and where one fails, so does
    /// whatever comes behind it.
    pub(super) async fn write(mut self, connection: &AsyncPgConnection) -> Result<bool, Failure> {
        // No change comes without the record of its operation.
        if self.operations.is_empty() {
            return Ok(false);
        }
        // In one order on every server, so that two with the same operations do not wait for each other.
        self.operations.sort_by_key(|operation| operation.id);
        self.keys.sort_by(|one, other| one.scope.cmp(&other.scope));
        let mut statements: Vec<BoxFuture<'_, QueryResult<usize>>> = Vec::new();
        /// Executes a statement unless it has no rows.
        macro_rules! execute {
            ($statement:ident, $rows:expr) => {
                let mut rows = $rows.into_iter().peekable();
                if rows.peek().is_some() {
                    let statement = rows.collect::<$statement>();
                    statements.push(async move { statement.execute(&mut &*connection).await }.boxed());
                }
            };
        }
        execute!(AddOperations, self.operations);
        execute!(AddRequests, self.requests.opened.into_values());
        execute!(MoveRequests, self.requests.moved.into_values());
        execute!(AddWithdrawals, self.withdrawals.opened.into_values());
        execute!(MoveWithdrawals, self.withdrawals.moved.into_values());
        execute!(AddTopups, self.topups.opened.into_values());
        execute!(MoveTopups, self.topups.moved.into_values());
        execute!(SuspendTopups, self.suspense.into_values());
        execute!(ResolveMessages, self.resolved_messages.into_values());
        execute!(ChangeUsers, self.users.into_values());
        execute!(EndSessions, self.ended_sessions.into_values());
        execute!(ChangeWallets, self.wallets.into_values());
        if !self.replaced_keys.is_empty() {
            let replaced = diesel::delete(idempotency_keys::table)
                .filter(idempotency_keys::scope.eq_any(self.replaced_keys));
            statements.push(async move { replaced.execute(&mut &*connection).await }.boxed());
        }
        execute!(AddKeys, self.keys);
        execute!(AddEntries, self.entries);
        execute!(AddPostings, self.postings);
        execute!(AddEvents, self.events);
        // Each is polled, and so sent, in this order.
        try_join_all(statements).await?;
        Ok(true)
    }
}
