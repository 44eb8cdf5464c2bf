//! The port of music requests.

use async_trait::async_trait;
use cuepoint_domain::ids::{RatingId, RequestId, UserId};
use cuepoint_domain::music_request::{
    Due, MusicRequest, Overdue, RequestFilter, RequestRating, RequestStatus,
};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{MusicRequests, Unavailable};
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{StoredRating, StoredRequest};
use cuepoint_store_sql::schema::music_requests::{self, table};
use cuepoint_store_sql::schema::ratings;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;

use super::lists::page;
use super::readable::work_list;
use crate::SqliteStore;

/// A condition on a request.
type Condition = Box<dyn BoxableExpression<table, Sqlite, SqlType = Nullable<Bool>>>;

fn filtered(filter: &RequestFilter) -> IntoBoxed<'static, table, Sqlite> {
    let mut query = table.into_boxed();
    if let Some(requester) = filter.requester {
        query = query.filter(music_requests::requester_id.eq(requester.get()));
    }
    if let Some(dj) = filter.dj {
        query = query.filter(music_requests::dj_id.eq(dj.get()));
    }
    let now = ColumnTime(filter.now);
    let matches = filter.stored().map(|matches| {
        matches.into_iter().map(|one| -> Condition {
            let stored = music_requests::status.eq(one.stored.name()).nullable();
            match one.due {
                Due::Either => Box::new(stored),
                Due::Over => Box::new(stored.and(music_requests::expires_at.le(now))),
                Due::NotYet => Box::new(stored.and(music_requests::expires_at.gt(now))),
            }
        })
    });
    match matches.and_then(|matches| matches.reduce(|one, other| Box::new(one.or(other)))) {
        Some(matches) => query.filter(matches),
        None => query,
    }
}

#[async_trait]
impl MusicRequests for SqliteStore {
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        self.readers.read(|connection| {
            let row = table.find(id.get()).select(StoredRequest::as_select());
            let row: Option<StoredRequest> = row.get_result(connection).optional()?;
            Ok(row.map(|row| row.request(&self.currency)).transpose()?)
        })
    }

    async fn rating(&self, id: RatingId) -> Result<Option<RequestRating>, Unavailable> {
        self.readers.read(|connection| {
            let row = ratings::table.find(id.get()).select(StoredRating::as_select());
            let row: Option<StoredRating> = row.get_result(connection).optional()?;
            Ok(row.map(|row| RequestRating::of_row(row, &self.currency)).transpose()?)
        })
    }

    async fn requests(
        &self,
        filter: &RequestFilter,
        asked: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let newest_first = (music_requests::created_at.desc(), music_requests::id.desc());
        let (filter, currency) = (*filter, self.currency.clone());
        let page = move |connection: &mut SqliteConnection| {
            page!(connection, asked, filtered(&filter), newest_first, StoredRequest, |row| row
                .request(&currency))
        };
        self.readers.list(asked, page).await
    }

    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        self.readers.read(|connection| {
            let made = table
                .filter(music_requests::requester_id.eq(guest.get()))
                .filter(music_requests::dj_id.eq(dj.get()));
            Ok(diesel::select(exists(made)).get_result(connection)?)
        })
    }

    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable> {
        let value = |row: StoredRequest| row.request(&self.currency);
        self.readers.read(|connection| {
            work_list!(connection, overdue(which), which.limit, music_requests, StoredRequest, value)
        })
    }
}

/// Expired requests, ordered by expiry.
fn overdue(which: &Overdue) -> IntoBoxed<'static, table, Sqlite> {
    let Overdue { requester, now, after, .. } = *which;
    let mut query = table
        .filter(music_requests::expires_at.le(ColumnTime(now)))
        // Rows with a status of a newer version are left to that version.
        .filter(
            music_requests::status
                .eq_any([RequestStatus::Pending, RequestStatus::Accepted].map(RequestStatus::name)),
        )
        .order((music_requests::expires_at, music_requests::id))
        .into_boxed();
    if let Some(requester) = requester {
        query = query.filter(music_requests::requester_id.eq(requester.get()));
    }
    if let Some((at, id)) = after {
        let at = ColumnTime(at);
        let same = music_requests::expires_at.eq(at).and(music_requests::id.gt(id.get()));
        let later = music_requests::expires_at.gt(at).or(same);
        // Redundant, so that the scan of the index starts here.
        query = query.filter(music_requests::expires_at.ge(at).and(later));
    }
    query
}
