//! Commands about withdrawals, by their owners and by operators.

use std::sync::Arc;

use thiserror::Error;

use crate::address::AddressPolicy;
use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure, InvalidTransition};
use crate::application::executor::{Authorized, Command, Decide, Decided, Withdrawn};
use crate::application::queries::{WalletQueries, WithdrawalQueries};
use crate::authorization::{Action, Ownership, Principal, permission};
use crate::ids::{UserId, WithdrawalId};
use crate::ledger::adjustment::Adjustment;
use crate::money::Money;
use crate::operation::{Rejection, plans};
use crate::ports::Profile;
use crate::text::Line;
use crate::withdrawal::{
    self, Limit, Move, MoveRefusal, NewWithdrawal, OpenRefusal, Rights, Withdrawal, WithdrawalStatus,
    settable,
};

/// Makes a withdrawal and holds its amount. If funds are short or clearing, or the owner owes money, the owner's overdue
/// fees are released first.
#[derive(Clone, Copy, Debug)]
pub struct OpenWithdrawal {
    /// The validation of the destination, in addition to the deployment's own.
    pub address_policy: AddressPolicy,
}

/// Cancels a withdrawal that has not been sent, as its owner.
#[derive(Clone, Copy, Debug)]
pub struct CancelWithdrawal {
    pub id: WithdrawalId,
}

/// Approves, rejects or fails a withdrawal, as an operator other than its owner. An approval leaves it
/// pending if a second operator has to approve it as well.
#[derive(Clone, Copy, Debug)]
pub struct JudgeWithdrawal {
    pub id: WithdrawalId,
    pub judgement: Judgement,
}

/// Records the progress of sending a withdrawal, as an operator.
#[derive(Clone, Copy, Debug)]
pub struct SendWithdrawal {
    pub id: WithdrawalId,
}

/// An operator's judgement of a withdrawal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judgement {
    /// Approves sending it.
    Approve,
    /// Rejects it and releases its amount.
    Reject,
    /// Records that it was never sent and never will be, and releases its amount.
    Fail,
}

/// A step of sending a withdrawal by hand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SendingStep {
    /// Sending begins.
    Process,
    /// It was sent.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    Complete {
        /// The transaction on the network; `None` for the known one.
        txid: Option<Line>,
    },
    /// It is unknown whether it was sent.
    Review,
}

/// Why a withdrawal is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum OpenWithdrawalRefusal {
    /// The rule of a new withdrawal refuses it, or it would exceed a limit together with earlier ones.
    #[error(transparent)]
    Rule(#[from] OpenRefusal),
    /// The owner owes this amount.
    #[error("the owner owes money")]
    WalletOwes(Money),
    /// The owner's e-mail address is not verified.
    #[error("the e-mail address is not verified")]
    EmailUnverified,
    /// The balance is insufficient.
    #[error("insufficient funds")]
    InsufficientFunds,
}

/// Why a move of a withdrawal is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum MoveWithdrawalRefusal {
    /// A completed payout requires a transaction, and none is known.
    #[error("no transaction is known")]
    TxidMissing,
    /// Its owner owes this amount, and it was neither approved nor sent before.
    #[error("the owner owes money")]
    WalletOwes(Money),
    /// Its status does not allow the move.
    #[error(transparent)]
    InvalidTransition(#[from] InvalidTransition),
}

impl MoveWithdrawalRefusal {
    /// The refusal of a move, with the statuses that this principal can set.
    fn seen_by(refusal: MoveRefusal, principal: &Principal, withdrawal: &Withdrawal, adjusted: bool) -> Self {
        match refusal {
            MoveRefusal::TxidMissing => Self::TxidMissing,
            MoveRefusal::InvalidTransition { current, allowed } => {
                let ownership = Ownership::of(withdrawal.user, principal);
                let may = |action| principal.may(action, ownership).is_ok();
                let rights = Rights {
                    cancel: may(Action::UseWithdrawal),
                    judge: may(Action::JudgeWithdrawal) && !adjusted,
                    send: may(Action::SendWithdrawal),
                };
                let allowed = settable(withdrawal, allowed, rights);
                InvalidTransition::new(current, allowed, WithdrawalStatus::name).into()
            }
        }
    }
}

