//! The deployment of a database.

use std::cmp::Ordering;

use anyhow::{bail, ensure};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_store_sql::copy::{Mark, ensure_completed};
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use uuid::Uuid;

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

/// The system identifier of the cluster that the data belongs to, which is that of the connection.
///
/// # Errors
/// When the database has been moved to another cluster, as a restored dump is.
pub(crate) async fn ensure_own_cluster(connection: &mut AsyncPgConnection) -> anyhow::Result<i64> {
    let node = Node::describe(connection).await?;
    let recorded: Option<i64> =
        deployment::table.select(deployment::system_identifier).get_result(connection).await.optional()?;
    let recorded = recorded.unwrap_or(node.system_identifier);
    ensure!(
        recorded == node.system_identifier,
        "the data was written on another PostgreSQL cluster (system identifier {recorded}, this one has {}): if it was \
         restored or moved here, run `cuepoint restore` first",
        node.system_identifier
    );
    Ok(recorded)
}

/// The mark of a copy to another store.
///
/// # Errors
/// When it cannot be read.
pub(crate) async fn mark_of(connection: &mut AsyncPgConnection) -> anyhow::Result<Option<Mark>> {
    type Columns = (Option<String>, Option<Uuid>, Option<String>);
    let columns = (deployment::copy_state, deployment::copy_id, deployment::copy_target);
    let row: Option<Columns> = deployment::table.select(columns).get_result(connection).await.optional()?;
    let (state, copy, target) = row.unwrap_or_default();
    Mark::stored(state.as_deref(), copy, target)
}

/// Records the cluster, the epoch and the feature level of the data; from then on connections to other
/// clusters are refused.
///
/// # Errors
/// When the database has been moved to another cluster, as a restored dump is, was copied to another store, or is the
/// target of an incomplete copy.
pub(crate) async fn recognise(connector: &Connector) -> anyhow::Result<()> {
    let mut connection = connector.connect().await?;
    let recorded = ensure_own_cluster(&mut connection).await?;
    let (epoch, level): (i64, i16) = deployment::table
        .select((deployment::epoch, deployment::feature_level))
        .get_result(&mut connection)
        .await?;
    if let Some(mark) = mark_of(&mut connection).await? {
        bail!("{}", mark.refusal());
    }
    let copies = deployment::table.select((deployment::begun_copy_id, deployment::origin_copy_id));
    let (begun, origin) = copies.get_result(&mut connection).await?;
    ensure_completed(begun, origin)?;
    connector.cluster().belongs_to(recorded);
    connector.cluster().note_epoch(epoch);
    connector.cluster().note_feature_level(FeatureLevel::numbered(level));
    match level.cmp(&FeatureLevel::NEWEST.number()) {
        Ordering::Less => tracing::warn!(
            level,
            "the upgrade is not finalized: commands that need the new version are refused until \
             `cuepoint finalize-upgrade` is run"
        ),
        Ordering::Greater => tracing::warn!(
            level,
            newest = FeatureLevel::NEWEST.number(),
            "the upgrade to a later version was finalized: this server ignores the values that only the later version \
             knows"
        ),
        Ordering::Equal => {}
    }
    Ok(())
}
