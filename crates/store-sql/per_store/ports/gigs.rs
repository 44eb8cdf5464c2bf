//! The port of gigs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use cuepoint_domain::gig::{AssignedCode, DjCode, Gig};
use cuepoint_domain::ids::{GigId, RequestId, UserId};
use cuepoint_domain::music_request::{MusicRequest, RequestRating, RequestStatus, Stars};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{GigRequests, Gigs, Unavailable};
use cuepoint_domain::text::ShortMessage;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{
    Corrupt, StoredCode, StoredDedication, StoredGig, StoredRating, StoredRequest, known,
};
use cuepoint_store_sql::schema::{gig_codes, gigs, music_requests, ratings, request_messages, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::{InnerJoin, exists, not};
use diesel::helper_types::IntoBoxed;
use diesel::prelude::*;

use super::readable::work_list;
use crate::SqlStore;
use crate::dialect::{Database, Reading, RunQueryDsl, StoreFailure, columns, locked, page};

/// Gigs with their DJs.
type GigsOfDjs = InnerJoin<gigs::table, users::table>;

/// The statuses of open requests.
fn open_statuses() -> [&'static str; 2] {
    [RequestStatus::Pending, RequestStatus::Accepted].map(RequestStatus::name)
}

/// The open gigs above this id that were opened by this time, or whose DJ is gone.
fn to_end(opened_by: Timestamp, after: i64) -> IntoBoxed<'static, GigsOfDjs, Database> {
    let is_gone = users::suspended_at.is_not_null().or(users::erased_at.is_not_null());
    gigs::table
        .inner_join(users::table)
        .filter(gigs::ended_at.is_null())
        .filter(gigs::id.gt(after))
        .filter(gigs::opened_at.le(ColumnTime(opened_by)).or(is_gone))
        .order(gigs::id)
        .into_boxed()
}

/// The open gigs with a place whose latitude is between these.
fn open_between(south: f64, north: f64) -> IntoBoxed<'static, gigs::table, Database> {
    gigs::table
        .filter(gigs::ended_at.is_null())
        .filter(gigs::latitude.between(south, north))
        .order(gigs::latitude)
        .into_boxed()
}

/// The ended gigs above this id that are not settled.
fn unsettled(after: i64) -> IntoBoxed<'static, gigs::table, Database> {
    gigs::table
        .filter(gigs::ended_at.is_not_null())
        .filter(not(gigs::settled))
        .filter(gigs::id.gt(after))
        .order(gigs::id)
        .into_boxed()
}

/// Reads the requests with a gig.
async fn with_gig(
    mut connection: Reading<'_>,
    gig: GigId,
    which: GigRequests,
) -> Result<Vec<StoredRequest>, StoreFailure> {
    let mut requests =
        music_requests::table.filter(music_requests::gig_id.eq(gig.get())).into_boxed::<Database>();
    let played = RequestStatus::Played.name();
    match which {
        GigRequests::Open => requests = requests.filter(music_requests::status.eq_any(open_statuses())),
        GigRequests::OpenAndPlayed => {
            let [pending, accepted] = open_statuses();
            requests = requests.filter(music_requests::status.eq_any([pending, accepted, played]));
        }
        GigRequests::Of(guest) => requests = requests.filter(music_requests::requester_id.eq(guest.get())),
        GigRequests::All => {}
    }
    Ok(requests.order(music_requests::id).select(columns::<StoredRequest>()).load(&mut connection).await?)
}

/// Reads the open requests to the DJ of a gig that belong to no gig and were created after `oldest`, before its end.
async fn without_gig(
    mut connection: Reading<'_>,
    gig: &Gig,
    oldest: Timestamp,
) -> Result<Vec<StoredRequest>, StoreFailure> {
    let mut requests = music_requests::table
        .filter(music_requests::dj_id.eq(gig.dj.get()))
        .filter(music_requests::created_at.gt(ColumnTime(oldest)))
        .filter(music_requests::gig_id.is_null())
        .filter(music_requests::status.eq_any(open_statuses()))
        .into_boxed::<Database>();
    if let Some(ended_at) = gig.ended_at {
        requests = requests.filter(music_requests::created_at.lt(ColumnTime(ended_at)));
    }
    Ok(requests.select(columns::<StoredRequest>()).load(&mut connection).await?)
}

