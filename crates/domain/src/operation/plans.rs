//! The constructors of all plans: the only place where a rule's decision becomes an atomic change.

use crate::gig::{self, AssignedCode, DjCode, Gig, GigChange, GigRefusal, NewGig};
use crate::ids::{GigId, OperationId, RequestId, TipId, TopupId, UserId, WithdrawalId};
use crate::ledger::adjustment::{Adjustment, AdjustmentRefusal, AdjustmentTerms};
use crate::ledger::{PostingRules, Transfer};
use crate::money::Amount;
use crate::music_request::{
    self, Addressee, MusicRequest, NewRequest, OpenRefusal, RequestRating, RequestStatus, RequestTerms,
    Stars, Voice,
};
use crate::operation::feature_level::FeatureLevel;
use crate::operation::{
    Addition, Displacement, Entity, Guard, OperationMetadata, Plan, PlanKind, Step, Tally, UserChange,
    WithdrawalJudgement,
};
use crate::provider_message::{self, AlreadyResolved, ProviderMessage};
use crate::text::{Line, PaymentUrl};
use crate::tip::{self, TipRefusal, TipTerms, TippedDj};
use crate::topup::{
    self, Charge, GuestTopupLimits, Orders, ReversalRefusal, Settlement, SuspenseRefusal, Topup, TopupStatus,
};
use crate::user::{DjChange, Field, ProfileChange, UserStatusChange, may_dismiss};
use crate::withdrawal::{self, NewWithdrawal, Withdrawal, WithdrawalTerms};

/// The posting rules of every plan.
const RULES: PostingRules = PostingRules::ReleasesPayOwed;

/// A plan at level 0, without tally and guards; its caller sets those that it needs.
fn plan(
    metadata: OperationMetadata,
    kind: PlanKind,
    step: Step,
    transfers: impl IntoIterator<Item = Transfer>,
) -> Plan {
    let transfers = transfers.into_iter().collect();
    let (level, step) = (FeatureLevel::Level0, Box::new(step));
    let (tally, addition, displacement, guards) = (None, None, None, Vec::new());
    Plan { metadata, kind, level, step, tally, addition, displacement, guards, transfers, rules: RULES }
}

fn unchanged(metadata: OperationMetadata, entity: impl Into<Entity>) -> Plan {
    plan(metadata, PlanKind::None, Step::Unchanged(entity.into()), [])
}

fn moved<E: Into<Entity>>(before: E, after: E) -> Step {
    Step::Move { before: before.into(), after: after.into() }
}

/// Opens a request and holds its fee. A request to a DJ with an open gig belongs to the gig.
///
/// # Errors
/// [`OpenRefusal`]; the guest's debt, the limits on requests and the funds are checked when the plan is applied. Requests
/// that count as guests' have at most two thirds of a queue, because the accounts behind them cost nothing.
pub fn open_request(
    metadata: OperationMetadata,
    id: RequestId,
    requester: UserId,
    to: Addressee<'_>,
    new: NewRequest,
    terms: &RequestTerms,
) -> Result<Plan, OpenRefusal> {
    let addition = new.message.clone().map(Addition::Dedication);
    let (request, hold) = music_request::open(id, requester, to, new, terms, metadata.at)?;
    let (guest, dj) = (request.requester, request.dj);
    let most_in_gig = to.gig.map(|gig| gig.most_open_per_guest);
    let limits = [terms.most_open_per_dj, most_in_gig];
    let most = limits.into_iter().flatten().min();
    // The dedication of an erased guest would stay.
    let present = addition.is_some().then_some(Guard::Present(guest));
    let full = most.map(|most| Guard::OpenRequests { guest, dj, most });
    let debt = (!hold.is_empty()).then_some(Guard::NoDebt(guest));
    let room = request.gig.map(|gig| Guard::QueueRoom {
        gig,
        limits: terms.queue_limits(),
        by_guest: request.counts_as_guest,
    });
    let guards = present.into_iter().chain(debt).chain(full).chain(room).collect();
    let level = if to.gig.is_some() { FeatureLevel::Level2 } else { FeatureLevel::Level0 };
    let plan = plan(metadata, PlanKind::OpenRequest, Step::Open(request.into()), hold);
    Ok(Plan { guards, addition, level, ..plan })
}

