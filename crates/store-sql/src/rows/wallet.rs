//! Wallets.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, ChainHash, Wallet};
use cuepoint_domain::money::Currency;
use cuepoint_domain::timestamp::Timestamp;

use super::{Corrupt, Sum, hash, known, money};

/// A wallet with the end of its chain.
#[derive(Clone, Debug)]
pub struct StoredWallet {
    pub user_id: i64,
    pub available: Sum,
    pub held: Sum,
    pub owed: Sum,
    pub seq: i64,
    pub last_at: Timestamp,
    pub head: Vec<u8>,
}

impl StoredWallet {
    /// Converts a wallet to its row.
    #[must_use]
    pub fn of(wallet: &Wallet, currency: &Currency) -> Self {
        Self {
            user_id: wallet.user.get(),
            available: Sum::of(currency, wallet.balance.available),
            held: Sum::of(currency, wallet.balance.held),
            owed: Sum::of(currency, wallet.balance.owed),
            seq: wallet.seq,
            last_at: wallet.last_at,
            head: wallet.head.0.to_vec(),
        }
    }

    /// Returns the balance alone.
    ///
    /// # Errors
    /// [`Corrupt`] if a column holds an invalid value.
    pub fn balance(&self, currency: &Currency) -> Result<Balance, Corrupt> {
        Ok(Balance {
            available: money(currency, "available", &self.available)?,
            held: money(currency, "held", &self.held)?,
            owed: money(currency, "owed", &self.owed)?,
        })
    }

    /// Converts the row to its wallet.
    ///
    /// # Errors
    /// [`Corrupt`] if a column holds an invalid value.
    pub fn wallet(self, currency: &Currency) -> Result<Wallet, Corrupt> {
        Ok(Wallet {
            balance: self.balance(currency)?,
            user: known("wallets.user_id", UserId::new(self.user_id))?,
            seq: self.seq,
            last_at: self.last_at,
            head: ChainHash(hash("head", &self.head)?),
        })
    }
}
