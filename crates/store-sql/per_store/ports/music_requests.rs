//! The port of music requests.

use async_trait::async_trait;
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::music_request::{MusicRequest, Overdue, RequestFilter, RequestStatus};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{MusicRequests, Unavailable};
use cuepoint_store_sql::rows::StoredRequest;
use cuepoint_store_sql::schema::music_requests::{self, table};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;

use super::readable::work_list;
use crate::SqlStore;
use crate::dialect::{Database, RunQueryDsl, due_by};

#[async_trait]
impl MusicRequests for SqlStore {
    async fn request(&self, id: RequestId) -> Result<Option<MusicRequest>, Unavailable> {
        self.request_by_id(id).await
    }

    async fn requests(
        &self,
        filter: &RequestFilter,
        asked: PageRequest,
    ) -> Result<Rows<MusicRequest>, Unavailable> {
        self.request_list(filter, asked).await
    }

    async fn has_requested(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        self.read((guest.get(), dj.get()), async |mut connection, (guest, dj)| {
            // From the index of either user's requests.
            let made = table.filter(music_requests::requester_id.eq(guest));
            let made = made.filter(music_requests::dj_id.eq(dj));
            Ok(diesel::select(exists(made)).get_result(&mut connection).await?)
        })
        .await
    }

    async fn overdue(&self, which: &Overdue) -> Result<Vec<MusicRequest>, Unavailable> {
        self.read((*which, self.currency.clone()), async |mut connection, (which, currency)| {
            let value = |row: StoredRequest| row.request(&currency);
            work_list!(connection, overdue(&which), which.limit, music_requests => StoredRequest, value)
        })
        .await
    }
}

/// Expired requests, ordered by expiry.
fn overdue(which: &Overdue) -> IntoBoxed<'static, table, Database> {
    let Overdue { requester, now, after, .. } = *which;
    let mut query = table
        .filter(music_requests::expires_at.le(due_by(now)))
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
