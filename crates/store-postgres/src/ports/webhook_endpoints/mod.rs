//! Webhook endpoints, and the progress of deliveries to them.

mod changes;

use std::slice::from_ref;

use async_trait::async_trait;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{UserId, WebhookEndpointId};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate, Unavailable, WebhookEndpoints};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::User;
use cuepoint_domain::webhook::{
    Attempt, EndpointChange, FailedDelivery, Lease, NewEndpoint, Turn, WebhookEndpoint,
};
use cuepoint_store_sql::rows::{
    Corrupt, StoredUser, StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, known,
};
use cuepoint_store_sql::schema::{users, webhook_attempts, webhook_deliveries, webhook_endpoints};
use cuepoint_store_sql::sql_types::{ColumnTime, UtcTime};
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use diesel_async::{AsyncConnection, RunQueryDsl};

use crate::PostgresStore;
use crate::reads::{Counted, LastIdFirst, LastNumberFirst, columns, limits, paged};
use crate::statement::statement;

statement! {
    /// The active endpoints that no server has leased and that may have something to deliver.
    EndpointsWithWork("with_work.sql") [
        now: UtcTime as Timestamp,
        limit: BigInt as i64,
        ahead: UtcTime as Timestamp,
    ] -> BigInt
}

statement! {
    /// The time of the first attempt of the oldest delivery that is to be repeated, of all active endpoints.
    OldestFailed("oldest_failed.sql") [] -> Nullable<UtcTime>
}

/// The endpoints for a feed, of one owner or of all.
fn listed(feed: Feed, owner: Option<UserId>) -> IntoBoxed<'static, webhook_endpoints::table, Pg> {
    let listed = webhook_endpoints::table.filter(webhook_endpoints::feed.eq(feed.name())).into_boxed();
    match owner {
        Some(owner) => listed.filter(webhook_endpoints::owner_id.eq(owner.get())),
        None => listed,
    }
}

#[async_trait]
impl WebhookEndpoints for PostgresStore {
    async fn add_endpoint(
        &self,
        id: WebhookEndpointId,
        new: &NewEndpoint,
    ) -> Result<EndpointAddition, Unavailable> {
        let added = self.database.write(async |connection| {
            connection
                .transaction(async |connection| changes::add(connection, id, new, &self.currency).await)
                .await
        });
        Ok(added.await?)
    }

    async fn endpoint(&self, id: WebhookEndpointId) -> Result<Option<WebhookEndpoint>, Unavailable> {
        let row: Option<StoredWebhookEndpoint> = self
            .database
            .read(async |mut connection| {
                let endpoint =
                    webhook_endpoints::table.find(id.get()).select(StoredWebhookEndpoint::as_select());
                Ok(endpoint.get_result(&mut connection).await.optional()?)
            })
            .await?;
        row.map(StoredWebhookEndpoint::endpoint).transpose().map_err(Unavailable::new)
    }

