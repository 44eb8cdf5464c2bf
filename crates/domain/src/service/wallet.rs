//! A person's own wallet: what is in it, how that came, and what was paid in.

use std::sync::Arc;

use crate::access::{Action, Caller, Denied, Whose};
use crate::ids::TopupId;
use crate::ledger::{Balance, Entry};
use crate::page::{PageRequest, Rows};
use crate::ports::{Topups, Wallets};
use crate::service::profiles::FindError;
use crate::timestamp::Timestamp;
use crate::topup::Topup;

/// The use cases of a wallet.
#[derive(Clone)]
pub struct Wallet {
    pub(super) wallets: Arc<dyn Wallets>,
    pub(super) topups: Arc<dyn Topups>,
}

impl Wallet {
    /// What is in the caller's wallet.
    ///
    /// # Errors
    /// [`FindError::NotFound`] when the caller does not exist.
    pub async fn balance(&self, caller: &Caller) -> Result<Balance, FindError> {
        caller.may(Action::UseWallet, Whose::Own)?;
        self.wallets.balance(caller.user).await?.ok_or(FindError::NotFound)
    }

    /// What was in the caller's wallet at this moment.
    ///
    /// # Errors
    /// [`FindError::NotFound`] when the caller does not exist.
    pub async fn balance_at(&self, caller: &Caller, at: Timestamp) -> Result<Balance, FindError> {
        caller.may(Action::UseWallet, Whose::Own)?;
        self.wallets.balance_at(caller.user, at).await?.ok_or(FindError::NotFound)
    }

    /// A page of the caller's statement, newest first.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn entries(&self, caller: &Caller, page: PageRequest) -> Result<Rows<Entry>, FindError> {
        caller.may(Action::UseWallet, Whose::Own)?;
        Ok(self.wallets.entries(caller.user, page).await?)
    }

    /// A page of the caller's own top-ups.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn topups(&self, caller: &Caller, page: PageRequest) -> Result<Rows<Topup>, FindError> {
        caller.may(Action::UseWallet, Whose::Own)?;
        Ok(self.topups.topups(caller.user, page).await?)
    }

    /// The caller's own top-up.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn own_topup(&self, caller: &Caller, id: TopupId) -> Result<Topup, FindError> {
        let topup = self.topups.topup(id).await?.ok_or(FindError::NotFound)?;
        let whose = Whose::of(topup.user, caller);
        caller.may(Action::UseWallet, whose).map_err(|Denied| FindError::NotFound)?;
        Ok(topup)
    }
}
