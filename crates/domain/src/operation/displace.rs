//! The request that gives way to a request with a fee, if the queue of its gig is full.

use crate::operation::{
    Actor, Book, Changes, Displacement, Entity, Guard, OperationRecord, Outcome, Plan, PlanKind, Receipt,
    Rejection,
};
use crate::text::Line;

/// The reason of the rejection of a displaced request.
const DISPLACED: &str = "displaced";

/// If the queue is full, rejects the first unchanged candidate that makes room.
///
/// # Errors
/// [`Rejection::Stale`] if no candidate is left, and one of them has changed.
pub(super) fn displace(book: &Book, plan: &Plan, changes: &mut Changes) -> Result<(), Rejection> {
    let Some(Displacement { operation, among }) = &plan.displacement else { return Ok(()) };
    let room = plan.guards.iter().find_map(|guard| match *guard {
        Guard::QueueRoom { gig, limits, by_guest } => Some((book.queue_size(gig), limits, by_guest)),
        _ => None,
    });
    let Some((size, limits, by_guest)) = room else { return Ok(()) };
    if !limits.refusal(size, by_guest).is_some_and(|refusal| refusal.ends_with_displacement()) {
        return Ok(());
    }
    let at = plan.metadata.at;
    let stands = |entity: Entity| book.stands_as(&entity) == Some(true);
    let (standing, changed): (Vec<_>, Vec<_>) =
        among.iter().partition(|request| request.can_be_displaced(at) && stands((*request).clone().into()));
    let chosen = standing.into_iter().find(|request| limits.makes_room(size, by_guest, request));
    let Some(chosen) = chosen else {
        // Without a candidate, the guard refuses the plan.
        return if changed.is_empty() { Ok(()) } else { Err(Rejection::Stale) };
    };
    let displaced: Entity = chosen.displaced(at).into();
    let outcome = Outcome { entity: displaced.clone(), balance: None };
    let rules = plan.rules.min(book.feature_level.posting_rules());
    changes.moved = Some(displaced);
    changes.displacement = Some(OperationRecord {
        id: *operation,
        kind: PlanKind::MoveRequest,
        actor: Actor::System,
        at,
        reason: Some(Line::from_stored(DISPLACED.to_owned())),
        receipt: Receipt { operation: *operation, at, rules, outcome },
    });
    Ok(())
}
