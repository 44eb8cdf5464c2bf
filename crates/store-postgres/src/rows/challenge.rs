//! Challenges.

use cuepoint_domain::challenge::{Challenge, Purpose};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::session::TokenHash;
use diesel::prelude::*;
use time::OffsetDateTime;

use super::{Corrupt, column_time, hash, known, timestamp};
use crate::schema::challenges;

/// A challenge that is still to be written.
#[derive(Clone, Debug, Insertable)]
#[diesel(table_name = challenges)]
pub(crate) struct NewChallengeRow {
    user_id: i64,
    purpose: &'static str,
    target: String,
    hash: Vec<u8>,
    issued_at: OffsetDateTime,
    attempts: i16,
    ended_at: Option<OffsetDateTime>,
}

impl NewChallengeRow {
    pub(crate) fn of(challenge: &Challenge) -> Self {
        Self {
            user_id: challenge.user.get(),
            purpose: challenge.purpose.name(),
            target: challenge.target.clone(),
            hash: challenge.hash.0.to_vec(),
            issued_at: column_time(challenge.issued_at),
            attempts: challenge.attempts,
            ended_at: challenge.ended_at.map(column_time),
        }
    }
}

/// A challenge.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = challenges, check_for_backend(diesel::pg::Pg))]
pub(crate) struct ChallengeRow {
    pub(crate) id: i64,
    user_id: i64,
    purpose: String,
    target: String,
    hash: Vec<u8>,
    issued_at: OffsetDateTime,
    attempts: i16,
    ended_at: Option<OffsetDateTime>,
}

impl ChallengeRow {
    pub(crate) fn challenge(self) -> Result<Challenge, Corrupt> {
        Ok(Challenge {
            user: known("challenges.user_id", UserId::new(self.user_id))?,
            purpose: known("challenges.purpose", Purpose::named(&self.purpose))?,
            target: self.target,
            hash: TokenHash(hash("challenges.hash", &self.hash)?),
            issued_at: timestamp(self.issued_at),
            attempts: self.attempts,
            ended_at: self.ended_at.map(timestamp),
        })
    }
}
