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

use super::lists::{limits, rows};
use crate::SqliteStore;
use crate::writer::Repetition;

/// A block with its guest's name.
pub(super) type NamedRow = (i64, String, Timestamp);

pub(super) fn block((guest, name, at): NamedRow) -> Result<Block, Corrupt> {
    let guest = known("blocks.guest_id", UserId::new(guest))?;
    Ok(Block { guest, name: Line::from_stored(name), at })
}

#[async_trait]
impl Blocks for SqliteStore {
    async fn block(&self, dj: UserId, guest: UserId, at: Timestamp) -> Result<Option<Block>, Unavailable> {
        let (dj, guest) = (dj.get(), guest.get());
        let add = move |connection: &mut SqliteConnection| {
            for user in [dj, guest] {
                let present = users::table.find(user).filter(is_present());
                if !diesel::select(exists(present)).get_result::<bool>(connection)? {
                    return Ok(None);
                }
            }
            diesel::insert_into(blocks::table)
                .values((blocks::dj_id.eq(dj), blocks::guest_id.eq(guest), blocks::at.eq(ColumnTime(at))))
                .on_conflict_do_nothing()
                .execute(connection)?;
            let row: NamedRow = blocks::table
                .find((dj, guest))
                .inner_join(users::table)
                .select((blocks::guest_id, users::name, blocks::at))
                .get_result(connection)?;
            Ok(Some(block(row)?))
        };
        Ok(self.writer.change(Repetition::Repeatable, add).await?)
    }

    async fn unblock(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        let (dj, guest) = (dj.get(), guest.get());
        let remove = move |connection: &mut SqliteConnection| {
            Ok(diesel::delete(blocks::table.find((dj, guest))).execute(connection)? > 0)
        };
        Ok(self.writer.change(Repetition::Once, remove).await?)
    }

    async fn is_blocked(&self, dj: UserId, guest: UserId) -> Result<bool, Unavailable> {
        self.readers.read(|connection| {
            let blocked = blocks::table.find((dj.get(), guest.get()));
            Ok(diesel::select(exists(blocked)).get_result(connection)?)
        })
    }

    async fn blocks(&self, dj: UserId, asked: PageRequest) -> Result<Rows<Block>, Unavailable> {
        let (limit, offset) = limits(asked);
        let page = move |connection: &mut SqliteConnection| {
            // Blocks of users who are being erased may remain for a while.
            let theirs = blocks::table.inner_join(users::table);
            let theirs = theirs.filter(blocks::dj_id.eq(dj.get()).and(is_present()));
            let total: i64 = theirs.count().get_result(connection)?;
            let found: Vec<NamedRow> = theirs
                .order((blocks::at.desc(), blocks::guest_id.desc()))
                .limit(limit)
                .offset(offset)
                .select((blocks::guest_id, users::name, blocks::at))
                .load(connection)?;
            rows(total, found, block)
        };
        self.readers.list(asked, page).await
    }
}
