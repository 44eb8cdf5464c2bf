//! The operations of staff on other people's top-ups: search, reversal of charged-back ones, and settlement of money
//! that came for erased accounts.

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::ids::{TopupId, UserId};
use crate::page::{PageRequest, Rows};
use crate::plans;
use crate::ports::{Applied, Topups, Unavailable};
use crate::provider_reference::ProviderReference;
use crate::service::desk::{Command, Desk, Obstacle};
use crate::service::profiles::FindError;
use crate::text::Line;
use crate::topup::{ReversalRefusal, SuspenseRefusal, Topup};

/// Which top-ups staff looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TopupSearch {
    /// The one that the payment provider knows by this reference.
    Reference(ProviderReference),
    /// All of one person.
    User(UserId),
    /// The one with this reference, if it is this person's.
    Both(ProviderReference, UserId),
}

/// Why the money of a top-up is not taken back.
#[derive(Debug)]
pub enum ReverseTopupError {
    /// Its status does not allow a reversal.
    InvalidTransition(ReversalRefusal),
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why money in suspense is not settled.
#[derive(Debug)]
pub enum SettleSuspenseError {
    /// It was settled already.
    AlreadySettled,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for ReverseTopupError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<ReversalRefusal> for ReverseTopupError {
    fn from(refusal: ReversalRefusal) -> Self {
        Self::InvalidTransition(refusal)
    }
}

impl From<Obstacle> for SettleSuspenseError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<SuspenseRefusal> for SettleSuspenseError {
    fn from(refusal: SuspenseRefusal) -> Self {
        match refusal {
            SuspenseRefusal::AlreadySettled => Self::AlreadySettled,
            SuspenseRefusal::NothingThere => {
                Self::Obstacle(Obstacle::Broken("money in suspense was found and is gone"))
            }
        }
    }
}

/// The use cases of staff about top-ups.
#[derive(Clone)]
pub struct OperatorTopups {
    pub(super) desk: Desk,
    pub(super) topups: Arc<dyn Topups>,
}

impl OperatorTopups {
    /// A page of the top-ups that are looked for, newest first.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn topups(
        &self,
        caller: &Caller,
        search: TopupSearch,
        page: PageRequest,
    ) -> Result<Rows<Topup>, FindError> {
        caller.may(Action::ReadTopups, Whose::Others)?;
        let (reference, user) = match search {
            TopupSearch::User(user) => return Ok(self.topups.topups(user, page).await?),
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
            ProviderReference::Operation(opening) => self.topups.topup_opened_by(opening).await?,
            ProviderReference::Row(id) => match TopupId::new(id) {
                Some(id) => self.topups.topup(id).await?,
                None => None,
            },
        };
        // A decimal reference leads to the row with this id, which may have another one.
        Ok(found.filter(|topup| topup.reference() == reference))
    }

    /// Anybody's top-up.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn topup(&self, caller: &Caller, id: TopupId) -> Result<Topup, FindError> {
        caller.may(Action::ReadTopups, Whose::Others)?;
        self.topups.topup(id).await?.ok_or(FindError::NotFound)
    }

    /// A top-up whose money the caller may take back.
    ///
    /// # Errors
    /// [`FindError`]; denied is one's own.
    pub async fn reversible(&self, caller: &Caller, id: TopupId) -> Result<Topup, FindError> {
        let topup = self.topups.topup(id).await?.ok_or(FindError::NotFound)?;
        caller.may(Action::ReverseTopup, Whose::of(topup.user, caller))?;
        Ok(topup)
    }

    /// Takes the money of a top-up back that [`OperatorTopups::reversible`] found.
    ///
    /// # Errors
    /// [`ReverseTopupError`].
    pub async fn reverse(
        &self,
        command: &Command,
        reason: Line,
        topup: Topup,
    ) -> Result<Applied, ReverseTopupError> {
        command.may(Action::ReverseTopup, Whose::of(topup.user, &command.caller))?;
        let id = topup.id;
        let load = || self.topups.topup(id);
        let decide = |origin, topup: &_| Ok(plans::reverse_topup(origin, topup)?);
        self.desk.change(self.desk.operator_origin(command, Some(reason)), topup, load, decide).await
    }

    /// A page of the top-ups whose money came after their owners were erased, those first that nobody has dealt with.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn suspense(&self, caller: &Caller, page: PageRequest) -> Result<Rows<Topup>, FindError> {
        caller.may(Action::ReadTopups, Whose::Others)?;
        Ok(self.topups.topups_in_suspense(page).await?)
    }

    /// A top-up whose money in suspense the caller may settle.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn suspended(&self, caller: &Caller, id: TopupId) -> Result<Topup, FindError> {
        caller.may(Action::SettleSuspense, Whose::Others)?;
        let topup = self.topups.topup(id).await?;
        topup.filter(|topup| topup.suspense.is_some()).ok_or(FindError::NotFound)
    }

    /// Takes money out of suspense that [`OperatorTopups::suspended`] found.
    ///
    /// # Errors
    /// [`SettleSuspenseError`].
    pub async fn settle(
        &self,
        command: &Command,
        reason: Line,
        topup: Topup,
    ) -> Result<Applied, SettleSuspenseError> {
        command.may(Action::SettleSuspense, Whose::Others)?;
        let (id, operator) = (topup.id, command.caller.user);
        let load = || self.topups.topup(id);
        let decide = |origin, topup: &_| Ok(plans::settle_suspense(origin, topup, operator, reason.clone())?);
        self.desk.change(self.desk.operator_origin(command, None), topup, load, decide).await
    }
}