#[async_trait]
impl Gigs for SqlStore {
    async fn open_gig(&self, dj: UserId) -> Result<Option<Gig>, Unavailable> {
        let row = self.read(dj.get(), async |mut connection, dj| {
            let open = gigs::table.filter(gigs::dj_id.eq(dj)).filter(gigs::ended_at.is_null());
            let row: Option<StoredGig> =
                open.select(columns::<StoredGig>()).first(&mut connection).await.optional()?;
            Ok(row)
        });
        row.await?.map(|row| Gig::of_row(row, &self.currency)).transpose().map_err(Unavailable::new)
    }

    async fn gigs(&self, dj: UserId, asked: PageRequest) -> Result<Rows<Gig>, Unavailable> {
        let input = (dj.get(), asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (dj, asked, currency)| {
            let newest_first = (gigs::opened_at.desc(), gigs::id.desc());
            page!(
                connection, asked, gigs::table.filter(gigs::dj_id.eq(dj)), newest_first => OpenedLastFirst,
                columns::<StoredGig>() => StoredGig, |row| Gig::of_row(row, &currency)
            )
        })
        .await
    }

    async fn code_of(&self, dj: UserId) -> Result<Option<AssignedCode>, Unavailable> {
        let row = self.read(dj.get(), async |mut connection, dj| {
            let newest = gig_codes::table.filter(gig_codes::dj_id.eq(dj)).order(gig_codes::created_at.desc());
            let row: Option<StoredCode> =
                newest.select(columns::<StoredCode>()).first(&mut connection).await.optional()?;
            Ok(row)
        });
        row.await?.map(|row| row.assigned()).transpose().map_err(Unavailable::new)
    }

    async fn assigned(&self, code: DjCode) -> Result<Option<AssignedCode>, Unavailable> {
        let row = self.read(code.as_str().to_owned(), async |mut connection, code| {
            let row = gig_codes::table.find(code).select(columns::<StoredCode>());
            let row: Option<StoredCode> = row.get_result(&mut connection).await.optional()?;
            Ok(row)
        });
        row.await?.map(|row| row.assigned()).transpose().map_err(Unavailable::new)
    }

    async fn gig_requests(
        &self,
        gig: &Gig,
        which: GigRequests,
        oldest: Timestamp,
    ) -> Result<Vec<MusicRequest>, Unavailable> {
        let with = self
            .read((gig.id, which), async |connection, (gig, which)| with_gig(connection, gig, which).await);
        let without = self.read((gig.clone(), oldest), async |connection, (gig, oldest)| {
            without_gig(connection, &gig, oldest).await
        });
        let rows = with.await?.into_iter().chain(without.await?);
        let mut requests = rows
            .map(|row| row.request(&self.currency))
            .collect::<Result<Vec<_>, Corrupt>>()
            .map_err(Unavailable::new)?;
        requests.sort_unstable_by_key(|request| request.id);
        Ok(requests)
    }

