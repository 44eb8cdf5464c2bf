//! Writes the write set of a group, one row per statement.

use cuepoint_domain::entities;
use cuepoint_domain::operation::Position;
use cuepoint_store_sql::rows::{SessionsEnd, StoredOperation, known};
use cuepoint_store_sql::schema::{idempotency_keys, sessions};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::{BoundRow, ColumnSet, Later, Moves};
use cuepoint_store_sql::{EntityImages, WriteSet};
use diesel::prelude::*;

use crate::connect::failure::SqliteFailure;
use crate::statements::{RowInsert, RowUpdate};
use crate::tables::operations::newest;

/// The connection to which a write set is written.
struct Output<'w>(&'w mut SqliteConnection);

impl Output<'_> {
    fn insert<R: BoundRow>(&mut self, rows: impl IntoIterator<Item = R>) -> Result<(), SqliteFailure> {
        for row in rows {
            RowInsert(&row).execute(self.0)?;
        }
        Ok(())
    }

    /// Inserts operations with the next positions. No other transaction writes, so that there are no gaps but those
    /// that are stored.
    fn insert_operations(&mut self, operations: Vec<StoredOperation>) -> Result<(), SqliteFailure> {
        let (newest, gap) = newest(self.0)?;
        let mut next = Position::following(newest, gap);
        let mut positioned = Vec::with_capacity(operations.len());
        for operation in operations {
            let position = known("operations.position", next)?;
            positioned.push(StoredOperation { position: Some(position.get()), ..operation });
            next = Position::following(position, gap);
        }
        self.insert(positioned)
    }

    fn update<R: BoundRow, C: ColumnSet>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Result<(), SqliteFailure> {
        for row in rows {
            if RowUpdate::<R, C>::of(&row).execute(self.0)? != 1 {
                return Err(diesel::result::Error::NotFound.into());
            }
        }
        Ok(())
    }

    fn end_sessions(&mut self, ended: impl IntoIterator<Item = SessionsEnd>) -> Result<(), SqliteFailure> {
        for SessionsEnd { user_id, at } in ended {
            let alive = sessions::ended_at.is_null().and(sessions::expires_at.gt(ColumnTime(at)));
            diesel::update(sessions::table.filter(sessions::user_id.eq(user_id)).filter(alive))
                .set(sessions::ended_at.eq(ColumnTime(at)))
                .execute(self.0)?;
        }
        Ok(())
    }

    fn remove_keys(&mut self, scopes: Vec<Vec<u8>>) -> Result<(), SqliteFailure> {
        for scope in scopes {
            diesel::delete(idempotency_keys::table.find(scope)).execute(self.0)?;
        }
        Ok(())
    }
}

/// Declares how the rows of entities are written.
macro_rules! write_entities {
    (
        stored { $($Kind:ident($Type:ty, $Id:ident) in $table:ident { $($facts:tt)+ })+ }
        recorded { $($recorded:tt)+ }
    ) => {
        /// Adds the new rows of each kind of entity, and updates the changed ones.
        fn write_entities(out: &mut Output<'_>, entities: EntityImages) -> Result<(), SqliteFailure> {
            $(
                out.insert(entities.$table.opened.into_values())?;
                out.update::<_, Moves>(entities.$table.moved.into_values())?;
            )+
            Ok(())
        }
    };
}

entities!(write_entities);

/// Writes the whole set, in the order of its fields.
pub(super) fn write(connection: &mut SqliteConnection, set: WriteSet) -> Result<(), SqliteFailure> {
    let mut out = Output(connection);
    // Without `..`, so that no rows are lost here.
    let WriteSet {
        operations,
        codes,
        entities,
        suspense,
        ended_sessions,
        wallets,
        replaced_keys,
        keys,
        entries,
        postings,
        events,
        dedications,
    } = set;
    out.insert_operations(operations)?;
    out.insert(codes)?;
    write_entities(&mut out, entities)?;
    out.update::<_, Later>(suspense.into_values())?;
    out.end_sessions(ended_sessions.into_values())?;
    out.update::<_, Moves>(wallets.into_values())?;
    out.remove_keys(replaced_keys)?;
    out.insert(keys)?;
    out.insert(entries)?;
    out.insert(postings)?;
    out.insert(events)?;
    out.insert(dedications)?;
    Ok(())
}
