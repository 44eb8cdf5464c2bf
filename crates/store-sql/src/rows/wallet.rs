//! Wallets.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, ChainHash, Wallet};
use cuepoint_domain::money::Currency;

use super::{Corrupt, Sum, hash, known, money};
use crate::schema::StoredWallet;

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
    pub fn balance(&self, currency: &Currency) -> Result<Balance, Corrupt> {
        Ok(Balance {
            available: money(currency, "wallets.available", &self.available)?,
            held: money(currency, "wallets.held", &self.held)?,
            owed: money(currency, "wallets.owed", &self.owed)?,
        })
    }

    /// Converts the row to its wallet.
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
