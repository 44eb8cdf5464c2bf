//! The export of a user's personal data: keyset pagination of each list by an index that has its order.

use async_trait::async_trait;
use cuepoint_domain::gig::Gig;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::RequestRating;
use cuepoint_domain::operation::Actor;
use cuepoint_domain::ports::{PersonalRecords, Unavailable};
use cuepoint_domain::privacy::personal_data::{ExportKey, ExportList, ExportRecord, OperationNote};
use cuepoint_domain::text::{Line, ShortMessage};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::tip::Tip;
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{
    Corrupt, StoredChallenge, StoredEntry, StoredGig, StoredMessage, StoredOperation, StoredPersonalToken,
    StoredRating, StoredRequest, StoredSecurityEvent, StoredSession, StoredTip, StoredTopup,
    StoredWebhookEndpoint, StoredWithdrawal, is_present, known,
};
use cuepoint_store_sql::schema::{
    blocks, challenges, gigs, ledger_entries, login_networks, music_requests, operations, personal_tokens,
    ratings, request_messages, security_events, sessions, tips, topups, users, webhook_endpoints,
    withdrawals,
};
use cuepoint_store_sql::sql_types::ColumnTime;
use cuepoint_store_sql::table::Numbered;
use diesel::prelude::*;

use super::about_person::{messages_about, operations_about};
use super::blocks::{NamedRow, block};
use crate::SqlStore;
use crate::dialect::{Database, Reading, RunQueryDsl, StoreFailure};
use crate::tables::login_networks::NetworkRow;
use crate::tables::sessions::is_login;

/// A page of a list.
#[derive(Clone)]
struct Page {
    user: UserId,
    after: Option<ExportKey>,
    limit: u32,
    currency: Currency,
}

/// The rows of a list after a position, ordered by a time and a number of one of its tables, as one statement.
macro_rules! after {
    ($page:expr, $list:expr, $table:ident, $at:ident, $id:ident) => {{
        let mut query = $list.into_boxed::<Database>();
        if let Some(after) = $page.after {
            let (at, id) = (ColumnTime(after.moment()), after.id());
            // Redundant, so that the scan of the index starts here.
            query = query.filter($table::$at.le(at)).filter($table::$at.lt(at).or($table::$id.lt(id)));
        }
        query.order(($table::$at.desc(), $table::$id.desc())).limit(i64::from($page.limit))
    }};
}

/// The rows of a table after a position, ordered by a time and a number, as one statement.
macro_rules! by_time {
    ($page:expr, $table:ident, $owner:ident, $at:ident, $id:ident) => {
        after!($page, $table::table.filter($table::$owner.eq($page.user.get())), $table, $at, $id)
    };
}

/// The rows of a table after a position, ordered by a number, as one statement.
macro_rules! by_number {
    ($page:expr, $table:ident, $owner:ident, $number:ident) => {{
        let mut query = $table::table.filter($table::$owner.eq($page.user.get())).into_boxed::<Database>();
        if let Some(after) = $page.after {
            query = query.filter($table::$number.lt(after.major));
        }
        query.order($table::$number.desc()).limit(i64::from($page.limit))
    }};
}

type Records = Result<Vec<ExportRecord>, StoreFailure>;

/// Converts rows to records.
fn records<Row>(rows: Vec<Row>, record: impl FnMut(Row) -> Result<ExportRecord, Corrupt>) -> Records {
    Ok(rows.into_iter().map(record).collect::<Result<_, _>>()?)
}

#[async_trait]
impl PersonalRecords for SqlStore {
    async fn records(
        &self,
        user: UserId,
        list: ExportList,
        after: Option<ExportKey>,
        limit: u32,
    ) -> Result<Vec<ExportRecord>, Unavailable> {
        let page = Page { user, after, limit, currency: self.currency.clone() };
        self.read_export_page((page, list), async |connection, (page, list)| match list {
            ExportList::Sessions => page.sessions(connection).await,
            ExportList::PersonalTokens => page.personal_tokens(connection).await,
            ExportList::Networks => page.networks(connection).await,
            ExportList::Challenges => page.challenges(connection).await,
            ExportList::RequestsMade => page.requests_made(connection).await,
            ExportList::RequestsReceived => page.requests_received(connection).await,
            ExportList::Ratings => page.ratings(connection).await,
            ExportList::Gigs => page.gigs(connection).await,
            ExportList::Tips => page.tips(connection).await,
            ExportList::Withdrawals => page.withdrawals(connection).await,
            ExportList::Topups => page.topups(connection).await,
            ExportList::Entries => page.entries(connection).await,
            ExportList::Operations => page.operations(connection).await,
            ExportList::ProviderMessages => page.provider_messages(connection).await,
            ExportList::Blocks => page.blocks(connection).await,
            ExportList::BlockedBy => page.blocked_by(connection).await,
            ExportList::Events => page.events(connection).await,
            ExportList::WebhookEndpoints => page.webhook_endpoints(connection).await,
        })
        .await
    }
}

