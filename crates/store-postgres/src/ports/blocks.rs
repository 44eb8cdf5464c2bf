//! Blocks of guests by DJs.

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Blocks, Unavailable};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Block;
use cuepoint_store_sql::rows::{Corrupt, is_present, known};
use cuepoint_store_sql::schema::{blocks, users};
use cuepoint_store_sql::sql_types::ColumnTime;
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl};

use crate::PostgresStore;
use crate::connect::failure::DatabaseFailure;
use crate::reads::{BlockedLastFirst, Counted, limits, paged};

/// A block with its guest's name.
pub(crate) type NamedRow = (i64, String, Timestamp);

pub(crate) fn block((guest, name, at): NamedRow) -> Result<Block, Corrupt> {
    let guest = known("blocks.guest_id", UserId::new(guest))?;
    Ok(Block { guest, name: Line::from_stored(name), at })
}

/// Whether neither user is erased; prevents their erasure until the transaction ends, since a block would
/// outlive it. The rows are locked by id to avoid deadlocks.
async fn are_somebody(
    connection: &mut AsyncPgConnection,
    dj: UserId,
    guest: UserId,
) -> Result<bool, DatabaseFailure> {
    let both = [dj.get(), guest.get()];
    let found: Vec<i64> = users::table
        .filter(users::id.eq_any(both))
        .filter(is_present())
        .order(users::id)
        .for_share()
        .select(users::id)
        .load(connection)
        .await?;
    Ok(both.iter().all(|id| found.contains(id)))
}

#[async_trait]
impl Blocks for PostgresStore {
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable> {
        let blocked: Option<NamedRow> = self
            .database
            .write(async |connection| {
                connection
                    .transaction(async |connection| {
                        if !are_somebody(connection, dj, guest).await? {
                            return Ok(None);
                        }
                        diesel::insert_into(blocks::table)
                            .values((
                                blocks::dj_id.eq(dj.get()),
                                blocks::guest_id.eq(guest.get()),
                                blocks::at.eq(ColumnTime(at)),
                            ))
                            .on_conflict_do_nothing()
                            .execute(connection)
                            .await?;
                        Ok::<_, DatabaseFailure>(
                            blocks::table
                                .find((dj.get(), guest.get()))
                                .inner_join(users::table)
                                .select((blocks::guest_id, users::name, blocks::at))
                                .get_result(connection)
                                .await
                                .optional()?,
                        )
                    })
                    .await
            })
            .await?;
        blocked.map(block).transpose().map_err(Unavailable::new)
    }

    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        let unblocked = self
            .database
            .write(async |connection| {
                Ok(diesel::delete(blocks::table.find((dj.get(), guest.get()))).execute(connection).await?)
            })
            .await?;
        Ok(unblocked > 0)
    }

    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        let blocked = self
            .database
            .read(async |mut connection| {
                let blocked = blocks::table.find((dj.get(), guest.get()));
                Ok(diesel::select(exists(blocked)).get_result(&mut connection).await?)
            })
            .await?;
        Ok(blocked)
    }

    async fn blocks(&self, dj: UserId, asked: PageRequest) -> Result<Rows<Block>, Unavailable> {
        let (limit, offset) = limits(asked);
        let counted: Counted<NamedRow> = self
            .database
            .read(async |connection| {
                // Blocks of users who are being erased may remain for a while.
                let theirs = blocks::table.inner_join(users::table);
                let theirs = theirs.filter(blocks::dj_id.eq(dj.get()).and(is_present()));
                let page = theirs
                    .order((blocks::at.desc(), blocks::guest_id.desc()))
                    .limit(limit)
                    .offset(offset)
                    .select((blocks::guest_id, users::name, blocks::at));
                paged!(connection, theirs.count(), page, BlockedLastFirst, offset)
            })
            .await?;
        counted.page(block).map_err(Unavailable::new)
    }
}
