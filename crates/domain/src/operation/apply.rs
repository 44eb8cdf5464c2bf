//! The reference semantics of a plan: pure, total, all or nothing.

use crate::entity_ref::EntityKind;
use crate::ids::UserId;
use crate::ledger::Balance;
use crate::money::Amount;
use crate::music_request::{MusicRequest, RequestState, RequestStatus};
use crate::operation::feature_level::FeatureLevel;
use crate::operation::posting::{Posted, post};
use crate::operation::{
    Book, Changes, EndedSessions, Entity, Guard, KeyRecord, KeyReused, OperationRecord, Outcome, Plan,
    Receipt, Rejection, Step, StoredReceipt, Verdict,
};
use crate::provider_message::{ProviderMessage, Resolution};
use crate::security_log::SecurityEvent;
use crate::timestamp::Timestamp;
use crate::topup::{Topup, TopupStatus, abandon};
use crate::user::{User, change_account_status, change_profile, ends_sessions, leaves_an_operator};
use crate::withdrawal::{
    Approval, Limit, Withdrawal, WithdrawalState, approvals_needed, approve, needs_no_operator, sum_24h,
};

/// Applies a plan to the book atomically.
///
/// # Errors
/// [`Rejection`], the first that applies in this order: the key, the feature level, the state of the entity,
/// the feature level of its outcome, the guards, the funds.
pub fn apply(book: &mut Book, plan: &Plan) -> Result<Verdict, Rejection> {
    if let Some(receipt) = earlier(book, plan)? {
        return Ok(Verdict::Replayed(receipt));
    }
    if plan.feature_level() > book.feature_level {
        return Err(Rejection::NotFinalized);
    }
    if let Some(operator) = plan.operator()
        && !person(book, operator)?.is_active_operator()
    {
        return Err(Rejection::NotAnOperator);
    }
    let rules = plan.rules.min(book.feature_level.posting_rules());
    let mut changes = Changes::default();
    let entity = step(book, plan, &mut changes)?;
    guards(book, plan)?;
    let Posted { wallets, entries, postings } =
        post(&book.wallets, &plan.metadata, plan.reference(), &plan.transfers, rules)?;
    changes.wallets = wallets;
    changes.entries = entries;
    changes.postings = postings;
    let receipt = Receipt {
        operation: plan.metadata.operation,
        at: plan.metadata.at,
        rules,
        outcome: outcome(book, &changes, entity)?,
    };
    record(book, plan, &receipt, &mut changes);
    // Nothing below this line can fail.
    book.absorb(&changes);
    Ok(Verdict::Fresh(receipt, Box::new(changes)))
}

/// The receipt of the operation, or of the command with the same key, if it was applied before.
fn earlier(book: &Book, plan: &Plan) -> Result<Option<Receipt>, Rejection> {
    let whole = |stored: &StoredReceipt| stored.whole().cloned().map(Some).ok_or(Rejection::Stale);
    if let Some(stored) = book.operations.get(&plan.metadata.operation) {
        return whole(stored);
    }
    let Some(key) = plan.metadata.key else { return Ok(None) };
    let Some(record) = book.keys.get(&key.scope) else { return Ok(None) };
    match record.answer(&key, plan.metadata.at) {
        Ok(answer) => answer.map_or(Ok(None), whole),
        Err(KeyReused) => Err(Rejection::KeyReused),
    }
}

