//! People: one's own profile, and the DJs that anybody may look at.

use std::sync::Arc;

use crate::access::{Action, Caller, Denied, Whose};
use crate::ids::UserId;
use crate::ledger::Rejection;
use crate::page::{PageRequest, Rows};
use crate::people::{ProfileChange, ProfileRefusal, User};
use crate::plans;
use crate::ports::{Applied, ApplyError, DjFilter, People, Profile, Unavailable};
use crate::service::desk::{Command, Desk, Obstacle};

/// Why something is not shown.
#[derive(Debug)]
pub enum FindError {
    /// There is no such thing, or it is none of the caller's business.
    NotFound,
    /// The caller may not do this, although they have to do with it.
    Denied,
    /// The storage cannot be reached.
    Unavailable(Unavailable),
}

impl From<Denied> for FindError {
    fn from(Denied: Denied) -> Self {
        Self::Denied
    }
}

impl From<Unavailable> for FindError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// Why a profile is not changed.
#[derive(Debug)]
pub enum ChangeProfileError {
    /// The change is none that this person can make.
    Refused(ProfileRefusal),
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for ChangeProfileError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<ApplyError> for ChangeProfileError {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Rejected(Rejection::Profile(refusal)) => Self::Refused(refusal),
            other => Self::Obstacle(other.into()),
        }
    }
}

/// The use cases of people.
#[derive(Clone)]
pub struct Profiles {
    pub(super) desk: Desk,
    pub(super) people: Arc<dyn People>,
}

impl Profiles {
    /// The caller with their wallet.
    ///
    /// # Errors
    /// [`FindError::NotFound`] when the caller does not exist.
    pub async fn own(&self, caller: &Caller) -> Result<Profile, FindError> {
        caller.may(Action::UseProfile, Whose::Own)?;
        self.people.profile(caller.user).await?.ok_or(FindError::NotFound)
    }

    /// Changes the caller's own profile.
    ///
    /// # Errors
    /// [`ChangeProfileError`].
    pub async fn change(
        &self,
        command: &Command,
        change: ProfileChange,
    ) -> Result<Applied, ChangeProfileError> {
        command.may(Action::UseProfile, Whose::Own)?;
        if change.is_for_djs() {
            command.may(Action::TakeRequests, Whose::Own)?;
        }
        let origin = self.desk.origin(command, self.desk.ids.operation());
        Ok(self.desk.apply(plans::change_profile(origin, command.caller.user, change)).await?)
    }

    /// A page of DJs.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn djs(
        &self,
        caller: &Caller,
        filter: DjFilter,
        page: PageRequest,
    ) -> Result<Rows<User>, FindError> {
        caller.may(Action::ReadDjs, Whose::Others)?;
        Ok(self.people.djs(filter, page).await?)
    }

    /// One DJ.
    ///
    /// # Errors
    /// [`FindError::NotFound`] when there is no such person, or they are no DJ.
    pub async fn dj(&self, caller: &Caller, id: UserId) -> Result<User, FindError> {
        caller.may(Action::ReadDjs, Whose::of(id, caller))?;
        let found = self.people.profile(id).await?.map(|profile| profile.user);
        found.filter(|user| user.is_dj() && user.erased_at.is_none()).ok_or(FindError::NotFound)
    }
}
