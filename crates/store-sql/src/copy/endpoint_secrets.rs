//! The secrets of webhook endpoints in the source of a copy. They are useless without the keys that encrypted them.

use anyhow::Context;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::webhook::{DisabledReason, SealedSecret};

use super::endpoint::CopySession;
use super::value::{CopiedRow, Value};
use super::{BATCH, key};
use crate::rows::current_secret;
use crate::schema::TABLES;
use crate::table::Table;

/// Accepts the current secrets of all endpoints, except those that were disabled for a lost secret, or refuses the
/// copy.
pub type AcceptSecrets<'a> =
    &'a (dyn Fn(&[(WebhookEndpointId, SealedSecret)]) -> anyhow::Result<()> + Send + Sync);

/// Reads the secrets.
pub(super) async fn read(
    source: &mut dyn CopySession,
) -> anyhow::Result<Vec<(WebhookEndpointId, SealedSecret)>> {
    let table = TABLES.iter().find(|table| table.name == "webhook_endpoints").context("no endpoints")?;
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let rows = source.read(table, after.as_deref(), BATCH).await?;
        let Some(last) = rows.last() else { return Ok(found) };
        after = Some(key(table, last));
        for row in &rows {
            found.extend(secret(table, row)?);
        }
    }
}

/// The secret of an endpoint; `None` if it was lost before.
fn secret(table: &Table, row: &CopiedRow) -> anyhow::Result<Option<(WebhookEndpointId, SealedSecret)>> {
    let value = |name| table.columns.iter().position(|column| column.name == name).and_then(|at| row.get(at));
    if value("disabled_reason") == Some(&Value::Text(Some(DisabledReason::SecretLost.name().to_owned()))) {
        return Ok(None);
    }
    match (value("id"), value("secrets")) {
        (Some(Value::Integer(Some(id))), Some(Value::Text(Some(secrets)))) => {
            let id = WebhookEndpointId::new(*id).context("the id of a webhook endpoint")?;
            Ok(Some((id, current_secret(secrets)?)))
        }
        _ => Ok(None),
    }
}
