//! Entities that use cases load by their ids.

use std::future::Future;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::authorization::{Action, Denied, Ownership, Principal, RequestParty};
use crate::gig::Gig;
use crate::ids::{GigId, ProviderMessageId, RequestId, TopupId, UserId, WithdrawalId};
use crate::music_request::{MusicRequest, Party};
use crate::provider_message::ProviderMessage;
use crate::topup::Topup;
use crate::user::User;
use crate::withdrawal::Withdrawal;

/// An entity that use cases load by its id, with its ownership.
pub trait Loadable: Sized + Send + Sync {
    /// Its id.
    type Id: Send;

    /// The action of reading it. A principal without this permission is told that there is no such entity, except for
    /// actions of staff. `None` if the entity is concealed from nobody.
    const READING: Option<Action> = None;

    /// Loads it.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if there is none.
    fn load(env: &Environment, id: Self::Id) -> impl Future<Output = Result<Self, Failure>> + Send;

    /// Whether the principal owns it, in the sense of this action.
    fn ownership(&self, principal: &Principal, action: Action) -> Ownership;

    /// The entity, for a principal who may read it.
    ///
    /// # Errors
    /// [`Failure::NotFound`] for all others.
    fn reveal(self, principal: &Principal) -> Result<Self, Failure> {
        let Some(reading) = Self::READING else { return Ok(self) };
        match principal.may(reading, self.ownership(principal, reading)) {
            Ok(()) => Ok(self),
            Err(Denied { .. }) => Err(Failure::NotFound),
        }
    }
}

/// No entity: a command that creates one creates it for the principal.
impl Loadable for () {
    type Id = ();

    async fn load(_: &Environment, (): ()) -> Result<Self, Failure> {
        Ok(())
    }

    fn ownership(&self, _: &Principal, _: Action) -> Ownership {
        Ownership::Own
    }
}

/// It is the principal's own if they are the party that can apply the action; for other actions, if they are either
/// party.
impl Loadable for MusicRequest {
    type Id = RequestId;

    const READING: Option<Action> = Some(Action::ReadRequest);

    async fn load(env: &Environment, id: RequestId) -> Result<Self, Failure> {
        env.requests.request(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal, action: Action) -> Ownership {
        match action.rule().party {
            Some(RequestParty::Guest) => Ownership::of(self.requester, principal),
            Some(RequestParty::Dj) => Ownership::of(self.dj, principal),
            None if self.party(principal.user) == Party::Stranger => Ownership::Others,
            None => Ownership::Own,
        }
    }
}

impl Loadable for Withdrawal {
    type Id = WithdrawalId;

    const READING: Option<Action> = Some(Action::UseWithdrawal);

    async fn load(env: &Environment, id: WithdrawalId) -> Result<Self, Failure> {
        env.withdrawals.withdrawal(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal, _: Action) -> Ownership {
        Ownership::of(self.user, principal)
    }
}

impl Loadable for Topup {
    type Id = TopupId;

    const READING: Option<Action> = Some(Action::UseWallet);

    async fn load(env: &Environment, id: TopupId) -> Result<Self, Failure> {
        env.topups.topup(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal, _: Action) -> Ownership {
        Ownership::of(self.user, principal)
    }
}

impl Loadable for Gig {
    type Id = GigId;

    const READING: Option<Action> = Some(Action::ReadGig);

    async fn load(env: &Environment, id: GigId) -> Result<Self, Failure> {
        env.ledger.stored(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal, _: Action) -> Ownership {
        Ownership::of(self.dj, principal)
    }
}

/// A user who was not erased.
impl Loadable for User {
    type Id = UserId;

    async fn load(env: &Environment, id: UserId) -> Result<Self, Failure> {
        let found = env.people.profile(id).await?.map(|profile| profile.user);
        found.filter(Self::is_present).ok_or(Failure::NotFound)
    }

    fn ownership(&self, principal: &Principal, _: Action) -> Ownership {
        Ownership::of(self.id, principal)
    }
}

/// It belongs to no user.
impl Loadable for ProviderMessage {
    type Id = ProviderMessageId;

    async fn load(env: &Environment, id: ProviderMessageId) -> Result<Self, Failure> {
        env.ledger.stored(id).await?.ok_or(Failure::NotFound)
    }

    fn ownership(&self, _: &Principal, _: Action) -> Ownership {
        Ownership::Others
    }
}
