//! The port of music requests.

use async_trait::async_trait;
use cuepoint_domain::ids::{RatingId, RequestId, UserId};
use cuepoint_domain::music_request::{MusicRequest, Overdue, RequestFilter, RequestRating, RequestStatus};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{MusicRequests, Unavailable};
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{StoredRating, StoredRequest};
use cuepoint_store_sql::schema::music_requests::{self, table};
use cuepoint_store_sql::schema::ratings;
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::helper_types::IntoBoxed;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::batcher::Row;
use crate::reads::least;
use crate::reads::readable::work_list;
use crate::reads::request_lists::RequestList;

impl Row for StoredRequest {
    const TABLE: &'static str = "music_requests";

    async fn load(mut connection: &AsyncPgConnection, ids: &[i64]) -> Result<Vec<Self>, DatabaseFailure> {
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
        let row = self.together().requests.find(id.get()).await?;
        row.map(|row| row.request(&self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn rating(&self, id: RatingId) -> Result<Option<RequestRating>, Unavailable> {
        let row = self
            .database
            .read(async |mut connection| {
                let row = ratings::table.find(id.get()).select(StoredRating::as_select());
                let row: Option<StoredRating> = row.get_result(&mut connection).await.optional()?;
                Ok(row)
            })
            .await?;
        row.map(|row| RequestRating::of_row(row, &self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn requests(
        &self,
        filter: &RequestFilter,
        asked: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        let list = RequestList { filter: *filter, page: asked };
        let counted = self.together().request_lists.read(list).await?;
        counted.page(|row| row.request(&self.currency)).map_err(Unavailable::new)
    }

    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        let has_requested = self
            .database
            .read(async |mut connection| {
                // From the index of either user's requests.
                let made = table.filter(music_requests::requester_id.eq(guest.get()));
                let made = made.filter(music_requests::dj_id.eq(dj.get()));
                Ok(diesel::select(exists(made)).get_result(&mut connection).await?)
            })
            .await?;
        Ok(has_requested)
    }

    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable> {
        let value = |row: StoredRequest| row.request(&self.currency);
        let requests = self
            .database
            .read(async |mut connection| {
                work_list!(connection, overdue(which), which.limit, music_requests, StoredRequest, value)
            })
            .await?;
        Ok(requests)
    }
}

/// Expired requests, ordered by expiry.
fn overdue(which: &Overdue) -> IntoBoxed<'static, table, Pg> {
    let Overdue { requester, now, after, .. } = *which;
    let mut query = table
        .filter(music_requests::expires_at.le(least(now.to_utc(), diesel::dsl::now).nullable()))
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
