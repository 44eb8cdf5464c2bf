//! Rows of webhook endpoints, failed deliveries and attempts, as changes write them. A transaction locks the row of the
//! endpoint first.

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId, WebhookEndpointId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::operation::Position;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{
    Attempt, DisabledReason, EndpointChange, EndpointState, KnownCreation, Lease, NewEndpoint,
    PresentedCreation, Turn, WebhookEndpoint,
};
use cuepoint_store_sql::rows::{
    StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, StoredWebhookEndpointRecord, known,
};
use cuepoint_store_sql::schema::{users, webhook_attempts, webhook_deliveries, webhook_endpoints};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{GtEq, IsNull, LtEq, Or};
use diesel::prelude::*;

use super::sessions::is_live;
use super::users::lock;
use crate::dialect::{Connection, RunQueryDsl, StoreFailure, insert, locked, newest_position, reading};

/// The type of the condition [`is_free`].
type Free = Or<
    Or<IsNull<webhook_endpoints::leased_until>, LtEq<webhook_endpoints::leased_until, ColumnTime>>,
    GtEq<webhook_endpoints::leased_until, ColumnTime>,
>;

/// The condition of an endpoint that no server has leased.
pub(crate) fn is_free(now: Timestamp) -> Free {
    let ahead = now.plus(WebhookEndpoint::LEASED_FOR_LESS_THAN);
    let ended = webhook_endpoints::leased_until.le(ColumnTime(now));
    let is_ahead = webhook_endpoints::leased_until.ge(ColumnTime(ahead));
    webhook_endpoints::leased_until.is_null().or(ended).or(is_ahead)
}

/// Adds an endpoint: see [`cuepoint_domain::ports::WebhookEndpoints::add_endpoint`]. The owner is locked, so that
/// concurrent additions count and recognise each other, and none outlives an erasure.
pub(crate) async fn add(
    connection: &mut Connection,
    id: WebhookEndpointId,
    new: &NewEndpoint,
    currency: &Currency,
) -> Result<EndpointAddition, StoreFailure> {
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
    let newest = newest_position(reading(connection)).await?;
    let cursor = known("operations.position", Position::new(newest))?;
    let record = StoredWebhookEndpointRecord::new(new, cursor);
    diesel::insert_into(webhook_endpoints::table)
        .values((webhook_endpoints::id.eq(id.get()), &record))
        .execute(connection)
        .await?;
    Ok(EndpointAddition::Added(Box::new(WebhookEndpoint::new(id, cursor, new.clone()))))
}

