//! Music requests as they are stored.

use async_trait::async_trait;
use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::{Due, MusicRequest, Overdue, RequestFilter, StoredMatch};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{MusicRequests, Unavailable};
use cuepoint_domain::timestamp::Timestamp;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use super::together::Row;
use super::{NEWEST_FIRST, Paged, columns, limits, page};
use crate::PostgresStore;
use crate::database::Failure;
use crate::rows::{Corrupt, MusicRequestRow, column_time};
use crate::schema::music_requests::{self, table};

type Condition = Box<dyn BoxableExpression<table, Pg, SqlType = Nullable<Bool>>>;

/// The stored requests that match one of the filter's alternatives.
fn matching(one: StoredMatch, now: Timestamp) -> Condition {
    let status = music_requests::status.eq(one.stored.name());
    let now = column_time(now);
    match one.due {
        Due::Either => Box::new(status.nullable()),
        Due::Over => Box::new(status.nullable().and(music_requests::expires_at.le(now))),
        Due::NotYet => Box::new(status.nullable().and(music_requests::expires_at.gt(now))),
    }
}

fn filtered(filter: &RequestFilter) -> IntoBoxed<'static, table, Pg> {
    let mut query = table.into_boxed();
    if let Some(requester) = filter.requester {
        query = query.filter(music_requests::requester_id.eq(requester.get()));
    }
    if let Some(dj) = filter.dj {
        query = query.filter(music_requests::dj_id.eq(dj.get()));
    }
    if let Some(alternatives) = filter.stored() {
        let any = alternatives
            .into_iter()
            .map(|one| matching(one, filter.now))
            .reduce(|left, right| Box::new(left.or(right)));
        if let Some(any) = any {
            query = query.filter(any);
        }
    }
    query
}

impl Row for MusicRequestRow {
    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, Failure> {
        Ok(table
            .filter(music_requests::id.eq_any(ids))
            .select(Self::as_select())
            .load(&mut connection)
            .await?)
    }

    fn id(&self) -> i64 {
        self.id
    }
}

#[async_trait]
impl MusicRequests for PostgresStore {
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        let row = self.by_id().requests.find(id.get()).await?;
        row.map(|row| row.request(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn requests(
        &self,
        filter: &RequestFilter,
        asked: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Vec<(i64, Option<MusicRequestRow>)> = self
            .database
            .read(async |mut connection| {
                let paged = Paged {
                    count: filtered(filter).count(),
                    page: filtered(filter)
                        .order((music_requests::created_at.desc(), music_requests::id.desc()))
                        .limit(limit)
                        .offset(offset)
                        .select(columns::<MusicRequestRow>()),
                    order: NEWEST_FIRST,
                };
                Ok(paged.load(&mut connection).await?)
            })
            .await?;
        page(counted, |row| row.request(&self.currency)).map_err(Unavailable::new)
    }

    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable> {
        let Overdue { requester, now, after, limit } = *which;
        let rows: Vec<MusicRequestRow> = self
            .database
            .read(async |mut connection| {
                let mut query = table
                    .filter(music_requests::expires_at.le(column_time(now)))
                    .order((music_requests::expires_at, music_requests::id))
                    .limit(i64::from(limit))
                    .select(MusicRequestRow::as_select())
                    .into_boxed();
                if let Some(requester) = requester {
                    query = query.filter(music_requests::requester_id.eq(requester.get()));
                }
                if let Some((at, id)) = after {
                    let at = column_time(at);
                    let same = music_requests::expires_at.eq(at).and(music_requests::id.gt(id.get()));
                    let later = music_requests::expires_at.gt(at).or(same);
                    // Said once more, so that the index is entered here.
                    query = query.filter(music_requests::expires_at.ge(at).and(later));
                }
                Ok(query.load(&mut connection).await?)
            })
            .await?;
        let requests: Result<_, Corrupt> = rows.into_iter().map(|row| row.request(&self.currency)).collect();
        requests.map_err(Unavailable::new)
    }
}
