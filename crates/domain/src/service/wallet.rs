//! A person's own wallet: what is in it, how that came, and what was paid in.

use std::sync::Arc;

use crate::access::{Action, Caller, Denied, Whose};
use crate::ids::TopupId;
use crate::ledger::{Balance, Entry, Origin};
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Topups, Wallets};
use crate::provider_reference::{MessageSubject, ProviderReference};
use crate::service::desk::{Desk, Obstacle};
use crate::service::messages::{Identified, TellError, identified};
use crate::service::profiles::FindError;
use crate::timestamp::Timestamp;
use crate::topup::{Topup, TopupStatus};

/// What the provider's word about a top-up came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopupTold {
    /// The top-up ended so.
    Settled,
    /// It was known already.
    Known,
    /// The top-up ended otherwise, and nothing changed: somebody has to look at it.
    Contradiction(TopupStatus),
}

/// The use cases of a wallet.
#[derive(Clone)]
pub struct Wallet {
    pub(super) desk: Desk,
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

    /// Which top-up a provider's message is about.
    ///
    /// # Errors
    /// [`TellError`].
    pub async fn topup_named(&self, subject: MessageSubject) -> Result<Identified<TopupId>, TellError> {
        let found = match subject.key() {
            ProviderReference::Operation(opening) => self.topups.topup_opened_by(opening).await?,
            ProviderReference::Row(id) => match TopupId::new(id) {
                Some(id) => self.topups.topup(id).await?,
                None => None,
            },
        };
        let topup = found.ok_or(TellError::NotFound)?;
        identified(subject.matches(topup.id.get(), topup.reference()), topup.id)
    }

    /// Hears the provider's word that the money of a top-up came, or never will, however often it is said.
    ///
    /// # Errors
    /// [`TellError`].
    pub async fn topup_told(&self, id: TopupId, confirmed: bool) -> Result<TopupTold, TellError> {
        let word = if confirmed { TopupStatus::Confirmed } else { TopupStatus::Failed };
        let topup = self.topups.topup(id).await?.ok_or(TellError::NotFound)?;
        let told = match topup.status {
            TopupStatus::Pending => TopupTold::Settled,
            // Where a newer version put it; that version is to hear it.
            TopupStatus::Unknown(_) => return Err(Obstacle::Conflict.into()),
            known if known == word => return Ok(TopupTold::Known),
            other => return Ok(TopupTold::Contradiction(other)),
        };
        let origin = Origin::system(self.desk.ids.operation(), self.desk.now());
        let decide = |origin, topup: &_| Ok(plans::settle_topup(origin, topup, confirmed));
        let settled: Result<_, TellError> =
            self.desk.change(origin, topup, || self.topups.topup(id), decide).await;
        settled.map(|_| told)
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
