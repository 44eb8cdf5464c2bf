//! The connection over which a server reads the revocation list every second. The same read shows whether the
//! database has a new primary, was restored, or has another feature level or a different time.
//!
//! It does not belong to the pool, so that neither a busy pool nor the ledger audit delays the list. It is
//! reopened periodically, because a long-lived connection does not show that the host name now points to
//! another node.

use std::time::Duration;

use cuepoint_domain::authorization::RevocationList;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::rows::{StatusRow, revocation_list};
use cuepoint_store_sql::schema::{sessions, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use futures_util::future::try_join4;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::connect::cluster::{AdmittedConnection, Cluster};
use crate::connect::failure::DatabaseFailure;
use crate::connect::node::Node;
use crate::connect::pool::{Database, within};
use crate::schema::deployment;

/// Maximum age of a connection.
const RENEWED_AFTER: Duration = Duration::from_secs(10);
/// Number of attempts to read a list if the connection turns out to be unusable.
const ATTEMPTS: u32 = 2;

/// The open connection, if any, and when it was opened.
#[derive(Default)]
pub(crate) struct Sentinel(Mutex<Option<(AdmittedConnection, Instant)>>);

impl Sentinel {
    /// The revocation list since a timestamp.
    pub(crate) async fn revoked_since(
        &self,
        database: &Database,
        since: Timestamp,
    ) -> Result<RevocationList, DatabaseFailure> {
        let reading = async {
            let mut attempt = 1;
            loop {
                let read = self.read(database, since).await;
                if read.is_ok() || attempt >= ATTEMPTS {
                    return read;
                }
                attempt = attempt.saturating_add(1);
            }
        };
        within(reading).await
    }

    async fn read(&self, database: &Database, since: Timestamp) -> Result<RevocationList, DatabaseFailure> {
        let cluster = database.cluster();
        let mut kept = self.0.lock().await;
        let fit = |(opened, at): &(AdmittedConnection, Instant)| {
            opened.is_current(cluster) && at.elapsed() < RENEWED_AFTER
        };
        let (opened, at) = match kept.take().filter(fit) {
            Some(open) => open,
            None => {
                database.look_for_newer_primary();
                (database.open_beside().await?, Instant::now())
            }
        };
        let revoked = read(&opened, cluster, since).await?;
        *kept = Some((opened, at));
        Ok(revoked)
    }
}

/// Reads the list and describes the node that answers, in one round trip.
async fn read(
    mut connection: &AsyncPgConnection,
    cluster: &Cluster,
    since: Timestamp,
) -> Result<RevocationList, DatabaseFailure> {
    let since = ColumnTime(since);
    let ended = sessions::table.filter(sessions::ended_at.ge(since)).select(sessions::id);
    let changed = users::table.filter(users::standing_at.ge(since));
    let changed = changed.select((users::id, users::role, users::is_dj, users::suspended_at));
    let (node, ended, changed, (epoch, level)) = try_join4(
        Node::describe(connection),
        async { Ok(ended.load::<i64>(&mut &*connection).await?) },
        async { Ok(changed.load::<StatusRow>(&mut &*connection).await?) },
        async {
            let columns = (deployment::epoch, deployment::feature_level);
            Ok(deployment::table.select(columns).get_result::<(i64, i16)>(&mut connection).await?)
        },
    )
    .await?;
    if let Err(refusal) = cluster.admit(&node) {
        // Other connections may lead to the same node.
        cluster.renew_connections();
        return Err(refusal.into());
    }
    cluster.note_epoch(epoch);
    cluster.note_feature_level(FeatureLevel::numbered(level));
    let storage_time = Some(Timestamp::from_unix_micros(node.clock_micros));
    Ok(revocation_list(ended, changed, epoch, storage_time)?)
}
