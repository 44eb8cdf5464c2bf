//! The principal's own sessions.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::executor::{Authorized, Context, Executor};
use crate::authorization::{Principal, Revocation, permission::UseSessions};
use crate::ids::SessionId;
use crate::page::{PageRequest, Rows};
use crate::ports::SecurityCause;
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::user::session::Session;

/// Lists and ends the principal's own sessions.
#[derive(Clone)]
pub struct OwnSessions {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl OwnSessions {
    /// A page of the principal's live sessions.
    pub async fn list(&self, principal: &Principal, page: PageRequest) -> Result<Rows<Session>, Failure> {
        let owner = Authorized::<_, UseSessions>::own(principal)?;
        Ok(self.env.sessions.sessions(*owner, self.env.now(), page).await?)
    }

    /// Ends one of the principal's sessions, possibly that of this request.
    ///
    /// # Errors
    /// [`Failure::NotFound`] if the principal has no such live session.
    pub async fn end(&self, context: &Context, id: SessionId) -> Result<(), Failure> {
        let env = &self.env;
        self.executor
            .perform::<UseSessions, _, _>(context, async |owner, principal, effects| {
                if !env.sessions.end_session(*owner, id, env.now()).await? {
                    return Err(Failure::NotFound);
                }
                effects.revocations_changed();
                let client = context.client.clone();
                let event = SecurityEvent::by(principal, SecurityEventKind::SessionEnded, client, env.now());
                env.security_audit.add(SecurityEvent { session: Some(id), ..event }).await;
                Ok(())
            })
            .await
    }

    /// Ends the session of this request: the logout of a client that presents no refresh token. An ended session stays
    /// ended.
    pub async fn log_out(&self, context: &Context) -> Result<(), Failure> {
        match self.end(context, context.principal.session).await {
            Err(Failure::NotFound | Failure::Revoked(Revocation::SessionEnded)) => Ok(()),
            ended => ended,
        }
    }

    /// Ends all of the principal's sessions, including that of this request, and disables their own webhook
    /// endpoints; both are notified if there are any.
    pub async fn end_all(&self, context: &Context) -> Result<(), Failure> {
        let env = &self.env;
        self.executor
            .perform::<UseSessions, _, _>(context, async |owner, principal, effects| {
                env.sessions.end_sessions(*owner, None, env.now()).await?;
                effects.revocations_changed();
                let client = context.client.clone();
                effects.enqueue(env.secured(*owner, SecurityCause::SessionsEnded, &client));
                env.security_audit.by(principal, SecurityEventKind::SessionsEnded, client).await;
                Ok(())
            })
            .await
    }
}
