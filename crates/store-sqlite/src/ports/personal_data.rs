//! The export of a user's personal data: keyset pagination of each list by an index that has its order.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::RequestRating;
use cuepoint_domain::operation::Actor;
use cuepoint_domain::ports::{PersonalRecords, Unavailable};
use cuepoint_domain::privacy::personal_data::{OperationNote, Part, Place, Record};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{
    Corrupt, StoredChallenge, StoredEntry, StoredEvent, StoredMessage, StoredOperation, StoredRating,
    StoredRequest, StoredSession, StoredTopup, StoredWebhookEndpoint, StoredWithdrawal, is_present, known,
    user_id,
};
use cuepoint_store_sql::schema::{
    blocks, challenges, ledger_entries, login_networks, music_requests, operations, provider_messages,
    ratings, security_events, sessions, topups, users, webhook_endpoints, withdrawals,
};
use cuepoint_store_sql::sql_types::{ColumnId, ColumnTime, OperationUuid, UtcTime};
use cuepoint_store_sql::table::Numbered;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use uuid::Uuid;

use super::blocks::{NamedRow, block};
use crate::SqliteStore;
use crate::connect::failure::SqliteFailure;
use crate::tables::login_networks::NetworkRow;
use crate::tables::operations::about;

/// The operations that are shown to the user whom they concern, exactly as in their index.
const SHOWN: &str = "(json_type(receipt, '$.profile') IS NOT NULL OR reason IS NOT NULL)";

/// The messages about a user's top-ups and withdrawals. They are looked up by the user's rows, whose number
/// determines the cost: `CROSS JOIN` reads those first.
const MESSAGES: [&str; 3] = [
    "id IN (SELECT message.id FROM (SELECT 'topups' AS source, id FROM topups WHERE user_id = ",
    " UNION ALL SELECT 'payouts', id FROM withdrawals WHERE user_id = ",
    ") AS own CROSS JOIN provider_messages AS message ON message.source = own.source AND message.row_id = own.id)",
];

/// A page of a list.
#[derive(Clone, Copy)]
struct Page<'c> {
    user: UserId,
    after: Option<Place>,
    limit: u32,
    currency: &'c Currency,
}

/// The rows of a table after a position, ordered by a time and a number.
macro_rules! by_time {
    ($page:expr, $connection:ident, $table:ident, $owner:ident, $at:ident, $id:ident, $columns:expr) => {{
        let mut query = $table::table.filter($table::$owner.eq($page.user.get())).into_boxed();
        if let Some(after) = $page.after {
            let (at, id) = (ColumnTime(after.moment()), after.id());
            // Redundant, so that the scan of the index starts here.
            query = query.filter($table::$at.le(at)).filter($table::$at.lt(at).or($table::$id.lt(id)));
        }
        let page = query.order(($table::$at.desc(), $table::$id.desc())).limit(i64::from($page.limit));
        page.select($columns).load($connection)?
    }};
}

/// The rows of a table after a position, ordered by a number.
macro_rules! by_number {
    ($page:expr, $connection:ident, $table:ident, $owner:ident, $number:ident, $columns:expr) => {{
        let below = $table::table
            .filter($table::$owner.eq($page.user.get()))
            .filter($table::$number.lt($page.before()));
        let page = below.order($table::$number.desc()).limit(i64::from($page.limit));
        page.select($columns).load($connection)?
    }};
}

/// Converts rows to records.
fn records<Row>(rows: Vec<Row>, record: impl FnMut(Row) -> Result<Record, Corrupt>) -> Records {
    Ok(rows.into_iter().map(record).collect::<Result<_, _>>()?)
}

