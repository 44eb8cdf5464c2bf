//! Tips.

use cuepoint_domain::ids::{GigId, TipId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::tip::Tip;

use super::{Corrupt, Sum, amount, known, money};
use crate::entity_rows::Rowed;
use crate::schema::StoredTip;

impl Rowed for Tip {
    type Row = StoredTip;

    fn row(&self, currency: &Currency) -> StoredTip {
        StoredTip {
            id: self.id.get(),
            guest_id: self.guest.get(),
            dj_id: self.dj.get(),
            gig_id: self.gig.get(),
            amount: Sum::of(currency, self.amount.money()),
            commission: Sum::of(currency, self.commission),
            created_at: self.created_at,
        }
    }

    fn of_row(row: StoredTip, currency: &Currency) -> Result<Self, Corrupt> {
        Ok(Self {
            id: known("tips.id", TipId::new(row.id))?,
            guest: known("tips.guest_id", UserId::new(row.guest_id))?,
            dj: known("tips.dj_id", UserId::new(row.dj_id))?,
            gig: known("tips.gig_id", GigId::new(row.gig_id))?,
            amount: amount(currency, "tips.amount", &row.amount)?,
            commission: money(currency, "tips.commission", &row.commission)?,
            created_at: row.created_at,
        })
    }
}