/// Applies the plan's step and returns the entity after it, which is recorded in the changes.
fn step(book: &Book, plan: &Plan, changes: &mut Changes) -> Result<Entity, Rejection> {
    Ok(match &plan.step {
        Step::Unchanged(entity) => unchanged(book, entity, plan.metadata.at)?,
        Step::OpenRequest(new) => {
            opens(book, new.requester, book.requests.contains_key(&new.id))?;
            changes.opened_request = Some(new.clone());
            Entity::MusicRequest(new.clone())
        }
        Step::OpenWithdrawal { withdrawal: new, auto_approve_below } => {
            opens(book, new.user, book.withdrawal(new.id).is_some())?;
            let state = opened_state(book, new, *auto_approve_below)?;
            let opened = Withdrawal { state, ..new.clone() };
            changes.opened_withdrawal = Some(opened.clone());
            Entity::Withdrawal(opened)
        }
        Step::OpenTopup(new) => {
            opens(book, new.user, book.topups.contains_key(&new.id))?;
            person(book, new.user)?;
            changes.opened_topup = Some(new.clone());
            Entity::Topup(new.clone())
        }
        Step::MoveRequest { before, to } => Entity::MusicRequest(move_request(book, before, *to, changes)?),
        Step::MoveWithdrawal { before, to } => {
            let stored = withdrawal(book, before)?;
            let moved = Withdrawal {
                state: to.clone(),
                updated_at: plan.metadata.at.max(stored.updated_at),
                ..stored.clone()
            };
            changes.moved_withdrawal = Some(moved.clone());
            Entity::Withdrawal(moved)
        }
        Step::ApproveWithdrawal { before, by, second_above } => {
            Entity::Withdrawal(approve_withdrawal(book, plan, before, (*by, *second_above), changes)?)
        }
        Step::OrderTopup { before, orders, page } => {
            let stored = topup(book, before)?;
            let ordered = Topup { orders: Some(*orders), payment_url: page.clone(), ..stored.clone() };
            changes.moved_topup = Some(ordered.clone());
            Entity::Topup(ordered)
        }
        Step::MoveTopup { before, to } => {
            let stored = topup(book, before)?;
            if *to == TopupStatus::Confirmed {
                person(book, stored.user)?;
            }
            let moved = stored.ended(*to, plan.metadata.at);
            changes.moved_topup = Some(moved.clone());
            Entity::Topup(moved)
        }
        Step::SuspendTopup { before, suspense } => {
            let stored = topup(book, before)?;
            let failed = abandon(stored, plan.metadata.at).unwrap_or_else(|| stored.clone());
            let moved = Topup { suspense: Some(suspense.clone()), ..failed };
            changes.moved_topup = Some(moved.clone());
            Entity::Topup(moved)
        }
        Step::Adjust(adjustment) => Entity::Adjustment(adjustment.clone()),
        Step::Profile { user, change } => {
            let stored = person(book, *user)?;
            let changed = change_profile(stored, change, plan.metadata.at).map_err(Rejection::Profile)?;
            changes.user = (changed != *stored).then(|| changed.clone());
            Entity::User(changed)
        }
        Step::ChangeAccountStatus { user, change } => {
            let stored = person(book, *user)?;
            let at = plan.metadata.at;
            let changed = change_account_status(stored, *change, at);
            let ended = ends_sessions(stored, *change);
            changes.ended_sessions = ended.then_some(EndedSessions { user: *user, at });
            changes.user = (changed != *stored).then(|| changed.clone());
            Entity::User(changed)
        }
        Step::ResolveMessage { before, resolution } => {
            Entity::ProviderMessage(resolve_message(book, before, resolution, changes)?)
        }
    })
}

/// The entity, unless it changed since it was loaded.
fn unchanged(book: &Book, before: &Entity, at: Timestamp) -> Result<Entity, Rejection> {
    Ok(match before {
        Entity::MusicRequest(before) => Entity::MusicRequest(request(book, before)?.clone().seen_at(at)),
        Entity::Withdrawal(before) => Entity::Withdrawal(withdrawal(book, before)?.clone()),
        Entity::Topup(before) => Entity::Topup(topup(book, before)?.clone()),
        Entity::Adjustment(adjustment) => Entity::Adjustment(adjustment.clone()),
        Entity::User(before) if person(book, before.id)? == before => Entity::User(before.clone()),
        Entity::ProviderMessage(before) if message(book, before)?.resolution == before.resolution => {
            Entity::ProviderMessage(before.clone())
        }
        Entity::User(_) | Entity::ProviderMessage(_) => return Err(Rejection::Stale),
    })
}

/// Resolves the message, unless it was resolved since it was loaded.
fn resolve_message(
    book: &Book,
    before: &ProviderMessage,
    resolution: &Resolution,
    changes: &mut Changes,
) -> Result<ProviderMessage, Rejection> {
    let stored = message(book, before)?;
    if stored.resolution.is_some() {
        return Err(Rejection::Stale);
    }
    let resolved = ProviderMessage { resolution: Some(resolution.clone()), ..stored.clone() };
    changes.resolved_message = Some(resolved.clone());
    Ok(resolved)
}

/// The stored message.
fn message<'a>(book: &'a Book, before: &ProviderMessage) -> Result<&'a ProviderMessage, Rejection> {
    book.provider_messages.get(&before.id).ok_or(Rejection::Missing(EntityKind::ProviderMessage))
}

/// The user; an erased one counts as missing.
fn person(book: &Book, id: UserId) -> Result<&User, Rejection> {
    let stored = book.users.get(&id).filter(|user| user.is_present());
    stored.ok_or(Rejection::Missing(EntityKind::User))
}

