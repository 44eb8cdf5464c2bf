//! Changes of webhook endpoints, failed deliveries and attempts, in transactions that lock the row of the
//! endpoint first.

use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Position;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{
    Attempt, EndpointChange, KnownCreation, Lease, NewEndpoint, PresentedCreation, Turn, WebhookEndpoint,
};
use cuepoint_store_sql::rows::{
    StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, StoredWebhookEndpointRecord, known,
};
use cuepoint_store_sql::schema::{users, webhook_attempts, webhook_deliveries, webhook_endpoints};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::connect::failure::DatabaseFailure;
use crate::tables::positions::newest_position;
use crate::tables::sessions::is_live;
use crate::tables::users::lock;
use crate::writer::Insert;

/// Adds an endpoint: see [`cuepoint_domain::ports::WebhookEndpoints::add_endpoint`]. The owner is locked, so that
/// concurrent additions count and recognise each other, and none outlives an erasure.
pub(super) async fn add(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
    new: &NewEndpoint,
    currency: &Currency,
) -> Result<EndpointAddition, DatabaseFailure> {
    let owner = lock(connection, new.owner, currency).await?;
    if !owner.is_some_and(|owner| owner.is_present()) {
        return Ok(EndpointAddition::NoRoom);
    }
    if !is_live(connection, new.session).await? {
        return Ok(EndpointAddition::SessionEnded);
    }
    if let Some(key) = &new.key
        && let Some(known) = known_creation(connection, key, new.at).await?
    {
        return Ok(known);
    }
    let alike = webhook_endpoints::table
        .filter(webhook_endpoints::owner_id.eq(new.owner.get()))
        .filter(webhook_endpoints::feed.eq(new.feed.name()));
    let number: i64 = alike.count().get_result(connection).await?;
    if number >= i64::from(WebhookEndpoint::MAX_PER_OWNER) {
        return Ok(EndpointAddition::NoRoom);
    }
    let cursor = known("operations.position", Position::new(newest_position(connection).await?))?;
    let record = StoredWebhookEndpointRecord::new(new, cursor);
    diesel::insert_into(webhook_endpoints::table)
        .values((webhook_endpoints::id.eq(id.get()), &record))
        .execute(connection)
        .await?;
    Ok(EndpointAddition::Added(Box::new(WebhookEndpoint::new(id, cursor, new.clone()))))
}

/// The answer to a key that is known; a key that has expired is removed.
async fn known_creation(
    connection: &mut AsyncPgConnection,
    key: &PresentedCreation,
    now: Timestamp,
) -> Result<Option<EndpointAddition>, DatabaseFailure> {
    let row: Option<StoredWebhookEndpoint> = webhook_endpoints::table
        .filter(webhook_endpoints::creation_key.eq(key.scope.0.to_vec()))
        .for_no_key_update()
        .select(StoredWebhookEndpoint::as_select())
        .get_result(connection)
        .await
        .optional()?;
    let Some(row) = row else { return Ok(None) };
    let endpoint = row.endpoint()?;
    match endpoint.known_creation(key, now) {
        KnownCreation::Repeated => Ok(Some(EndpointAddition::Known(Box::new(endpoint)))),
        KnownCreation::OtherBody => Ok(Some(EndpointAddition::KeyReused)),
        KnownCreation::Expired => {
            let none = None::<Vec<u8>>;
            diesel::update(webhook_endpoints::table.find(endpoint.id.get()))
                .set((webhook_endpoints::creation_key.eq(&none), webhook_endpoints::creation_body.eq(&none)))
                .execute(connection)
                .await?;
            Ok(None)
        }
    }
}

/// Changes an endpoint: see [`cuepoint_domain::ports::WebhookEndpoints::change_endpoint`].
pub(super) async fn change(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
    change: &EndpointChange,
    level: FeatureLevel,
) -> Result<EndpointUpdate, DatabaseFailure> {
    if let EndpointChange::Settings { by, .. } = change {
        // The author before their session, as in an erasure: an endpoint that becomes theirs references them.
        let _: Option<i64> = users::table
            .find(by.user.get())
            .for_key_share()
            .select(users::id)
            .get_result(connection)
            .await
            .optional()?;
        if !is_live(connection, by.session).await? {
            return Ok(EndpointUpdate::SessionEnded);
        }
    }
    let kept = webhook_endpoints::table.find(id.get());
    let row: Option<StoredWebhookEndpoint> = kept
        .for_no_key_update()
        .select(StoredWebhookEndpoint::as_select())
        .get_result(connection)
        .await
        .optional()?;
    let Some(row) = row else { return Ok(EndpointUpdate::Missing) };
    let (before, after, record) = row.changed(|endpoint| endpoint.changed(change, level))?;
    if after != before {
        diesel::update(kept).set(record).execute(connection).await?;
    }
    Ok(EndpointUpdate::Done { before: Box::new(before), after: Box::new(after) })
}

/// Records a turn and ends its lease; returns whether it is the newest lease of its endpoint.
pub(super) async fn end_turn(
    connection: &mut AsyncPgConnection,
    lease: Lease,
    leased_until: Timestamp,
    turn: &Turn,
) -> Result<bool, DatabaseFailure> {
    let id = lease.endpoint;
    let kept = webhook_endpoints::table.find(id.get());
    let row: Option<StoredWebhookEndpoint> = kept
        .filter(webhook_endpoints::lease.eq(lease.number))
        .for_no_key_update()
        .select(StoredWebhookEndpoint::as_select())
        .get_result(connection)
        .await
        .optional()?;
    let Some(row) = row else { return Ok(false) };
    let (_, _, record) = row.changed(|endpoint| endpoint.after_turn(turn))?;
    let ended = webhook_endpoints::leased_until.eq(ColumnTime(leased_until));
    diesel::update(kept).set((record, ended)).execute(connection).await?;
    replace_failed(connection, id, turn).await?;
    if turn.failed.iter().any(|failed| failed.next_at.is_none()) {
        drop_given_up(connection, id).await?;
    }
    add_attempts(connection, id, &turn.attempts).await?;
    Ok(true)
}