#[async_trait]
impl PersonalRecords for SqliteStore {
    async fn records(
        &self,
        user: UserId,
        part: Part,
        after: Option<Place>,
        limit: u32,
    ) -> Result<Vec<Record>, Unavailable> {
        let currency = self.currency.clone();
        let read = move |connection: &mut SqliteConnection| {
            let page = Page { user, after, limit, currency: &currency };
            match part {
                Part::Sessions => page.sessions(connection),
                Part::Networks => page.networks(connection),
                Part::Challenges => page.challenges(connection),
                Part::RequestsMade => page.requests_made(connection),
                Part::RequestsReceived => page.requests_received(connection),
                Part::Ratings => page.ratings(connection),
                Part::Withdrawals => page.withdrawals(connection),
                Part::Topups => page.topups(connection),
                Part::Entries => page.entries(connection),
                Part::Operations => page.operations(connection),
                Part::ProviderMessages => page.provider_messages(connection),
                Part::Blocks => page.blocks(connection),
                Part::BlockedBy => page.blocked_by(connection),
                Part::Events => page.events(connection),
                Part::WebhookEndpoints => page.webhook_endpoints(connection),
            }
        };
        self.readers.page_on_own_thread(read).await
    }
}

type Connection<'a> = &'a mut SqliteConnection;
type Records = Result<Vec<Record>, SqliteFailure>;