/// The request, unless it changed state since it was loaded.
fn request<'a>(book: &'a Book, before: &MusicRequest) -> Result<&'a MusicRequest, Rejection> {
    let stored = book.requests.get(&before.id).ok_or(Rejection::Missing(EntityKind::MusicRequest))?;
    if stored.state == before.state { Ok(stored) } else { Err(Rejection::Stale) }
}

/// The withdrawal, unless it changed state or was approved since it was loaded.
fn withdrawal<'a>(book: &'a Book, before: &Withdrawal) -> Result<&'a Withdrawal, Rejection> {
    let stored = book.withdrawal(before.id).ok_or(Rejection::Missing(EntityKind::Withdrawal))?;
    let is_same = stored.state == before.state && stored.approvals == before.approvals;
    if is_same { Ok(stored) } else { Err(Rejection::Stale) }
}

/// The top-up, unless it changed state since it was loaded.
fn topup<'a>(book: &'a Book, before: &Topup) -> Result<&'a Topup, Rejection> {
    let stored = book.topups.get(&before.id).ok_or(Rejection::Missing(EntityKind::Topup))?;
    if stored.stands_as(before) { Ok(stored) } else { Err(Rejection::Stale) }
}

/// An entity is opened only by the owner of a wallet, and never replaces another.
fn opens(book: &Book, owner: UserId, taken: bool) -> Result<(), Rejection> {
    if taken {
        return Err(Rejection::Broken("the id of the new entity is taken"));
    }
    book.wallets.contains_key(&owner).then_some(()).ok_or(Rejection::Missing(EntityKind::Wallet))
}

fn move_request(
    book: &Book,
    before: &MusicRequest,
    to: RequestState,
    changes: &mut Changes,
) -> Result<MusicRequest, Rejection> {
    let stored = request(book, before)?;
    if to.status() == RequestStatus::Played {
        let mut dj = person(book, stored.dj)?.clone();
        let profile = dj.dj.as_mut().ok_or(Rejection::Broken("a request is addressed to no DJ"))?;
        profile.played = profile.played.checked_add(1).ok_or(Rejection::OutOfRange)?;
        changes.user = Some(dj);
    }
    let moved = MusicRequest { state: to, ..stored.clone() };
    changes.moved_request = Some(moved.clone());
    Ok(moved)
}

/// The state of a new withdrawal: approved if it needs no operator.
fn opened_state(
    book: &Book,
    new: &Withdrawal,
    auto_approve_below: Option<Amount>,
) -> Result<WithdrawalState, Rejection> {
    let Some(below) = auto_approve_below else { return Ok(WithdrawalState::Pending) };
    let sum = sum_24h(new, book.withdrawals_of(new.user));
    let is_approved = needs_no_operator(new, sum, person(book, new.user)?, below);
    Ok(if is_approved { WithdrawalState::Approved } else { WithdrawalState::Pending })
}

/// Adds an approval to the withdrawal. Earlier approvals count only if their operators could still give them.
fn approve_withdrawal(
    book: &Book,
    plan: &Plan,
    before: &Withdrawal,
    (by, second_above): (UserId, Option<Amount>),
    changes: &mut Changes,
) -> Result<Withdrawal, Rejection> {
    let stored = withdrawal(book, before)?;
    let mut counting = Vec::new();
    for earlier in &stored.approvals {
        let author = book.users.get(&earlier.by).ok_or(Rejection::Missing(EntityKind::User))?;
        if earlier.is_of_active_operator(author)
            && !book.has_adjusted(earlier.by, stored.user, plan.adjustments_since())
        {
            counting.push(*earlier);
        }
    }
    // Clocks of servers differ: no approval is dated before the previous one.
    let at = stored.approvals.last().map_or(plan.metadata.at, |last| last.at.max(plan.metadata.at));
    let approval = Approval { by, at };
    let needed = approvals_needed(sum_24h(stored, book.withdrawals_of(stored.user)), second_above);
    if needed > 1 && book.feature_level < FeatureLevel::SECOND_APPROVALS {
        return Err(Rejection::NotFinalized);
    }
    let Some((state, approvals)) = approve(stored, counting, approval, needed) else {
        return Ok(stored.clone());
    };
    let is_moved = state != stored.state;
    let updated_at = if is_moved { plan.metadata.at.max(stored.updated_at) } else { stored.updated_at };
    let approved = Withdrawal { state, approvals, updated_at, ..stored.clone() };
    changes.moved_withdrawal = Some(approved.clone());
    Ok(approved)
}

