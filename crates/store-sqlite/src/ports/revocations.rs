//! The revocation list.

use cuepoint_domain::authorization::RevocationList;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StatusRow, revocation_list};
use cuepoint_store_sql::schema::{sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;

use crate::SqliteStore;
use crate::schema::deployment;

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
            Ok(revocation_list(ended, changed, epoch, None)?)
        })
    }
}