/// The plan of a request with a fee. If the queue is full when the plan is applied, the request takes the place of one of
/// these open requests of its gig. The rejection is an operation of its own, by the service.
#[must_use]
pub fn displacing(plan: Plan, operation: OperationId, open: impl IntoIterator<Item = MusicRequest>) -> Plan {
    let queue = plan.counted_queue().filter(|_| plan.may_displace());
    let displacement = queue.map(|queue| {
        let of_gig = open.into_iter().filter(|request| request.gig == Some(queue.gig));
        Displacement { operation, among: MusicRequest::displaceable(of_gig, plan.metadata.at) }
    });
    Plan { displacement, ..plan }
}

/// Moves a request and its money; a request that is already in the target state is returned unchanged. The application of
/// the plan checks whether the gig of the request has ended. A request without a gig ends with the next gig of the DJ.
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
        music_request::Decision::Unchanged => unchanged(metadata, request.clone()),
        music_request::Decision::Moved(next) => {
            let tally = (next.to.status() == RequestStatus::Played).then_some(Tally::Played(request.dj));
            let step = moved(request.clone(), MusicRequest { state: next.to, ..request.clone() });
            let (dj, made_at, current) = (request.dj, request.created_at, request.state.status());
            let guard = match request.gig {
                Some(gig) => Guard::NotEnded { gig, current },
                None => Guard::NoGigEndedSince { dj, made_at, current },
            };
            let guards = to.is_refused_after_gig().then_some(guard).into_iter().collect();
            Plan { tally, guards, ..plan(metadata, PlanKind::MoveRequest, step, next.transfers) }
        }
    })
}

/// Rates a played request, or replaces its earlier rating; a rating with the same stars is returned unchanged. The
/// application of the plan decides how the rating of the DJ changes, because only the newest rating of a voice counts.
///
/// # Errors
/// [`music_request::MoveRefusal`].
pub fn rate_request(
    metadata: OperationMetadata,
    request: &MusicRequest,
    earlier: Option<RequestRating>,
    stars: Stars,
) -> Result<Plan, music_request::MoveRefusal> {
    let rating = music_request::rate(request, stars, metadata.at)?;
    let (step, rating) = match earlier {
        Some(earlier) if earlier.stars == stars => return Ok(unchanged(metadata, earlier)),
        Some(earlier) => {
            // The clock of another server can be ahead.
            let rating = RequestRating { rated_at: rating.rated_at.max(earlier.rated_at), ..rating };
            (moved(earlier, rating), rating)
        }
        None => (Step::Open(rating.into()), rating),
    };
    let tally = Some(Tally::Rated { voice: Voice::of(request), rating });
    let plan = plan(metadata, PlanKind::RateRequest, step, []);
    Ok(Plan { tally, level: FeatureLevel::Level2, ..plan })
}

/// Opens a withdrawal and holds its amount. When a store applies the plan, it checks the owner's debt and e-mail address,
/// the rolling limits, the clearing income and the funds. It also decides whether the withdrawal needs an operator. The
/// operation's id becomes the withdrawal's reference at the payout provider.
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
    let (of, amount) = (withdrawal.user, withdrawal.amount);
    let windows = terms.limits.windows().into_iter().map(|window| Guard::Window { of, amount, window });
    let verified = terms.requires_verified_email.then_some(Guard::VerifiedEmail(of));
    let cleared = terms.clearing_time.map(|time| Guard::Cleared { of, amount, time });
    let first = std::iter::once(Guard::NoDebt(of)).chain(verified);
    let guards = first.chain(windows).chain(cleared).collect();
    let step = match terms.auto_approve_below {
        Some(auto_approve_below) => Step::Judge(WithdrawalJudgement::Open { withdrawal, auto_approve_below }),
        None => Step::Open(withdrawal.into()),
    };
    Ok(Plan { guards, ..plan(metadata, PlanKind::OpenWithdrawal, step, [hold]) })
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
    let of = withdrawal.user;
    let judge = to.judge(metadata.person()).map(|by| Guard::NoRecentAdjustment { by, of });
    let debt = to.is_refused_in_debt(&withdrawal.state).then_some(Guard::NoDebt(of));
    let guards = judge.into_iter().chain(debt).collect();
    let before = withdrawal.clone();
    let plan = match withdrawal::decide(withdrawal, to)? {
        withdrawal::Decision::Unchanged => unchanged(metadata, before),
        withdrawal::Decision::Moved(next) => {
            let updated_at = metadata.at.max(before.updated_at);
            let after = Withdrawal { state: next.to, updated_at, ..before.clone() };
            plan(metadata, PlanKind::MoveWithdrawal, moved(before, after), next.transfer)
        }
        withdrawal::Decision::Approval { by, second_above } => {
            let step = Step::Judge(WithdrawalJudgement::Approve { before, by, second_above });
            plan(metadata, PlanKind::ApproveWithdrawal, step, [])
        }
    };
    Ok(Plan { guards, ..plan })
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
    let guards = vec![Guard::Present(user)];
    Plan { guards, ..plan(metadata, PlanKind::OpenTopup, Step::Open(topup.into()), credit) }
}