fn guards(book: &Book, plan: &Plan) -> Result<(), Rejection> {
    let at = plan.metadata.at;
    for guard in &plan.guards {
        match (guard, &plan.step) {
            (
                Guard::NoDebt,
                Step::OpenWithdrawal { withdrawal, .. }
                | Step::MoveWithdrawal { before: withdrawal, .. }
                | Step::ApproveWithdrawal { before: withdrawal, .. },
            ) => {
                let wallet = book.wallets.get(&withdrawal.user);
                let owed = wallet.ok_or(Rejection::Missing(EntityKind::Wallet))?.balance.owed;
                if !owed.is_zero() {
                    return Err(Rejection::WalletOwes { owed });
                }
            }
            (Guard::Window(window), Step::OpenWithdrawal { withdrawal: new, .. })
                if !window.admits(new.amount, at, book.withdrawals_of(new.user)) =>
            {
                return Err(Rejection::LimitExceeded(Limit::Rolling(*window)));
            }
            (Guard::OpenRequests(most), Step::OpenRequest(new))
                if usize::try_from(*most)
                    .is_ok_and(|most| book.open_requests(new.requester, new.dj, at) >= most) =>
            {
                return Err(Rejection::TooManyOpen(*most));
            }
            (
                Guard::NoRecentAdjustment(judge),
                Step::MoveWithdrawal { before, .. }
                | Step::ApproveWithdrawal { before, .. }
                | Step::Unchanged(Entity::Withdrawal(before)),
            ) if book.has_adjusted(*judge, before.user, plan.adjustments_since()) => {
                return Err(Rejection::RecentAdjustment);
            }
            (Guard::ActiveOperator, Step::ChangeAccountStatus { user, change }) => {
                let before = person(book, *user)?;
                let after = change_account_status(before, *change, at);
                if !leaves_an_operator(before, &after, book.users.values()) {
                    return Err(Rejection::LastOperator);
                }
            }
            (
                Guard::NoDebt
                | Guard::Window(_)
                | Guard::OpenRequests(_)
                | Guard::NoRecentAdjustment(_)
                | Guard::ActiveOperator,
                _,
            ) => {}
        }
    }
    Ok(())
}

/// The outcome for an entity: with the owner's balance, if the response shows one.
fn outcome(book: &Book, changes: &Changes, entity: Entity) -> Result<Outcome, Rejection> {
    let balance = |user: UserId| -> Result<Balance, Rejection> {
        let changed = changes.wallets.iter().find(|wallet| wallet.user == user);
        let wallet =
            changed.or_else(|| book.wallets.get(&user)).ok_or(Rejection::Missing(EntityKind::Wallet))?;
        Ok(wallet.balance)
    };
    Ok(match entity {
        Entity::MusicRequest(request) => Outcome::Request(request),
        Entity::ProviderMessage(message) => Outcome::Message(message),
        Entity::Topup(topup) => Outcome::Topup(topup),
        Entity::Withdrawal(withdrawal) => {
            let balance = balance(withdrawal.user)?;
            Outcome::Withdrawal(withdrawal, balance)
        }
        Entity::User(user) => {
            let balance = balance(user.id)?;
            Outcome::Profile(user, balance)
        }
        Entity::Adjustment(adjustment) => {
            let balance = balance(adjustment.user)?;
            Outcome::Adjustment(adjustment, balance)
        }
    })
}

/// Records the operation and the key; a plan without a change and without a key leaves no trace.
fn record(book: &Book, plan: &Plan, receipt: &Receipt, changes: &mut Changes) {
    let metadata = &plan.metadata;
    let is_unchanged = match &plan.step {
        Step::Unchanged(_) => true,
        Step::ApproveWithdrawal { .. } => changes.moved_withdrawal.is_none(),
        _ => false,
    };
    if is_unchanged && metadata.key.is_none() {
        return;
    }
    let before = match &plan.step {
        Step::ChangeAccountStatus { user, .. } => book.users.get(user),
        _ => None,
    };
    changes.event = if is_unchanged { None } else { SecurityEvent::of_plan(plan, &receipt.outcome, before) };
    changes.operation = Some(OperationRecord {
        id: metadata.operation,
        kind: plan.kind(),
        actor: metadata.actor,
        at: metadata.at,
        reason: metadata.reason.clone(),
        receipt: receipt.clone(),
    });
    changes.key = metadata.key.map(|key| {
        let receipt = StoredReceipt::Whole(receipt.clone());
        KeyRecord { key, receipt, at: metadata.at }
    });
}
