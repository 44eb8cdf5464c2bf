//! The port of gigs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use async_trait::async_trait;
use cuepoint_domain::gig::most_played::Play;
use cuepoint_domain::gig::{AssignedCode, DjCode, Gig, Song};
use cuepoint_domain::ids::{GigId, RequestId, UserId};
use cuepoint_domain::music_request::{MusicRequest, RequestRating, RequestStatus, Voice};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{GigRequests, Gigs, IdsInGig, Unavailable};
use cuepoint_domain::text::{Line, ShortMessage};
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
use crate::dialect::{Database, RunQueryDsl, columns, locked, page};

/// Gigs with their DJs.
type GigsOfDjs = InnerJoin<gigs::table, users::table>;

/// The statuses of open requests.
fn open_statuses() -> Vec<&'static str> {
    RequestStatus::all().filter(|status| status.holds_fee()).map(RequestStatus::name).collect()
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

/// The open gig of a DJ.
#[diesel::dsl::auto_type(no_type_alias)]
fn open_gig(dj: i64) -> _ {
    gigs::table.filter(gigs::dj_id.eq(dj)).filter(gigs::ended_at.is_null())
}

/// The open gigs with a place whose latitude is between these.
fn open_between(south: f64, north: f64) -> IntoBoxed<'static, gigs::table, Database> {
    gigs::table
        .filter(gigs::ended_at.is_null())
        .filter(gigs::latitude.between(south, north))
        .order((gigs::latitude, gigs::id))
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

/// Requests.
type Requests = IntoBoxed<'static, music_requests::table, Database>;

/// The maximum number of ids in one statement.
const IDS: usize = 1_000;

/// The requests with a gig, in any order.
fn with_gig(gig: GigId, which: GigRequests) -> Requests {
    let requests = music_requests::table.filter(music_requests::gig_id.eq(gig.get())).into_boxed();
    let statuses = RequestStatus::all().filter(|status| which.includes(*status)).map(RequestStatus::name);
    requests.filter(music_requests::status.eq_any(statuses.collect::<Vec<_>>()))
}

/// The open requests to the DJ of a gig that belong to no gig and were created after `oldest`, before its end.
fn without_gig(gig: &Gig, oldest: Timestamp) -> Requests {
    let requests = music_requests::table
        .filter(music_requests::dj_id.eq(gig.dj.get()))
        .filter(music_requests::created_at.gt(ColumnTime(oldest)))
        .filter(music_requests::gig_id.is_null())
        .filter(music_requests::status.eq_any(open_statuses()))
        .order(music_requests::id)
        .into_boxed();
    match gig.ended_at {
        Some(ended_at) => requests.filter(music_requests::created_at.lt(ColumnTime(ended_at))),
        None => requests,
    }
}

/// The requests of a guest in a gig that were created after `oldest`, newest first.
fn of_guest(gig: &Gig, guest: UserId, oldest: Timestamp) -> Requests {
    let is_open = music_requests::gig_id.is_null().and(music_requests::status.eq_any(open_statuses()));
    let is_of_gig = || music_requests::gig_id.eq(gig.id.get());
    let requests = music_requests::table
        .filter(music_requests::requester_id.eq(guest.get()))
        .filter(music_requests::created_at.gt(ColumnTime(oldest)))
        .filter(music_requests::dj_id.eq(gig.dj.get()))
        .filter(is_of_gig().or(is_open))
        .order((music_requests::created_at.desc(), music_requests::id.desc()))
        .into_boxed();
    match gig.ended_at {
        Some(end) => requests.filter(is_of_gig().or(music_requests::created_at.lt(ColumnTime(end)))),
        None => requests,
    }
}

