//! Changes of roles and suspensions by operators.

use thiserror::Error;

use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Command, Decide, Decided};
use crate::authorization::permission;
use crate::entity_ref::EntityKind;
use crate::ids::UserId;
use crate::operation::{Rejection, plans};
use crate::text::Line;
use crate::user::{AccountStatusChange, User};

/// Changes the role or suspension of another user, as an operator. A suspension ends the user's sessions.
#[derive(Clone, Copy, Debug)]
pub struct ChangeAccountStatus {
    pub id: UserId,
}

/// Why a role or suspension is not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ChangeAccountStatusRefusal {
    /// No active operator would remain.
    #[error("no active operator would remain")]
    LastOperator,
}

impl Command for ChangeAccountStatus {
    type Permission = permission::ManagePeople;
    type Entity = User;
    /// The change and its reason.
    type Input = (AccountStatusChange, Line);
    type Output = User;
    type Refusal = ChangeAccountStatusRefusal;

    fn id(&self) -> UserId {
        self.id
    }

    async fn decide(
        &self,
        Decide { metadata, entity: user, input: (change, _), .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        Ok(plans::change_account_status(metadata, user.id, *change))
    }

    fn reason((_, reason): &(AccountStatusChange, Line)) -> Option<&Line> {
        Some(reason)
    }

    fn rejected(rejection: Rejection) -> CommandError<ChangeAccountStatusRefusal> {
        match rejection {
            Rejection::LastOperator => CommandError::Refused(ChangeAccountStatusRefusal::LastOperator),
            // The user was erased after they were loaded, which a repeated request will find.
            Rejection::Missing(EntityKind::User) => Failure::Conflict.into(),
            other => Failure::from(other).into(),
        }
    }
}