impl Page {
    async fn sessions(&self, mut connection: Reading<'_>) -> Records {
        let logins = sessions::table.filter(sessions::user_id.eq(self.user.get())).filter(is_login());
        let theirs = after!(self, logins, sessions, began_at, id).select(StoredSession::as_select());
        records(theirs.load(&mut connection).await?, |row: StoredSession| {
            let ended_at = row.ended_at;
            row.session().map(|session| ExportRecord::Session(session, ended_at))
        })
    }

    async fn personal_tokens(&self, mut connection: Reading<'_>) -> Records {
        let theirs = sessions::table.inner_join(personal_tokens::table);
        let theirs = theirs.filter(sessions::user_id.eq(self.user.get()));
        let columns = (StoredPersonalToken::as_select(), StoredSession::as_select());
        let theirs = after!(self, theirs, sessions, began_at, id).select(columns);
        let record = |(token, session): (StoredPersonalToken, StoredSession)| {
            let ended_at = session.ended_at;
            token.token(session).map(|token| ExportRecord::PersonalToken(token, ended_at))
        };
        records(theirs.load(&mut connection).await?, record)
    }

    async fn networks(&self, mut connection: Reading<'_>) -> Records {
        let theirs = by_number!(self, login_networks, user_id, id).select(NetworkRow::as_select());
        let record = |row: NetworkRow| row.known().map(|(id, known)| ExportRecord::Network(id, known));
        records(theirs.load(&mut connection).await?, record)
    }

    async fn challenges(&self, mut connection: Reading<'_>) -> Records {
        // There are few: some for each hour and purpose, retained for a day.
        let theirs = challenges::table.filter(challenges::user_id.eq(self.user.get()));
        let rows = theirs.select(Numbered::<StoredChallenge>::as_select()).load(&mut connection).await?;
        let all =
            records(rows, |row: Numbered<StoredChallenge>| row.challenge().map(ExportRecord::Challenge))?;
        Ok(ExportRecord::next(all, self.after, self.limit))
    }

    async fn requests_made(&self, mut connection: Reading<'_>) -> Records {
        let made = music_requests::table.left_join(request_messages::table);
        let made = made.filter(music_requests::requester_id.eq(self.user.get()));
        let made = after!(self, made, music_requests, created_at, id);
        let columns = (StoredRequest::as_select(), request_messages::message.nullable());
        let rows = made.select(columns).load(&mut connection).await?;
        records(rows, |(row, message): (StoredRequest, Option<String>)| {
            let message = message.map(ShortMessage::from_stored);
            Ok(ExportRecord::RequestMade(row.request(&self.currency)?, message))
        })
    }

    async fn gigs(&self, mut connection: Reading<'_>) -> Records {
        let theirs = by_time!(self, gigs, dj_id, opened_at, id);
        let rows = theirs.select(StoredGig::as_select()).load(&mut connection).await?;
        records(rows, |row: StoredGig| Gig::of_row(row, &self.currency).map(ExportRecord::Gig))
    }

    /// Given and received tips are each read by an index. The page is the beginning of both together.
    async fn tips(&self, mut connection: Reading<'_>) -> Records {
        let given = by_time!(self, tips, guest_id, created_at, id).select(StoredTip::as_select());
        let received = by_time!(self, tips, dj_id, created_at, id).select(StoredTip::as_select());
        let mut rows: Vec<StoredTip> = given.load(&mut connection).await?;
        rows.extend(received.load(&mut connection).await?);
        let both = records(rows, |row| Tip::of_row(row, &self.currency).map(ExportRecord::Tip))?;
        Ok(ExportRecord::next(both, self.after, self.limit))
    }

    async fn requests_received(&self, mut connection: Reading<'_>) -> Records {
        let received = by_time!(self, music_requests, dj_id, created_at, id);
        let rows = received.select(StoredRequest::as_select()).load(&mut connection).await?;
        records(rows, |row: StoredRequest| row.request(&self.currency).map(ExportRecord::Request))
    }

