//! Webhook endpoints, and the progress of deliveries to them.

use async_trait::async_trait;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{UserId, WebhookEndpointId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate, Unavailable, WebhookEndpoints};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::webhook::{
    Attempt, EndpointChange, EndpointState, FailedDelivery, Lease, NewEndpoint, Turn, WebhookEndpoint,
};
use cuepoint_store_sql::rows::{
    Corrupt, StoredUser, StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, known,
};
use cuepoint_store_sql::schema::{users, webhook_attempts, webhook_deliveries, webhook_endpoints};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::sql;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable};
use diesel::sqlite::Sqlite;

use super::lists::page;
use crate::SqliteStore;
use crate::tables::webhooks;
use crate::writer::Repetition;

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

/// The endpoints for a feed, of one owner or of all.
fn listed(feed: Feed, owner: Option<UserId>) -> IntoBoxed<'static, webhook_endpoints::table, Sqlite> {
    let listed = webhook_endpoints::table.filter(webhook_endpoints::feed.eq(feed.name())).into_boxed();
    match owner {
        Some(owner) => listed.filter(webhook_endpoints::owner_id.eq(owner.get())),
        None => listed,
    }
}

#[async_trait]
impl WebhookEndpoints for SqliteStore {
    async fn add_endpoint(
        &self,
        id: WebhookEndpointId,
        new: &NewEndpoint,
    ) -> Result<EndpointAddition, Unavailable> {
        let new = new.clone();
        // The key recognises an endpoint that was added.
        let repetition = if new.key.is_some() { Repetition::Repeatable } else { Repetition::Once };
        let add = move |connection: &mut SqliteConnection| webhooks::add(connection, id, &new);
        Ok(self.writer.change(repetition, add).await?)
    }