    async fn endpoints(
        &self,
        feed: Feed,
        owner: Option<UserId>,
        asked: PageRequest,
    ) -> Result<Rows<WebhookEndpoint>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredWebhookEndpoint> = self
            .database
            .read(async |connection| {
                let page = listed(feed, owner)
                    .order(webhook_endpoints::id.desc())
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredWebhookEndpoint>());
                paged!(connection, listed(feed, owner).count(), page, LastIdFirst, offset)
            })
            .await?;
        counted.page(StoredWebhookEndpoint::endpoint).map_err(Unavailable::new)
    }

    async fn endpoints_after(
        &self,
        after: Option<WebhookEndpointId>,
        limit: u32,
    ) -> Result<Vec<WebhookEndpoint>, Unavailable> {
        let rows: Vec<StoredWebhookEndpoint> = self
            .database
            .read(async |mut connection| {
                let later = webhook_endpoints::table
                    .filter(webhook_endpoints::id.gt(after.map_or(0, WebhookEndpointId::get)))
                    .order(webhook_endpoints::id)
                    .limit(i64::from(limit))
                    .select(StoredWebhookEndpoint::as_select());
                Ok(later.load(&mut connection).await?)
            })
            .await?;
        let endpoints = rows.into_iter().map(StoredWebhookEndpoint::endpoint);
        endpoints.collect::<Result<_, _>>().map_err(Unavailable::new)
    }

    async fn change_endpoint(
        &self,
        id: WebhookEndpointId,
        change: &EndpointChange,
    ) -> Result<EndpointUpdate, Unavailable> {
        let level = self.database.cluster().feature_level();
        let changed = self.database.write(async |connection| {
            connection
                .transaction(async |connection| changes::change(connection, id, change, level).await)
                .await
        });
        Ok(changed.await?)
    }

    async fn remove_endpoint(&self, id: WebhookEndpointId) -> Result<bool, Unavailable> {
        while self.database.write(async |connection| changes::forget_deliveries(connection, id).await).await?
        {
        }
        let removed = self
            .database
            .write(async |connection| {
                Ok(diesel::delete(webhook_endpoints::table.find(id.get())).execute(connection).await?)
            })
            .await?;
        Ok(removed > 0)
    }

    async fn attempts(
        &self,
        id: WebhookEndpointId,
        asked: PageRequest,
    ) -> Result<Rows<Attempt>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<StoredWebhookAttempt> = self
            .database
            .read(async |connection| {
                let own = webhook_attempts::table.filter(webhook_attempts::endpoint_id.eq(id.get()));
                let page = own
                    .order(webhook_attempts::number.desc())
                    .limit(limit)
                    .offset(offset)
                    .select(columns::<StoredWebhookAttempt>());
                paged!(connection, own.count(), page, LastNumberFirst, offset)
            })
            .await?;
        counted.page(StoredWebhookAttempt::attempt).map_err(Unavailable::new)
    }

    async fn add_attempt(&self, id: WebhookEndpointId, attempt: &Attempt) -> Result<(), Unavailable> {
        let added = self.database.write(async |connection| {
            connection
                .transaction(async |connection| {
                    changes::add_attempts(connection, id, from_ref(attempt)).await
                })
                .await
        });
        Ok(added.await?)
    }

    async fn repeat_given_up(&self, id: WebhookEndpointId, now: Timestamp) -> Result<u64, Unavailable> {
        let (mut all, mut after) = (0_u64, 0);
        loop {
            let repeated = self
                .database
                .write(async |connection| {
                    let repeat =
                        async |connection: &mut _| changes::repeat_given_up(connection, id, after, now).await;
                    connection.transaction(repeat).await
                })
                .await?;
            all = all.saturating_add(u64::try_from(repeated.len()).unwrap_or(u64::MAX));
            match repeated.last() {
                Some(last) if repeated.len() >= changes::BATCH => after = *last,
                _ => return Ok(all),
            }
        }
    }

    async fn endpoints_with_work(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WebhookEndpointId>, Unavailable> {
        let ids: Vec<i64> = self
            .database
            .read(async |mut connection| {
                let ahead = now.plus(WebhookEndpoint::LEASED_FOR_LESS_THAN);
                let search = EndpointsWithWork { now, limit: i64::from(limit), ahead };
                Ok(search.load(&mut connection).await?)
            })
            .await?;
        let ids = ids.into_iter().map(|id| known("webhook_endpoints.id", WebhookEndpointId::new(id)));
        ids.collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the server adds, and refuses a sum that does not fit"
    )]
    async fn lease_endpoint(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>, Unavailable> {
        let number: Option<i64> = self
            .database
            .write(async |connection| {
                let ahead = now.plus(WebhookEndpoint::LEASED_FOR_LESS_THAN);
                let until_now = webhook_endpoints::leased_until.le(ColumnTime(now));
                let is_ahead = webhook_endpoints::leased_until.ge(ColumnTime(ahead));
                let is_free = webhook_endpoints::leased_until.is_null().or(until_now).or(is_ahead);
                let leased = diesel::update(webhook_endpoints::table.find(id.get()).filter(is_free))
                    .set((
                        webhook_endpoints::lease.eq(webhook_endpoints::lease + 1),
                        webhook_endpoints::leased_until.eq(ColumnTime(until)),
                    ))
                    .returning(webhook_endpoints::lease);
                Ok(leased.get_result(connection).await.optional()?)
            })
            .await?;
        Ok(number.map(|number| Lease { endpoint: id, number }))
    }

    async fn leased_endpoint(&self, lease: Lease) -> Result<Option<(WebhookEndpoint, User)>, Unavailable> {
        let read = self.database.read(async |mut connection| {
            let both: Option<(StoredWebhookEndpoint, StoredUser)> = webhook_endpoints::table
                .inner_join(users::table)
                .filter(webhook_endpoints::id.eq(lease.endpoint.get()))
                .filter(webhook_endpoints::lease.eq(lease.number))
                .select((StoredWebhookEndpoint::as_select(), StoredUser::as_select()))
                .get_result(&mut connection)
                .await
                .optional()?;
            let Some((endpoint, owner)) = both else { return Ok(None) };
            Ok(Some((endpoint.endpoint()?, owner.user(&self.currency)?)))
        });
        Ok(read.await?)
    }

    async fn due_deliveries(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<FailedDelivery>, Unavailable> {
        let rows: Vec<StoredWebhookDelivery> = self
            .database
            .read(async |mut connection| {
                let due = webhook_deliveries::table
                    .filter(webhook_deliveries::endpoint_id.eq(id.get()))
                    .filter(webhook_deliveries::next_at.le(ColumnTime(now)))
                    .order((webhook_deliveries::next_at, webhook_deliveries::position))
                    .limit(i64::from(limit))
                    .select(StoredWebhookDelivery::as_select());
                Ok(due.load(&mut connection).await?)
            })
            .await?;
        let due = rows.into_iter().map(StoredWebhookDelivery::delivery);
        due.collect::<Result<_, _>>().map_err(Unavailable::new)
    }

    async fn end_turn(
        &self,
        lease: Lease,
        leased_until: Timestamp,
        turn: &Turn,
    ) -> Result<bool, Unavailable> {
        let ended = self.database.write(async |connection| {
            connection
                .transaction(async |connection| {
                    changes::end_turn(connection, lease, leased_until, turn).await
                })
                .await
        });
        Ok(ended.await?)
    }

    async fn oldest_failed_delivery(&self) -> Result<Option<Timestamp>, Unavailable> {
        let oldest: Option<Timestamp> = self
            .database
            .read_by_pool(async |mut connection| Ok(OldestFailed {}.get_result(&mut connection).await?))
            .await?;
        Ok(oldest)
    }
}
