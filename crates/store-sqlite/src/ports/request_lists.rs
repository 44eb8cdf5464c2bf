//! Lists of music requests.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::{Due, MusicRequest, RequestFilter, StoredMatch};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::Unavailable;
use cuepoint_store_sql::rows::StoredRequest;
use cuepoint_store_sql::schema::music_requests::{self, table};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;

use crate::SqliteStore;
use crate::dialect::{RunQueryDsl, columns, page};

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

impl SqliteStore {
    /// A page of the music requests that match a filter.
    pub(super) async fn request_list(
        &self,
        filter: &RequestFilter,
        asked: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let input = (*filter, asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (filter, asked, currency)| {
            macro_rules! listed {
                ($list:expr) => {
                    page!(
                        connection, asked, $list,
                        (music_requests::created_at.desc(), music_requests::id.desc()) => NewestFirst,
                        columns::<StoredRequest>() => StoredRequest, |row| row.request(&currency)
                    )
                };
            }
            let made_by = |guest: UserId| table.filter(music_requests::requester_id.eq(guest.get()));
            let addressed_to = |dj: UserId| table.filter(music_requests::dj_id.eq(dj.get()));
            // The most frequent lists have queries with fixed texts, which are prepared once. The text of a boxed query
            // is built for each page.
            match (filter.requester, filter.dj, filter.stored().as_deref()) {
                (Some(guest), None, None) => listed!(made_by(guest)),
                (None, Some(dj), None) => listed!(addressed_to(dj)),
                (None, Some(dj), Some(&[StoredMatch { stored, due: Due::NotYet }])) => listed!(
                    addressed_to(dj)
                        .filter(music_requests::status.eq(stored.name()))
                        .filter(music_requests::expires_at.gt(ColumnTime(filter.now)))
                ),
                _ => listed!(filtered(&filter)),
            }
        })
        .await
    }
}
