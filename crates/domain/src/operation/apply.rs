//! The reference semantics of a plan: pure, total, all or nothing.

use crate::entity_ref::EntityKind;
use crate::gig::{Gig, GigRecord};
use crate::ids::UserId;
use crate::ledger::Balance;
use crate::operation::displace::displace;
use crate::operation::expectations::{expect, expect_new, present};
use crate::operation::judge::judge;
use crate::operation::posting::{Posted, post};
use crate::operation::{
    Book, Changes, EndedSessions, Entity, KeyRecord, KeyReused, OperationRecord, Outcome, Plan, Receipt,
    Rejection, Step, StoredReceipt, Tally, UserChange, Verdict,
};
use crate::security_log::SecurityEvent;
use crate::timestamp::Timestamp;
use crate::user::{User, change_profile, change_user_status, ends_sessions};

/// Applies a plan to the book atomically.
///
/// # Errors
/// [`Rejection`], the first that applies in this order: the key, the feature level, the state of the entity,
/// the feature level of its outcome, the request that it displaces, the guards, the funds.
pub fn apply(book: &mut Book, plan: &Plan) -> Result<Verdict, Rejection> {
    if let Some(receipt) = earlier(book, plan)? {
        return Ok(Verdict::Replayed(receipt));
    }
    if plan.feature_level() > book.feature_level {
        return Err(Rejection::NotFinalized);
    }
    if let Some(operator) = plan.operator()
        && !present(book, operator)?.is_active_operator()
    {
        return Err(Rejection::NotAnOperator);
    }
    let rules = plan.rules.min(book.feature_level.posting_rules());
    let mut changes = Changes::default();
    let entity = step(book, plan, &mut changes)?;
    if let Some(tally) = plan.tally {
        changes.user = tallied(book, tally)?;
    }
    displace(book, plan, &mut changes)?;
    for guard in &plan.guards {
        guard.check(book, plan, &changes)?;
    }
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
    book.count_in_queue(&changes);
    if let Some(Tally::Rated { voice, rating }) = plan.tally {
        book.count_rating(voice, rating);
    }
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
    let at = plan.metadata.at;
    Ok(match &*plan.step {
        Step::Unchanged(before) => {
            expect(book, before)?;
            before.clone().seen_at(at)
        }
        Step::Open(new) => {
            expect_new(book, new)?;
            changes.opened = Some(new.clone());
            changes.addition.clone_from(&plan.addition);
            new.clone()
        }
        Step::Move { before, after } => {
            expect(book, before)?;
            changes.moved = Some(after.clone());
            after.clone()
        }
        Step::Judge(judgement) => Entity::Withdrawal(judge(book, plan, judgement, changes)?),
        Step::ChangeUser { user, change } => {
            let stored = present(book, *user)?;
            let changed = change_user(stored, change, at, changes)?;
            changes.user = (changed != *stored).then(|| changed.clone());
            Entity::User(changed)
        }
    })
}

/// The changed user. `changes` records sessions that end with the change.
fn change_user(
    stored: &User,
    change: &UserChange,
    at: Timestamp,
    changes: &mut Changes,
) -> Result<User, Rejection> {
    match change {
        UserChange::Profile(change) => change_profile(stored, change, at).map_err(Rejection::Profile),
        UserChange::Status(change) => {
            let ended = ends_sessions(stored, *change);
            changes.ended_sessions = ended.then_some(EndedSessions { user: stored.id, at });
            Ok(change_user_status(stored, *change, at))
        }
    }
}

/// The user of a tally, with the new fields; `None` if they are the same.
fn tallied(book: &Book, tally: Tally) -> Result<Option<User>, Rejection> {
    let stored = book.get(tally.user()).filter(|user| tally.outlives_user() || user.is_present());
    let stored = stored.ok_or(Rejection::Missing(EntityKind::User))?;
    let mut user = stored.clone();
    let profile = user.dj.as_mut().ok_or(Rejection::Broken("a request is addressed to no DJ"))?;
    let newest = tally.voice().and_then(|voice| book.newest_rating(voice));
    tally.add_to(profile, newest).ok_or(Rejection::OutOfRange)?;
    Ok((user != *stored).then_some(user))
}

/// The record of a gig, with the presence of its DJ after the plan.
fn gig_record(book: &Book, changes: &Changes, gig: &Gig) -> Result<GigRecord, Rejection> {
    let dj = changes.user.as_ref().filter(|user| user.id == gig.dj).or_else(|| book.get(gig.dj));
    let profile = dj.and_then(|dj| dj.dj.as_ref()).ok_or(Rejection::Missing(EntityKind::User))?;
    Ok(gig.record(profile.online))
}

/// The outcome for an entity: with the owner's balance, if the response shows one.
fn outcome(book: &Book, changes: &Changes, entity: Entity) -> Result<Outcome, Rejection> {
    let balance = |user: UserId| -> Result<Balance, Rejection> {
        let changed = changes.wallets.iter().find(|wallet| wallet.user == user);
        let wallet =
            changed.or_else(|| book.wallets.get(&user)).ok_or(Rejection::Missing(EntityKind::Wallet))?;
        Ok(wallet.balance)
    };
    let entity = match entity {
        Entity::Gig(gig) => gig_record(book, changes, &gig)?.into(),
        other => other,
    };
    let shown_of = entity.owner().filter(|_| entity.facts().shows_balance());
    Ok(Outcome { balance: shown_of.map(balance).transpose()?, entity })
}

/// Records the operation and the key; a plan without a change and without a key leaves no trace.
fn record(book: &Book, plan: &Plan, receipt: &Receipt, changes: &mut Changes) {
    let metadata = &plan.metadata;
    let is_unchanged = match &*plan.step {
        Step::Unchanged(_) => true,
        Step::Judge(_) => changes.opened.is_none() && changes.moved.is_none(),
        Step::Open(_) | Step::Move { .. } | Step::ChangeUser { .. } => false,
    };
    if is_unchanged && metadata.key.is_none() {
        return;
    }
    changes.event = if is_unchanged { None } else { SecurityEvent::of_plan(plan, &receipt.outcome, book) };
    changes.operation = Some(OperationRecord {
        id: metadata.operation,
        kind: plan.kind,
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
