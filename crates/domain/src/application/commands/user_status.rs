//! Changes of roles and suspensions by operators.

use thiserror::Error;

use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Command, Decide, Decided};
use crate::authorization::permission;
use crate::entity_ref::EntityKind;
use crate::ids::UserId;
use crate::operation::{Rejection, plans};
use crate::text::Line;
use crate::user::{User, UserStatusChange, assigns_role_to_guest_account};

/// Changes the role or suspension of another user, as an operator. A suspension ends the user's sessions.
#[derive(Clone, Copy, Debug)]
pub struct ChangeUserStatus {
    pub id: UserId,
}

/// Why a role or suspension is not changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ChangeUserStatusRefusal {
    /// No active operator would remain.
    #[error("no active operator would remain")]
    LastOperator,
    /// Only its guest can change the role of a guest account, by claiming it.
    #[error("the user is a guest account")]
    GuestAccount,
}

impl Command for ChangeUserStatus {
    type Permission = permission::ManagePeople;
    type Entity = User;
    /// The change and its reason.
    type Input = (UserStatusChange, Line);
    type Output = User;
    type Refusal = ChangeUserStatusRefusal;

    fn id(&self) -> UserId {
        self.id
    }

    async fn decide(
        &self,
        Decide { metadata, entity: user, input: (change, _), .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        if assigns_role_to_guest_account(user, *change) {
            return Err(CommandError::Refused(ChangeUserStatusRefusal::GuestAccount));
        }
        Ok(plans::change_user_status(metadata, user.id, *change))
    }

    fn reason((_, reason): &(UserStatusChange, Line)) -> Option<&Line> {
        Some(reason)
    }

    fn rejected(rejection: Rejection) -> CommandError<ChangeUserStatusRefusal> {
        match rejection {
            Rejection::LastOperator => CommandError::Refused(ChangeUserStatusRefusal::LastOperator),
            // The user was erased after they were loaded, which a repeated request will find.
            Rejection::Missing(EntityKind::User) => Failure::Conflict.into(),
            other => Failure::from(other).into(),
        }
    }
}
