//! The deployment that a database belongs to.

use anyhow::ensure;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;

use crate::connection::Connector;
use crate::node::Node;
use crate::schema::deployment;

/// Notes which cluster the data belongs to, and its epoch; from then on no other cluster is connected to.
///
/// # Errors
/// When the database was moved to another cluster since, as a restored dump is.
pub(crate) async fn recognise(connector: &Connector) -> anyhow::Result<()> {
    let mut connection = connector.connect().await?;
    let node = Node::describe(&connection).await?;
    let (recorded, epoch): (i64, i64) = deployment::table
        .select((deployment::system_identifier, deployment::epoch))
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
    Ok(())
}