#[async_trait]
impl Gigs for SqlStore {
    async fn open_gig(&self, dj: UserId) -> Result<Option<Gig>, Unavailable> {
        let row = self.read(dj.get(), async |mut connection, dj| {
            let open = open_gig(dj).select(columns::<StoredGig>());
            let row: Option<StoredGig> = open.first(&mut connection).await.optional()?;
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
        // One unreadable request must not keep the fees of all others held.
        let input = (gig.id, which, self.currency.clone());
        let with = self.read_aside(input, async |mut connection, (gig, which, currency)| {
            let value = |row: StoredRequest| row.request(&currency);
            work_list!(connection, with_gig(gig, which), which.most_with_gig(), music_requests => StoredRequest, value)
        });
        let mut requests: Vec<MusicRequest> = with.await?;
        let most = which.most_without_gig();
        if most > 0 {
            let input = (gig.clone(), oldest, most, self.currency.clone());
            let without = self.read_aside(input, async |mut connection, (gig, oldest, most, currency)| {
                let value = |row: StoredRequest| row.request(&currency);
                work_list!(connection, without_gig(&gig, oldest), most, music_requests => StoredRequest, value)
            });
            requests.extend(without.await?);
        }
        requests.sort_unstable_by_key(|request| request.id);
        Ok(requests)
    }

    async fn requests_of_guest(
        &self,
        gig: &Gig,
        guest: UserId,
        oldest: Timestamp,
        limit: u32,
    ) -> Result<Vec<MusicRequest>, Unavailable> {
        let input = (gig.clone(), guest, oldest, limit, self.currency.clone());
        self.read(input, async |mut connection, (gig, guest, oldest, limit, currency)| {
            let value = |row: StoredRequest| row.request(&currency);
            work_list!(connection, of_guest(&gig, guest, oldest), limit, music_requests => StoredRequest, value)
        })
        .await
    }

    async fn plays(
        &self,
        dj: UserId,
        created_after: Timestamp,
        limit: u32,
    ) -> Result<Vec<Play>, Unavailable> {
        let input = (dj.get(), created_after, limit);
        let rows = self.read_aside(input, async |mut connection, (dj, created_after, limit)| {
            let played = music_requests::table
                .filter(music_requests::dj_id.eq(dj))
                .filter(music_requests::status.eq(RequestStatus::Played.name()))
                .filter(music_requests::created_at.gt(ColumnTime(created_after)))
                .order((music_requests::created_at.desc(), music_requests::id.desc()))
                .limit(i64::from(limit))
                .select((
                    music_requests::song_title,
                    music_requests::artist_name,
                    music_requests::changed_at,
                ));
            let rows: Vec<(String, String, Timestamp)> = played.load(&mut connection).await?;
            Ok(rows)
        });
        let line = Line::from_stored;
        let play = |(title, artist, at)| Play { song: Song { title: line(title), artist: line(artist) }, at };
        Ok(rows.await?.into_iter().map(play).collect())
    }

    async fn ids_in_gig(&self, gig: GigId) -> Result<IdsInGig, Unavailable> {
        let found = self.read_aside(gig.get(), async |mut connection, gig| {
            let of_gig = || music_requests::table.filter(music_requests::gig_id.eq(gig));
            let cancelled = RequestStatus::Cancelled.name();
            let ids = of_gig().filter(music_requests::status.ne(cancelled)).select(music_requests::id);
            let ids: Vec<i64> = ids.load(&mut connection).await?;
            let cancelled: i64 = of_gig()
                .filter(music_requests::status.eq(cancelled))
                .count()
                .get_result(&mut connection)
                .await?;
            Ok((ids, cancelled))
        });
        let (mut ids, cancelled) = found.await?;
        ids.sort_unstable();
        let id = |id| known("music_requests.id", RequestId::new(id));
        let ids = ids.into_iter().map(id).collect::<Result<_, Corrupt>>().map_err(Unavailable::new)?;
        Ok(IdsInGig { ids, cancelled: u64::try_from(cancelled).unwrap_or_default() })
    }

    async fn requests_of(&self, ids: &[RequestId]) -> Result<Vec<MusicRequest>, Unavailable> {
        let ids: Vec<i64> = ids.iter().take(IDS).map(|id| id.get()).collect();
        let input = (ids, self.currency.clone());
        let requests = self.read_aside(input, async |mut connection, (ids, currency)| {
            let value = |row: StoredRequest| row.request(&currency);
            let of = |ids: &[i64]| {
                music_requests::table.filter(music_requests::id.eq_any(ids.to_vec())).into_boxed()
            };
            work_list!(connection, of(&ids), u32::MAX, music_requests => StoredRequest, value)
        });
        let mut requests: Vec<MusicRequest> = requests.await?;
        requests.sort_unstable_by_key(|request| request.id);
        Ok(requests)
    }

    async fn ratings_in_gig(&self, gig: GigId) -> Result<Vec<(Voice, RequestRating)>, Unavailable> {
        let rows = self.read_aside(gig.get(), async |mut connection, gig| {
            let rated = ratings::table.inner_join(music_requests::table);
            let rated = rated.filter(music_requests::gig_id.eq(gig));
            let voice = (music_requests::requester_id, music_requests::dj_id);
            let rows: Vec<((i64, i64), StoredRating)> =
                rated.select((voice, columns::<StoredRating>())).load(&mut connection).await?;
            Ok(rows)
        });
        let rated = |((guest, dj), row): ((i64, i64), StoredRating)| {
            let user = |column, id| known(column, UserId::new(id));
            let guest = user("music_requests.requester_id", guest)?;
            let voice = Voice { guest, dj: user("music_requests.dj_id", dj)?, gig: Some(gig) };
            Ok((voice, RequestRating::of_row(row, &self.currency)?))
        };
        let rows = rows.await?.into_iter().map(rated);
        rows.collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
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

    async fn ratings(
        &self,
        of: &BTreeSet<RequestId>,
    ) -> Result<BTreeMap<RequestId, RequestRating>, Unavailable> {
        let ids: Vec<i64> = of.iter().map(|id| id.get()).collect();
        let mut found = BTreeMap::new();
        // SQLite has a limit of parameters.
        for ids in ids.chunks(IDS) {
            let rows = self.read_aside(ids.to_vec(), async |mut connection, ids| {
                let rows = ratings::table.filter(ratings::request_id.eq_any(ids));
                let rows: Vec<StoredRating> =
                    rows.select(columns::<StoredRating>()).load(&mut connection).await?;
                Ok(rows)
            });
            for row in rows.await? {
                let rating = RequestRating::of_row(row, &self.currency).map_err(Unavailable::new)?;
                found.insert(rating.id.request(), rating);
            }
        }
        Ok(found)
    }

    async fn open_gigs_between(&self, south: f64, north: f64, limit: u32) -> Result<Vec<Gig>, Unavailable> {
        let input = (south, north, limit, self.currency.clone());
        self.read_aside(input, async |mut connection, (south, north, limit, currency)| {
            let value = |row: StoredGig| Gig::of_row(row, &currency);
            work_list!(connection, open_between(south, north), limit, gigs => StoredGig, value)
        })
        .await
    }

    async fn recent_codes(
        &self,
        ended_after: Timestamp,
        limit: u32,
    ) -> Result<BTreeSet<DjCode>, Unavailable> {
        let rows = self.read_aside((ended_after, limit), async |mut connection, (ended_after, limit)| {
            let limit = i64::from(limit);
            let open = gigs::table.filter(gigs::ended_at.is_null()).order(gigs::id).limit(limit);
            let mut rows: Vec<String> = open.select(gigs::code).load(&mut connection).await?;
            let ended = gigs::table.filter(gigs::ended_at.gt(ColumnTime(ended_after)));
            let ended = ended.order(gigs::ended_at.desc()).limit(limit).select(gigs::code);
            rows.append(&mut ended.load(&mut connection).await?);
            Ok(rows)
        });
        let code = |text: String| known("gigs.code", DjCode::new(&text));
        rows.await?.into_iter().map(code).collect::<Result<_, _>>().map_err(Unavailable::new)
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
