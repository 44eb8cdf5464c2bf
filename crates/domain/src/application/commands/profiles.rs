//! Changes of the principal's own profile.

use thiserror::Error;

use crate::account::{ProfileChange, ProfileRefusal};
use crate::application::{Authorized, Command, CommandError, Environment, Failure, receipts};
use crate::authorization::{Ownership, Principal, permission};
use crate::ids::UserId;
use crate::ledger::plans;
use crate::ledger::{OperationMetadata, Plan, Receipt, Rejection};
use crate::ports::Profile;

/// Changes the principal's own profile.
#[derive(Clone, Copy, Debug)]
pub struct ChangeProfile {
    /// Whether the request sets a field that only DJs have; such a request of other users is refused before
    /// its input is read.
    pub sets_dj_fields: bool,
}

/// Why a change of a profile is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the profile cannot be changed so: {0:?}")]
pub struct ChangeProfileRefusal(pub ProfileRefusal);

impl Command for ChangeProfile {
    type Permission = permission::UseProfile;
    /// The permission to change the DJ fields, if the request sets one.
    type Entity = Option<Authorized<UserId, permission::TakeRequests>>;
    type Input = ProfileChange;
    type Output = Profile;
    type Refusal = ChangeProfileRefusal;

    async fn load(&self, _: &Environment, principal: &Principal) -> Result<Self::Entity, Failure> {
        Ok(self.sets_dj_fields.then(|| Authorized::own(principal)).transpose()?)
    }

    fn ownership(&self, _: &Self::Entity, _: &Principal) -> Ownership {
        Ownership::Own
    }

    async fn decide(
        &self,
        _: &Environment,
        metadata: OperationMetadata,
        principal: &Principal,
        dj: &Authorized<Self::Entity, permission::UseProfile>,
        change: &ProfileChange,
    ) -> Result<Plan, CommandError<ChangeProfileRefusal>> {
        if change.is_for_djs() && dj.is_none() {
            return Err(Failure::Denied.into());
        }
        Ok(plans::change_profile(metadata, principal.user, change.clone()))
    }

    fn rejected(rejection: Rejection) -> CommandError<ChangeProfileRefusal> {
        match rejection {
            Rejection::Profile(refusal) => CommandError::Refused(ChangeProfileRefusal(refusal)),
            other => Failure::from(other).into(),
        }
    }

    fn output(receipt: Receipt) -> Result<Profile, Failure> {
        let (user, balance) = receipts::profile(receipt)?;
        Ok(Profile { user, balance })
    }
}
