//! Adjustments of balances by operators.

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Adjusted, Command, Decide, Decided, Loadable, Requirement};
use crate::authorization::{Action, Ownership, Principal, permission};
use crate::ids::UserId;
use crate::ledger::adjustment::{Adjustment, AdjustmentRefusal, Correction};
use crate::operation::{Rejection, plans};
use crate::text::Line;

/// Adjusts the available balance of a user, as an operator other than that user. If funds are insufficient,
/// the user's own overdue fees are released first.
#[derive(Clone, Copy, Debug)]
pub struct Adjust;

/// The wallet that the input of an adjustment names. It counts as another user's until the input is read.
#[derive(Clone, Copy, Debug)]
pub struct WalletOfInput;

impl Loadable for WalletOfInput {
    type Id = ();

    async fn load(_: &Environment, (): ()) -> Result<Self, Failure> {
        Ok(Self)
    }

    fn ownership(&self, _: &Principal, _: Action) -> Ownership {
        Ownership::Others
    }
}

/// The input of an adjustment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAdjustment {
    pub user: UserId,
    pub correction: Correction,
    pub reason: Line,
}

/// Why an adjustment is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum AdjustRefusal {
    #[error("there is no such user")]
    NoSuchUser,
    /// The rule of an adjustment refuses it.
    #[error(transparent)]
    Rule(#[from] AdjustmentRefusal),
    /// The balance is insufficient.
    #[error("insufficient funds")]
    InsufficientFunds,
}

impl Command for Adjust {
    type Permission = permission::AdjustBalance;
    type Entity = WalletOfInput;
    type Input = NewAdjustment;
    type Output = Adjusted;
    type Refusal = AdjustRefusal;

    fn id(&self) {}

    /// The input names the wallet. This alone keeps operators from adjusting their own.
    fn also_requires(&self, principal: &Principal, new: Option<&NewAdjustment>) -> Option<Requirement> {
        let ownership = Ownership::of(new?.user, principal);
        Some(Requirement::of::<permission::AdjustBalance>(ownership))
    }

    async fn decide(&self, Decide { env, metadata, input: new, .. }: Decide<'_, Self>) -> Decided<Self> {
        let NewAdjustment { user, correction, reason } = new.clone();
        if env.wallets.balance(user).await?.is_none() {
            return Err(CommandError::Refused(AdjustRefusal::NoSuchUser));
        }
        let id = env.ids.next_adjustment().await?;
        let adjustment = Adjustment { id, user, correction, reason };
        plans::adjust(metadata, adjustment, &env.terms.adjustments).map_err(CommandError::refused)
    }

    fn payer(&self, _: &Principal, new: &NewAdjustment) -> Option<UserId> {
        Some(new.user)
    }

    fn rejected(rejection: Rejection) -> CommandError<AdjustRefusal> {
        match rejection {
            Rejection::InsufficientFunds { .. } => CommandError::Refused(AdjustRefusal::InsufficientFunds),
            other => Failure::from(other).into(),
        }
    }
}
