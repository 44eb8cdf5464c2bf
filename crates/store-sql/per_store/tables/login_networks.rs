//! The networks of logins: one row for each user and network, with the time of its last use.

use cuepoint_domain::network::{ClientNetwork, KnownNetwork};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{Corrupt, known};
use cuepoint_store_sql::schema::login_networks;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;

use crate::dialect::{Connection, Database, RunQueryDsl, StoreFailure, later_of};

/// A network with its id.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = login_networks, check_for_backend(Database))]
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

/// Records that a session of this user began or was refreshed from a network.
///
/// It follows the lock of the user or of one of their sessions: an erasure, which takes both, finds the row.
pub(crate) async fn see(
    connection: &mut Connection,
    user: i64,
    network: Option<ClientNetwork>,
    at: Timestamp,
) -> Result<(), StoreFailure> {
    let Some(network) = network else { return Ok(()) };
    diesel::insert_into(login_networks::table)
        .values((
            login_networks::user_id.eq(user),
            login_networks::network.eq(network.to_string()),
            login_networks::seen_at.eq(ColumnTime(at)),
        ))
        .on_conflict((login_networks::user_id, login_networks::network))
        .do_update()
        .set(login_networks::seen_at.eq(later_of(login_networks::seen_at, ColumnTime(at))))
        .execute(connection)
        .await?;
    Ok(())
}
