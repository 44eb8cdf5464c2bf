//! Entities that use cases load by their ids.

use std::future::Future;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::authorization::{Ownership, Principal};
use crate::ids::{ProviderMessageId, RequestId, TopupId, UserId, WithdrawalId};
use crate::music_request::{MusicRequest, Party};
use crate::provider_message::ProviderMessage;
use crate::topup::Topup;
use crate::user::User;
use crate::withdrawal::Withdrawal;

/// An entity that use cases load by its id, and whom it belongs to.
pub trait Loadable: Sized + Send + Sync {
    /// Its id.
    type Id: Send;

    /// Loads it.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is none.
    fn load(env: &Environment, id: Self::Id) -> impl Future<Output = Result<Self, Failure>> + Send;

    /// Whether the principal owns it.
    fn ownership(&self, principal: &Principal) -> Ownership;
}

/// No entity: a command that creates one creates it for the principal.
impl Loadable for () {
    type Id = ();

    async fn load(_: &Environment, (): ()) -> Result<Self, Failure> {
        Ok(())
    }

    fn ownership(&self, _: &Principal) -> Ownership {
        Ownership::Own
    }
}

/// It is the principal's own if they are either party.
impl Loadable for MusicRequest {
    type Id = RequestId;

    async fn load(env: &Environment, id: RequestId) -> Result<Self, Failure> {
        env.requests.request(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal) -> Ownership {
        match self.party(principal.user) {
            Party::Requester | Party::Dj => Ownership::Own,
            Party::Stranger => Ownership::Others,
        }
    }
}

impl Loadable for Withdrawal {
    type Id = WithdrawalId;

    async fn load(env: &Environment, id: WithdrawalId) -> Result<Self, Failure> {
        env.withdrawals.withdrawal(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal) -> Ownership {
        Ownership::of(self.user, principal)
    }
}

impl Loadable for Topup {
    type Id = TopupId;

    async fn load(env: &Environment, id: TopupId) -> Result<Self, Failure> {
        env.topups.topup(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal) -> Ownership {
        Ownership::of(self.user, principal)
    }
}

/// A user who was not erased.
impl Loadable for User {
    type Id = UserId;

    async fn load(env: &Environment, id: UserId) -> Result<Self, Failure> {
        let found = env.people.profile(id).await?.map(|profile| profile.user);
        found.filter(Self::is_present).ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal) -> Ownership {
        Ownership::of(self.id, principal)
    }
}

/// It belongs to no user.
impl Loadable for ProviderMessage {
    type Id = ProviderMessageId;

    async fn load(env: &Environment, id: ProviderMessageId) -> Result<Self, Failure> {
        env.messages.provider_message(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, _: &Principal) -> Ownership {
        Ownership::Others
    }
}
