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

use crate::SqlStore;
use crate::dialect::{Connection, RunQueryDsl, StoreFailure, locked, page};

/// A block with its guest's name.
pub(crate) type NamedRow = (i64, String, Timestamp);

pub(crate) fn block((guest, name, at): NamedRow) -> Result<Block, Corrupt> {
    let guest = known("blocks.guest_id", UserId::new(guest))?;
    Ok(Block { guest, name: Line::from_stored(name), at })
}

/// Whether neither user is erased; prevents their erasure until the transaction ends, since a block would
/// outlive it. The rows are locked by id to avoid deadlocks.
async fn are_somebody(connection: &mut Connection, both: [i64; 2]) -> Result<bool, StoreFailure> {
    let present = users::table.filter(users::id.eq_any(both)).filter(is_present());
    let present = locked!(for_share, present.select(users::id), users::id);
    let found: Vec<i64> = present.load(connection).await?;
    Ok(both.iter().all(|id| found.contains(id)))
}

#[async_trait]
impl Blocks for SqlStore {
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable> {
        let done =
            self.transact_repeatable((dj.get(), guest.get(), at), async |connection, (dj, guest, at)| {
                if !are_somebody(connection, [dj, guest]).await? {
                    return Ok(None);
                }
                diesel::insert_into(blocks::table)
                    .values((blocks::dj_id.eq(dj), blocks::guest_id.eq(guest), blocks::at.eq(ColumnTime(at))))
                    .on_conflict_do_nothing()
                    .execute(connection)
                    .await?;
                let blocked: Option<NamedRow> = blocks::table
                    .find((dj, guest))
                    .inner_join(users::table)
                    .select((blocks::guest_id, users::name, blocks::at))
                    .get_result(connection)
                    .await
                    .optional()?;
                Ok(blocked.map(block).transpose()?)
            });
        Ok(done.await?)
    }

    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        self.write((dj.get(), guest.get()), async |connection, both| {
            Ok(diesel::delete(blocks::table.find(both)).execute(connection).await? > 0)
        })
        .await
    }

    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        self.read((dj.get(), guest.get()), async |mut connection, both| {
            let blocked = blocks::table.find(both);
            Ok(diesel::select(exists(blocked)).get_result(&mut connection).await?)
        })
        .await
    }

    async fn blocks(&self, dj: UserId, asked: PageRequest) -> Result<Rows<Block>, Unavailable> {
        self.list(asked, (dj.get(), asked), async |mut connection, (dj, asked)| {
            // Blocks of users who are being erased may remain for a while.
            let theirs = blocks::table.inner_join(users::table);
            let theirs = theirs.filter(blocks::dj_id.eq(dj).and(is_present()));
            let newest_first = (blocks::at.desc(), blocks::guest_id.desc());
            let columns = (blocks::guest_id, users::name, blocks::at);
            page!(connection, asked, theirs, newest_first => BlockedLastFirst, columns => NamedRow, block)
        })
        .await
    }
}
