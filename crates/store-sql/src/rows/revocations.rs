//! The revocation list.

use cuepoint_domain::authorization::{Epoch, RevocationList, UserStatus};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::Role;

use super::{Corrupt, known, session_id, user_id};

/// A user whose role or suspension changed: their id, their role, whether they are a DJ, and the time of their
/// suspension.
pub type StatusRow = (i64, String, bool, Option<Timestamp>);

/// Converts the ids of ended sessions, and the users who changed, to a list.
pub fn revocation_list(
    ended: Vec<i64>,
    changed: Vec<StatusRow>,
    epoch: i64,
    storage_time: Option<Timestamp>,
) -> Result<RevocationList, Corrupt> {
    let status = |(user, role, is_dj, suspended_at): StatusRow| {
        let role = known("role", Role::stored(&role))?;
        Ok((user_id(user)?, UserStatus { role, is_dj, suspended: suspended_at.is_some() }))
    };
    Ok(RevocationList {
        sessions: ended.into_iter().map(session_id).collect::<Result<_, _>>()?,
        statuses: changed.into_iter().map(status).collect::<Result<_, Corrupt>>()?,
        epoch: Epoch(epoch),
        storage_time,
    })
}
