//! What staff does about people: it finds them, changes how they stand, and reads the security log.

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::ids::UserId;
use crate::ledger::{EntityKind, Rejection};
use crate::page::{PageRequest, Rows};
use crate::people::{StandingChange, User};
use crate::plans;
use crate::ports::{Applied, ApplyError, People};
use crate::security_log::{EventFilter, SecurityEvent};
use crate::service::desk::{Command, Desk, Obstacle};
use crate::service::journal::Journal;
use crate::service::profiles::FindError;
use crate::session::Visitor;
use crate::text::{Email, Line};

/// Why a person's role or suspension is not changed.
#[derive(Debug)]
pub enum ChangeStandingError {
    /// No active operator would remain.
    LastOperator,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for ChangeStandingError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

/// The use cases of staff about people.
#[derive(Clone)]
pub struct Staff {
    pub(super) desk: Desk,
    pub(super) people: Arc<dyn People>,
    pub(super) journal: Journal,
}

impl Staff {
    /// A page of people, newest first: those with this address, or all. Nobody has what is no address.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn people(
        &self,
        caller: &Caller,
        email: Option<&str>,
        page: PageRequest,
    ) -> Result<Rows<User>, FindError> {
        caller.may(Action::ReadPeople, Whose::Others)?;
        let Some(email) = email else { return Ok(self.people.people(None, page).await?) };
        match Email::new(email) {
            Ok(email) => Ok(self.people.people(Some(&email.folded()), page).await?),
            Err(_) => Ok(Rows::none(0)),
        }
    }

    /// A person who was not erased.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn person(&self, caller: &Caller, id: UserId) -> Result<User, FindError> {
        caller.may(Action::ReadPeople, Whose::of(id, caller))?;
        self.found(id).await
    }

    /// A person whose standing the caller may change.
    ///
    /// # Errors
    /// [`FindError`]; denied is oneself.
    pub async fn managed(&self, caller: &Caller, id: UserId) -> Result<User, FindError> {
        caller.may(Action::ManagePeople, Whose::of(id, caller))?;
        self.found(id).await
    }

    /// Changes how a person stands that [`Staff::managed`] found; a suspension ends their sessions.
    ///
    /// # Errors
    /// [`ChangeStandingError`].
    pub async fn change_standing(
        &self,
        command: &Command,
        reason: Line,
        user: &User,
        change: StandingChange,
    ) -> Result<Applied, ChangeStandingError> {
        command.may(Action::ManagePeople, Whose::of(user.id, &command.caller))?;
        let origin = self.desk.operator_origin(command, Some(reason));
        let plan = plans::change_standing(origin, user.id, change);
        self.desk.apply(plan).await.map_err(|error| match error {
            ApplyError::Rejected(Rejection::LastOperator) => ChangeStandingError::LastOperator,
            // They were erased since they were found, which who asks again is told.
            ApplyError::Rejected(Rejection::Missing(EntityKind::User)) => Obstacle::Conflict.into(),
            other => Obstacle::from(other).into(),
        })
    }

    /// A page of the security log, each event with its number, those added last first.
    ///
    /// # Errors
    /// [`FindError`].
    pub async fn events(
        &self,
        caller: &Caller,
        filter: EventFilter,
        page: PageRequest,
    ) -> Result<Rows<(i64, SecurityEvent)>, FindError> {
        caller.may(Action::ReadSecurityLog, Whose::Others)?;
        Ok(self.journal.log.events(filter, page).await?)
    }

    /// Notes that somebody was refused what only staff does, and what that was, once an hour.
    pub async fn denied(&self, caller: &Caller, what: Line, visitor: Visitor) {
        self.journal.denied(caller, what, visitor).await;
    }

    async fn found(&self, id: UserId) -> Result<User, FindError> {
        let found = self.people.profile(id).await?.map(|profile| profile.user);
        found.filter(|user| user.erased_at.is_none()).ok_or(FindError::NotFound)
    }
}
