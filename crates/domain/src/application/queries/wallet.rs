//! The principal's own wallet: balance and statement.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::authorization::{Principal, permission};
use crate::ledger::{Balance, Entry, EntryKind};
use crate::page::{PageRequest, Rows};
use crate::timestamp::Timestamp;

/// Reads wallets.
#[derive(Clone)]
pub struct WalletQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl WalletQueries {
    /// The balance of the principal's wallet.
    pub async fn balance(&self, principal: &Principal) -> Result<Balance, Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        self.env.wallets.balance(*owner).await?.ok_or(Failure::UnknownPrincipal)
    }

    /// The balance of the principal's wallet at this time.
    pub async fn balance_at(&self, principal: &Principal, at: Timestamp) -> Result<Balance, Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        self.env.wallets.balance_at(*owner, at).await?.ok_or(Failure::UnknownPrincipal)
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
