//! Wallets.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, ChainHash, Wallet};
use cuepoint_domain::money::Currency;
use diesel::prelude::*;
use time::OffsetDateTime;

use super::{Corrupt, column_time, hash, known, money, timestamp};
use crate::schema::wallets;

/// A wallet with the end of its chain.
#[derive(Clone, Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = wallets, check_for_backend(diesel::pg::Pg))]
pub(crate) struct WalletRow {
    pub(crate) user_id: i64,
    pub(crate) available: BigDecimal,
    pub(crate) held: BigDecimal,
    pub(crate) owed: BigDecimal,
    pub(crate) seq: i64,
    pub(crate) last_at: OffsetDateTime,
    pub(crate) head: Vec<u8>,
}

impl WalletRow {
    pub(crate) fn of(wallet: &Wallet, currency: &Currency) -> Self {
        Self {
            user_id: wallet.user.get(),
            available: currency.to_decimal(wallet.balance.available),
            held: currency.to_decimal(wallet.balance.held),
            owed: currency.to_decimal(wallet.balance.owed),
            seq: wallet.seq,
            last_at: column_time(wallet.last_at),
            head: wallet.head.0.to_vec(),
        }
    }

    pub(crate) fn balance(&self, currency: &Currency) -> Result<Balance, Corrupt> {
        Ok(Balance {
            available: money(currency, "available", &self.available)?,
            held: money(currency, "held", &self.held)?,
            owed: money(currency, "owed", &self.owed)?,
        })
    }

    pub(crate) fn wallet(self, currency: &Currency) -> Result<Wallet, Corrupt> {
        Ok(Wallet {
            balance: self.balance(currency)?,
            user: known("wallets.user_id", UserId::new(self.user_id))?,
            seq: self.seq,
            last_at: timestamp(self.last_at),
            head: ChainHash(hash("head", &self.head)?),
        })
    }
}
