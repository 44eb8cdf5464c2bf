//! Webhook endpoints, failed deliveries to them, and attempts.

use diesel::{AsChangeset, ExpressionMethods};

use crate::sql_types::{BigInt, Binary, ColumnTime, Integer, Nullable, Text, UtcTime};
use crate::table::{own, table};

/// Why an export omits deliveries and attempts.
const REPEATED: &str = "they repeat events, which are exported with their objects";

table! {
    /// A webhook endpoint.
    webhook_endpoints(id): StoredWebhookEndpoint {
        id: BigInt,
        + record,
        record.owner_id: BigInt,
        record.feed: Text,
        record.url: Text,
        /// The names of the types, separated by commas.
        record.types: Nullable<Text>,
        record.description: Nullable<Text>,
        record.state: Text,
        record.disabled_at: Nullable<UtcTime>,
        record.disabled_reason: Nullable<Text>,
        /// A line for each secret, the current one first: the secret and, after a space, the microseconds until
        /// which a previous one signs.
        record.secrets: Text omitted "a secret",
        record.cursor: BigInt,
        record.replay_after: Nullable<BigInt>,
        record.replay_until: Nullable<BigInt>,
        record.failing_since: Nullable<UtcTime>,
        #[diesel(serialize_as = ColumnTime)]
        record.created_at: UtcTime,
        lease [apart]: BigInt omitted "the lease of a server",
        leased_until [apart]: Nullable<UtcTime> omitted "the lease of a server",
        attempts [apart]: BigInt omitted "the number of attempts",
        record.url_session_id: Nullable<BigInt> omitted "the security event of the change names the session",
        /// The scope of the idempotency key of the creation.
        record.creation_key: Nullable<Binary> omitted "a checksum of the idempotency key",
        /// The keyed hash of the body of the creation.
        record.creation_body: Nullable<Binary> omitted "a checksum of the settings",
    }
    /// A webhook endpoint before it has an id.
    #[derive(AsChangeset)]
    #[diesel(table_name = webhook_endpoints, treat_none_as_null = true)]
    part record: StoredWebhookEndpointRecord;
    counter Generated webhook_endpoints_id_seq;
    mentions own("owner_id = {id}");
}

table! {
    /// A failed delivery.
    #[derive(Copy)]
    webhook_deliveries(endpoint_id, position): StoredWebhookDelivery {
        endpoint_id: BigInt omitted REPEATED,
        position: BigInt omitted REPEATED,
        attempts: Integer omitted REPEATED,
        next_at: Nullable<UtcTime> omitted REPEATED,
        failed_at: UtcTime omitted REPEATED,
    }
    mentions own("endpoint_id IN (SELECT id FROM webhook_endpoints WHERE owner_id = {id})");
}

table! {
    /// An attempt.
    webhook_attempts(endpoint_id, number): StoredWebhookAttempt {
        endpoint_id: BigInt omitted REPEATED,
        /// The number among the attempts of the endpoint.
        number: BigInt omitted REPEATED,
        position: Nullable<BigInt> omitted REPEATED,
        event_type: Nullable<Text> omitted REPEATED,
        /// The number among the attempts of the delivery.
        attempt: Integer omitted REPEATED,
        status: Nullable<Integer> omitted REPEATED,
        error: Nullable<Text> omitted REPEATED,
        milliseconds: Integer omitted REPEATED,
        answer: Nullable<Text> omitted REPEATED,
        at: UtcTime omitted REPEATED,
    }
    mentions own("endpoint_id IN (SELECT id FROM webhook_endpoints WHERE owner_id = {id})");
}
