//! Rows of webhook endpoints, failed deliveries and attempts, as changes write them.

use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::{SessionId, UserId, WebhookEndpointId};
use cuepoint_domain::operation::Position;
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::ports::{EndpointAddition, EndpointUpdate};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::webhook::{
    Attempt, DisabledReason, EndpointChange, KnownCreation, Lease, NewEndpoint, PresentedCreation, Turn,
    WebhookEndpoint,
};
use cuepoint_store_sql::rows::{
    StoredWebhookAttempt, StoredWebhookDelivery, StoredWebhookEndpoint, StoredWebhookEndpointRecord,
    is_present, known,
};
use cuepoint_store_sql::schema::{users, webhook_attempts, webhook_deliveries, webhook_endpoints};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;

use super::operations::newest_position;
use super::sessions::is_live;
use crate::connect::failure::SqliteFailure;
use crate::dialect::at_once;
use crate::statements::Insert;

/// A condition on the rows of a table.
type Condition<Table> = Box<dyn BoxableExpression<Table, Sqlite, SqlType = Nullable<Bool>>>;

/// The condition of an endpoint that no server has leased.
pub(crate) fn is_free(now: Timestamp) -> Condition<webhook_endpoints::table> {
    let ahead = now.plus(WebhookEndpoint::LEASED_FOR_LESS_THAN);
    let ended = webhook_endpoints::leased_until.le(ColumnTime(now));
    let is_ahead = webhook_endpoints::leased_until.ge(ColumnTime(ahead));
    Box::new(webhook_endpoints::leased_until.is_null().or(ended).or(is_ahead))
}

/// Whether a user has the maximum number of endpoints for a feed.
fn has_most(connection: &mut SqliteConnection, owner: UserId, feed: Feed) -> QueryResult<bool> {
    let alike = webhook_endpoints::table
        .filter(webhook_endpoints::owner_id.eq(owner.get()))
        .filter(webhook_endpoints::feed.eq(feed.name()));
    let number: i64 = alike.count().get_result(connection)?;
    Ok(number >= i64::from(WebhookEndpoint::MAX_PER_OWNER))
}

/// Adds an endpoint: see [`cuepoint_domain::ports::WebhookEndpoints::add_endpoint`].
pub(crate) fn add(
    connection: &mut SqliteConnection,
    id: WebhookEndpointId,
    new: &NewEndpoint,
) -> Result<EndpointAddition, SqliteFailure> {
    let owner = users::table.find(new.owner.get()).filter(is_present());
    if !diesel::select(exists(owner)).get_result::<bool>(connection)? {
        return Ok(EndpointAddition::NoRoom);
    }
    if !at_once(is_live(connection, new.session))? {
        return Ok(EndpointAddition::SessionEnded);
    }
    if let Some(key) = &new.key
        && let Some(known) = known_creation(connection, key, new.at)?
    {
        return Ok(known);
    }
    if has_most(connection, new.owner, new.feed)? {
        return Ok(EndpointAddition::NoRoom);
    }
    let cursor = known("operations.position", Position::new(newest_position(connection)?))?;
    let record = StoredWebhookEndpointRecord::new(new, cursor);
    diesel::insert_into(webhook_endpoints::table)
        .values((webhook_endpoints::id.eq(id.get()), &record))
        .execute(connection)?;
    Ok(EndpointAddition::Added(Box::new(WebhookEndpoint::new(id, cursor, new.clone()))))
}

/// The answer to a key that is known; a key that has expired is removed.
fn known_creation(
    connection: &mut SqliteConnection,
    key: &PresentedCreation,
    now: Timestamp,
) -> Result<Option<EndpointAddition>, SqliteFailure> {
    let row: Option<StoredWebhookEndpoint> = webhook_endpoints::table
        .filter(webhook_endpoints::creation_key.eq(key.scope.0.to_vec()))
        .select(StoredWebhookEndpoint::as_select())
        .get_result(connection)
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
                .execute(connection)?;
            Ok(None)
        }
    }
}

