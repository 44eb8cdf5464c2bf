//! The DJ of a code, and the DJ's gig.

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::gig::{DjCode, Gig};
use crate::ids::UserId;
use crate::page::PageRequest;
use crate::user::User;

/// The DJ whose current code this is.
///
/// # Errors
/// [`Failure::NotFound`] if the code is unknown or replaced, or its DJ was erased.
pub(in crate::application) async fn dj_of(env: &Environment, code: DjCode) -> Result<User, Failure> {
    let assigned = env.gigs.assigned(code).await?.ok_or(Failure::NotFound)?;
    let newest = env.gigs.code_of(assigned.dj).await?;
    if newest.is_none_or(|newest| newest.code != code) {
        return Err(Failure::NotFound);
    }
    present_user(env, assigned.dj).await?.ok_or(Failure::NotFound)
}

/// A user who was not erased.
pub(super) async fn present_user(env: &Environment, id: UserId) -> Result<Option<User>, Failure> {
    let profile = env.people.profile(id).await?;
    Ok(profile.map(|profile| profile.user).filter(|user| user.erased_at.is_none()))
}

/// The DJ's newest gig, if it is recent.
pub(super) async fn newest_gig(env: &Environment, dj: UserId) -> Result<Option<Gig>, Failure> {
    let newest = env.gigs.gigs(dj, PageRequest::new(1, 1)).await?.rows.pop();
    let now = env.now();
    Ok(newest.filter(|gig| gig.is_recent(now)))
}

/// The DJ's open gig, or else the newest one if it is recent.
pub(in crate::application) async fn recent_gig(
    env: &Environment,
    dj: UserId,
) -> Result<Option<Gig>, Failure> {
    match env.gigs.open_gig(dj).await? {
        Some(open) => Ok(Some(open)),
        None => newest_gig(env, dj).await,
    }
}
