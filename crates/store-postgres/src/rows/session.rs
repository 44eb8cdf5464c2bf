//! Sessions and their refresh tokens.

use cuepoint_domain::ids::{SessionId, UserId};
use cuepoint_domain::ledger::EndedSessions;
use cuepoint_domain::session::{RefreshToken, Session, TokenHash};
use diesel::prelude::*;
use time::OffsetDateTime;

use super::{Corrupt, column_time, columns_of, hash, known, timestamp, visitor};
use crate::schema::{refresh_tokens, sessions};

/// A session.
#[derive(Clone, Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = sessions, check_for_backend(diesel::pg::Pg))]
pub(crate) struct SessionRow {
    pub(crate) id: i64,
    pub(crate) user_id: i64,
    pub(crate) began_at: OffsetDateTime,
    pub(crate) used_at: OffsetDateTime,
    pub(crate) expires_at: OffsetDateTime,
    pub(crate) ended_at: Option<OffsetDateTime>,
    pub(crate) address: Option<String>,
    pub(crate) agent: Option<String>,
}

/// A person whose live sessions end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedSessionsRow {
    pub(crate) user_id: i64,
    pub(crate) at: OffsetDateTime,
}

impl EndedSessionsRow {
    pub(crate) fn of(ended: &EndedSessions) -> Self {
        Self { user_id: ended.user.get(), at: column_time(ended.at) }
    }
}

/// A token.
#[derive(Clone, Debug, Queryable, Selectable, Insertable)]
#[diesel(table_name = refresh_tokens, check_for_backend(diesel::pg::Pg))]
pub(crate) struct TokenRow {
    pub(crate) hash: Vec<u8>,
    pub(crate) session_id: i64,
    pub(crate) issued_at: OffsetDateTime,
    pub(crate) expires_at: OffsetDateTime,
    pub(crate) used_at: Option<OffsetDateTime>,
}

impl SessionRow {
    /// A session that has not ended.
    pub(crate) fn of(session: &Session) -> Self {
        let (address, agent) = columns_of(&session.visitor);
        Self {
            id: session.id.get(),
            user_id: session.user.get(),
            began_at: column_time(session.began_at),
            used_at: column_time(session.used_at),
            expires_at: column_time(session.expires_at),
            ended_at: None,
            address,
            agent,
        }
    }

    pub(crate) fn session(self) -> Result<Session, Corrupt> {
        Ok(Session {
            id: known("sessions.id", SessionId::new(self.id))?,
            user: known("sessions.user_id", UserId::new(self.user_id))?,
            visitor: visitor(self.address.as_deref(), self.agent)?,
            began_at: timestamp(self.began_at),
            used_at: timestamp(self.used_at),
            expires_at: timestamp(self.expires_at),
        })
    }
}

impl TokenRow {
    pub(crate) fn of(token: &RefreshToken) -> Self {
        Self {
            hash: token.hash.0.to_vec(),
            session_id: token.session.get(),
            issued_at: column_time(token.issued_at),
            expires_at: column_time(token.expires_at),
            used_at: token.used_at.map(column_time),
        }
    }

    pub(crate) fn token(&self, user: UserId) -> Result<RefreshToken, Corrupt> {
        Ok(RefreshToken {
            hash: TokenHash(hash("refresh_tokens.hash", &self.hash)?),
            session: known("refresh_tokens.session_id", SessionId::new(self.session_id))?,
            user,
            issued_at: timestamp(self.issued_at),
            expires_at: timestamp(self.expires_at),
            used_at: self.used_at.map(timestamp),
        })
    }
}
