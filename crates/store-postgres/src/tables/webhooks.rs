//! Rows of `webhook_endpoints`, as ends of sessions change them.

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{DisabledReason, EndpointChange, EndpointState};
use cuepoint_store_sql::rows::StoredWebhookEndpoint;
use cuepoint_store_sql::schema::webhook_endpoints;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::connect::failure::DatabaseFailure;

/// Disables the active endpoints of a user for their own events: all of them, or only the ones with a URL that a
/// session set. To avoid deadlocks, they are locked by id, after the sessions.
pub(crate) async fn disable_own(
    connection: &mut AsyncPgConnection,
    user: UserId,
    session: Option<SessionId>,
    at: Timestamp,
    level: FeatureLevel,
) -> Result<(), DatabaseFailure> {
    let rows: Vec<StoredWebhookEndpoint> = webhook_endpoints::table
        .filter(webhook_endpoints::owner_id.eq(user.get()))
        .filter(webhook_endpoints::feed.eq(Feed::Own.name()))
        .filter(webhook_endpoints::state.eq(EndpointState::Active.name()))
        .order(webhook_endpoints::id)
        .for_no_key_update()
        .select(StoredWebhookEndpoint::as_select())
        .load(connection)
        .await?;
    let disable = EndpointChange::Disable { reason: DisabledReason::Security, at };
    for row in rows {
        if session.is_some_and(|session| row.record.url_session_id != Some(session.get())) {
            continue;
        }
        let kept = webhook_endpoints::table.find(row.id);
        let (_, _, record) = row.changed(|endpoint| endpoint.changed(&disable, level))?;
        diesel::update(kept).set(record).execute(connection).await?;
    }
    Ok(())
}
