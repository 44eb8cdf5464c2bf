//! Challenges.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::text::Email;
use cuepoint_domain::user::challenge::{Challenge, Purpose};
use cuepoint_domain::user::session::TokenHash;

use super::{Corrupt, hash, known};
use crate::schema::StoredChallenge;
use crate::table::Numbered;

impl StoredChallenge {
    /// Converts a challenge to its row.
    #[must_use]
    pub fn of(challenge: &Challenge) -> Self {
        Self {
            user_id: challenge.user.get(),
            purpose: challenge.purpose.name().to_owned(),
            target: challenge.target.clone(),
            address: challenge.address.as_ref().map(|address| address.as_str().to_owned()),
            hash: challenge.hash.0.to_vec(),
            issued_at: challenge.issued_at,
            attempts: challenge.attempts,
            ended_at: challenge.ended_at,
        }
    }
}

impl StoredChallenge {
    /// Converts the row to its challenge.
    pub fn challenge(self) -> Result<Challenge, Corrupt> {
        Ok(Challenge {
            user: known("challenges.user_id", UserId::new(self.user_id))?,
            purpose: known("challenges.purpose", Purpose::named(&self.purpose))?,
            target: self.target,
            address: self.address.map(Email::from_stored),
            hash: TokenHash(hash("challenges.hash", &self.hash)?),
            issued_at: self.issued_at,
            attempts: self.attempts,
            ended_at: self.ended_at,
        })
    }
}

impl Numbered<StoredChallenge> {
    /// Converts the row to its challenge.
    pub fn challenge(self) -> Result<Challenge, Corrupt> {
        self.row.challenge()
    }
}
