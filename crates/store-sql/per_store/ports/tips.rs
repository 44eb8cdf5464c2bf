//! The port of tips.

use async_trait::async_trait;
use cuepoint_domain::ids::{GigId, UserId};
use cuepoint_domain::money::Amount;
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Tips, Unavailable};
use cuepoint_domain::tip::{Tip, TipDirection, TipFilter};
use cuepoint_store_sql::Rowed;
use cuepoint_store_sql::rows::{Corrupt, StoredTip, Sum, known};
use cuepoint_store_sql::schema::tips::{self, table};
use diesel::dsl::exists;
use diesel::prelude::*;

use crate::SqlStore;
use crate::dialect::{RunQueryDsl, columns, page};

#[async_trait]
impl Tips for SqlStore {
    async fn tips(&self, filter: &TipFilter, asked: PageRequest) -> Result<Rows<Tip>, Unavailable> {
        let input = (*filter, asked, self.currency.clone());
        self.list(asked, input, async |mut connection, (filter, asked, currency)| {
            macro_rules! of {
                ($side:expr) => {
                    page!(
                        connection, asked, table.filter($side.eq(filter.user.get())),
                        (tips::created_at.desc(), tips::id.desc()) => NewestFirst,
                        columns::<StoredTip>() => StoredTip, |row| Tip::of_row(row, &currency)
                    )
                };
            }
            match filter.direction {
                TipDirection::Given => of!(tips::guest_id),
                TipDirection::Received => of!(tips::dj_id),
            }
        })
        .await
    }

    async fn has_tipped(&self, guest: UserId, dj: UserId) -> Result<bool, Unavailable> {
        self.read((guest.get(), dj.get()), async |mut connection, (guest, dj)| {
            // From the index of either user's tips.
            let given = table.filter(tips::guest_id.eq(guest)).filter(tips::dj_id.eq(dj));
            Ok(diesel::select(exists(given)).get_result(&mut connection).await?)
        })
        .await
    }

    async fn tips_in_gig(&self, gig: GigId) -> Result<Vec<Amount>, Unavailable> {
        let rows = self.read_aside(gig.get(), async |mut connection, gig| {
            let amounts: Vec<Sum> =
                table.filter(tips::gig_id.eq(gig)).select(tips::amount).load(&mut connection).await?;
            Ok(amounts)
        });
        let amount = |sum: Sum| known("tips.amount", Amount::new(sum.money(&self.currency, "tips.amount")?));
        rows.await?.into_iter().map(amount).collect::<Result<_, Corrupt>>().map_err(Unavailable::new)
    }
}