/// Changes an endpoint.
pub(crate) fn change(
    connection: &mut SqliteConnection,
    id: WebhookEndpointId,
    change: &EndpointChange,
) -> Result<EndpointUpdate, SqliteFailure> {
    if let EndpointChange::Settings { by, .. } = change
        && !at_once(is_live(connection, by.session))?
    {
        return Ok(EndpointUpdate::SessionEnded);
    }
    let kept = webhook_endpoints::table.find(id.get());
    let row: Option<StoredWebhookEndpoint> =
        kept.select(StoredWebhookEndpoint::as_select()).get_result(connection).optional()?;
    let Some(row) = row else { return Ok(EndpointUpdate::Missing) };
    // A server on SQLite raises the level at its start.
    let changed = |endpoint: WebhookEndpoint| endpoint.changed(change, FeatureLevel::NEWEST);
    let (before, after, record) = row.changed(changed)?;
    if after != before {
        diesel::update(kept).set(record).execute(connection)?;
    }
    Ok(EndpointUpdate::Done { before: Box::new(before), after: Box::new(after) })
}

/// Disables the active endpoints of a user for their own events: all, or those where a session set the URL.
pub(crate) async fn disable_own(
    connection: &mut SqliteConnection,
    user: UserId,
    session: Option<SessionId>,
    at: Timestamp,
    _level: FeatureLevel,
) -> Result<(), SqliteFailure> {
    let own = webhook_endpoints::table
        .filter(webhook_endpoints::owner_id.eq(user.get()))
        .filter(webhook_endpoints::feed.eq(Feed::Own.name()));
    let own: Vec<i64> = match session {
        Some(session) => own
            .filter(webhook_endpoints::url_session_id.eq(session.get()))
            .select(webhook_endpoints::id)
            .load(connection)?,
        None => own.select(webhook_endpoints::id).load(connection)?,
    };
    let disable = EndpointChange::Disable { reason: DisabledReason::Security, at };
    for id in own {
        change(connection, known("webhook_endpoints.id", WebhookEndpointId::new(id))?, &disable)?;
    }
    Ok(())
}

/// Leases an endpoint that is free, and returns the number of the lease.
#[expect(clippy::arithmetic_side_effects, reason = "SQLite adds, and a column refuses what does not fit")]
pub(crate) fn lease(
    connection: &mut SqliteConnection,
    id: WebhookEndpointId,
    now: Timestamp,
    until: Timestamp,
) -> Result<Option<Lease>, SqliteFailure> {
    let number: Option<i64> = diesel::update(webhook_endpoints::table.find(id.get()).filter(is_free(now)))
        .set((
            webhook_endpoints::lease.eq(webhook_endpoints::lease + 1),
            webhook_endpoints::leased_until.eq(ColumnTime(until)),
        ))
        .returning(webhook_endpoints::lease)
        .get_result(connection)
        .optional()?;
    Ok(number.map(|number| Lease { endpoint: id, number }))
}

/// Records a turn and ends its lease; returns whether it is the newest lease of its endpoint.
pub(crate) fn end_turn(
    connection: &mut SqliteConnection,
    lease: Lease,
    leased_until: Timestamp,
    turn: &Turn,
) -> Result<bool, SqliteFailure> {
    let id = lease.endpoint;
    let kept = webhook_endpoints::table.find(id.get()).filter(webhook_endpoints::lease.eq(lease.number));
    let row: Option<StoredWebhookEndpoint> =
        kept.select(StoredWebhookEndpoint::as_select()).get_result(connection).optional()?;
    let Some(row) = row else { return Ok(false) };
    let (_, _, record) = row.changed(|endpoint| endpoint.after_turn(turn))?;
    let ended = webhook_endpoints::leased_until.eq(ColumnTime(leased_until));
    diesel::update(kept).set((record, ended)).execute(connection)?;
    for position in turn.failed.iter().map(|failed| failed.position).chain(turn.settled.iter().copied()) {
        diesel::delete(webhook_deliveries::table.find((id.get(), position.get()))).execute(connection)?;
    }
    for failed in &turn.failed {
        let row = StoredWebhookDelivery::of(id, failed);
        Insert(&row).execute(connection)?;
    }
    if turn.failed.iter().any(|failed| failed.next_at.is_none()) {
        drop_given_up(connection, id)?;
    }
    add_attempts(connection, id, &turn.attempts)?;
    Ok(true)
}

