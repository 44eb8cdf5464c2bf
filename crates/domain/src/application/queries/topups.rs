//! Top-ups, as their owners and staff see them.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Authorized, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::gig::DjCode;
use crate::ids::{TopupId, UserId};
use crate::page::{PageRequest, Rows};
use crate::ports::Unavailable;
use crate::provider_reference::ProviderReference;
use crate::topup::{Topup, TopupFilter, TopupStatus};

/// A staff search for top-ups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopupSearch {
    /// The top-up with this reference at the payment provider.
    Reference(ProviderReference),
    /// All top-ups of one user.
    User(UserId),
    /// The top-up with this reference, if it belongs to this user.
    Both(ProviderReference, UserId),
}

/// A top-up as the reader of its page sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeenTopup {
    /// The reader's own.
    Own(Box<Topup>),
    /// Another user's, or anybody's for a reader without a session. Its reference cannot be guessed, and nothing else is
    /// shown.
    Other {
        status: TopupStatus,
        /// The code of the page on which the payment began.
        page_code: Option<DjCode>,
    },
}

/// Reads top-ups.
#[derive(Clone)]
pub struct TopupQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl TopupQueries {
    /// A page of the principal's own top-ups, with one status or all.
    pub async fn list(
        &self,
        principal: &Principal,
        status: Option<TopupStatus>,
        page: PageRequest,
    ) -> Result<Rows<Topup>, Failure> {
        let owner = Authorized::<_, permission::UseWallet>::own(principal)?;
        let Rows { rows, total } =
            self.env.topups.topups(&TopupFilter { user: *owner, status }, page).await?;
        let pages = self.env.terms.payment_pages;
        Ok(Rows { rows: rows.into_iter().map(|topup| pages.shown(topup)).collect(), total })
    }

    /// The principal's own top-up.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    pub async fn own(&self, principal: &Principal, id: TopupId) -> Result<Topup, Failure> {
        Ok(self.env.terms.payment_pages.shown(Topup::load(&self.env, id).await?.reveal(principal)?))
    }

    /// The top-up with this reference, as this reader or one without a session sees it.
    ///
    /// # Errors
    /// [`Failure::NotFound`], also for a reference that could be guessed, unless the top-up is the reader's own.
    pub async fn seen(
        &self,
        principal: Option<&Principal>,
        reference: ProviderReference,
    ) -> Result<SeenTopup, Failure> {
        let topup = self.with_reference(reference).await?.ok_or(Failure::NotFound)?;
        if principal.is_some_and(|principal| principal.user == topup.user) {
            return Ok(SeenTopup::Own(Box::new(self.env.terms.payment_pages.shown(topup))));
        }
        match reference {
            ProviderReference::Operation(_) => {
                Ok(SeenTopup::Other { status: topup.status, page_code: topup.page_code })
            }
            ProviderReference::Row(_) => Err(Failure::NotFound),
        }
    }

    /// A page of the top-ups that match a search of staff, newest first.
    pub async fn search(
        &self,
        principal: &Principal,
        search: TopupSearch,
        page: PageRequest,
    ) -> Result<Rows<Topup>, Failure> {
        Authorized::<(), permission::ReadTopups>::all(principal)?;
        let (reference, user) = match search {
            TopupSearch::User(user) => {
                return Ok(self.env.topups.topups(&TopupFilter::of(user), page).await?);
            }
            TopupSearch::Reference(reference) => (reference, None),
            TopupSearch::Both(reference, user) => (reference, Some(user)),
        };
        let found = self.with_reference(reference).await?;
        let found = found.filter(|topup| user.is_none_or(|user| user == topup.user));
        let total = u64::from(found.is_some());
        let rows = found.into_iter().filter(|_| page.offset() == Some(0)).collect();
        Ok(Rows { rows, total })
    }

    async fn with_reference(&self, reference: ProviderReference) -> Result<Option<Topup>, Unavailable> {
        let found = match reference {
            ProviderReference::Operation(opening) => self.env.topups.topup_opened_by(opening).await?,
            ProviderReference::Row(id) => match TopupId::new(id) {
                Some(id) => self.env.topups.topup(id).await?,
                None => None,
            },
        };
        // A decimal reference leads to the row with this id, which may have a different reference.
        Ok(found.filter(|topup| topup.reference() == reference))
    }

    /// The top-up of any user, as staff sees it.
    pub async fn of_any_user(&self, principal: &Principal, id: TopupId) -> Result<Topup, Failure> {
        Authorized::<(), permission::ReadTopups>::all(principal)?;
        Topup::load(&self.env, id).await
    }

    /// A page of the top-ups whose money arrived after their owners were erased, unsettled ones first.
    pub async fn in_suspense(
        &self,
        principal: &Principal,
        page: PageRequest,
    ) -> Result<Rows<Topup>, Failure> {
        Authorized::<(), permission::ReadTopups>::all(principal)?;
        Ok(self.env.topups.topups_in_suspense(page).await?)
    }
}