    async fn open_in_gig(&self, gig: GigId, now: Timestamp) -> Result<u64, Unavailable> {
        let count: i64 = self
            .read((gig.get(), now), async |mut connection, (gig, now)| {
                let open = music_requests::table
                    .filter(music_requests::gig_id.eq(gig))
                    .filter(music_requests::status.eq_any(open_statuses()))
                    .filter(music_requests::expires_at.gt(ColumnTime(now)));
                Ok(open.count().get_result(&mut connection).await?)
            })
            .await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    async fn dedications(
        &self,
        of: &BTreeSet<RequestId>,
    ) -> Result<HashMap<RequestId, ShortMessage>, Unavailable> {
        let ids: Vec<i64> = of.iter().map(|id| id.get()).collect();
        let rows = self.read(ids, async |mut connection, ids| {
            let rows = request_messages::table.filter(request_messages::request_id.eq_any(ids));
            let rows: Vec<StoredDedication> =
                rows.select(columns::<StoredDedication>()).load(&mut connection).await?;
            Ok(rows)
        });
        let dedication = |row: StoredDedication| {
            let id = known("request_messages.request_id", RequestId::new(row.request_id))?;
            Ok((id, ShortMessage::from_stored(row.message)))
        };
        let rows = rows.await?.into_iter().map(dedication);
        rows.collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
    }

    async fn stars(&self, of: &BTreeSet<RequestId>) -> Result<BTreeMap<RequestId, Stars>, Unavailable> {
        let ids: Vec<i64> = of.iter().map(|id| id.get()).collect();
        let rows = self.read(ids, async |mut connection, ids| {
            let rows = ratings::table.filter(ratings::request_id.eq_any(ids));
            let rows: Vec<StoredRating> =
                rows.select(columns::<StoredRating>()).load(&mut connection).await?;
            Ok(rows)
        });
        let stars = |row: StoredRating| {
            let rating = RequestRating::of_row(row, &self.currency)?;
            Ok((rating.id.request(), rating.stars))
        };
        rows.await?.into_iter().map(stars).collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
    }

    async fn open_gigs_between(&self, south: f64, north: f64, limit: u32) -> Result<Vec<Gig>, Unavailable> {
        let input = (south, north, limit, self.currency.clone());
        self.read_aside(input, async |mut connection, (south, north, limit, currency)| {
            let value = |row: StoredGig| Gig::of_row(row, &currency);
            work_list!(connection, open_between(south, north), limit, gigs => StoredGig, value)
        })
        .await
    }

    async fn gigs_to_end(
        &self,
        opened_by: Timestamp,
        after: Option<GigId>,
        limit: u32,
    ) -> Result<Vec<Gig>, Unavailable> {
        let input = (opened_by, after.map_or(0, GigId::get), limit, self.currency.clone());
        self.read_aside(input, async |mut connection, (opened_by, after, limit, currency)| {
            let value = |row: StoredGig| Gig::of_row(row, &currency);
            work_list!(connection, to_end(opened_by, after), limit, gigs => StoredGig, value)
        })
        .await
    }

    async fn unsettled_gigs(&self, after: Option<GigId>, limit: u32) -> Result<Vec<Gig>, Unavailable> {
        let input = (after.map_or(0, GigId::get), limit, self.currency.clone());
        self.read_aside(input, async |mut connection, (after, limit, currency)| {
            let value = |row: StoredGig| Gig::of_row(row, &currency);
            work_list!(connection, unsettled(after), limit, gigs => StoredGig, value)
        })
        .await
    }

    async fn settle_gig(&self, gig: GigId) -> Result<(), Unavailable> {
        let settled = self.transact_repeatable(gig.get(), async |connection, gig| {
            // Waits for requests of the gig whose commits wait for a standby: they hold a lock on the gig.
            let ended = gigs::table.find(gig).filter(gigs::ended_at.is_not_null()).select(gigs::id);
            let ended: Option<i64> = locked!(for_update, ended).get_result(connection).await.optional()?;
            let open = music_requests::table
                .filter(music_requests::gig_id.eq(gig))
                .filter(music_requests::status.eq_any(open_statuses()));
            let is_open: bool = diesel::select(exists(open)).get_result(connection).await?;
            if ended.is_some() && !is_open {
                diesel::update(gigs::table.find(gig)).set(gigs::settled.eq(true)).execute(connection).await?;
            }
            Ok(())
        });
        Ok(settled.await?)
    }
}
