//! Refresh tokens and their families.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::session::{FamilyId, RefreshToken, TokenHash};
use diesel::prelude::*;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{Corrupt, column_time, hash, known, timestamp};
use crate::schema::{refresh_token_families, refresh_tokens};

/// A family.
#[derive(Clone, Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = refresh_token_families, check_for_backend(diesel::pg::Pg))]
pub(crate) struct FamilyRow {
    pub(crate) id: Uuid,
    pub(crate) user_id: i64,
    pub(crate) ended_at: Option<OffsetDateTime>,
    pub(crate) created_at: OffsetDateTime,
}

/// A token.
#[derive(Clone, Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = refresh_tokens, check_for_backend(diesel::pg::Pg))]
pub(crate) struct TokenRow {
    pub(crate) hash: Vec<u8>,
    pub(crate) family_id: Uuid,
    pub(crate) issued_at: OffsetDateTime,
    pub(crate) expires_at: OffsetDateTime,
    pub(crate) used_at: Option<OffsetDateTime>,
}

impl FamilyRow {
    /// The family that this token is the first of.
    pub(crate) fn of(token: &RefreshToken) -> Self {
        Self {
            id: Uuid::from_u128(token.family.0),
            user_id: token.user.get(),
            ended_at: None,
            created_at: column_time(token.issued_at),
        }
    }

    pub(crate) fn user(&self) -> Result<UserId, Corrupt> {
        known("refresh_token_families.user_id", UserId::new(self.user_id))
    }
}

impl TokenRow {
    pub(crate) fn of(token: &RefreshToken) -> Self {
        Self {
            hash: token.hash.0.to_vec(),
            family_id: Uuid::from_u128(token.family.0),
            issued_at: column_time(token.issued_at),
            expires_at: column_time(token.expires_at),
            used_at: token.used_at.map(column_time),
        }
    }

    pub(crate) fn token(&self, user: UserId) -> Result<RefreshToken, Corrupt> {
        Ok(RefreshToken {
            hash: TokenHash(hash("refresh_tokens.hash", &self.hash)?),
            family: FamilyId(self.family_id.as_u128()),
            user,
            issued_at: timestamp(self.issued_at),
            expires_at: timestamp(self.expires_at),
            used_at: self.used_at.map(timestamp),
        })
    }
}
