//! Networks of logins: one row per user and network, with the time of its last use.

use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{Corrupt, known};
use cuepoint_store_sql::schema::login_networks;
use cuepoint_store_sql::sql_types::{ColumnTime, UtcTime};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::connect::failure::SqliteFailure;

/// A network with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = login_networks, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct NetworkRow {
    id: i64,
    network: String,
    seen_at: Timestamp,
}

impl NetworkRow {
    pub(crate) fn known(self) -> Result<(i64, KnownNetwork), Corrupt> {
        let network = known("login_networks.network", self.network.parse().ok())?;
        Ok((self.id, KnownNetwork { network, seen_at: self.seen_at }))
    }
}

/// Adds a network, or moves the time of its last use forward.
const SEE: &str = "INSERT INTO login_networks (user_id, network, seen_at) VALUES (?, ?, ?) \
    ON CONFLICT (user_id, network) DO UPDATE SET seen_at = max(seen_at, excluded.seen_at)";

/// Records that a session of this user began or was refreshed from a network.
pub(crate) fn see(
    connection: &mut SqliteConnection,
    user: i64,
    network: Option<&str>,
    at: Timestamp,
) -> Result<(), SqliteFailure> {
    let Some(network) = network else { return Ok(()) };
    let seen = diesel::sql_query(SEE).bind::<BigInt, _>(user).bind::<Text, _>(network);
    seen.bind::<UtcTime, _>(ColumnTime(at)).execute(connection)?;
    Ok(())
}
