//! The searches for webhook endpoints with work, and for their oldest failed delivery.

use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::WebhookEndpoint;
use cuepoint_store_sql::sql_types::UtcTime;
use diesel::sql_types::{BigInt, Nullable};
use diesel_async::RunQueryDsl;

use crate::PostgresStore;
use crate::statement::statement;

statement! {
    /// The active endpoints that no server has leased and that may have something to deliver.
    EndpointsWithWork("endpoints_with_work.sql") [
        now: UtcTime as Timestamp,
        limit: BigInt as i64,
        ahead: UtcTime as Timestamp,
    ] -> BigInt
}

statement! {
    /// The time of the first attempt of the oldest delivery that is to be repeated, of all active endpoints.
    OldestFailed("oldest_failed_delivery.sql") [] -> Nullable<UtcTime>
}

impl PostgresStore {
    /// The ids of endpoints: see [`cuepoint_domain::ports::WebhookEndpoints::endpoints_with_work`].
    pub(crate) async fn ids_with_work(&self, now: Timestamp, limit: u32) -> Result<Vec<i64>, Unavailable> {
        self.read((now, i64::from(limit)), async |mut connection, (now, limit)| {
            let ahead = now.plus(WebhookEndpoint::LEASED_FOR_LESS_THAN);
            Ok(EndpointsWithWork { now, limit, ahead }.load(&mut connection).await?)
        })
        .await
    }

    /// A time: see [`cuepoint_domain::ports::WebhookEndpoints::oldest_failed_delivery`].
    pub(crate) async fn oldest_failed(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.read_aside((), async |mut connection, ()| {
            Ok(OldestFailed {}.get_result(&mut connection).await?)
        })
        .await
    }
}
