//! Networks of logins: one row per user and network, with the time of its last use.

use cuepoint_domain::network::KnownNetwork;
use cuepoint_domain::timestamp::Timestamp;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use crate::connect::failure::SqliteFailure;
use crate::rows::{Corrupt, known};
use crate::schema::login_networks;

/// A network with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = login_networks, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct NetworkRow {
    id: i64,
    network: String,
    seen_at: i64,
}

impl NetworkRow {
    pub(crate) fn known(self) -> Result<(i64, KnownNetwork), Corrupt> {
        let network = known("login_networks.network", self.network.parse().ok())?;
        Ok((self.id, KnownNetwork { network, seen_at: Timestamp::from_unix_micros(self.seen_at) }))
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
    at: i64,
) -> Result<(), SqliteFailure> {
    let Some(network) = network else { return Ok(()) };
    let seen = diesel::sql_query(SEE).bind::<BigInt, _>(user).bind::<Text, _>(network);
    seen.bind::<BigInt, _>(at).execute(connection)?;
    Ok(())
}
