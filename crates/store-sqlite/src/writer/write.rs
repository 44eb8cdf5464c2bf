//! Writes the write set of a group, one row per statement.

use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Position;
use cuepoint_store_sql::rows::{SessionsEnd, StoredOperation, known};
use cuepoint_store_sql::{EntityImages, WriteSet};
use diesel::prelude::*;

use crate::connect::failure::SqliteFailure;
use crate::rows::table_row::TableRow;
use crate::rows::{
    EntryRow, KeyRow, MusicRequestRow, NewEventRow, NewPostingRow, OperationRow, ProviderMessageRow,
    TopupRow, UserRow, WalletRow, WithdrawalRow,
};
use crate::schema::{idempotency_keys, sessions};
use crate::statements::{ColumnSet, Insert, Later, Moves, Update};
use crate::tables::operations::newest;

/// The connection and the currency of a write set.
struct Output<'w> {
    connection: &'w mut SqliteConnection,
    currency: &'w Currency,
}

impl Output<'_> {
    fn insert<R: TableRow>(
        &mut self,
        rows: impl IntoIterator<Item = R::Stored>,
    ) -> Result<(), SqliteFailure> {
        for row in rows {
            let row = R::encode(row, self.currency)?;
            Insert(&row).execute(self.connection)?;
        }
        Ok(())
    }

    /// Inserts operations with the next positions. No other transaction writes, so that there are no gaps but those
    /// that are stored.
    fn insert_operations(&mut self, operations: Vec<StoredOperation>) -> Result<(), SqliteFailure> {
        let (newest, gap) = newest(self.connection)?;
        let mut next = Position::following(newest, gap);
        let mut positioned = Vec::with_capacity(operations.len());
        for operation in operations {
            let position = known("operations.position", next)?;
            positioned.push(StoredOperation { position: Some(position.get()), ..operation });
            next = Position::following(position, gap);
        }
        self.insert::<OperationRow>(positioned)
    }

    /// Updates rows, each of which has to be there.
    fn update<R: TableRow, C: ColumnSet>(
        &mut self,
        rows: impl IntoIterator<Item = R::Stored>,
    ) -> Result<(), SqliteFailure> {
        for row in rows {
            let row = R::encode(row, self.currency)?;
            if Update::<R, C>::of(&row).execute(self.connection)? != 1 {
                return Err(diesel::result::Error::NotFound.into());
            }
        }
        Ok(())
    }

    fn end_sessions(&mut self, ended: impl IntoIterator<Item = SessionsEnd>) -> Result<(), SqliteFailure> {
        for SessionsEnd { user_id, at } in ended {
            let at = at.unix_micros();
            let alive = sessions::ended_at.is_null().and(sessions::expires_at.gt(at));
            diesel::update(sessions::table.filter(sessions::user_id.eq(user_id)).filter(alive))
                .set(sessions::ended_at.eq(at))
                .execute(self.connection)?;
        }
        Ok(())
    }

    fn remove_keys(&mut self, scopes: Vec<Vec<u8>>) -> Result<(), SqliteFailure> {
        for scope in scopes {
            diesel::delete(idempotency_keys::table.find(scope)).execute(self.connection)?;
        }
        Ok(())
    }
}

/// Writes the whole set, in the order of its fields.
pub(super) fn write(
    connection: &mut SqliteConnection,
    set: WriteSet,
    currency: &Currency,
) -> Result<(), SqliteFailure> {
    let mut out = Output { connection, currency };
    // Without `..`, so that the rows of a new table are not lost here.
    let WriteSet {
        operations,
        entities: EntityImages { music_requests, users, withdrawals, topups, provider_messages },
        suspense,
        ended_sessions,
        wallets,
        replaced_keys,
        keys,
        entries,
        postings,
        events,
    } = set;
    out.insert_operations(operations)?;
    out.insert::<MusicRequestRow>(music_requests.opened.into_values())?;
    out.update::<MusicRequestRow, Moves>(music_requests.moved.into_values())?;
    out.insert::<WithdrawalRow>(withdrawals.opened.into_values())?;
    out.update::<WithdrawalRow, Moves>(withdrawals.moved.into_values())?;
    out.insert::<TopupRow>(topups.opened.into_values())?;
    out.update::<TopupRow, Moves>(topups.moved.into_values())?;
    out.update::<TopupRow, Later>(suspense.into_values())?;
    out.update::<ProviderMessageRow, Moves>(provider_messages.moved.into_values())?;
    out.update::<UserRow, Moves>(users.moved.into_values())?;
    out.end_sessions(ended_sessions.into_values())?;
    out.update::<WalletRow, Moves>(wallets.into_values())?;
    out.remove_keys(replaced_keys)?;
    out.insert::<KeyRow>(keys)?;
    out.insert::<EntryRow>(entries)?;
    out.insert::<NewPostingRow>(postings)?;
    out.insert::<NewEventRow>(events)?;
    Ok(())
}
