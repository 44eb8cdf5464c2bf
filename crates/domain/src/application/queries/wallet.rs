//! The principal's own wallet: balance and statement.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::authorization::{Principal, permission};
use crate::ids::UserId;
use crate::ledger::{Balance, Entry, EntryKind};
use crate::page::{PageRequest, Rows};
use crate::timestamp::Timestamp;
use crate::withdrawal::Clearing;

/// Reads wallets.
#[derive(Clone)]
pub struct WalletQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl WalletQueries {
    /// The principal's balance at the time `at`, or now, and its clearing part.
    pub async fn balance(
        &self,
        principal: &Principal,
        at: Option<Timestamp>,
    ) -> Result<(Balance, Clearing), Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        let wallets = &self.env.wallets;
        let balance = match at {
            Some(at) => wallets.balance_at(*owner, at).await?,
            None => wallets.balance(*owner).await?,
        };
        let balance = balance.ok_or(Failure::UnknownPrincipal)?;
        Ok((balance, self.clearing_at(*owner, balance, at).await?))
    }

    /// The clearing part of this balance of the principal, which was just read.
    pub async fn clearing(&self, principal: &Principal, balance: Balance) -> Result<Clearing, Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        self.clearing_at(*owner, balance, None).await
    }

    /// The clearing part of this balance of the user at the time `at`, or now.
    async fn clearing_at(
        &self,
        owner: UserId,
        balance: Balance,
        at: Option<Timestamp>,
    ) -> Result<Clearing, Failure> {
        let Some(time) = self.env.terms.withdrawals.clearing_time else { return Ok(Clearing::default()) };
        let now = at.map_or(self.env.now(), |at| at.min(self.env.now()));
        // Income is read after the balance, so that income in between counts as clearing and not as old money.
        let income = self.env.wallets.income(owner, now.minus(time), at).await?;
        Ok(Clearing::of(balance.available, time, now, income))
    }

    /// A page of the principal's statement, newest first; the entries of one kind, or all.
    pub async fn entries(
        &self,
        principal: &Principal,
        kind: Option<EntryKind>,
        page: PageRequest,
    ) -> Result<Rows<Entry>, Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        Ok(match kind {
            Some(kind) => self.env.wallets.entries_of_kind(*owner, kind, page).await?,
            None => self.env.wallets.entries(*owner, page).await?,
        })
    }

    /// The entry of the principal's statement with this number. Each wallet has its own numbers 1, 2, 3…, so
    /// that an entry of another wallet cannot be addressed.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is none.
    pub async fn entry(&self, principal: &Principal, number: i64) -> Result<Entry, Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        self.env.wallets.entry(*owner, number).await?.ok_or(Failure::NotFound)
    }
}
