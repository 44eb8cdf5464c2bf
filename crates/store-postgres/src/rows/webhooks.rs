//! Webhook endpoints, failed deliveries to them, and attempts.

use cuepoint_domain::webhook::{Attempt, FailedDelivery, WebhookEndpoint};
use cuepoint_store_sql::rows::{
    StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, StoredWebhookEndpointRecord,
};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bytea, Integer, Nullable, Text, Timestamptz};
use time::OffsetDateTime;

use super::table_row::{row_value, table_row};

table_row! {
    /// A webhook endpoint before it has an id. Its lease and the number of its attempts are no columns of it.
    #[derive(Insertable, AsChangeset)]
    #[diesel(treat_none_as_null = true)]
    webhook_endpoints: WebhookEndpointRecordRow = StoredWebhookEndpointRecord {
        owner_id: BigInt as i64,
        feed: Text as String,
        url: Text as String,
        types: Nullable<Text> as Option<String>,
        description: Nullable<Text> as Option<String>,
        state: Text as String,
        disabled_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        disabled_reason: Nullable<Text> as Option<String>,
        secrets: Text as String,
        cursor: BigInt as i64,
        replay_after: Nullable<BigInt> as Option<i64>,
        replay_until: Nullable<BigInt> as Option<i64>,
        failing_since: Nullable<Timestamptz> as Option<OffsetDateTime>,
        created_at: Timestamptz as OffsetDateTime,
        url_session_id: Nullable<BigInt> as Option<i64>,
        creation_key: Nullable<Bytea> as Option<Vec<u8>>,
        creation_body: Nullable<Bytea> as Option<Vec<u8>>,
    }
}

table_row! {
    /// A webhook endpoint.
    webhook_endpoints: WebhookEndpointRow = StoredWebhookEndpoint {
        id: BigInt as i64,
    }
    + record: WebhookEndpointRecordRow
}

row_value!(WebhookEndpointRow = StoredWebhookEndpoint: read WebhookEndpoint, endpoint);

table_row! {
    /// A failed delivery.
    webhook_deliveries: WebhookDeliveryRow = StoredWebhookDelivery {
        endpoint_id: BigInt as i64,
        position: BigInt as i64,
        attempts: Integer as i32,
        next_at: Nullable<Timestamptz> as Option<OffsetDateTime>,
        failed_at: Timestamptz as OffsetDateTime,
    }
}

row_value!(WebhookDeliveryRow = StoredWebhookDelivery: read FailedDelivery, delivery);

table_row! {
    /// An attempt.
    webhook_attempts: WebhookAttemptRow = StoredWebhookAttempt {
        endpoint_id: BigInt as i64,
        number: BigInt as i64,
        position: Nullable<BigInt> as Option<i64>,
        event_type: Nullable<Text> as Option<String>,
        attempt: Integer as i32,
        status: Nullable<Integer> as Option<i32>,
        error: Nullable<Text> as Option<String>,
        milliseconds: Integer as i32,
        answer: Nullable<Text> as Option<String>,
        at: Timestamptz as OffsetDateTime,
    }
}

row_value!(WebhookAttemptRow = StoredWebhookAttempt: read Attempt, attempt);