/// Drops the oldest of too many deliveries that were given up.
fn drop_given_up(connection: &mut SqliteConnection, id: WebhookEndpointId) -> QueryResult<()> {
    let given_up = webhook_deliveries::table
        .filter(webhook_deliveries::endpoint_id.eq(id.get()))
        .filter(webhook_deliveries::next_at.is_null());
    let newest: Option<i64> = given_up
        .order(webhook_deliveries::position.desc())
        .offset(i64::from(WebhookEndpoint::GIVEN_UP_KEPT))
        .select(webhook_deliveries::position)
        .first(connection)
        .optional()?;
    if let Some(newest) = newest {
        diesel::delete(given_up.filter(webhook_deliveries::position.le(newest))).execute(connection)?;
    }
    Ok(())
}

/// Adds attempts if the endpoint exists, and deletes those that are no longer among the newest.
#[expect(clippy::arithmetic_side_effects, reason = "SQLite adds, and a column refuses what does not fit")]
pub(crate) fn add_attempts(
    connection: &mut SqliteConnection,
    id: WebhookEndpointId,
    attempts: &[Attempt],
) -> Result<(), SqliteFailure> {
    let more = i64::try_from(attempts.len()).unwrap_or(i64::MAX);
    let newest: Option<i64> = diesel::update(webhook_endpoints::table.find(id.get()))
        .set(webhook_endpoints::attempts.eq(webhook_endpoints::attempts + more))
        .returning(webhook_endpoints::attempts)
        .get_result(connection)
        .optional()?;
    let Some(newest) = newest else { return Ok(()) };
    for (number, attempt) in (newest.saturating_sub(more).saturating_add(1)..).zip(attempts) {
        let row = StoredWebhookAttempt::of(id, number, attempt);
        Insert(&row).execute(connection)?;
    }
    let last_deleted = newest.saturating_sub(i64::from(WebhookEndpoint::ATTEMPTS_KEPT));
    let older = webhook_attempts::table
        .filter(webhook_attempts::endpoint_id.eq(id.get()))
        .filter(webhook_attempts::number.le(last_deleted));
    diesel::delete(older).execute(connection)?;
    Ok(())
}

/// The maximum number of deliveries that a statement changes, so that none takes long.
pub(crate) const BATCH: usize = 1_000;

fn batch() -> i64 {
    i64::try_from(BATCH).unwrap_or(i64::MAX)
}

/// Makes a batch of the deliveries after a position that were given up due now, and returns their positions.
pub(crate) fn repeat_given_up(
    connection: &mut SqliteConnection,
    id: WebhookEndpointId,
    after: i64,
    now: Timestamp,
) -> Result<Vec<i64>, SqliteFailure> {
    let own = webhook_deliveries::table.filter(webhook_deliveries::endpoint_id.eq(id.get()));
    let given_up: Vec<i64> = own
        .filter(webhook_deliveries::position.gt(after))
        .filter(webhook_deliveries::next_at.is_null())
        .order(webhook_deliveries::position)
        .limit(batch())
        .select(webhook_deliveries::position)
        .load(connection)?;
    diesel::update(own.filter(webhook_deliveries::position.eq_any(&given_up)))
        .set((webhook_deliveries::attempts.eq(0), webhook_deliveries::next_at.eq(ColumnTime(now))))
        .execute(connection)?;
    Ok(given_up)
}

/// Deletes a batch of the failed deliveries of an endpoint; `true` if more may follow.
pub(crate) fn forget_deliveries(
    connection: &mut SqliteConnection,
    id: WebhookEndpointId,
) -> Result<bool, SqliteFailure> {
    let own = webhook_deliveries::table.filter(webhook_deliveries::endpoint_id.eq(id.get()));
    let positions: Vec<i64> = own.limit(batch()).select(webhook_deliveries::position).load(connection)?;
    let forgotten =
        diesel::delete(own.filter(webhook_deliveries::position.eq_any(positions))).execute(connection)?;
    Ok(forgotten >= BATCH)
}
