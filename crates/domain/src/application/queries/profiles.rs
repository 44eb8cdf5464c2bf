//! Profiles: the principal's own, and those of DJs.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::Authorized;
use crate::authorization::{Principal, permission};
use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::ports::{DjFilter, Profile, Unavailable};
use crate::user::User;
use crate::user::guest_account::GuestTrust;

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

    /// How far the principal's guest account is trusted.
    pub async fn guest_trust(&self, principal: &Principal) -> Result<GuestTrust, Unavailable> {
        let (people, now) = (&self.env.people, self.env.now());
        let (Some(facts), Some(profile)) =
            (people.standing(principal.user).await?, people.profile(principal.user).await?)
        else {
            return Ok(GuestTrust::New);
        };
        let has_money = facts.has_paid || !profile.balance.total().is_zero();
        Ok(GuestTrust::of(has_money, profile.user.created_at, now))
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