/// Opens a top-up of a guest account, within these limits.
#[must_use]
pub fn open_guest_topup(
    metadata: OperationMetadata,
    id: TopupId,
    guest: UserId,
    amount: Amount,
    charge: Charge,
    limits: GuestTopupLimits,
) -> Plan {
    let mut plan = open_topup(metadata, id, guest, amount, charge);
    plan.guards.push(Guard::GuestTopup { of: guest, amount, limits });
    plan
}

/// The plan with the page on which a payment began, if it opens a top-up.
#[must_use]
pub fn begun_on_page(mut plan: Plan, code: Option<DjCode>) -> Plan {
    if let Step::Open(Entity::Topup(topup)) = &mut *plan.step {
        topup.page_code = code;
    }
    plan
}

/// Records these orders for a pending top-up, and the page that its provider named.
#[must_use]
pub fn order_topup(
    metadata: OperationMetadata,
    topup: &Topup,
    orders: Orders,
    page: Option<PaymentUrl>,
) -> Plan {
    let ordered = Topup { orders: Some(orders), payment_url: page, ..topup.clone() };
    plan(metadata, PlanKind::OrderTopup, moved(topup.clone(), ordered), [])
}

/// Ends a pending top-up according to its provider; a top-up that has already ended is returned unchanged.
#[must_use]
pub fn settle_topup(metadata: OperationMetadata, topup: &Topup, confirmed: bool) -> Plan {
    match topup::settle(topup, confirmed) {
        Settlement::Unchanged => unchanged(metadata, topup.clone()),
        Settlement::Settled { to, transfer } => {
            let present = (to == TopupStatus::Confirmed).then_some(Guard::Present(topup.user));
            let ended = topup.ended(to, metadata.at);
            let plan = plan(metadata, PlanKind::MoveTopup, moved(topup.clone(), ended), transfer);
            Plan { guards: present.into_iter().collect(), ..plan }
        }
    }
}

/// Reverses a confirmed top-up; one that is already reversed is returned unchanged.
///
/// # Errors
/// [`ReversalRefusal`].
pub fn reverse_topup(metadata: OperationMetadata, topup: &Topup) -> Result<Plan, ReversalRefusal> {
    Ok(match topup::reverse(topup)? {
        Settlement::Unchanged => unchanged(metadata, topup.clone()),
        Settlement::Settled { to, transfer } => {
            let reversed = topup.ended(to, metadata.at);
            let plan = plan(metadata, PlanKind::ReverseTopup, moved(topup.clone(), reversed), transfer);
            Plan { level: FeatureLevel::Level1, ..plan }
        }
    })
}