/// Whether the principal adjusted the wallet of the withdrawal's owner too recently to judge it.
async fn has_adjusted(
    env: &Environment,
    principal: &Principal,
    withdrawal: &Withdrawal,
) -> Result<bool, Failure> {
    let since = env.now().minus(Adjustment::JUDGING_BAR);
    Ok(env.wallets.has_adjusted(principal.user, withdrawal.user, since).await?)
}

impl Command for OpenWithdrawal {
    type Permission = permission::UseWithdrawal;
    type Entity = ();
    type Input = NewWithdrawal;
    type Output = Withdrawn;
    type Refusal = OpenWithdrawalRefusal;

    fn id(&self) {}

    async fn decide(
        &self,
        Decide { env, metadata, principal, input: new, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let (id, terms) = (env.ids.next_withdrawal().await?, &env.terms.withdrawals);
        let new = new.clone().under(self.address_policy, &terms.options).map_err(CommandError::refused)?;
        plans::open_withdrawal(metadata, id, principal.user, new, terms).map_err(CommandError::refused)
    }

    fn payer(&self, principal: &Principal, _: &NewWithdrawal) -> Option<UserId> {
        Some(principal.user)
    }

    fn rejected(rejection: Rejection) -> CommandError<OpenWithdrawalRefusal> {
        match rejection {
            Rejection::InsufficientFunds { .. } => {
                CommandError::Refused(OpenWithdrawalRefusal::InsufficientFunds)
            }
            Rejection::WalletOwes { owed } => CommandError::Refused(OpenWithdrawalRefusal::WalletOwes(owed)),
            Rejection::EmailUnverified => CommandError::Refused(OpenWithdrawalRefusal::EmailUnverified),
            Rejection::LimitExceeded(limit) => CommandError::refused(OpenRefusal::Limit(limit)),
            other => Failure::from(other).into(),
        }
    }
}

impl Command for CancelWithdrawal {
    type Permission = permission::UseWithdrawal;
    type Entity = Withdrawal;
    type Input = ();
    type Output = Withdrawn;
    type Refusal = MoveWithdrawalRefusal;

    fn id(&self) -> WithdrawalId {
        self.id
    }

    async fn decide(
        &self,
        Decide { metadata, principal, entity: withdrawal, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        plans::move_withdrawal(metadata, withdrawal, Move::Cancel).map_err(|refusal| {
            CommandError::refused(MoveWithdrawalRefusal::seen_by(refusal, principal, withdrawal, false))
        })
    }
}

impl Command for JudgeWithdrawal {
    type Permission = permission::JudgeWithdrawal;
    type Entity = Withdrawal;
    /// The reason.
    type Input = Line;
    type Output = Withdrawn;
    type Refusal = MoveWithdrawalRefusal;

    fn id(&self) -> WithdrawalId {
        self.id
    }

    /// Refuses an operator who recently adjusted the owner's wallet. A later adjustment is detected when the
    /// plan is applied.
    async fn check(
        &self,
        env: &Environment,
        principal: &Principal,
        withdrawal: &Authorized<Withdrawal, permission::JudgeWithdrawal>,
    ) -> Result<(), Failure> {
        if has_adjusted(env, principal, withdrawal).await? { Err(Failure::RecentAdjustment) } else { Ok(()) }
    }