impl Page<'_> {
    fn sessions(self, connection: Connection<'_>) -> Records {
        let rows = by_time!(self, connection, sessions, user_id, began_at, id, StoredSession::as_select());
        records(rows, |row: StoredSession| {
            let ended_at = row.ended_at;
            row.session().map(|session| Record::Session(session, ended_at))
        })
    }

    fn networks(self, connection: Connection<'_>) -> Records {
        let rows = by_number!(self, connection, login_networks, user_id, id, NetworkRow::as_select());
        records(rows, |row: NetworkRow| row.known().map(|(id, known)| Record::Network(id, known)))
    }

    fn challenges(self, connection: Connection<'_>) -> Records {
        // There are few: some for each hour and purpose, retained for a day.
        let theirs = challenges::table.filter(challenges::user_id.eq(self.user.get()));
        let rows = theirs.select(Numbered::<StoredChallenge>::as_select()).load(connection)?;
        let all = records(rows, |row: Numbered<StoredChallenge>| row.challenge().map(Record::Challenge))?;
        Ok(Record::next(all, self.after, self.limit))
    }

    fn requests_made(self, connection: Connection<'_>) -> Records {
        let columns = StoredRequest::as_select();
        let rows = by_time!(self, connection, music_requests, requester_id, created_at, id, columns);
        records(rows, |row: StoredRequest| row.request(self.currency).map(Record::Request))
    }

    fn requests_received(self, connection: Connection<'_>) -> Records {
        let columns = StoredRequest::as_select();
        let rows = by_time!(self, connection, music_requests, dj_id, created_at, id, columns);
        records(rows, |row: StoredRequest| row.request(self.currency).map(Record::Request))
    }

    fn withdrawals(self, connection: Connection<'_>) -> Records {
        let rows =
            by_time!(self, connection, withdrawals, user_id, created_at, id, StoredWithdrawal::as_select());
        records(rows, |row: StoredWithdrawal| row.withdrawal(self.currency).map(Record::Withdrawal))
    }

    fn ratings(self, connection: Connection<'_>) -> Records {
        let mut query = music_requests::table.inner_join(ratings::table).into_boxed();
        query = query.filter(music_requests::requester_id.eq(self.user.get()));
        if let Some(after) = self.after {
            let (at, id) = (ColumnTime(after.moment()), after.id());
            query = query
                .filter(music_requests::created_at.le(at))
                .filter(music_requests::created_at.lt(at).or(music_requests::id.lt(id)));
        }
        let query = query
            .order((music_requests::created_at.desc(), music_requests::id.desc()))
            .limit(i64::from(self.limit));
        let rated = (StoredRating::as_select(), music_requests::created_at);
        records(query.select(rated).load(connection)?, |(row, requested_at): (StoredRating, Timestamp)| {
            Ok(Record::Rating(RequestRating::of_row(row, self.currency)?, requested_at))
        })
    }

    fn topups(self, connection: Connection<'_>) -> Records {
        let rows = by_time!(self, connection, topups, user_id, created_at, id, StoredTopup::as_select());
        records(rows, |row: StoredTopup| row.topup(self.currency).map(Record::Topup))
    }

    fn entries(self, connection: Connection<'_>) -> Records {
        let rows = ledger_entries::table
            .inner_join(operations::table.on(ledger_entries::operation_id.eq(operations::id)))
            .filter(ledger_entries::wallet_id.eq(self.user.get()))
            .filter(ledger_entries::seq.lt(self.before()))
            .order(ledger_entries::seq.desc())
            .limit(i64::from(self.limit))
            .select((StoredEntry::as_select(), operations::reason))
            .load(connection)?;
        records(rows, |(row, reason): (StoredEntry, Option<String>)| {
            Ok(Record::Entry(row.entry(self.currency)?, reason.map(Line::from_stored)))
        })
    }

    fn operations(self, connection: Connection<'_>) -> Records {
        let mut query = operations::table.filter(sql::<Bool>(SHOWN)).filter(about(self.user)).into_boxed();
        if let Some(after) = self.after {
            let behind = sql::<Bool>("(at, id) < (").bind::<UtcTime, _>(ColumnTime(after.moment())).sql(", ");
            query = query
                .filter(behind.bind::<OperationUuid, _>(ColumnId(Uuid::from_u128(after.minor))).sql(")"));
        }
        let query = query.order((operations::at.desc(), operations::id.desc())).limit(i64::from(self.limit));
        records(query.select(StoredOperation::as_select()).load(connection)?, |row: StoredOperation| {
            let (kind, reason, at) = (row.kind.clone(), row.reason.clone(), row.at);
            let actor = row.actor_user_id.map(|id| known("operations.actor_user_id", UserId::new(id)));
            let actor = actor.transpose()?.map_or(Actor::System, Actor::User);
            let receipt = row.stored(self.currency)?;
            let reason = reason.map(Line::from_stored);
            Ok(Record::Operation(OperationNote::new(kind, actor, reason, &receipt, at)))
        })
    }

    fn provider_messages(self, connection: Connection<'_>) -> Records {
        let [of_topups, of_withdrawals, end] = MESSAGES;
        let about = sql::<Bool>(of_topups).bind::<BigInt, _>(self.user.get()).sql(of_withdrawals);
        let rows = provider_messages::table
            .filter(about.bind::<BigInt, _>(self.user.get()).sql(end))
            .filter(provider_messages::id.lt(self.before()))
            .order(provider_messages::id.desc())
            .limit(i64::from(self.limit))
            .select(StoredMessage::as_select())
            .load(connection)?;
        records(rows, |row: StoredMessage| row.message().map(Record::ProviderMessage))
    }

    fn blocks(self, connection: Connection<'_>) -> Records {
        let mut query = blocks::table.inner_join(users::table).into_boxed();
        query = query.filter(blocks::dj_id.eq(self.user.get()).and(is_present()));
        if let Some(after) = self.after {
            let (at, id) = (ColumnTime(after.moment()), after.id());
            query = query.filter(blocks::at.le(at)).filter(blocks::at.lt(at).or(blocks::guest_id.lt(id)));
        }
        let query = query.order((blocks::at.desc(), blocks::guest_id.desc())).limit(i64::from(self.limit));
        let named = query.select((blocks::guest_id, users::name, blocks::at));
        records(named.load(connection)?, |row: NamedRow| block(row).map(Record::Block))
    }

    fn blocked_by(self, connection: Connection<'_>) -> Records {
        let rows = by_time!(self, connection, blocks, guest_id, at, dj_id, (blocks::dj_id, blocks::at));
        records(rows, |(dj, at): (i64, Timestamp)| Ok(Record::BlockedBy { dj: user_id(dj)?, at }))
    }

    fn events(self, connection: Connection<'_>) -> Records {
        let rows =
            by_number!(self, connection, security_events, user_id, id, Numbered::<StoredEvent>::as_select());
        records(rows, |row: Numbered<StoredEvent>| row.event().map(|(id, event)| Record::Event(id, event)))
    }

    fn webhook_endpoints(self, connection: Connection<'_>) -> Records {
        let columns = StoredWebhookEndpoint::as_select();
        let rows = by_number!(self, connection, webhook_endpoints, owner_id, id, columns);
        records(rows, |row: StoredWebhookEndpoint| row.endpoint().map(Record::WebhookEndpoint))
    }

    /// The exclusive upper bound of the numbers on the page.
    fn before(self) -> i64 {
        self.after.map_or(i64::MAX, |after| after.major)
    }
}
