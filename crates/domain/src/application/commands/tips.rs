//! Tips of guests to DJs.

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Command, Decide, Decided, Loadable, Tipped};
use crate::application::queries::{dj_of, recent_gig};
use crate::authorization::{Action, Ownership, Principal, permission};
use crate::gig::{DjCode, Gig};
use crate::ids::UserId;
use crate::money::{Amount, Money};
use crate::operation::{Rejection, plans};
use crate::tip::{TipRefusal, TippedDj};

/// Gives a tip of the principal to the DJ with this code. If funds are insufficient, or the guest owes money, the guest's
/// own overdue fees are released first.
#[derive(Clone, Copy, Debug)]
pub struct TipDj {
    pub code: DjCode,
}

/// The gig of a code whose DJ can be tipped: it is open or has just ended, and its DJ is not suspended.
#[derive(Clone, Debug)]
pub struct GigOfCode(Gig);

impl Loadable for GigOfCode {
    type Id = DjCode;

    async fn load(env: &Environment, code: DjCode) -> Result<Self, Failure> {
        let dj = dj_of(env, code).await?;
        if dj.suspended_at.is_some() {
            return Err(Failure::NotFound);
        }
        recent_gig(env, dj.id).await?.map(Self).ok_or(Failure::NotFound)
    }

    /// The principal gives the tip.
    fn ownership(&self, _: &Principal, _: Action) -> Ownership {
        Ownership::Own
    }
}

/// Why a tip is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TipDjRefusal {
    /// The rule of a tip refuses it.
    #[error(transparent)]
    Rule(#[from] TipRefusal),
    /// The guest owes this amount.
    #[error("the guest owes money")]
    WalletOwes(Money),
    /// The guest's balance is insufficient.
    #[error("insufficient funds")]
    InsufficientFunds,
}

impl Command for TipDj {
    type Permission = permission::TipDj;
    type Entity = GigOfCode;
    type Input = Amount;
    type Output = Tipped;
    type Refusal = TipDjRefusal;

    fn id(&self) -> DjCode {
        self.code
    }

    async fn decide(
        &self,
        Decide { env, metadata, principal, entity, input: amount, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let GigOfCode(gig) = &**entity;
        let blocks_guest = env.blocks.is_blocked(gig.dj, principal.user).await?;
        let id = env.ids.next_tip().await?;
        let to = TippedDj { gig, blocks_guest };
        plans::tip(metadata, id, principal.user, to, *amount, &env.terms.tips).map_err(CommandError::refused)
    }

    fn payer(&self, principal: &Principal, _: &Amount) -> Option<UserId> {
        Some(principal.user)
    }

    fn rejected(rejection: Rejection) -> CommandError<TipDjRefusal> {
        match rejection {
            Rejection::Inactive => Failure::NotFound.into(),
            Rejection::WalletOwes { owed } => CommandError::Refused(TipDjRefusal::WalletOwes(owed)),
            Rejection::InsufficientFunds { .. } => CommandError::Refused(TipDjRefusal::InsufficientFunds),
            other => Failure::from(other).into(),
        }
    }
}