/// The answer to a key that is known; a key that has expired is removed.
async fn known_creation(
    connection: &mut Connection,
    key: &PresentedCreation,
    now: Timestamp,
) -> Result<Option<EndpointAddition>, StoreFailure> {
    let row = webhook_endpoints::table
        .filter(webhook_endpoints::creation_key.eq(key.scope.0.to_vec()))
        .select(StoredWebhookEndpoint::as_select());
    let row: Option<StoredWebhookEndpoint> =
        locked!(for_no_key_update, row).get_result(connection).await.optional()?;
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
pub(crate) async fn change(
    connection: &mut Connection,
    id: WebhookEndpointId,
    change: &EndpointChange,
    level: FeatureLevel,
) -> Result<EndpointUpdate, StoreFailure> {
    if let EndpointChange::Settings { by, .. } = change {
        // The author before their session, as in an erasure: an endpoint that becomes theirs references them.
        let author = users::table.find(by.user.get()).select(users::id);
        locked!(only for_key_share, author, connection);
        if !is_live(connection, by.session).await? {
            return Ok(EndpointUpdate::SessionEnded);
        }
    }
    let kept = webhook_endpoints::table.find(id.get());
    let row = locked!(for_no_key_update, kept.select(StoredWebhookEndpoint::as_select()));
    let row: Option<StoredWebhookEndpoint> = row.get_result(connection).await.optional()?;
    let Some(row) = row else { return Ok(EndpointUpdate::Missing) };
    let (before, after, record) = row.changed(|endpoint| endpoint.changed(change, level))?;
    if after != before {
        diesel::update(kept).set(record).execute(connection).await?;
    }
    Ok(EndpointUpdate::Done { before: Box::new(before), after: Box::new(after) })
}

/// Disables the active endpoints of a user for their own events: all of them, or only the ones with a URL that a
/// session set. To avoid deadlocks, they are locked by id, after the sessions.
pub(crate) async fn disable_own(
    connection: &mut Connection,
    user: UserId,
    session: Option<SessionId>,
    at: Timestamp,
    level: FeatureLevel,
) -> Result<(), StoreFailure> {
    let active = webhook_endpoints::table
        .filter(webhook_endpoints::owner_id.eq(user.get()))
        .filter(webhook_endpoints::feed.eq(Feed::Own.name()))
        .filter(webhook_endpoints::state.eq(EndpointState::Active.name()))
        .order(webhook_endpoints::id)
        .select(StoredWebhookEndpoint::as_select());
    let rows: Vec<StoredWebhookEndpoint> = locked!(for_no_key_update, active).load(connection).await?;
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

/// Leases an endpoint that is free, and returns the number of the lease.
#[expect(clippy::arithmetic_side_effects, reason = "the database adds, and refuses a sum that does not fit")]
pub(crate) async fn lease(
    connection: &mut Connection,
    id: WebhookEndpointId,
    now: Timestamp,
    until: Timestamp,
) -> Result<Option<Lease>, StoreFailure> {
    let number: Option<i64> = diesel::update(webhook_endpoints::table.find(id.get()).filter(is_free(now)))
        .set((
            webhook_endpoints::lease.eq(webhook_endpoints::lease + 1),
            webhook_endpoints::leased_until.eq(ColumnTime(until)),
        ))
        .returning(webhook_endpoints::lease)
        .get_result(connection)
        .await
        .optional()?;
    Ok(number.map(|number| Lease { endpoint: id, number }))
}

/// Records a turn and ends its lease; returns whether it is the newest lease of its endpoint.
pub(crate) async fn end_turn(
    connection: &mut Connection,
    lease: Lease,
    leased_until: Timestamp,
    turn: &Turn,
) -> Result<bool, StoreFailure> {
    let id = lease.endpoint;
    let kept = webhook_endpoints::table.find(id.get());
    let row =
        kept.filter(webhook_endpoints::lease.eq(lease.number)).select(StoredWebhookEndpoint::as_select());
    let row: Option<StoredWebhookEndpoint> =
        locked!(for_no_key_update, row).get_result(connection).await.optional()?;
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
    connection: &mut Connection,
    id: WebhookEndpointId,
    turn: &Turn,
) -> Result<(), StoreFailure> {
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
    insert(connection, rows).await?;
    Ok(())
}

/// Drops the oldest of too many deliveries that were given up.
async fn drop_given_up(connection: &mut Connection, id: WebhookEndpointId) -> Result<(), StoreFailure> {
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
#[expect(clippy::arithmetic_side_effects, reason = "the database adds, and refuses a sum that does not fit")]
pub(crate) async fn add_attempts(
    connection: &mut Connection,
    id: WebhookEndpointId,
    attempts: &[Attempt],
) -> Result<(), StoreFailure> {
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
    insert(connection, rows).await?;
    let last_deleted = newest.saturating_sub(i64::from(WebhookEndpoint::ATTEMPTS_KEPT));
    let older = webhook_attempts::table
        .filter(webhook_attempts::endpoint_id.eq(id.get()))
        .filter(webhook_attempts::number.le(last_deleted));
    diesel::delete(older).execute(connection).await?;
    Ok(())
}

/// The maximum number of deliveries that a statement changes, so that none takes long.
pub(crate) const DELIVERIES_PER_BATCH: usize = 1_000;

fn batch() -> i64 {
    i64::try_from(DELIVERIES_PER_BATCH).unwrap_or(i64::MAX)
}

/// Makes a batch of the deliveries after a position that were given up due now, and returns their positions.
pub(crate) async fn repeat_given_up(
    connection: &mut Connection,
    id: WebhookEndpointId,
    after: i64,
    now: Timestamp,
) -> Result<Vec<i64>, StoreFailure> {
    let endpoint = webhook_endpoints::table.find(id.get()).select(webhook_endpoints::id);
    let endpoint: Option<i64> =
        locked!(for_no_key_update, endpoint).get_result(connection).await.optional()?;
    let Some(id) = endpoint else { return Ok(Vec::new()) };
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
pub(crate) async fn forget_deliveries(
    connection: &mut Connection,
    id: WebhookEndpointId,
) -> Result<bool, StoreFailure> {
    let own = webhook_deliveries::table.filter(webhook_deliveries::endpoint_id.eq(id.get()));
    let positions: Vec<i64> =
        own.limit(batch()).select(webhook_deliveries::position).load(connection).await?;
    let forgotten = diesel::delete(own.filter(webhook_deliveries::position.eq_any(positions)))
        .execute(connection)
        .await?;
    Ok(forgotten >= DELIVERIES_PER_BATCH)
}