    async fn ratings(&self, mut connection: Reading<'_>) -> Records {
        let theirs = music_requests::table.inner_join(ratings::table);
        let theirs = theirs.filter(music_requests::requester_id.eq(self.user.get()));
        let theirs = after!(self, theirs, music_requests, created_at, id);
        let rated = (StoredRating::as_select(), music_requests::created_at);
        records(
            theirs.select(rated).load(&mut connection).await?,
            |(row, requested_at): (StoredRating, Timestamp)| {
                Ok(ExportRecord::Rating(RequestRating::of_row(row, &self.currency)?, requested_at))
            },
        )
    }

    async fn withdrawals(&self, mut connection: Reading<'_>) -> Records {
        let theirs = by_time!(self, withdrawals, user_id, created_at, id);
        let rows = theirs.select(StoredWithdrawal::as_select()).load(&mut connection).await?;
        records(rows, |row: StoredWithdrawal| row.withdrawal(&self.currency).map(ExportRecord::Withdrawal))
    }

    async fn topups(&self, mut connection: Reading<'_>) -> Records {
        let theirs = by_time!(self, topups, user_id, created_at, id);
        let rows = theirs.select(StoredTopup::as_select()).load(&mut connection).await?;
        records(rows, |row: StoredTopup| row.topup(&self.currency).map(ExportRecord::Topup))
    }

    async fn entries(&self, mut connection: Reading<'_>) -> Records {
        let rows = ledger_entries::table
            .inner_join(operations::table.on(ledger_entries::operation_id.eq(operations::id)))
            .filter(ledger_entries::wallet_id.eq(self.user.get()))
            .filter(ledger_entries::seq.lt(self.before()))
            .order(ledger_entries::seq.desc())
            .limit(i64::from(self.limit))
            .select((StoredEntry::as_select(), operations::reason))
            .load(&mut connection)
            .await?;
        records(rows, |(row, reason): (StoredEntry, Option<String>)| {
            Ok(ExportRecord::Entry(row.entry(&self.currency)?, reason.map(Line::from_stored)))
        })
    }

    async fn operations(&self, connection: Reading<'_>) -> Records {
        let rows = operations_about(connection, self.user, self.after, self.limit).await?;
        records(rows, |row: StoredOperation| {
            let (kind, reason, at) = (row.kind.clone(), row.reason.clone(), row.at);
            let actor = row.actor_user_id.map(|id| known("operations.actor_user_id", UserId::new(id)));
            let actor = actor.transpose()?.map_or(Actor::System, Actor::User);
            let receipt = row.stored(&self.currency)?;
            let reason = reason.map(Line::from_stored);
            Ok(ExportRecord::Operation(OperationNote::new(kind, actor, reason, &receipt, at)))
        })
    }

    async fn provider_messages(&self, connection: Reading<'_>) -> Records {
        let rows = messages_about(connection, self.user, self.before(), self.limit).await?;
        records(rows, |row: StoredMessage| row.message().map(ExportRecord::ProviderMessage))
    }

    async fn blocks(&self, mut connection: Reading<'_>) -> Records {
        let theirs = blocks::table.inner_join(users::table);
        let theirs = theirs.filter(blocks::dj_id.eq(self.user.get()).and(is_present()));
        let theirs = after!(self, theirs, blocks, at, guest_id);
        let named = theirs.select((blocks::guest_id, users::name, blocks::at));
        records(named.load(&mut connection).await?, |row: NamedRow| block(row).map(ExportRecord::Block))
    }

    async fn blocked_by(&self, mut connection: Reading<'_>) -> Records {
        let by = by_time!(self, blocks, guest_id, at, dj_id).select((blocks::dj_id, blocks::at));
        records(by.load(&mut connection).await?, |(dj, at): (i64, Timestamp)| {
            let dj = known("blocks.dj_id", UserId::new(dj))?;
            Ok(ExportRecord::BlockedBy { dj, at })
        })
    }

    async fn events(&self, mut connection: Reading<'_>) -> Records {
        let about = by_number!(self, security_events, user_id, id)
            .select(Numbered::<StoredSecurityEvent>::as_select());
        let record = |row: Numbered<StoredSecurityEvent>| {
            row.event().map(|(id, event)| ExportRecord::Event(id, event))
        };
        records(about.load(&mut connection).await?, record)
    }

    async fn webhook_endpoints(&self, mut connection: Reading<'_>) -> Records {
        let theirs =
            by_number!(self, webhook_endpoints, owner_id, id).select(StoredWebhookEndpoint::as_select());
        let rows = theirs.load(&mut connection).await?;
        records(rows, |row: StoredWebhookEndpoint| row.endpoint().map(ExportRecord::WebhookEndpoint))
    }

    /// The exclusive upper bound of the numbers on the page.
    fn before(&self) -> i64 {
        self.after.map_or(i64::MAX, |after| after.major)
    }
}