    async fn decide(
        &self,
        Decide { env, metadata, principal, entity: withdrawal, .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let (by, second_above) = (principal.user, env.terms.withdrawals.second_approval_above);
        let to = match self.judgement {
            Judgement::Approve => Move::Approve { by: Some(by), second_above },
            Judgement::Reject => Move::Reject { by },
            Judgement::Fail => Move::Fail,
        };
        plans::move_withdrawal(metadata, withdrawal, to).map_err(|refusal| {
            CommandError::refused(MoveWithdrawalRefusal::seen_by(refusal, principal, withdrawal, false))
        })
    }

    fn reason(reason: &Line) -> Option<&Line> {
        Some(reason)
    }

    fn rejected(rejection: Rejection) -> CommandError<MoveWithdrawalRefusal> {
        move_rejected(rejection)
    }
}

impl Command for SendWithdrawal {
    type Permission = permission::SendWithdrawal;
    type Entity = Withdrawal;
    /// The step and its reason.
    type Input = (SendingStep, Line);
    type Output = Withdrawn;
    type Refusal = MoveWithdrawalRefusal;

    fn id(&self) -> WithdrawalId {
        self.id
    }

    async fn decide(
        &self,
        Decide { env, metadata, principal, entity: withdrawal, input: (step, _), .. }: Decide<'_, Self>,
    ) -> Decided<Self> {
        let to = match step.clone() {
            SendingStep::Process => Move::Process,
            SendingStep::Broadcast { txid } => Move::Broadcast { txid },
            SendingStep::Complete { txid } => Move::Complete { txid },
            SendingStep::Review => Move::Review,
        };
        match plans::move_withdrawal(metadata, withdrawal, to) {
            Ok(plan) => Ok(plan),
            Err(refusal) => {
                // Read only for its effect on the statuses that the principal can set.
                let adjusted =
                    refusal != MoveRefusal::TxidMissing && has_adjusted(env, principal, withdrawal).await?;
                let refusal = MoveWithdrawalRefusal::seen_by(refusal, principal, withdrawal, adjusted);
                Err(CommandError::refused(refusal))
            }
        }
    }

    fn reason((_, reason): &(SendingStep, Line)) -> Option<&Line> {
        Some(reason)
    }

    fn rejected(rejection: Rejection) -> CommandError<MoveWithdrawalRefusal> {
        move_rejected(rejection)
    }
}

impl WithdrawalQueries {
    /// A withdrawal as this command would store it now, without effect. The command decides again, and also on the limits
    /// of periods.
    ///
    /// # Errors
    /// [`OpenWithdrawalRefusal`].
    pub async fn preview(
        &self,
        principal: &Principal,
        command: OpenWithdrawal,
        new: NewWithdrawal,
    ) -> Result<NewWithdrawal, CommandError<OpenWithdrawalRefusal>> {
        let owner = Authorized::<_, permission::UseWithdrawal>::own(principal).map_err(Failure::from)?;
        let terms = &self.env.terms.withdrawals;
        let new = new.under(command.address_policy, &terms.options).map_err(CommandError::refused)?;
        let new = withdrawal::judge(new, terms).map_err(CommandError::refused)?;
        let Profile { user, balance } =
            self.env.people.profile(*owner).await?.ok_or(Failure::UnknownPrincipal)?;
        let wallet = WalletQueries { env: Arc::clone(&self.env) };
        let clearing = wallet.clearing(principal, balance).await?;
        let cleared = balance.available.checked_sub(clearing.amount).unwrap_or(Money::ZERO);
        let amount = new.amount.get().money();
        if balance.owed > Money::ZERO {
            Err(CommandError::Refused(OpenWithdrawalRefusal::WalletOwes(balance.owed)))
        } else if terms.requires_verified_email && !user.email_verified {
            Err(CommandError::Refused(OpenWithdrawalRefusal::EmailUnverified))
        } else if amount > balance.available {
            Err(CommandError::Refused(OpenWithdrawalRefusal::InsufficientFunds))
        } else if amount > cleared {
            Err(CommandError::refused(OpenRefusal::Limit(Limit::Cleared(cleared))))
        } else {
            Ok(new)
        }
    }
}

/// The error of a move that was rejected when its plan was applied.
fn move_rejected(rejection: Rejection) -> CommandError<MoveWithdrawalRefusal> {
    match rejection {
        Rejection::WalletOwes { owed } => CommandError::Refused(MoveWithdrawalRefusal::WalletOwes(owed)),
        other => Failure::from(other).into(),
    }
}