/// Books the money of an erased user's top-up into suspense; if it is already there, or arrived before the
/// erasure, the top-up is returned unchanged.
#[must_use]
pub fn suspend_topup(metadata: OperationMetadata, topup: &Topup) -> Plan {
    match topup::suspend(topup, metadata.operation, metadata.at) {
        None => unchanged(metadata, topup.clone()),
        Some((suspense, transfer)) => {
            let failed = topup::abandon(topup, metadata.at).unwrap_or_else(|| topup.clone());
            let suspended = Topup { suspense: Some(suspense), ..failed };
            let plan = plan(metadata, PlanKind::SuspendTopup, moved(topup.clone(), suspended), [transfer]);
            Plan { level: FeatureLevel::Level1, ..plan }
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
    let settled = Topup { suspense: Some(suspense), ..topup.clone() };
    let plan = plan(metadata, PlanKind::SettleSuspense, moved(topup.clone(), settled), [transfer]);
    Ok(Plan { level: FeatureLevel::Level1, ..plan })
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
    Ok(plan(metadata, PlanKind::Adjust, Step::Open(adjustment.into()), [transfer]))
}

/// Changes a user's own profile; the change is validated when the plan is applied.
#[must_use]
pub fn change_profile(metadata: OperationMetadata, user: UserId, change: ProfileChange) -> Plan {
    let change = UserChange::Profile(Box::new(change));
    plan(metadata, PlanKind::Profile, Step::ChangeUser { user, change }, [])
}

/// Changes a user's status or role, for the reason in the operation metadata; whether an active
/// operator remains is checked when the plan is applied.
#[must_use]
pub fn change_user_status(metadata: OperationMetadata, user: UserId, change: UserStatusChange) -> Plan {
    let guards = may_dismiss(change).then_some(Guard::ActiveOperator).into_iter().collect();
    let kind = match change {
        UserStatusChange::Suspend => PlanKind::Suspend,
        UserStatusChange::Restore => PlanKind::Restore,
        UserStatusChange::Role(_) => PlanKind::Role,
    };
    let change = UserChange::Status(change);
    Plan { guards, ..plan(metadata, kind, Step::ChangeUser { user, change }, []) }
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
    let resolved = ProviderMessage { resolution: Some(resolution), ..message.clone() };
    let metadata = OperationMetadata { reason: Some(reason), ..metadata };
    Ok(plan(metadata, PlanKind::ResolveMessage, moved(message.clone(), resolved), []))
}

/// Opens a gig under this code of the DJ: the DJ is online then, with the given prices. A new code is added. Whether
/// another gig of the DJ is open is checked when the plan is applied.
///
/// # Errors
/// [`GigRefusal::Place`].
pub fn open_gig(
    metadata: OperationMetadata,
    id: GigId,
    code: AssignedCode,
    is_new_code: bool,
    new: NewGig,
) -> Result<Plan, GigRefusal> {
    let dj = code.dj;
    let (gig, presence) = gig::open(id, dj, code.code, new, metadata.at)?;
    let guards = vec![Guard::Present(dj), Guard::NoOpenGig(dj)];
    let addition = is_new_code.then_some(Addition::Code(code));
    let plan = plan(metadata, PlanKind::OpenGig, Step::Open(gig.into()), []);
    Ok(Plan { guards, addition, ..in_gig(plan, dj, presence) })
}

/// Changes a gig, and the presence and the prices of its DJ.
///
/// # Errors
/// [`GigRefusal::Ended`], [`GigRefusal::Place`].
pub fn change_gig(metadata: OperationMetadata, gig: &Gig, change: &GigChange) -> Result<Plan, GigRefusal> {
    let changed = gig::change(gig, change)?;
    let plan = plan(metadata, PlanKind::ChangeGig, moved(gig.clone(), changed), []);
    let guards = vec![Guard::Present(gig.dj)];
    Ok(Plan { guards, ..in_gig(plan, gig.dj, change.dj) })
}

/// Ends a gig: its DJ is offline then. A gig that has ended is returned unchanged.
#[must_use]
pub fn end_gig(metadata: OperationMetadata, gig: &Gig) -> Plan {
    match gig::end(gig, metadata.at) {
        None => in_gig(unchanged(metadata, gig.clone()), gig.dj, DjChange::default()),
        Some(ended) => {
            let offline = DjChange { online: Field::Set(false), ..DjChange::default() };
            let plan = plan(metadata, PlanKind::EndGig, moved(gig.clone(), ended), []);
            in_gig(plan, gig.dj, offline)
        }
    }
}

/// Gives a tip of a guest to a DJ. Whether the DJ is active, the guest's debt and the funds are checked when the plan is
/// applied.
///
/// # Errors
/// [`TipRefusal`].
pub fn tip(
    metadata: OperationMetadata,
    id: TipId,
    guest: UserId,
    to: TippedDj<'_>,
    amount: Amount,
    terms: &TipTerms,
) -> Result<Plan, TipRefusal> {
    let (tip, transfers) = tip::give(id, guest, to, amount, terms, metadata.at)?;
    let guards = vec![Guard::Active(tip.dj), Guard::NoDebt(guest)];
    let plan = plan(metadata, PlanKind::Tip, Step::Open(tip.into()), transfers);
    Ok(Plan { guards, level: FeatureLevel::Level2, ..plan })
}

/// The plan of a gig, which also sets these fields of its DJ.
fn in_gig(plan: Plan, dj: UserId, change: DjChange) -> Plan {
    Plan { tally: Some(Tally::Presence { dj, change }), level: FeatureLevel::Level2, ..plan }
}
