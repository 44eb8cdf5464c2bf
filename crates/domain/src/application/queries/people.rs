//! Users, as staff sees them.

use std::sync::Arc;

use crate::account::User;
use crate::application::{Authorized, Environment, Failure, Loadable as _};
use crate::authorization::{Principal, permission};
use crate::ids::UserId;
use crate::page::{PageRequest, Rows};
use crate::text::Email;

/// Finds users.
#[derive(Clone)]
pub struct PeopleQueries {
    pub(in crate::application) env: Arc<Environment>,
}

impl PeopleQueries {
    /// A page of users, newest first: those with this address, or all. An invalid address matches no user.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn list(
        &self,
        principal: &Principal,
        email: Option<&str>,
        page: PageRequest,
    ) -> Result<Rows<User>, Failure> {
        Authorized::<(), permission::ReadPeople>::all(principal)?;
        let Some(email) = email else { return Ok(self.env.people.people(None, page).await?) };
        match Email::new(email) {
            Ok(email) => Ok(self.env.people.people(Some(&email.folded()), page).await?),
            Err(_) => Ok(Rows::none(0)),
        }
    }

    /// A user who was not erased.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn user(&self, principal: &Principal, id: UserId) -> Result<User, Failure> {
        Authorized::<(), permission::ReadPeople>::all(principal)?;
        User::load(&self.env, id).await
    }
}
