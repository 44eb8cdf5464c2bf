//! The constructors of all plans: the only place where a rule's decision becomes an atomic change.

use crate::ids::{RequestId, TopupId, UserId, WithdrawalId};
use crate::ledger::adjustment::{Adjustment, AdjustmentRefusal, AdjustmentTerms};
use crate::ledger::{PostingRules, Transfer};
use crate::money::Amount;
use crate::music_request::{self, MusicRequest, NewRequest, OpenRefusal, RequestTerms};
use crate::operation::{Entity, Guard, OperationMetadata, Plan, Step};
use crate::provider_message::{self, AlreadyResolved, ProviderMessage};
use crate::text::{Line, PaymentUrl};
use crate::topup::{self, Charge, Orders, ReversalRefusal, Settlement, SuspenseRefusal, Topup};
use crate::user::{AccountStatusChange, ProfileChange, User, may_dismiss};
use crate::withdrawal::{self, NewWithdrawal, Withdrawal, WithdrawalTerms};

/// The posting rules of every plan.
const RULES: PostingRules = PostingRules::ReleasesPayOwed;

fn plan(metadata: OperationMetadata, step: Step, transfers: impl IntoIterator<Item = Transfer>) -> Plan {
    let transfers = transfers.into_iter().collect();
    Plan { metadata, step, guards: Vec::new(), transfers, rules: RULES }
}

/// Opens a request and holds its fee.
///
/// # Errors
/// [`OpenRefusal`]; the limit on open requests and the funds are checked when the plan is applied.
pub fn open_request(
    metadata: OperationMetadata,
    id: RequestId,
    requester: UserId,
    dj: Option<&User>,
    blocked: bool,
    new: NewRequest,
    terms: &RequestTerms,
) -> Result<Plan, OpenRefusal> {
    let (request, hold) = music_request::open(id, requester, dj, blocked, new, terms, metadata.at)?;
    let guards = terms.most_open_per_dj.into_iter().map(Guard::OpenRequests).collect();
    Ok(Plan { guards, ..plan(metadata, Step::OpenRequest(request), hold) })
}

/// Moves a request and its money; a request that is already in the target state is returned unchanged.
///
/// # Errors
/// [`music_request::MoveRefusal`].
pub fn move_request(
    metadata: OperationMetadata,
    request: &MusicRequest,
    to: music_request::Move,
    terms: &RequestTerms,
) -> Result<Plan, music_request::MoveRefusal> {
    Ok(match music_request::decide(request, to, terms, metadata.at)? {
        music_request::Decision::Unchanged => {
            plan(metadata, Step::Unchanged(Entity::MusicRequest(request.clone())), [])
        }
        music_request::Decision::Moved(next) => {
            let step = Step::MoveRequest { before: request.clone(), to: next.to };
            plan(metadata, step, next.transfers)
        }
    })
}

/// Opens a withdrawal and holds its amount. When the plan is applied, the owner's debt, the rolling limits and the
/// funds are checked, and whether the withdrawal needs an operator is decided. The operation's id becomes its
/// reference at the payout provider.
///
/// # Errors
/// [`withdrawal::OpenRefusal`].
pub fn open_withdrawal(
    metadata: OperationMetadata,
    id: WithdrawalId,
    user: UserId,
    new: NewWithdrawal,
    terms: &WithdrawalTerms,
) -> Result<Plan, withdrawal::OpenRefusal> {
    let (withdrawal, hold) = withdrawal::open(metadata.operation, id, user, new, terms, metadata.at)?;
    let windows = terms.limits.windows().into_iter().map(Guard::Window);
    let guards = std::iter::once(Guard::NoDebt).chain(windows).collect();
    let step = Step::OpenWithdrawal { withdrawal, auto_approve_below: terms.auto_approve_below };
    Ok(Plan { guards, ..plan(metadata, step, [hold]) })
}

/// Moves a withdrawal and its money; a withdrawal that already has the status is returned unchanged. Whether the
/// owner owes money, whether the judging operator recently adjusted the owner's wallet, and whether one approval
/// suffices, is checked when the plan is applied.
///
/// # Errors
/// [`withdrawal::MoveRefusal`].
pub fn move_withdrawal(
    metadata: OperationMetadata,
    withdrawal: &Withdrawal,
    to: withdrawal::Move,
) -> Result<Plan, withdrawal::MoveRefusal> {
    let judge = to.judge(metadata.person()).map(Guard::NoRecentAdjustment);
    let debt = to.is_refused_in_debt(&withdrawal.state).then_some(Guard::NoDebt);
    let before = withdrawal.clone();
    let (step, transfer) = match withdrawal::decide(withdrawal, to)? {
        withdrawal::Decision::Unchanged => (Step::Unchanged(Entity::Withdrawal(before)), None),
        withdrawal::Decision::Moved(next) => (Step::MoveWithdrawal { before, to: next.to }, next.transfer),
        withdrawal::Decision::Approval { by, second_above } => {
            (Step::ApproveWithdrawal { before, by, second_above }, None)
        }
    };
    let guards = judge.into_iter().chain(debt).collect();
    Ok(Plan { guards, ..plan(metadata, step, transfer) })
}

