//! Profiles: the principal's own, and those of DJs.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::authorization::{Principal, permission};
use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::ports::{DjFilter, Profile};
use crate::user::User;

/// Reads profiles.
#[derive(Clone)]
pub struct ProfileQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl ProfileQueries {
    /// The principal's profile with their balance.
    pub async fn own(&self, principal: &Principal) -> Result<Profile, Failure> {
        let own = Authorized::<_, permission::UseProfile>::own(principal)?;
        self.env.people.profile(*own).await?.ok_or(Failure::UnknownPrincipal)
    }

    /// A page of DJs.
    pub async fn djs(
        &self,
        principal: &Principal,
        filter: DjFilter,
        page: PageRequest,
    ) -> Result<Rows<User>, Failure> {
        Authorized::<(), permission::ReadDjs>::all(principal)?;
        Ok(self.env.people.djs(filter, page).await?)
    }

    /// A page of the DJs who are online, without a principal.
    pub async fn online_djs(&self, page: PageRequest) -> Result<Rows<User>, Failure> {
        Ok(self.env.people.djs(DjFilter { online: Some(true) }, page).await?)
    }

    /// One DJ.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is no such user, or they are not a DJ.
    pub async fn dj(&self, principal: &Principal, id: UserId) -> Result<User, Failure> {
        Authorized::<(), permission::ReadDjs>::all(principal)?;
        let found = self.env.people.profile(id).await?.map(|profile| profile.user);
        found.filter(|user| user.is_dj() && user.is_present()).ok_or(Failure::NotFound)
    }
}
