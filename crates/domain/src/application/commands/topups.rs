//! Commands about top-ups, by their owners and by operators.

use std::sync::Arc;

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure, InvalidTransition};
use crate::application::executor::{Command, Context, Decide, Decided, Done, Loadable as _};
use crate::application::providers::{ProviderRefused, TopupOrders};
use crate::authorization::permission;
use crate::gig::DjCode;
use crate::ids::TopupId;
use crate::money::Amount;
use crate::operation::{Rejection, plans};
use crate::ports::Intake;
use crate::text::Line;
use crate::topup::{Charge, GuestTopupLimit, ReversalRefusal, SuspenseRefusal, Topup, TopupStatus};

/// Opens a top-up of the principal's wallet: confirmed if the provider has the money immediately, else
/// pending. If the provider needs an order, it is sent before the answer. A replay returns the current state
/// of the top-up.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenTopup {
    /// The code of the DJ on whose page the payment begins, if it begins there.
    pub page_code: Option<DjCode>,
}

/// Reverses a top-up that was charged back, as an operator other than its owner.
#[derive(Clone, Copy, Debug)]
pub struct ReverseTopup {
    /// The top-up.
    pub id: TopupId,
}

/// Settles money in suspense, as an operator.
#[derive(Clone, Copy, Debug)]
pub struct SettleSuspense {
    /// The top-up.
    pub id: TopupId,
}

/// Why a top-up is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum OpenTopupRefusal {
    /// This deployment takes no top-ups.
    #[error("top-ups are not offered")]
    NotOffered,
    /// The amount is below this minimum.
    #[error("the top-up is too small")]
    TooSmall(Amount),
    /// The top-up of a guest account would exceed this limit.
    #[error("the top-up exceeds a limit of guest accounts")]
    GuestLimit(GuestTopupLimit),
    /// The provider refused the top-up, which failed.
    #[error("the payment provider refused the top-up")]
    RefusedByProvider,
}

/// Of the statuses that can follow, operators set only one: the provider sets the others.
impl From<ReversalRefusal> for InvalidTransition {
    fn from(ReversalRefusal { current, mut allowed }: ReversalRefusal) -> Self {
        allowed.retain(|status| *status == TopupStatus::Reversed);
        Self::new(current, allowed, TopupStatus::name)
    }
}

impl Command for OpenTopup {
    type Permission = permission::UseWallet;
    type Entity = ();
    type Input = Amount;
    type Output = Topup;
    type Refusal = OpenTopupRefusal;

    fn id(&self) {}

    async fn decide(
        &self,
        Decide { env, metadata, principal, input: amount, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let charge = match env.ports.topup_provider.intake() {
            Intake::NotOffered => return Err(CommandError::Refused(OpenTopupRefusal::NotOffered)),
            Intake::Confirmed => Charge::Confirmed,
            Intake::Announced => Charge::Pending,
            Intake::Ordered => Charge::Ordered(env.terms.topups.first(metadata.at)),
        };
        if let Some(least) = env.terms.least_topup.filter(|least| amount < least) {
            return Err(CommandError::Refused(OpenTopupRefusal::TooSmall(least)));
        }
        let (id, user) = (env.ids.next_topup().await?, principal.user);
        let plan = if principal.is_guest_account() {
            plans::open_guest_topup(metadata, id, user, *amount, charge, env.terms.guest_topups)
        } else {
            plans::open_topup(metadata, id, user, *amount, charge)
        };
        Ok(plans::begun_on_page(plan, self.page_code))
    }

    fn rejected(rejection: Rejection) -> CommandError<OpenTopupRefusal> {
        match rejection {
            Rejection::GuestTopupLimit(limit) => CommandError::Refused(OpenTopupRefusal::GuestLimit(limit)),
            other => Failure::from(other).into(),
        }
    }

    async fn complete(
        &self,
        env: &Arc<Environment>,
        context: &Context,
        done: Done<Topup>,
    ) -> Result<Done<Topup>, CommandError<OpenTopupRefusal>> {
        let orders = TopupOrders { env: env.clone() };
        let Done { value: topup, replayed } = done;
        let ordered = if replayed {
            orders.reopen(topup.id, context.deadline).await?
        } else if orders.is_ordered() {
            orders.order_by(topup, context.deadline).await?
        } else {
            Ok(topup)
        };
        let refused = |ProviderRefused| CommandError::Refused(OpenTopupRefusal::RefusedByProvider);
        Ok(Done { value: ordered.map_err(refused)?, replayed })
    }
}

impl Command for ReverseTopup {
    type Permission = permission::ReverseTopup;
    type Entity = Topup;
    /// The reason.
    type Input = Line;
    type Output = Topup;
    type Refusal = InvalidTransition;

    fn id(&self) -> TopupId {
        self.id
    }

    async fn decide(&self, Decide { metadata, entity: topup, .. }: Decide<'_, Self>) -> Decided<Self> {
        plans::reverse_topup(metadata, topup).map_err(CommandError::refused)
    }

    fn reason(reason: &Line) -> Option<&Line> {
        Some(reason)
    }
}

impl Command for SettleSuspense {
    type Permission = permission::SettleSuspense;
    type Entity = Topup;
    /// The reason.
    type Input = Line;
    type Output = Topup;
    type Refusal = SuspenseRefusal;

    fn id(&self) -> TopupId {
        self.id
    }

    async fn load(&self, env: &Environment) -> Result<Topup, Failure> {
        let topup = Topup::load(env, self.id).await?;
        if topup.suspense.is_some() { Ok(topup) } else { Err(Failure::NotFound) }
    }

    async fn decide(
        &self,
        Decide { metadata, principal, entity: topup, input: reason, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        plans::settle_suspense(metadata, topup, principal.user, reason.clone()).map_err(|refusal| {
            match refusal {
                // Only a top-up with money in suspense is loaded.
                SuspenseRefusal::NothingThere => {
                    Failure::Broken("money in suspense was found and is gone").into()
                }
                SuspenseRefusal::AlreadySettled => CommandError::Refused(refusal),
            }
        })
    }
}