/// Opens a top-up, with its money if the provider already has it. The operation's id becomes its reference at
/// the payment provider.
#[must_use]
pub fn open_topup(
    metadata: OperationMetadata,
    id: TopupId,
    user: UserId,
    amount: Amount,
    charge: Charge,
) -> Plan {
    let (topup, credit) = topup::open(metadata.operation, id, user, amount, charge, metadata.at);
    plan(metadata, Step::OpenTopup(topup), credit)
}

/// Records these orders for a pending top-up, and the page that its provider named.
#[must_use]
pub fn order_topup(
    metadata: OperationMetadata,
    topup: &Topup,
    orders: Orders,
    page: Option<PaymentUrl>,
) -> Plan {
    plan(metadata, Step::OrderTopup { before: topup.clone(), orders, page }, [])
}

/// Ends a pending top-up according to its provider; a top-up that has already ended is returned unchanged.
#[must_use]
pub fn settle_topup(metadata: OperationMetadata, topup: &Topup, confirmed: bool) -> Plan {
    match topup::settle(topup, confirmed) {
        Settlement::Unchanged => plan(metadata, Step::Unchanged(Entity::Topup(topup.clone())), []),
        Settlement::Settled { to, transfer } => {
            plan(metadata, Step::MoveTopup { before: topup.clone(), to }, transfer)
        }
    }
}

/// Reverses a confirmed top-up; one that is already reversed is returned unchanged.
///
/// # Errors
/// [`ReversalRefusal`].
pub fn reverse_topup(metadata: OperationMetadata, topup: &Topup) -> Result<Plan, ReversalRefusal> {
    Ok(match topup::reverse(topup)? {
        Settlement::Unchanged => plan(metadata, Step::Unchanged(Entity::Topup(topup.clone())), []),
        Settlement::Settled { to, transfer } => {
            plan(metadata, Step::MoveTopup { before: topup.clone(), to }, transfer)
        }
    })
}

/// Books the money of an erased user's top-up into suspense; if it is already there, or arrived before the
/// erasure, the top-up is returned unchanged.
#[must_use]
pub fn suspend_topup(metadata: OperationMetadata, topup: &Topup) -> Plan {
    match topup::suspend(topup, metadata.operation, metadata.at) {
        None => plan(metadata, Step::Unchanged(Entity::Topup(topup.clone())), []),
        Some((suspense, transfer)) => {
            plan(metadata, Step::SuspendTopup { before: topup.clone(), suspense }, [transfer])
        }
    }
}

/// Moves the money of a top-up out of suspense, settled by an operator for this reason.
///
/// # Errors
/// [`SuspenseRefusal`].
pub fn settle_suspense(
    metadata: OperationMetadata,
    topup: &Topup,
    by: UserId,
    reason: Line,
) -> Result<Plan, SuspenseRefusal> {
    let (suspense, transfer) =
        topup::settle_suspense(topup, metadata.operation, metadata.at, by, reason.clone())?;
    let metadata = OperationMetadata { reason: Some(reason), ..metadata };
    Ok(plan(metadata, Step::SuspendTopup { before: topup.clone(), suspense }, [transfer]))
}

/// Corrects a user's available balance, for the adjustment's reason.
///
/// # Errors
/// [`AdjustmentRefusal`].
pub fn adjust(
    metadata: OperationMetadata,
    adjustment: Adjustment,
    terms: &AdjustmentTerms,
) -> Result<Plan, AdjustmentRefusal> {
    adjustment.check(terms)?;
    let transfer = adjustment.transfer();
    let metadata = OperationMetadata { reason: Some(adjustment.reason.clone()), ..metadata };
    Ok(plan(metadata, Step::Adjust(adjustment), [transfer]))
}

/// Changes a user's own profile; the change is validated when the plan is applied.
#[must_use]
pub fn change_profile(metadata: OperationMetadata, user: UserId, change: ProfileChange) -> Plan {
    plan(metadata, Step::Profile { user, change: Box::new(change) }, [])
}

/// Changes a user's account status or role, for the reason in the operation metadata; whether an active
/// operator remains is checked when the plan is applied.
#[must_use]
pub fn change_account_status(metadata: OperationMetadata, user: UserId, change: AccountStatusChange) -> Plan {
    let guards = may_dismiss(change).then_some(Guard::ActiveOperator).into_iter().collect();
    Plan { guards, ..plan(metadata, Step::ChangeAccountStatus { user, change }, []) }
}

/// Resolves a provider message, for this reason, without moving money.
///
/// # Errors
/// [`AlreadyResolved`].
pub fn resolve_message(
    metadata: OperationMetadata,
    message: &ProviderMessage,
    operator: UserId,
    reason: Line,
) -> Result<Plan, AlreadyResolved> {
    let resolution = provider_message::resolve(message, operator, reason.clone(), metadata.at)?;
    let step = Step::ResolveMessage { before: Box::new(message.clone()), resolution };
    Ok(plan(OperationMetadata { reason: Some(reason), ..metadata }, step, []))
}
