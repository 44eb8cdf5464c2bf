//! The deployment of a database.

use std::cmp::Ordering;

use anyhow::ensure;
use cuepoint_domain::ledger::feature_level::FeatureLevel;
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::connect::connection::Connector;
use crate::connect::node::Node;
use crate::schema::deployment;

/// Checks that a connection leads to the database of this name.
///
/// # Errors
/// When it leads to another database, or is lost.
pub(crate) async fn ensure_name(
    connection: &mut AsyncPgConnection,
    database_name: &str,
) -> anyhow::Result<()> {
    let reached: String =
        diesel::dsl::sql::<Text>("SELECT current_database()::text").get_result(connection).await?;
    ensure!(
        reached == database_name,
        "the configuration leads to the database {reached:?}, but --database-name is {database_name:?}"
    );
    Ok(())
}

/// Records the cluster, the epoch and the feature level of the data; from then on connections to other
/// clusters are refused.
///
/// # Errors
/// When the database has been moved to another cluster, as a restored dump is.
pub(crate) async fn recognise(connector: &Connector) -> anyhow::Result<()> {
    let mut connection = connector.connect().await?;
    let node = Node::describe(&connection).await?;
    let (recorded, epoch, level): (i64, i64, i16) = deployment::table
        .select((deployment::system_identifier, deployment::epoch, deployment::feature_level))
        .get_result(&mut connection)
        .await?;
    ensure!(
        recorded == node.system_identifier,
        "the data was written on another PostgreSQL cluster (system identifier {recorded}, this one has {}): if it was \
         restored or moved here, run `cuepoint restore` first",
        node.system_identifier
    );
    connector.cluster().belongs_to(recorded);
    connector.cluster().note_epoch(epoch);
    connector.cluster().note_feature_level(FeatureLevel::numbered(level));
    match level.cmp(&FeatureLevel::NEWEST.number()) {
        Ordering::Less => tracing::warn!(
            level,
            "the upgrade is not finalized: commands whose values servers of earlier versions cannot read are refused \
             until `cuepoint finalize-upgrade` is run"
        ),
        Ordering::Greater => tracing::warn!(
            level,
            newest = FeatureLevel::NEWEST.number(),
            "the upgrade to a later version was finalized: this server does not act on the values that only that version \
             knows"
        ),
        Ordering::Equal => {}
    }
    Ok(())
}
