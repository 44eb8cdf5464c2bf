//! One's own sessions: which there are, and ending them.

use std::sync::Arc;

use crate::access::{Action, Caller, Whose};
use crate::ids::SessionId;
use crate::page::{PageRequest, Rows};
use crate::ports::{Clock, Sessions};
use crate::security_log::{EventKind, SecurityEvent};
use crate::service::desk::Obstacle;
use crate::service::journal::Journal;
use crate::session::{Session, Visitor};

/// Why a session is not ended.
#[derive(Debug)]
pub enum EndSessionError {
    /// The caller has no such live session.
    NotFound,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl From<Obstacle> for EndSessionError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

/// The use cases of one's own sessions.
#[derive(Clone)]
pub struct OwnSessions {
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) journal: Journal,
    pub(super) clock: Arc<dyn Clock>,
}

impl OwnSessions {
    /// A page of the caller's live sessions.
    ///
    /// # Errors
    /// [`Obstacle`].
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Rows<Session>, Obstacle> {
        caller.may(Action::UseAccount, Whose::Own)?;
        Ok(self.sessions.sessions(caller.user, self.clock.now(), page).await?)
    }

    /// Ends one of the caller's sessions, which may be the one that they call in.
    ///
    /// # Errors
    /// [`EndSessionError`].
    pub async fn end(&self, caller: &Caller, id: SessionId, visitor: Visitor) -> Result<(), EndSessionError> {
        caller.may(Action::UseAccount, Whose::Own).map_err(Obstacle::from)?;
        let ended = self.sessions.end_session(caller.user, id, self.clock.now()).await;
        if !ended.map_err(Obstacle::from)? {
            return Err(EndSessionError::NotFound);
        }
        let event = SecurityEvent::by(caller, EventKind::SessionEnded, visitor, self.clock.now());
        self.journal.add(SecurityEvent { session: Some(id), ..event }).await;
        Ok(())
    }

    /// Ends all of the caller's sessions, the one that they call in too.
    ///
    /// # Errors
    /// [`Obstacle`].
    pub async fn end_all(&self, caller: &Caller, visitor: Visitor) -> Result<(), Obstacle> {
        caller.may(Action::UseAccount, Whose::Own)?;
        self.sessions.end_sessions(caller.user, None, self.clock.now()).await?;
        self.journal.by(caller, EventKind::SessionsEnded, visitor).await;
        Ok(())
    }
}
