//! Webhook endpoints, and the progress of deliveries to them.

use async_trait::async_trait;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{UserId, WebhookEndpointId};
use cuepoint_domain::money::Currency;
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
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::{Connection, Database, RunQueryDsl, columns, page};
use crate::tables::webhooks;

fn listed(feed: Feed, owner: Option<UserId>) -> IntoBoxed<'static, webhook_endpoints::table, Database> {
    let listed = webhook_endpoints::table.filter(webhook_endpoints::feed.eq(feed.name())).into_boxed();
    match owner {
        Some(owner) => listed.filter(webhook_endpoints::owner_id.eq(owner.get())),
        None => listed,
    }
}

/// An endpoint to be added, its id, and the currency.
type Addition = (WebhookEndpointId, NewEndpoint, Currency);

#[async_trait]
impl WebhookEndpoints for SqlStore {
    async fn add_endpoint(
        &self,
        id: WebhookEndpointId,
        new: &NewEndpoint,
    ) -> Result<EndpointAddition, Unavailable> {
        let input = (id, new.clone(), self.currency.clone());
        let add = async |connection: &mut Connection, (id, new, currency): Addition| {
            webhooks::add(connection, id, &new, &currency).await
        };
        // The key recognises an endpoint that was added.
        let added = if new.key.is_some() {
            self.transact_repeatable(input, add).await
        } else {
            self.transact(input, add).await
        };
        Ok(added?)
    }

    async fn endpoint(&self, id: WebhookEndpointId) -> Result<Option<WebhookEndpoint>, Unavailable> {
        self.read(id, async |mut connection, id| {
            let row = webhook_endpoints::table.find(id.get()).select(StoredWebhookEndpoint::as_select());
            let row: Option<StoredWebhookEndpoint> = row.get_result(&mut connection).await.optional()?;
            Ok(row.map(StoredWebhookEndpoint::endpoint).transpose()?)
        })
        .await
    }

    async fn endpoints(
        &self,
        feed: Feed,
        owner: Option<UserId>,
        asked: PageRequest,
    ) -> Result<Rows<WebhookEndpoint>, Unavailable> {
        self.list(asked, (feed, owner, asked), async |mut connection, (feed, owner, asked)| {
            page!(
                connection, asked, listed(feed, owner), webhook_endpoints::id.desc() => LastIdFirst,
                columns::<StoredWebhookEndpoint>() => StoredWebhookEndpoint, StoredWebhookEndpoint::endpoint
            )
        })
        .await
    }

