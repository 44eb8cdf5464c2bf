//! The revocation list.

use cuepoint_domain::authorization::{AccountStatus, Epoch, RevocationList};
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Role;
use cuepoint_store_sql::rows::{Corrupt, known, session_id, user_id};
use cuepoint_store_sql::schema::{sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;

use crate::SqliteStore;
use crate::schema::deployment;

/// A user whose role or suspension changed: their id, their role, and the time of their suspension.
type StatusRow = (i64, String, bool, Option<Timestamp>);

impl SqliteStore {
    /// The storage has no clock of its own: it runs on the machine of the server.
    pub(crate) async fn revocations(&self, since: Timestamp) -> Result<RevocationList, Unavailable> {
        self.readers.read(|connection| {
            let ended = sessions::table.filter(sessions::ended_at.ge(ColumnTime(since))).select(sessions::id);
            let ended: Vec<i64> = ended.load(connection)?;
            let changed: Vec<StatusRow> = users::table
                .filter(users::standing_at.ge(ColumnTime(since)))
                .select((users::id, users::role, users::is_dj, users::suspended_at))
                .load(connection)?;
            let epoch: i64 = deployment::table.select(deployment::epoch).get_result(connection)?;
            let status = |(user, role, is_dj, suspended_at): StatusRow| {
                let role = known("role", Role::stored(&role))?;
                Ok((user_id(user)?, AccountStatus { role, is_dj, suspended: suspended_at.is_some() }))
            };
            Ok(RevocationList {
                sessions: ended.into_iter().map(session_id).collect::<Result<_, _>>()?,
                statuses: changed.into_iter().map(status).collect::<Result<_, Corrupt>>()?,
                epoch: Epoch(epoch),
                storage_time: None,
            })
        })
    }
}
