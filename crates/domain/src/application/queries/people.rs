//! Users, as staff sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Authorized, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::text::{Email, Line};
use crate::user::User;
use crate::user::guest_account::searched_address;

/// Finds users.
#[derive(Clone)]
pub struct PeopleQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl PeopleQueries {
    /// A page of users, newest first: those with this address, or all. An invalid address matches no user.
    pub async fn list(
        &self,
        principal: &Principal,
        email: Option<&str>,
        page: PageRequest,
    ) -> Result<Rows<User>, Failure> {
        Authorized::<(), permission::ReadPeople>::all(principal)?;
        let Some(email) = email else { return Ok(self.env.people.people(None, page).await?) };
        match Email::new(email) {
            Ok(email) => Ok(self.env.people.people(Some(&searched_address(&email)), page).await?),
            Err(_) => Ok(Rows::none(0)),
        }
    }

    /// The names of these users; unknown and erased users have none.
    pub async fn names(
        &self,
        principal: &Principal,
        users: &BTreeSet<UserId>,
    ) -> Result<BTreeMap<UserId, Line>, Failure> {
        Authorized::<(), permission::ReadPeople>::all(principal)?;
        Ok(self.env.people.names(users).await?)
    }

    /// A user who was not erased.
    pub async fn user(&self, principal: &Principal, id: UserId) -> Result<User, Failure> {
        Authorized::<(), permission::ReadPeople>::all(principal)?;
        User::load(&self.env, id).await
    }
}