    async fn endpoint(&self, id: WebhookEndpointId) -> Result<Option<WebhookEndpoint>, Unavailable> {
        self.readers.read(|connection| {
            let row = webhook_endpoints::table.find(id.get()).select(StoredWebhookEndpoint::as_select());
            let row: Option<StoredWebhookEndpoint> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.endpoint()).transpose()?)
        })
    }

    async fn endpoints(
        &self,
        feed: Feed,
        owner: Option<UserId>,
        asked: PageRequest,
    ) -> Result<Rows<WebhookEndpoint>, Unavailable> {
        let last_first = webhook_endpoints::id.desc();
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, listed(feed, owner), last_first, StoredWebhookEndpoint, |row| row
                .endpoint())
        };
        self.readers.list(asked, page).await
    }

    async fn endpoints_after(
        &self,
        after: Option<WebhookEndpointId>,
        limit: u32,
    ) -> Result<Vec<WebhookEndpoint>, Unavailable> {
        self.readers.read(|connection| {
            let rows: Vec<StoredWebhookEndpoint> = webhook_endpoints::table
                .filter(webhook_endpoints::id.gt(after.map_or(0, WebhookEndpointId::get)))
                .order(webhook_endpoints::id)
                .limit(i64::from(limit))
                .select(StoredWebhookEndpoint::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(|row| row.endpoint()).collect::<Result<_, _>>()?)
        })
    }

    async fn change_endpoint(
        &self,
        id: WebhookEndpointId,
        change: &EndpointChange,
    ) -> Result<EndpointUpdate, Unavailable> {
        let change = change.clone();
        let change = move |connection: &mut SqliteConnection| webhooks::change(connection, id, &change);
        Ok(self.writer.change(Repetition::Once, change).await?)
    }

    async fn remove_endpoint(&self, id: WebhookEndpointId) -> Result<bool, Unavailable> {
        let forget = move |connection: &mut SqliteConnection| webhooks::forget_deliveries(connection, id);
        while self.writer.change(Repetition::Repeatable, forget).await? {}
        let remove = move |connection: &mut SqliteConnection| {
            Ok(diesel::delete(webhook_endpoints::table.find(id.get())).execute(connection)? > 0)
        };
        Ok(self.writer.change(Repetition::Once, remove).await?)
    }

    async fn attempts(
        &self,
        id: WebhookEndpointId,
        asked: PageRequest,
    ) -> Result<Rows<Attempt>, Unavailable> {
        let page = move |connection: &mut SqliteConnection| {
            let own = webhook_attempts::table.filter(webhook_attempts::endpoint_id.eq(id.get()));
            let last_first = webhook_attempts::number.desc();
            page!(connection, asked, own, last_first, StoredWebhookAttempt, |row| row.attempt())
        };
        self.readers.list(asked, page).await
    }

    async fn add_attempt(&self, id: WebhookEndpointId, attempt: &Attempt) -> Result<(), Unavailable> {
        let attempt = [attempt.clone()];
        let add = move |connection: &mut SqliteConnection| webhooks::add_attempts(connection, id, &attempt);
        Ok(self.writer.change(Repetition::Once, add).await?)
    }

    async fn repeat_given_up(&self, id: WebhookEndpointId, now: Timestamp) -> Result<u64, Unavailable> {
        let (mut all, mut after) = (0_u64, 0);
        loop {
            let repeat = move |connection: &mut SqliteConnection| {
                webhooks::repeat_given_up(connection, id, after, now)
            };
            let repeated = self.writer.change(Repetition::Once, repeat).await?;
            all = all.saturating_add(u64::try_from(repeated.len()).unwrap_or(u64::MAX));
            match repeated.last() {
                Some(last) if repeated.len() >= webhooks::BATCH => after = *last,
                _ => return Ok(all),
            }
        }
    }

    async fn endpoints_with_work(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WebhookEndpointId>, Unavailable> {
        let search = move |connection: &mut SqliteConnection| {
            let [until_time, rest] = HAS_WORK;
            let ids: Vec<i64> = webhook_endpoints::table
                .filter(webhook_endpoints::state.eq(EndpointState::Active.name()))
                .filter(webhooks::is_free(now))
                .filter(sql::<Bool>(MAY_RECEIVE))
                .filter(sql::<Bool>(until_time).bind::<BigInt, _>(now.unix_micros()).sql(rest))
                .order((webhook_endpoints::leased_until, webhook_endpoints::id))
                .limit(i64::from(limit))
                .select(webhook_endpoints::id)
                .load(connection)?;
            let ids = ids.into_iter().map(|id| known("webhook_endpoints.id", WebhookEndpointId::new(id)));
            Ok(ids.collect::<Result<_, Corrupt>>()?)
        };
        self.readers.read_elsewhere(search).await
    }

    async fn lease_endpoint(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>, Unavailable> {
        let lease = move |connection: &mut SqliteConnection| webhooks::lease(connection, id, now, until);
        Ok(self.writer.change(Repetition::Once, lease).await?)
    }

    async fn leased_endpoint(&self, lease: Lease) -> Result<Option<(WebhookEndpoint, User)>, Unavailable> {
        self.readers.read(|connection| {
            let both: Option<(StoredWebhookEndpoint, StoredUser)> = webhook_endpoints::table
                .inner_join(users::table)
                .filter(webhook_endpoints::id.eq(lease.endpoint.get()))
                .filter(webhook_endpoints::lease.eq(lease.number))
                .select((StoredWebhookEndpoint::as_select(), StoredUser::as_select()))
                .get_result(connection)
                .optional()?;
            let Some((endpoint, owner)) = both else { return Ok(None) };
            Ok(Some((endpoint.endpoint()?, owner.user(&self.currency)?)))
        })
    }

    async fn due_deliveries(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<FailedDelivery>, Unavailable> {
        self.readers.read(|connection| {
            let rows: Vec<StoredWebhookDelivery> = webhook_deliveries::table
                .filter(webhook_deliveries::endpoint_id.eq(id.get()))
                .filter(webhook_deliveries::next_at.le(ColumnTime(now)))
                .order((webhook_deliveries::next_at, webhook_deliveries::position))
                .limit(i64::from(limit))
                .select(StoredWebhookDelivery::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(|row| row.delivery()).collect::<Result<_, _>>()?)
        })
    }

    async fn end_turn(
        &self,
        lease: Lease,
        leased_until: Timestamp,
        turn: &Turn,
    ) -> Result<bool, Unavailable> {
        let turn = turn.clone();
        let end = move |connection: &mut SqliteConnection| {
            webhooks::end_turn(connection, lease, leased_until, &turn)
        };
        Ok(self.writer.change(Repetition::Once, end).await?)
    }

    async fn oldest_failed_delivery(&self) -> Result<Option<Timestamp>, Unavailable> {
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