    async fn endpoints_after(
        &self,
        after: Option<WebhookEndpointId>,
        limit: u32,
    ) -> Result<Vec<WebhookEndpoint>, Unavailable> {
        self.read((after, limit), async |mut connection, (after, limit)| {
            let rows: Vec<StoredWebhookEndpoint> = webhook_endpoints::table
                .filter(webhook_endpoints::id.gt(after.map_or(0, WebhookEndpointId::get)))
                .order(webhook_endpoints::id)
                .limit(i64::from(limit))
                .select(StoredWebhookEndpoint::as_select())
                .load(&mut connection)
                .await?;
            Ok(rows.into_iter().map(StoredWebhookEndpoint::endpoint).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn change_endpoint(
        &self,
        id: WebhookEndpointId,
        change: &EndpointChange,
    ) -> Result<EndpointUpdate, Unavailable> {
        let input = (id, change.clone(), self.feature_level());
        let changed = self.transact(input, async |connection, (id, change, level)| {
            webhooks::change(connection, id, &change, level).await
        });
        Ok(changed.await?)
    }

    async fn remove_endpoint(&self, id: WebhookEndpointId) -> Result<bool, Unavailable> {
        while self
            .write_repeatable(id, async |connection, id| webhooks::forget_deliveries(connection, id).await)
            .await?
        {}
        self.write(id, async |connection, id| {
            let removed = diesel::delete(webhook_endpoints::table.find(id.get()));
            Ok(removed.execute(connection).await? > 0)
        })
        .await
    }

    async fn attempts(
        &self,
        id: WebhookEndpointId,
        asked: PageRequest,
    ) -> Result<Rows<Attempt>, Unavailable> {
        self.list(asked, (id, asked), async |mut connection, (id, asked)| {
            let own = webhook_attempts::table.filter(webhook_attempts::endpoint_id.eq(id.get()));
            page!(
                connection, asked, own, webhook_attempts::number.desc() => LastNumberFirst,
                columns::<StoredWebhookAttempt>() => StoredWebhookAttempt, StoredWebhookAttempt::attempt
            )
        })
        .await
    }

    async fn add_attempt(&self, id: WebhookEndpointId, attempt: &Attempt) -> Result<(), Unavailable> {
        let added = self.transact((id, [attempt.clone()]), async |connection, (id, attempt)| {
            webhooks::add_attempts(connection, id, &attempt).await
        });
        Ok(added.await?)
    }

    async fn repeat_given_up(&self, id: WebhookEndpointId, now: Timestamp) -> Result<u64, Unavailable> {
        let (mut all, mut after) = (0_u64, 0);
        loop {
            let repeated = self.transact((id, after, now), async |connection, (id, after, now)| {
                webhooks::repeat_given_up(connection, id, after, now).await
            });
            let repeated = repeated.await?;
            all = all.saturating_add(u64::try_from(repeated.len()).unwrap_or(u64::MAX));
            match repeated.last() {
                Some(last) if repeated.len() >= webhooks::DELIVERIES_PER_BATCH => after = *last,
                _ => return Ok(all),
            }
        }
    }

    async fn endpoints_with_work(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WebhookEndpointId>, Unavailable> {
        let ids = self.ids_with_work(now, limit).await?;
        let ids = ids.into_iter().map(|id| known("webhook_endpoints.id", WebhookEndpointId::new(id)));
        ids.collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
    }

    async fn lease_endpoint(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<Lease>, Unavailable> {
        self.write((id, now, until), async |connection, (id, now, until)| {
            webhooks::lease(connection, id, now, until).await
        })
        .await
    }

    async fn leased_endpoint(&self, lease: Lease) -> Result<Option<(WebhookEndpoint, User)>, Unavailable> {
        self.read((lease, self.currency.clone()), async |mut connection, (lease, currency)| {
            let both: Option<(StoredWebhookEndpoint, StoredUser)> = webhook_endpoints::table
                .inner_join(users::table)
                .filter(webhook_endpoints::id.eq(lease.endpoint.get()))
                .filter(webhook_endpoints::lease.eq(lease.number))
                .select((StoredWebhookEndpoint::as_select(), StoredUser::as_select()))
                .get_result(&mut connection)
                .await
                .optional()?;
            let Some((endpoint, owner)) = both else { return Ok(None) };
            Ok(Some((endpoint.endpoint()?, owner.user(&currency)?)))
        })
        .await
    }

    async fn due_deliveries(
        &self,
        id: WebhookEndpointId,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<FailedDelivery>, Unavailable> {
        self.read((id, now, limit), async |mut connection, (id, now, limit)| {
            let rows: Vec<StoredWebhookDelivery> = webhook_deliveries::table
                .filter(webhook_deliveries::endpoint_id.eq(id.get()))
                .filter(webhook_deliveries::next_at.le(ColumnTime(now)))
                .order((webhook_deliveries::next_at, webhook_deliveries::position))
                .limit(i64::from(limit))
                .select(StoredWebhookDelivery::as_select())
                .load(&mut connection)
                .await?;
            Ok(rows.into_iter().map(StoredWebhookDelivery::delivery).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn end_turn(
        &self,
        lease: Lease,
        leased_until: Timestamp,
        turn: &Turn,
    ) -> Result<bool, Unavailable> {
        let input = (lease, leased_until, turn.clone());
        let ended = self.transact(input, async |connection, (lease, leased_until, turn)| {
            webhooks::end_turn(connection, lease, leased_until, &turn).await
        });
        Ok(ended.await?)
    }

    async fn oldest_failed_delivery(&self) -> Result<Option<Timestamp>, Unavailable> {
        self.oldest_failed().await
    }
}
