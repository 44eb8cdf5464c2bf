//! Changes of the principal's own profile.

use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Command, Decide, Decided, Requirement};
use crate::authorization::{Ownership, Principal, permission};
use crate::operation::{Rejection, plans};
use crate::ports::Profile;
use crate::user::{ProfileChange, ProfileRefusal};

/// Changes the principal's own profile.
#[derive(Clone, Copy, Debug)]
pub struct ChangeProfile {
    /// Whether the request sets a field that only DJs have; such a request of other users is refused before
    /// its input is read.
    pub sets_dj_fields: bool,
}

impl Command for ChangeProfile {
    type Permission = permission::UseProfile;
    type Entity = ();
    type Input = ProfileChange;
    type Output = Profile;
    type Refusal = ProfileRefusal;

    fn id(&self) {}

    fn also_requires(&self, _: &Principal, change: Option<&ProfileChange>) -> Option<Requirement> {
        let is_for_djs = self.sets_dj_fields || change.is_some_and(ProfileChange::is_for_djs);
        if is_for_djs {
            return Some(Requirement::of::<permission::TakeRequests>(Ownership::Own));
        }
        let is_for_members = change.is_some_and(ProfileChange::is_beyond_name);
        is_for_members.then_some(Requirement::of::<permission::ChangeProfile>(Ownership::Own))
    }

    async fn decide(
        &self,
        Decide { metadata, principal, input: change, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        Ok(plans::change_profile(metadata, principal.user, change.clone()))
    }

    fn rejected(rejection: Rejection) -> CommandError<ProfileRefusal> {
        match rejection {
            Rejection::Profile(refusal) => CommandError::Refused(refusal),
            other => Failure::from(other).into(),
        }
    }
}