/// Removes the failed deliveries that a turn settled or that failed again, and adds those that failed.
async fn replace_failed(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
    turn: &Turn,
) -> Result<(), DatabaseFailure> {
    let failed = turn.failed.iter().map(|failed| failed.position);
    let positions: Vec<i64> = failed.chain(turn.settled.iter().copied()).map(Position::get).collect();
    if positions.is_empty() {
        return Ok(());
    }
    let earlier = webhook_deliveries::table
        .filter(webhook_deliveries::endpoint_id.eq(id.get()))
        .filter(webhook_deliveries::position.eq_any(positions));
    diesel::delete(earlier).execute(connection).await?;
    let rows = turn.failed.iter().map(|failed| StoredWebhookDelivery::of(id, failed));
    rows.collect::<Insert<StoredWebhookDelivery>>().execute(connection).await?;
    Ok(())
}

/// Drops the oldest of too many deliveries that were given up.
async fn drop_given_up(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
) -> Result<(), DatabaseFailure> {
    let given_up = webhook_deliveries::table
        .filter(webhook_deliveries::endpoint_id.eq(id.get()))
        .filter(webhook_deliveries::next_at.is_null());
    let newest: Option<i64> = given_up
        .order(webhook_deliveries::position.desc())
        .offset(i64::from(WebhookEndpoint::GIVEN_UP_KEPT))
        .select(webhook_deliveries::position)
        .first(connection)
        .await
        .optional()?;
    if let Some(newest) = newest {
        let oldest = given_up.filter(webhook_deliveries::position.le(newest));
        diesel::delete(oldest).execute(connection).await?;
    }
    Ok(())
}

/// Adds attempts if the endpoint exists, and deletes those that are no longer among the newest.
#[expect(clippy::arithmetic_side_effects, reason = "the server adds, and refuses a sum that does not fit")]
pub(super) async fn add_attempts(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
    attempts: &[Attempt],
) -> Result<(), DatabaseFailure> {
    if attempts.is_empty() {
        return Ok(());
    }
    let more = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
    let newest: Option<i64> = diesel::update(webhook_endpoints::table.find(id.get()))
        .set(webhook_endpoints::attempts.eq(webhook_endpoints::attempts + more))
        .returning(webhook_endpoints::attempts)
        .get_result(connection)
        .await
        .optional()?;
    let Some(newest) = newest else { return Ok(()) };
    let numbers = newest.saturating_sub(more).saturating_add(1)..;
    let rows = numbers.zip(attempts).map(|(number, attempt)| StoredWebhookAttempt::of(id, number, attempt));
    rows.collect::<Insert<StoredWebhookAttempt>>().execute(connection).await?;
    let last_deleted = newest.saturating_sub(i64::from(WebhookEndpoint::ATTEMPTS_KEPT));
    let older = webhook_attempts::table
        .filter(webhook_attempts::endpoint_id.eq(id.get()))
        .filter(webhook_attempts::number.le(last_deleted));
    diesel::delete(older).execute(connection).await?;
    Ok(())
}

/// The maximum number of deliveries that a statement changes, so that none takes long.
pub(super) const BATCH: usize = 1_000;

fn batch() -> i64 {
    i64::try_from(BATCH).unwrap_or(i64::MAX)
}

/// Makes a batch of the deliveries after a position that were given up due now, and returns their positions.
pub(super) async fn repeat_given_up(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
    after: i64,
    now: Timestamp,
) -> Result<Vec<i64>, DatabaseFailure> {
    let endpoint = webhook_endpoints::table.find(id.get()).for_no_key_update();
    let locked: Option<i64> =
        endpoint.select(webhook_endpoints::id).get_result(connection).await.optional()?;
    let Some(id) = locked else { return Ok(Vec::new()) };
    let own = webhook_deliveries::table.filter(webhook_deliveries::endpoint_id.eq(id));
    let given_up: Vec<i64> = own
        .filter(webhook_deliveries::position.gt(after))
        .filter(webhook_deliveries::next_at.is_null())
        .order(webhook_deliveries::position)
        .limit(batch())
        .select(webhook_deliveries::position)
        .load(connection)
        .await?;
    diesel::update(own.filter(webhook_deliveries::position.eq_any(&given_up)))
        .set((webhook_deliveries::attempts.eq(0), webhook_deliveries::next_at.eq(ColumnTime(now))))
        .execute(connection)
        .await?;
    Ok(given_up)
}

/// Deletes a batch of the failed deliveries of an endpoint; `true` if more may follow.
pub(super) async fn forget_deliveries(
    connection: &mut AsyncPgConnection,
    id: WebhookEndpointId,
) -> Result<bool, DatabaseFailure> {
    let own = webhook_deliveries::table.filter(webhook_deliveries::endpoint_id.eq(id.get()));
    let positions: Vec<i64> =
        own.limit(batch()).select(webhook_deliveries::position).load(connection).await?;
    let forgotten = diesel::delete(own.filter(webhook_deliveries::position.eq_any(positions)))
        .execute(connection)
        .await?;
    Ok(forgotten >= BATCH)
}
