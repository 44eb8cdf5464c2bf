//! The searches for webhook endpoints with work, and for their oldest failed delivery.

use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::EndpointState;
use cuepoint_store_sql::schema::webhook_endpoints;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};

use crate::SqliteStore;
use crate::tables::webhooks::is_free;

/// Whether an endpoint may have something to deliver, with the time in between. For an idle one, three probes of
/// indexes find nothing.
const HAS_WORK: [&str; 2] = [
    "(replay_until IS NOT NULL \
     OR EXISTS (SELECT 1 FROM webhook_deliveries \
        WHERE endpoint_id = webhook_endpoints.id AND next_at <= ",
    ") OR feed = 'all' AND cursor < (SELECT max(position) FROM operations) \
     OR feed = 'own' AND ( \
        EXISTS (SELECT 1 FROM operations \
            WHERE operations.owner_id = webhook_endpoints.owner_id AND position > cursor) \
        OR EXISTS (SELECT 1 FROM operations \
            WHERE dj_id = webhook_endpoints.owner_id AND position > cursor)))",
];

/// The condition of an endpoint whose owner may receive its feed, as `WebhookEndpoint::may_deliver` decides; a test
/// compares both.
const MAY_RECEIVE: &str = "EXISTS (SELECT 1 FROM users WHERE users.id = webhook_endpoints.owner_id \
    AND users.erased_at IS NULL AND users.suspended_at IS NULL \
    AND (webhook_endpoints.feed = 'own' OR users.role = 'operator'))";

impl SqliteStore {
    /// The ids of endpoints: see [`cuepoint_domain::ports::WebhookEndpoints::endpoints_with_work`].
    pub(crate) async fn ids_with_work(&self, now: Timestamp, limit: u32) -> Result<Vec<i64>, Unavailable> {
        let search = move |connection: &mut SqliteConnection| {
            let [until_time, rest] = HAS_WORK;
            let ids: Vec<i64> = webhook_endpoints::table
                .filter(webhook_endpoints::state.eq(EndpointState::Active.name()))
                .filter(is_free(now))
                .filter(sql::<Bool>(MAY_RECEIVE))
                .filter(sql::<Bool>(until_time).bind::<BigInt, _>(now.unix_micros()).sql(rest))
                .order((webhook_endpoints::leased_until, webhook_endpoints::id))
                .limit(i64::from(limit))
                .select(webhook_endpoints::id)
                .load(connection)?;
            Ok(ids)
        };
        self.readers.read_elsewhere(search).await
    }

    /// A time: see [`cuepoint_domain::ports::WebhookEndpoints::oldest_failed_delivery`].
    pub(crate) async fn oldest_failed(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.readers.read(|connection| {
            // The first one in the index for each endpoint, however many wait for those that are not active.
            let oldest = "min((SELECT min(failed_at) FROM webhook_deliveries \
                WHERE endpoint_id = webhook_endpoints.id AND next_at IS NOT NULL))";
            let oldest: Option<i64> = webhook_endpoints::table
                .filter(webhook_endpoints::state.eq(EndpointState::Active.name()))
                .select(sql::<Nullable<BigInt>>(oldest))
                .get_result(connection)?;
            Ok(oldest.map(Timestamp::from_unix_micros))
        })
    }
}
